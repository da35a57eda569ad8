"""Cells as Voronoi cells without equal norms: false.

‖x − v‖²_B = ‖x‖²_B − 2⟨Bx, v⟩ + ‖v‖²_B prefers short vertices, attention long ones. What holds for
any norms is in power_cells.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict
from fwbench.theory.polytopes import Polytope, compared, drawn, drawn_exactly

POLYTOPES = (20, 40)  # of each dimension
POINTS = (70, 700)
# halfway and more to the short vertex, the long one still leads
HAND = Polytope(
    "vertices (2, 0) (0, 1) (-1, -1), B = 1",
    np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.ones(2), np.array([[0.5, 0.75]]),
)  # fmt: skip


def _cases(effort: Effort) -> Iterator[Case]:
    seeds, points = range(effort.seed, effort.seed + effort.of(*POLYTOPES)), effort.of(*POINTS)
    yield Case("a triangle", {"polytopes": [HAND]})
    rational = [drawn_exactly(seed, points // 4, equal=False) for seed in seeds]
    yield Case("rational polygons", {"polytopes": rational})
    drawn_ones = [drawn(d, seed, points, equal=False) for d in (2, 3, 4, 5) for seed in seeds]
    yield Case(f"{len(drawn_ones)} polytopes, norms in [1/2, 1]", {"polytopes": drawn_ones})


def _refuses(case: Case) -> str | None:
    bad = [name for name, _, B, _ in case["polytopes"] if B.ndim == 2 and (B != B.T).any()]
    return f"B is not symmetric: {bad[0]}" if bad else None


def _check(case: Case, effort: Effort) -> Outcome:
    return compared(case["polytopes"], power=False)


def _controls(effort: Effort) -> Iterator[Control]:
    equal = [drawn(d, 0, 70, equal=True) for d in (2, 5)]
    yield Control(
        Case("equal norms", {"polytopes": equal}), Verdict.HOLDS, "equal norms: Proposition 4.5"
    )


CLAIM = Claim(
    name="voronoi_cells_any_norms",
    section=4,
    title="cells are Voronoi cells, whatever the norms",
    statement="For symmetric B the cell of a vertex is its Voronoi cell for the distance of B.",
    formula="C_i = {x ∈ K : ‖x − v_i‖_B ≤ ‖x − v_j‖_B for all vertices v_j}",
    source="this project; Proposition 4.5 of arXiv 2508.09628v1 without its assumption",
    standing=Standing.FALSE,
    remark="Nobody states it: it shows that equal norms are needed. A picture of cells that "
    "divides vertices by their norms shows cells of other vertices.",
    hypotheses=("B = B'",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="the vertex that one step of length 1 leads to, and the nearest one",
    horizon="5600 points of 80 polytopes, 340 of rational polygons",
    arithmetic="floats, points with two best scores within 1e-12 left out; exact on polygons",
    expects=Verdict.BROKEN,
    expects_witness="a triangle: vertices (2, 0) (0, 1) (-1, -1), B = 1: at (0.5, 0.75) vertex 0 "
    "leads, 1 is nearest",
)
