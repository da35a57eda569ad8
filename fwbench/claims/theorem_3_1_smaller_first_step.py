"""Theorem 3.1 with the steps 2/(t + 3), so that the first one is 2/3 and not 1: false as well.

With 2/(t + 2) the first step is 1, outside the paper's own range (0, 1), and every token jumps onto
another one. That is not what breaks the bound: (3, −1) goes to (1/3, 5/3) in one step, the lower
token stays, and the bound breaks at the very same t.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fwbench.theory.bounds import compared, outside, size
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict
from fwbench.theory.walks import exact_form, hardmax, instance, walk

STEP = "harmonic(2,3)"
CLOUDS = {"three-one": (600, 2000), "four-one": (260, 1000), "triangle-16": (40, 300)}


def _case(name: str, steps: int, keys: str = "moving", step: str = STEP) -> Case:
    cloud = f"token_cloud[name={name}]"
    given = {"problem": instance(cloud), "steps": steps, "keys": keys, "step": step}
    return Case(f"{cloud}, keys={keys}, step={step}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    for name, horizons in CLOUDS.items():
        yield _case(name, effort.of(*horizons))
    yield _case("three-one", 100, step="open_loop(2)")


def _refuses(case: Case) -> str | None:
    if case["keys"] != "moving" or case["step"] != STEP:
        return "other keys, or other steps than 2/(t + 3)"
    return outside(case["problem"])


def _check(case: Case, effort: Effort) -> Outcome:
    problem = case["problem"]
    most = 2 * size(problem)
    layers = walk(problem, hardmax(case["step"], keys=case["keys"]), case["steps"])
    return compared(layers, exact_form(problem), lambda t: most / Fraction(t + 1)).outcome()


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("three-one", 600, keys="fixed"), Verdict.HOLDS, "the hull stays, and so does 0 in it"
    )
    yield Control(_case("symmetric", 60), Verdict.HOLDS, "a mirrored cloud keeps the origin")


CLAIM = Claim(
    name="theorem_3_1_smaller_first_step",
    section=3,
    title="the bound of Theorem 3.1 with steps 2/(t + 3)",
    statement="With the steps 2/(t + 3), all below 1, and all else as in Theorem 3.1, the energy "
    "of every token is at most 2/(t + 1) of λ_max times the squared diameter of the first hull.",
    formula="γ_t = 2/(t + 3):  J(x_i^{t+1}) ≤ 2/(t + 1) · λ_max(B_*) · d(K⁰)²",
    source="arXiv 2508.09628v1, Theorem 3.1, with steps inside the range (0, 1) of the model",
    standing=Standing.FALSE,
    remark="A reader may blame the first step γ_0 = 1; it is not to blame.",
    hypotheses=("keys are the current tokens", "steps 2/(t + 3)",
                "B_* ⪰ 0 (here diagonal)", "the origin lies in the first hull"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="max_i J(x_i^{t+1}) against the bound",
    horizon="40 to 600 steps; long: 300 to 2000",
    arithmetic="exact (fractions)",
    expects=Verdict.BROKEN,
    expects_witness="token_cloud[name=three-one], keys=moving, step=harmonic(2,3): t = 575: "
    "27810565225/500518134162 > 1/18",
)  # fmt: skip
