import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwbench.analysis.shares import band, ratios, reversal, share, without_one

INF = np.inf
# Ten instances of Gould and Scott's kind: without C, A is ahead of B within twice the best;
# with C, B is ahead of A.
A, B, C = [1.0] * 6 + [3.0] * 4, [2.5] * 6 + [1.0] * 4, [0.3] * 6 + [9.0] * 4


def exact(*columns):
    """Return brackets that leave nothing open."""
    costs = np.array(columns, dtype=float).T
    return costs, costs


def shares_at(thresholds, x):
    return [float(share(column, x)) for column in thresholds.T]


# -- by hand ---------------------------------------------------------------------------------


def test_a_third_solver_reverses_two_others():
    two, three = (band(*exact(*some))[0] for some in ((A, B), (A, B, C)))
    assert shares_at(two, 2.0) == [0.6, 0.4]
    assert shares_at(three, 2.0) == [0.0, 0.4, 0.6]


def test_a_reversal_is_named_with_its_ratio_and_its_size():
    at, by = reversal(*exact(A, B, C), 0, 1)
    assert 1.0 <= at < 2.5  # from 2.5 on B is at 1 when both are alone
    assert by == pytest.approx(0.2)  # alone .6 to .4, together 0 to .4
    assert reversal(*exact(A, B, B), 0, 1) is None


def test_leaving_one_out_shows_how_far_a_profile_depends_on_the_others():
    first, last = without_one(*exact(A, B, C))
    assert shares_at(first, 2.0) == [0.6, 0.4, 0.6]  # A without C, else as with all
    assert shares_at(last, 2.0) == [0.4, 0.4, 0.6]  # A without B


def test_a_table_by_hand():
    low, high = exact([2.0, 1.0, INF, INF], [4.0, 3.0, 5.0, INF])
    optimistic, pessimistic = band(low, high)
    assert optimistic.tolist() == [[1, 1], [1, 2], [INF, 3], [INF, INF]]
    assert pessimistic.tolist() == optimistic.tolist()
    # an instance that nobody solves counts all the same
    assert shares_at(optimistic, 1e9) == [0.5, 0.75]


def test_brackets_make_a_band():
    low, high = np.array([[2.0, 3.0]]), np.array([[4.0, 6.0]])
    least, most = ratios(low, high)
    assert least.tolist() == [[1.0, 1.0]]  # each at its low end, the other at its high end
    assert most.tolist() == [[4.0 / 3.0, 3.0]]


def test_nothing_is_divided_by_nothing():
    low, high = exact([0.0, 0.0], [0.0, 2.0])
    assert ratios(low, high)[0].tolist() == [[1.0, 1.0], [1.0, INF]]


def test_whoever_pays_a_grid_is_measured_by_what_is_best_without_it():
    low, high = exact([1.0], [2.0])
    paid = np.array([[3.0, np.nan]])
    least, most = ratios(low, high, (paid, paid))
    assert least[0, 0] == most[0, 0] == 3.0
    assert not np.isfinite(least[0, 1])


def test_one_solver_is_its_own_best():
    assert ratios(*exact([3.0, INF]))[0].tolist() == [[1.0], [INF]]


def test_two_solvers_cannot_spare_one():
    first, last = without_one(*exact(A, B))
    assert np.isnan(first).all()
    assert np.isnan(last).all()


# -- whatever the costs are ------------------------------------------------------------------

SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 4))


@st.composite
def brackets(draw):
    """Draw brackets, some of them infinite at both ends."""
    shape = draw(SHAPES)
    costs = arrays(float, shape, elements=st.floats(1e-3, 1e3))
    low, wider = draw(costs), draw(arrays(float, shape, elements=st.floats(1.0, 10.0)))
    lost = draw(arrays(bool, shape))
    return np.where(lost, INF, low), np.where(lost, INF, low * wider)


@given(brackets())
def test_profiles_are_monotone_shares_and_the_optimistic_one_is_above(costs):
    at = np.array([0.5, 1.0, 1.5, 10.0, 1e9])
    for optimistic, pessimistic in (band(*costs), without_one(*costs)):
        for hoped, sure in zip(optimistic.T, pessimistic.T, strict=True):
            if np.isnan(hoped).all():
                continue
            assert (np.diff(share(hoped, at)) >= 0).all()
            assert ((share(sure, at) >= 0) & (share(hoped, at) <= 1)).all()
            assert (share(hoped, at) >= share(sure, at)).all()
            assert share(hoped, 0.999) == 0  # no ratio is below 1


@given(brackets(), st.data())
def test_costs_within_the_brackets_have_their_profile_within_the_band(costs, data):
    low, high = costs
    part = data.draw(arrays(float, low.shape, elements=st.floats(0, 1)))
    between = (
        np.where(np.isinf(low), 1.0, low) * (1 - part) + np.where(np.isinf(high), 1.0, high) * part
    )
    between = np.where(np.isinf(low), INF, np.clip(between, low, high))
    true = ratios(between, between)[0]
    least, most = ratios(low, high)
    finite = np.isfinite(true)
    assert (np.isfinite(least) == finite).all()
    assert (np.isfinite(most) == finite).all()
    assert (least[finite] <= true[finite] * (1 + 1e-12)).all()
    assert (true[finite] <= most[finite] * (1 + 1e-12)).all()


@given(brackets(), st.integers(-8, 8))
def test_another_unit_of_each_instance_changes_nothing(costs, power):
    scale = 2.0 ** (power * (1 + np.arange(len(costs[0])) % 3))[:, None]  # exact
    before = band(*costs), without_one(*costs)
    after = band(*(end * scale for end in costs)), without_one(*(end * scale for end in costs))
    np.testing.assert_array_equal(np.array(before), np.array(after))


@given(brackets(), st.randoms())
def test_the_order_of_instances_and_solvers_is_irrelevant(costs, random):
    p, s = costs[0].shape
    rows, columns = random.sample(range(p), p), random.sample(range(s), s)
    moved = [end[np.ix_(rows, columns)] for end in costs]
    for made in (band, without_one):
        for before, after in zip(made(*costs), made(*moved), strict=True):
            np.testing.assert_array_equal(before[:, columns], after)


@given(brackets())
def test_leaving_others_out_never_lowers_a_profile(costs):
    if costs[0].shape[1] < 3:
        return
    for all_, without in zip(band(*costs), without_one(*costs), strict=True):
        assert (without <= all_).all()
