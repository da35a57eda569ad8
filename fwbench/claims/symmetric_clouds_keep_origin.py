"""A cloud that is its own mirror image in the origin stays so, and so keeps the origin.

Proof: the scores of −x are those of x with opposite sign, so the leaders of −x are the mirror
images of the leaders of x, and the mean of tied leaders (distinct ones, or all) mirrors as well.
The hull of a mirrored cloud holds the origin, as the midpoint of any x and −x.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.exact_hulls import holds
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
from fwbench.theory.walks import OPEN_LOOP, hardmax, instance, listed, walk

STEPS = (OPEN_LOOP, "harmonic(2,3)", "constant(1/3)")


def _case(tokens: str | list[list[int]], step: str, ties: str, steps: int, Q: Any = 1) -> Case:
    atoms = tokens if isinstance(tokens, list) else instance(f"token_cloud[{tokens}]").exact_atoms
    rows = np.asarray(atoms, dtype=object).astype(str).tolist()
    problem = QuadraticOverHull(rows, Q, start=range(len(rows)))
    named = isinstance(tokens, str)
    name = f"token_cloud[{tokens}]" if named else f"tokens {listed(problem.exact_atoms)}"
    given = {"problem": problem, "step": step, "ties": ties, "steps": steps}
    return Case(f"{name}, B_* = {Q}, step={step}, ties={ties}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    few, many = effort.of(20, 60), effort.of(40, 400)
    for step, ties in product(STEPS, ("points", "indices")):
        yield _case("name=symmetric", step, ties, many if step == OPEN_LOOP else few)
    for seed in range(effort.of(2, 40)):
        for d, Q in ((1, 1), (2, [[2, 1], [1, 3]]), (3, [1, 2, 3])):
            cloud = f"n=6,d={d},integers=9,mirrored=true,seed={seed}"
            yield _case(cloud, OPEN_LOOP, "points", few, Q)
    yield _case([[0], [1], [-1]], "constant(1/3)", "points", few)  # all scores of 0 tie
    yield _case([[0], [1], [-1], [-1]], "constant(1/3)", "points", few)  # as a set
    yield _case([[0], [1], [-1], [-1]], "constant(1/3)", "indices", few)
    yield _case([[1], [-1], [0]], "constant(1/2)", "lowest", few)
    yield _case("name=three-one-origin", "constant(2/3)", "points", few)


def _refuses(case: Case) -> str | None:
    if case["ties"] == "lowest":
        return "the lowest index is no mirror image"
    if _alone(case["problem"].exact_atoms, case["ties"]) is not None:
        return f"the cloud is not its own mirror image for ties={case['ties']}"
    return None


def _alone(x: NDArray[Any], ties: str) -> list[Any] | None:
    """Return a token without a mirror image, or None; how often it occurs counts for indices."""
    counts = Counter(map(tuple, x))
    for row, count in counts.items():
        other = counts[tuple(-entry for entry in row)]
        if not other or (ties == "indices" and other != count):
            return list(row)
    return None


def _check(case: Case, effort: Effort) -> Outcome:
    witness = ""
    for t, x in walk(case["problem"], hardmax(case["step"], ties=case["ties"]), case["steps"]):
        alone = _alone(x, case["ties"])
        if t and not holds(x):
            witness = f"t = {t}: the origin is lost; tokens {_listed(x)}"
        elif t and alone is not None:
            witness = f"t = {t}: ({', '.join(map(text, alone))}) has no mirror image"
        if witness:
            break
    verdict = Verdict.BROKEN if witness else Verdict.HOLDS
    return Outcome(verdict, counted(case["steps"], "step"), witness)


def _listed(x: NDArray[Any]) -> str:
    return "; ".join(" ".join(map(text, row)) for row in x[:6])


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("name=three-one-origin", "constant(2/3)", "points", 5), Verdict.BROKEN,
        "a token at the origin is not enough: its scores tie, and it goes to their mean",
    )  # fmt: skip
    yield Control(
        _case([[0], [1], [-1], [-1]], "constant(1/3)", "indices", 5), Verdict.BROKEN,
        "a mirror image as a set alone, and tied tokens count each",
    )  # fmt: skip
    yield Control(
        _case([[1], [-1], [0]], "constant(1/2)", "lowest", 5), Verdict.BROKEN,
        "the lowest index is no mirror image",
    )  # fmt: skip


CLAIM = Claim(
    name="symmetric_clouds_keep_origin",
    section=3,
    title="a mirrored cloud keeps the origin",
    statement="A cloud that is its own mirror image in the origin (as a set for ties=points, each "
    "token counted for ties=indices) stays one, so every hull K^t holds the origin, for any B and "
    "any steps in [0, 1].",
    formula="{x_i^t} = {−x_i^t} for all t;  0 ∈ K^t for all t",
    source="this project; proof: in the file of the claim",
    standing=Standing.AMENDED,
    remark="Such clouds alone show no violation of Theorem 3.1: ratio 1/16 at t = 0, less later. "
    "They stand on a knife's edge: in floating point rounding may break the symmetry.",
    hypotheses=("the cloud is its own mirror image, exactly", "ties=points or indices"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="each token's mirror image, and the origin in the hull, at each t",
    horizon="20 to 40 steps; long: 60 to 400",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
)  # fmt: skip
