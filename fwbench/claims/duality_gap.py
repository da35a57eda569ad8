"""The duality gap: some layer so far has a small one, where β_t/γ_t does not decrease.

Printed for β_t = c γ_t. Proof of more: one step raises ½⟨Bx, x⟩ by at least γ_t times its gap, so
that with J_t = −½β_t⟨Bx, x⟩ and r_t = β_t/γ_t the scaled gap β_t g_t is at most
r_t (e_{t+1} − e_t), e_t = ½⟨Bx^t, x^t⟩ ≥ 0. Summed by parts this is r_t e_{t+1} − r_1 e_1 minus
Σ (r_τ − r_{τ−1}) e_τ, and the last sum is not negative where r does not decrease. That covers
constant B with constant steps and with 2/(t + 3).
"""

from __future__ import annotations

from collections.abc import Iterator

from fwbench.theory.ascents import (
    PROPORTIONAL,
    gap_outcome,
    indefinite,
    outside,
    ratio,
    temperatures,
)
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict

STEPS = (15, 50)
CLOUDS = (6, 30)


def _case(step: str, beta: str, effort: Effort) -> Case:
    return temperatures(step, beta, effort.of(*CLOUDS), effort.seed)


def _cases(effort: Effort) -> Iterator[Case]:
    yield _case("harmonic(2,3)", PROPORTIONAL, effort)
    yield _case("constant(1/3)", "1", effort)
    yield _case("harmonic(2,3)", "1", effort)
    yield _case("harmonic(2,3)", "linear(1,1)", effort)
    yield _case("constant(1/3)", "geometric(1,1/2)", effort)


def _refuses(case: Case) -> str | None:
    gamma, beta = ratio(case, STEPS[1])
    if (beta[1:] / gamma[1:] < beta[:-1] / gamma[:-1]).any():
        return "β_t/γ_t decreases"
    return outside(gamma) or indefinite(case)


def _check(case: Case, effort: Effort) -> Outcome:
    return gap_outcome(case, effort.of(*STEPS))


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("constant(1/3)", "geometric(1,1/2)", effort), Verdict.BROKEN,
        "β_t/γ_t decreases: the differences do not telescope",
    )  # fmt: skip


CLAIM = Claim(
    name="duality_gap",
    section=4,
    title="the least gap so far is of order 1/t",
    statement="If B ⪰ 0 and β_t/γ_t is nondecreasing, the least duality gap of a token up to layer "
    "t is at most 1/t of the difference of its first scaled energy and the least one over the hull "
    "at t.",
    formula="min_{1≤τ≤t} max_{y∈K^τ} ⟨∇J_τ(x_i^τ), x_i^τ − y⟩ ≤ (J_1(x_i^1)/γ_1 − min_{K^t} "
    "J_t/γ_t)/t,  J_t(x) = −½β_t⟨Bx, x⟩",
    source="arXiv 2508.09628v1, section 4 (duality gap); with β_t/γ_t nondecreasing: this project",
    standing=Standing.CHECKED,
    remark="The paper asks for β_t = c γ_t, which leaves out constant B with steps 2/(t + 3).",
    hypotheses=("B ⪰ 0", "β_t/γ_t does not decrease", "γ_t in (0, 1)"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="least gap so far against the bound, for every token and every t",
    horizon="15 steps of 6 clouds; long: 50 steps of 30",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
    telling="largest ratio of the sides",
)
