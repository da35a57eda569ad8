import numpy as np
import pytest

from fwbench.geometry.forms import (
    DENSE_EIGENVALUES,
    Dense,
    Diagonal,
    Factored,
    Kind,
    LowRank,
    Scalar,
    kind_of,
    spectral_norm,
    through,
)

TOLERANCE = 1e-12
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
POINTS = np.random.default_rng(0).standard_normal((6, 4))
F = np.random.default_rng(1).standard_normal((3, 4))
SIGNS = np.array([1.0, -1.0, 1.0])
L, R = np.random.default_rng(2).standard_normal((2, 4, 2))
SQUARE = np.random.default_rng(3).standard_normal((4, 4))
STRETCH = np.array([2.0, 0.0, 1.0, 0.5])

# All forms, each with the matrix that it stands for.
FORMS = {
    "scalar": (Scalar(-2.0), -2.0 * np.eye(4)),
    "zero": (Scalar(0.0), np.zeros((4, 4))),
    "diagonal": (Diagonal(STRETCH - 1), np.diag(STRETCH - 1)),
    "dense": (Dense(SQUARE + SQUARE.T), SQUARE + SQUARE.T),
    "factored": (Factored(F), F.T @ F),
    "negative": (Factored(F, -np.ones(3)), -F.T @ F),
    "mixed": (Factored(F, SIGNS), (F.T * SIGNS) @ F),
    "tall": (Factored(np.vstack([F, F, SQUARE])), 2 * F.T @ F + SQUARE.T @ SQUARE),
    "low rank": (LowRank(L, R), L @ R.T),
    "square": (LowRank(SQUARE), SQUARE),
}


@pytest.fixture(params=FORMS)
def pair(request):
    return FORMS[request.param]


def test_apply_multiplies_each_row(pair):
    form, Q = pair
    np.testing.assert_allclose(form.apply(POINTS), POINTS @ Q.T, **CLOSE)
    np.testing.assert_allclose(form.apply(POINTS[0]), Q @ POINTS[0], **CLOSE)


def test_the_chain_multiplies_to_Q(pair):
    form, Q = pair
    np.testing.assert_allclose(through(form.chain(), np.eye(4)).T, Q, **CLOSE)


def test_factors_give_all_products(pair):
    form, Q = pair
    left, right, signs = form.factors(POINTS)
    np.testing.assert_allclose(left @ (signs * right).T, POINTS @ Q @ POINTS.T, **CLOSE)
    assert set(np.sign(signs)) == set(signs)


def test_scale_is_the_largest_norm_by_the_absolute_matrix(pair):
    form, Q = pair
    if np.allclose(Q, Q.T):
        eigenvalues, vectors = np.linalg.eigh(Q)
        absolute = (vectors * np.abs(eigenvalues)) @ vectors.T
        expected = np.einsum("ni,ij,nj->n", POINTS, absolute, POINTS).max()
    else:
        norms = np.linalg.norm(POINTS, axis=1), np.linalg.norm(POINTS @ Q.T, axis=1)
        expected = norms[0].max() * norms[1].max()
    assert form.scale(POINTS) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_kind_is_that_of_the_eigenvalues(pair):
    form, Q = pair
    eigenvalues = np.linalg.eigvalsh((Q + Q.T) / 2)
    small = 1e-10 * np.abs(eigenvalues).max()
    convex, concave = (eigenvalues >= -small).all(), (eigenvalues <= small).all()
    if isinstance(form, LowRank):
        expected = Kind.MONOTONE if convex else Kind.GENERAL
    else:
        expected = Kind.CONVEX if convex else Kind.CONCAVE if concave else Kind.INDEFINITE
    assert form.kind(TOLERANCE) is expected


def test_spectral_norm_is_the_largest_stretch(pair):
    form, Q = pair
    assert spectral_norm(form, 4) == pytest.approx(np.linalg.norm(Q, 2), rel=1e-12)


