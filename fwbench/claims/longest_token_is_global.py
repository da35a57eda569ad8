"""The token that is longest for B owns its cell, and it is the global maximiser over the hull.

Proof: ⟨Bv, y⟩ ≤ ‖v‖_B ‖y‖_B ≤ ‖v‖²_B (Cauchy and Schwarz) for the longest v, with equality only
for y of the same length in the same direction. And ½⟨Bx, x⟩ is convex, so greatest at a token.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.geometry.ascent import squares
from fwbench.geometry.ownership import positive, scores
from fwbench.problem import QuadraticOverHull
from fwbench.theory.claim import (
    Case,
    Claim,
    Control,
    Effort,
    Outcome,
    Standing,
    Verdict,
    counted,
    text,
)
from fwbench.theory.walks import cloud_of, instance, integer_cloud, key_query, walk

SOLVER = "hardmax_attention[keys=moving,ties=points,step=constant(1/3),arithmetic=exact]"
DRAWS = (12, 100)
STEPS = (10, 40)


def _cases(effort: Effort) -> Iterator[Case]:
    for cloud in ("own-cells", "chained", "relayed"):
        name = f"token_cloud[name={cloud}]"
        yield Case(name, {"problem": instance(name)})
    for k in range(effort.of(*DRAWS)):
        name, problem = integer_cloud(8, 2 + k % 3, effort.seed + k)
        yield Case(name, {"problem": problem})
    yield _indefinite()


def _indefinite() -> Case:
    problem = cloud_of(np.array([[2, 1], [3, -3], [-1, 0]]), np.array([1, -1]))
    return Case("tokens (2, 1) (3, -3) (-1, 0), B = diag(1, -1)", {"problem": problem})


def _refuses(case: Case) -> str | None:
    return None if positive(key_query(case["problem"])) else "B is not positive definite"


def _check(case: Case, effort: Effort) -> Outcome:
    """Look at ownership, at the exact solver for concave problems, and at the path."""
    problem: QuadraticOverHull = case["problem"]
    x, B = problem.exact_atoms, key_query(problem)
    sizes = squares(x, B)
    longest = int(sizes.argmax())
    row, broken = scores(x[longest : longest + 1], x, B)[0], ""
    if (row > sizes[longest]).any():
        j = int(row.argmax())
        broken = f"token {longest} looks at {j}: {text(row[j])} > {text(sizes[longest])}"
    if not broken:
        *_, (_, found) = walk(problem.starting_at([0]), "vertex_enumeration", 1)
        best = sizes[(problem.atoms == found[0]).all(axis=1)][0]
        if best != sizes[longest]:
            broken = f"vertex_enumeration finds {text(best / 2)}, not {text(sizes[longest] / 2)}"
    steps = effort.of(*STEPS)
    for t, points in walk(problem, SOLVER, steps):
        if (over := squares(points, B) > sizes[longest]).any() and not broken:
            broken = f"t = {t}: token {int(over.argmax())} is longer"
        if (points[longest] != x[longest]).any() and not broken:
            broken = f"t = {t}: token {longest} has moved"
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS, counted(steps, "step"), broken,
        {"token": text(longest), "maximum": text(sizes[longest] / 2)},
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(_indefinite(), Verdict.BROKEN, "B is indefinite: no Cauchy and Schwarz")


CLAIM = Claim(
    name="longest_token_is_global",
    section=4,
    title="the longest token is the maximum over the hull, and stays",
    statement="If B is positive definite, the token with the largest ⟨Bx, x⟩ owns its cell, never "
    "moves, and is the maximiser of ½⟨Bx, x⟩ over the hull.",
    formula="max_{y∈K} ½⟨By, y⟩ = max_j ½⟨Bx_j, x_j⟩ =: ½⟨Bv, v⟩,  ⟨Bv, y⟩ ≤ ⟨Bv, v⟩ on K",
    source="this project; proof: Cauchy and Schwarz, and convexity",
    standing=Standing.PROVED,
    remark="So the exact optimum costs one pass over the tokens, O(nd²), and needs no solver. "
    "Other vertices may own cells as well: limits of attention are local maxima as a rule.",
    hypotheses=("B ≻ 0",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="scores at the longest token; what vertex_enumeration finds; tokens along a path",
    horizon="10 steps; long: 40",
    arithmetic="exact (fractions); vertex_enumeration in floats, what it finds compared exactly",
    expects=Verdict.HOLDS,
)
