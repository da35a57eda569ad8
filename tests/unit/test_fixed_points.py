import numpy as np
import pytest

from fwbench import catalog
from fwbench.analysis.fixed_points import Class, FixedPoint, classify, common
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, run

pytestmark = pytest.mark.usefixtures("untimed")

AT_ATOM = {
    "gap_relative": 1e-7, "drift": 1e-5, "nearest": 3, "distance": 1e-7, "leads": True,
    "leads_itself": True, "face": 0, "hull": 2, "support": [3], "used": 1, "period": None,
    "value": 0.0,
}  # fmt: skip
ON_EDGE = AT_ATOM | {"distance": 0.3, "face": 1, "support": [7, 3], "used": 2}
MOVING = FixedPoint(Class.MOVING, "", False)
QUIET = FixedPoint(Class.MOVING, "quiet", False)


def named(*facts, convex=True):
    table = {name: [fact[name] for fact in facts] for name in facts[0]}
    points = [classify(table, q, convex=convex) for q in range(len(facts))]
    return points if len(points) > 1 else points[0]


# -- by hand ---------------------------------------------------------------------------------


def test_at_an_atom():
    assert named(AT_ATOM) == FixedPoint(Class.VERTEX, "atom 3", True)


def test_on_a_face():
    assert named(ON_EDGE) == FixedPoint(Class.FACE, "dimension 1, atoms 3 7", True)
    assert named(ON_EDGE | {"support": None, "used": None}).label == "dimension 1"


@pytest.mark.parametrize(("used", "more"), [(8, ""), (9, " …")])
def test_a_long_support_is_cut_in_sight(used, more):
    label = named(ON_EDGE | {"support": list(range(8)), "used": used}).label
    assert label == "dimension 1, atoms 0 1 2 3 4 5 6 7" + more


def test_in_the_interior():
    assert named(ON_EDGE | {"face": 2}) == FixedPoint(Class.INTERIOR, "dimension 2", True)


def test_quiet_alone_proves_nothing():
    assert named(ON_EDGE | {"gap_relative": 2e-6}) == QUIET
    assert named(AT_ATOM | {"gap_relative": None}) == QUIET


def test_a_small_gap_alone_proves_nothing():
    assert named(AT_ATOM | {"drift": 2e-4}) == MOVING


@pytest.mark.parametrize("lost", ["leads", "leads_itself"])
def test_a_vertex_must_lead_unless_convex(lost):
    assert named(AT_ATOM | {lost: False}, convex=False) == QUIET
    assert named(AT_ATOM | {lost: False}, convex=True).kind is Class.VERTEX


def test_a_cycle_has_its_period():
    assert named(ON_EDGE | {"period": 3}) == FixedPoint(Class.CYCLE, "period 3", False)


def test_a_cloud_at_one_point_is_in_consensus():
    together = ON_EDGE | {"drift": 1.0, "gap_relative": 1.0, "shrunk": 0.9e-4}
    assert named(together) == FixedPoint(Class.CONSENSUS, "one point", True)
    assert named(together | {"shrunk": 1.1e-4}) == MOVING
    assert named(together | {"shrunk": None}) == MOVING


def test_queries_are_told_apart():
    a, b = named(AT_ATOM, ON_EDGE)
    assert (a.kind, b.kind) == (Class.VERTEX, Class.FACE)


# -- a run's class ---------------------------------------------------------------------------


def test_a_run_is_named_by_what_its_queries_share():
    vertex, other = (FixedPoint(Class.VERTEX, f"atom {key}", True) for key in (1, 2))
    assert common([vertex]) == ("vertex", "atom 1")
    assert common([vertex, vertex]) == ("vertex", "atom 1")
    assert common([vertex, other, vertex]) == ("vertex", "2 different")
    assert common([MOVING, QUIET, QUIET]) == ("moving", "2 of 3 quiet")
    assert common([vertex, MOVING, other]) == ("mixed", "2 vertex, 1 moving")


# -- measured at the end of real runs --------------------------------------------------------