SAME = {
    "convex": [Scalar(3.0), Diagonal(np.full(4, 3.0)), Dense(3 * np.eye(4)),
               Factored(np.sqrt(3) * np.eye(4))],
    "concave": [Scalar(-3.0), Diagonal(np.full(4, -3.0)), Dense(-3 * np.eye(4)),
                Factored(np.sqrt(3) * np.eye(4), -np.ones(4))],
    "stretched": [Diagonal(STRETCH), Dense(np.diag(STRETCH)), Factored(np.diag(np.sqrt(STRETCH)))],
    "saddle": [Diagonal(STRETCH * [1, 1, 1, -1]), Dense(np.diag(STRETCH * [1, 1, 1, -1])),
               Factored(np.diag(np.sqrt(STRETCH)), np.array([1.0, 1, 1, -1]))],
    "a wide factor": [Dense(F.T @ F), Factored(F), Factored(np.vstack([F, F]) / np.sqrt(2)),
                      Factored(np.linalg.qr(F, mode="r"))],
    "a mixed factor": [Dense((F.T * SIGNS) @ F), Factored(F, SIGNS),
                       Factored(np.vstack([2 * F, np.sqrt(3) * F]), np.append(SIGNS, -SIGNS))],
    "zero": [Scalar(0.0), Diagonal(np.zeros(4)), Dense(np.zeros((4, 4))),
             Factored(np.zeros((1, 4))), Factored(np.zeros((2, 4)), -np.ones(2))],
    "a field": [LowRank(L @ R.T), LowRank(L, R), LowRank(np.hstack([L, L]), np.hstack([R, R]) / 2)],
    "a turn": [LowRank(L @ R.T - R @ L.T), LowRank(np.hstack([L, -R]), np.hstack([R, L]))],
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_all_forms_of_one_Q_have_one_kind_and_one_scale(name):
    forms = SAME[name]
    assert {form.kind(TOLERANCE) for form in forms} == {forms[0].kind(TOLERANCE)}
    scale = forms[0].scale(POINTS)
    for form in forms[1:]:
        assert form.scale(POINTS) == pytest.approx(scale, rel=1e-12)


def test_a_turn_is_monotone_although_rounding_bends_it():
    turned = np.array([[-1e-16, 1.0], [-1.0, -1e-16]])
    assert LowRank(turned).kind(TOLERANCE) is Kind.MONOTONE
    assert LowRank(turned - 1e-11 * np.eye(2)).kind(TOLERANCE) is Kind.GENERAL


@pytest.mark.parametrize(
    ("eigenvalues", "kind"),
    [
        ([0.0, 0.0], Kind.CONVEX),
        ([-1e-13, 1.0], Kind.CONVEX),
        ([-1e-11, 1.0], Kind.INDEFINITE),
        ([-1.0, 1e-13], Kind.CONCAVE),
        ([-1.0, 1e-11], Kind.INDEFINITE),
        ([], Kind.CONVEX),
    ],
)
def test_rounding_in_eigenvalues_does_not_decide(eigenvalues, kind):
    assert kind_of(np.array(eigenvalues), TOLERANCE) is kind


def test_the_kind_does_not_depend_on_the_size_of_Q():
    for size in (1e-300, 1e-12, 1e12, 1e150):
        assert Dense(size * F.T @ F).kind(TOLERANCE) is Kind.CONVEX
        assert Dense(-size * F.T @ F).kind(TOLERANCE) is Kind.CONCAVE
        assert Dense(size * (F.T * SIGNS) @ F).kind(TOLERANCE) is Kind.INDEFINITE


def large(signs):
    """Return a Q too large for eigenvalues, of low rank with these signs."""
    d = DENSE_EIGENVALUES + 1
    factor = np.random.default_rng(4).standard_normal((len(signs), d))
    return (factor.T * np.asarray(signs, dtype=float)) @ factor


@pytest.mark.parametrize(
    ("signs", "symmetric", "field"),
    [
        ([1, 1, 1], Kind.CONVEX, Kind.MONOTONE),
        ([-1, -1, -1], Kind.CONCAVE, Kind.GENERAL),
        ([1, -1, 1], Kind.INDEFINITE, Kind.GENERAL),
        ([0], Kind.CONVEX, Kind.MONOTONE),
    ],
)
def test_two_factorisations_decide_for_a_large_Q(signs, symmetric, field):
    Q = large(signs)
    Q = (Q + Q.T) / 2
    assert Dense(Q).kind(TOLERANCE) is symmetric
    assert LowRank(Q).kind(TOLERANCE) is field


def test_eigenvalues_that_are_rounding_are_no_factors():
    a = np.array([-1.1288727436149466, -0.989133492364185])
    assert Dense(np.outer(a, a)).factors(np.eye(2))[0].shape == (2, 1)


def test_a_factored_Q_is_never_expanded(monkeypatch):
    d = 3000  # d × d doubles would be 72 MB
    wide = Factored(np.random.default_rng(5).standard_normal((2, d)), np.array([1.0, -1.0]))
    points = np.random.default_rng(6).standard_normal((3, d))
    sizes = []
    dense = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda Q: (sizes.append(Q.shape), dense(Q))[1])
    assert wide.kind(TOLERANCE) is Kind.INDEFINITE
    assert wide.scale(points) > 0
    assert wide.apply(points).shape == (3, d)
    assert sizes == [(2, 2)]
