"""Dividing a layer by I + V gives a step towards the attended point, with another temperature.

Proof: (I + V)⁻¹(x + Va) = (I + V)⁻¹((I + V)x + V(a − x)) = x + P(a − x), P = (I + V)⁻¹V. Along
the layers z^t = (I + V)^(−t) x^t, whose scores ⟨Bx, y⟩ = ⟨B_t z, z'⟩ have
B_t = (I + V)'^t B (I + V)^t. For V = hI that is B times (1 + h)^(2t): softmax gets colder and
colder, hardmax sees no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fwbench.grammar import quoted
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
from fwbench.theory.walks import instance, walk

CLOUD = "token_cloud[name={name}]"
HARD = "hardmax_attention[keys=moving,ties=points,arithmetic=exact,{rest}]"
SOFT = "softmax_attention[keys=moving,{rest}]"
ROUNDING = 1e-11  # of the largest coordinate: two float runs, one of points that grow
STEPS = (8, 16)
CLOUDS = ("own-cells", "chained", "three-one", "triangle-20")


def _hard(name: str, values: str, factors: str = "1", steps: int = 0) -> Case:
    """Return a hardmax case: B_t = D_t B D_t with the factors that the claim asks for."""
    first = HARD.format(rest=f"values={quoted(values)},normalised=false")
    second = HARD.format(rest=f"values={quoted(values)},scores={quoted(factors)}")
    told = f"{CLOUD.format(name=name)}, hardmax, V = {values}, factors {factors}"
    return Case(told, {"name": name, "values": values, "first": first, "second": second,
                       "steps": steps})  # fmt: skip


def _soft(name: str, h: str, beta: str, colder: str) -> Case:
    """Return a softmax case: the second layer has the inverse temperature `colder`."""
    first = SOFT.format(rest=f"beta={beta},values={h},normalised=false")
    second = SOFT.format(rest=f"beta={colder},values={h}")
    told = f"{CLOUD.format(name=name)}, softmax, V = {h}, β_t = {colder}"
    return Case(told, {"name": name, "values": h, "first": first, "second": second, "steps": 0})


def _cases(effort: Effort) -> Iterator[Case]:
    for name in CLOUDS:
        yield _hard(name, "1/2")
    for name in ("own-cells", "chained", "relayed", "triangle-20"):
        # (I + V)^t = diag(geometric(1, 1 + v_i))
        yield _hard(name, "3/2 7/3", "geometric(1,5/2) geometric(1,10/3)")
        yield _hard(name, "1 2; 0 1", steps=1)
        yield _hard(name, "-1/2 1; 1/3 2", steps=1)
        yield _soft(name, "1/2", "1", "geometric(1,9/4)")
    yield _hard("own-cells", "-1 2", steps=1)


def _matrix(values: str, d: int) -> np.ndarray:
    """Return I + V exactly, shape (d, d)."""
    rows = [[Fraction(v) for v in row.split()] for row in values.split(";")]
    if len(rows) > 1:
        V = np.array(rows, dtype=object)
    else:
        V = np.diag(np.array(rows[0] * (d if len(rows[0]) == 1 else 1), dtype=object))
    return np.asarray(V + np.eye(d, dtype=int))


def _refuses(case: Case) -> str | None:
    d = instance(CLOUD.format(name=case["name"])).d
    whole = _matrix(case["values"], d).astype(float)
    return "I + V is singular" if np.linalg.matrix_rank(whole) < d else None


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare x^t with (I + V)^t z^t."""
    problem, steps = instance(CLOUD.format(name=case["name"])), case["steps"] or effort.of(*STEPS)
    whole = _matrix(case["values"], problem.d)
    power, broken, worst = np.eye(problem.d, dtype=int), "", 0.0
    pairs = zip(walk(problem, case["first"], steps), walk(problem, case["second"], steps),
                strict=True)  # fmt: skip
    for (t, x), (_, z) in pairs:
        grown = z @ (power if x.dtype == object else power.astype(float)).T
        apart = np.abs(x - grown).max()
        allowed = 0 if x.dtype == object else ROUNDING * np.abs(x).max()
        worst = max(worst, float(apart / np.abs(x).max()))
        if apart > allowed and not broken:
            broken = f"t = {t}: apart by {text(apart)}"
        power = power @ whole
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS, counted(steps, "step"), broken,
        {"largest difference, relative": text(worst) if worst else "0"},
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _hard("triangle-20", "3/2 7/3"), Verdict.BROKEN,
        "V is not scalar: without B_t the second layer sees other leaders",
    )  # fmt: skip
    yield Control(
        _soft("own-cells", "1/2", "1", "1"), Verdict.BROKEN,
        "softmax at a constant temperature is another layer",
    )  # fmt: skip


CLAIM = Claim(
    name="renormalised_layer",
    section=2,
    title="a layer divided by I + V is a step",
    statement="With I + V invertible, x + Va divided by I + V is x + P(a − x). Layer after layer "
    "x^t = (I + V)^t z^t, where z follows the divided layer with B_t = (I + V)'^t B (I + V)^t: for "
    "V = hI the same hardmax layer, and softmax with β_t = β (1 + h)^(2t).",
    formula="(I + V)⁻¹(x + Va) = x + P(a − x),  P = (I + V)⁻¹V",
    source="arXiv 2508.09628v1, equations (1) and (2)",
    standing=Standing.PROVED,
    remark="Exact for constant V; with V_t that do not commute the step of z is another matrix.",
    hypotheses=("V is constant", "I + V is invertible"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="tokens of both layers; V that is no diagonal for one step",
    horizon="8 steps; long: 16",
    arithmetic="exact (fractions) for hardmax; floats to 1e-11 for softmax",
    expects=Verdict.HOLDS,
    telling="largest difference, relative",
)
