from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

import fwbench.tokens
from fwbench import catalog
from fwbench.geometry.combinations import Combinations
from fwbench.kernels.line import EXACT, line_step
from fwbench.problem import QuadraticOverHull
from fwbench.schedules import schedule
from fwbench.steps import Constant, Exact
from fwbench.tokens import Keys, keys_of, tokens

HardmaxAttention = import_module("fwbench.solvers.hardmax_attention").HardmaxAttention
SoftmaxAttention = import_module("fwbench.solvers.softmax_attention").SoftmaxAttention

# The foot of the origin on the first edge ties that edge's ends.
TRIANGLE = [["2", "0"], ["0", "1"], ["-1", "-1"]]
FOOT = ["2/5", "4/5"]
SLOW = Constant(Fraction(3, 10))
RNG = np.random.default_rng(8)
CLOUD = RNG.standard_normal((9, 3))
LOOSE = Combinations.from_dense(RNG.dirichlet(np.ones(9), size=4))


def exactly(rows):
    return np.array([[Fraction(entry) for entry in row] for row in rows], dtype=object)


def stepped(atoms, x, **parameters):
    """Return the exact points after step 0 of hardmax attention for B = I."""
    method = HardmaxAttention(arithmetic="exact", **parameters)
    model = method.prepare(QuadraticOverHull(atoms, -1.0))
    return method.layer(model, exactly(x), 0, np.zeros(len(x))).x


@pytest.mark.parametrize(
    ("atoms", "ties", "to"),
    [
        (TRIANGLE, "points", ["29/50", "71/100"]),
        (TRIANGLE, "indices", ["29/50", "71/100"]),
        (TRIANGLE, "lowest", ["22/25", "14/25"]),
        # the first corner twice: one point, but two indices
        ([TRIANGLE[0], *TRIANGLE], "points", ["29/50", "71/100"]),
        ([TRIANGLE[0], *TRIANGLE], "indices", ["17/25", "33/50"]),
        ([*TRIANGLE[1:], TRIANGLE[0]], "lowest", ["7/25", "43/50"]),
    ],
)
def test_a_foot_among_fixed_keys_goes_where_the_tie_rule_says(atoms, ties, to):
    assert stepped(atoms, [FOOT], ties=ties, step=SLOW).tolist() == exactly([to]).tolist()


@pytest.mark.parametrize(
    ("cloud", "ties", "to"),
    [
        ([*TRIANGLE, FOOT], "points", ["13/25", "37/50"]),  # the token at the foot ties as well
        ([*TRIANGLE, FOOT, FOOT], "points", ["13/25", "37/50"]),
        ([*TRIANGLE, FOOT, FOOT], "indices", ["49/100", "151/200"]),
        ([*TRIANGLE, FOOT], "lowest", ["22/25", "14/25"]),
    ],
)
def test_a_foot_among_moving_keys_goes_where_the_tie_rule_says(cloud, ties, to):
    moved = stepped(cloud, cloud, keys="moving", ties=ties, step=SLOW)
    # the corners own their cells and stay
    assert moved[:3].tolist() == exactly(TRIANGLE).tolist()
    assert moved[3].tolist() == exactly([to])[0].tolist()


def test_a_token_at_the_origin_moves_to_the_mean_of_all():
    method = HardmaxAttention(
        keys="moving", ties="points", arithmetic="exact", step=Constant(Fraction(2, 3))
    )
    model = method.prepare(QuadraticOverHull([["0"], ["3"], ["-1"]], 1.0))
    x = method.layer(model, exactly([["0"], ["3"], ["-1"]]), 0, np.zeros(3)).x
    assert x[0, 0] == Fraction(4, 9)


def test_a_midpoint_of_equal_corners_stays_under_the_averaged_rules():
    square = [["1", "0"], ["0", "1"], ["-1", "0"], ["0", "-1"]]
    middle = [["1/2", "1/2"]]
    for ties in ("points", "indices"):
        assert stepped(square, middle, ties=ties, step=SLOW).tolist() == exactly(middle).tolist()
    assert stepped(square, middle, ties="lowest", step=SLOW).tolist() != exactly(middle).tolist()


def test_floats_tie_like_rationals_at_any_size():
    # rounding parts the two leaders' scores by some ulps; the tolerance moves with the cloud
    for keys in ("fixed", "moving"):
        for size in (1e-12, 1.0, 1e12):
            cloud = size * np.array([[2, 0], [0, 1], [-1, -1], [0.4, 0.8]])
            atoms = cloud if keys == "moving" else cloud[:3]
            method = HardmaxAttention(keys=keys, ties="points", step=SLOW)
            model = method.prepare(QuadraticOverHull(atoms, -1.0))
            x = (cloud - model.mean)[3:] if keys == "fixed" else cloud - model.mean
            led = method.layer(model, x, 0, np.zeros(len(x))).mixing.one(len(x) - 1)
            assert led.keys.tolist() == ([0, 1] if keys == "fixed" else [0, 1, 3])


