"""Replicas of the random layer: the same chain as the solver's, and when its tokens leave."""

import numpy as np
import pytest

from fwbench import catalog
from fwbench.geometry.dominance import regular_polygon
from fwbench.kernels.escapes import distance
from fwbench.problem import QuadraticOverHull
from fwbench.theory.chains import (
    NEVER,
    Until,
    after,
    attention,
    cloud,
    clustered,
    drift,
    events,
    exponent,
    first_picks,
    hulls,
    law,
    straying,
)

TRIANGLE = regular_polygon(3)
PAIRS, GROUPS = np.repeat(TRIANGLE, 2, axis=0), np.repeat(np.arange(3), 2)


def solved(tokens, beta, gamma, replicas, steps, seed):
    """Return picks (steps, replicas, n) and where the solver's replicas end."""
    text = f"markov_attention[keys=moving,beta={beta},step=constant({gamma}),seed={seed}," + (
        f"replicas={replicas}]"
    )
    [choice] = catalog.choices("solvers", text)
    chain, problem = catalog.build_solver(choice), cloud(tokens)
    model = chain.prepare(problem)
    state = chain.init(model, chain.start(problem))
    return chain.picks(model, state, steps), state.points().reshape(replicas, *tokens.shape)


@pytest.mark.parametrize("seed", [0, 2**40 + 5])
def test_the_chain_is_that_of_the_solver(seed):
    tokens = np.random.default_rng(1).standard_normal((5, 3))
    groups = np.array([0, 1, 1, 2, 0])
    picks, ends = solved(tokens, 0.7, 0.3, 20, 40, seed)
    starts, steps = np.repeat(tokens[None], 20, axis=0), np.full(20, 40)
    np.testing.assert_allclose(
        after(starts, steps, beta=0.7, gamma=0.3, seed=seed), ends, atol=1e-12
    )
    strays = groups[picks] != groups
    first = np.where(strays.any(axis=0), strays.argmax(axis=0) + 1, NEVER)
    found = events(
        tokens, groups, beta=0.7, gamma=0.3, replicas=20, steps=40,
        until=Until.LEFT, seed=seed,
    )  # fmt: skip
    np.testing.assert_array_equal(found.crossed, first)
    assert (found.left == NEVER).all()
    np.testing.assert_array_equal(first_picks(cloud(tokens), 0.7, replicas=20, seed=seed), picks[0])


def test_replicas_end_at_what_was_asked_for():
    common = {"beta": 3.0, "gamma": 0.1, "replicas": 60, "steps": 400}
    whole = events(PAIRS, GROUPS, until=Until.LEFT, **common)
    crossed = events(PAIRS, GROUPS, until=Until.CROSSED, **common)
    np.testing.assert_array_equal(crossed.crossed.min(axis=1), whole.crossed.min(axis=1))
    # later ones are not seen: the replica has ended
    ends = crossed.crossed.min(axis=1)
    assert ((crossed.crossed == ends[:, None]) | (crossed.crossed == NEVER)).all()
    first = events(PAIRS, GROUPS, until=Until.FIRST_CROSSED, **common)
    np.testing.assert_array_equal(first.crossed[:, 0], whole.crossed[:, 0])
    none = events(PAIRS, GROUPS, until=Until.LEFT, **{**common, "steps": 0})
    assert (none.crossed == NEVER).all()
    np.testing.assert_array_equal(none.tokens[7], PAIRS)


def test_tokens_leave_with_the_first_cross_pick_if_nothing_is_allowed():
    common = {"beta": 3.0, "gamma": 0.1, "replicas": 60, "steps": 400, "until": Until.LEFT}
    at_once = events(PAIRS, GROUPS, epsilon=0.0, **common)
    np.testing.assert_array_equal(at_once.left, at_once.crossed.min(axis=1))
    later = events(PAIRS, GROUPS, epsilon=0.2, **common)
    assert (later.left > at_once.left).all()
    # one pick of another vertex goes γ d = 0.173 far
    assert (events(PAIRS, GROUPS, epsilon=0.17, **common).left == at_once.left).all()


