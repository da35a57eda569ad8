"""Strict ownership shows at the neighbours: an angle of less than 90° at every edge is enough.

Proof: v owns its cell strictly iff v is the only maximiser of y ↦ ⟨Bv, y⟩ over the hull, and a
vertex is the only maximiser of a linear form iff the form falls along every edge from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.ownership import owners, positive, scores
from fwbench.geometry.planar import corners
from fwbench.problem import QuadraticOverHull
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.walks import cloud_of, instance, integer_cloud, key_query

DRAWS = (40, 400)


def _case(name: str, problem: QuadraticOverHull, neighbours: int = 2) -> Case:
    return Case(name, {"problem": problem, "neighbours": neighbours})


def _cases(effort: Effort) -> Iterator[Case]:
    for cloud in ("own-cells", "chained", "relayed"):
        name = f"token_cloud[name={cloud}]"
        yield _case(name, instance(name))
    # the origin is a vertex: both sides fail there
    corner = cloud_of(np.array([[0, 0], [2, 0], [0, 3]]), np.array([1, 1]))
    yield _case("tokens (0, 0) (2, 0) (0, 3), B = 1", corner)
    # ⟨v, w − v⟩ = 0 for the first two: owned, not strictly
    right = cloud_of(np.array([[1, 0], [1, 1], [-1, 0]]), np.array([1, 1]))
    yield _case("tokens (1, 0) (1, 1) (-1, 0), B = 1", right)
    for seed in range(effort.seed, effort.seed + effort.of(*DRAWS)):
        yield _case(*integer_cloud(8, 2, seed))
    flat = cloud_of(np.array([[0, 0], [1, 1], [2, 2]]), np.array([1, 1]))
    yield _case("tokens on a line", flat)


def _refuses(case: Case) -> str | None:
    problem: QuadraticOverHull = case["problem"]
    if problem.d != 2:
        return "not in the plane"
    if not positive(key_query(problem)):
        return "B is not positive definite"
    return "no polygon" if len(corners(problem.exact_atoms)) < 3 else None


def _rises(ring: NDArray[Any], B: NDArray[Any], i: int, neighbours: int) -> list[Any]:
    """Return ⟨Bv_i, w − v_i⟩ for the neighbours w of corner i, the first so many."""
    row = scores(ring[i : i + 1], ring, B)[0]
    beside = [(i + 1) % len(ring), i - 1][:neighbours]
    return [row[w] - row[i] for w in beside]


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare strict ownership, by all vertices, with the signs along the two edges."""
    problem: QuadraticOverHull = case["problem"]
    B = key_query(problem)
    ring = problem.exact_atoms[corners(problem.exact_atoms)]
    own, broken = owners(ring, B), ""
    for i, corner in enumerate(ring):
        rises = _rises(ring, B, i, case["neighbours"])
        if own[i] != all(rise < 0 for rise in rises) and not broken:
            state = "owns" if own[i] else "does not own"
            broken = (
                f"({', '.join(map(text, corner))}) {state} its cell strictly, and its edges rise "
                f"by {', '.join(map(text, rises))}"
            )
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS, f"{len(ring)} corners", broken,
        {"corners that own their cells": f"{int(own.sum())} of {len(ring)}"},
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    chained = "token_cloud[name=chained]"
    yield Control(
        _case(f"{chained}, one edge", instance(chained), neighbours=1), Verdict.BROKEN,
        "one of the two edges is not enough",
    )  # fmt: skip


CLAIM = Claim(
    name="edge_condition",
    section=4,
    title="strict ownership is decided along the edges",
    statement="For B ≻ 0 a vertex owns its cell strictly if and only if ⟨Bv, w − v⟩ < 0 for every "
    "vertex w that an edge joins to it; for B = 1, if the angle at v between w and the origin is "
    "less than 90°.",
    formula="⟨Bv_i, v_j⟩ < ⟨Bv_i, v_i⟩ for all j ≠ i  ⟺  ⟨Bv_i, w − v_i⟩ < 0 for adjacent w",
    source="this project; corrects arXiv 2508.09628v1, section 4 (remark on the condition)",
    standing=Standing.CHECKED,
    remark="That v ≠ 0 need not be asked: at v = 0 both sides fail.",
    hypotheses=("B ≻ 0", "d = 2, where corners and edges are found exactly"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="for every corner: all scores, and those of the two neighbours",
    horizon="45 polygons; long: 405",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
)
