"""Convex polygons cut by half-planes: cells, cones, erosion, power cells.

A ring is a closed convex polygon, shape (p + 1, 2): it turns left, its first point comes again at
the end; an empty one has shape (0, 2). Cutting by h half-planes costs O(h(p + h)).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

POINT = 1e-12  # of the extent: an edge as short as this has no direction


def area(ring: Array) -> float:
    """Return the area of a ring, positive where it turns left.

    Examples
    --------
    >>> area(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    1.0
    """
    if not len(ring):
        return 0.0
    x, y = (ring - ring[0]).T
    return 0.5 * float(x[:-1] @ y[1:] - x[1:] @ y[:-1])


def centroid(ring: Array) -> Array:
    """Return the centre of mass of a ring that encloses an area, shape (2,).

    Examples
    --------
    >>> centroid(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [0.0, 0.0]])).tolist()
    [1.0, 1.0]
    """
    away = ring - ring[0]
    (x, y), (u, v) = away[:-1].T, away[1:].T
    cross = x * v - u * y
    return np.asarray(ring[0] + (away[:-1] + away[1:]).T @ cross / (3.0 * cross.sum()))


def cut(ring: Array, normals: Array, offsets: Array) -> Array:
    """Return the part of a ring where ⟨normal, x⟩ ≥ offset for each of h half-planes.

    A part without area is empty.

    Parameters
    ----------
    ring : ndarray, shape (p + 1, 2)
    normals, offsets : ndarray, shape (h, 2) and (h,)

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [0.0, 0.0]])
    >>> cut(square, np.array([[1.0, 0.0]]), np.array([1.5])).tolist()
    [[1.5, 0.0], [2.0, 0.0], [2.0, 2.0], [1.5, 2.0], [1.5, 0.0]]
    """
    for normal, offset in zip(normals, offsets, strict=True):
        if not len(ring):
            break
        above = ring @ normal - offset
        kept: list[Array] = []
        for i in range(len(ring) - 1):
            here, there = above[i], above[i + 1]
            if here >= 0:
                kept.append(ring[i])
            if here > 0 > there or here < 0 < there:  # their product may be no double
                share = here / (here - there)
                kept.append(ring[i] + share * (ring[i + 1] - ring[i]))
        ring = np.array([*kept, kept[0]]) if len(kept) > 2 else np.empty((0, 2))
    return ring if area(ring) > 0 else np.empty((0, 2))


def sides(ring: Array) -> tuple[Array, Array]:
    """Return the half-planes of a ring's edges: inward unit normals (p, 2) and offsets (p,)."""
    edges = np.diff(ring, axis=0)
    lengths = np.linalg.norm(edges, axis=1)
    long = lengths > POINT * (lengths.sum() or 1.0)  # cuts that meet in a corner leave it twice
    normals = np.column_stack([-edges[long, 1], edges[long, 0]]) / lengths[long, None]
    return normals, (normals * ring[:-1][long]).sum(axis=1)


def eroded(ring: Array, by: float) -> Array:
    """Return the points whose disc of radius `by` lies in a ring: its sides, moved inwards."""
    normals, offsets = sides(ring)
    return cut(ring, normals, offsets + by)


def dominance(
    ring: Array, atoms: Array, key: int, Q: Array, c: Array, margin: float = 0.0
) -> Array:
    """Return where one atom leads all others by a margin: ⟨F(x), v_j − v_key⟩ ≥ margin.

    Parameters
    ----------
    ring : ndarray, shape (p + 1, 2)
        What is cut, usually the hull.
    atoms : ndarray, shape (n, 2)
    key : int
    Q, c : ndarray, shape (2, 2) and (2,)
        The field is F(x) = Qx + c.
    margin : float
        0 gives the cell of the atom, more its dominance cone.
    """
    ahead = np.delete(atoms, key, axis=0) - atoms[key]
    ahead = ahead[ahead.any(axis=1)]  # a repeated atom is no rival
    return cut(ring, ahead @ Q, margin - ahead @ c)


def power_cell(ring: Array, sites: Array, key: int, weights: Array, B: Array) -> Array:
    """Return where ‖x − v‖²_B − weight is least for one site; all weights 0: its Voronoi cell.

    Parameters
    ----------
    ring : ndarray, shape (p + 1, 2)
    sites, weights : ndarray, shape (n, 2) and (n,)
        With weights ‖v‖²_B these are the cells of attention with key-query matrix B.
    key : int
    B : ndarray, shape (2, 2)
        Symmetric.
    """
    # ‖x − v‖² − w − (‖x − u‖² − r) = 2⟨B(u − v), x⟩ + (‖v‖² − w) − (‖u‖² − r)
    heights = np.einsum("ij,jk,ik->i", sites, B, sites) - weights
    others = np.delete(np.arange(len(sites)), key)
    normals = 2.0 * (sites[key] - sites[others]) @ B
    return cut(ring, normals, heights[key] - heights[others])
