from dataclasses import dataclass, field

import numpy as np
import pytest

from fwbench.analysis.fixed_points import Class, classify
from fwbench.geometry.combinations import Combinations
from fwbench.judge import Judge
from fwbench.problem import QuadraticOverHull
from fwbench.rest import PERIODS, affine_rank, cycles, facts

TRIANGLE = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, -1.0]])
SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])


def resting(problem, weights, recent=None, period=None):
    """Return the facts of one query that rests at these weights."""
    given = Combinations.from_dense([weights])
    judged = Judge(problem).look(np.array([weights @ problem.atoms]), given)
    path = [judged.offset] if recent is None else [judged.offset + np.array([r]) for r in recent]
    return facts(problem, judged.offset, judged.gaps, path, given, [period])


def named(problem, weights, **given):
    return classify(resting(problem, weights, **given), 0, convex=problem.kind == "convex")


# -- where ---------------------------------------------------------------------------------------


def test_at_an_optimal_atom_it_is_a_vertex():
    problem = QuadraticOverHull(TRIANGLE + 5.0)
    fact = resting(problem, [0.0, 0.0, 1.0])
    expected = {
        "gap_relative": 0.0, "drift": 0.0, "nearest": 2, "distance": pytest.approx(0, abs=1e-15),
        "leads": True, "leads_itself": True, "face": 0, "hull": 2, "support": [2], "period": None,
    }  # fmt: skip
    assert {name: fact[name][0] for name in expected} == expected
    assert named(problem, [0.0, 0.0, 1.0]) == (Class.VERTEX, "atom 2", True)


def test_within_an_edge_it_is_a_face_of_dimension_1():
    problem = QuadraticOverHull(TRIANGLE)
    fact = resting(problem, [0.5, 0.0, 0.5])
    assert (fact["face"], fact["hull"], fact["support"]) == ([1], [2], [[0, 2]])
    assert named(problem, [0.5, 0.0, 0.5]) == (Class.FACE, "dimension 1, atoms 0 2", True)


def test_a_face_has_the_rank_of_its_atoms_not_their_number():
    # four atoms on the optimal edge
    problem = QuadraticOverHull([[-1, 1], [1, 1], [2, 1], [0, 3], [0.5, 1]])
    fact = resting(problem, [0.5, 0.5, 0, 0, 0])
    assert (fact["face"], fact["hull"]) == ([1], [2])


def test_where_all_atoms_lead_it_is_the_interior():
    problem = QuadraticOverHull(SQUARE)
    fact = resting(problem, np.full(4, 0.25))
    assert (fact["face"], fact["hull"]) == ([2], [2])
    assert named(problem, np.full(4, 0.25)) == (Class.INTERIOR, "dimension 2", True)


def test_the_interior_of_a_flat_hull_has_the_dimension_of_the_hull():
    problem = QuadraticOverHull([[-1, 0, 1], [1, 0, 1], [0, 0, 1]])
    assert named(problem, [0.5, 0.5, 0.0]).label == "atom 2"  # an atom happens to lie there
    beside = QuadraticOverHull([[-1, 0, 1], [1, 0, 1], [0.5, 0, 1]])
    assert named(beside, [0.5, 0.5, 0.0]) == (Class.INTERIOR, "dimension 1", True)


def test_a_vertex_that_does_not_own_its_cell_is_no_rest_of_a_concave_problem():
    # the middle of the edge is an atom: nothing leads to it from beside it
    problem = QuadraticOverHull([[1, 1], [1, -1], [1, 0], [-1, 0]], -1.0)
    fact = resting(problem, [0.0, 0.0, 1.0, 0.0])
    assert fact["leads"] == [True]  # all of the edge leads there
    assert fact["leads_itself"] == [True]
    inner = QuadraticOverHull([[3, 0], [1, 1], [-1, -1]], -1.0)
    away = resting(inner, [0.0, 1.0, 0.0])
    assert (away["leads"], away["leads_itself"]) == ([False], [False])
    assert named(inner, [0.0, 1.0, 0.0]).kind is Class.MOVING


def test_many_queries_have_a_row_each():
    problem = QuadraticOverHull(TRIANGLE)
    given = Combinations.from_dense([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])
    judged = Judge(problem).look(given.dense(3) @ TRIANGLE, given)
    found = facts(problem, judged.offset, judged.gaps, [judged.offset], given, [None, 3])
    assert {len(column) for column in found.values()} == {2}
    assert found["nearest"][1] == 1
    assert found["period"] == [None, 3]


def test_without_weights_the_support_is_not_known():
    problem = QuadraticOverHull(TRIANGLE)
    judged = Judge(problem).look(TRIANGLE[:1], None)
    assert facts(problem, judged.offset, judged.gaps, [], None, [None])["support"] == [None]


