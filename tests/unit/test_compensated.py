from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fwbench.geometry.compensated import matvec, two_product, two_sum

calm = settings(deadline=None, derandomize=True, database=None, max_examples=200)

# Products and their errors stay clear of underflow and overflow.
numbers = st.one_of(
    st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100),
    st.integers(-(2**53), 2**53).map(float),
)


@calm
@given(numbers, numbers)
def test_a_sum_and_its_error_are_exact(a, b):
    total, error = two_sum(np.array(a), np.array(b))
    assert Fraction(float(total)) + Fraction(float(error)) == Fraction(a) + Fraction(b)
    assert total == a + b


@calm
@given(numbers, numbers)
def test_a_product_and_its_error_are_exact(a, b):
    product, error = two_product(np.array(a), np.array(b))
    assert Fraction(float(product)) + Fraction(float(error)) == Fraction(a) * Fraction(b)
    assert product == a * b


def exact(M, *vectors):
    total = sum(np.vectorize(Fraction, otypes=[object])(v) for v in vectors)
    return np.vectorize(Fraction, otypes=[object])(M) @ total


def test_a_product_keeps_twice_the_digits_where_all_cancels():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((20, 30))
    x = rng.standard_normal(30) * 1e8
    M[:, -1] = -(M[:, :-1] @ x[:-1]) / x[-1]  # what is left of the sum is rounding alone
    high, low = matvec(M, x)
    true = exact(M, x)
    plain = np.abs(M @ x - true.astype(float)).max()
    found = np.abs([float(h) for h in exact(np.eye(20), high, low) - true]).max()
    assert found <= 1e-14 * plain
    np.testing.assert_allclose(high, true.astype(float), rtol=1e-6)


def test_the_low_part_of_a_vector_counts():
    high, low = matvec(np.array([[3.0, -3.0]]), np.ones(2), np.array([2e-17, 1e-17]))
    np.testing.assert_allclose(high + low, [3e-17], rtol=1e-15)


def test_an_empty_product_is_zero():
    high, low = matvec(np.empty((2, 0)), np.empty(0))
    assert (high.tolist(), low.tolist()) == ([0.0, 0.0], [0.0, 0.0])
