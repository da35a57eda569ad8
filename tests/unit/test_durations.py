"""Seconds side by side: on made timings that are slower, faster, equal or too noisy to tell."""

import numpy as np
import pytest

from fwbench import baseline
from fwbench.analysis.changes import Outcome, Pace
from fwbench.analysis.comparison import compared
from fwbench.analysis.durations import BAND, FEWEST
from fwbench.comparing import opened

from .made_sides import noise, run, side, timed


def only(base, new, *, facts=None):
    """Return the one timing of two lists of runs."""
    [timing] = compared(side(*base), side(*new, **(facts or {}))).timings
    return timing


@pytest.mark.parametrize("seed", range(8))
def test_a_solver_that_is_fifteen_percent_slower_is_named(seed):
    timing = only(timed(noise(seed)), timed(1.15 * noise(100 + seed)))
    assert timing.pace is Pace.SLOWER
    assert timing.low > 1 + BAND
    assert timing.pairs == 24
    back = only(timed(1.15 * noise(100 + seed)), timed(noise(seed)))
    assert back.pace is Pace.FASTER
    assert (back.ratio, back.low, back.high) == pytest.approx(
        (1 / timing.ratio, 1 / timing.high, 1 / timing.low)
    )


def test_equal_code_is_never_called_slower():
    found = [only(timed(noise(seed)), timed(noise(1000 + seed))).pace for seed in range(100)]
    assert Pace.SLOWER not in found
    assert Pace.FASTER not in found
    assert Pace.SAME in found


def test_a_slower_machine_is_no_slower_code():
    """In one session everything took 16 % longer, numpy's products too."""
    base, new = timed(noise(1)), timed(1.16 * noise(2), gemv_seconds=1.16e-6)
    assert only(base, new).pace is Pace.INCONCLUSIVE
    assert only(base, timed(1.6 * noise(2), gemv_seconds=1.16e-6)).pace is Pace.SLOWER


def test_few_repetitions_tell_nothing():
    fewer = FEWEST - 1
    timing = only(timed(noise(1, fewer)), timed(9 * noise(2, fewer)))
    assert timing.pace is Pace.INCONCLUSIVE
    assert "8 needed" in timing.reason
    assert timing.ratio == pytest.approx(9, rel=0.2)
    assert timing.low is timing.high is None


@pytest.mark.parametrize(("column", "said"), [("noisy", "not quiet"), ("shared", "other runs")])
def test_rows_of_a_machine_that_was_not_quiet_are_left_out(column, said):
    timing = only(timed(noise(1)), timed(2 * noise(2), **{column: True}))
    assert timing.pace is Pace.INCONCLUSIVE
    assert said in timing.reason
    assert timing.pairs == 0
    some = [run(run_id=str(i), repetition=i, seconds=float(s), setup_seconds=None, noisy=i < 20)
            for i, s in enumerate(2 * noise(2))]  # fmt: skip
    assert only(timed(noise(1)), some).pairs == 4


def test_the_same_measurements_are_the_same_however_few_and_noisy():
    again = timed([1e-3], noisy=True)
    timing = only(again, again)
    assert timing.pace is Pace.SAME
    assert timing.reason == "the same measurements"


@pytest.mark.parametrize(
    ("facts", "columns"),
    [({"cpu": "another"}, {}), ({"cpu": None}, {}), ({}, {"host": "two"}), ({}, {"threads": 2})],
)
def test_seconds_of_other_machines_and_threads_are_not_compared(facts, columns):
    new = timed(9 * noise(2), **columns)
    comparison = compared(side(*timed(noise(1))), side(*new, **facts))
    assert comparison.timings == ()
    assert comparison.outcome.code == 0


def test_unlike_work_is_not_compared():
    new = timed(9 * noise(2), status="budget", steps=100)
    comparison = compared(side(*timed(noise(1))), side(*new))
    assert comparison.timings == ()
    assert any("are not compared: other ends" in note for note in comparison.notes)


def test_among_many_timings_one_that_differs_by_chance_is_no_alarm():
    """Eight pairs agree by chance once in 128; of forty timings that is no finding any more."""

    def sides(count):
        base, new = [], []
        for i in range(count):
            names = {"instance": f"p{i}", "instance_label": f"p{i}"}
            seconds = 1e-3 + 1e-6 * np.arange(8)
            base += timed(seconds, **names)
            new += timed(seconds * (1.2 if i == 0 else 1.001), **names)
        return compared(side(*base), side(*new))

    assert sides(1).timings[0].pace is Pace.SLOWER
    crowd = sides(40)
    assert crowd.timings[0].pace is Pace.INCONCLUSIVE
    assert "by chance" in crowd.timings[0].reason
    assert crowd.outcome is Outcome.INCONCLUSIVE


def test_the_order_of_repetitions_does_not_matter():
    base, new = timed(noise(1)), timed(1.2 * noise(2))
    shuffled = [new[i] for i in np.random.default_rng(0).permutation(len(new))]
    first, second = only(base, new), only(base, shuffled)
    assert (first.ratio, first.low, first.p) == (second.ratio, second.low, second.p)


def test_set_up_is_a_timing_of_its_own():
    def both(setups):
        return [
            run(run_id=str(i), repetition=i, setup_seconds=float(s)) for i, s in enumerate(setups)
        ]

    timings = compared(side(*both(noise(1))), side(*both(2 * noise(2)))).timings
    assert [(timing.what, timing.pace) for timing in timings] == [
        ("seconds", Pace.SAME), ("set-up", Pace.SLOWER)
    ]  # fmt: skip


# -- against a baseline ------------------------------------------------------------------------


def instances(count, passes=None, **columns):
    made = []
    for i in range(count):
        names = {"instance": f"p{i}", "instance_label": f"p{i}", "run_id": str(i)}
        kept = {"passes": passes, "seconds": None} if passes else {}
        made.append(run(**names, **kept, **columns))
    return made


@pytest.mark.parametrize(
    ("factor", "pace"), [(1.3, Pace.SAME), (3.0, Pace.SLOWER), (0.3, Pace.FASTER)]
)
def test_a_baseline_keeps_passes_and_tells_a_factor_of_two(factor, pace, tmp_path):
    baseline.write(side(*instances(10)), tmp_path / "base.json")
    base = opened(tmp_path / "base.json")
    new = side(*instances(10, seconds=1e-3 * factor))
    [timing] = compared(base, new).timings
    assert timing.pace is pace
    assert timing.unit == "passes"
    assert timing.ratio == pytest.approx(factor)


def test_against_a_baseline_a_solver_on_few_instances_has_no_timing():
    base = side(*instances(3, passes=1000.0), source="baseline")
    assert compared(base, side(*instances(3))).timings == ()
    noisy = compared(side(*instances(10, passes=1e3), source="baseline"),
                     side(*instances(10, noisy=True)))  # fmt: skip
    assert noisy.timings[0].pace is Pace.INCONCLUSIVE
