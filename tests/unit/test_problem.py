import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwbench.errors import InvalidProblem
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored, Kind, LowRank
from fwbench.problem import QuadraticOverHull

from . import made_exact as exact

calm = settings(deadline=None, derandomize=True, database=None, max_examples=40)

seeds = st.integers(0, 10**6)
sizes = st.tuples(st.integers(1, 7), st.integers(1, 4))  # n, d
powers = st.integers(-40, 40)  # of 2: scaling by 1e-12 to 1e12, without rounding


def drawn(seed, size, kind="indefinite"):
    """Return atoms, Q and c with few digits, so that sums with 10⁸ are exact."""
    n, d = size
    rng = np.random.default_rng(seed)
    V, A, c = (np.rint(64 * rng.standard_normal(s)) / 64 for s in ((n, d), (d, d), d))
    Q = {"convex": A @ A.T, "concave": -A @ A.T, "indefinite": A + A.T}[kind]
    return V, Q, c


# -- values and fields ---------------------------------------------------------------------------


@calm
@given(seeds, sizes)
def test_values_and_fields_are_the_exact_ones(seed, size):
    problem = QuadraticOverHull(*drawn(seed, size))
    weights = np.random.default_rng(seed).dirichlet(np.ones(problem.n))
    x = exact.point(problem, weights)
    offset = weights @ problem.centred
    unit = problem.scale + abs(problem.value_at_mean) + 1e-300
    assert float(problem.value(x.astype(float))) == pytest.approx(
        float(exact.value(problem, x)), abs=1e-14 * unit
    )
    assert float(problem.centred_value(offset)) == pytest.approx(
        exact.centred(problem, exact.value(problem, x)), abs=1e-14 * unit
    )
    np.testing.assert_allclose(
        problem.centred_field(offset),
        exact.field(problem, x).astype(float),
        atol=1e-14 * (float(np.abs(exact.matrix(problem)).sum()) * problem.radius + 1),
    )


def test_values_come_in_the_shape_of_the_points():
    problem = QuadraticOverHull(*drawn(0, (5, 2)))
    assert problem.value([1.0, 2.0]).shape == ()
    assert problem.value(np.ones((3, 2))).shape == (3,)
    assert problem.centred_field(np.ones((4, 3, 2))).shape == (4, 3, 2)


def test_the_mean_of_a_far_cloud_keeps_its_digits():
    V, _, _ = drawn(1, (7, 3))
    far = QuadraticOverHull(V + 1e8)
    mean = exact.rational(V + 1e8).mean(axis=0)
    assert np.abs(far.mean - mean.astype(float)).max() <= np.spacing(1e8)
    # what is subtracted is the mean's double, without further rounding
    difference = exact.rational(V + 1e8) - exact.rational(far.mean)
    np.testing.assert_array_equal(far.centred, difference.astype(float))


@pytest.mark.parametrize("shift", [1e6, 1e8])
@pytest.mark.parametrize("form", ["dense", "diagonal", "factored", "field"])
def test_the_field_at_the_mean_survives_a_far_cloud(form, shift):
    rng = np.random.default_rng(2)
    Q = {
        "dense": (A := rng.standard_normal((3, 3))) @ A.T,
        "diagonal": rng.standard_normal(3),
        "factored": Factored(rng.standard_normal((5, 3)), np.array([1.0, -1, 1, 1, -1])),
        "field": LowRank(rng.standard_normal((3, 2)), rng.standard_normal((3, 2))),
    }[form]
    a = rng.standard_normal(3) * shift
    V = rng.standard_normal((6, 3)) + a
    c = -QuadraticOverHull(V, Q).form.apply(a)
    problem = QuadraticOverHull(V, Q, c)
    true = exact.field(problem, exact.rational(problem.mean)).astype(float)
    assert np.abs(true).max() < 1e-6 * np.abs(c).max()  # there is something to lose
    np.testing.assert_allclose(problem.centred_c, true, rtol=1e-14, atol=1e-22 * shift)


