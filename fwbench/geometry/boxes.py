"""Boxes around boxes around points: where a linear function is least, most points needn't be met.

Points are sorted along a curve that keeps neighbours together; each run of some is a leaf, each run
of leaves a box of the next level, up to one. Arrays alone: kernels search them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAF = 16  # points of a leaf
BRANCH = 8  # boxes of a larger one
BITS = 63  # of a place on the curve and a row's number
CHUNK = 11  # bits of a coordinate that are spread at once


class Boxes(NamedTuple):
    """Sorted points and their boxes, level by level, the leaves first.

    Attributes
    ----------
    points : ndarray, shape (n, d)
    names : ndarray, shape (n,)
        The index by which the caller knows each point.
    lows, highs : ndarray, shape (b, d)
    firsts : ndarray, shape (b,)
        The lowest name in each box.
    starts : ndarray, shape (levels + 1,)
        Where each level begins.
    """

    points: NDArray[Any]
    names: NDArray[np.int64]
    lows: NDArray[Any]
    highs: NDArray[Any]
    firsts: NDArray[np.int64]
    starts: NDArray[np.int64]


def spread(d: int) -> NDArray[np.uint64]:
    """Return the numbers below 2^CHUNK, the bits of each with d − 1 zeros between them."""
    numbers, bits = np.arange(2**CHUNK, dtype=np.uint64), np.arange(CHUNK, dtype=np.uint64)
    each = ((numbers[:, None] >> bits) & np.uint64(1)) << (np.uint64(d) * bits)
    return np.asarray(each.sum(axis=1, dtype=np.uint64))


def places(points: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the places of points (n, d) on the Z-curve of the box around them; O(n).

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> np.argsort(places(square)).tolist()
    [0, 1, 2, 3]
    """
    n, d = points.shape
    bits = (BITS - int(n).bit_length()) // d
    table, place = spread(d), np.zeros(n, dtype=np.uint64)
    for k in range(d):
        x = points[:, k].astype(np.float64)
        x -= x.min()
        widest = x.max()
        x *= (2**bits - 1) / widest if widest > 0 else 0.0
        cells = x.astype(np.uint64)
        for low in range(0, bits, CHUNK):
            part = (cells >> np.uint64(low)) & np.uint64(2**CHUNK - 1)
            place |= table[part] << np.uint64(d * low + k)
    return place


def ranks(points: NDArray[Any]) -> NDArray[np.float64]:
    """Return the rank of each coordinate (n, d) along its axis, equal ones alike; O(dn log n).

    Examples
    --------
    >>> ranks(np.array([[0.5], [7.0], [0.5], [1.0]])).ravel().tolist()
    [0.0, 2.0, 0.0, 1.0]
    """
    out = np.empty(points.shape)
    for k in range(points.shape[1]):
        order = np.argsort(points[:, k])
        sorted_ones = points[order, k]
        out[order, k] = np.cumsum(np.concatenate([[False], sorted_ones[1:] > sorted_ones[:-1]]))
    return out


def ordered(
    points: NDArray[Any], names: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return points and names along a curve; those that are equal once, by the lowest name.

    Where much of a cloud is too close together for the curve, it is drawn through ranks.
    """
    for places_of in (places, lambda points: places(ranks(points))):
        # place and row in one number: sorting those is several times as fast as an argsort
        shift = np.uint64(len(points).bit_length())
        both = np.sort((places_of(points) << shift) | np.arange(len(points), dtype=np.uint64))
        order, place = (both & ((np.uint64(1) << shift) - np.uint64(1))), both >> shift
        points, names = points[order], names[order]
        alike = place[1:] == place[:-1]
        alike[alike] = (points[1:][alike] == points[:-1][alike]).all(axis=1)
        if alike.any():
            first = np.flatnonzero(np.concatenate([[True], ~alike]))
            points, names, place = points[first], np.minimum.reduceat(names, first), place[first]
        if np.count_nonzero(place[1:] == place[:-1]) <= len(points) // LEAF:
            break
    return np.ascontiguousarray(points), names


def boxes(points: NDArray[Any], names: NDArray[np.int64]) -> Boxes:
    """Put boxes around points (n, d) that go by these names (n,); O(n log n).

    Of equal points the one with the lowest name is kept, where they are found beside each other.

    Examples
    --------
    >>> made = boxes(np.arange(40.0)[:, None], np.arange(40))
    >>> made.lows.T.tolist(), made.firsts.tolist(), made.starts.tolist()
    ([[0.0, 16.0, 32.0, 0.0]], [0, 16, 32, 0], [0, 3, 4])
    """
    points, names = ordered(points, names)
    cuts, columns = np.arange(0, len(points), LEAF), np.ascontiguousarray(points.T)
    lows = [np.minimum.reduceat(columns, cuts, axis=1)]
    highs = [np.maximum.reduceat(columns, cuts, axis=1)]
    firsts = [np.minimum.reduceat(names, cuts)]
    while len(firsts[-1]) > 1:
        cuts = np.arange(0, len(firsts[-1]), BRANCH)
        lows.append(np.minimum.reduceat(lows[-1], cuts, axis=1))
        highs.append(np.maximum.reduceat(highs[-1], cuts, axis=1))
        firsts.append(np.minimum.reduceat(firsts[-1], cuts))
    starts = np.cumsum([0, *map(len, firsts)])
    low, high = (np.ascontiguousarray(np.concatenate(each, axis=1).T) for each in (lows, highs))
    return Boxes(points, names, low, high, np.concatenate(firsts), starts)
