"""Theorem 4.2's rate as printed: convergence "at least exponentially fast" for any steps in (0, 1).

False. What is left of the way is p_t = ∏_{τ<t} (1 − γ_τ). With γ_t = 2^(−t − 1) it has a positive
limit, because ∏_{τ≥t} (1 − γ_τ) ≥ 1 − Σ_{τ≥t} γ_τ = 1 − 2^(−t): tokens stop short of the vertex.
With γ_t = 2/(t + 3) it is 2/((t + 1)(t + 2)), which goes to 0 slower than every r^t, r < 1. A check
needs one rate to be checked against, so it takes a slow one; any other breaks as well, later.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fwbench.geometry.ownership import scores
from fwbench.steps import step_rule
from fwbench.theory.claim import (
    Case,
    Claim,
    Control,
    Curves,
    Effort,
    Line,
    Outcome,
    Standing,
    Verdict,
    counted,
    text,
)
from fwbench.theory.walks import instance, key_query, outside_theorem_4_2, walk

CLOUD = "token_cloud[name=own-cells]"
SOLVER = "hardmax_attention[keys={keys},ties=points,step={step},arithmetic=exact]"
TOKEN = 4  # an inner one
RATE = Fraction(99, 100)
SHOWN = 140  # steps in the figure
SMALL = 1e-12  # what is not shown there
FASTER = ("constant(1/3)", "rising(2,3)")
SLOWER = {"geometric(1/2,1/2)": 140, "harmonic(2,3)": 1400}


def _case(step: str, steps: int) -> Case:
    return Case(f"{CLOUD}, step {step}", {"step": step, "steps": steps})


def _cases(effort: Effort) -> Iterator[Case]:
    for step, steps in SLOWER.items():
        yield _case(step, steps)
    yield _case("open_loop(2)", 60)  # γ_0 = 1


def _refuses(case: Case) -> str | None:
    lengths = step_rule(case["step"]).exact_lengths(0, case["steps"])
    if not ((lengths > 0) & (lengths < 1)).all():
        return "a step is not in (0, 1)"
    return outside_theorem_4_2(instance(CLOUD))


def _left(step: str, steps: int) -> list[Fraction]:
    """Return which part of the way is left to an inner token after 0, 1, … steps.

    The hull stays, so keys may be fixed and one token walk alone.
    """
    problem = instance(CLOUD)
    start = problem.exact_atoms
    goal = start[int(scores(start, start, key_query(problem))[TOKEN].argmax()), 0]
    alone = problem.starting_at([TOKEN])
    solver = SOLVER.format(step=step, keys="fixed")
    return [(x[0, 0] - goal) / (start[TOKEN, 0] - goal) for _, x in walk(alone, solver, steps)]


def _check(case: Case, effort: Effort) -> Outcome:
    """Find the first t at which more than r^t of the way is left."""
    left, bound, broken = _left(case["step"], case["steps"]), Fraction(1), ""
    for t, part in enumerate(left):
        if part > bound:
            broken = f"t = {t}: {text(float(part))} of the way left > {text(float(bound))}"
            break
        bound *= RATE
    numbers = {"left at t = 50": _short(left[50]), "left at t = 60": _short(left[60])}
    summable = case["step"] == "geometric(1/2,1/2)"
    if summable:
        certain = left[-1] * (1 - Fraction(1, 2 ** (len(left) - 1)))
        numbers["left for ever, at least"] = f"{float(certain):.15g}"
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        counted(case["steps"], "step"),
        broken,
        numbers,
        _figure(t) if broken and summable else None,
    )


def _short(value: Fraction) -> str:
    """Return an exact text, unless it is too long to be read."""
    return text(value) if value.denominator < 10**12 else f"{float(value):.15g}"


def _figure(broken: int) -> Curves:
    t, lines = np.arange(SHOWN + 1.0), []
    for step in (*FASTER, *SLOWER):
        part = np.array([float(part) for part in _left(step, SHOWN)])
        lines.append(Line(step, t, np.where(part > SMALL, part, np.nan)))
    return Curves(
        "What is left of the way to the vertex",
        "t",
        "part of the distance",
        (*lines, Line("(99/100)^t", t, float(RATE) ** t, bound=True)),
        log_y=True,
        marks=((broken, f"t = {broken}"),),
        note="A straight line is an exponential rate: constant steps have it, rising ones beat it, "
        "2/(t + 3) bends away from every straight line, 2^(−t − 1) stops.",
    )


def _controls(effort: Effort) -> Iterator[Control]:
    for step in FASTER:
        yield Control(_case(step, 60), Verdict.HOLDS, "steps of at least 1/3: exponential")


CLAIM = Claim(
    name="rate_as_printed",
    section=4,
    title='"at least exponentially fast" for all steps in (0, 1)',
    statement="Under the assumptions of Theorem 4.2 each token converges to the vertex of its cell "
    "at least exponentially fast, whatever the steps in (0, 1).",
    formula="‖x_i^t − v_σ(i)‖ ≤ C r^t for some r < 1; checked: C = ‖x_i⁰ − v_σ(i)‖, r = 99/100",
    source="arXiv 2508.09628v1, Theorem 4.2 (the rate)",
    standing=Standing.FALSE,
    remark="Steps 2^(−t − 1) leave 0.288788… of every distance for ever; steps 2/(t + 3) leave "
    "2/((t + 1)(t + 2)). Convergence needs Σ γ_t = ∞, an exponential rate steps bounded away from "
    "zero, which the version of ICML 2026 asks for: see rate_with_bounded_steps.",
    hypotheses=("B ≻ 0", "every vertex owns its cell strictly", "every token lies in one cell",
                "γ_t in (0, 1)"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="part of the way that is left, against (99/100)^t",
    horizon="140 and 1400 steps",
    arithmetic="exact (fractions)",
    expects=Verdict.BROKEN,
    expects_witness=f"{CLOUD}, step geometric(1/2,1/2): t = 124: 0.288788 of the way left "
    "> 0.287584",
)  # fmt: skip
