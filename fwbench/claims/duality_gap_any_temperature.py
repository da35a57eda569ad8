"""The bound on the duality gap for any temperatures: false where β_t/γ_t decreases.

What is left over in the sum of the proof (see duality_gap) then has the wrong sign.
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
CLOUDS = (12, 40)


def _case(step: str, beta: str, effort: Effort) -> Case:
    return temperatures(step, beta, effort.of(*CLOUDS), effort.seed)


def _cases(effort: Effort) -> Iterator[Case]:
    yield _case("constant(1/3)", "geometric(1,1/2)", effort)
    yield _case("harmonic(2,3)", "power(1,-2)", effort)
    yield _case("open_loop(2)", "geometric(1,1/2)", effort)  # γ_0 = 1


def _refuses(case: Case) -> str | None:
    gamma, _ = ratio(case, STEPS[1])
    return outside(gamma) or indefinite(case)


def _check(case: Case, effort: Effort) -> Outcome:
    return gap_outcome(case, effort.of(*STEPS))


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("harmonic(2,3)", PROPORTIONAL, effort), Verdict.HOLDS,
        "β_t = c γ_t, as the proposition asks",
    )  # fmt: skip


CLAIM = Claim(
    name="duality_gap_any_temperature",
    section=4,
    title="the same bound for any temperatures",
    statement="If B ⪰ 0, the bound on the least duality gap holds for any inverse temperatures β_t "
    "> 0 and any steps in (0, 1).",
    formula="min_{1≤τ≤t} max_{y∈K^τ} ⟨∇J_τ(x_i^τ), x_i^τ − y⟩ ≤ (J_1(x_i^1)/γ_1 − min_{K^t} "
    "J_t/γ_t)/t,  J_t(x) = −½β_t⟨Bx, x⟩",
    source="this project; arXiv 2508.09628v1, section 4, without its assumption on β_t",
    standing=Standing.FALSE,
    remark="Nobody states it: it shows that the assumption is needed. Temperatures that rise "
    "faster than the steps fall break the bound in most runs.",
    hypotheses=("B ⪰ 0", "γ_t in (0, 1)"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="least gap so far against the bound, for every token and every t",
    horizon="15 steps of 12 clouds; long: 50 steps of 40",
    arithmetic="exact (fractions)",
    expects=Verdict.BROKEN,
    expects_witness="step constant(1/3), β_t = geometric(1,1/2), clouds from seed 0: 5 integer "
    "tokens in [-9, 9]^2, B = LL' of rank 1, seed 0, t = 2, token 2: "
    "10.7654 > -77.4167",
)
