import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwbench.analysis.means import shifted_mean, shifted_means

COSTS = arrays(float, st.integers(1, 8), elements=st.floats(1e-6, 1e6))


def test_by_hand():
    # sqrt((1 + 1)(7 + 1)) - 1
    assert float(shifted_mean(np.array([1.0, 7.0]), 1.0)) == pytest.approx(3.0)
    assert float(shifted_mean(np.array([1.0, 4.0]), 0.0)) == pytest.approx(2.0)


def test_the_shift_is_a_hundredth_of_the_median_of_what_was_reached():
    high = np.array([[100.0, 300.0], [200.0, np.inf]])
    limit = np.full((2, 2), 5000.0)
    means = shifted_means(high, high, limit)
    assert means.shift == 2.0  # of 100, 200 and 300; the failure says nothing of the scale
    assert means.failures.tolist() == [0, 1]
    wanted = [np.sqrt(302.0 * 5002.0) - 2.0, np.sqrt(300.2 * 5000.2) - 0.2,
              np.sqrt(320.0 * 5020.0) - 20.0]  # fmt: skip
    assert means.high[:, 1] == pytest.approx(wanted)


def test_a_bracket_has_a_mean_at_each_end():
    low, high = np.array([[1.0], [4.0]]), np.array([[4.0], [9.0]])
    means = shifted_means(low, high, np.full((2, 1), 100.0))
    assert means.low[1, 0] == pytest.approx(2.0, abs=0.02)
    assert means.high[1, 0] == pytest.approx(6.0, abs=0.02)


def test_where_nobody_reached_anything_there_is_no_mean():
    lost = np.full((3, 2), np.inf)
    means = shifted_means(lost, lost, np.full((3, 2), 10.0))
    assert means.shift is None
    assert np.isnan(means.high).all()
    assert means.failures.tolist() == [3, 3]


def test_a_failure_without_a_limit_leaves_no_mean():
    high = np.array([[1.0, np.inf]])
    means = shifted_means(high, high, np.full((1, 2), np.nan))
    assert means.high[0, 0] == pytest.approx(1.0)
    assert np.isnan(means.high[:, 1]).all()


@given(COSTS, st.floats(1e-6, 1e6))
def test_a_mean_lies_between_its_values_and_grows_with_the_shift(costs, shift):
    little, much = (float(shifted_mean(costs, s)) for s in (shift, 10 * shift))
    slack = 1e-9 * (costs.max() + 10 * shift)
    assert costs.min() - slack <= little <= costs.max() + slack
    assert little <= much + slack


@given(COSTS, st.randoms())
def test_the_order_of_instances_is_irrelevant_and_units_cancel(costs, random):
    moved = np.array(random.sample(costs.tolist(), len(costs)))
    limit = np.full((len(costs), 1), 1e9)
    one, other = (shifted_means(c[:, None], c[:, None], limit) for c in (costs, moved * 8.0))
    np.testing.assert_allclose(one.high * 8.0, other.high, rtol=1e-6)