# -- weights off the clock ---------------------------------------------------------------------

LAYERS = [
    HardmaxAttention(),
    HardmaxAttention(step=Exact()),
    HardmaxAttention(ties="indices"),
    HardmaxAttention(keys="moving", ties="points"),
    HardmaxAttention(keys="moving", step=Constant()),
    SoftmaxAttention(),
    SoftmaxAttention(keys="moving", beta=schedule("3")),
    SoftmaxAttention(step=catalog.step_rule("backtracking")),
]


@pytest.mark.parametrize("method", LAYERS, ids=repr)
def test_weights_are_rebuilt_to_the_points(method):
    problem = QuadraticOverHull(CLOUD, [1.0, 0.5, 2.0], [0.1, -0.2, 0.3], start=LOOSE)
    model = method.prepare(problem)
    state, quiet = (method.init(model, problem.start) for _ in range(2))
    for steps in (0, 1, 7, 30):
        method.advance(model, state, steps)
        weights = state.weights().dense(problem.n)
        assert (weights >= 0).all()
        np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=0, atol=1e-14)
        np.testing.assert_allclose(weights @ problem.centred, state.x, rtol=0, atol=1e-13)
    # asking in between leaves the path and the later weights as they are
    method.advance(model, quiet, state.steps)
    assert quiet.x.tobytes() == state.x.tobytes()
    assert quiet.weights().dense(problem.n).tobytes() == weights.tobytes()


def test_weights_of_a_large_cloud_are_not_kept(monkeypatch):
    problem = QuadraticOverHull(CLOUD, start=LOOSE)
    model = keys_of(problem, Constant())
    monkeypatch.setattr(fwbench.tokens, "REPLAYED", 4 * 9)
    assert tokens(model, problem.start, LAYERS[0].layer, moving=False).weights() is not None
    monkeypatch.setattr(fwbench.tokens, "REPLAYED", 4 * 9 - 1)
    assert tokens(model, problem.start, LAYERS[0].layer, moving=False).weights() is None


@pytest.mark.parametrize("method", LAYERS, ids=repr)
def test_blocks_of_scores_do_not_show_in_a_layer(method, monkeypatch):
    problem = QuadraticOverHull(CLOUD, [1.0, 0.5, 2.0], start=LOOSE)
    states = []
    for block in (2**22, 2 * 9):
        monkeypatch.setattr(fwbench.tokens, "BLOCK", block)
        model = method.prepare(problem)
        states.append(method.init(model, problem.start))
        assert len(list(model.scores(states[-1].x, model.points))) == (1 if block > 99 else 2)
        method.advance(model, states[-1], 12)
    np.testing.assert_allclose(states[0].x, states[1].x, rtol=0, atol=1e-13)
    for state in states:
        assert state.weights().m == 4


# -- what a query does -------------------------------------------------------------------------


def test_each_query_searches_along_its_own_line():
    problem = QuadraticOverHull(CLOUD, [1.0, 0.5, 2.0], [0.1, -0.2, 0.3], start=LOOSE)
    model = keys_of(problem, Exact())
    x = LOOSE.averages(model.points[LOOSE.keys])
    move = CLOUD[[1, 4, 0, 7]] - problem.mean - x
    gammas = model.step_lengths(Exact(), 3, x, move, np.zeros(4))
    assert gammas.shape == (4, 1)
    for gamma, start, direction in zip(gammas[:, 0], x, move, strict=True):
        terms = problem.form.apply(direction) * direction
        slope = problem.centred_field(start) @ direction
        own = line_step(EXACT, slope, terms.sum(), np.abs(terms).sum(), 1.0, 1.0, 1.0, np.zeros(1))
        assert gamma == pytest.approx(own, rel=1e-14)
        grid = start + np.linspace(0, 1, 501)[:, None] * direction
        reached = problem.centred_value(start + gamma * direction)
        assert reached <= problem.centred_value(grid).min() + 1e-14


@pytest.mark.parametrize("method", [layer for layer in LAYERS if not layer.moving], ids=repr)
def test_queries_of_fixed_keys_do_not_see_each_other(method):
    problem = QuadraticOverHull(CLOUD, [1.0, 0.5, 2.0], start=LOOSE)
    model = method.prepare(problem)
    together = method.init(model, problem.start)
    method.advance(model, together, 25)
    for q in range(4):
        alone = method.init(model, problem.start.one(q))
        method.advance(model, alone, 25)
        np.testing.assert_allclose(alone.x[0], together.x[q], rtol=0, atol=1e-13)
    assert together.counters == dict.fromkeys(("lmo", "gradient", "matvec", "fw"), 100)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("method", [layer for layer in LAYERS if layer.moving], ids=repr)