# -- kinds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["convex", "concave", "indefinite"])
def test_kind_is_found_at_first_use(kind):
    problem = QuadraticOverHull(*drawn(3, (5, 3), kind))
    assert "kind" not in vars(problem)
    assert problem.kind.value == kind


def test_float32_allows_more_rounding():
    Q = [1.0, -1e-6]
    assert QuadraticOverHull(np.eye(2), Q).kind is Kind.INDEFINITE
    assert QuadraticOverHull(np.eye(2, dtype=np.float32), Q).kind is Kind.CONVEX


FLAT = np.array([[0.0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1], [0.5, 0.25, 1]])  # z = 1
TURN = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("Q", "kind"),
    [
        ([1.0, 1.0, -1.0], "convex"),
        ([-1.0, -1.0, 1.0], "concave"),
        ([0.0, 0.0, -1.0], "convex"),
        ([0.0, 0.0, 1.0], "concave"),
        (LowRank(TURN + np.diag([0.5, 0.5, -1.0])), "monotone"),
        (LowRank(TURN), "general"),
        ([1.0, 1.0, 1.0], "monotone"),
    ],
)
def test_a_kind_may_hold_along_differences_of_atoms_alone(Q, kind):
    assert QuadraticOverHull(FLAT, Q, kind=kind).kind.value == kind


@pytest.mark.parametrize(
    ("Q", "kind", "certified"),
    [
        ([1.0, 1.0, -1.0], "concave", "indefinite"),
        ([1.0, -1.0, 0.0], "convex", "indefinite"),
        ([1.0, 1.0, 1.0], "indefinite", "convex"),
        (1.0, "concave", "convex"),
        (LowRank(-np.eye(3) + TURN), "concave", "general"),
        (LowRank(np.eye(3) + TURN), "convex", "monotone"),
        (LowRank(TURN - np.diag([0.1, 0, 0])), "monotone", "general"),
    ],
)
def test_a_false_kind_is_refused_with_what_was_found(Q, kind, certified):
    with pytest.raises(InvalidProblem, match=f"declared {kind}, but Q is {certified}.*eigenvalues"):
        QuadraticOverHull(FLAT, Q, kind=kind)


def test_a_direction_that_rounding_alone_bends_counts_as_straight():
    # along (1, 1) the curvature of diag(1, −1) is 0, up to rounding
    atoms = np.outer([0.1, 0.7, 1 / 3], [1.0, 1.0]) @ np.diag([1.0, 1.0 + 1e-16]) + 0.3
    for kind in ("convex", "concave"):
        assert QuadraticOverHull(atoms, [1.0, -1.0], kind=kind).kind.value == kind


def test_a_single_point_is_of_any_kind():
    for kind in Kind:
        assert QuadraticOverHull([[1.0, 2.0]] * 3, [1.0, -1.0], kind=kind.value).kind is kind


# -- scale, and what moves with the problem ------------------------------------------------------


@calm
@given(seeds, sizes, st.sampled_from(["convex", "concave", "indefinite"]))
def test_scale_is_what_it_is_said_to_be(seed, size, kind):
    problem = QuadraticOverHull(*drawn(seed, size, kind))
    eigenvalues, vectors = np.linalg.eigh(problem.form.apply(np.eye(problem.d)))
    offsets = problem.centred @ vectors
    quadratic = (offsets**2 @ np.abs(eigenvalues)).max()
    linear = np.abs(problem.centred @ problem.centred_c).max()
    assert problem.scale == pytest.approx(quadratic + linear, rel=1e-12, abs=1e-300)


