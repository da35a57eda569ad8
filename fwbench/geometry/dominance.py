r"""Simplices whose vertices own their cells, and the part of a cell that is far from all others.

What section 5 of arXiv 2508.09628 asks of a polytope with vertices v_1 … v_k (B = I): acute cones
at the vertices, equal norms, and a gap c_0 between ⟨v_i, v_i⟩ and every ⟨v_i, v_j⟩. Tokens start
in eroded dominance cones: where v_i beats every other vertex by η, even δ further on, and δ inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NEAR = 1e-9  # a quotient of logarithms this close to an integer is that integer


def regular_polygon(k: int, radius: float = 1.0) -> Array:
    """Return the vertices of a regular polygon, the first at angle 0; shape (k, 2)."""
    angles = 2 * np.pi * np.arange(k) / k
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def regular_simplex(d: int, radius: float = 1.0) -> Array:
    """Return the d + 1 vertices of a regular simplex around the origin; shape (d + 1, d).

    Examples
    --------
    >>> corners = regular_simplex(3)
    >>> bool(np.allclose(corners @ corners.T, np.eye(4) * 4 / 3 - 1 / 3))
    True
    """
    centred = np.eye(d + 1) - 1 / (d + 1)
    basis = np.linalg.svd(centred)[2][:d]  # of the plane that the corners of Δ span
    corners = centred @ basis.T
    return np.asarray(corners * (radius / np.sqrt((corners**2).sum(axis=1)))[:, None])


def narrowest(vertices: NDArray[Any]) -> Any:
    """Return the least ⟨v_j − v_i, v_k − v_i⟩ over all i and j ≠ k, both other than i.

    The cones at the vertices are acute exactly if it is positive: seen from v_i, points of the hull
    are sums of other vertices with weights ≥ 0. In the arithmetic of the vertices; O(k³ d).

    Examples
    --------
    >>> narrowest(np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]))
    0
    """
    k, least = len(vertices), None
    for i in range(k):
        away = np.delete(vertices, i, axis=0) - vertices[i]
        products = (away @ away.T)[~np.eye(k - 1, dtype=bool)].min()
        least = products if least is None else min(least, products)
    return least.item() if isinstance(least, np.generic) else least


def own_gap(vertices: NDArray[Any]) -> Any:
    """Return c_0, the least ⟨v_i, v_i⟩ − ⟨v_i, v_j⟩ over i ≠ j.

    Examples
    --------
    >>> round(float(own_gap(regular_polygon(3))), 12)
    1.5
    """
    products = vertices @ vertices.T
    apart = np.diagonal(products)[:, None] - products
    return apart[~np.eye(len(vertices), dtype=bool)].min()


def diameter(points: Array) -> float:
    """Return the largest distance of two rows."""
    return float(max(np.sqrt(((points - row) ** 2).sum(axis=1)).max() for row in points))


def reach(vertices: Array, gamma: float, start: float) -> float:
    """Return τ = min(c_0 / (2 ‖v_i − v_j‖), √(2 c_0) / 2, (1 − γ) start).

    `start` stands for the distances of the tokens from their vertices, of which it is the least
    (as printed) or the largest.
    """
    gap = float(own_gap(vertices))
    terms = gap / (2 * diameter(vertices)), np.sqrt(2 * gap) / 2, (1 - gamma) * start
    return float(min(terms))


def arrival(tau: float, start: float, gamma: float) -> int:
    """Return T_1 = ⌊log(τ / start) / log(1 − γ)⌋.

    For τ = (1 − γ) start this is 1, which a quotient of rounded logarithms may miss.

    Examples
    --------
    >>> arrival(0.9 * 0.02, 0.02, 0.1), arrival(0.433, 0.6, 0.1)
    (1, 3)
    """
    steps = np.log(tau / start) / np.log1p(-gamma)
    whole = round(steps)
    return whole if abs(steps - whole) < NEAR else int(np.floor(steps))


def barycentric(vertices: Array, points: Array) -> tuple[Array, Array]:
    """Return the weights of points (p, d) on the vertices of a simplex (d + 1, d), and its heights.

    Returns
    -------
    weights : ndarray, shape (p, d + 1)
    heights : ndarray, shape (d + 1,)
        The distance of a point from facet k is its weight k times height k, inside.
    """
    lifted = np.linalg.inv(np.hstack([vertices, np.ones((len(vertices), 1))]))
    weights = np.hstack([points, np.ones((len(points), 1))]) @ lifted
    return weights, 1 / np.sqrt((lifted[:-1] ** 2).sum(axis=0))


def dominated(vertices: Array, points: Array, eta: float, delta: float) -> NDArray[np.bool_]:
    """Say which points lie in which eroded dominance cone of a simplex, shape (p, d + 1).

    A ball of radius δ around x fits into {y in the simplex: ⟨v_i − v_j, y⟩ ≥ η for all j ≠ i}
    exactly if ⟨v_i − v_j, x⟩ − δ ‖v_i − v_j‖ ≥ η and x is δ away from every facet.
    """
    scores = points @ vertices.T
    weights, heights = barycentric(vertices, points)
    lengths = np.sqrt(((vertices[:, None] - vertices[None]) ** 2).sum(axis=2))
    spare = scores[:, :, None] - scores[:, None, :] - eta - delta * lengths  # of i over j
    spare[:, np.arange(len(vertices)), np.arange(len(vertices))] = np.inf
    inside = (weights * heights >= delta).all(axis=1, keepdims=True)
    return np.asarray((spare >= 0).all(axis=2) & inside)


def eroded_share(vertices: Array, eta: float, delta: float) -> float:
    """Return which part of a triangle (3, 2) its three eroded dominance cones cover."""
    weights, heights = barycentric(vertices, np.zeros((1, 2)))
    gradients = np.linalg.inv(np.hstack([vertices, np.ones((3, 1))]))
    covered = 0.0
    for i in range(3):
        ring = vertices
        for k in range(3):  # δ away from the facet opposite vertex k
            ring = _clipped(ring, gradients[:2, k], delta / heights[k] - weights[0, k])
        for j in (j for j in range(3) if j != i):
            apart = vertices[i] - vertices[j]
            ring = _clipped(ring, apart, eta + delta * np.sqrt(apart @ apart))
        covered += _area(ring)
    return covered / _area(vertices)


def _clipped(ring: Array, normal: Array, least: float) -> Array:
    """Return the part of a convex ring (h, 2) in which ⟨normal, x⟩ ≥ least."""
    heights = ring @ normal - least
    kept: list[Array] = []
    for k in range(len(ring)):
        here, before = heights[k], heights[k - 1]
        if (here >= 0) != (before >= 0):
            kept.append(ring[k - 1] + (ring[k] - ring[k - 1]) * (before / (before - here)))
        if here >= 0:
            kept.append(ring[k])
    return np.array(kept).reshape(-1, 2)


def _area(ring: Array) -> float:
    x, y = ring.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)
