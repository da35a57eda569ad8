"""Faults that were found once: what they did, and what is right."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import fwbench as fw
from fwbench import catalog
from fwbench.runner import Budget, run
from fwbench.solver import Queries, SolverEntry
from fwbench.trace import Status

SEGMENT = fw.QuadraticOverHull([[1.0, 1.0], [1.0, -1.0]])  # nearest to 0: (1, 0), f* = 1/2


def away_steps(step="exact"):
    [choice] = catalog.choices("solvers", f"away_steps[step={step}]")
    return catalog.build_solver(choice), choice.entry


def test_float32_weights_that_underflow_are_not_listed_again():
    values = [2.0, -1.0, 2.0, 0.0, -1.0, 2.0, 3.0, 1.0, 0.0, 2.0]
    atoms = np.array(values, dtype=np.float32)[:, None]
    problem = fw.QuadraticOverHull(atoms, [0.83953988])
    solver, _ = away_steps()
    model = solver.prepare(problem)
    state = solver.init(model, problem.start)
    solver.advance(model, state, 3000)
    listed = state.active[: state.size[0]]
    assert sorted(listed) == sorted(np.flatnonzero(state.w))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", ["exact", "short", "backtracking"])
def test_away_steps_keep_the_sum_of_the_weights(dtype, step):
    solver, _ = away_steps(step)
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        atoms = rng.integers(-2, 4, size=(n, d)).astype(dtype)
        problem = fw.QuadraticOverHull(atoms, rng.choice([-1.0, 0.3, 2.0]), rng.normal(size=d))
        model = solver.prepare(problem)
        state = solver.init(model, problem.start)
        for _ in range(40):
            solver.advance(model, state, 1)
            assert abs(state.w.sum() - 1) <= 50 * np.finfo(dtype).eps, (seed, state.steps)
            assert sorted(state.active[: state.size[0]]) == sorted(np.flatnonzero(state.w)), seed


@dataclass
class Points:
    """Points alone, wherever they lie."""

    x: np.ndarray
    steps: int = 0
    done: bool = False
    claim: str | None = None

    def points(self):
        return self.x

    def weights(self):
        return None


@dataclass(frozen=True)
class Outside:
    """Stands at a stationary point of f that is not in the hull."""

    place: tuple[float, ...] = (0.5, 0.0)

    def prepare(self, problem):
        return problem

    def init(self, model, start):
        return Points(np.tile(self.place, (start.m, 1)))

    def advance(self, model, state, steps):
        state.steps += steps


OUTSIDE = SolverEntry("outside", Outside, "points", "none", "none", queries=Queries.MANY)


@pytest.mark.parametrize("m", [1, 32, 33, 100])
def test_no_point_outside_the_hull_converges(m):
    problem = SEGMENT.starting_at(np.zeros(m, dtype=int))
    done = run(problem, Outside(), OUTSIDE, Budget(max_steps=20))
    assert done.status is Status.INFEASIBLE


def test_points_inside_still_converge():
    done = run(SEGMENT, Outside((1.0, 0.0)), OUTSIDE, Budget(max_steps=20))
    assert done.status is Status.CONVERGED


def test_solve_says_infeasible(tmp_path, monkeypatch):
    choice = catalog.chosen("outside", replace(OUTSIDE, make=Outside), {})
    monkeypatch.setattr("fwbench.api.catalog.choices", lambda group, text: [choice])
    assert fw.solve(SEGMENT, "outside", max_steps=20).status is Status.INFEASIBLE


def test_a_sampled_run_in_the_plane_has_one_number_of_queries(monkeypatch):
    monkeypatch.setattr("fwbench.judge.BUDGET", 10**6)
    cloud = fw.QuadraticOverHull(
        np.random.default_rng(0).standard_normal((500, 2)), start=np.arange(500)
    )
    [choice] = catalog.choices("solvers", "hardmax_attention")
    done = run(cloud, catalog.build_solver(choice), choice.entry, Budget(max_steps=12))
    assert done.status is Status.BUDGET, done.traceback
    assert done.path.shape[1] == len(done.points) == done.row["judged_queries"] < 500


def test_a_moving_cloud_far_away_is_certified_by_its_weights():
    rng = np.random.default_rng(0)
    tokens = rng.standard_normal((12, 2))
    shift = np.array([1e10, -1e10])
    far = fw.QuadraticOverHull(tokens + shift, c=-shift, start=np.arange(12))
    [choice] = catalog.choices("solvers", "softmax_attention[keys=moving,beta=1]")
    done = run(far, catalog.build_solver(choice), choice.entry, Budget(tol=1e-9))
    assert done.status is Status.CONVERGED
    gap = done.trace.columns["gap_current"][-1]
    weights = done.weights
    offsets = weights.averages(far.centred[weights.keys])
    field = far.centred_field(offsets)
    true = ((field * offsets).sum(axis=1) - (field @ offsets.T).min(axis=1)).max()
    assert gap >= true * (1 - 1e-6)


def test_a_cycle_on_a_convex_problem_is_one():
    problem = fw.QuadraticOverHull([["4"], ["-1"]])
    for gamma, period in (("0.5", 3), ("1", 2)):
        [choice] = catalog.choices("solvers", f"frank_wolfe[step=constant({gamma})]")
        done = run(problem, catalog.build_solver(choice), choice.entry, Budget(max_steps=300))
        assert done.rest["period"] == [period]


def test_a_point_made_of_three_atoms_is_on_no_face_of_dimension_0():
    [choice] = catalog.choices("problems", "token_cloud[name=triangle-16]")
    problem = catalog.build_problem(choice)
    [choice] = catalog.choices("solvers", "frank_wolfe[step=exact]")
    done = run(problem, catalog.build_solver(choice), choice.entry, Budget())
    assert done.rest["face"] == [2, 2, 2]


@dataclass(frozen=True)
class Late(Outside):
    """Raises after a while."""

    def advance(self, model, state, steps):
        if state.steps >= 7:
            raise RuntimeError("no luck today")
        state.steps += steps


def test_a_run_that_raises_keeps_what_it_had_shown():
    done = run(SEGMENT, Late((1.0, 0.5)), replace(OUTSIDE, make=Late), Budget(max_steps=20))
    assert done.status is Status.ERROR
    assert done.row["steps"] == 7
    assert done.trace.columns["k"] == list(range(8))