@calm
@given(seeds, sizes)
def test_all_forms_of_one_Q_make_one_problem(seed, size):
    V, Q, c = drawn(seed, size, "convex")
    eigenvalues, vectors = np.linalg.eigh(Q)
    root = np.sqrt(np.maximum(eigenvalues, 0))[:, None] * vectors.T
    problems = [QuadraticOverHull(V, form, c) for form in (Q, Factored(root))]
    values = [p.centred_value(p.centred) for p in problems]
    assert len({p.kind for p in problems}) == 1
    assert problems[1].scale == pytest.approx(problems[0].scale, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(values[1], values[0], atol=1e-12 * (1 + problems[0].scale))


def seen(problem):
    """Return what is said of a problem, in units of its scale."""
    unit = problem.scale or 1.0
    return (
        problem.kind,
        problem.start.keys.tolist(),
        (problem.centred_value(problem.centred) / unit).tolist(),
        (problem.centred @ problem.centred_c / unit).tolist(),
    )


@calm
@given(seeds, sizes, powers)
def test_scaling_Q_and_c_scales_everything(seed, size, power):
    V, Q, c = drawn(seed, size)
    problem, factor = QuadraticOverHull(V, Q, c), 2.0**power
    scaled = QuadraticOverHull(V, factor * Q, factor * c)
    assert scaled.scale == pytest.approx(factor * problem.scale, rel=1e-12)
    assert seen(scaled)[:2] == seen(problem)[:2]
    np.testing.assert_allclose(seen(scaled)[2], seen(problem)[2], atol=1e-13)


@calm
@given(seeds, sizes, powers)
def test_scaling_V_and_c_scales_everything_twice(seed, size, power):
    V, Q, c = drawn(seed, size)
    problem, factor = QuadraticOverHull(V, Q, c), 2.0**power
    scaled = QuadraticOverHull(factor * V, Q, factor * c)
    assert scaled.scale == pytest.approx(factor**2 * problem.scale, rel=1e-12)
    assert scaled.radius == pytest.approx(factor * problem.radius, rel=1e-12)
    assert seen(scaled)[:2] == seen(problem)[:2]
    np.testing.assert_allclose(seen(scaled)[2], seen(problem)[2], atol=1e-13)


@calm
@given(seeds, sizes)
def test_moving_the_atoms_with_c_changes_rounding_alone(seed, size):
    V, Q, c = drawn(seed, size)
    a = np.random.default_rng(seed).integers(-(10**8), 10**8, V.shape[1]).astype(float)
    problem, moved = QuadraticOverHull(V, Q, c), QuadraticOverHull(V + a, Q, c - Q @ a)
    assert (exact.rational(V) + exact.rational(a) == exact.rational(V + a)).all()
    assert moved.scale == pytest.approx(problem.scale, rel=1e-6, abs=1e-6)  # the mean is rounded
    assert moved.kind is problem.kind
    # the least value over the atoms, from anywhere: f(v) − f(v_0)
    values = [p.centred_value(p.centred) for p in (problem, moved)]
    differences = [v - v[0] for v in values]
    np.testing.assert_allclose(*differences, atol=1e-13 * (1 + problem.scale))


@calm
@given(seeds, sizes)
def test_permuting_the_atoms_permutes_and_no_more(seed, size):
    V, Q, c = drawn(seed, size)
    order = np.random.default_rng(seed).permutation(len(V))
    problem, mixed = QuadraticOverHull(V, Q, c), QuadraticOverHull(V[order], Q, c)
    assert mixed.scale == pytest.approx(problem.scale, rel=1e-12, abs=1e-12)
    values = [p.centred_value(p.centred) for p in (problem, mixed)]
    np.testing.assert_allclose(values[0][order], values[1], atol=1e-12 * (1 + problem.scale))


@calm
@given(seeds, sizes)
def test_turning_space_changes_rounding_alone(seed, size):
    V, Q, c = drawn(seed, size)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal(Q.shape))[0]
    turned_Q = turn @ Q @ turn.T
    problem = QuadraticOverHull(V, Q, c)
    turned = QuadraticOverHull(V @ turn.T, (turned_Q + turned_Q.T) / 2, turn @ c)
    assert turned.scale == pytest.approx(problem.scale, rel=1e-10, abs=1e-12)
    values = [p.centred_value(p.centred) for p in (problem, turned)]
    np.testing.assert_allclose(*values, atol=1e-12 * (1 + problem.scale))


