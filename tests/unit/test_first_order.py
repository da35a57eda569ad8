"""First-order methods on the weights: what they share, their laws and their closed forms."""

from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from fwbench import catalog
from fwbench.errors import InvalidParameter
from fwbench.first_order import GRAM_ROWS, AllWeights, steep
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored, LowRank
from fwbench.judge import Judge
from fwbench.kernels.gradient import ANCHOR, EARLY, MARGIN, SHARE, anchored, scores_at
from fwbench.lowering import lowered
from fwbench.problem import QuadraticOverHull

RNG = np.random.default_rng(31)
TALL = QuadraticOverHull(RNG.standard_normal((60, 5)) + 0.6)
WIDE = QuadraticOverHull(RNG.standard_normal((40, 90)) + 0.2)
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
CROSS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
FORMS = {
    "convex": QuadraticOverHull(RNG.standard_normal((9, 12)), 2.0, RNG.standard_normal(12)),
    "signs": QuadraticOverHull(RNG.standard_normal((9, 12)), np.r_[-np.ones(5), np.ones(7)]),
    "flat": QuadraticOverHull(RNG.standard_normal((9, 4)), Factored(RNG.standard_normal((1, 4)))),
    "field": QuadraticOverHull(
        RNG.standard_normal((9, 12)), LowRank(*RNG.standard_normal((2, 12, 6)))
    ),
    "tiny": QuadraticOverHull(1e-90 * RNG.standard_normal((9, 12))),
    "huge": QuadraticOverHull(1e90 * RNG.standard_normal((9, 12))),
}  # fmt: skip


def begun(text, problem, start=None):
    choice = catalog.choices("solvers", text)[0]  # of a grid the first
    method = catalog.build_solver(choice)
    model = method.prepare(problem)
    return method, model, method.init(model, problem.start if start is None else start)


def steps_of(text, problem, count, start=None):
    """Yield the state after each step."""
    method, model, state = begun(text, problem, start)
    for _ in range(count):
        method.advance(model, state, 1)
        yield state


def gap(problem, state):
    look = Judge(problem).look(state.points(), state.weights())
    return float(look.gaps[0]) / problem.scale


def value(problem, state):
    return float(problem.centred_value(state.w.astype(np.float64) @ problem.centred))


def matrix(problem):
    hull = lowered(problem)
    return hull.left * hull.signs @ hull.right.T


def best(problem):
    """Return the least value and its weights, certified."""
    method, model, state = begun("projected_newton", problem)
    method.advance(model, state, 20 * ANCHOR)
    assert gap(problem, state) <= 1e-14
    return value(problem, state), state.w


# -- what they share -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
def test_the_steepness_is_near_and_never_above(name):
    problem = FORMS[name]
    norm = np.linalg.norm(matrix(problem) / problem.scale, 2) * problem.scale
    for gram in ("no", "yes"):
        rounding = 1e-6 if gram == "yes" else 1e-12
        assert 0.3 * norm <= steep(problem, gram).lipschitz <= norm * (1 + rounding)


def test_a_field_without_curvature_has_its_own_size():
    problem = QuadraticOverHull(CROSS, 0.0, [3.0, 0.0])
    assert steep(problem).lipschitz == problem.scale == 3.0
    assert steep(QuadraticOverHull([[1.0, 2.0]])).lipschitz == 1.0


@pytest.mark.parametrize("name", FORMS)
def test_the_gram_matrix_is_that_of_the_field(name):
    problem = FORMS[name]
    model = steep(problem, "yes")
    assert model.gram.dtype == np.float32
    expected = matrix(problem) / problem.scale
    np.testing.assert_allclose(model.gram, expected, rtol=0, atol=2e-7)


def test_the_gram_matrix_is_made_where_it_is_no_larger_than_the_atoms():
    assert [steep(p, "auto").gram.size for p in (TALL, WIDE)] == [0, 40 * 40]
    assert [steep(p, "no").gram.size for p in (TALL, WIDE)] == [0, 0]
    assert steep(TALL, "yes").gram.shape == (60, 60)
    flat = QuadraticOverHull(RNG.standard_normal((9, 12)), Factored(RNG.standard_normal((3, 12))))
    assert steep(flat, "auto").gram.size == 0  # 12 coordinates, but rank 3
    assert GRAM_ROWS**2 * 4 <= 100e6


