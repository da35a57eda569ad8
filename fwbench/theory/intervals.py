"""Exact intervals of a probability, and what they say of a bound."""

from __future__ import annotations

from typing import NamedTuple

from fwbench.theory.claim import Verdict

CONFIDENCE = 0.999  # of both sides together: dozens of claims must not raise false alarms


class Interval(NamedTuple):
    """From where to where a number lies at the confidence asked for."""

    low: float
    high: float

    @property
    def text(self) -> str:
        """The interval for people."""
        return f"[{self.low:.4g}, {self.high:.4g}]"


def binomial(successes: int, trials: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the exact interval (Clopper and Pearson) of a probability.

    Examples
    --------
    >>> binomial(400, 400).low > 0.98, binomial(0, 400).high < 0.02
    (True, True)
    """
    from scipy.special import betaincinv  # scipy.stats takes a second to import

    outside, failures = (1 - confidence) / 2, trials - successes
    low = betaincinv(successes, failures + 1, outside) if successes else 0.0
    high = betaincinv(successes + 1, failures, 1 - outside) if failures else 1.0
    return Interval(float(low), float(high))


def at_least(interval: Interval, bound: float) -> Verdict:
    """Return what an interval of a probability says of "at least `bound`".

    A bound of 0 or less says nothing.

    Examples
    --------
    >>> at_least(Interval(0.7, 0.8), 0.6).value, at_least(Interval(0.7, 0.8), 0.75).value
    ('holds', 'inconclusive')
    """
    if bound <= 0:
        return Verdict.VACUOUS
    if interval.low >= bound:
        return Verdict.HOLDS
    return Verdict.BROKEN if interval.high < bound else Verdict.INCONCLUSIVE
