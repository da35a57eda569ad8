"""Where a noisy series steps from one level to another: Pettitt's test, part by part.

The test looks at the order of the values alone: a single slow day is one large rank, and no step.
How likely a step is by chance comes from permutations, always the same ones.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

SURE = 0.01
PERMUTATIONS = 9999
LEAST = 0.03  # a step of less is none


class Shift(NamedTuple):
    """A step of a series: its place is that of the first value at the new level."""

    place: int
    before: float
    after: float
    p: float

    @property
    def ratio(self) -> float:
        """How many times the level before the new one is."""
        return self.after / self.before


def shifts(values: ArrayLike) -> list[Shift]:
    """Return the steps of a series of positive numbers, in order.

    Levels are medians of the values between one step and the next. With few values on a side of it
    no step can be told from chance: ten are needed for one in the middle.

    Parameters
    ----------
    values : array_like, shape (n,)

    Examples
    --------
    >>> [(shift.place, round(shift.ratio, 1)) for shift in shifts([1.0] * 8 + [1.5] * 8)]
    [(8, 1.5)]
    >>> shifts([1.0, 1.1, 0.9, 1.0, 5.0, 1.0, 1.1, 0.9, 1.0, 1.05])
    []
    """
    series = np.asarray(values, dtype=float)
    if not len(series):
        return []
    places = sorted(_places(series, 0, SURE).items())
    ends = [0, *(place for place, _ in places), len(series)]
    levels = [float(np.median(series[begin:end])) for begin, end in pairwise(ends)]
    return [
        Shift(place, levels[i], levels[i + 1], p)
        for i, (place, p) in enumerate(places)
        if abs(np.log(levels[i + 1] / levels[i])) >= np.log1p(LEAST)
    ]


def _places(series: NDArray[np.float64], first: int, sure: float) -> dict[int, float]:
    """Return the places of all steps with how likely each is by chance, each part by itself.

    Two parts are looked at with half the risk each, so that many looks find no more by chance.
    """
    n = len(series)
    if n < 2:
        return {}
    ranks = np.argsort(np.argsort(series, kind="stable"), kind="stable").astype(float)
    # equal values share the mean of their ranks: they are no evidence of anything
    for value in np.unique(series):
        ranks[series == value] = ranks[series == value].mean()
    largest, place = _farthest(ranks[None, :])
    shuffled = np.random.default_rng(0).permuted(np.broadcast_to(ranks, (PERMUTATIONS, n)), axis=1)
    by_chance, _ = _farthest(shuffled)
    p = (1 + int((by_chance >= largest[0] * (1 - 1e-12)).sum())) / (1 + PERMUTATIONS)
    if p > sure:
        return {}
    at = int(place[0])
    return {
        first + at: p,
        **_places(series[:at], first, sure / 2),
        **_places(series[at:], first + at, sure / 2),
    }


def _farthest(ranks: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the largest of Pettitt's sums for each row, and the place after which it stands."""
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    sums = np.abs(np.cumsum(centred, axis=1)[:, :-1])
    return sums.max(axis=1), sums.argmax(axis=1) + 1
