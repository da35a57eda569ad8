"""Theorem 3.1 as printed: tokens that step together come down to the origin at rate 2/(t + 1).

False: all tokens move at once, the outermost ones too, so the hull can jump over the origin and
then never has it again; the energies stay above a positive constant, and any bound that goes to 0
must break. It breaks late, which is why short horizons "verify" it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from fwbench.theory.bounds import Compared, compared, outside, size
from fwbench.theory.claim import Case, Claim, Control, Curves, Effort, Outcome, Standing, Verdict
from fwbench.theory.walks import OPEN_LOOP, exact_form, hardmax, instance, walk

# name, horizon, horizon of a long verification
CLOUDS = {
    "triangle-16": (30, 300), "triangle-20": (30, 300), "thousand-one": (60, 300),
    "five-one": (160, 700), "four-one": (300, 1000), "three-two": (420, 1000),
    "three-one": (600, 2000),
}  # fmt: skip
LATE = {"five-two": 1800, "seven-three": 3650, "nine-four": 6150, "thirteen-six": 13000}
DRAWN = "n=6,d=2,integers=9,mirrored=true"  # clouds that are their own mirror image
FIGURE = "token_cloud[name=four-one]"


def _case(cloud: str, steps: int, **other: str) -> Case:
    name = ", ".join([f"token_cloud[{cloud}]", *(f"{key}={value}" for key, value in other.items())])
    usual = {"keys": "moving", "step": OPEN_LOOP, "scores": "1"}
    problem = instance(f"token_cloud[{cloud}]")
    return Case(name, {"problem": problem, "steps": steps} | usual | other)


def _cases(effort: Effort) -> Iterator[Case]:
    for name, horizons in CLOUDS.items():
        yield _case(f"name={name}", effort.of(*horizons))
    for name, steps in LATE.items() if effort.long else ():
        yield _case(f"name={name}", steps)
    yield _case("name=symmetric", effort.of(100, 1000))
    for seed in range(effort.of(3, 30)):
        yield _case(f"{DRAWN},seed={seed}", effort.of(60, 600))
    yield _case("name=four-one", 240, scores="power(1,-1)")  # B_* vanishes, and so does J
    yield _case("n=3,d=2,integers=9,seed=0", 60)  # the origin outside
    yield _case("name=four-one", 60, scores="linear(1,1)")
    yield _case("name=four-one", 60, step="constant(0.5)")
    yield _case("name=own-cells", 60)  # B positive


def _refuses(case: Case) -> str | None:
    if case["keys"] != "moving":
        return "keys are fixed: the hull stays"
    if case["step"] != OPEN_LOOP:
        return "the steps are not 2/(t + 2)"
    return outside(case["problem"], case["scores"], case["steps"])


def _compared(case: Case, keys: str) -> Compared:
    problem, scores = case["problem"], case["scores"]
    most = 2 * size(problem, scores)
    layers = walk(problem, hardmax(case["step"], keys=keys, scores=scores), case["steps"])
    return compared(layers, exact_form(problem), lambda t: most / Fraction(t + 1), scores=scores)


def _check(case: Case, effort: Effort) -> Outcome:
    found = _compared(case, case["keys"])
    outcome = found.outcome()
    if case.name != FIGURE:
        return outcome
    lines = (
        found.line("tokens step together"),
        _compared(case, "fixed").line("keys fixed"),
        found.level,
    )
    marks = () if found.first is None else ((found.first[0] + 1.0, f"t = {found.first[0]}"),)
    curves = Curves(
        "Energy over the bound of Theorem 3.1, tokens 4 and −1", "t + 1", "J / bound", lines,
        log_x=True, log_y=True, marks=marks,
        note="Below 1 for 224 steps; the energy itself comes down to 2/9 only. This cloud is "
        "four-one; the first witness is triangle-16, which breaks its bound at t = 16.",
    )  # fmt: skip
    return replace(outcome, curves=curves)


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("name=four-one", 300, keys="fixed"), Verdict.HOLDS,
        "keys fixed, this is Frank-Wolfe, whose bound it is",
    )  # fmt: skip
    yield Control(
        _case("name=symmetric", 100), Verdict.HOLDS,
        "a mirrored cloud keeps the origin: ratio 1/16 at t = 0 and less from then on",
    )  # fmt: skip
    yield Control(_case("name=triangle-16", 17), Verdict.BROKEN, "1250 > 20800/17 at t = 16")


CLAIM = Claim(
    name="theorem_3_1",
    section=3,
    title="tokens reach the origin at rate 2/(t + 1)",
    statement="With B = −B_*, B_* ⪰ 0 constant or nonincreasing, steps 2/(t + 2), all tokens "
    "moving at once and the origin in the first hull, the energy of every token is at most "
    "2/(t + 1) of λ_max times the squared diameter of the first hull.",
    formula="J^t(x_i^{t+1}) ≤ 2/(t + 1) · λ_max(B_*^0) · d(K⁰)²,  J^t(x) = ½⟨x, B_*^t x⟩",
    source="arXiv 2508.09628v1, Theorem 3.1",
    standing=Standing.FALSE,
    remark="The proof uses that the origin is in every hull K^t and assumes it of K⁰ only. Over "
    "200 steps most one-dimensional examples look as if it held; a symmetric cloud does for ever. "
    "A public Lean formalisation of the paper has the counterexample (3, −1).",
    hypotheses=("keys are the current tokens", "steps 2/(t + 2)",
                "B_* ⪰ 0 (here diagonal) and nonincreasing", "the origin lies in the first hull"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="max_i J^t(x_i^{t+1}) against the bound",
    horizon="30 to 600 steps; long: 300 to 13 000",
    arithmetic="exact (fractions)",
    expects=Verdict.BROKEN,
    expects_witness="token_cloud[name=triangle-16]: t = 16: 1250 > 20800/17",
)  # fmt: skip
