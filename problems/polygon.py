r"""Polygons in the plane with the origin as centre of attention: the cells of the vertices.

Vertices at random angles, on the unit circle (norms=equal) or at radii in [.4, 1] (norms=vary),
drawn as in the figures of arXiv 2508.09628, then mapped by diag(1, condition)^(-1/2); key-query
matrix B = b diag(1, condition), that is Q = −B. So norms=equal means equal B-norms. With b > 0 the
problem is concave: every vertex that owns its cell is a fixed point, only the longest ones are
optimal. Equal norms: all vertices own their cells, and the cells are Voronoi cells of B.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidParameter
from fwbench.geometry.cells import polygon_of
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.lattice import lattice
from fwbench.problem import ProblemEntry, QuadraticOverHull

REDRAWS = 500


def _is_convex(vertices: np.ndarray) -> bool:
    """Say whether all points are extreme: in the order of their angles every turn is a left one."""
    ring = vertices[np.argsort(np.arctan2(vertices[:, 1], vertices[:, 0]))]
    edge = np.roll(ring, -1, axis=0) - ring
    after = np.roll(edge, -1, axis=0)
    return bool((edge[:, 0] * after[:, 1] - edge[:, 1] * after[:, 0] > 0).all())


def _grid(vertices: NDArray[np.float64], count: int) -> Combinations:
    """Return a lattice of starts: weight on the mean of the hull's corners and on two of them."""
    ring = polygon_of(vertices)
    corners = np.array([int(np.abs(vertices - x).sum(axis=1).argmin()) for x in ring[:-1]])
    points, first, weights = lattice(ring, count)
    dense = np.zeros((len(points), len(vertices)))
    dense[:, corners] = weights[:, :1] / len(corners)
    rows = np.arange(len(points))
    dense[rows, corners[first]] += weights[:, 1]
    dense[rows, corners[(first + 1) % len(corners)]] += weights[:, 2]
    return Combinations.from_dense(dense)


def polygon(
    k: int = 5,
    norms: str = "equal",
    bijection: bool = True,
    b: float = 1.0,
    condition: float = 1.0,
    starts: Literal["random", "grid"] = "random",
    queries: int = 12,
    seed: int = 42,
) -> QuadraticOverHull:
    """Draw a polygon and queries in it.

    Parameters
    ----------
    k : int
        Vertices.
    norms : str
        equal (B-norm 1 for b = 1) or vary (uniform in [.4, 1]).
    bijection : bool
        Redraw, up to 500 times, until all k points are vertices of the hull.
    b, condition : float
        Key-query matrix b diag(1, condition).
    starts : {"random", "grid"}
        Uniform weights on the simplex (Dirichlet(1)), or a square lattice that covers the hull.
    queries : int
        Starts; of a lattice about as many.
    seed : int

    Raises
    ------
    InvalidParameter
        For fewer than 3 vertices, no query, a condition that is not positive, no convex draw, or
        a hull too thin for a lattice.
    """
    if k < 3 or queries < 1 or norms not in ("equal", "vary"):
        raise InvalidParameter(
            "polygon: k >= 3, queries >= 1 and norms equal or vary; got "
            f"k={k}, queries={queries}, norms={norms}"
        )
    if not 0 < condition < np.inf:
        raise InvalidParameter(f"polygon: condition must be positive and finite; got {condition:g}")
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
    vertices[:, 1] /= np.sqrt(condition)
    if starts == "grid":
        try:
            start = _grid(vertices, queries)
        except ValueError as error:
            raise InvalidParameter(f"polygon, condition={condition:g}: {error}") from error
    else:
        weights = np.random.default_rng([seed, 1]).dirichlet(np.ones(k), size=queries)
        start = Combinations.from_dense(weights)
    Q = -b if condition == 1 else [-b, -b * condition]
    return QuadraticOverHull(vertices, Q, start=start)


ENTRY = ProblemEntry(
    name="polygon",
    make=polygon,
    label="attention cells of a polygon (concave for b > 0)",
    grid=({}, {"norms": "vary"}, {"condition": 4.0}),
)
