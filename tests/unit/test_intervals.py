import numpy as np
import pytest
from scipy.stats import binom

from fwbench.theory.claim import Verdict
from fwbench.theory.intervals import Interval, at_least, binomial


@pytest.mark.parametrize(("successes", "trials"), [(0, 5), (5, 5), (7, 40), (399, 400)])
@pytest.mark.parametrize("confidence", [0.9, 0.999])
def test_each_end_leaves_half_of_the_rest(successes, trials, confidence):
    low, high = binomial(successes, trials, confidence)
    half = (1 - confidence) / 2
    if successes:
        assert binom.sf(successes - 1, trials, low) == pytest.approx(half, rel=1e-6)
    else:
        assert low == 0
    if successes < trials:
        assert binom.cdf(successes, trials, high) == pytest.approx(half, rel=1e-6)
    else:
        assert high == 1


@pytest.mark.parametrize("p", [0.02, 0.5, 0.9])
def test_it_covers_at_least_as_often_as_it_says(p):
    trials, confidence = 30, 0.9
    covered = [
        low <= p <= high for low, high in (binomial(k, trials, confidence) for k in range(31))
    ]
    assert binom.pmf(np.flatnonzero(covered), trials, p).sum() >= confidence


def test_what_an_interval_says():
    around = Interval(0.4, 0.6)
    assert at_least(around, 0.4) is Verdict.HOLDS
    assert at_least(around, 0.5) is Verdict.INCONCLUSIVE
    assert at_least(around, 0.6) is Verdict.INCONCLUSIVE
    assert at_least(around, 0.61) is Verdict.BROKEN
    assert at_least(around, 0.0) is Verdict.VACUOUS
    assert at_least(around, -3.0) is Verdict.VACUOUS


def test_text():
    assert Interval(0.98117, 1.0).text == "[0.9812, 1]"
