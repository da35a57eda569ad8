"""Where vertices are equally long for B, the cells of attention are the Voronoi cells of B.

Proof: ‖x − v‖²_B = ‖x‖²_B − 2⟨Bx, v⟩ + ‖v‖²_B, and the first and the last term are the same for all
vertices. Distances to vertices count; against all points of the hull it would be false.
"""

from __future__ import annotations

from collections.abc import Iterator

from fwbench.geometry.ascent import squares
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict
from fwbench.theory.polytopes import Polytope, compared, drawn, drawn_exactly

EQUAL = 1e-12  # of a norm: rounding of doubles
POLYTOPES = (20, 40)  # of each dimension
POINTS = (70, 700)


def _case(polytopes: list[Polytope], name: str) -> Case:
    return Case(name, {"polytopes": polytopes})


def _cases(effort: Effort) -> Iterator[Case]:
    seeds, points = range(effort.seed, effort.seed + effort.of(*POLYTOPES)), effort.of(*POINTS)
    rational = [drawn_exactly(seed, points // 4, equal=True) for seed in seeds]
    yield _case(rational, "rational polygons")
    for d in (2, 3, 4, 5):
        polytopes = [drawn(d, seed, points, equal=True) for seed in seeds]
        yield _case(polytopes, f"{len(polytopes)} polytopes in {d} dimensions")
    yield _unequal()


def _unequal() -> Case:
    return _case([drawn(2, 0, 70, equal=False)], "a polygon of unequal norms")


def _refuses(case: Case) -> str | None:
    for name, vertices, B, _ in case["polytopes"]:
        if (B != B.T).any():
            return f"{name}: B is not symmetric"
        sizes = squares(vertices, B)
        allowed = 0 if vertices.dtype == object else EQUAL * sizes.max()
        if sizes.max() - sizes.min() > allowed:
            return f"{name}: vertices are not equally long for B"
    return None


def _check(case: Case, effort: Effort) -> Outcome:
    return compared(case["polytopes"], power=False)


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(_unequal(), Verdict.BROKEN, "norms are not equal: a power diagram")


CLAIM = Claim(
    name="voronoi_cells",
    section=4,
    title="equal norms: cells are Voronoi cells",
    statement="If B is symmetric and all vertices have the same ⟨Bv, v⟩, the cell of a vertex is "
    "its Voronoi cell for the distance of B, cut by the hull.",
    formula="C_i = {x ∈ K : ‖x − v_i‖_B ≤ ‖x − v_j‖_B for all vertices v_j}",
    source="arXiv 2508.09628v1, Proposition 4.5",
    standing=Standing.CHECKED,
    hypotheses=("B = B'", "all ⟨Bv_i, v_i⟩ are equal"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="the vertex that one step of length 1 leads to, and the nearest one",
    horizon="5600 points of 80 polytopes, 340 of rational polygons",
    arithmetic="floats, points with two best scores within 1e-12 left out; exact on polygons",
    expects=Verdict.HOLDS,
    telling="points that differ",
)
