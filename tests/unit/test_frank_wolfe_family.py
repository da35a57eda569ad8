"""What the methods that keep scores do at a step, where they end, and how fast theory says."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwbench import catalog
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.kernels.in_use import ends, worst
from fwbench.problem import QuadraticOverHull

ROUNDING = 1e-13  # of the scale: values and scores are sums of few terms
AGREED = 1e-8  # where two methods meet, of the radius


def method(text):
    [choice] = catalog.choices("solvers", text)
    return catalog.build_solver(choice)


def begun(text, problem):
    solver = method(text)
    model = solver.prepare(problem)
    return solver, model, solver.init(model, problem.start)


def after(text, problem, steps):
    solver, model, state = begun(text, problem)
    solver.advance(model, state, steps)
    return state


def centred_value(problem, state):
    return float(problem.centred_value(state.w @ problem.centred))


PAIRS = (
    "pairwise[step=exact]", "pair_descent[cache_mebibytes=64]", "blended_pairwise[step=exact]",
    "blended_pairwise[lazy=yes]",
)  # fmt: skip
LINEAR = ("away_steps[step=exact]", *PAIRS)  # linearly convergent on polytopes
EXACT = (*LINEAR, "frank_wolfe[step=exact]")
SEARCHES = [
    f"{name}[step={step}]"
    for name in ("away_steps", "frank_wolfe", "pairwise", "blended_pairwise")
    for step in ("short", "backtracking")
]
FAMILY = (*EXACT, *SEARCHES)


# -- known answers -------------------------------------------------------------------------------

CORNERS = np.vstack([np.eye(3), 3 * np.ones((1, 3))])
KNOWN = {
    # atoms, Q, c, the minimiser
    "segment": ([[1.0, 2.0], [3.0, 0.0]], 1.0, None, [1.5, 1.5]),
    "triangle": ([[1.0, 2.0], [3.0, 1.0], [2.0, -1.0]], 1.0, None, [1.5, 0.5]),
    "vertex": ([[1.0, 1.0], [2.0, 1.0], [1.0, 2.0]], 1.0, None, [1.0, 1.0]),
    "face": (CORNERS, 1.0, None, [1 / 3] * 3),
    "inside": ([[0.0, 3.0], [3.0, -3.0], [-3.0, -3.0]], 1.0, [-0.5, 1.0], [0.5, -1.0]),
    "linear": ([[0.0, 1.0], [2.0, 2.0], [-1.0, 3.0]], 0.0, [1.0, 0.5], [0.0, 1.0]),
    "diagonal": ([[1.0, 0.0], [0.0, 1.0]], [2.0, 1.0], None, [1 / 3, 2 / 3]),
}


@pytest.mark.parametrize("text", [*LINEAR, "decomposition_invariant[lengths=exact]"])
@pytest.mark.parametrize("name", KNOWN)
def test_the_known_minimiser_is_found(name, text):
    atoms, Q, c, minimiser = KNOWN[name]
    state = after(text, QuadraticOverHull(atoms, Q, c), 2000)
    np.testing.assert_allclose(state.points()[0], minimiser, rtol=0, atol=1e-7)


# -- one step, by the formula of the file --------------------------------------------------------


def drawn(seed, n=9, d=4):
    """Return a problem, some of whose atoms are in use, and its arrays."""
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((d, d))
    weights = np.zeros(n)
    used = rng.choice(n, size=5, replace=False)
    weights[used] = rng.dirichlet(np.ones(5))
    problem = QuadraticOverHull(
        rng.standard_normal((n, d)) + 0.5, q @ q.T, rng.standard_normal(d),
        start=Combinations.from_dense([weights]),
    )  # fmt: skip
    V, Q = problem.centred, problem.form.apply(np.eye(d))
    s = V @ problem.centred_field(weights @ V)
    return problem, V, Q, s, weights


def moved(w, direction, V, Q, s, longest):
    """Return the weights after an exact step along a direction of weights."""
    d = direction @ V
    return w + min(longest, -(direction @ s) / (d @ Q @ d)) * direction


def unit(n, key):
    return np.eye(n)[key]


@pytest.mark.parametrize("seed", range(8))
def test_a_step_is_the_formula(seed):
    problem, V, Q, s, w = drawn(seed)
    n, j = problem.n, int(s.argmin())
    used = np.flatnonzero(w)
    a, near = used[s[used].argmax()], used[s[used].argmin()]
    toward = moved(w, unit(n, j) - w, V, Q, s, 1.0)
    away = moved(w, w - unit(n, a), V, Q, s, w[a] / (1 - w[a]))
    pair = moved(w, unit(n, j) - unit(n, a), V, Q, s, w[a])
    local = moved(w, unit(n, near) - unit(n, a), V, Q, s, w[a])
    gap, reach = w @ s - s[j], s[a] - w @ s
    expected = {
        "frank_wolfe[step=exact]": toward,
        "away_steps[step=exact]": toward if gap >= reach else away,
        "pairwise[step=exact]": pair,
        "blended_pairwise[step=exact]": local if s[a] - s[near] >= gap else toward,
        # at first the promise is half the gap
        "blended_pairwise[lazy=yes]": local if s[a] - s[near] >= gap / 2 else toward,
    }
    for text, weights in expected.items():
        np.testing.assert_allclose(after(text, problem, 1).w, weights, atol=1e-13, err_msg=text)


def test_among_the_worst_and_the_best_in_use_the_lowest_index_counts():
    scores = np.array([2.0, 1.0 + 1e-15, 3.0, 1.0, 3.0 + 1e-15, 2.0, 9.0])
    active = np.array([4, 5, 3, 2, 1, 0, 6])
    assert worst(scores, 1e-14, active, 4) == 3  # 2 and 4 are tied: the third place holds 2
    assert worst(scores, 0.0, active[:3], 3) == 0
    assert ends(scores, 1e-14, active, 6) == (3, 4)
    assert ends(scores, 1e-14, active[2:], 1) == (0, 0)
    assert ends(scores, 10.0, active, 7) == (5, 5)  # all of them: 0 is in the sixth place


def test_all_kinds_of_steps_were_tried():
    kinds = {"fw": 0, "away": 0, "pairwise": 0}
    for seed in range(8):
        for text in ("away_steps[step=exact]", "blended_pairwise[step=exact]"):
            for kind, count in after(text, drawn(seed)[0], 1).counters.items():
                kinds[kind] = kinds.get(kind, 0) + count
    assert min(kinds[kind] for kind in ("fw", "away", "pairwise")) > 0


@pytest.mark.parametrize("seed", range(8))
def test_pair_descent_takes_the_pair_that_promises_most(seed):
    problem, V, Q, s, w = drawn(seed)
    j = int(s.argmin())
    used = np.flatnonzero(w)
    falls = np.maximum(s[used] - s[j], 0.0)
    differences = V[j] - V[used]
    bends = np.einsum("ij,jk,ik->i", differences, Q, differences)
    a = used[(falls**2 / np.where(falls > 0, bends, 1.0)).argmax()]
    expected = moved(w, unit(problem.n, j) - unit(problem.n, a), V, Q, s, w[a])
    state = after("pair_descent", problem, 1)
    np.testing.assert_allclose(state.w, expected, atol=1e-13)
    # and no other pair with j would lower f more, where no weight is the limit
    if min(w[used]) > 0.3:
        values = [
            centred_value(problem, after("pair_descent", problem, 1)),
            *(
                problem.centred_value(
                    moved(w, unit(problem.n, j) - unit(problem.n, b), V, Q, s, w[b]) @ V
                )
                for b in used
                if s[b] > s[j]
            ),
        ]
        assert values[0] <= min(values) + ROUNDING * problem.scale


def test_pair_descent_chooses_otherwise_than_the_worst():
    differ = 0
    for seed in range(8):
        one, other = (after(text, drawn(seed)[0], 1).w for text in PAIRS[:2])
        differ += not np.allclose(one, other)
    assert differ > 2


def test_a_promise_that_no_leader_keeps_is_halved_and_nothing_moves():
    problem = drawn(0)[0]
    solver, model, state = begun("blended_pairwise[lazy=yes]", problem)
    halved = 0
    for _ in range(60):
        phi, w, lmo = state.phi[0], state.w, state.counters["lmo"]
        solver.advance(model, state, 1)
        if state.steps > 1 and state.phi[0] < phi:
            halved += 1
            assert state.phi[0] == phi / 2
            assert state.w.tobytes() == w.tobytes()
            assert state.counters["lmo"] == lmo + 1
        else:
            assert state.w.tobytes() != w.tobytes()
    assert halved > 3


def test_the_lazy_method_asks_less_and_ends_at_the_same_point():
    problem = QuadraticOverHull(np.random.default_rng(3).standard_normal((200, 12)) + 1.0)
    eager, lazy = (after(text, problem, 1500) for text in PAIRS[2:])
    assert 5 * lazy.counters["lmo"] < 4 * eager.counters["lmo"] == 4 * 1500
    apart = np.linalg.norm(eager.points() - lazy.points())
    assert apart <= AGREED * problem.radius


# -- where methods meet --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_the_linear_methods_meet(seed, shift):
    rng = np.random.default_rng(seed)
    q = np.eye(6) + 0.3 * rng.standard_normal((6, 6))
    problem = QuadraticOverHull(rng.standard_normal((60, 6)) + shift, q @ q.T, rng.normal(size=6))
    states = [after(text, problem, 3000) for text in LINEAR]
    for state in states:
        assert state.own_gap <= 1e-13 * problem.scale
        apart = np.linalg.norm(state.points() - states[0].points())
        assert apart <= AGREED * problem.radius


@pytest.mark.parametrize("text", [text for text in SEARCHES if "frank_wolfe" not in text])
def test_other_searches_meet_the_exact_one(text):
    problem = QuadraticOverHull(np.random.default_rng(4).standard_normal((40, 5)) + 0.5, 2.0)
    points = [after(rule, problem, 4000).points() for rule in (text, "pairwise[step=exact]")]
    assert np.linalg.norm(points[0] - points[1]) <= AGREED * problem.radius


@pytest.mark.parametrize("text", [text for text in FAMILY if "descent" not in text])
def test_a_run_on_single_precision_ends_near_that_on_double(text):
    atoms = np.random.default_rng(8).standard_normal((300, 7)) + 0.5
    single, double = (
        after(text, QuadraticOverHull(atoms.astype(kind)), 600) for kind in (np.float32, np.float64)
    )
    assert single.s.dtype == np.float32
    assert np.linalg.norm(single.points() - double.points()) <= 1e-3


# -- invariants ----------------------------------------------------------------------------------


@st.composite
def problems(draw):
    """Small integers: repeated atoms, ties, flat directions and all kinds of Q among them."""
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    entry = st.integers(-2, 3)
    atoms = draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=n, max_size=n))
    Q = draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=d, max_size=d))
    c = draw(st.lists(entry, min_size=d, max_size=d))
    return QuadraticOverHull(np.array(atoms, dtype=float), Q, np.array(c, dtype=float))


@settings(max_examples=60, deadline=None)
@given(problem=problems(), text=st.sampled_from(FAMILY))
def test_weights_stay_weights_and_the_value_never_rises(problem, text):
    solver, model, state = begun(text, problem)
    V, unit = problem.centred, problem.scale or 1.0
    value = centred_value(problem, state)
    for _ in range(25):
        solver.advance(model, state, 1)
        w, keys = state.w, state.active[: state.size[0]]
        assert (w >= 0).all()
        assert abs(w.sum() - 1) <= 1e-14 * 25
        assert sorted(keys) == np.flatnonzero(w).tolist()
        assert np.abs(state.x - w @ V).max() <= ROUNDING * (problem.radius or 1.0)
        scores = V @ problem.centred_field(w @ V)
        assert np.abs(state.s - scores).max() <= ROUNDING * unit
        assert state.own_gap >= 0
        now = centred_value(problem, state)
        assert now <= value + ROUNDING * unit
        value = now
    steps = ("fw", "away", "pairwise")
    halvings = 25 - sum(state.counters[kind] for kind in steps)
    assert halvings >= 0 if "lazy" in text else halvings == 0


# -- concave and indefinite ----------------------------------------------------------------------


@pytest.mark.parametrize("text", EXACT)
def test_on_concave_problems_a_method_comes_to_rest_at_a_vertex(text):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        problem = QuadraticOverHull(rng.standard_normal((20, 3)), -1.0, rng.normal(size=3))
        state = after(text, problem, 200)
        assert state.weights().data.tolist() == [1.0]
        assert state.own_gap == 0
        x = problem.atoms[state.weights().keys[0]]
        assert (problem.value(x) <= problem.value(problem.atoms[problem.start.keys])).all()


@pytest.mark.parametrize("text", LINEAR)
def test_on_indefinite_problems_a_method_comes_to_rest(text):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        q = rng.standard_normal((4, 4))
        problem = QuadraticOverHull(rng.standard_normal((15, 4)), q + q.T)
        assert problem.kind is Kind.INDEFINITE
        assert after(text, problem, 3000).own_gap <= 1e-9 * problem.scale


def test_a_line_that_bends_down_is_walked_to_the_vertex():
    # f = −x²/2 + x/4 on [0, 2]: downhill from the start at 1 is to the right, all of the way
    problem = QuadraticOverHull(
        [[0.0], [2.0]], -1.0, [0.25], start=Combinations.from_dense([[0.5, 0.5]])
    )
    for text in EXACT:
        assert after(text, problem, 2).points().tolist() == [[2.0]], text


# -- rates that theory promises ------------------------------------------------------------------

# Over the simplex with Q = 1: L = μ = 1, M² = 2, and the pyramidal width is 2/√n for even n.
SIMPLEX = 8
WIDTH = 4 / SIMPLEX  # squared


def heights(text, problem, steps, optimum):
    solver, model, state = begun(text, problem)
    yield centred_value(problem, state) - optimum, dict(state.counters)
    for _ in range(steps):
        solver.advance(model, state, 1)
        yield centred_value(problem, state) - optimum, dict(state.counters)


def on_the_simplex(seed):
    c = np.random.default_rng(seed).standard_normal(SIMPLEX) / 3
    problem = QuadraticOverHull(np.eye(SIMPLEX), 1.0, c, start=[int(c.argmax())])
    return problem, centred_value(problem, after("pairwise", problem, 2000))


@pytest.mark.parametrize("seed", range(6))
def test_blended_pairwise_steps_keep_their_rate(seed):
    problem, optimum = on_the_simplex(seed)
    first = None
    for t, (h, _) in enumerate(heights("blended_pairwise[step=exact]", problem, 150, optimum)):
        first = h if first is None else first
        bound = first * np.exp(-t / 2 * min(0.5, WIDTH / (4 * 2)))
        assert h <= bound + ROUNDING * problem.scale


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("text", ["away_steps[step=exact]", "pairwise[step=exact]"])
def test_steps_that_drop_nothing_keep_their_factor(text, seed):
    problem, optimum = on_the_simplex(seed)
    factor = 1 - WIDTH / (4 * 2)
    before, drops = None, 0
    for h, counters in heights(text, problem, 150, optimum):
        if before is not None and before > 1e-12 and counters["drop"] == drops:
            assert h <= factor * before + ROUNDING * problem.scale
        before, drops = h, counters["drop"]
    assert drops <= 75


@pytest.mark.parametrize("seed", range(4))
def test_away_steps_drop_at_most_every_other_time(seed):
    atoms = np.random.default_rng(seed).standard_normal((100, 10)) + 1.0
    far = int(np.linalg.norm(atoms, axis=1).argmax())
    state = after("away_steps", QuadraticOverHull(atoms, start=[far]), 500)
    assert 0 < state.counters["drop"] <= 250


# -- steps of lengths known in advance -----------------------------------------------------------


def simplex_in_space(seed, n=6, d=7):
    rng = np.random.default_rng(seed)
    return QuadraticOverHull(rng.standard_normal((n, d)) + 0.5, 1.0, rng.normal(size=d) / 2)


@pytest.mark.parametrize("support", [0, 5])
@pytest.mark.parametrize("seed", range(4))
def test_the_schedule_keeps_its_bound_and_powers_of_two(seed, support):
    problem = simplex_in_space(seed)
    reference = after("pairwise", problem, 5000)
    assert len(reference.weights().keys) <= 5
    optimum = centred_value(problem, reference)
    solver, model, state = begun(f"decomposition_invariant[support={support}]", problem)
    alpha, widest = sys.modules[type(solver).__module__].constants(problem)
    falling = 1 - alpha / (16 * (support or 6) * widest)
    assert model[1] == pytest.approx(1 - falling, rel=1e-12)
    for steps in (1, 1, 5, 50, 500, 3000, 10_000):
        solver.advance(model, state, steps)
        bound = widest / 2 * falling ** (state.steps - 1)
        assert centred_value(problem, state) - optimum <= bound * (1 + 1e-12)
        assert ((state.w * 2.0**40) % 1 == 0).all()


def test_the_constants_are_those_of_the_gram_matrix():
    problem = simplex_in_space(0)
    V = problem.centred
    alpha, widest = sys.modules[type(method("decomposition_invariant")).__module__].constants(
        problem
    )
    differences = V[:, None] - V
    assert widest == pytest.approx((differences**2).sum(axis=2).max(), rel=1e-12)
    rng = np.random.default_rng(1)
    moves = rng.standard_normal((500, 6))
    moves -= moves.mean(axis=1)[:, None]
    steepness = ((moves @ V) ** 2).sum(axis=1) / (moves**2).sum(axis=1)
    assert alpha <= steepness.min() * (1 + 1e-12)
    assert alpha >= np.linalg.svd(V, compute_uv=False)[4] ** 2 * (1 - 1e-12)


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (QuadraticOverHull(np.eye(2)[[0, 1, 1]]), "independent"),
        (QuadraticOverHull([[0.0], [1.0], [3.0]]), "at most d + 1 = 2"),
        (QuadraticOverHull(np.eye(3), [1.0, 0.0, 0.0]), "lengths=exact runs"),
        (QuadraticOverHull(np.eye(3), 0.0, [1.0, 2.0, 3.0]), "definite"),
    ],
)
def test_the_schedule_is_refused_where_it_has_no_constant(problem, says):
    reason = method("decomposition_invariant").refuses(problem)
    assert says in reason
    assert method("decomposition_invariant[lengths=exact]").refuses(problem) is None


def test_rules_that_search_no_line_are_refused():
    for name in ("pairwise", "blended_pairwise", "away_steps"):
        reason = method(f"{name}[step=open_loop]").refuses(QuadraticOverHull(np.eye(2)))
        assert "line search" in reason
    negative = method("decomposition_invariant[support=-1]").refuses(QuadraticOverHull(np.eye(2)))
    assert "got -1" in negative
