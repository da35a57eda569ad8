"""The projection onto the simplex against exact rationals."""

from fractions import Fraction

import numpy as np
import pytest

from fwbench.kernels.simplex import below, project


def projected(v, kind=np.float64):
    out = np.empty(len(v), dtype=kind)
    project(np.array(v, dtype=np.float64), out)
    return out


def exactly(v):
    """Return the projection in rationals, by sorting."""
    u = sorted((Fraction(float(x)) for x in v), reverse=True)
    sums, total = [], Fraction(0)
    for x in u:
        total += x
        sums.append(total)
    last = max(k for k in range(len(u)) if u[k] * (k + 1) > sums[k] - 1)
    threshold = (sums[last] - 1) / (last + 1)
    return [float(max(Fraction(float(x)) - threshold, Fraction(0))) for x in v]


def inputs():
    rng = np.random.default_rng(51)
    for n in (1, 2, 3, 5, 40, 300):
        for spread in (1e-12, 1e-3, 0.1, 1.0, 30.0, 1e9):
            yield spread * rng.standard_normal(n)
            yield spread * rng.integers(-3, 4, n).astype(float)  # ties
        yield rng.dirichlet(np.ones(n))  # on the simplex, but for rounding
        yield 2.0 ** -np.arange(n, dtype=float)  # each pass drops few entries
        yield 1.0 - 2.0 ** -np.arange(n, dtype=float)


@pytest.mark.parametrize("v", list(inputs()), ids=lambda v: f"{len(v)}")
def test_the_projection_is_exact_to_rounding(v):
    rounding = 4e-16 * max(1.0, np.ptp(v))
    np.testing.assert_allclose(projected(v), exactly(v), rtol=0, atol=rounding)


def test_the_projection_of_a_point_of_the_simplex_is_that_point():
    for w in np.random.default_rng(52).dirichlet(np.ones(30), 20):
        np.testing.assert_allclose(projected(w), w, rtol=0, atol=1e-16)


@pytest.mark.parametrize("offset", [2.0**20, -(2.0**30), 2.0**44])
def test_a_common_offset_changes_no_digit(offset):
    v = np.random.default_rng(53).integers(-300, 300, 400) / 256
    assert projected(v + offset).tobytes() == projected(v).tobytes()


def test_the_threshold_is_found_in_double_precision():
    # 30 000 weights of 1/30 000: summed in single precision they are off by 1e-4 and more
    v = np.random.default_rng(54).uniform(0, 1e-4, 30_000).astype(np.float32)
    w = projected(v, np.float32)
    assert w.dtype == np.float32
    assert w.sum(dtype=np.float64) == pytest.approx(1.0, abs=1e-7)


def test_what_is_not_a_number_stays_none():
    assert np.isnan(projected([0.3, np.nan, 0.1])).any()


def test_sums_below_a_threshold():
    assert below(np.array([3.0, 0.5, 1.0, -2.0]), 1.0) == (-1.5, 2)
    assert below(np.array([3.0]), 1.0) == (0.0, 0)
