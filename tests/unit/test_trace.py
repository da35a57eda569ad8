from itertools import pairwise

import pytest

from fwbench.trace import COLUMNS, Status, Trace, checkpoints


@pytest.mark.parametrize("last", [0, 1, 2, 15, 16, 17, 18, 25, 100, 9_999, 10_000, 10**9])
def test_checkpoints_lead_from_the_start_to_the_last_step(last):
    at = checkpoints(last)
    assert at[:17] == list(range(min(last, 16) + 1))
    assert at[-1] == last
    assert all(a < b <= max(a + 1, 1.1 * a + 0.5) for a, b in pairwise(at))


def test_checkpoints_of_a_longer_run_begin_alike():
    short, long = checkpoints(1000), checkpoints(5000)
    assert short[:-1] == long[: len(short) - 1]


def test_a_column_that_is_not_given_is_null():
    trace = Trace()
    trace.add(k=0, value=1.0)
    trace.add(k=1, gap=0.0)
    assert trace.columns["value"] == [1.0, None]
    assert trace.columns["gap"] == [None, 0.0]
    assert len(trace) == 2
    assert {len(column) for column in trace.columns.values()} == {2}
    assert tuple(trace.columns) == COLUMNS
    assert trace.last("k") == 1


def test_a_column_that_does_not_exist_is_an_error():
    with pytest.raises(KeyError, match="valeu"):
        Trace().add(k=0, valeu=1.0)


def test_the_newest_row_can_be_corrected():
    trace = Trace()
    trace.add(k=0, value=1.0)
    trace.add(k=1, value=2.0)
    trace.replace_last(value=3.0, gap=0.5)
    assert trace.columns["value"] == [1.0, 3.0]
    assert trace.columns["gap"] == [None, 0.5]


def test_findings_are_no_failures():
    failures = {status.value for status in Status if status.is_failure}
    assert failures == {"wrong", "nonfinite", "infeasible", "error", "crashed", "memory"}
    assert len(Status) == 13


def traced(gaps, values, k=None):
    trace = Trace()
    steps = checkpoints(2000) if k is None else k
    for at in steps:
        trace.add(k=at, gap=gaps(at), value_centred=values(at), lower_centred=-1.0)
    return trace


def test_a_gap_that_falls_is_no_stall():
    assert not traced(lambda k: 1 / (k + 1), lambda k: 0.0).stalled(convex=False)


def test_a_gap_at_its_floor_is_a_stall():
    assert traced(lambda k: max(1 / (k + 1), 0.1), lambda k: 0.0).stalled(convex=False)


def test_a_lucky_dip_of_the_gap_is_no_stall_while_the_value_falls():
    falling = traced(lambda k: 0.1, lambda k: -0.5 + 1e-4 / (k + 1) ** 2)
    assert falling.stalled(convex=False)
    assert not falling.stalled(convex=True)


def test_a_lucky_dip_of_the_value_is_no_stall():
    dipped = traced(lambda k: 0.1, lambda k: -0.5 + (1e-4 if 550 < k < 650 else 1 / (k + 1)))
    assert not dipped.stalled(convex=True)


def test_a_value_that_halts_is_a_stall():
    assert traced(lambda k: 0.1, lambda k: -0.5).stalled(convex=True)
    assert traced(lambda k: 0.1, lambda k: -0.5 + 0.9**k).stalled(convex=True)


def test_a_fall_by_rounding_is_none():
    trembling = traced(lambda k: 0.1, lambda k: -0.5 + 1e-15 / (k + 1))
    assert trembling.stalled(convex=True, rounding=1e-14)


def test_nobody_is_asked_before_a_thousand_steps():
    assert not traced(lambda k: 0.1, lambda k: 0.0, checkpoints(999)).stalled(convex=False)
    assert traced(lambda k: 0.1, lambda k: 0.0, checkpoints(1000)).stalled(convex=False)


def test_few_looks_are_no_stall():
    assert not traced(lambda k: 0.1, lambda k: 0.0, [0, 500, 1000, 2000]).stalled(convex=False)
