"""No token ever loses energy: ½⟨Bx, x⟩ does not decrease where B ⪰ 0, whatever the vertices do.

Proof: with the step γ towards y, ⟨Bx⁺, x⁺⟩ − ⟨Bx, x⟩ = 2γ⟨Bx, y − x⟩ + γ²⟨B(y − x), y − x⟩; the
first term is not negative because y leads, the second because B ⪰ 0. A mean of leaders leads too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.geometry.ascent import squares
from fwbench.geometry.ownership import semidefinite
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

SOLVER = "hardmax_attention[keys={keys},ties={ties},step={step},arithmetic=exact]"
WAYS = (
    ("moving", "points", "constant(1/3)"), ("moving", "indices", "harmonic(2,3)"),
    ("moving", "lowest", "rising(2,3)"), ("fixed", "points", "constant(1/2)"),
)  # fmt: skip
HORIZON = (15, 60)


def _case(name: str, problem: QuadraticOverHull, way: tuple[str, str, str]) -> Case:
    keys, ties, step = way
    given = {"problem": problem, "keys": keys, "ties": ties, "step": step}
    return Case(f"{name}, step {step}, keys {keys}, ties {ties}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    for cloud in ("own-cells", "chained", "relayed"):
        name = f"token_cloud[name={cloud}]"
        yield _case(name, instance(name), WAYS[0])
    for k in range(effort.of(8, 80)):
        name, problem = integer_cloud(6, 2 + k % 2, effort.seed + k, rank=None if k % 4 else 1)
        yield _case(name, problem, WAYS[k % len(WAYS)])
    yield _negative()


def _negative() -> Case:
    problem = cloud_of(np.array([[3], [-1]]), np.array([-1]))
    return _case("tokens 3 and -1, B = -1", problem, ("moving", "points", "constant(9/10)"))


def _refuses(case: Case) -> str | None:
    return None if semidefinite(key_query(case["problem"])) else "B is not positive semidefinite"


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare ⟨Bx, x⟩ before and after each step."""
    problem, steps = case["problem"], effort.of(*HORIZON)
    B, before, broken = key_query(problem), None, ""
    solver = SOLVER.format(**{key: case[key] for key in ("keys", "ties", "step")})
    for t, x in walk(problem, solver, steps):
        after = squares(x, B)
        if before is not None and (lost := after < before).any() and not broken:
            i = int(lost.argmax())
            broken = f"t = {t}: token {i}: {text(after[i] / 2)} < {text(before[i] / 2)}"
        before = after
    return Outcome(Verdict.BROKEN if broken else Verdict.HOLDS, counted(steps, "step"), broken)


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(_negative(), Verdict.BROKEN, "B is negative: a long step loses energy")


CLAIM = Claim(
    name="energy_increases",
    section=4,
    title="no token loses energy",
    statement="If B is positive semidefinite and constant, the energy of every token is "
    "nondecreasing, whether or not vertices own their cells.",
    formula="½⟨Bx_i^{t+1}, x_i^{t+1}⟩ ≥ ½⟨Bx_i^t, x_i^t⟩",
    source="arXiv 2508.09628v1, section 4 (key step of the duality-gap proposition)",
    standing=Standing.PROVED,
    remark="So no cycle is possible but one of constant energy. Where B ≻ 0 the longest token "
    "never moves; for B = diag(1, 0) the tokens (1, 0) and (1, 1) are both longest, and move.",
    hypotheses=("B ⪰ 0", "γ_t in [0, 1]"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="½⟨Bx, x⟩ of every token at every step",
    horizon="15 steps; long: 60",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
)
