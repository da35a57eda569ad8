"""Layers as claims see them, and what claims ask of a layer."""

from fractions import Fraction as F

import numpy as np
import pytest

from fwbench.errors import InvalidParameter
from fwbench.geometry.forms import Factored
from fwbench.problem import QuadraticOverHull
from fwbench.theory.bounds import compared, outside, receding, size, while_inside
from fwbench.theory.claim import Verdict
from fwbench.theory.walks import (
    after,
    energies,
    exact_form,
    first_exit,
    hardmax,
    instance,
    key_query,
    leaders,
    squared_diameter,
    walk,
)

FOUR_ONE = "token_cloud[name=four-one]"


def test_a_walk_follows_the_formula():
    problem, x = instance(FOUR_ONE), [F(4), F(-1)]
    for t, points in walk(problem, hardmax(), 12):
        assert points[:, 0].tolist() == x
        gamma = F(2, t + 2)
        target = [min(x) if entry > 0 else max(x) for entry in x]
        x = [(1 - gamma) * a + gamma * b for a, b in zip(x, target, strict=True)]


def test_exact_walks_hold_fractions_and_others_doubles():
    problem = instance(FOUR_ONE)
    [_, (_, exact)] = walk(problem, hardmax(), 1)
    [_, (_, rounded)] = walk(problem, hardmax(arithmetic="float"), 1)
    assert isinstance(exact[0, 0], F)
    assert rounded.dtype == np.float64


@pytest.mark.parametrize("solver", [hardmax(), hardmax(arithmetic="float")])
def test_after_is_the_end_of_a_walk(solver):
    problem = instance(FOUR_ONE)
    [*_, (t, last)] = walk(problem, solver, 9)
    assert t == 9
    assert (after(problem, solver, 9) == last).all()


def test_keys_ties_and_scores_reach_the_solver():
    cloud = QuadraticOverHull([["0"], ["3"], ["-1"]], start=[0, 1, 2])

    def first(**parameters):
        return after(cloud, hardmax("constant(2/3)", **parameters), 1)[0, 0]

    assert first() == F(4, 9)
    assert first(ties="lowest") == 0
    both = QuadraticOverHull([[2, 1], [-1, -3], [-4, 1]], start=[0, 1, 2])
    turned = after(both, hardmax("constant(1)", scores="1 9"), 1)
    assert turned[0].tolist() == [-1, -3]
    assert after(both, hardmax("constant(1)"), 1)[0].tolist() == [-4, 1]


