"""For any norms, the cells of attention are a power diagram: Voronoi cells with weights ‖v‖²_B.

Proof: ‖x − v‖²_B − ‖v‖²_B = ‖x‖²_B − 2⟨Bx, v⟩, and the first term is the same for all vertices.
"""

from __future__ import annotations

from collections.abc import Iterator

from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict
from fwbench.theory.polytopes import Polytope, compared, drawn, drawn_exactly

POLYTOPES = (20, 40)  # of each dimension
POINTS = (70, 700)


def _cases(effort: Effort) -> Iterator[Case]:
    seeds, points = range(effort.seed, effort.seed + effort.of(*POLYTOPES)), effort.of(*POINTS)
    for equal in (False, True):
        rational = [drawn_exactly(seed, points // 4, equal=equal) for seed in seeds]
        kind = "equal" if equal else "unequal"
        yield Case(f"rational polygons, {kind} norms", _given(rational))
    for d in (2, 3, 4, 5):
        polytopes = [drawn(d, seed, points, equal=False) for seed in seeds]
        yield Case(f"{len(polytopes)} polytopes in {d} dimensions", _given(polytopes))


def _given(polytopes: list[Polytope], *, power: bool = True) -> dict[str, object]:
    return {"polytopes": polytopes, "power": power}


def _refuses(case: Case) -> str | None:
    bad = [name for name, _, B, _ in case["polytopes"] if (B != B.T).any()]
    return f"B is not symmetric: {bad[0]}" if bad else None


def _check(case: Case, effort: Effort) -> Outcome:
    return compared(case["polytopes"], power=case["power"])


def _controls(effort: Effort) -> Iterator[Control]:
    plain = _given([drawn(3, 0, 70, equal=False)], power=False)
    yield Control(Case("the plain distance", plain), Verdict.BROKEN, "without weights norms matter")


CLAIM = Claim(
    name="power_cells",
    section=4,
    title="cells are a power diagram",
    statement="For symmetric B the cell of a vertex is its power cell with weight ‖v‖²_B, cut by "
    "the hull, whatever the norms.",
    formula="C_i = {x ∈ K : ‖x − v_i‖²_B − ‖v_i‖²_B ≤ ‖x − v_j‖²_B − ‖v_j‖²_B for all v_j}",
    source="this project; proof: in the file of the claim",
    standing=Standing.AMENDED,
    remark="It takes the place of Proposition 4.5 where norms differ.",
    hypotheses=("B = B'",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="the vertex that one step of length 1 leads to, and the one of least power",
    horizon="5600 points of 80 polytopes, 680 of rational polygons",
    arithmetic="floats, points with two best scores within 1e-12 left out; exact on polygons",
    expects=Verdict.HOLDS,
    telling="points that differ",
)
