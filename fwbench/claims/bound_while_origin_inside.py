"""As long as the hull has the origin, Theorem 3.1 holds, and with half of the constant.

Proof. Let a_t = J^t(x^{t+1}) of one token. With 0 in K^t the leader y has ⟨B_*^t x, y⟩ ≤ 0, so
a_t ≤ (1 − 2γ_t) J^t(x^t) + ½ γ_t² λ d², and J^t(x^t) ≤ a_{t−1} because B_* does not increase. For
t ≤ 2 the first term is not positive: a_t ≤ ½ γ_t² λ d² ≤ λ d²/(t + 2); from t = 2 on by induction,
(t − 2)/((t + 2)(t + 1)) + 2/(t + 2)² ≤ 1/(t + 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

from fwbench.problem import QuadraticOverHull
from fwbench.theory.bounds import compared, outside, size, while_inside
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.walks import OPEN_LOOP, exact_form, hardmax, instance, listed, walk

TIES = ("points", "indices", "lowest")
SCORES = ("1", "power(1,-1)", "geometric(1,1/2) 1")  # B_* constant; falling; falling in one axis
NAMED = ("three-one", "four-one", "three-two", "three-one-origin", "triangle-16", "receding")


def _case(
    cloud: str | QuadraticOverHull,
    steps: int,
    ties: str = "points",
    scores: str = "1",
    step: str = OPEN_LOOP,
    *,
    beyond: bool = False,
) -> Case:
    if isinstance(cloud, str):
        name, problem = f"token_cloud[{cloud}]", instance(f"token_cloud[{cloud}]")
    else:
        name, problem = f"tokens {listed(cloud.exact_atoms)}", cloud
    given = {"problem": problem, "steps": steps, "beyond": beyond, "step": step}
    named = f"{name}, ties={ties}, scores={scores}" + ", to the end" * beyond
    return Case(named, given | {"ties": ties, "scores": scores})


def _cases(effort: Effort) -> Iterator[Case]:
    steps = effort.of(30, 300)
    for name, ties in product(NAMED, TIES):
        yield _case(f"name={name}", steps, ties)
    for seed in range(effort.of(18, 360)):
        ties, scores = TIES[seed % 3], SCORES[seed // 3 % 3]
        yield _case(f"n={4 + seed % 6},d=2,integers=9,seed={seed}", steps, ties, scores)
    for ties, scores in product(TIES[:2], SCORES):
        yield _case("n=6,d=2,integers=9,mirrored=true", steps, ties, scores)
    for seed in range(effort.of(2, 20)):
        yield _case(f"n=7,d=3,integers=9,seed={seed}", steps)
    # a token at the origin that takes the other for its leader: equality at t = 0
    yield _case(QuadraticOverHull([[3], [0]], start=[0, 1]), steps, "lowest")
    yield _case("name=four-one", steps, scores="linear(1,1)")


def _refuses(case: Case) -> str | None:
    if case["step"] != OPEN_LOOP:
        return "the steps are not 2/(t + 2)"
    return outside(case["problem"], case["scores"], case["steps"])


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare J(x at t + 1) with λ d²/(t + 2) as long as the hulls K^0, …, K^t have the origin."""
    problem, scores = case["problem"], case["scores"]
    most = size(problem, scores)
    solver = hardmax(case["step"], ties=case["ties"], scores=scores)
    layers = walk(problem, solver, case["steps"])
    found = compared(
        layers if case["beyond"] else while_inside(layers),
        exact_form(problem),
        lambda t: most / Fraction(t + 2),
        scores=scores,
    )
    outcome = found.outcome()
    largest = text(max(found.ratios, default=0) / 2)
    return replace(outcome, numbers={**outcome.numbers, "largest J (t + 2)/(2 λ d²)": largest})


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("name=four-one", 150, beyond=True), Verdict.BROKEN,
        "beyond the loss of the origin J stays at 2/9, and no bound that falls holds",
    )  # fmt: skip


CLAIM = Claim(
    name="bound_while_origin_inside",
    section=3,
    title="the bound of Theorem 3.1 while the hull has the origin",
    statement="With the hypotheses of Theorem 3.1 and the origin in K^0, …, K^t, the energy of "
    "every token at t + 1 is at most 1/(t + 2) of λ_max times the squared diameter of the first "
    "hull, whatever the tie rule.",
    formula="0 ∈ K^s for s ≤ t:  J^t(x_i^{t+1}) ≤ 1/(t + 2) · λ_max(B_*^0) · d(K⁰)²",
    source="this project; proof: in the file of the claim",
    standing=Standing.AMENDED,
    remark="Equality occurs at t = 0. If l is the first t whose hull lacks the origin, this speaks "
    "of the points up to x^l.",
    hypotheses=("steps 2/(t + 2), keys are the current tokens, any tie rule",
                "B_* ⪰ 0 (here diagonal) and nonincreasing",
                "the origin in K^0, …, K^t, by exact membership"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="max_i J^t(x_i^{t+1}) against the bound, up to the loss of the origin",
    horizon="at most 30 steps; long: 300",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
    telling="largest ratio",
)  # fmt: skip
