"""Shifted geometric means of brackets, failures at the limit, and what the shift does to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PART = 0.01  # the shift, of the median of what was reached
FACTORS = (1.0, 0.1, 10.0)  # of the shift: itself, and how much hangs on it


class Means(NamedTuple):
    """Means of s solvers.

    Attributes
    ----------
    shift : float or None
        None where nobody reached anything; then all means are NaN.
    low, high : ndarray, shape (3, s)
        With the shift, a tenth and tenfold of it.
    failures : ndarray of int, shape (s,)
        Instances that count at the limit.
    """

    shift: float | None
    low: Array
    high: Array
    failures: NDArray[np.int64]


def shifted_mean(values: Array, shift: float) -> Array:
    """Return exp(mean(log(v + shift))) − shift down each column.

    Parameters
    ----------
    values : ndarray, shape (p,) or (p, s)
        Not negative.
    shift : float
        Positive, or 0 where all values are: then it is the geometric mean.

    Examples
    --------
    >>> float(shifted_mean(np.array([1.0, 7.0]), 1.0))
    3.0
    """
    return np.asarray(np.exp(np.log(values + shift).mean(axis=0)) - shift)


def shifted_means(low: Array, high: Array, limit: Array) -> Means:
    """Return the shifted geometric means of all solvers over the same instances.

    The shift is 1 % of the median of all finite upper ends, the same for all solvers.

    Parameters
    ----------
    low, high : ndarray, shape (p, s)
        Brackets; infinite where a solver failed.
    limit : ndarray, shape (p, s)
        What counts in place of a failure; NaN where it is not known makes the mean NaN.

    Examples
    --------
    >>> spent = np.array([[100.0, 100.0], [100.0, np.inf]])
    >>> means = shifted_means(spent, spent, np.full((2, 2), 10000.0))
    >>> means.shift, means.failures.tolist(), means.high[0].round(1).tolist()
    (1.0, [0, 1], [100.0, 1004.0])
    """
    missed = ~np.isfinite(high)
    failures = missed.sum(axis=0)
    if missed.all():
        never = np.full((len(FACTORS), high.shape[1]), np.nan)
        return Means(None, never, never, failures)
    shift = PART * float(np.median(high[~missed]))
    least, most = (np.where(missed, limit, ends) for ends in (low, high))
    return Means(
        shift,
        np.array([shifted_mean(least, shift * factor) for factor in FACTORS]),
        np.array([shifted_mean(most, shift * factor) for factor in FACTORS]),
        failures,
    )
