"""Ctrl-C and SIGKILL: what was done is saved, nothing goes on running, the rest can be done."""

import json
import signal
import sys

import pandas as pd
import psutil
import pytest

from fwbench import session
from fwbench.execution.pool import Pool
from fwbench.session import execute
from fwbench.store import RunFolder

from .made_solvers import AT, DEADLINE, SMALL, command, ended, gone, said, solver_file, until

WORDS = ("run", "-p", SMALL, "--max-steps", "20", "--max-seconds", "40", "--out", "r")
PLACES = {"pool": (), "two jobs": ("--jobs", "2"), "in process": ("--in-process",)}


def asked(folder, kind="wait", place="pool", solvers=("away_steps",)):
    path = solver_file(folder)
    names = [word for name in (f"{path}[kind={kind}]", *solvers) for word in ("-s", name)]
    return (*WORDS, *names, *PLACES[place])


def waits(folder):
    """Wait until a run is in flight and hangs; return its process."""
    until(lambda: (folder / "waits.json").exists(), "a run that waits")
    return json.loads((folder / "waits.json").read_text())


def interrupted(folder, running):
    running.send_signal(signal.SIGINT)
    return running.wait(DEADLINE)


@pytest.mark.parametrize(
    "place", ["pool", "in process", pytest.param("two jobs", marks=pytest.mark.slow)]
)
def test_a_ctrl_c_saves_what_is_done_and_the_rest_can_be_done(tmp_path, place):
    words = asked(tmp_path, place=place)
    with command(tmp_path, *words, "--no-report") as running:
        worker = waits(tmp_path)
        assert (worker == running.pid) == (place == "in process")
        assert interrupted(tmp_path, running) == 130, said(tmp_path)
    assert "fwbench run --resume --out r does the rest" in said(tmp_path)
    assert "Traceback" not in said(tmp_path)
    assert gone(worker)
    runs = pd.read_parquet(tmp_path / "r" / "runs.parquet").set_index("solver")
    assert len(runs) == 2
    assert runs.loc["made", "status"] == "interrupted"
    assert "from the keyboard" in runs.loc["made", "reason"]
    assert runs.loc["away_steps", "status"] in ("converged", "budget", "interrupted")
    trace = pd.read_parquet(tmp_path / "r" / "trace.parquet")
    k = trace.loc[trace["run_id"] == runs.loc["made", "run_id"], "k"]
    assert k.tolist() == list(range(AT))  # what it had shown by then
    (tmp_path / "go").touch()
    done = ("run", "--resume", "--out", "r", "--no-report")
    assert ended(tmp_path, *done) == 0, said(tmp_path)
    runs = pd.read_parquet(tmp_path / "r" / "runs.parquet")
    assert not {"interrupted", "error"} & set(runs["status"])


@pytest.mark.parametrize(
    ("kind", "needed"),
    [pytest.param("deaf_to_ctrl_c", 2, marks=pytest.mark.slow), ("deaf_to_two", 3)],
    ids=["deaf", "very deaf"],
)
def test_the_second_ctrl_c_ends_what_catches_the_first(tmp_path, kind, needed):
    words = asked(tmp_path, kind, place="in process", solvers=())
    with command(tmp_path, *words, "--no-report") as running:
        waits(tmp_path)
        for left in range(needed - 1):
            running.send_signal(signal.SIGINT)
            until((tmp_path / f"caught{left}.json").exists, "a Ctrl-C that a solver has caught")
        # the third is the system's own: nothing can catch it
        assert interrupted(tmp_path, running) == (130 if needed == 2 else -signal.SIGINT)
    assert "Traceback" not in said(tmp_path)


def test_a_second_ctrl_c_does_not_wait_for_the_report(tmp_path):
    with command(tmp_path, *asked(tmp_path)) as running:
        worker = waits(tmp_path)
        running.send_signal(signal.SIGINT)
        until(lambda: "reading the journal" in said(tmp_path), "the report")
        assert interrupted(tmp_path, running) == 130
    assert gone(worker)
    assert "Traceback" not in said(tmp_path)
    assert not (tmp_path / "r" / "report.html").exists()
    statuses = [record["row"]["status"] for record in RunFolder(tmp_path / "r").records()]
    assert "interrupted" in statuses


def test_nothing_outlives_a_killed_fwbench(tmp_path):
    with command(tmp_path, *asked(tmp_path)) as running:
        worker = waits(tmp_path)
        folder = RunFolder(tmp_path / "r")
        running.send_signal(signal.SIGKILL)
        running.wait(DEADLINE)
    until(lambda: gone(worker), f"process {worker}")
    with folder.locked(wait=False):  # the lock went with its process
        assert {record["row"]["status"] for record in _records(folder)} <= {"converged"}


def _records(folder):
    return folder.records() if folder.has_journal else []


def test_a_ctrl_c_ends_the_claims_too(tmp_path, monkeypatch):
    def verify(names, effort):
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("it goes on")

    monkeypatch.setattr(session, "verify", verify)
    described = {"suite": None, "suite_digest": None, "claims": ["theorem_3_1"], "diagrams": False}
    folder = RunFolder.create(tmp_path / "r")
    assert not execute(folder, [], described, "test", lambda *told: None, executor=Pool())


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_gate_that_is_ended_leaves_nothing(tmp_path, monkeypatch, sent):
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setenv("TMPDIR", str(room))
    path = solver_file(tmp_path)
    words = ("gate", "--base", sys.prefix, "-p", SMALL, "-s", f"{path}[kind=wait]")
    with command(tmp_path, *words, "--max-seconds", "40", "--only", "exact") as running:
        worker = waits(tmp_path)
        started = psutil.Process(running.pid).children(recursive=True)
        running.send_signal(sent)
        assert running.wait(DEADLINE) == 130, said(tmp_path)
    assert gone(worker)
    assert all(gone(each.pid) for each in started)
    assert list(room.iterdir()) == []
