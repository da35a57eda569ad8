"""The remark on edges as printed, as far as it can be checked: false where scores tie.

It asks for strict inequalities along the edges and promises membership in the cell, which is not
strict. A vertex whose score ties with a neighbour's is in its cell without them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.geometry.ownership import positive, scores
from fwbench.geometry.planar import corners
from fwbench.problem import QuadraticOverHull
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.walks import cloud_of, instance, integer_cloud, key_query

DRAWS = (40, 400)


def _cases(effort: Effort) -> Iterator[Case]:
    name = "token_cloud[name=own-cells]"
    yield Case(name, {"problem": instance(name)})
    right = cloud_of(np.array([[1, 0], [1, 1], [-1, 0]]), np.array([1, 1]))
    yield Case("tokens (1, 0) (1, 1) (-1, 0), B = 1", {"problem": right})
    corner = cloud_of(np.array([[0, 0], [2, 0], [0, 3]]), np.array([1, 1]))
    yield Case("tokens (0, 0) (2, 0) (0, 3), B = 1", {"problem": corner})
    for seed in range(effort.seed, effort.seed + effort.of(*DRAWS)):
        name, problem = integer_cloud(8, 2, seed)
        yield Case(name, {"problem": problem})


def _refuses(case: Case) -> str | None:
    problem: QuadraticOverHull = case["problem"]
    if problem.d != 2:
        return "not in the plane"
    if not positive(key_query(problem)):
        return "B is not positive definite"
    ring = problem.exact_atoms[corners(problem.exact_atoms)]
    if len(ring) < 3:
        return "no polygon"
    return "a vertex is the origin" if (ring == 0).all(axis=1).any() else None


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare v ∈ C(v), ties allowed, with strict inequalities along the two edges."""
    problem: QuadraticOverHull = case["problem"]
    ring = problem.exact_atoms[corners(problem.exact_atoms)]
    table, broken, ties = scores(ring, ring, key_query(problem)), "", 0
    for i, corner in enumerate(ring):
        member = table[i, i] == table[i].max()
        rises = [table[i, (i + 1) % len(ring)] - table[i, i], table[i, i - 1] - table[i, i]]
        ties += any(rise == 0 for rise in rises)
        if member != all(rise < 0 for rise in rises) and not broken:
            told = "is" if member else "is not"
            broken = (
                f"({', '.join(map(text, corner))}) {told} in its cell, and its edges rise by "
                f"{', '.join(map(text, rises))}"
            )
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS, f"{len(ring)} corners", broken,
        {"corners that tie with a neighbour": f"{ties} of {len(ring)}"},
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    name = "token_cloud[name=own-cells]"
    yield Control(
        Case(name, {"problem": instance(name)}), Verdict.HOLDS,
        "without ties, strict and not strict are the same",
    )  # fmt: skip


CLAIM = Claim(
    name="edge_condition_as_printed",
    section=4,
    title="membership in the cell, decided by strict inequalities along the edges",
    statement="For B ≻ 0 a vertex v ≠ 0 lies in its cell if and only if ⟨Bv, w − v⟩ < 0 for every "
    "vertex w that an edge joins to it.",
    formula="v_i ∈ C_i  ⟺  ⟨Bv_i, w − v_i⟩ < 0 for adjacent w",
    source="arXiv 2508.09628v1, section 4 (remark on the condition)",
    standing=Standing.FALSE,
    remark="Found by a public Lean 4 formalisation. The printed alternative with all signs the "
    "other way cannot go with membership and is left out here. A slip of wording: see "
    "edge_condition for what holds.",
    hypotheses=("B ≻ 0", "v ≠ 0", "d = 2, where corners and edges are found exactly"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="for every corner: its largest score, and the scores of its two neighbours",
    horizon="42 polygons; long: 402",
    arithmetic="exact (fractions)",
    expects=Verdict.BROKEN,
    expects_witness="tokens (1, 0) (1, 1) (-1, 0), B = 1: (1, 0) is in its cell, and its edges "
    "rise by 0, -2",
)
