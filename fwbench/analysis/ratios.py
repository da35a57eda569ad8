"""Ratios of low percentiles of paired seconds: how large, within which interval, how sure.

What disturbs a run only makes it longer, so the low end says most of the code. Stored results
and the gate are read by the same functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BAND = 0.03  # a change of less is none
SURE = 0.99
FALSE = 0.01  # part of those called slower or faster that may come about by chance
LOW = 0.1  # percentile of repetitions
RESAMPLES = 4000
ROUNDING = 1e-9  # ratios that differ by so small a part of their distance are equal


def log_ratio(base: Array, new: Array, level: float = LOW) -> float:
    """Return the logarithm of the ratio of two percentiles, new over base.

    Parameters
    ----------
    base, new : (n,) array
        Positive.
    level : float
        Which percentile, in [0, 1].

    Examples
    --------
    >>> round(log_ratio(np.array([1.0, 1.0, 9.0]), np.array([2.0, 2.0, 3.0])), 3)
    0.693
    """
    return float(np.log(np.quantile(new, level) / np.quantile(base, level)))


def interval(base: Array, new: Array, level: float = LOW) -> tuple[float, float]:
    """Return the paired bootstrap interval of `log_ratio`; the same random numbers at each call.

    Parameters
    ----------
    base, new : (n,) array
        Pair by pair.
    level : float

    Returns
    -------
    tuple of float
        Both ends, at `SURE`.
    """
    n = len(base)
    return _ends(base, new, np.random.default_rng(0).integers(n, size=(RESAMPLES, n)), level)


def interval_of_groups(base: Array, new: Array, level: float = LOW) -> tuple[float, float]:
    """Return the interval where pairs come in groups: groups are drawn, then pairs inside them.

    Parameters
    ----------
    base, new : (g, k) array
        k pairs of each of g groups, whose pairs have something in common: a pair of processes has
        one place in memory for its code.
    level : float

    Returns
    -------
    tuple of float
        Both ends, at `SURE`.
    """
    groups, each = base.shape
    rng = np.random.default_rng(0)
    drawn = rng.integers(groups, size=(RESAMPLES, groups, 1)) * each
    inside = rng.integers(each, size=(RESAMPLES, groups, each))
    places = (drawn + inside).reshape(RESAMPLES, groups * each)
    return _ends(base.ravel(), new.ravel(), places, level)


def _ends(base: Array, new: Array, drawn: NDArray[np.int64], level: float) -> tuple[float, float]:
    place = level * (len(base) - 1)
    below, share = int(place), place - int(place)
    above = min(below + 1, len(base) - 1)
    ends = []
    for values in (base, new):
        ordered = np.partition(values[drawn], (below, above), axis=1)
        ends.append(ordered[:, below] * (1 - share) + ordered[:, above] * share)
    low, high = np.quantile(np.log(ends[1] / ends[0]), [(1 - SURE) / 2, (1 + SURE) / 2])
    return float(low), float(high)


def chance(ratios: Array, band: float) -> float:
    """Return how likely so many pairs on one side of the band are, if that side is no likelier.

    Parameters
    ----------
    ratios : (n,) array
        Logarithms.
    band : float
        Of logarithms, around 0.

    Examples
    --------
    >>> chance(np.full(8, 0.1), 0.03), chance(np.zeros(8), 0.03)
    (0.0078125, 1.0)
    """
    from scipy.stats import binom

    counts = int((ratios > band).sum()), int((ratios < -band).sum())
    return min(1.0, 2.0 * min(float(binom.sf(count - 1, len(ratios), 0.5)) for count in counts))


def chance_of_groups(base: Array, new: Array, band: float) -> float:
    """Return how likely ratios of groups so far beyond the band are, if there is nothing beyond it.

    A t test on the groups' own log ratios, since pairs of one group say the same.

    Parameters
    ----------
    base, new : (g, k) array
        k pairs of each of g groups.
    band : float
        Of logarithms, around 0.

    Examples
    --------
    >>> seconds = np.ones((4, 6)) + 0.01 * np.arange(4)[:, None]
    >>> chance_of_groups(seconds, 2 * seconds, 0.03), chance_of_groups(seconds, seconds, 0.03)
    (0.0, 1.0)
    """
    from scipy.special import stdtr  # scipy.stats takes a second to import

    ratios = np.log(np.quantile(new, LOW, axis=1) / np.quantile(base, LOW, axis=1))
    beyond = abs(float(ratios.mean())) - band
    if beyond <= 0 or len(ratios) < 2:
        return 1.0
    spread = float(ratios.std(ddof=1)) / math.sqrt(len(ratios))
    if spread <= ROUNDING * beyond:
        return 0.0
    return min(1.0, 2.0 * float(stdtr(len(ratios) - 1, -beyond / spread)))


def adjusted(chances: Sequence[float]) -> list[float]:
    """Return chances as they stand among all that were asked (Benjamini and Hochberg).

    Examples
    --------
    >>> [round(p, 3) for p in adjusted([0.001, 0.04, 1.0])]
    [0.003, 0.06, 1.0]
    """
    from scipy.stats import false_discovery_control  # takes a second

    return [float(p) for p in false_discovery_control(chances)] if chances else []
