r"""Hulls of few rational points, exactly: is a point inside, how low does a quadratic go.

No tolerance and no rounding. Points are rows of Fractions, (n, d), as exact runs give them; doubles
are taken as the rationals that they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = list[list[Fraction]]


def _rows(points: NDArray[Any]) -> Rows:
    # numpy's integers would overflow inside a Fraction
    return [[Fraction(entry) for entry in row] for row in points.tolist()]


def holds(points: NDArray[Any], point: Sequence[Any] | None = None) -> bool:
    """Return whether a point lies in the hull of points (n, d), the boundary included.

    O(n) on a line and in the plane; beyond, a linear programme by the simplex method with Bland's
    rule, which always ends.

    Parameters
    ----------
    points : ndarray of Fraction, shape (n, d)
    point : sequence of Fraction, shape (d,), optional
        The origin by default.

    Examples
    --------
    >>> triangle = np.array([[0, -1], [50, 60], [-50, 40]])
    >>> holds(triangle), holds(triangle, [0, -2]), holds(triangle, [25, Fraction(59, 2)])
    (True, False, True)
    """
    rows = _rows(points)
    if point is not None:
        rows = [[a - Fraction(b) for a, b in zip(row, point, strict=True)] for row in rows]
    unit = lcm(*(entry.denominator for row in rows for entry in row))
    whole = [[entry.numerator * (unit // entry.denominator) for entry in row] for row in rows]
    if len(whole[0]) == 1:
        return min(row[0] for row in whole) <= 0 <= max(row[0] for row in whole)
    if len(whole[0]) == 2:
        return _plane(whole)
    return _simplex(whole)


def _plane(points: list[list[int]]) -> bool:
    """Return whether no cone narrower than half a turn holds all points, or one is the origin."""
    # the cone from `right` turning left to `left`, widened point by point
    right = left = points[0]
    for x, y in points:
        beside_right = right[0] * y - right[1] * x
        beside_left = left[0] * y - left[1] * x
        if beside_right == 0 and right[0] * x + right[1] * y <= 0:
            return True
        if beside_left == 0 and left[0] * x + left[1] * y <= 0:
            return True
        if beside_right < 0 < beside_left:
            return True
        if beside_left > 0:
            left = [x, y]
        elif beside_right < 0:
            right = [x, y]
    return False


def _simplex(points: list[list[int]]) -> bool:
    """Return whether w ≥ 0 exists with Σ w x = 0 and Σ w = 1: phase one of the simplex method."""
    n, d = len(points), len(points[0])
    # rows: coordinates and the sum; columns: weights, then what is missing, which must become 0
    table = [[Fraction(point[k]) for point in points] + [Fraction(0)] for k in range(d)]
    table.append([Fraction(1)] * (n + 1))
    basis = list(range(n, n + d + 1))
    missing = [sum((row[j] for row in table), Fraction(0)) for j in range(n + 1)]
    while missing[n] > 0:
        enters = next((j for j in range(n) if missing[j] > 0), None)
        if enters is None:
            return False
        ratios = [
            (row[n] / row[enters], basis[i], i) for i, row in enumerate(table) if row[enters] > 0
        ]
        leaves = min(ratios)[2]  # Bland: the lowest index enters, and leaves among equals
        pivot = [entry / table[leaves][enters] for entry in table[leaves]]
        table[leaves], basis[leaves] = pivot, enters
        for i, row in enumerate(table):
            if i != leaves and row[enters]:
                table[i] = [a - row[enters] * b for a, b in zip(row, pivot, strict=True)]
        missing = [a - missing[enters] * b for a, b in zip(missing, pivot, strict=True)]
    return True


def least_energy(points: NDArray[Any], Q: NDArray[Any]) -> Fraction:
    """Return the least ½⟨x, Qx⟩ over the hull of points (n, d), d ≤ 2, Q ⪰ 0; O(n²).

    Without the origin inside it lies on the boundary, so on a segment between two of the points.

    Parameters
    ----------
    points : ndarray of Fraction, shape (n, d)
    Q : ndarray of Fraction, shape (d,) or (d, d)
        Symmetric positive semidefinite.

    Raises
    ------
    ValueError
        For d > 2, where segments are not enough.

    Examples
    --------
    >>> least_energy(np.array([[3, 0], [0, 4]]), np.array([1, 1]))
    Fraction(72, 25)
    >>> least_energy(np.array([[2], [-1]]), np.array([1]))
    Fraction(0, 1)
    """
    if points.shape[1] > 2:
        raise ValueError("the least energy is known on the line and in the plane only")
    if holds(points):
        return Fraction(0)
    rows = list({tuple(row): np.array(row, dtype=object) for row in _rows(points)}.values())
    Q = Q.astype(object)
    images = [row * Q if Q.ndim == 1 else Q @ row for row in rows]
    half = Fraction(1, 2)
    least = min(half * (row @ image) for row, image in zip(rows, images, strict=True))
    for a, b in combinations(range(len(rows)), 2):
        edge = rows[b] - rows[a]
        slope, bend = edge @ images[a], edge @ (images[b] - images[a])
        if slope < 0 < bend + slope:  # the least point lies inside the segment
            least = min(least, half * (rows[a] @ images[a] - slope * slope / bend))
    return Fraction(least)
