"""The energy column: the mean of ½⟨x, Qx⟩ + ⟨c, x⟩ over the queries, less that at the mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwbench.geometry.forms import Factored, LowRank, through, transposed
from fwbench.judge import Judge
from fwbench.problem import QuadraticOverHull


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_of_a_field_half_of_q_and_of_its_transpose_act(d, m, seed):
    rng = np.random.default_rng(seed)
    L, R = rng.standard_normal((2, d, 2))
    atoms, c, x = rng.standard_normal((9, d)), rng.standard_normal(d), rng.standard_normal((m, d))
    problem = QuadraticOverHull(atoms, LowRank(L, R), c)

    def energy(x):
        return 0.5 * float(x @ L @ R.T @ x) + float(c @ x)

    expected = np.mean([energy(point) for point in x]) - energy(problem.mean)
    row = Judge(problem).look(x, None).row
    assert row["energy"] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert Judge(problem).look(x[:1], None).row.get("energy") is None


@pytest.mark.parametrize("Q", [1.0, -2.0, [1.0, -3.0, 0.5], "dense", "factored"])
def test_where_there_is_an_f_it_is_the_mean_value(Q):
    rng = np.random.default_rng(7)
    F = rng.standard_normal((2, 3))
    form = {"dense": F.T @ F - np.eye(3), "factored": Factored(F, np.array([1.0, -1.0]))}.get(
        Q if isinstance(Q, str) else "", Q
    )
    problem = QuadraticOverHull(rng.standard_normal((5, 3)), form, rng.standard_normal(3))
    x = rng.standard_normal((4, 3))
    expected = problem.centred_value(x - problem.mean).mean()
    assert Judge(problem).look(x, None).row["energy"] == pytest.approx(expected, rel=1e-12)


def test_a_cloud_far_from_the_origin_keeps_its_digits():
    rng = np.random.default_rng(3)
    near, Q, c = (
        np.round(rng.standard_normal((6, 3)) * 64) / 64,
        np.diag([1.0, -2.0, 4.0]),
        [1, 2, 3],
    )
    far = np.array([2.0**30, -(2.0**29), 2.0**28])
    one = QuadraticOverHull(near, Q, c, start=np.arange(6))
    other = QuadraticOverHull(near + far, Q, c - Q @ far, start=np.arange(6))
    energies = [Judge(p).look(p.atoms, p.start).row["energy"] for p in (one, other)]
    assert energies[1] == pytest.approx(energies[0], rel=1e-6)  # ½⟨x, Qx⟩ itself is 10¹⁸ there


def test_a_transposed_chain_multiplies_by_the_transpose():
    rng = np.random.default_rng(0)
    chain = (rng.standard_normal((4, 3)), rng.standard_normal(4), rng.standard_normal((2, 4)))
    Q = through(chain, np.eye(3)).T
    np.testing.assert_allclose(through(transposed(chain), np.eye(2)).T, Q.T, rtol=1e-12)
