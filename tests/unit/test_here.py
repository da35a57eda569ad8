"""What execution in this process keeps in mind between runs."""

import pytest

from fwbench.execution.here import Here
from fwbench.execution.tasks import Assignment
from fwbench.planning import Question, plan
from fwbench.session import execute
from fwbench.store import RunFolder
from fwbench.trace import Status

SLEEPY = '''
"""A foreign code that never has enough time."""

from dataclasses import dataclass
from time import sleep

from fwbench.foreign import Answer
from fwbench.solver import Sampling, SolverEntry


@dataclass(frozen=True)
class Sleepy:
    rest: int = 1

    def prepare(self, problem):
        return problem

    def init(self, model, start):
        return Answer(model, start.one(0))

    def advance(self, model, state, steps):
        sleep(0.02)
        state.take(None, ended=False, optimal=False)


ENTRY = SolverEntry(
    "sleepy", Sleepy, "sleepy", "this file, 2025", "none", sampling=Sampling.{sampling}
)
'''


def tasks(path, *problems, solver="", max_seconds=0.01):
    problems = tuple(f"min_norm_point[{text}]" for text in problems)
    limits = {"max_seconds": max_seconds, "max_steps": 64}
    return plan(Question(problems=problems, solvers=(str(path) + solver,), limits=limits))[0]


@pytest.fixture(params=["ONCE", "RERUN"])
def sleepy(request, tmp_path):
    path = tmp_path / "sleepy.py"
    path.write_text(SLEEPY.format(sampling=request.param))
    return path


def ends(executor, planned):
    return [done.record["row"] for done in executor.run(map(Assignment, planned))]


def test_what_ran_out_of_time_is_skipped_at_larger_sizes(sleepy):
    rows = ends(
        Here(),
        tasks(
            sleepy, "n=20,d=3", "n=20,d=4", "n=30,d=3", "n=40,d=2", "n=10,d=5", "n=20,d=3,seed=1"
        ),
    )
    statuses = [row["status"] for row in rows]
    # fewer dimensions or atoms may be easier; an equal size is another problem
    assert statuses == ["timeout", "skipped", "skipped", "timeout", "timeout", "timeout"]
    assert rows[1]["reason"] == (
        "ran out of 0.01 s on min_norm_point[n=20,d=3] already, with 20 atoms in 3 dimensions"
    )
    assert (rows[1]["n"], rows[1]["d"]) == (20, 4)


def test_another_solver_more_time_or_a_looser_tolerance_has_its_own_chance(sleepy):
    executor = Here()
    [first] = tasks(sleepy, "n=20,d=3")
    assert ends(executor, [first])[0]["status"] == "timeout"
    for changed in (
        tasks(sleepy, "n=40,d=3", max_seconds=0.015),
        tasks(sleepy, "n=40,d=3", solver="[rest=2]"),
    ):
        assert ends(executor, changed)[0]["status"] == "timeout"
    assert ends(executor, tasks(sleepy, "n=50,d=3", max_seconds=0.005))[0]["status"] == "skipped"


def test_a_solver_that_is_walked_with_is_not_skipped(tmp_path):
    path = tmp_path / "sleepy.py"
    path.write_text(SLEEPY.format(sampling="ADVANCE"))
    rows = ends(Here(), tasks(path, "n=20,d=3", "n=40,d=3"))
    assert [row["status"] for row in rows] == ["timeout", "timeout"]


def test_a_row_says_whose_code_it_was_and_what_a_pass_costs_here():
    limits = {"max_steps": 8}
    solvers = ("quadprog_dual", "cvxpy_reference", "frank_wolfe[step=exact]")
    planned = plan(Question(problems=("min_norm_point[n=9,d=2]",), solvers=solvers, limits=limits))
    rows = ends(Here(), planned[0])
    assert [row["library"] for row in rows] == ["quadprog", "cvxpy", None]
    assert rows[0]["pass_seconds"] > 0
    # measured once an instance, not once a run
    assert len({row["pass_seconds"] for row in rows}) == 1


def test_a_resumed_session_remembers_what_ran_out_of_time(sleepy, tmp_path):
    first, second = tasks(sleepy, "n=20,d=3", "n=40,d=3")
    folder = RunFolder.create(tmp_path / "run")
    assert execute(folder, [first], None, "test", lambda task, row: None)
    folder = RunFolder.create(tmp_path / "run", resume=True)
    ran = []
    execute(folder, [first, second], None, "test", lambda task, row: ran.append(row))
    assert [row["status"] for row in ran if row is not None] == [Status.SKIPPED]
