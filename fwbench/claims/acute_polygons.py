r"""Regular polygons have acute cones at their vertices, as section 5 asks. False beyond three.

An angle of a convex polygon at a vertex is that between its neighbours, and all angles of k
vertices sum to (k − 2) · 180°, so that one is at least 90° for k ≥ 4: in the plane only acute
triangles are left. Regular simplices meet the hypotheses in every dimension.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

import numpy as np

from fwbench.geometry.dominance import narrowest, own_gap, regular_polygon
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text

# regular, around the origin and with integer coordinates, the plane lying in space where it must
EXACT = {
    "triangle": [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]],
    "square": [[1, 1], [-1, 1], [-1, -1], [1, -1]],
    "hexagon": [list(p) for p in permutations((-1, 0, 1))],
}
SIMPLICES = {
    "tetrahedron": [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]],
    "simplex of 5": [[4 if i == j else -1 for j in range(5)] for i in range(5)],
}
NO_ANGLE = 1e-12  # of a squared radius: what rounding makes of 0; exactly, 0


def _case(name: str) -> Case:
    corners = EXACT.get(name) or SIMPLICES.get(name)
    if corners is not None:
        return Case(name, {"vertices": np.array(corners, dtype=int) * Fraction(1)})
    return Case(name, {"vertices": regular_polygon(int(name.removeprefix("regular ")))})


def _cases(effort: Effort) -> Iterator[Case]:
    yield from map(_case, EXACT)
    for k in (5, *range(7, effort.of(13, 60))):
        yield _case(f"regular {k}")


def _refuses(case: Case) -> str | None:
    vertices = case["vertices"]
    norms = (vertices * vertices).sum(axis=1)
    return None if np.ptp(norms) <= NO_ANGLE * norms.max() else "the norms differ"


def _check(case: Case, effort: Effort) -> Outcome:
    """Look at the widest angle that two vertices span at a third, and at c_0."""
    vertices = case["vertices"]
    squared = (vertices * vertices).sum(axis=1).max()
    tolerance = 0 if vertices.dtype == object else NO_ANGLE * squared
    product = narrowest(vertices)
    acute = product > tolerance
    angle = "exactly 90°" if product == 0 else "more than 90°"
    return Outcome(
        Verdict.HOLDS if acute else Verdict.BROKEN,
        "all vertices",
        "" if acute else f"two neighbours span {angle}: ⟨w − v, u − v⟩ = {text(product)}",
        {"least ⟨w − v, u − v⟩": text(product), "c_0": text(own_gap(vertices))},
    )


def _controls(effort: Effort) -> Iterator[Control]:
    for name in ("triangle", *SIMPLICES):
        yield Control(_case(name), Verdict.HOLDS, "all angles of a regular simplex are 60°")


CLAIM = Claim(
    name="acute_polygons",
    section=5,
    title="regular polygons have acute cones",
    statement="Regular polygons meet the hypotheses of Theorems 5.2 and 5.4: the angle at a vertex "
    "between any two points of the polygon is below 90°.",
    formula="⟨x − v_i, y − v_i⟩ > 0 for all x, y ≠ v_i in the polygon",
    source="arXiv 2508.09628v1, hypotheses of Theorems 5.2 and 5.4 (as others have tested them)",
    standing=Standing.FALSE,
    remark="Nothing in the paper says that they do. Reproductions of the metastability with "
    "squares, pentagons and hexagons lie outside its theorems; take regular simplices.",
    hypotheses=("vertices of equal norm around the origin",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="least inner product of two edge directions at a vertex",
    horizon="all vertices of 3 to 12 (long: 59) corners",
    arithmetic="exact for 3, 4 and 6 corners; else float64, tolerance 1e-12",
    expects=Verdict.BROKEN,
    expects_witness="square: two neighbours span exactly 90°: ⟨w − v, u − v⟩ = 0",
)