def test_repeating_atoms_moves_the_mean_but_no_value():
    V, Q, c = drawn(5, (5, 3))
    problem, doubled = (
        QuadraticOverHull(V, Q, c),
        QuadraticOverHull(np.repeat(V, [1, 3, 1, 2, 1], 0), Q, c),
    )
    x = V.mean(axis=0)
    assert float(doubled.value(x)) == pytest.approx(float(problem.value(x)), rel=1e-12)
    assert doubled.scale != problem.scale


def test_where_nothing_varies_the_scale_is_zero():
    assert QuadraticOverHull([[0.1, 0.7]]).scale == 0
    assert QuadraticOverHull([[0.1, 0.7]] * 7).scale == 0
    assert QuadraticOverHull(np.eye(3), 0.0).scale == 0
    assert QuadraticOverHull(np.eye(3), 0.0, [2.0, 2.0, 2.0]).scale < 1e-15


# -- keys, leaders and starts --------------------------------------------------------------------


def test_rows_are_the_atoms_of_keys():
    problem = QuadraticOverHull([[1, 2], [3, 4], [5, 6]])
    assert problem.rows([2, 0, 2]).tolist() == [[5, 6], [1, 2], [5, 6]]


@calm
@given(seeds, sizes)
def test_the_oracle_names_an_atom_of_least_score(seed, size):
    V, _, _ = drawn(seed, size)
    direction = np.random.default_rng(seed).standard_normal(size[1])
    for shift in (0.0, 1e8):
        key = QuadraticOverHull(V + shift).oracle(direction)
        assert V[key] @ direction <= (V @ direction).min() + 1e-12


def test_of_equal_scores_the_lowest_key_leads():
    problem = QuadraticOverHull([[3.0, 1], [0.1, 2], [0.1, 5], [0.1, -7]])
    assert problem.oracle([1.0, 0.0]) == 1
    assert problem.oracle([-1.0, 0.0]) == 0
    assert problem.oracle([0.0, 0.0]) == 0


def test_scores_apart_by_rounding_are_equal():
    rows = [[1.0 + 2.0**-48, 0.0], [1.0, 0.0], [3.0, 0.0]]
    assert QuadraticOverHull(rows).oracle([1.0, 0.0]) == 0
    apart = [[1.0 + 2.0**-40, 0.0], [1.0, 0.0], [3.0, 0.0]]
    assert QuadraticOverHull(apart).oracle([1.0, 0.0]) == 1


def test_a_query_starts_at_the_leader_of_the_mean():
    V, Q, c = drawn(6, (7, 3))
    problem = QuadraticOverHull(V, Q, c)
    scores = V @ (Q @ V.mean(axis=0) + c)
    assert problem.start.m == 1
    assert problem.start.keys.tolist() == [int(scores.argmin())]


def test_where_every_atom_leads_a_query_starts_at_the_first():
    assert QuadraticOverHull([[1, 1], [1, -1], [-1, -1], [-1, 1]]).start.keys.tolist() == [0]
    assert QuadraticOverHull(np.eye(3), 0.0).start.keys.tolist() == [0]


def test_starts_are_keys_or_combinations():
    V = np.eye(3)
    assert QuadraticOverHull(V, start=2).start.dense(3).tolist() == [[0, 0, 1]]
    assert QuadraticOverHull(V, start=[2, 2]).start.m == 2
    halves = Combinations.from_dense([[0.5, 0.5, 0.0]])
    assert QuadraticOverHull(V, start=halves).start is halves
    assert QuadraticOverHull(V).every_atom.dense(3).tolist() == V.tolist()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[0.5, 0.4, 0.0]], "sum to 1"),
        ([[1.5, -0.5, 0.0]], "weights >= 0"),
        ([[np.nan, 0.5, 0.5]], "sum to 1"),
        ([[0.0, 0.0, 0.0]], "sum to 1"),
        (np.empty((0, 3)), "keys 0 to 2"),
        ([[0.0, 0.0, 0.0, 1.0]], "keys 0 to 2"),
    ],
)
def test_a_start_that_is_no_convex_combination_is_refused(weights, message):
    with pytest.raises(InvalidProblem, match=message):
        QuadraticOverHull(np.eye(3), start=Combinations.from_dense(weights))


