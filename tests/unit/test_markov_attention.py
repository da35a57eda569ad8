"""The chain: its random numbers, its one-step law, and that nothing but a counter decides."""

from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from fwbench import api, catalog
from fwbench.errors import InvalidParameter
from fwbench.geometry.combinations import Combinations
from fwbench.judge import Judge, diameter
from fwbench.kernels.chain import exponential, philox
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, run
from fwbench.theory.intervals import binomial

MarkovAttention = import_module("fwbench.solvers.markov_attention").MarkovAttention

# The known answers of the authors' library, Random123.
KNOWN = [
    ((0,) * 4, (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]
CLOUD = np.random.default_rng(41).standard_normal((5, 2))


def made(**parameters):
    text = ",".join(f"{key}={value}" for key, value in parameters.items())
    return catalog.build_solver(catalog.choices("solvers", f"markov_attention[{text}]")[0])


def begun(solver, problem):
    model = solver.prepare(problem)
    return model, solver.init(model, solver.start(problem))


# -- random numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_philox_gives_its_known_answers(counter, key, words):
    found = philox(*map(np.uint64, counter), *map(np.uint64, key))
    assert " ".join(f"{int(word):08x}" for word in found) == words


def test_exponential_variables_are_what_their_name_says():
    counters = [[(k, i, 7, 3, 11, 0) for k in range(100)] for i in range(100)]
    words = [[philox(*map(np.uint64, counter))[:2] for counter in row] for row in counters]
    grid = np.array([[exponential(*map(np.uint64, pair)) for pair in row] for row in words])
    # uniform: each of 20 classes of 10 000 numbers within five deviations of its share
    counts = np.bincount((20 * np.exp(-grid)).astype(int).ravel(), minlength=20)
    assert np.abs(counts - 500).max() < 5 * np.sqrt(10_000 * 0.05 * 0.95)
    # independent of their neighbours in key and token
    deviations = (grid - grid.mean()) / grid.std()
    for one, other in ((deviations[:, 1:], deviations[:, :-1]), (deviations[1:], deviations[:-1])):
        assert abs((one * other).mean()) < 5 / np.sqrt(one.size)
    # the extreme words stay inside
    ends = [exponential(np.uint64(w), np.uint64(w)) for w in (0, 2**32 - 1)]
    assert ends[0] == -np.log(0.5 * 2.0**-52)
    assert 0 < ends[1] < 2e-16


# -- the law of one step -----------------------------------------------------------------------


@pytest.mark.parametrize("keys", ["fixed", "moving"])
@pytest.mark.parametrize(("beta", "linear"), [(2, [0.0, 0.0]), (0.3, [1.0, -2.0])])
def test_one_step_has_the_law_of_softmax(keys, beta, linear):
    replicas = 20_000
    problem = QuadraticOverHull(CLOUD, [-1.0, -0.5], linear, start=[0, 1, 2, 3, 4])
    solver = made(keys=keys, beta=beta, replicas=replicas, seed=1)
    picks = solver.picks(*begun(solver, problem), 1)[0]
    scores = (CLOUD * [-1.0, -0.5] + linear) @ CLOUD.T
    law = np.exp(-beta * scores)
    law /= law.sum(axis=1)[:, None]
    for token in range(5):
        counts = np.bincount(picks[:, token], minlength=5)
        for key in range(5):
            low, high = binomial(int(counts[key]), replicas, 0.9999)
            assert low <= law[token, key] <= high
    # tokens draw independently: pairs of picks have the product law
    both = np.bincount(5 * picks[:, 0] + picks[:, 1], minlength=25) / replicas
    np.testing.assert_allclose(both, np.outer(law[0], law[1]).ravel(), atol=5 / replicas**0.5)


def test_the_mean_of_a_step_is_the_softmax_layer():
    replicas = 20_000
    problem = QuadraticOverHull(CLOUD, -1.0, [0.3, 0.1])
    solver = made(keys="moving", beta=1, step="constant(1/3)", replicas=replicas)
    model, state = begun(solver, problem)
    solver.advance(model, state, 1)
    mean = state.points().reshape(replicas, 5, 2).mean(axis=0)
    [choice] = catalog.choices(
        "solvers", "softmax_attention[keys=moving,beta=1,step=constant(1/3)]"
    )
    layer = catalog.build_solver(choice)
    there = layer.prepare(problem)
    soft = layer.init(there, layer.start(problem))
    layer.advance(there, soft, 1)
    spread = diameter(CLOUD) / 3
    np.testing.assert_allclose(mean, soft.points(), rtol=0, atol=5 * spread / replicas**0.5)


def test_weights_of_coinciding_tokens_add():
    replicas = 20_000
    problem = QuadraticOverHull(np.repeat(CLOUD[:2], [3, 1], axis=0), 0.0)
    solver = made(keys="moving", replicas=replicas)
    picks = solver.picks(*begun(solver, problem), 1)[0]
    low, high = binomial(int((picks[:, 3] < 3).sum()), replicas, 0.9999)
    assert low <= 3 / 4 <= high


@pytest.mark.parametrize("size", [1.0, 1e-8, 1e8])
def test_a_cold_chain_follows_its_leader(size):
    problem = QuadraticOverHull(size * CLOUD, -1.0, start=[0, 1, 2, 3, 4])
    solver = made(beta=f"{1e6 / size**2}", step="constant(1)")
    picks = solver.picks(*begun(solver, problem), 1)[0, 0]
    np.testing.assert_array_equal(picks, (CLOUD @ CLOUD.T).argmax(axis=1))


def test_a_beta_beyond_all_doubles_picks_the_leader_too():
    problem = QuadraticOverHull(CLOUD, -1.0, start=[0, 1, 2, 3, 4])
    solver = made(beta="geometric(1,1000)", step="constant(1)")
    model, state = begun(solver, problem)
    solver.advance(model, state, 200)
    picks = solver.picks(model, state, 1)[0, 0]
    x = state.points()
    np.testing.assert_array_equal(CLOUD[picks], x)


# -- counters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", ["fixed", "moving"])
def test_a_replica_does_not_see_the_others(keys):
    problem = QuadraticOverHull(CLOUD, -1.0, start=[0, 2, 4, 1])
    few, many = (made(keys=keys, beta=1, seed=9, replicas=r) for r in (2, 5))
    ends = []
    for solver in (few, many):
        model, state = begun(solver, problem)
        solver.advance(model, state, 20)
        ends.append(state.points().reshape(solver.replicas, -1, 2))
    assert ends[0].tobytes() == ends[1][:2].tobytes()
    assert len({end.tobytes() for end in ends[1]}) == 5
    seeds = [made(keys=keys, beta=1, seed=seed) for seed in (0, 9, 2**32, 2**63 - 1)]
    found = []
    for solver in seeds:
        model, state = begun(solver, problem)
        solver.advance(model, state, 20)
        found.append(state.points().tobytes())
    assert len(set(found)) == 4
    assert found[1] == ends[0][:1].tobytes()


def test_picks_walk_the_path_of_advance():
    problem = QuadraticOverHull(CLOUD, -1.0)
    solver = made(keys="moving", beta="linear(1,1/10)", replicas=3, step="harmonic(1,2)")
    model, state = begun(solver, problem)
    solver.advance(model, state, 8)
    other = begun(solver, problem)[1]
    picks = np.concatenate([solver.picks(model, other, 3), solver.picks(model, other, 5)])
    assert other.points().tobytes() == state.points().tobytes()
    assert (other.steps, other.counters) == (state.steps, state.counters)
    assert other.weights().data.tobytes() == state.weights().data.tobytes()
    assert picks.shape == (8, 3, 5)
    assert picks.min() >= 0
    assert picks.max() <= 4
    # and they are who was followed
    x = np.repeat(CLOUD[None], 3, axis=0)
    for t, who in enumerate(picks):
        x = x + (np.take_along_axis(x, who[:, :, None], axis=1) - x) / (t + 2)
    np.testing.assert_allclose(x.reshape(-1, 2), state.points(), rtol=0, atol=1e-14)


def test_the_first_cross_pick_of_any_token_is_geometric():
    # nothing moves before it: one token at each corner of a triangle
    angles = 2 * np.pi * np.arange(3) / 3
    problem = QuadraticOverHull(np.stack([np.cos(angles), np.sin(angles)], axis=1), -1.0)
    solver = made(keys="moving", beta=3, replicas=2000, seed=4)
    picks = solver.picks(*begun(solver, problem), 30)
    crossed = (picks != np.arange(3)).any(axis=2)
    off = 2 * np.exp(-3 * 1.5)
    p = 1 - (1 - off / (1 + off)) ** 3
    for steps in (1, 5, 10, 30):
        reached = int(crossed[:steps].any(axis=0).sum())
        low, high = binomial(reached, 2000, 0.999)
        assert low <= 1 - (1 - p) ** steps <= high


# -- under the harness -------------------------------------------------------------------------


def test_replicas_are_judged_as_clouds_of_their_own():
    clouds = np.concatenate([CLOUD, 0.1 * CLOUD + 3.0])
    problem = QuadraticOverHull(clouds, -1.0)
    look = Judge(problem, moving=True, clouds=2).look(clouds, None)
    parts = [Judge(problem, moving=True).look(part, None) for part in (clouds[:5], clouds[5:])]
    for column in ("spread", "gap_current"):
        assert look.row[column] == max(part.row[column] for part in parts)
    assert look.row["spread"] < 0.9 * Judge(problem, moving=True).look(clouds, None).row["spread"]


def test_a_run_of_replicas_has_a_row_for_each_point():
    problem = QuadraticOverHull(CLOUD, -1.0)
    [choice] = catalog.choices("solvers", "markov_attention[keys=moving,replicas=4,beta=1/2]")
    done = run(problem, catalog.build_solver(choice), choice.entry, Budget(max_steps=30))
    assert done.row["queries"] == 20
    assert done.row["feasibility"] <= 1e-12
    assert done.rest["period"] == [None] * 20
    solution = api.solve(problem, "markov_attention[replicas=4,seed=2]", max_steps=30, start=[1, 2])
    assert solution.x.shape == (8, 2)
    assert solution.weights.shape == (8, 5)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"step": "exact"}, "searches along f, towards a key that chance has picked"),
        ({"beta": 0}, "beta must be positive; got 0"),
        ({"seed": -1}, "seed must be an integer of 64 bits, not negative; got"),
        ({"replicas": 0}, "replicas must lie in"),
    ],
)
def test_parameters_that_make_no_chain_are_explained(parameters, says):
    with pytest.raises(InvalidParameter, match=says):
        made(**parameters)


def test_a_start_for_other_replicas_is_explained():
    solver = MarkovAttention(replicas=2)
    model = solver.prepare(QuadraticOverHull(CLOUD))
    with pytest.raises(InvalidParameter, match="got 3 points"):
        solver.init(model, Combinations.vertices([0, 1, 2]))
    assert solver.step.gamma == Fraction(1, 2)
