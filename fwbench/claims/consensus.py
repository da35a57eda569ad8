"""All tokens come together in one point, which is the origin only if no hull ever lost it.

Proof, steps 2/(t + 2): limit points of a token lie in K^∞ = ⋂ K^t and minimise J there (see the
claim bound_on_last_hull); the minimiser is unique. Steps in [a, b] ⊂ (0, 1): in a limit of
configurations, with hull K^∞, and of their predecessors, a token at an extreme point e of K^∞ is (1
− γ) x + γ y with x, y ∈ K^∞, so x = y = e: e is its own leader, hence the minimiser of J over K^∞,
and there is only one extreme point. And 0 ∈ K^t for all t means 0 ∈ K^∞ = {z}.

What is seen of it: hulls are nested, so tokens that are together stay within the small hull that
they have; and one without the origin keeps the limit away from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.exact_hulls import holds
from fwbench.problem import QuadraticOverHull
from fwbench.steps import Constant, OpenLoop, step_rule
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
from fwbench.theory.walks import OPEN_LOOP, exact_form, hardmax, instance, squared_diameter, walk

NEAR = 1e-5  # of the first diameter: so close counts as together
SLANTED = [[2, 1], [1, 3]]


def _case(
    cloud: str,
    steps: int,
    step: str = OPEN_LOOP,
    *,
    Q: Any = 1,
    arithmetic: str = "float",
    itself: bool = False,
) -> Case:
    drawn = instance(f"token_cloud[{cloud}]")
    problem = QuadraticOverHull(drawn.exact_atoms.astype(str).tolist(), Q, start=drawn.start)
    given = {"problem": problem, "steps": steps, "step": step, "arithmetic": arithmetic}
    name = f"token_cloud[{cloud}], B_* = {Q}, step={step}, {arithmetic}"
    return Case(name + ", each its own leader" * itself, given | {"itself": itself})


def _cases(effort: Effort) -> Iterator[Case]:
    steps = effort.of(2000, 10_000)
    for name in ("three-one", "triangle-20", "receding"):
        yield _case(f"name={name}", steps)
    yield _case("name=symmetric", 100, arithmetic="exact")
    yield _case("name=two-one", 60, "constant(0.5)", arithmetic="exact")
    for seed in range(effort.of(2, 20)):
        yield _case(f"n=8,d=2,integers=99,seed={seed}", 300, "constant(0.2)", Q=SLANTED)
        yield _case(f"n=12,d=4,integers=99,seed={seed}", 300, "constant(0.7)")
    yield _case("name=three-one", 60, "constant(1)", arithmetic="exact")
    yield _case("name=symmetric", 60, Q=[1, 0], arithmetic="exact")


def _refuses(case: Case) -> str | None:
    rule = step_rule(case["step"])
    if not _definite(exact_form(case["problem"])):
        return "B_* is not positive definite"
    inside = isinstance(rule, Constant) and rule.gamma < 1
    if not (inside or rule == OpenLoop()):
        return "steps are neither 2/(t + 2) nor one number below 1"
    return None


def _definite(Q: NDArray[Any]) -> bool:
    """Return whether all pivots are positive, exactly."""
    rows = (np.diag(Q) if Q.ndim == 1 else Q).astype(object)
    if (rows != rows.T).any():
        return False
    for k in range(len(rows)):
        if rows[k, k] <= 0:
            return False
        rows = rows - np.outer(rows[:, k], rows[k]) / Fraction(rows[k, k])
        rows[k, k] = Fraction(1)  # done with: the outer product has emptied row and column
    return True


def _check(case: Case, effort: Effort) -> Outcome:
    """Follow diameter and origin; what comes back to where it was never comes together."""
    problem, exact = case["problem"], case["arithmetic"] == "exact"
    if case["itself"]:
        return _at_rest(problem)
    solver = hardmax(case["step"], arithmetic=case["arithmetic"])
    repeats = exact and step_rule(case["step"]).autonomous
    first, lost, wrong, unsure = squared_diameter(problem.exact_atoms), None, "", False
    seen: dict[str, int] = {}
    for t, x in walk(problem, solver, case["steps"]):
        if t & (t - 1) == 0 or exact:  # powers of two: membership of many doubles is slow
            inside = holds(x)
            lost = t if lost is None and not inside else lost
            if lost is not None and inside and exact:
                wrong = wrong or f"t = {t}: the origin is back"
            unsure |= lost is not None and inside  # in doubles it may be rounding
        spread = squared_diameter(x) if exact or t == case["steps"] else first
        if repeats and spread:
            period = t - seen.setdefault(str(x.tolist()), t)
            if period:
                kind = f"a cycle with period {period}" if period > 1 else "at rest"
                wrong = f"t = {t}: {kind}, tokens apart by {text(float(spread) ** 0.5)}"
                break
    together = float(spread) <= NEAR**2 * float(first)
    numbers = {
        "diameter at the end": text(float(spread) ** 0.5),
        "z": ", ".join(f"{float(z):.8f}" for z in x.mean(axis=0)),
        "the origin": "never lost" if lost is None else f"lost by t = {lost}",
    }
    seen_so = together and not unsure
    verdict = Verdict.BROKEN if wrong else Verdict.HOLDS if seen_so else Verdict.INCONCLUSIVE
    return Outcome(verdict, counted(t, "step"), wrong, numbers)


def _at_rest(problem: QuadraticOverHull) -> Outcome:
    """Say whether tokens that lie apart are each among their own leaders: then they may stay."""
    x, Q = problem.exact_atoms, exact_form(problem)
    scores = (x * Q if Q.ndim == 1 else x @ Q) @ x.T
    if squared_diameter(x) and (np.diag(scores) == scores.min(axis=1)).all():
        return Outcome(Verdict.BROKEN, "0 steps", "at rest, apart, each token its own leader")
    return Outcome(Verdict.HOLDS, "0 steps")


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("name=three-one", 60, "constant(1)", arithmetic="exact"), Verdict.BROKEN,
        "γ = 1: two tokens swap for ever",
    )  # fmt: skip
    yield Control(
        _case("n=2,d=2,integers=9", 0, Q=[0, 0], itself=True), Verdict.BROKEN,
        "B_* singular: all scores tie, and each token may select itself",
    )  # fmt: skip


CLAIM = Claim(
    name="consensus",
    section=3,
    title="tokens come together in one point",
    statement="With constant B_* ≻ 0 and steps 2/(t + 2), or steps in [a, b] ⊂ (0, 1), all tokens "
    "converge to one point, the only one of the last hull; it is the origin if and only if no hull "
    "K^t lacks the origin.",
    formula="x_i^t → z for all i,  K^∞ = {z};  z = 0 ⇔ 0 ∈ K^t for all t",
    source="this project; proof: in the file of the claim",
    standing=Standing.AMENDED,
    remark="What is true of 'cluster at the origin': the cluster. Every consensus is a fixed "
    "configuration, so the limit depends on the start and on the steps.",
    hypotheses=("B_* ≻ 0 constant, by exact pivots", "steps 2/(t + 2), or one number below 1",
                "keys are the current tokens, ties=points"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="diameter of the last hull, at most 1e-5 of the first; a hull without the origin "
    "stays without it (else open in floating point); an exact state that returns is a cycle",
    horizon="60 to 2000 steps; long: 10 000",
    arithmetic="floating point where the limit is away from the origin; exact where it is the "
    "origin, and for cycles; membership always exact",
    expects=Verdict.HOLDS,
)  # fmt: skip
