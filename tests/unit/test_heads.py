import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwbench import catalog
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored, LowRank
from fwbench.heads import attention, compressed, head, is_cloud, scores, spectrum
from fwbench.problem import QuadraticOverHull

ROUNDING = 1e-12  # of the norm: what two ways to a number may differ by


def shipped(sentence, layer, head):
    text = f"attention_head[sentence={sentence},layer={layer},head={head}]"
    return catalog.build_problem(catalog.choices("problems", text)[0])


# -- the spectrum --------------------------------------------------------------------------------


@st.composite
def forms(draw):
    """Return a form of any kind, its dense matrix, and d."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d, r = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    which = draw(st.sampled_from(["field", "low rank", "factored", "signed", "diagonal", "number"]))
    L, R, F = (rng.standard_normal(shape) for shape in ((d, r), (d, r), (r, d)))
    if which == "field":
        Q = rng.standard_normal((d, d))
        return (Q if d > 1 else Q[0, 0]), Q, d
    if which == "low rank":
        return LowRank(L, R), L @ R.T, d
    if which == "factored":
        return Factored(F), F.T @ F, d
    if which == "signed":
        signs = rng.choice([-1.0, 1.0], r)
        return Factored(F, signs), (F.T * signs) @ F, d
    q = rng.integers(-2, 3, d).astype(float)
    return (q, np.diag(q), d) if which == "diagonal" else (q[0], q[0] * np.eye(d), d)


@settings(max_examples=150, deadline=None)
@given(forms())
def test_the_spectrum_is_that_of_the_dense_matrix(given):
    form, Q, d = given
    found = spectrum(QuadraticOverHull(np.eye(d), form))
    eigenvalues, size = np.linalg.eigvalsh(-(Q + Q.T) / 2), np.linalg.norm(Q)
    near = pytest.approx  # absolutely: 0 is computed as rounding
    assert found["largest"] == near(eigenvalues[-1], abs=ROUNDING * size)
    assert found["smallest"] == near(eigenvalues[0], abs=ROUNDING * size)
    assert found["positive"] == (eigenvalues > 1e-10 * size).sum()
    assert found["negative"] == (eigenvalues < -1e-10 * size).sum()
    if size:
        part = np.linalg.norm((Q - Q.T) / 2) / size
        assert found["antisymmetric"] == near(part, abs=ROUNDING)
    else:
        assert found["antisymmetric"] is None


def test_a_low_rank_is_never_multiplied_out():
    L, R = np.random.default_rng(0).standard_normal((2, 10**5, 3))
    assert compressed(LowRank(L, R), 10**5).shape == (6, 6)
    assert compressed(Factored(L.T), 10**5).shape == (3, 3)


def test_a_large_matrix_without_structure_is_not_decomposed():
    atoms = np.eye(3, 1200)
    found = head(QuadraticOverHull(atoms, np.eye(1200), start=[0, 1, 2]))
    assert found["largest"] is found["antisymmetric"] is None
    assert found["owners"] == 0  # convex: the others lead
    assert head(QuadraticOverHull(atoms, np.ones(1200), start=[0, 1, 2]))["negative"] == 1200


# -- attention -----------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_attention_is_softmax_at_beta_1(n, d, seed):
    rng = np.random.default_rng(seed)
    atoms, B, b = rng.standard_normal((n, d)), rng.standard_normal((d, d)), rng.standard_normal(d)
    field = LowRank(-B) if d > 1 else -B[0, 0]
    problem = QuadraticOverHull(atoms, field, -b, start=np.arange(n))
    found = attention(scores(problem), problem.tie)
    entropies, tops, leaders, owners = [], [], set(), 0
    for i, x in enumerate(atoms):
        said = [math.exp(float(y @ (B @ x + b))) for y in atoms]
        weights = [s / sum(said) for s in said]
        entropies.append(-sum(w * math.log(w) for w in weights))
        tops.append(max(weights))
        leaders.add(said.index(max(said)))
        owners += said.index(max(said)) == i
    assert found["entropy"] == pytest.approx(np.mean(entropies), rel=1e-9, abs=1e-12)
    assert found["entropy_relative"] == pytest.approx(found["entropy"] / math.log(n))
    assert found["top_mass"] == pytest.approx(np.mean(tops), rel=1e-9)
    assert found["leaders"] == len(leaders)
    assert found["owners"] == found["tied_owners"] == owners / n


def test_scores_far_apart_neither_overflow_nor_lose_the_leader():
    found = attention(np.array([[0.0, 1e308], [-1e305, 1e305]]), 0.0)
    assert (found["entropy"], found["top_mass"], found["leaders"]) == (0.0, 1.0, 1)


def test_equal_scores_spread_attention_over_all():
    found = attention(np.zeros((5, 5)), 0.0)
    assert found["entropy"] == pytest.approx(math.log(5))
    assert found["entropy_relative"] == pytest.approx(1)
    assert found["top_mass"] == pytest.approx(0.2)
    # all tie, so all are led by the first, and nobody owns a cell alone
    assert (found["leaders"], found["owners"], found["tied_owners"]) == (1, 0, 1)


def test_who_coincides_with_another_owns_its_cell_up_to_a_tie_only():
    twice = QuadraticOverHull([[1.0], [1.0], [-1.0]], -1.0, start=[0, 1, 2])
    found = head(twice)
    assert found["owners"] == pytest.approx(1 / 3)
    assert found["tied_owners"] == 1
    assert found["leaders"] == 2


# -- whose facts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "cloud"),
    [
        ([0, 1, 2], True),
        (None, False),
        ([0, 1], False),
        ([0, 2, 1], False),
        ([0, 1, 1], False),
        ([0, 1, 2, 2], False),
        (Combinations.from_dense([[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]]), False),
        (Combinations(np.arange(4), np.arange(3), np.array([1.0, 1.0, 1.0])), True),
    ],
)
def test_only_one_query_at_each_atom_is_a_cloud(start, cloud):
    assert is_cloud(QuadraticOverHull(np.eye(3), start=start)) == cloud


def test_a_cloud_has_some_tokens_and_not_too_many():
    for n, cloud in ((1, False), (256, True), (257, False)):
        atoms = np.arange(float(n))[:, None]
        assert is_cloud(QuadraticOverHull(atoms, start=np.arange(n))) == cloud


# -- the shipped heads ---------------------------------------------------------------------------

SEEN = {
    # antisymmetric, share of owners, leaders, entropy, top-1 mass
    (0, 0, 3): (0.581958, 1 / 14, 8, 2.339591, 0.227461),
    (0, 0, 5): (0.623339, 1 / 14, 9, 1.654099, 0.417153),
    (2, 2, 9): (0.364510, 1 / 21, 3, 0.776869, 0.786433),
    (1, 5, 4): (0.694831, 0, 2, 1.900655, 0.401541),
    (0, 5, 6): (0.663468, 0, 3, 2.079587, 0.304186),
}


@pytest.mark.parametrize("place", SEEN)
def test_a_shipped_head_seen_in_two_ways(place):
    problem = shipped(*place)
    found = head(problem)
    names = ("antisymmetric", "owners", "leaders", "entropy", "top_mass")
    assert [found[name] for name in names] == pytest.approx(SEEN[place], abs=6e-7)  # as many digits
    # and from what is multiplied out, uncentred
    B = -problem.form.L @ problem.form.R.T
    score = (problem.atoms @ B.T - problem.c) @ problem.atoms.T
    weights = np.exp(score - score.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    lead = score.argmax(axis=1)
    direct = (
        np.linalg.norm(B - B.T) / 2 / np.linalg.norm(B),
        np.mean(lead == np.arange(problem.n)),
        len(set(lead)),
        -(weights * np.log(weights)).sum(axis=1).mean(),
        weights.max(axis=1).mean(),
    )
    assert [found[name] for name in names] == pytest.approx(direct, rel=1e-9)
    eigenvalues = np.linalg.eigvalsh((B + B.T) / 2)
    ends = (found["smallest"], found["largest"])
    assert ends == pytest.approx((eigenvalues[0], eigenvalues[-1]), rel=1e-9)
    assert (found["positive"], found["negative"]) == (32, 32)