def test_a_cloud_at_rest_stays_to_the_last_bit(method, kind):
    model = method.prepare(QuadraticOverHull(CLOUD.astype(kind), -1.0))
    rest = np.tile(np.array([0.1, 0.7, -0.3], dtype=kind), (9, 1))
    x = rest
    for t in range(1, 50):
        x = method.layer(model, x, t, np.zeros(9)).x
    assert x.dtype == kind
    assert x.tobytes() == rest.tobytes()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_whole_step_lands_on_the_leader(kind):
    problem = QuadraticOverHull(CLOUD.astype(kind), start=LOOSE)
    method = HardmaxAttention()  # its first step is 1
    model = method.prepare(problem)
    state = method.init(model, problem.start)
    moved = method.layer(model, state.x, 0, state.estimate)
    assert moved.x.tobytes() == model.points[moved.mixing.keys].tobytes()


def test_float32_softmax_keeps_points_and_weights_together():
    # its rows sum to 1 but for 1e-7 each step
    problem = QuadraticOverHull(CLOUD.astype(np.float32))
    method = SoftmaxAttention(keys="moving")
    model = method.prepare(problem)
    state = method.init(model, problem.every_atom)
    method.advance(model, state, 3000)
    weights = state.weights().dense(9)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(weights @ problem.centred, state.x, rtol=0, atol=2e-7)


def test_softmax_tends_to_the_leader_as_fast_as_the_score_gap_says():
    problem = QuadraticOverHull(CLOUD, start=LOOSE)
    keys = keys_of(problem, Constant())
    x = LOOSE.averages(keys.points[LOOSE.keys])
    scores = np.vstack([block for _, block in keys.scores(x, keys.points)])
    ordered = np.sort(scores, axis=1)
    gaps = ordered[:, 1] - ordered[:, 0]
    width = np.linalg.norm(CLOUD[:, None] - CLOUD, axis=2).max()
    errors = []
    for beta in (1.0, 10.0, 100.0, 1000.0):
        method = SoftmaxAttention(beta=schedule(str(beta)), step=Constant(Fraction(1)))
        target = method.layer(keys, x, 0, np.zeros(4)).x
        error = np.linalg.norm(target - keys.points[scores.argmin(axis=1)], axis=1)
        assert (error <= 8 * width * np.exp(-beta * gaps) + 1e-14).all()
        errors.append(error.max())
    assert errors[0] > 0.1
    assert errors[-1] < 1e-6


def test_large_scores_do_not_overflow():
    problem = QuadraticOverHull(1e6 * CLOUD, start=LOOSE)
    method = SoftmaxAttention(beta=schedule("1e6"))
    model = method.prepare(problem)
    state = method.init(model, problem.start)
    method.advance(model, state, 3)
    assert np.isfinite(state.points()).all()


def test_keys_hold_the_atoms_from_their_mean():
    problem = QuadraticOverHull(CLOUD + 1e6, start=LOOSE)
    keys = keys_of(problem, Constant())
    assert isinstance(keys, Keys)
    np.testing.assert_allclose(keys.points.mean(axis=0), 0, atol=1e-9)
    state = tokens(keys, LOOSE, LAYERS[0].layer, moving=False)
    dense = LOOSE.dense(9)
    np.testing.assert_allclose(state.points(), dense @ problem.atoms, rtol=1e-15)


@pytest.mark.parametrize("ties", ["points", "indices"])
def test_many_ties_are_averaged_within_bounded_memory(ties, monkeypatch):
    # the first coordinate alone counts: five keys tie for a query on the left, four on the right
    cloud = np.column_stack([[-1.0] * 5 + [1.0] * 4, CLOUD[:, :2]])
    problem = QuadraticOverHull(cloud, [-1.0, 0.0, 0.0], start=LOOSE)
    method = HardmaxAttention(ties=ties, step=Constant(Fraction(1)))
    model = method.prepare(problem)
    x = np.array([[0.5, 0.1, 0.0], [-0.5, 0.0, 0.0], [0.2, 3.0, 0.0]]) - problem.mean
    left, right = (cloud[part].mean(axis=0) - problem.mean for part in (slice(5), slice(5, 9)))
    for block in (2**22, 20):  # 20: fewer numbers than the ties of two queries
        monkeypatch.setattr(fwbench.tokens, "BLOCK", block)
        moved = method.layer(model, x, 0, np.zeros(3))
        np.testing.assert_allclose(moved.x, [right, left, right], rtol=0, atol=1e-15)
        assert np.diff(moved.mixing.indptr).tolist() == [4, 5, 4]
