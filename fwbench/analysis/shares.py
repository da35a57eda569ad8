"""Profiles as sorted thresholds: from which ratio, or cost, on a share of instances is solved.

The share is a step function that rises by 1/p at each of p thresholds, one an instance; those at
infinity are never passed. Costs are known as brackets, so a profile is a band between two of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def ratios(low: Array, high: Array, paid: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
    """Return the least and the largest ratio to the best that brackets allow.

    The least has the solver at its lower end and all others at their upper ends, the largest the
    other way round: whatever the costs within the brackets are, the ratio lies between.

    Parameters
    ----------
    low, high : ndarray, shape (p, s)
        Brackets of the cost of s solvers on p instances; infinite where a solver failed.
    paid : pair of ndarray, shape (p, s), optional
        Brackets of what each pays in place of its own cost; the best stays the best.

    Returns
    -------
    least, most : ndarray, shape (p, s)
        Infinite where the solver failed, whoever else did; 1 where its cost is 0.

    Examples
    --------
    >>> low, high = np.array([[2.0, 4.0, np.inf]]), np.array([[2.0, 8.0, np.inf]])
    >>> [ends.tolist() for ends in ratios(low, high)]
    [[[1.0, 2.0, inf]], [[1.0, 4.0, inf]]]
    """
    least, most = (low, high) if paid is None else paid
    return _over(least, _best(low, high)), _over(most, _best(high, low))


def _best(own: Array, others: Array) -> Array:
    """Return, for each solver, the least of its cost and of what the others are said to cost."""
    if own.shape[1] == 1:
        return own
    order = np.argsort(others, axis=1, kind="stable")
    two = np.take_along_axis(others, order[:, :2], axis=1)
    first = np.arange(own.shape[1]) == order[:, :1]  # to the cheapest the next one is the rival
    return np.minimum(own, np.where(first, two[:, 1:], two[:, :1]))


def _over(cost: Array, best: Array) -> Array:
    found = np.full(cost.shape, np.inf)
    np.divide(cost, best, out=found, where=np.isfinite(cost) & (best > 0))
    found[cost == 0] = 1.0
    return found


def band(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the performance profile of each solver as sorted thresholds, ends of a band.

    Parameters
    ----------
    low, high : ndarray, shape (p, s)
        As in `ratios`.

    Returns
    -------
    optimistic, pessimistic : ndarray, shape (p, s)
        Sorted down each column: from the j-th ratio on the share is at least (j + 1)/p.
    """
    least, most = ratios(low, high)
    return np.sort(least, axis=0), np.sort(most, axis=0)


def without_one(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the envelope of all performance profiles that leave one other solver out.

    Parameters
    ----------
    low, high : ndarray, shape (p, s)
        As in `ratios`.

    Returns
    -------
    optimistic, pessimistic : ndarray, shape (p, s)
        Sorted thresholds of the highest optimistic and of the lowest pessimistic profile; NaN of
        fewer than three solvers, for alone one would be compared with itself.
    """
    solvers = low.shape[1]
    if solvers < 3:
        return np.full(low.shape, np.nan), np.full(low.shape, np.nan)
    first, last = np.full(low.shape, np.inf), np.zeros(low.shape)
    for left_out in range(solvers):
        kept = np.arange(solvers) != left_out
        optimistic, pessimistic = band(low[:, kept], high[:, kept])
        # a share is higher where its j-th threshold is less
        first[:, kept] = np.minimum(first[:, kept], optimistic)
        last[:, kept] = np.maximum(last[:, kept], pessimistic)
    return first, last


def share(thresholds: Array, at: float | Array) -> Array:
    """Return the share of instances solved within a ratio, or a cost.

    Parameters
    ----------
    thresholds : ndarray, shape (p,)
        Sorted; infinite ones are never passed.
    at : float or ndarray, shape (r,)

    Examples
    --------
    >>> float(share(np.array([1.0, 1.0, 4.0, np.inf]), 2.0))
    0.5
    """
    finite = thresholds[np.isfinite(thresholds)]
    return np.asarray(np.searchsorted(finite, at, side="right") / len(thresholds))


def reversal(
    low: Array, high: Array, a: int, b: int, without: int | None = None
) -> tuple[float, float] | None:
    """Return where others turn the order of two solvers' profiles round, and by how much.

    One is above the other by its pessimistic share less the other's optimistic share.

    Parameters
    ----------
    low, high : ndarray, shape (p, s)
        As in `ratios`.
    a, b : int
        Columns.
    without : int, optional
        The one column that is left out; by default all but the two are.

    Returns
    -------
    at, by : float
        The ratio at which the one is furthest above the other among all, and below it where the
        others are left out, by the smaller of the two differences; None where there is none.
    """
    kept = [a, b] if without is None else [i for i in range(low.shape[1]) if i != without]
    two = [kept.index(a), kept.index(b)]
    both = [np.sort(ends[:, [a, b]], axis=0) for ends in ratios(low, high)]
    pair = [np.sort(ends[:, two], axis=0) for ends in ratios(low[:, kept], high[:, kept])]
    at = np.unique(np.concatenate([*both, *pair]))
    at = at[np.isfinite(at)]
    if not len(at):
        return None
    together, alone = _above(both[0], both[1], at), _above(pair[0], pair[1], at)
    by = np.minimum(together, alone[::-1]).max(axis=0)  # a above in one, b above in the other
    most = int(by.argmax())
    return (float(at[most]), float(by[most])) if by[most] > 0 else None


def _above(optimistic: Array, pessimistic: Array, at: Array) -> Array:
    """Return by how much the first of two profiles is surely above the second, and it above that.

    Shape (2, r); not positive where that is open.
    """
    sure = [share(pessimistic[:, i], at) for i in (0, 1)]
    hoped = [share(optimistic[:, i], at) for i in (0, 1)]
    return np.array([sure[0] - hoped[1], sure[1] - hoped[0]])