def test_solvers_that_do_not_fit_are_refused():
    field = QuadraticOverHull([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    with pytest.raises(InvalidParameter, match="monotone"):
        next(walk(field, "frank_wolfe[step=exact]", 3))


def test_forms():
    problem = QuadraticOverHull([[1, 0], [0, 1]], [[2, 1], [1, 3]])
    assert exact_form(problem).tolist() == [[2, 1], [1, 3]]
    assert key_query(problem).tolist() == [[-2, -1], [-1, -3]]
    assert exact_form(instance("token_cloud[n=3,d=2,q=3]")).tolist() == [3, 3]
    factored = QuadraticOverHull([[1, 0], [0, 1]], Factored(np.eye(2)))
    with pytest.raises(InvalidParameter, match="not factors"):
        exact_form(factored)


def test_energies_of_diagonals_and_matrices_agree():
    x = np.array([[F(1), F(2)], [F(-3), F(1, 2)]])
    diagonal = np.array([F(2), F(3)])
    dense = np.array([[F(2), F(0)], [F(0), F(3)]])
    assert energies(x, diagonal).tolist() == energies(x, dense).tolist() == [7, F(75, 8)]
    slanted = np.array([[F(2), F(1)], [F(1), F(3)]])
    assert energies(x, slanted)[0] == 9


def test_the_diameter_is_that_of_the_farthest_two():
    assert squared_diameter(np.array([[0, 0], [3, 4], [1, 1]])) == 25
    assert squared_diameter(np.array([[2, 2], [2, 2]])) == 0


def test_the_first_exit_is_found():
    inside = np.array([[0, 0], [4, 0], [0, 4]])
    out = np.array([[1, 1], [2, 2], [3, 2]])
    assert first_exit([(0, inside), (1, inside), (2, inside)]) is None
    t, token = first_exit([(0, inside), (1, inside), (2, out)])
    assert (t, token.tolist()) == (1, [3, 2])


def test_leaders_are_counted_as_points_or_as_tokens():
    x = np.array([[F(1)], [F(1)], [F(-2)]])
    one = np.array([F(1)])
    assert leaders(x, one, distinct=True) == [1, 1, 1]
    assert leaders(x, one, distinct=False) == [1, 1, 2]
    field = np.array([[F(0), F(0)], [F(1), F(0)]])  # not symmetric: Q acts on the query
    square = np.array([[F(1), F(0)], [F(-1), F(0)], [F(0), F(1)]])
    # Qx is (0, 1), (0, -1), (0, 0)
    assert leaders(square, field, distinct=True) == [2, 1, 3]


# -- bounds ------------------------------------------------------------------------------------


def test_the_size_of_a_bound_is_that_of_the_first_layer():
    cloud = QuadraticOverHull([["0", "0"], ["3", "4"]], [2, 1], start=[0, 1])
    assert size(cloud) == 50
    assert size(cloud, "1 3") == 9 * 25
    assert size(cloud, "geometric(1/2,1/2)") == F(50, 4)


@pytest.mark.parametrize(
    ("tokens", "Q", "scores", "reason"),
    [
        ([[1], [-1]], 1, "1", None),
        ([[1], [-1]], 1, "power(1,-1)", None),
        ([[1], [-1]], 1, "power(1,1)", "B_*(t) increases"),
        ([[1], [-1]], -1, "1", "without negative entries"),
        ([[1], [2]], 1, "1", "outside the first hull"),
        ([[1, 0], [-1, 0]], [[2, 1], [1, 2]], "1", "no diagonal"),
    ],
)
def test_hypotheses(tokens, Q, scores, reason):
    found = outside(QuadraticOverHull(tokens, Q), scores, 5)
    assert found is None if reason is None else reason in found


def test_a_linear_term_is_outside():
    assert "linear term" in outside(QuadraticOverHull([[1], [-1]], c=[1]))


def test_energies_beside_a_bound():
    problem = instance(FOUR_ONE)
    found = compared(walk(problem, hardmax(), 3), exact_form(problem), lambda t: F(8, t + 1))
    # the tokens after 1, 2, 3 steps: (-1, 4), (7/3, 2/3), (3/2, 2/3)
    assert found.ratios == [1, F(49, 72), F(27, 64)]
    assert (found.first, found.last) == (None, F(9, 8))
    outcome = found.outcome()
    assert (outcome.verdict, outcome.horizon) == (Verdict.HOLDS, "3 steps")
    assert outcome.numbers == {"ratio at t = 0": "1", "largest ratio": "1", "largest at t": "0"}


def test_where_a_bound_breaks_is_told_before_its_ratios():
    problem = instance(FOUR_ONE)
    broken = compared(walk(problem, hardmax(), 3), exact_form(problem), lambda t: F(1))
    assert list(broken.outcome().numbers)[:3] == ["t", "J", "bound"]


def test_a_bound_beside_no_layer_says_nothing():
    problem = instance(FOUR_ONE)
    found = compared(walk(problem, hardmax(), 0), exact_form(problem), lambda t: F(1))
    assert found.outcome().verdict is Verdict.VACUOUS


def test_a_bound_of_zero_is_exceeded_by_any_energy():
    problem = instance(FOUR_ONE)
    found = compared(walk(problem, hardmax(), 2), exact_form(problem), lambda t: F(0))
    assert found.first == (0, 8, 0)
    assert found.ratios == [np.inf, np.inf]


def test_a_bound_breaks_where_the_energy_is_above_it_strictly():
    problem = instance(FOUR_ONE)
    found = compared(walk(problem, hardmax(), 3), exact_form(problem), lambda t: F(49, 18))
    assert found.first == (0, 8, F(49, 18))
    outcome = found.outcome("three looks")
    assert outcome.witness == "t = 0: 8 > 49/18"
    assert outcome.numbers["t"] == "0"
    equal = compared(walk(problem, hardmax(), 1), exact_form(problem), lambda t: F(8))
    assert equal.outcome().verdict is Verdict.HOLDS


def test_the_energy_is_that_of_the_layer_before():
    problem = instance(FOUR_ONE)
    scores = "geometric(1,1/2)"  # D_0 = 1, D_1 = 1/2
    layers = walk(problem, hardmax(scores=scores), 2)
    found = compared(layers, exact_form(problem), lambda t: F(1), scores=scores, least=F(1, 8))
    assert found.ratios == [8 - F(1, 8), F(49, 18) / 4 - F(1, 8)]


def test_ratios_are_thinned_for_a_figure():
    problem = instance(FOUR_ONE)
    found = compared(walk(problem, hardmax(), 3), exact_form(problem), lambda t: F(8))
    line = found.line("all")
    assert line.x.tolist() == [1, 2, 3]
    assert line.y.tolist() == [float(ratio) for ratio in found.ratios]
    assert found.level.x.tolist() == [1, 3]


def test_layers_up_to_the_loss_of_the_origin():
    three = list(while_inside(walk(instance("token_cloud[name=three-two]"), hardmax(), 9)))
    assert [t for t, _ in three] == [0, 1, 2, 3]
    assert three[-1][1].min() > 0
    kept = while_inside(walk(instance("token_cloud[name=symmetric]"), hardmax(), 9))
    assert len(list(kept)) == 10


def test_a_hull_recedes():
    step = "constant(3/100)"
    found = list(receding(walk(instance("token_cloud[name=receding]"), hardmax(step), 9), step))
    distances = [row.distance for row in found]
    assert distances == sorted(distances)
    assert len({row.allowed for row in found}) == 1
    start = instance("token_cloud[name=receding]").exact_atoms
    assert found[0].t == 1
    assert found[0].allowed == F(9, 10_000) * squared_diameter(start)


def test_a_hull_that_keeps_the_origin_or_never_had_it_does_not_recede():
    step = "constant(1/3)"
    kept = walk(instance("token_cloud[name=symmetric]"), hardmax(step), 6)
    assert list(receding(kept, step)) == []
    never = QuadraticOverHull([[1], [2]], start=[0, 1])
    assert list(receding(walk(never, hardmax(step), 6), step)) == []
