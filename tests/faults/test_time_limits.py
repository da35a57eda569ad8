"""Time limits are kept by force, and only where the clock runs."""

import json
from time import monotonic

import pytest

from fwbench.execution.pool import Pool

from .made_solvers import done_by, solver_file, tasks

LIMIT = 0.5
GENEROUS = 3.0  # a busy machine may look at a run late


@pytest.fixture(scope="module")
def pool():
    return Pool()


def ends(pool, planned):
    return list(done_by(pool, planned))


@pytest.mark.parametrize(
    ("kind", "sampling"),
    [("pause", "ADVANCE"), ("pause", "RERUN"), ("pause", "ONCE"), ("stop", "ADVANCE")],
)
def test_a_run_is_ended_soon_after_its_limit_wherever_it_hangs(tmp_path, pool, kind, sampling):
    path = solver_file(tmp_path, sampling=sampling, at=5 if sampling == "ADVANCE" else 1)
    for found in done_by(pool, tasks(f"{path}[kind={kind}]", max_seconds=LIMIT)):
        began = json.loads((tmp_path / "began.json").read_text())
        assert LIMIT < monotonic() - began < LIMIT + GENEROUS
        assert (found["status"], found["signal"]) == ("timeout", "SIGKILL")
        assert found["reason"] == "0.5 s on the clock spent inside one call of advance; killed"
        if kind == "pause":  # one that is stopped says nothing any more
            assert "in act" in found["traceback"]


@pytest.mark.slow
def test_what_is_not_on_the_clock_does_not_count(tmp_path, pool):
    slow = solver_file(tmp_path, "slow", at_import="time.sleep(0.6)")
    kinds = "slow_points,slow_prepare,good"
    found = ends(pool, tasks(f"{slow}[kind={kinds}]", max_seconds=0.3, max_steps=8))
    assert [(each["status"], each["signal"]) for each in found] == [("budget", None)] * 3
    # the time that setting up takes is told, whatever it is
    assert found[1]["setup_seconds"] >= 0.4


def test_a_run_that_ends_just_in_time_is_left_alone(tmp_path, pool, monkeypatch):
    path = solver_file(tmp_path)
    [found] = ends(pool, tasks(f"{path}[kind=nap]", max_seconds=5.0, max_steps=20))
    assert (found["status"], found["signal"]) == ("budget", None)
    assert found["seconds"] >= 0.5
    # one that ends by itself soon after its limit has its own end, with its last point
    monkeypatch.setattr("fwbench.execution.isolated.GRACE_SECONDS", 30.0)
    [found] = ends(pool, tasks(f"{path}[kind=nap]", max_seconds=0.2, max_steps=20))
    assert (found["status"], found["signal"]) == ("timeout", None)
    assert found["gap"] is not None


@pytest.mark.slow
def test_the_time_of_another_run_does_not_count(tmp_path, pool):
    path = solver_file(tmp_path)
    found = ends(pool, tasks(f"{path}[kind=nap]", repeat=3, max_seconds=1.2, max_steps=20))
    assert [each["status"] for each in found] == ["budget"] * 3


@pytest.mark.slow
def test_a_solver_that_hangs_in_its_very_first_step_is_not_waited_for(tmp_path):
    path = solver_file(tmp_path, at=1)
    path.write_text(path.read_text().replace("len(INITS) > 1", "True"))  # in the warm-up too
    [found] = done_by(Pool(), tasks(f"{path}[kind=spin]", max_seconds=1.0))
    assert (found["status"], found["signal"]) == ("timeout", "SIGKILL")
    assert found["reason"] == "10 s spent on the first two steps, before any clock; killed"
