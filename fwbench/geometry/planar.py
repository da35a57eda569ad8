"""Polygons in the plane on Fractions: which points are corners, how large, where is nearest.

No tolerance anywhere: signs of rationals decide. A ring lists its corners to the left, the first
one again at the end, as in `clipping`, whose `cut` works on rationals as well.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[Any]


def turn(a: Points, b: Points, c: Points) -> Any:
    """Return twice the signed area of a triangle: positive where a, b, c turn left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def corners(points: Points) -> NDArray[np.int64]:
    """Return the keys of the extreme points of a cloud (n, 2), turning left; shape (k,).

    Of coinciding points the first one counts. O(n log n) (Andrew 1979).

    Examples
    --------
    >>> corners(np.array([[0, 0], [1, 0], [2, 0], [0, 2], [1, 1]])).tolist()
    [0, 2, 3]
    """
    first: dict[tuple[Any, ...], int] = {}
    for key, point in enumerate(points):
        first.setdefault(tuple(point), key)
    order = [first[place] for place in sorted(first)]
    if len(order) < 3:
        return np.array(order)

    def chain(keys: list[int]) -> list[int]:
        kept: list[int] = []
        for key in keys:
            while len(kept) > 1 and turn(points[kept[-2]], points[kept[-1]], points[key]) <= 0:
                kept.pop()
            kept.append(key)
        return kept[:-1]

    return np.array(chain(order) + chain(order[::-1]))


def ring_of(points: Points) -> Points:
    """Return the hull of a cloud (n, 2) as a ring, shape (k + 1, 2)."""
    keys = corners(points)
    return np.asarray(points[np.append(keys, keys[0])])


def twice_area(ring: Points) -> Any:
    """Return twice the area of a ring, 0 of an empty one.

    Examples
    --------
    >>> twice_area(ring_of(np.array([[Fraction(0), Fraction(0)], [2, 0], [0, 1]], dtype=object)))
    Fraction(2, 1)
    """
    zero = Fraction(0)
    return sum((turn(ring[0], ring[i], ring[i + 1]) for i in range(1, len(ring) - 1)), zero)


def contains(ring: Points, x: Points) -> bool:
    """Say whether a point lies in a ring or on it.

    Examples
    --------
    >>> triangle = ring_of(np.array([[0, 0], [2, 0], [0, 2]]))
    >>> contains(triangle, np.array([1, 1])), contains(triangle, np.array([1, 2]))
    (True, False)
    """
    if len(ring) < 4:  # a segment there and back, or a point
        return bool((nearest(ring, x) == x).all())
    return all(turn(ring[i], ring[i + 1], x) >= 0 for i in range(len(ring) - 1))


def nearest(ring: Points, x: Points) -> Points:
    """Return the point of a polygon that is nearest to x (2,), the projection; shape (2,).

    Examples
    --------
    >>> exact = np.vectorize(Fraction, otypes=[object])
    >>> triangle = ring_of(exact(np.array([[0, 0], [2, 0], [0, 2]])))
    >>> nearest(triangle, exact(np.array([2, 1]))).tolist()
    [Fraction(3, 2), Fraction(1, 2)]
    """
    if len(ring) > 3 and all(turn(ring[i], ring[i + 1], x) >= 0 for i in range(len(ring) - 1)):
        return x
    feet = [ring[0]]
    for start, end in pairwise(ring):
        edge = end - start
        length = edge @ edge
        if length == 0:
            continue
        share = min(max(((x - start) @ edge) / length, 0), 1)
        feet.append(start + share * edge)
    return np.asarray(min(feet, key=lambda foot: (foot - x) @ (foot - x)))
