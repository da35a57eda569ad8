"""In the plane tokens may end far from the origin, however small the steps are.

The first hull without the origin is within γ d of it; but the hull goes on receding, and for three
tokens it ends near 0.26 from the origin in the limit of small steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fwbench.geometry.exact_hulls import holds
from fwbench.theory.bounds import receding
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
from fwbench.theory.walks import after, exact_form, hardmax, instance, walk

GAMMAS = ("0.1", "0.03", "0.01", "0.003")
SMALLER = ("0.001", "0.0003")
LONG_RUN = 20  # over γ: by then the cloud has gathered to 1e-8 of its first size


def _case(name: str, gamma: str, steps: int = 60) -> Case:
    given = {"problem": instance(f"token_cloud[name={name}]"), "gamma": gamma, "steps": steps}
    return Case(f"token_cloud[name={name}], step=constant({gamma})", given)


def _cases(effort: Effort) -> Iterator[Case]:
    for gamma in GAMMAS + (SMALLER if effort.long else ()):
        yield _case("receding", gamma)
    yield _case("three-one", "0.03")


def _refuses(case: Case) -> str | None:
    problem = case["problem"]
    if problem.d != 2:
        return "not in the plane"
    if (exact_form(problem) != np.ones(problem.d, dtype=int)).any():
        return "B_* is not the identity"
    return None if holds(problem.exact_atoms) else "the origin lies outside the first hull"


def _check(case: Case, effort: Effort) -> Outcome:
    """Break the bound exactly; the end of the run, for the numbers, in floating point."""
    problem, step = case["problem"], f"constant({case['gamma']})"
    outcome = Outcome(Verdict.HOLDS, counted(case["steps"], "step"))
    for t, distance, allowed in receding(walk(problem, hardmax(step), case["steps"]), step):
        if distance > allowed:
            far, near = text(float(distance) ** 0.5), text(float(allowed) ** 0.5)
            witness = f"t = {t}: the hull is {far} > {near} away from the origin"
            outcome = Outcome(Verdict.BROKEN, counted(t, "step"), witness, {"t": text(t)})
            break
    # no two tokens tie, and the rule of the lowest index is the fast one
    far_on = int(LONG_RUN / Fraction(case["gamma"]))
    last = after(problem, hardmax(step, ties="lowest", arithmetic="float"), far_on)
    z = np.linalg.norm(last.mean(axis=0))
    return replace(outcome, numbers={**outcome.numbers, "cluster at": text(z)})


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("three-one", "0.03"), Verdict.HOLDS, "on the line the cluster is near the origin"
    )
    yield Control(_case("symmetric", "0.1", 30), Verdict.HOLDS, "a mirrored cloud keeps the origin")


CLAIM = Claim(
    name="small_steps_in_the_plane",
    section=3,
    title="small steps end near the origin, in the plane",
    statement="In the plane, with B = −I and constant steps γ, the origin in the first hull, "
    "tokens end at most γ d(K^s) away from the origin, s the last index whose hull has it.",
    formula="|z| ≤ γ d(K^s);  z → 0 as γ → 0",
    source="this project: what is true on the line (claim small_steps_on_the_line), for d ≥ 2",
    standing=Standing.FALSE,
    remark="So small steps do not save Theorem 3.1, nor its limit of small steps. From Gaussian "
    "starts well around the origin |z| did fall about like γ.",
    hypotheses=("d = 2, B_* = I", "the origin lies in the first hull", "ties=points"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="distance of the hull to the origin, which never falls, against γ d(K^s)",
    horizon="until it breaks, at most 60 steps; 20/γ steps for where the cluster ends",
    arithmetic="exact (fractions); floating point for where the cluster ends",
    expects=Verdict.BROKEN,
    expects_witness="token_cloud[name=receding], step=constant(0.03): t = 4: the hull is "
    "0.217682 > 0.20138 away from the origin",
)  # fmt: skip
