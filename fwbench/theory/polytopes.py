"""Polytopes with points inside, drawn with a seed, and who leads where: for claims about cells."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.ascent import squares
from fwbench.geometry.ownership import scores
from fwbench.theory.claim import Outcome, Verdict
from fwbench.theory.walks import cloud_of, hardmax, stepped

CLOSE = 1e-12  # two best scores this close, relative to the largest: left out where numbers round
PARTS = 64  # weights of exact points are multiples of 1/64
LEAN = np.array([[1, 1], [0, 2]])  # B = LEAN'LEAN on exact polygons


class Polytope(NamedTuple):
    """Vertices (k, d), B (d, d) or (d,), and points of the hull (m, d); doubles or Fractions."""

    name: str
    vertices: NDArray[Any]
    B: NDArray[Any]
    points: NDArray[Any]


def drawn(d: int, seed: int, points: int, *, equal: bool) -> Polytope:
    """Draw d + 1 to d + 6 vertices on an ellipsoid ‖v‖_B = 1; `equal` false: shortened to ≥ ½."""
    rng = np.random.default_rng([d, seed])
    square = rng.standard_normal((d, d))
    B = square @ square.T / d + 0.1 * np.eye(d)
    vertices = rng.standard_normal((int(rng.integers(d + 1, d + 7)), d))
    vertices /= np.sqrt(squares(vertices, B))[:, None]
    weights = rng.dirichlet(np.ones(len(vertices)), size=points)
    if not equal:
        vertices *= rng.uniform(0.5, 1.0, len(vertices))[:, None]
    kind = "equal" if equal else "unequal"
    return Polytope(f"d = {d}, {kind} norms, seed {seed}", vertices, B, weights @ vertices)


def drawn_exactly(seed: int, points: int, *, equal: bool) -> Polytope:
    """Draw a polygon of rational points of ‖v‖_B = 1 for B = ((1, 1), (1, 5)), and points in it."""
    rng = np.random.default_rng([2, seed])
    k = int(rng.integers(3, 7))
    corners: list[tuple[Fraction, Fraction]] = []
    while len(corners) < k:
        p, q = (int(n) for n in rng.integers(1, 12, 2))
        sign = 1 if rng.random() < 0.5 else -1
        t = Fraction(p * sign, q)  # (1 − t², 2t)/(1 + t²) is on the unit circle
        second = 2 * t / (1 + t * t) / 2
        corner = ((1 - t * t) / (1 + t * t) - second, second)
        if corner not in corners:
            corners.append(corner)
    vertices = np.array(corners, dtype=object)
    if not equal:
        vertices *= np.array([Fraction(int(n), 8) for n in rng.integers(4, 9, k)])[:, None]
    parts = np.vectorize(Fraction, otypes=[object])(rng.multinomial(PARTS, np.ones(k) / k, points))
    kind = "equal" if equal else "unequal"
    return Polytope(
        f"rational polygon, {kind} norms, seed {seed}", vertices, LEAN.T @ LEAN,
        parts @ vertices / PARTS,
    )  # fmt: skip


def leaders(polytope: Polytope) -> NDArray[np.int64]:
    """Return which vertex hardmax attention moves each point to, in one step of length 1; (m,).

    −1 where several lead, or where doubles cannot tell.
    """
    vertices, B = polytope.vertices, polytope.B
    exact = vertices.dtype == object
    solver = hardmax("constant(1)", keys="fixed", arithmetic="exact" if exact else "float")
    after = stepped(cloud_of(vertices, B), solver, polytope.points)
    away = ((after[:, None] - vertices) ** 2).sum(axis=2)
    found = away.argmin(axis=1)
    best = np.sort(scores(polytope.points, vertices, B), axis=1)[:, -2:]
    clear = best[:, 1] - best[:, 0] > (0 if exact else CLOSE * abs(best[:, 1]))
    return np.where(clear, found, -1)


def nearest_sites(polytope: Polytope, *, power: bool) -> NDArray[np.int64]:
    """Return the vertex of least ‖x − v‖²_B, less ‖v‖²_B if `power`, for each point, (m,)."""
    away = polytope.points[:, None] - polytope.vertices
    m, k, d = away.shape
    distances = squares(away.reshape(m * k, d), polytope.B).reshape(m, k)
    if power:
        distances = distances - squares(polytope.vertices, polytope.B)
    return np.asarray(distances.argmin(axis=1))


def compared(polytopes: list[Polytope], *, power: bool) -> Outcome:
    """Compare who leads with who is nearest at every point of every polytope."""
    differ, count, broken = 0, 0, ""
    for polytope in polytopes:
        lead, near = leaders(polytope), nearest_sites(polytope, power=power)
        clear = lead >= 0
        wrong = np.flatnonzero(clear & (lead != near))
        differ, count = differ + len(wrong), count + int(clear.sum())
        if len(wrong) and not broken:
            i = wrong[0]
            place = ", ".join(str(v) if v.__class__ is Fraction else f"{v:.6g}"
                              for v in polytope.points[i])  # fmt: skip
            broken = f"{polytope.name}: at ({place}) vertex {lead[i]} leads, {near[i]} is nearest"
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        f"{count} points",
        broken,
        {"points that differ": f"{differ} of {count}"},
    )
