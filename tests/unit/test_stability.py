"""Pushed off a rest: concave polygons, whose vertices hold and whose saddles do not."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from fwbench import catalog
from fwbench.endings import Budget
from fwbench.geometry.combinations import Combinations
from fwbench.problem import QuadraticOverHull
from fwbench.runner import run
from fwbench.solver import Queries, SolverEntry
from fwbench.stability import PUSH, stable, verdict

pytestmark = pytest.mark.usefixtures("untimed")

SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
# a vertex, the middle of an edge, the origin by all atoms and by two: stationary for -|x|^2/2
SADDLES = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.5, 0, 0.5, 0]]
METHODS = [
    "away_steps",
    "frank_wolfe[step=exact]",
    "pairwise",
    "projected_gradient[momentum=none]",
    "softmax_attention[beta=100]",
]


def concave(weights, q: Any = -1.0, atoms=SQUARE):
    return QuadraticOverHull(atoms, q, start=Combinations.from_dense(np.array(weights, float)))


def ran(problem, text, steps=200):
    [choice] = catalog.choices("solvers", text)
    done = run(problem, catalog.build_solver(choice), choice.entry, Budget(1e-8, steps, 10.0))
    assert done.rest is not None, done.reason
    return done


@pytest.mark.parametrize("text", METHODS)
def test_vertices_hold_and_saddles_do_not(text):
    done = ran(concave(SADDLES), text)
    assert done.rest["stable"] == [True, False, False, False]


def test_one_query_is_asked_as_several_are():
    assert ran(concave([SADDLES[0]]), "away_steps").rest["stable"] == [True]
    assert ran(concave([SADDLES[1]]), "away_steps").rest["stable"] == [False]


def test_a_vertex_holds_far_from_the_origin():
    moved = QuadraticOverHull(
        SQUARE + 1e6, -1.0, c=np.full(2, 1e6), start=Combinations.from_dense(np.array(SADDLES[:2]))
    )
    assert ran(moved, "pairwise").rest["stable"] == [True, False]


def test_a_saddle_of_an_indefinite_problem_falls_along_one_axis():
    problem = concave([SADDLES[2]], np.array([1.0, -1.0]))
    assert problem.kind == "indefinite"
    assert ran(problem, "projected_gradient[momentum=none]").rest["stable"] == [False]


def test_a_convex_problem_is_not_asked():
    done = ran(QuadraticOverHull(SQUARE + 3.0), "away_steps")
    assert "stable" not in done.rest


@pytest.mark.parametrize("text", ["vertex_enumeration", "hardmax_attention[keys=moving]"])
def test_who_does_not_start_from_weights_over_fixed_keys_is_not_asked(text):
    assert "stable" not in ran(concave(SADDLES), text).rest


def test_the_same_verdicts_come_again():
    first, second = (ran(concave(SADDLES), "away_steps").rest["stable"] for _ in range(2))
    assert first == second


def test_more_than_32_different_points_are_not_tried():
    rng = np.random.default_rng(0)
    angles = np.sort(rng.uniform(0, 2 * np.pi, 40))
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    at_all = QuadraticOverHull(ring, -1.0, start=Combinations.vertices(range(40)))
    assert ran(at_all, "away_steps").rest["stable"] == [None] * 40
    at_few = QuadraticOverHull(ring, -1.0, start=Combinations.vertices([*range(8)] * 5))
    assert ran(at_few, "away_steps").rest["stable"] == [True] * 40


# -- methods made for the purpose ----------------------------------------------------------------


@dataclass(eq=False)
class Point:
    x: np.ndarray
    steps: int = 0
    done: bool = False
    claim: None = None

    def points(self):
        return self.x

    def weights(self):
        return None


@dataclass(frozen=True)
class Linear:
    """x ← home + factor (x − home): grows, shrinks or stays."""

    factor: float
    starts: list = field(default_factory=list)

    def prepare(self, problem):
        return problem

    def init(self, model, start):
        self.starts.append(start)
        return Point(start.averages(model.atoms[start.keys]))

    def advance(self, model, state, steps):
        home = np.array([1.0, 0.0])
        state.x = home + self.factor**steps * (state.x - home)
        state.steps += steps


ENTRY = SolverEntry(
    name="linear", make=Linear, label="", reference="", law="", queries=Queries.MANY
)


def asked(solver, entry=ENTRY, atoms=SQUARE, **given):
    problem = concave(SADDLES[1:2], atoms=atoms)
    usual = {"weights": problem.start, "resting": [0], "steps": 900, "pace": 1e-6}
    offset = np.array([[1.0, 0.0]]) - problem.mean
    return stable(problem, solver, entry, solver.prepare(problem), offset, **(usual | given))


@pytest.mark.parametrize(
    ("factor", "expected"), [(0.9, True), (1.1, False), (1.0, None), (0.97, None), (1.006, None)]
)
def test_back_gone_or_neither(factor, expected):
    assert asked(Linear(factor)) == [expected]


def test_pushes_stay_in_the_hull_and_are_a_thousandth_of_the_radius():
    method = Linear(0.9)
    atoms = SQUARE.copy()
    atoms[1, 0] += 1e-9  # leads by what counts as nothing
    asked(method, atoms=atoms)
    [start] = method.starts
    dense = start.dense(4)
    assert dense.min() >= 0
    np.testing.assert_allclose(dense.sum(axis=1), 1.0, rtol=1e-15)
    away = np.linalg.norm(dense @ SQUARE - [1.0, 0.0], axis=1)
    np.testing.assert_allclose(away, PUSH * np.sqrt(2), rtol=1e-5)
    # the two that lead, in their order, the next one, the mean
    np.testing.assert_array_equal(dense.argmax(axis=1)[:2], [0, 1])
    assert (dense[3] > 0).all()
    assert len(dense) == 4


def test_what_costs_too_much_or_does_not_rest_is_not_tried():
    method = Linear(0.9)
    assert asked(method, pace=1.0) == [None]
    assert asked(method, resting=[]) == [None]
    assert method.starts == []


def test_a_method_that_cannot_start_there_loses_nothing():
    @dataclass(frozen=True)
    class Refuses(Linear):
        def init(self, model, start):
            raise RuntimeError("only at a vertex")

    assert asked(Refuses(0.9)) == [None]


def test_a_distance_that_is_no_number_decides_nothing():
    assert verdict(np.full(7, np.nan)) is None
    assert asked(Linear(np.nan)) == [None]


def test_one_query_methods_are_lifted():
    @dataclass(frozen=True)
    class Alone(Linear):
        def init(self, model, start):
            assert start.m == 1
            return super().init(model, start)

    assert asked(Alone(0.9), replace(ENTRY, queries=Queries.ONE)) == [True]
