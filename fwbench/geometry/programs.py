r"""Quadratic programmes whose multipliers are the weights: what codes for such programmes solve.

A convex problem over the hull of n points is, in coordinates Y (n, r) of its quadratic part,

.. math:: \min_w\; ½‖Y^⊤w‖² + ⟨linear, w⟩, \quad w ≥ 0,\; Σw = 1.

Stated so it has n variables. Its duals have r + 1 or r variables and n rows, and the multipliers of
the rows are the weights (Lawson and Hanson 1974, chapter 23). Plain arrays in, plain arrays out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

AHEAD = 0.05  # points so far beyond a hyperplane through the origin have it well outside


class Dual(NamedTuple):
    """Minimise ½ Σ squares x² + ⟨slope, x⟩ over x = (y, t) subject to rows x <= bound.

    Attributes
    ----------
    squares : ndarray, shape (r + 1,)
        1 for y, 0 for t: the programme is convex, not strictly.
    slope : ndarray, shape (r + 1,)
    rows : ndarray, shape (n, r + 1)
    bound : ndarray, shape (n,)
    """

    squares: Array
    slope: Array
    rows: Array
    bound: Array


class LeastDistance(NamedTuple):
    """Minimise ½‖z‖² subject to rows z >= 1; its multipliers, divided by their sum, are weights.

    Attributes
    ----------
    rows : ndarray, shape (n, r) or (n, r + 1)
    reach : float
        A row that is violated by ε costs at most reach · ε of the value.
    """

    rows: Array
    reach: float


def compact(rows: Array) -> Array:
    """Return points (n, min(n, r)) with the inner products of those given, shape (n, r).

    Examples
    --------
    >>> wide = np.array([[1.0, 2.0, 2.0], [0.0, 3.0, 4.0]])
    >>> compact(wide).shape, np.allclose(compact(wide) @ compact(wide).T, wide @ wide.T)
    ((2, 2), True)
    """
    n, r = rows.shape
    if r <= n:
        return rows
    triangle = np.asarray(np.linalg.qr(rows.T, mode="r"))
    return np.ascontiguousarray(triangle.T)


def dual(Y: Array, linear: Array) -> Dual:
    """Return the dual: minimise ½‖y‖² − t subject to t − ⟨Y_i, y⟩ <= linear_i for all i.

    At its solution y = Y'w and t = min_i (⟨Y_i, y⟩ + linear_i), with the multipliers w.
    """
    n, r = Y.shape
    last = np.zeros(r + 1)
    last[-1] = 1.0
    rows = np.empty((n, r + 1))
    np.negative(Y, out=rows[:, :r])
    rows[:, r] = 1.0
    return Dual(1.0 - last, -last, rows, linear)


def homogeneous(Z: Array) -> Array:
    """Return Z with a column of ones: for points of unit size the hull stays 1 from the origin."""
    return np.column_stack([Z, np.ones(len(Z))])


def ahead(size: float, least: float) -> bool:
    """Return whether points Z are plainly beyond a hyperplane through the origin.

    It is asked at a point z of their hull, with size = ‖z‖² and least = min_i ⟨Z_i, z⟩. If so, the
    point x of least norm gives the solution x/‖x‖² of least distance. Else one coordinate more, 1
    for all points, puts the origin outside and leaves the weights as they are: ‖(Z, 1)'w‖² =
    ‖Z'w‖² + 1.

    Examples
    --------
    >>> away = np.array([[1.0, 1.0], [1.0, -1.0]])
    >>> middle = away.mean(axis=0)
    >>> ahead(middle @ middle, (away @ middle).min()), ahead(0.0, 0.0)
    (True, False)
    """
    return bool(least > AHEAD * max(size, np.sqrt(size)))


def shares(multipliers: Array) -> Array | None:
    """Return multipliers divided by their sum; None where that is not positive.

    What is not finite stays so.

    Examples
    --------
    >>> shares(np.array([1.0, 0.0, 3.0])).tolist(), shares(np.zeros(2)) is None
    ([0.25, 0.0, 0.75], True)
    """
    total = multipliers.sum()
    with np.errstate(invalid="ignore"):
        return None if total <= 0 else multipliers / total
