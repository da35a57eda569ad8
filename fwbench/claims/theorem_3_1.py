"""Theorem 3.1 as printed: tokens that step together come down to the origin at rate 2/(t + 1).

False: all tokens move at once, the outermost ones too, so the hull can jump over the origin and
then never has it again; the energies stay above a positive constant, and any bound that goes to 0
must break. It breaks late, which is why short horizons "verify" it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fwbench.claim import (
    Case,
    Claim,
    Control,
    Curves,
    Effort,
    Line,
    Outcome,
    Standing,
    Verdict,
    text,
)
from fwbench.walks import energies, instance, squared_diameter, walk

SOLVER = "hardmax_attention[keys={keys},ties=points,arithmetic=exact]"
# instance, horizon, horizon of a long verification
CLOUDS = {
    "triangle-16": (30, 300), "triangle-20": (30, 300), "thousand-one": (60, 300),
    "five-one": (160, 700), "four-one": (240, 1000), "three-two": (420, 1000),
    "three-one": (600, 2000),
}  # fmt: skip
LATE = {"five-two": 1800, "seven-three": 3650, "nine-four": 6150, "thirteen-six": 13000}


def _case(name: str, steps: int, keys: str = "moving") -> Case:
    return Case(f"token_cloud[name={name}]", {"steps": steps, "keys": keys})


def _cases(effort: Effort) -> Iterator[Case]:
    for name, horizons in CLOUDS.items():
        yield _case(name, effort.of(*horizons))
    if effort.long:
        for name, steps in LATE.items():
            yield _case(name, steps)


def _refuses(case: Case) -> str | None:
    return None if case["keys"] == "moving" else "keys are fixed: the hull stays"


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare J(x at t + 1) with 2 λ d²/(t + 1), exactly; here Q = 1, so λ = 1."""
    problem = instance(case.name)
    size = squared_diameter(problem.exact_atoms)
    worst, broken, ratios = Fraction(0), "", []
    numbers: dict[str, str] = {}
    for t, x in walk(problem, SOLVER.format(keys=case["keys"]), case["steps"]):
        if t == 0:
            continue
        energy, bound = energies(x, np.array([Fraction(1)] * problem.d)).max(), 2 * size / t
        ratios.append(float(energy / bound))
        worst = max(worst, energy / bound)
        if energy > bound and not broken:
            broken = f"t = {t - 1}: {text(energy)} > {text(bound)}"
            numbers |= {"t": text(t - 1), "J": text(energy), "bound": text(bound)}
        if t == 1:
            numbers |= {"ratio at t = 0": text(energy / bound)}
    k = np.arange(1.0, len(ratios) + 1)
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        f"{case['steps']} steps",
        broken,
        numbers | {"largest ratio": text(float(worst))},
        Curves(
            f"Energy over the bound, {case.name}, keys {case['keys']}", "t + 1", "J / bound",
            (Line(f"keys {case['keys']}", k, np.array(ratios)),
             Line("the bound", k, np.ones_like(k), bound=True)),
            log_x=True, log_y=True,
        ),
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("four-one", 300, keys="fixed"), Verdict.HOLDS,
        "keys fixed, this is Frank-Wolfe, whose bound it is",
    )  # fmt: skip


CLAIM = Claim(
    name="theorem_3_1",
    section=3,
    title="tokens reach the origin at rate 2/(t + 1)",
    statement="With B = −Q, Q ⪰ 0 constant or nonincreasing, steps 2/(t + 2), all tokens moving "
    "at once and the origin in the first hull, the energy of every token is at most "
    "2/(t + 1) of λ_max times the squared diameter of the first hull.",
    formula="J(x_i^{t+1}) ≤ 2/(t + 1) · λ_max(Q) · d(K⁰)²,  J(x) = ½⟨x, Qx⟩",
    source="arXiv 2508.09628v1, Theorem 3.1",
    standing=Standing.FALSE,
    remark="The proof uses that the origin is in every hull K^t and assumes it of K⁰ only. Over "
    "200 steps most one-dimensional examples look as if it held; a symmetric cloud does for ever.",
    hypotheses=("keys are the current tokens", "the origin lies in the first hull",
                "steps 2/(t + 2)"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="max_i J(x_i^{t+1}) against the bound",
    horizon="30 to 600 steps; long: 300 to 13 000",
    arithmetic="exact (fractions)",
    expects=Verdict.BROKEN,
    expects_witness="token_cloud[name=triangle-16]: t = 16: 1250 > 20800/17",
)  # fmt: skip
