"""Cells are convex, overlap in nothing that has an area, and cover the hull.

Proof: a cell is the hull cut by the half-planes ⟨Bx, v_i − v_j⟩ ≥ 0, so it is convex; every x has a
leader; two cells meet in the hyperplane ⟨B(v_i − v_j), x⟩ = 0, which has no interior as
B(v_i − v_j) ≠ 0. In the plane all three show in exact areas: those of the cells add up to that of
the hull.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.clipping import cut
from fwbench.geometry.ownership import images, positive, scores
from fwbench.geometry.planar import ring_of, twice_area
from fwbench.problem import QuadraticOverHull
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.walks import cloud_of, instance, integer_cloud, key_query

DRAWS = (20, 200)
PAIRS = 10  # of points of a cell, whose middle must lie in it
MIDDLE = Fraction(1, 2)


def _cases(effort: Effort) -> Iterator[Case]:
    for cloud in ("own-cells", "chained", "relayed"):
        name = f"token_cloud[name={cloud}]"
        yield Case(name, {"problem": instance(name)})
    for seed in range(effort.seed, effort.seed + effort.of(*DRAWS)):
        name, problem = integer_cloud(7, 2, seed)
        yield Case(name, {"problem": problem})
    yield _singular()


def _singular() -> Case:
    tokens = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]])
    return Case("square, B = diag(1, 0)", {"problem": cloud_of(tokens, np.array([1, 0]))})


def _refuses(case: Case) -> str | None:
    if case["problem"].d != 2:
        return "not in the plane"
    return None if positive(key_query(case["problem"])) else "B is not positive definite"


def _cells(ring: NDArray[Any], B: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the ring of each corner's cell, empty ones too."""
    corners, cells = ring[:-1], []
    for i, corner in enumerate(corners):
        ahead = images(np.delete(corner - corners, i, axis=0), B)  # B = B'
        cells.append(cut(ring, ahead, np.zeros(len(ahead), dtype=int)))
    return cells


def _check(case: Case, effort: Effort) -> Outcome:
    problem: QuadraticOverHull = case["problem"]
    ring, B = ring_of(problem.exact_atoms), key_query(problem)
    cells, whole = _cells(ring, B), twice_area(ring)
    total = sum((twice_area(cell) for cell in cells), Fraction(0))
    broken = ""
    if total != whole:
        broken = f"areas of cells add up to {text(total / 2)}, the hull has {text(whole / 2)}"
    rng = np.random.default_rng(effort.seed)
    for i, cell in enumerate(cells):
        for a, b in rng.integers(0, max(1, len(cell)), (PAIRS if len(cell) else 0, 2)):
            x = MIDDLE * (cell[a] + cell[b])
            row = scores(x[None], problem.exact_atoms, B)[0]
            if row.max() > scores(x[None], ring[i : i + 1], B)[0, 0] and not broken:
                broken = f"the middle of two points of cell {i} lies outside it"
    held = sum(len(cell) > 0 for cell in cells)
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS, f"{len(cells)} cells", broken,
        {"area of the hull": text(whole / 2), "cells with an area": f"{held} of {len(cells)}"},
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _singular(), Verdict.BROKEN,
        "B(v_i − v_j) = 0 for some vertices: their cells are the same",
    )  # fmt: skip


CLAIM = Claim(
    name="cells_cover",
    section=4,
    title="cells are convex, apart, and cover the hull",
    statement="Each cell is convex, the cells cover the hull, and, for positive definite B, no two "
    "have an interior point in common.",
    formula="⋃ C_i = K,  int(C_i ∩ C_j) = ∅ for i ≠ j",
    source="arXiv 2508.09628v1, section 4 (lemma on cells)",
    standing=Standing.CHECKED,
    hypotheses=("B ≻ 0", "d = 2, so that areas are exact"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="the sum of the areas of all cells against that of the hull; middles of points",
    horizon="23 polygons; long: 203",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
)