def test_exact_weights_of_a_start_are_refused_rather_than_rounded():
    weights = np.array([[1, 2, 3]], dtype=object)
    with pytest.raises(InvalidProblem, match="weights must be floats; got object"):
        QuadraticOverHull(np.eye(3), start=Combinations.from_dense(weights))


# -- what names a problem ------------------------------------------------------------------------


def test_the_fingerprint_is_that_of_the_content():
    V, Q, c = drawn(7, (5, 3))
    mark = QuadraticOverHull(V, Q, c).fingerprint
    assert len(mark) == 16
    assert QuadraticOverHull(np.asfortranarray(V), Q.tolist(), c.copy()).fingerprint == mark
    others = [
        QuadraticOverHull(V + 1, Q, c),
        QuadraticOverHull(V.astype(np.float32), Q, c),
        QuadraticOverHull(V[:4], Q, c),
        QuadraticOverHull(V, Q + 1, c),
        QuadraticOverHull(V, Q[0], c),
        QuadraticOverHull(V, LowRank(Q), c),
        QuadraticOverHull(V, Q, -c),
        QuadraticOverHull(V, Q, c, start=[0, 1]),
    ]
    assert len({mark, *(p.fingerprint for p in others)}) == len(others) + 1


def test_texts_of_equal_doubles_are_different_problems():
    third = repr(1 / 3)
    marks = {QuadraticOverHull([[text]]).fingerprint for text in ("1/3", third)}
    marks |= {QuadraticOverHull([["1"]], text).fingerprint for text in ("1/3", third)}
    marks |= {QuadraticOverHull([["1"]], 1, [text]).fingerprint for text in ("1/3", third)}
    assert len(marks) == 6


def test_a_kind_holds_over_the_hull_and_not_only_beside_the_largest_eigenvalue():
    # −1 is rounding beside 1e12, but atoms differ along it alone
    narrow = [[0.0, -1.0]] + [[0.0, 1.2]] * 9
    assert QuadraticOverHull(narrow, [1e12, -1.0], [0.0, 0.5]).kind == "indefinite"
    assert QuadraticOverHull(narrow, [-1e12, 1.0], [0.0, 0.5]).kind == "indefinite"
    with pytest.raises(InvalidProblem, match="declared convex"):
        QuadraticOverHull(narrow, [1e12, -1.0], [0.0, 0.5], kind="convex")
    assert QuadraticOverHull(narrow, [1e12, -1.0], kind="concave").kind == "concave"
    wide = [[1.0, -1.0], [-1.0, 1.2]]
    assert QuadraticOverHull(wide, [1e12, -0.1]).kind == "convex"


def test_atoms_whose_values_underflow_are_refused():
    atoms = np.random.default_rng(0).standard_normal((40, 3))
    for size in (1e-155, 1e-162, 1e-300):
        with pytest.raises(InvalidProblem, match="underflow"):
            QuadraticOverHull(atoms * size).scale  # noqa: B018 - found at first use
    assert QuadraticOverHull(atoms * 1e-140).scale > 0
    assert QuadraticOverHull(np.zeros((3, 2))).scale == 0.0
    assert QuadraticOverHull(atoms, 0.0).scale == 0.0


def test_an_unprepared_problem_is_the_same_problem():
    problem = QuadraticOverHull(np.eye(4)[:, :3], np.diag([1.0, 2.0, 3.0]), [1.0, 0.0, 0.0])
    found = (problem.scale, problem.kind, problem.start.keys.tolist())
    fresh = problem.unprepared()
    assert not {"mean", "at_mean", "packed", "passes"} & set(vars(fresh))
    assert (fresh.scale, fresh.kind, fresh.start.keys.tolist()) == found
    assert fresh.fingerprint == problem.fingerprint