def test_what_a_state_says_of_its_gap():
    # the naive <w, s> − min s is off by 1e-8, and below 0 at an optimum
    heights = np.array([0.0, 2.0**-20, 3.0 * 2.0**-20])
    state = AllWeights(lowered(TALL), np.array([0.1, 0.2, 0.7]), 1e8 + heights, ())
    assert state.own_gap == pytest.approx(2.3 * 2.0**-20, rel=1e-15)
    for w in ([1.0, 0.0, 0.0], [0.1 + 0.2, 0.0, 0.0]):
        state.w[:] = w
        assert state.own_gap == 0.0


@pytest.mark.parametrize(
    "text",
    ["projected_gradient", "projected_gradient[momentum=none]", "extragradient", "mirror_descent",
     "projected_newton"],
)  # fmt: skip
def test_kept_scores_are_those_of_the_weights(text):
    for problem in (TALL, FORMS["convex"], WIDE):
        method, model, state = begun(text, problem)
        gram = len(getattr(model, "gram", ())) > 0
        for steps in (0, 1, 6, 1, 8, 16, 5):
            method.advance(model, state, steps)
            exact = state.w @ problem.centred
            scores = problem.centred @ problem.centred_field(exact)
            rounding = 1e-7 if gram and not anchored(state.steps) else 1e-14
            np.testing.assert_allclose(state.s, scores, rtol=0, atol=rounding * problem.scale)
            assert state.own_gap == pytest.approx(
                state.w @ (scores - scores.min()), abs=2 * rounding * problem.scale
            )
        assert state.steps == ANCHOR + 5


def test_the_anchor_moves_at_fixed_steps():
    assert [t for t in range(1, 100) if anchored(t)] == [EARLY, 2 * EARLY, 32, 64, 96]


def test_rounding_of_the_gram_matrix_does_not_stay():
    method, model, state = begun("projected_gradient", WIDE)
    assert len(model.gram)
    for steps in (4 * ANCHOR, 1):
        method.advance(model, state, steps)
        assert gap(WIDE, state) <= 1e-14
    # though it is as coarse as single precision is
    exact = matrix(WIDE) / WIDE.scale
    assert np.abs(model.gram - exact).max() > 1e-10


# -- projected gradient --------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["projected_gradient", "projected_newton", "extragradient"])
def test_over_the_simplex_the_least_distance_is_the_projection(text):
    target = np.array([0.4, 0.5, 0.6])
    problem = QuadraticOverHull(np.eye(3), 1.0, -target)
    *_, state = steps_of(text, problem, 200)
    np.testing.assert_allclose(state.w, np.array([7, 10, 13]) / 30, rtol=0, atol=1e-14)


