r"""Polygons in the plane with the origin as centre of attention: the cells of the vertices.

Vertices at random angles, on the unit circle (norms=equal) or at radii in [.4, 1] (norms=vary),
drawn as in the figures of arXiv 2508.09628; key-query matrix B = b I, that is Q = −b. With b > 0
the problem is concave: every vertex that owns its cell is a fixed point, only the longest ones are
optimal. Equal norms: all vertices own their cells, and the cells are Voronoi cells.
"""

from __future__ import annotations

import numpy as np

from fwbench.errors import InvalidParameter
from fwbench.geometry.combinations import Combinations
from fwbench.problem import ProblemEntry, QuadraticOverHull

REDRAWS = 500


def _is_convex(vertices: np.ndarray) -> bool:
    """Say whether all points are extreme: in the order of their angles every turn is a left one."""
    ring = vertices[np.argsort(np.arctan2(vertices[:, 1], vertices[:, 0]))]
    edge = np.roll(ring, -1, axis=0) - ring
    after = np.roll(edge, -1, axis=0)
    return bool((edge[:, 0] * after[:, 1] - edge[:, 1] * after[:, 0] > 0).all())


def polygon(
    k: int = 5,
    norms: str = "equal",
    bijection: bool = True,
    b: float = 1.0,
    queries: int = 12,
    seed: int = 42,
) -> QuadraticOverHull:
    """Draw a polygon and queries in it.

    Parameters
    ----------
    k : int
        Vertices.
    norms : str
        equal (radius 1) or vary (radii uniform in [.4, 1]).
    bijection : bool
        Redraw, up to 500 times, until all k points are vertices of the hull.
    b : float
        Key-query matrix b I.
    queries : int
        Starts, uniform weights on the simplex (Dirichlet(1)).
    seed : int

    Raises
    ------
    InvalidParameter
        For fewer than 3 vertices, no query, or no convex draw.
    """
    if k < 3 or queries < 1 or norms not in ("equal", "vary"):
        raise InvalidParameter(
            "polygon: k >= 3, queries >= 1 and norms equal or vary; got "
            f"k={k}, queries={queries}, norms={norms}"
        )
    rng = np.random.default_rng(seed)
    for _ in range(REDRAWS):
        angles = rng.uniform(0, 2 * np.pi, size=k)
        radii = rng.uniform(0.4, 1.0, size=k) if norms == "vary" else np.ones(k)
        vertices = radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        if not bijection or norms == "equal" or _is_convex(vertices):
            break
    else:
        raise InvalidParameter(
            f"polygon: no draw of k={k} with norms={norms} has all points on its hull in "
            f"{REDRAWS} tries; use bijection=false or fewer vertices"
        )
    weights = np.random.default_rng([seed, 1]).dirichlet(np.ones(k), size=queries)
    return QuadraticOverHull(vertices, -b, start=Combinations.from_dense(weights))


ENTRY = ProblemEntry(
    name="polygon",
    make=polygon,
    label="attention cells of a polygon (concave for b > 0)",
    grid=({}, {"norms": "vary"}),
)
