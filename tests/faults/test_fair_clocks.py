"""Clocks are fair: one thread, a core of its own, no collector, and rows say what was not so."""

import json
import multiprocessing
import os
from time import monotonic

import pytest

from fwbench.execution.pool import Pool
from fwbench.planning import Question, plan
from fwbench.session import execute
from fwbench.store import RunFolder

from .made_solvers import done_by, solver_file, tasks

SOLVERS = ("frank_wolfe[step=exact]", "away_steps", "pairwise", "projected_gradient[momentum=none]")
OTHER = "polygon[k=5,queries=1,seed=0]"
SEEDED = "min_norm_point[n=10,d=2,shift=1,seed=0]"


def planned(*solvers, seed=None, repeat=12, problems=(SEEDED, OTHER)):
    return plan(Question(problems=problems, solvers=solvers, seed=seed, repeat=repeat))[0]


def turns(found):
    """Return the solvers of each turn on an instance, in the order of time."""
    by_turn = {}
    for task in sorted(found, key=lambda task: task.order):
        by_turn.setdefault((task.instance, task.repetition), []).append(task.solver)
    return list(by_turn.values())


def test_solvers_take_turns_in_random_order():
    found = turns(planned(*SOLVERS))
    assert len(found) == 24
    assert all(len(set(turn)) == len(SOLVERS) for turn in found)  # each once, before any again
    assert len({turn[0] for turn in found}) == len(SOLVERS)  # each is first at times
    assert len(set(map(tuple, found))) > 6
    assert {task.order for task in planned(*SOLVERS)} == set(range(24 * len(SOLVERS)))


def test_the_order_is_that_of_the_seed():
    orders = [
        [(task.run_id, task.order) for task in planned(*SOLVERS, seed=seed)]
        for seed in (None, 0, 3)
    ]
    assert orders[0] == orders[1]
    assert [run_id for run_id, _ in orders[2]] == [run_id for run_id, _ in orders[0]]
    assert orders[2] != orders[0]


def test_naming_solvers_in_another_order_changes_nothing():
    there = {task.run_id: task.order for task in planned(*SOLVERS)}
    back = {task.run_id: task.order for task in planned(*reversed(SOLVERS))}
    assert there == back


def test_reordering_solvers_runs_nothing_again(tmp_path):
    ran = []
    for solvers in (SOLVERS, SOLVERS[::-1]):
        found = planned(*solvers, repeat=1)
        folder = RunFolder.create(tmp_path / "r", resume=True)
        assert execute(folder, found, None, "test", lambda task, row: ran.append(row))
        if solvers is SOLVERS:
            lines = folder.records()
            ran.clear()
    assert ran == []
    assert folder.records() == lines


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_has_its_threads_its_core_and_no_collector(tmp_path, threads):
    path = solver_file(tmp_path)
    [row] = done_by(Pool(threads=threads), tasks(f"{path}[kind=facts]", max_steps=20))
    assert (row["threads"], row["shared"]) == (threads, False)
    found = json.loads((tmp_path / "facts.json").read_text())
    assert found["threads"]
    assert max(found["threads"]) <= threads
    usable = os.sched_getaffinity(0)
    assert len(found["cores"]) == min(threads, len(usable))
    assert set(found["cores"]) <= usable
    assert not found["collects"]
    assert found["pid"] != os.getpid()


def burn(seconds, begun):
    begun.release()
    until = monotonic() + seconds
    while monotonic() < until:
        pass


def test_a_run_on_a_disturbed_machine_says_so(tmp_path):
    path = solver_file(tmp_path, at=2)
    spawn = multiprocessing.get_context("spawn")
    begun = spawn.Semaphore(0)
    burning = [
        spawn.Process(target=burn, args=(60, begun)) for _ in range(2 * (os.cpu_count() or 1))
    ]
    for process in burning:
        process.start()
    try:
        for _ in burning:  # they are slow to start, and one that has not is no disturbance
            assert begun.acquire(timeout=60)
        [found] = done_by(Pool(), tasks(f"{path}[kind=busy]", max_steps=20))
    finally:
        for process in burning:
            process.kill()
            process.join()
    assert found["status"] == "budget"
    assert found["noisy"] is True
    for name in ("load_before", "load_after", "steal"):
        assert found[name] >= 0


def test_runs_that_go_on_at_once_are_marked_and_do(tmp_path):
    path = solver_file(tmp_path)
    pool = Pool(jobs=2)
    both = tasks(f"{path}[kind=meet_a,meet_b]", max_steps=20, max_seconds=40.0)
    found = [*done_by(pool, both)]
    assert [(each["status"], each["shared"]) for each in found] == [("budget", True)] * 2