@pytest.mark.parametrize("problem", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("momentum", ["restart", "none"])
def test_projected_gradient_keeps_its_law(problem, momentum):
    least, w = best(problem)
    first = problem.start.dense(problem.n)[0]
    size = MARGIN * np.linalg.norm(matrix(problem), 2) * ((first - w) ** 2).sum()
    text = f"projected_gradient[momentum={momentum}]"
    for k, state in enumerate(steps_of(text, problem, 60), start=1):
        law = 2 * size / (k + 1) ** 2 if momentum == "restart" else size / (2 * k)
        assert value(problem, state) - least <= law + 1e-14 * problem.scale


def test_restarts_make_it_linear():
    gaps = [state.own_gap / TALL.scale for state in steps_of("projected_gradient", TALL, 400)]
    assert min(gaps[:200]) <= 1e-7
    assert min(gaps) <= 1e-14


def test_plain_steps_never_let_the_value_rise():
    for problem in (TALL, WIDE, FORMS["signs"], QuadraticOverHull(CROSS, -1.0)):
        states = steps_of("projected_gradient[momentum=none]", problem, 60)
        values = np.array([value(problem, state) for state in states])
        assert (np.diff(values) <= 1e-15 * problem.scale).all()


def test_both_routes_end_at_the_same_value():
    least, _ = best(WIDE)
    for gram in ("yes", "no"):
        *_, state = steps_of(f"projected_gradient[gram={gram}]", WIDE, 150)
        assert value(WIDE, state) == pytest.approx(least, abs=1e-14 * WIDE.scale)


# -- extragradient -------------------------------------------------------------------------------


def test_extragradient_ends_where_plain_steps_go_round():
    problem = QuadraticOverHull(CROSS, LowRank(TURN))
    assert problem.kind.value == "monotone"
    *_, ours = steps_of("extragradient", problem, 500)
    *_, theirs = steps_of("projected_gradient[momentum=none]", problem, 500)
    assert gap(problem, ours) <= 1e-12
    assert gap(problem, theirs) >= 0.1


def test_extragradient_comes_nearer_to_every_solution():
    # 0 alone solves Fx = 0, and all weights of 0 are solutions
    problem = QuadraticOverHull(CROSS, LowRank(TURN))
    solutions = np.array([[0.25] * 4, [0.5, 0.0, 0.5, 0.0], [0.1, 0.4, 0.1, 0.4]])
    start = Combinations.from_dense([[0.7, 0.2, 0.1, 0.0]])
    last = np.full(3, np.inf)
    for state in steps_of("extragradient", problem, 200, start):
        distances = np.linalg.norm(state.w - solutions, axis=1)
        assert (distances <= last + 1e-15).all()
        last = distances


def test_extragradient_steps_stay_below_the_steepness_and_grow_back():
    problem = QuadraticOverHull(RNG.standard_normal((200, 2)), LowRank(TURN + 0.05 * np.eye(2)))
    method, model, state = begun("extragradient", problem)
    [length] = state.kept
    length[0] = 1e6 / model.lipschitz
    method.advance(model, state, 1)
    norm = np.linalg.norm(matrix(problem), 2)
    assert SHARE / MARGIN**2 / norm <= length[0] < 1e5 / norm
    length[0] = 1e-6 / norm
    method.advance(model, state, 200)
    assert length[0] >= SHARE / 2 / norm
    method.advance(model, state, 3000)
    assert gap(problem, state) <= 1e-12


# -- mirror descent ------------------------------------------------------------------------------


@pytest.mark.parametrize("mixing", [1.0, 0.5, 0.01])
@pytest.mark.parametrize("problem", [TALL, WIDE], ids=["tall", "wide"])
def test_mirror_descent_keeps_its_law(problem, mixing):
    least, w = best(problem)
    start = problem.start.dense(problem.n)[0]
    first = (1 - mixing) * start + mixing / problem.n
    used = w > 0
    divergence = (w[used] * np.log(w[used] / first[used])).sum()
    assert divergence <= np.log(problem.n / mixing)
    for t, state in enumerate(steps_of(f"mirror_descent[mixing={mixing}]", problem, 80), start=1):
        law = problem.quadratic_scale * divergence / t
        assert value(problem, state) - least <= law + 1e-14 * problem.scale


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_mirror_descent_never_lets_the_value_rise(sign):
    for Q in (sign, [1.0, -2.0, 0.5, sign, 0.0], Factored(sign * np.eye(2, 5))):
        problem = QuadraticOverHull(TALL.atoms, Q, RNG.standard_normal(5))
        values = np.array([value(problem, s) for s in steps_of("mirror_descent", problem, 80)])
        assert (np.diff(values) <= 1e-15 * problem.scale).all()


def test_on_a_linear_objective_the_weights_have_a_closed_form():
    problem = QuadraticOverHull(CROSS, 0.0, [0.3, -0.2])
    heights = CROSS @ [0.3, -0.2]
    for t, state in enumerate(steps_of("mirror_descent[mixing=1]", problem, 30), start=1):
        expected = np.exp(-t * heights / problem.scale)
        np.testing.assert_allclose(state.w, expected / expected.sum(), rtol=1e-13)


def test_row_0_is_the_start_and_the_first_step_leaves_the_mixture():
    method, model, state = begun("mirror_descent[mixing=1]", TALL)
    assert state.w.max() == 1.0
    method.advance(model, state, 0)
    assert state.w.max() == 1.0
    method.advance(model, state, 1)
    scores = np.empty_like(state.s)
    w = np.full(TALL.n, 1 / TALL.n)
    scores_at(*model[0].arrays, w, np.empty(5), scores)
    expected = np.exp(-scores / TALL.quadratic_scale)
    np.testing.assert_allclose(state.w, expected / expected.sum(), rtol=1e-13)


@pytest.mark.parametrize("mixing", [0.0, -0.5, 1.5])
def test_a_share_of_nothing_or_more_than_all_is_refused(mixing):
    with pytest.raises(InvalidParameter, match=r"mixing must lie in \(0, 1\]"):
        begun(f"mirror_descent[mixing={mixing}]", TALL)


# -- projected gradient with solves on faces -----------------------------------------------------


def spectrum(n, r, low):
    return RNG.standard_normal((n, r)) * np.logspace(0, low, r)


def hard():
    """Yield problems on which gradient steps alone are slow or stall."""
    twins = np.repeat(RNG.standard_normal((25, 60)) + 0.6, 4, axis=0)
    yield "near duplicates", QuadraticOverHull(twins + 1e-8 * RNG.standard_normal(twins.shape))
    yield "duplicates", QuadraticOverHull(twins)
    yield "condition 1e10, wide", QuadraticOverHull(spectrum(80, 200, -5))
    yield "condition 1e10, square", QuadraticOverHull(spectrum(80, 80, -5) + 0.1)
    bent = np.repeat(spectrum(60, 60, -5), 2, axis=0)
    yield "both", QuadraticOverHull(bent + 1e-8 * RNG.standard_normal(bent.shape))
    yield "all in use", QuadraticOverHull(np.diag(np.logspace(-4, 0, 80)))
    face = RNG.standard_normal((200, 12))
    face[:, 0] = np.abs(face[:, 0]) + 0.1
    face[:20, 0] = 0.0
    face[:20] -= face[:20].mean(axis=0)
    yield "on a face", QuadraticOverHull(face)
    yield "inside", QuadraticOverHull(RNG.standard_normal((100, 20)))
    curve = np.linspace(0.0, 1.0, 80)[:, None] ** np.arange(1, 200)
    yield "moment curve", QuadraticOverHull(curve)
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * 7)).reshape(7, -1).T
    yield "cube", QuadraticOverHull(corners - 0.3)
    gauss = RNG.standard_normal((80, 120))
    for factor in (1e12, 1e-12):
        yield f"times {factor:g}", QuadraticOverHull(factor * gauss)
    yield "far away", QuadraticOverHull(gauss + 1e8, 1.0, np.full(120, -1e8))
    yield "linear", QuadraticOverHull(gauss, 0.0, gauss[0])
    enclosing = np.c_[gauss, (gauss**2).sum(axis=1)]
    yield (
        "enclosing ball",
        QuadraticOverHull(enclosing, np.r_[np.full(120, 2.0), 0.0], np.r_[np.zeros(120), -1.0]),
    )


