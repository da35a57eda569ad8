r"""Points that may lead in some direction: those near the boundary of the hull.

A linear function is least at a vertex. Lengths are measured in units of the cloud's extents
:math:`e_k`: a point is *deep* where the ellipsoid with half axes :math:`δe` around it lies in the
hull, and there :math:`⟨g, y⟩` exceeds its least value by :math:`δ\|e∘g\|` at least: deep points
lead nowhere, for no g that is not next to nothing.
"""

from __future__ import annotations

from itertools import product
from math import gcd

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LARGEST = 4  # dimension: beyond, a hull has too many facets and few points are deep in it
FEW = 64  # points that aren't worth a hull
CHUNK = 2**13  # points at a time: their distances to all facets stay in a fast cache
WORK = 2**24  # points times facets, of the second and closer hull
FAR = 2.0**8  # extents from the origin: farther, rounding is no longer small against a depth
STEPS = {1: 1, 2: 3, 3: 1, 4: 1}  # largest entry of a direction, by dimension


def directions(d: int) -> Array:
    """Return evenly spread vectors, shape (k, d), each with its opposite.

    Examples
    --------
    >>> [len(directions(d)) for d in (1, 2, 3, 4)]
    [2, 32, 26, 80]
    """
    steps = range(-STEPS[d], STEPS[d] + 1)
    return np.array([v for v in product(steps, repeat=d) if gcd(*v) == 1], dtype=np.float64)


def supports(columns: Array) -> NDArray[np.int64]:
    """Return which points, as columns (d, n), lie farthest in some direction; O(nd)."""
    d, n = columns.shape
    normals = directions(d)
    far, best = np.full(len(normals), -np.inf), np.zeros(len(normals), dtype=np.int64)
    for first in range(0, n, CHUNK):
        heights = normals @ columns[:, first : first + CHUNK]
        place = heights.argmax(axis=1)
        height = heights[np.arange(len(normals)), place]
        best = np.where(height > far, first + place, best)
        far = np.maximum(far, height)
    return np.unique(best)


def facets(columns: Array) -> Array | None:
    """Return the facets (f, d + 1) of the hull, outer unit normals and offsets; None if flat."""
    from scipy.spatial import ConvexHull, QhullError

    if len(columns) == 1:
        return np.array([[1.0, -columns.max()], [-1.0, columns.min()]])
    try:
        # qhull lists triangles: those of one facet are equal
        return np.unique(ConvexHull(columns.T).equations, axis=0)
    except QhullError:
        return None


def shallow(columns: Array, hull: Array, depth: float) -> NDArray[np.bool_]:
    """Return which points aren't deeper than `depth` in a hull given by f facets; O(nfd)."""
    normals, offsets = np.ascontiguousarray(hull[:, :-1]), hull[:, -1:]
    parts = []
    for first in range(0, columns.shape[1], CHUNK):
        heights = normals @ columns[:, first : first + CHUNK]
        heights += offsets
        parts.append(heights.max(axis=0) > -depth)
    return np.concatenate(parts)


def extremes(points: NDArray[np.floating], depth: float) -> NDArray[np.int64]:
    """Return the indices, ascending, of all points but some that are deep in the hull.

    Parameters
    ----------
    points : ndarray, shape (n, d)
        Finite. Duplicates and flat clouds may be: where no hull is found, all come back.
    depth : float
        In units of the extents, far above rounding; points returned may be deeper, points left out
        are not shallower.

    Returns
    -------
    ndarray of int, shape (k,)
        All n beyond four dimensions. O(nd) for a first hull, that of the points which are farthest
        in some directions; a second one is that of the points outside of it.

    Examples
    --------
    >>> grid = np.array(list(product(range(21), repeat=2)), dtype=float)
    >>> sorted(map(tuple, grid[extremes(grid, 0.01)])) == [
    ...     (x, y) for x, y in map(tuple, grid) if {x, y} & {0.0, 20.0}]
    True
    """
    everything = np.arange(len(points))
    if len(points) <= FEW:
        return everything
    columns = np.array(points.T, dtype=np.float64, order="C")
    low, high = columns.min(axis=1), columns.max(axis=1)
    extents = high - low
    uneven = extents > 0  # a coordinate in which all agree decides nothing
    if not 1 <= np.count_nonzero(uneven) <= LARGEST or not np.isfinite(extents).all():
        return everything
    if (np.maximum(-low, high) > FAR * extents).any():
        return everything
    columns = columns if uneven.all() else columns[uneven]
    columns -= low[uneven, None]
    columns /= extents[uneven, None]
    hull = facets(columns[:, supports(columns)])
    if hull is None:
        return everything
    near = np.flatnonzero(shallow(columns, hull, depth))
    if len(near) > FEW and len(near) ** 2 <= WORK * len(columns):
        closer = facets(columns[:, near])
        if closer is not None and len(closer) * len(near) <= WORK:
            near = near[shallow(columns[:, near], closer, depth)]
    return near
