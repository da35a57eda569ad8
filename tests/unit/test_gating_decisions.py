"""What pairs say, on made seconds: equal, slower, bimodal, drifting, constant, too few."""

import numpy as np
import pytest

from fwbench.analysis.changes import Pace
from fwbench.gating.decisions import FEWEST, MOST, Evidence, look, opinion, timings

from .made_gating import cell, evidence, seconds


def judged(draw, looks=4):
    """Return the timing of one cell that has a new measurement at each look until it is decided."""
    found = evidence()
    for _ in range(looks):
        if found.open:
            found.add(draw())
            look([found])
    [timing] = timings([found])
    return timing


def test_equal_code_is_never_called_slower_or_faster():
    paces = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        paces.append(judged(lambda rng=rng: seconds(rng)).pace)
    assert Pace.SLOWER not in paces
    assert Pace.FASTER not in paces
    assert paces.count(Pace.SAME) > 25


def test_processes_that_differ_for_their_whole_life_are_no_slower_code():
    """Each pair of processes differs by 7 %: its own pairs alone would raise an alarm."""
    paces = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        paces.append(judged(lambda rng=rng: seconds(rng, process=0.05, noise=0.001)).pace)
    assert Pace.SLOWER not in paces
    assert Pace.FASTER not in paces


@pytest.mark.parametrize("seed", range(8))
def test_fifteen_percent_are_found_and_confirmed(seed):
    rng = np.random.default_rng(seed)
    timing = judged(lambda: seconds(rng, 1.15))
    assert (timing.pace, timing.confirmed, timing.reason) == (Pace.SLOWER, True, "")
    assert timing.pairs >= 2 * FEWEST
    assert 1.03 < timing.low < timing.ratio < timing.high
    assert timing.p < 0.01
    assert timing.new / timing.base == pytest.approx(timing.ratio)
    rng = np.random.default_rng(seed)
    assert judged(lambda: seconds(rng, 1 / 1.15)).pace is Pace.FASTER


def test_an_alarm_that_a_second_measurement_does_not_confirm_is_none():
    rng = np.random.default_rng(0)
    factors = iter((1.15, 1.0))
    timing = judged(lambda: seconds(rng, next(factors)), looks=2)
    assert (timing.pace, timing.confirmed) == (Pace.INCONCLUSIVE, False)
    assert "a second does not confirm it" in timing.reason
    factors = iter((1.15, *[1.0] * 8))
    assert judged(lambda: seconds(rng, next(factors)), looks=9).pace is Pace.SAME


def test_an_alarm_that_nobody_had_time_to_confirm_is_inconclusive():
    rng = np.random.default_rng(0)
    timing = judged(lambda: seconds(rng, 1.15), looks=1)
    assert timing.pace is Pace.INCONCLUSIVE
    assert "a second was not made" in timing.reason


def test_two_modes_are_no_slowdown():
    """On both sides half of the repetitions are slower by a seventh, in any order."""

    def draw(rng):
        made = seconds(rng, noise=0.002)
        return made * np.where(rng.random(made.shape) < 0.5, 1.0, 1.15)

    paces = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        paces.append(judged(lambda rng=rng: draw(rng)).pace)
    assert Pace.SLOWER not in paces
    assert Pace.FASTER not in paces


def test_a_machine_that_slows_down_is_no_slower_code():
    drift = np.linspace(1.0, 1.6, FEWEST).reshape(4, 6)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        assert judged(lambda rng=rng: drift * seconds(rng)).pace in (Pace.SAME, Pace.INCONCLUSIVE)
        slower = judged(lambda rng=rng: drift * seconds(rng, 1.3, noise=0.005))
        assert slower.pace is Pace.SLOWER


def test_constant_seconds_are_judged_by_the_band():
    constant = np.full((2, 4, 6), 1e-3)
    slower = constant * np.array([1.0, 1.2])[:, None, None]
    within = constant * np.array([1.0, 1.02])[:, None, None]
    assert judged(lambda: constant).pace is Pace.SAME
    assert judged(lambda: within).pace is Pace.SAME
    assert judged(lambda: slower).pace is Pace.SLOWER


def test_one_pair_tells_nothing_beyond_itself():
    said = opinion(np.array([[1.0]]), np.array([[2.0]]))
    assert (said.ratio, said.p) == (2.0, 1.0)
    found = evidence(np.array([[[1.0]], [[2.0]]]))
    look([found])
    assert timings([found])[0].pace is Pace.INCONCLUSIVE


def test_calls_that_take_no_time_are_inconclusive():
    made = seconds(np.random.default_rng(0))
    made[0, 0, 0] = 0.0
    found = evidence(made)
    look([found])
    [timing] = timings([found])
    assert (timing.pace, timing.ratio) == (Pace.INCONCLUSIVE, None)
    assert "than the clock can tell" in timing.reason


def test_among_many_cells_one_that_differs_by_chance_raises_no_alarm():
    """Four sittings that agree so well are seen once in 130 cells that lie at the band."""
    ratios = np.log(1.03) + np.array([0.015, 0.025, 0.015, 0.025])
    odd = np.stack([np.full((4, 6), 1e-3), 1e-3 * np.exp(ratios)[:, None] * np.ones((4, 6))])
    equal = np.full((2, 4, 6), 1e-3)
    alone, crowd = [evidence(odd)], [evidence(odd), *(evidence(equal) for _ in range(9))]
    look(alone)
    look(crowd)
    assert alone[0].alarm is not None
    assert crowd[0].alarm is None


def test_what_failed_keeps_its_reason():
    found = Evidence(cell(), reason="the base: RuntimeError: no")
    look([found])
    [timing] = timings([found])
    assert (timing.pace, timing.pairs) == (Pace.INCONCLUSIVE, 0)
    assert timing.reason == "the base: RuntimeError: no"


def test_what_lies_on_the_band_is_given_up_in_the_end():
    rng = np.random.default_rng(0)
    timing = judged(lambda: seconds(rng, 1.03, noise=0.001), looks=MOST + 1)
    assert (timing.pace, timing.pairs) == (Pace.INCONCLUSIVE, MOST * FEWEST)
    assert timing.reason.endswith("480 pairs are enough")