def test_of_a_wide_support_the_heaviest_eight_are_named():
    problem = QuadraticOverHull(np.eye(12))
    weights = np.arange(12.0) / 66
    assert resting(problem, weights)["support"] == [[11, 10, 9, 8, 7, 6, 5, 4]]


def test_a_single_point_rests_at_its_atom():
    for atoms in ([[2.0, 3.0]], [[0.1, 0.7]] * 4):
        problem = QuadraticOverHull(atoms)
        fact = resting(problem, np.eye(len(atoms))[0])
        assert (fact["hull"], fact["face"], fact["gap_relative"]) == ([0], [0], [0.0])
        assert named(problem, np.eye(len(atoms))[0]).kind is Class.VERTEX


# -- whether -------------------------------------------------------------------------------------


def test_drift_is_the_largest_distance_of_two_recent_points():
    problem = QuadraticOverHull(SQUARE)
    fact = resting(problem, np.full(4, 0.25), recent=[[0, 0], [1e-3, 0], [-2e-3, 0], [0, 0]])
    assert fact["drift"] == [pytest.approx(3e-3 / np.sqrt(2))]


def test_what_drifts_is_moving_and_what_is_quiet_without_a_certificate_too():
    problem = QuadraticOverHull(SQUARE)
    centre = np.full(4, 0.25)
    assert named(problem, centre, recent=[[0, 0], [1e-3, 0]]) == (Class.MOVING, "", False)
    assert named(problem, [0.6, 0.0, 0.4, 0.0]) == (Class.MOVING, "quiet", False)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_facts_do_not_depend_on_units(size):
    weights = np.array([0.5, 0.0, 0.5])
    one = resting(QuadraticOverHull(TRIANGLE), weights)
    other = resting(QuadraticOverHull(TRIANGLE * size), weights)
    for name in set(one) - {"value", "support"}:
        assert other[name] == pytest.approx(one[name], abs=1e-14), name
    assert other["support"] == one["support"]


# -- cycles --------------------------------------------------------------------------------------


@dataclass
class Turning:
    """Points that go round by a given permutation of places, or wander off."""

    place: np.ndarray
    orbit: np.ndarray
    steps: int = 0
    done: bool = False
    log: list = field(default_factory=list)

    def points(self):
        return self.orbit[(self.place + self.steps) % len(self.orbit)]


class Rounds:
    def advance(self, model, state, steps):
        state.steps += steps
        state.log.append(steps)


def ring(p):
    angle = 2 * np.pi * np.arange(p) / p
    return np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("period", [2, 3, 7, PERIODS])
def test_a_cycle_has_its_least_period(period):
    state = Turning(np.array([0, 1]), ring(period))
    assert cycles(Rounds(), None, state, radius=1.0) == [period, period]
    assert (state.steps, state.log) == (0, [])  # a copy went round


def test_what_stands_still_or_takes_longer_is_no_cycle():
    assert cycles(Rounds(), None, Turning(np.array([0]), ring(1)), 1.0) == [None]
    assert cycles(Rounds(), None, Turning(np.array([0]), ring(PERIODS + 1)), 1.0) == [None]
    tiny = Turning(np.array([0]), 1e-6 * ring(3))
    assert cycles(Rounds(), None, tiny, 1.0) == [None]
    assert cycles(Rounds(), None, tiny, 1e-6) == [3]


def test_a_return_once_is_no_cycle():
    orbit = np.vstack([ring(3), 10 + np.arange(2.0 * 300).reshape(300, 2)])
    orbit[3] = orbit[0]
    assert cycles(Rounds(), None, Turning(np.array([0]), orbit), 1.0) == [None]


def test_a_model_is_not_copied():
    class Heavy:
        def __deepcopy__(self, memory):
            raise AssertionError("a model serves every copy of a state")

    state, model = Turning(np.array([0]), ring(2)), Heavy()
    state.model = model
    assert cycles(Rounds(), model, state, 1.0) == [2]
    assert cycles(Rounds(), (model, 1.0), state, 1.0) == [2]


def test_a_cycle_is_named_by_its_period():
    problem = QuadraticOverHull(SQUARE)
    assert named(problem, np.full(4, 0.25), period=4) == (Class.CYCLE, "period 4", False)


@pytest.mark.parametrize(
    ("points", "rank"),
    [
        ([[1.0, 2.0]], 0),
        ([[0.1, 0.7]] * 3, 0),
        ([[0.0, 0.0], [1e-12, 0.0]], 1),
        ([[1e8, 0.0], [1e8 + 1, 0.0], [1e8, 1.0]], 2),
        ([[0.0, 0.0], [1.0, 1.0], [0.3, 0.3 + 1e-17]], 1),
        (np.eye(4), 3),
    ],
)
def test_affine_rank_counts_dimensions(points, rank):
    assert affine_rank(np.array(points)) == rank
