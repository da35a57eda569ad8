"""Killed at any moment and resumed, a run folder ends up as if nothing had happened."""

import re
import signal
import subprocess
from time import monotonic

import numpy as np
import pandas as pd
import pytest

from .made_solvers import DEADLINE, command, ended, said

WORDS = (
    "run", "-p", "min_norm_point[n=12,d=3,shift=1]", "-p", "token_cloud[name=four-one]",
    "-s", "frank_wolfe[step=open_loop(2)]", "-s", "away_steps", "-s", "hardmax_attention",
    "-s", "pairwise", "--max-steps", "300", "--max-seconds", "1000", "--out", "r", "--no-report",
)  # fmt: skip
PLACES = {"pool": (), "two jobs": ("--jobs", "2"), "in process": ("--in-process",)}
# what is a time, a load, or what hangs on the machine
TIMES = re.compile(
    r".*seconds.*|load_.*|noisy|steal|frequency_.*|peak_memory|host|shared|attempts|order|cache_key"
)
LEAST = 0.3  # seconds: before, nothing has happened yet


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What a run without a disturbance leaves, and how long it takes."""
    folder, begun = tmp_path_factory.mktemp("undisturbed"), monotonic()
    assert ended(folder, *WORDS) == 0, said(folder)
    return results(folder), monotonic() - begun


def results(folder):
    """Return the columns that are no times, of all tables, and all points, as bytes."""
    found = {}
    for name in ("runs", "trace", "targets", "fixed_points"):
        table = pd.read_parquet(folder / "r" / f"{name}.parquet")
        found[name] = table[[column for column in table if not TIMES.fullmatch(column)]]
    for path in sorted((folder / "r" / "points").iterdir()):
        with np.load(path) as kept:
            found[path.name] = {name: (kept[name].dtype, kept[name].tobytes()) for name in kept}
    return found


def assert_same(found, expected):
    assert list(found) == list(expected)
    for name, there in expected.items():
        if isinstance(there, pd.DataFrame):
            pd.testing.assert_frame_equal(found[name], there, check_exact=True)
        else:
            assert found[name] == there, name


def killed_and_resumed(folder, undisturbed, place, kills, seed):
    """Kill a run again and again, resuming it in between; then let it end."""
    expected, seconds = undisturbed
    rng = np.random.default_rng(seed)
    words, met = (*WORDS, *PLACES[place]), 0
    while met < kills:
        delay = float(rng.uniform(LEAST, seconds))
        with command(folder, *words) as running:
            try:
                running.wait(delay)
            except subprocess.TimeoutExpired:
                running.send_signal(signal.SIGKILL)
            killed = running.wait(DEADLINE) == -signal.SIGKILL
        met += killed
        words = (*WORDS, *PLACES[place], "--resume" if killed else "--fresh")
        if not killed:  # it was faster than thought: once more, and killed sooner
            seconds = max(2 * LEAST, 0.8 * delay)
    assert ended(folder, *words) == 0, said(folder)
    assert_same(results(folder), expected)


def test_killed_at_random_moments_and_resumed_it_is_the_same(tmp_path, undisturbed):
    killed_and_resumed(tmp_path, undisturbed, "pool", 5, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("seed", range(1, 6))
def test_killed_at_many_random_moments_it_is_the_same(tmp_path, undisturbed, place, seed):
    killed_and_resumed(tmp_path, undisturbed, place, 10 if place == "pool" else 3, seed)