@pytest.mark.parametrize(
    ("corners", "x", "expected"),
    [
        (1, (3.0, 4.0), 5.0),
        (2, (1.0, -2.0), 2.0),
        (2, (5.0, 4.0), 5.0),
        (3, (0.5, 0.25), 0.0),
        (3, (2.0, 0.0), 0.0),
        (3, (0.5, -1.0), 1.0),
        (3, (1.5, 1.5), np.sqrt(1.25)),
    ],
)
def test_the_distance_from_a_hull(corners, x, expected):
    ring = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    assert distance(ring, corners, np.array(x)) == pytest.approx(expected, abs=1e-15)


def test_hulls_of_groups():
    inside = np.array([[0.2, 0.2]])
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    rings, sizes = hulls(np.vstack([square, inside, PAIRS[:2]]), np.array([0] * 5 + [1] * 2))
    assert sizes.tolist() == [4, 1]
    assert distance(rings[0], 4, np.array([0.5, 0.5])) == 0
    assert distance(rings[0], 4, np.array([2.0, 0.5])) == 1
    assert distance(rings[1], 1, np.array([1.0, 2.0])) == 2


def test_a_segment_in_space_has_its_distance():
    rings, sizes = hulls(np.array([[0.0, 0, 0], [0, 0, 2]]), np.array([0, 0]))
    assert sizes.tolist() == [2]
    assert distance(rings[0], 2, np.array([3.0, 4.0, 1.0])) == 5


def test_weights_are_those_of_the_formula():
    tokens, beta = np.random.default_rng(2).standard_normal((6, 3)), 1.7
    weights = np.exp(beta * (tokens @ tokens.T))
    np.testing.assert_allclose(
        attention(tokens, beta), weights / weights.sum(axis=1)[:, None], rtol=1e-12
    )
    Q = np.array([-2.0, 1.0, 0.5])
    weights = np.exp(-beta * ((tokens * Q) @ tokens.T))
    np.testing.assert_allclose(
        law(QuadraticOverHull(tokens, Q), beta), weights / weights.sum(axis=1)[:, None], rtol=1e-11
    )


def test_a_path_of_picks_has_the_product_of_their_chances():
    beta, gamma = 1.2, 0.25
    total, end = straying(TRIANGLE, beta, gamma, 0, 1, 2)
    first = attention(TRIANGLE, beta)
    moved = TRIANGLE.copy()
    moved[0] += gamma * (TRIANGLE[1] - TRIANGLE[0])
    second = attention(moved, beta)
    chance = first[0, 1] * first[1, 1] * first[2, 2] * second[0, 1] * second[1, 1] * second[2, 2]
    assert total == pytest.approx(np.log(chance), rel=1e-12)
    np.testing.assert_allclose(end[0], 0.75**2 * TRIANGLE[0] + (1 - 0.75**2) * TRIANGLE[1])


def test_the_exponent_of_theorem_5_4():
    # circumradius 10, γ = 1/100, ε = 2γd, n = 3, βc_0 = 5, t = 4
    assert exponent(4, 3, 5 / 150, 150.0, 20 * np.sqrt(3)) == pytest.approx(-124.39, abs=0.01)
    assert exponent(2.0, 1, 1.0, 1.0, 2.0) == pytest.approx(-1.0)


def test_bad_steps_are_counted_by_group_or_alone():
    common = {"beta": 1.0, "gamma": 0.2, "replicas": 5, "steps": 30, "most": 0.2 * np.sqrt(3)}
    picks, _ = solved(PAIRS, 1.0, 0.2, 5, 30, 0)
    strays = GROUPS[picks] != GROUPS
    _, own = drift(PAIRS, GROUPS, alone=True, **common)
    np.testing.assert_array_equal(own, strays.sum(axis=0))
    excess, bad = drift(PAIRS, GROUPS, **common)
    either = strays[..., ::2] | strays[..., 1::2]
    np.testing.assert_array_equal(bad, np.repeat(either.sum(axis=0), 2, axis=1))
    assert (excess <= 1e-14).all()


@pytest.mark.parametrize("largest", [True, False])
def test_the_time_of_clustering_is_made_of_the_distance_asked_for(largest):
    inner = TRIANGLE[0] - np.array([[[0.02, 0.0], [0.6, 0.0]]])
    found = clustered(TRIANGLE, inner, beta=1e9, gamma=0.1, largest=largest)
    assert found.steps.tolist() == [3 if largest else 1]
    # along the axis, towards the vertex, at every step
    tau = np.sqrt(3) / 4 if largest else 0.018
    assert found.others[0] == pytest.approx(0.6 * 0.9 ** found.steps[0] / tau)
    assert found.at_vertices[0] == 0
