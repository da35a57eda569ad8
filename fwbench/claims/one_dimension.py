"""The dynamics of Theorem 3.1 on the line, completely.

Let B < 0, M = max x⁰ > 0, −m = min x⁰ < 0, no token at 0. A token's leader is the end of the other
sign, so the first step (γ = 1) leaves the values M and −m alone. With γ = 2/3 they become M − ⅔(M +
m) and ⅔(M + m) − m. If M > 2m both are positive: the lower one is everybody's leader, its own too,
and stays; the distance of the other is multiplied by t/(t + 2) from then on. If M/m is between ½
and 2 they have opposite signs, and γ = ½ takes both to their midpoint. If M = 2m one of them is 0
exactly and ties. The mirror image holds for m > 2M.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from fwbench.geometry.exact_hulls import holds
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
from fwbench.theory.walks import OPEN_LOOP, exact_form, hardmax, instance, walk

NAMED = ("three-one", "four-one", "three-two", "five-one", "thousand-one", "five-two",
         "seven-three", "nine-four", "thirteen-six", "two-one")  # fmt: skip


def _case(cloud: str, steps: int, step: str = OPEN_LOOP) -> Case:
    named = "" if step == OPEN_LOOP else f", step={step}"
    given = {"problem": instance(f"token_cloud[{cloud}]"), "steps": steps, "step": step}
    return Case(f"token_cloud[{cloud}]{named}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    for name in NAMED:
        yield _case(f"name={name}", effort.of(12, 100))
    for seed in range(effort.of(66, 1100)):
        n = 2 + seed % 11
        yield _case(f"n={n},d=1,integers=30,seed={seed}", effort.of(8, 40))
    yield _case("n=2,d=1,integers=30,q=-1,seed=22", 8)  # B positive


def _refuses(case: Case) -> str | None:
    x = case["problem"].exact_atoms
    if x.shape[1] != 1 or case["step"] != OPEN_LOOP:
        return "not on the line, or other steps"
    if exact_form(case["problem"])[0] <= 0:
        return "B is not negative"
    if not x.min() < 0 < x.max():
        return "the origin does not lie strictly inside"
    return "a token lies at the origin" if (x == 0).any() else None


def _ends(M: Fraction, m: Fraction, t: int) -> tuple[Fraction, Fraction]:
    """Return the lower and the upper value for t >= 3."""
    if m > M:
        low, high = _ends(m, M, t)
        return -high, -low
    if 2 * m < M:
        low = (M - 2 * m) / 3
        return low, low + 2 * (M + m) / (t * (t + 1))
    if 2 * m == M:
        return m / 4, m / 4 + 3 * m / (t * (t + 1))
    return (M - m) / 2, (M - m) / 2


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare the tokens and the loss time with the formulas, exactly."""
    start = case["problem"].exact_atoms
    M, m = start.max(), -start.min()
    lost, wrong = None, ""
    for t, x in walk(case["problem"], hardmax(case["step"]), case["steps"]):
        values: set[Any] = set(x[:, 0])
        if lost is None and not holds(x):
            lost = t
        if t == 0 or wrong:
            continue
        expected = {-m, M} if t == 1 else set(_ends(M, m, t)) if t >= 3 else values
        if values != expected:
            wrong = f"t = {t}: {_list(values)} where {_list(expected)} is due"
    due = None if m == M else 2 if max(M, m) > 2 * min(M, m) else 3
    if not wrong and lost != due:
        wrong = f"the origin is lost at {lost}"
    return Outcome(
        Verdict.BROKEN if wrong else Verdict.HOLDS,
        counted(case["steps"], "step"),
        wrong,
        _numbers(M, m, lost) if "name" in case.name else {},
    )


def _list(values: set[Any]) -> str:
    return ", ".join(text(value) for value in sorted(values)[:4])


def _numbers(M: Fraction, m: Fraction, lost: int | None) -> dict[str, str]:
    """Return the limit, and from the formula where the bound of Theorem 3.1 breaks first."""
    t = 2
    while m != M and max(map(abs, _ends(M, m, t + 1))) ** 2 * (t + 1) <= 4 * (M + m) ** 2:
        t += 1
    limit = min(_ends(M, m, 3), key=abs)
    return {"limit": text(limit), "origin lost at": str(lost), "Theorem 3.1 breaks at": str(t)}


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(_case("name=four-one", 12, "constant(0.5)"), Verdict.BROKEN, "other steps")
    yield Control(_case("name=four-one", 12, "harmonic(2,3)"), Verdict.BROKEN, "other steps")


CLAIM = Claim(
    name="one_dimension",
    section=3,
    title="all that happens on the line",
    statement="Tokens on the line, B < 0, M the largest, −m the least, 0 strictly between and no "
    "token there, steps 2/(t + 2): after one step only M and −m are left; unless M = m the origin "
    "is lost, at t = 2 if M > 2m or m > 2M, else at t = 3; for t ≥ 3 one value is stuck and the "
    "others come to it as 1/(t (t + 1)), or all are equal.",
    formula="t ≥ 3:  M > 2m: z = (M − 2m)/3 and z + 2(M + m)/(t(t + 1));  ½ < M/m < 2: z = (M − "
    "m)/2;  M = 2m: z = m/4 and z + 3m/(t(t + 1));  mirrored for m > M",
    source="this project; proof: in the file of the claim",
    standing=Standing.AMENDED,
    remark="So Theorem 3.1 fails for every such start but M = m, first at about t = 36 d²/(M − "
    "2m)² or 16 d²/(M − m)².",
    hypotheses=("d = 1, B < 0, steps 2/(t + 2), keys are the current tokens, ties=points",
                "the origin strictly inside", "no token at the origin"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="the set of values at each t, equality; first t without the origin in the hull",
    horizon="8 to 12 steps; long: 40 to 100",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
)  # fmt: skip
