"""A law that was read from a trace, as a line to be drawn beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]

POINTS = 60


def law(
    k: ArrayLike, signal: ArrayLike, rate_class: str, rate: float, first: float, last: float
) -> tuple[Vector, Vector]:
    """Return the law over its window: steps, and what it says of the signal there.

    The law has its rate as it was found; only its height is fitted, in logarithms (of a
    superlinear one the factor of qᵏ as well).

    Parameters
    ----------
    k, signal : array_like, shape (r,)
        The trace; rows that are null, not positive or outside of the window are left out.
    rate_class : str
        Of any but ``sublinear``, ``linear`` and ``superlinear`` nothing can be drawn: both empty.
    rate : float
    first, last : float
        The window in steps, both ends included.

    Examples
    --------
    >>> k = np.arange(1, 101)
    >>> steps, values = law(k, 3.0 / k**2, "sublinear", -2.0, 10, 100)
    >>> bool(np.allclose(values, 3.0 / steps**2)), float(steps[0]), float(steps[-1])
    (True, 10.0, 100.0)
    """
    steps, values = (np.asarray(part, dtype=np.float64) for part in (k, signal))
    with np.errstate(invalid="ignore"):
        inside = (steps >= max(first, 1.0)) & (steps <= last) & (values > 0) & np.isfinite(values)
    nothing = np.empty(0)
    if inside.sum() < 2 or not np.isfinite(rate):
        return nothing, nothing
    at, logs = steps[inside], np.log(values[inside])
    drawn = np.geomspace(at[0], at[-1], POINTS)
    drawn[-1] = at[-1]  # rounding must not carry it beyond the window
    if rate_class == "sublinear":
        slope, along, over = rate, np.log(at), np.log(drawn)
    elif rate_class == "linear" and rate > 0:
        slope, along, over = float(np.log(rate)), at, drawn
    elif rate_class == "superlinear" and rate > 1:
        along, over = rate ** (at - at[-1]), rate ** (drawn - at[-1])
        spread = along - along.mean()
        slope = float(spread @ logs / (spread @ spread))
    else:
        return nothing, nothing
    height = float((logs - slope * along).mean())
    return drawn, np.exp(height + slope * over)
