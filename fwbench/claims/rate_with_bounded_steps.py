"""Theorem 4.2's rate, corrected: steps bounded away from zero bring tokens in exponentially.

Proof: by the closed form ‖x_i^t − v‖ = ∏_{τ<t} (1 − γ_τ) ‖x_i⁰ − v‖, and each factor is at most
1 − c. Steps that tend to 1 do better than every exponential: then log ∏ falls faster than any
multiple of t, for instance as −a t(t + 1)/2 where γ_t = 1 − e^(−a(t + 1)).
"""

from __future__ import annotations

import math
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
SOLVER = "hardmax_attention[keys=moving,ties=points,step={step},arithmetic={arithmetic}]"
TOKEN = 4  # an inner one
FLOOR = 1e-13  # of the way: what is left is rounding then
SLACK = 1e-15  # of the way: rounding of points near the vertex
HORIZON = (40, 120)


def _case(step: str, c: str, arithmetic: str = "exact") -> Case:
    given = {"step": step, "c": Fraction(c), "arithmetic": arithmetic}
    return Case(f"{CLOUD}, step {step}, c = {c}, {arithmetic}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    yield _case("constant(1/4)", "1/4")
    yield _case("rising(2,3)", "1/3")
    yield _case("saturating(1)", "6/10", arithmetic="float")
    yield _case("constant(1/4)", "1/4", arithmetic="float")
    yield _case("harmonic(2,3)", "1/10")
    yield _case("geometric(1/2,1/2)", "1/10")


def _refuses(case: Case) -> str | None:
    lengths = step_rule(case["step"]).lengths(0, HORIZON[1])
    if (short := lengths < float(case["c"])).any():
        return f"the step at t = {int(short.argmax())} is below c"
    return outside_theorem_4_2(instance(CLOUD))


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare what is left of the way with (1 − c)^t; in floats down to where rounding begins."""
    problem, steps = instance(CLOUD), effort.of(*HORIZON)
    start, exact = problem.exact_atoms, case["arithmetic"] == "exact"
    seen = int(scores(start, start, key_query(problem))[TOKEN].argmax())
    whole = start[TOKEN, 0] - start[seen, 0]
    left, broken = [], ""
    for t, x in walk(problem, SOLVER.format(**case.given), steps):
        part = (x[TOKEN, 0] - start[seen, 0]) / whole
        part = part if exact else abs(float(part))
        if not exact and part <= FLOOR:
            break
        bound = (1 - case["c"]) ** t
        if part > bound + (0 if exact else SLACK) and not broken:
            broken = f"t = {t}: {text(part)} > {text(bound)}"
        left.append(part)
    times, logs = np.arange(len(left)), np.array([_logarithm(part) for part in left])
    rate = np.log1p(-float(case["c"]))
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        counted(times[-1], "step"),
        broken,
        {
            "slope of the logarithm": text(np.polyfit(times, logs, 1)[0]),
            "log(1 − c)": text(rate),
            "R² against t": text(_fit(times, logs)),
            "R² against t(t + 1)/2": text(_fit(times * (times + 1) / 2, logs)),
        },
        Curves(
            f"Way left to the vertex, step {case['step']}", "t", "logarithm of the part left",
            (Line(case["step"], times.astype(float), logs),
             Line("(1 − c)^t", times.astype(float), rate * times, bound=True)),
        ),
    )  # fmt: skip


def _logarithm(part: Fraction | float) -> float:
    """Return the logarithm; that of a fraction may be far below all doubles."""
    exact = Fraction(part)
    return math.log(exact.numerator) - math.log(exact.denominator)


def _fit(x: np.ndarray, y: np.ndarray) -> float:
    """Return R², how much of the variation a straight line explains."""
    return float(np.corrcoef(x, y)[0, 1] ** 2)


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("geometric(1/2,1/2)", "1/10"), Verdict.BROKEN,
        "steps whose sum is finite stop short of the vertex",
    )  # fmt: skip
    yield Control(
        _case("constant(1/4)", "26/100"), Verdict.BROKEN,
        "the rate is 3/4 exactly, so no smaller one is reached",
    )  # fmt: skip


CLAIM = Claim(
    name="rate_with_bounded_steps",
    section=4,
    title="exponential where steps stay away from zero",
    statement="Under the assumptions of Theorem 4.2, if all steps are at least c > 0, each token's "
    "distance to its vertex is at most (1 − c)^t of what it was. Constant steps have this rate "
    "exactly; steps that tend to 1 are faster than exponential.",
    formula="γ_t ≥ c > 0  ⟹  ‖x_i^t − v_σ(i)‖ ≤ (1 − c)^t ‖x_i⁰ − v_σ(i)‖",
    source="this project; corrects arXiv 2508.09628v1, Theorem 4.2",
    standing=Standing.CHECKED,
    remark="The version of ICML 2026 asks in its abstract for step sizes bounded away from zero.",
    hypotheses=("B ≻ 0", "every vertex owns its cell strictly", "every token lies in one cell",
                "γ_t ≥ c > 0 for all t"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="part of the way that is left, against (1 − c)^t",
    horizon="40 steps (floats: while more than 1e-13 is left); long: 120",
    arithmetic="exact (fractions); floats where steps are irrational",
    expects=Verdict.HOLDS,
)  # fmt: skip