TRIANGLE = [[1.0, 2.0], [3.0, 1.0], [2.0, -1.0]]  # nearest to 0: (3/2, 1/2) on the edge of 0 and 2
AROUND = [[-1.0, -1.0], [2.0, 0.0], [0.0, 3.0]]
RING = [[np.cos(a), np.sin(a)] for a in 2 * np.pi * np.arange(5) / 5]
TURN = [[0.0, -1.0], [1.0, 0.0]]  # the score of y at x is the sine of the angle from x to y


def rests(problem, text, **budget):
    [choice] = catalog.choices("solvers", text)
    done = run(problem, catalog.build_solver(choice), choice.entry, Budget(**budget))
    assert done.rest is not None, done.reason
    convex = problem.kind == "convex"
    return [classify(done.rest, q, convex=convex) for q in range(len(done.rest["drift"]))]


def test_the_nearest_point_of_an_edge_rests_on_it():
    [place] = rests(QuadraticOverHull(TRIANGLE), "away_steps[cache_mebibytes=1]", tol=1e-12)
    assert place == FixedPoint(Class.FACE, "dimension 1, atoms 0 2", True)


def test_the_nearest_point_inside_rests_in_the_interior():
    [place] = rests(QuadraticOverHull(AROUND), "away_steps[cache_mebibytes=1]", tol=1e-12)
    assert place == FixedPoint(Class.INTERIOR, "dimension 2", True)


def test_a_point_in_the_middle_of_a_segment_in_the_plane_is_interior():
    problem = QuadraticOverHull([[1.0, 1.0], [1.0, -1.0]])
    [place] = rests(problem, "cvxpy_reference")
    assert place == FixedPoint(Class.INTERIOR, "dimension 1", True)


def test_a_far_hull_rests_at_its_nearest_vertex():
    [place] = rests(QuadraticOverHull(np.array(TRIANGLE) * [1, -1] + [9, 9]), "cvxpy_reference")
    assert place == FixedPoint(Class.VERTEX, "atom 0", True)


def test_a_single_atom_is_a_vertex():
    [place] = rests(QuadraticOverHull([[2.0, 3.0]]), "frank_wolfe[step=exact]")
    assert place == FixedPoint(Class.VERTEX, "atom 0", True)


def test_attention_on_a_concave_problem_rests_at_the_vertices():
    problem = QuadraticOverHull(RING, -1.0, start=np.arange(5))
    places = rests(problem, "hardmax_attention[keys=fixed]", max_steps=100)
    assert places == [FixedPoint(Class.VERTEX, f"atom {key}", True) for key in range(5)]


def test_a_run_that_its_certificate_stopped_rests_although_its_last_step_was_long():
    [choice] = catalog.choices("problems", "min_norm_point[n=20,d=3,shift=1]")
    [place] = rests(catalog.build_problem(choice), "away_steps[cache_mebibytes=1]")
    assert place == FixedPoint(Class.FACE, "dimension 1, atoms 4 19", True)


def test_steps_too_short_to_arrive_are_still_moving():
    [place] = rests(QuadraticOverHull(TRIANGLE), "frank_wolfe[step=open_loop]", max_steps=200)
    assert place.kind is Class.MOVING


def test_a_turning_field_sends_jumps_round_in_a_cycle():
    problem = QuadraticOverHull(RING, TURN, start=[0])
    [place] = rests(problem, "hardmax_attention[keys=fixed,step=constant(1)]", max_steps=50)
    assert place == FixedPoint(Class.CYCLE, "period 5", False)


def test_an_open_loop_never_cycles():
    problem = QuadraticOverHull(RING, TURN, start=[0])
    [place] = rests(problem, "hardmax_attention[keys=fixed]", max_steps=500)
    assert place.kind is Class.MOVING


def test_tokens_that_attend_to_each_other_come_together():
    [choice] = catalog.choices("problems", "token_cloud[name=four-one]")
    problem = catalog.build_problem(choice)
    moving = rests(problem, "hardmax_attention[keys=moving]", max_steps=1000, tol=1e-15)
    assert {place.kind for place in moving} <= {Class.CONSENSUS, Class.MOVING}
    halves = "hardmax_attention[keys=moving,step=constant(1/2)]"
    assert {place.kind for place in rests(problem, halves, tol=1e-15)} == {Class.CONSENSUS}
