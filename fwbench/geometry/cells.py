"""Cells in the plane: which atom leads where."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def polygon_of(atoms: Array) -> Array:
    """Return the hull of points in the plane as a closed ring, shape (h + 1, 2).

    Fewer than three extreme points give a segment there and back, or a point.

    Examples
    --------
    >>> polygon_of(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.2, 0.2]])).shape
    (4, 2)
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        ring = atoms[ConvexHull(atoms).vertices]
    except (QhullError, ValueError):  # all on one line
        along = atoms @ (np.linalg.svd(atoms - atoms.mean(axis=0))[2][0])
        ring = atoms[[int(along.argmin()), int(along.argmax())]]
    return np.vstack([ring, ring[:1]])


def inside(ring: Array, points: Array) -> NDArray[np.bool_]:
    """Say which points (p, 2) lie in a convex ring that turns left, shape (p,)."""
    edges = np.diff(ring, axis=0)
    away = points[:, None] - ring[None, :-1]
    cross = edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0]
    return np.asarray((cross >= 0).all(axis=1))


def cells(
    atoms: Array, Q: Array, c: Array, size: int = 160
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Return grid coordinates (g,), (g,) and the key of the leader at each grid point, (g, g).

    Parameters
    ----------
    atoms : ndarray, shape (n, 2)
    Q, c : ndarray, shape (2, 2) and (2,)
        The field at x is Qx + c.
    size : int
        Grid points g along each axis; −1 marks those outside the hull.
    """
    ring = polygon_of(atoms)
    low, high = atoms.min(axis=0), atoms.max(axis=0)
    x, y = (np.linspace(low[i], high[i], size) for i in (0, 1))
    lead = np.empty((size, size), dtype=np.int64)
    for i in range(size):  # a line at a time: the scores of all at once may not fit into memory
        line = np.column_stack([x, np.full(size, y[i])])
        scores = (line @ Q.T + c) @ atoms.T
        lead[i] = np.where(inside(ring, line), scores.argmin(axis=1), -1)
    return x, y, lead