HARD = dict(hard())


@pytest.mark.parametrize("name", HARD)
def test_solves_on_faces_end_at_rounding(name):
    problem = HARD[name]
    method, model, state = begun("projected_newton", problem)
    for _ in range(12):
        method.advance(model, state, ANCHOR)
        if state.own_gap <= 1e-13 * problem.scale:
            break
    assert gap(problem, state) <= 1e-12
    assert (state.w >= 0).all()
    assert state.w.sum() == pytest.approx(1.0, abs=1e-13)


def test_orthogonal_atoms_have_a_closed_form():
    lengths = np.logspace(-4, 0, 80)
    *_, state = steps_of("projected_newton", HARD["all in use"], 3 * ANCHOR)
    exact = [1 / Fraction(x) ** 2 for x in lengths]
    expected = np.array([float(x / sum(exact)) for x in exact])
    np.testing.assert_allclose(state.w, expected, rtol=1e-9, atol=1e-13)


def test_a_solve_never_lets_the_value_rise(monkeypatch):
    module = import_module("fwbench.solvers.projected_newton")
    solve, falls = module.solve_on_face, []

    def watched(model, state):
        before = value(problem, state)
        solve(model, state)
        falls.append(before - value(problem, state))

    monkeypatch.setattr(module, "solve_on_face", watched)
    for problem in (HARD["both"], HARD["on a face"], HARD["inside"]):
        method, model, state = begun("projected_newton", problem)
        method.advance(model, state, 5 * ANCHOR)
        assert len(falls) == 7
        assert min(falls) >= -1e-15 * problem.scale
        falls.clear()
