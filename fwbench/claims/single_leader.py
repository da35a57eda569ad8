"""From almost every start each token has one leader at each time, coinciding tokens counted once.

The printed proof is wrong: it says that a piecewise affine step sends no set of positive measure to
one of measure 0, but tokens a > 0 > b on the line both land on (a + b)/2 (see the claim
single_leader_by_index). The statement needs leaders to be a set of points.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from fwbench.problem import QuadraticOverHull
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, counted
from fwbench.theory.walks import exact_form, hardmax, instance, leaders, walk

SPREAD = 10**6  # entries of tokens: ties of a generic start are as rare as they can be
STEPS = ("constant(0.5)", "harmonic(2,3)", "open_loop(2)", "constant(1/3)")


def _case(problem: QuadraticOverHull, name: str, step: str, steps: int) -> Case:
    return Case(f"{name}, step={step}", {"problem": problem, "step": step, "steps": steps})


def _drawn(n: int, d: int, seed: int, step: str, steps: int) -> Case:
    rng = np.random.default_rng(seed)
    tokens = rng.integers(-SPREAD, SPREAD, (n, d), endpoint=True)
    problem = QuadraticOverHull(tokens, rng.integers(-9, 10, (d, d)), start=range(n))
    where = f"[-10^6, 10^6]^{d}, Q in [-9, 9]^({d}, {d})"
    return _case(problem, f"{n} integer tokens in {where}, seed {seed}", step, steps)


def _cases(effort: Effort) -> Iterator[Case]:
    for seed in range(effort.of(24, 400)):
        yield _drawn(2 + seed % 6, 1 + seed % 3, seed, STEPS[seed % 4], effort.of(12, 30))
    yield _named("three-one-origin", 3)  # its first token ties at once


def _named(name: str, steps: int) -> Case:
    return _case(instance(f"token_cloud[name={name}]"), f"token_cloud[name={name}]",
                 "open_loop(2)", steps)  # fmt: skip


def _refuses(case: Case) -> str | None:
    Q, x = exact_form(case["problem"]), case["problem"].exact_atoms
    if not _determinant((np.diag(Q) if Q.ndim == 1 else Q).tolist()):
        return "B is singular"
    if len(set(map(tuple, x))) < len(x) or max(leaders(x, Q, distinct=True)) > 1:
        return "the start is not generic: tokens coincide or tie"
    return None


def _determinant(rows: list[list[Any]]) -> Fraction:
    """Return the determinant of a small matrix, along its first row."""
    if not rows:
        return Fraction(1)
    minors = [[row[:j] + row[j + 1 :] for row in rows[1:]] for j in range(len(rows))]
    signed = [(-1) ** j * entry for j, entry in enumerate(rows[0])]
    return sum((a * _determinant(m) for a, m in zip(signed, minors, strict=True)), Fraction(0))


def _check(case: Case, effort: Effort) -> Outcome:
    problem = case["problem"]
    Q = exact_form(problem)
    for t, x in walk(problem, hardmax(case["step"]), case["steps"]):
        counts = leaders(x, Q, distinct=True)
        if max(counts) > 1:
            token = counts.index(max(counts))
            witness = f"t = {t}: token {token} has {counts[token]} leaders"
            return Outcome(Verdict.BROKEN, counted(t, "step"), witness)
    return Outcome(Verdict.HOLDS, counted(case["steps"], "step"))


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _named("two-one", 5), Verdict.BROKEN, "no generic start: a token reaches the origin exactly"
    )


CLAIM = Claim(
    name="single_leader",
    section=2,
    title="each token has one leader",
    statement="If B is invertible, then from almost every start each token has exactly one leader "
    "at each time; tokens that coincide are one point.",
    formula="#C_i^t = 1 for all i, t;  C_i^t = argmax over {x_j^t} of ⟨B x_i^t, y⟩, a set of "
    "points",
    source="arXiv 2508.09628v1, section 2, the lemma on single leaders",
    standing=Standing.STATED,
    remark="The printed proof does not prove it; a repair is partly formalised in Lean. What is "
    "tried are starts drawn from a wide lattice, exactly.",
    hypotheses=("B invertible, by its determinant",
                "a generic start: a draw whose tokens neither coincide nor tie"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="number of distinct leaders of each token at each t",
    horizon="12 steps; long: 30",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
)  # fmt: skip
