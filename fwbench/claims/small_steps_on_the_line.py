"""On the line the cluster is at most one step's length away from the origin.

Proof. Let s be the last index whose hull has the origin, and all tokens be positive after step s.
The former least token was not positive, so it lands at γ_s d(K^s) or below, and the new least one
is no larger. From then on the least token is everybody's leader, its own too, and never moves.
"""

from __future__ import annotations

from collections.abc import Iterator

from fwbench.geometry.exact_hulls import holds
from fwbench.theory.bounds import receding
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
from fwbench.theory.walks import exact_form, hardmax, instance, walk

GAMMAS = ("0.5", "0.3", "0.1", "0.03", "0.01", "0.003")
STEPS = ("open_loop(2)", "harmonic(1,4)", "constant(1/3)", "constant(0.05)", "rising(1,2)")
AFTER = 5  # steps for which the cluster's end is seen to stay, once the origin is lost


def _case(cloud: str, step: str, steps: int) -> Case:
    given = {"problem": instance(f"token_cloud[{cloud}]"), "step": step, "steps": steps}
    return Case(f"token_cloud[{cloud}], step={step}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    for gamma in GAMMAS:
        yield _case("name=three-one", f"constant({gamma})", 300)
    for seed in range(effort.of(20, 400)):
        step = STEPS[seed % len(STEPS)]
        yield _case(f"n={2 + seed % 6},d=1,integers=30,seed={seed}", step, 300)
    yield _case("n=3,d=2,integers=9,seed=0", "constant(0.1)", 0)


def _refuses(case: Case) -> str | None:
    x = case["problem"].exact_atoms
    if x.shape[1] != 1:
        return "not on the line"
    if exact_form(case["problem"])[0] <= 0:
        return "B is not negative"
    return None if holds(x) else "the origin lies outside the first hull"


def _check(case: Case, effort: Effort) -> Outcome:
    layers = walk(case["problem"], hardmax(case["step"]), case["steps"])
    first, witness, t = None, "", case["steps"]
    for t, distance, allowed in receding(layers, case["step"]):
        first = first or (t, distance)
        if distance > allowed:
            witness = f"t = {t}: squared distance {text(float(distance))} > {text(float(allowed))}"
        elif case["problem"].d == 1 and distance != first[1]:
            witness = f"t = {t}: the end of the hull next to the origin has moved"
        if witness or t >= first[0] + AFTER:
            break
    if first is None:
        return Outcome(Verdict.VACUOUS, f"{case['steps']} steps: the hull keeps the origin")
    numbers = {"lost at": text(first[0]), "cluster at": text(float(first[1]) ** 0.5)}
    return Outcome(
        Verdict.BROKEN if witness else Verdict.HOLDS, counted(t, "step"), witness, numbers
    )


def _controls(effort: Effort) -> Iterator[Control]:
    for gamma in ("0.03", "0.003"):
        yield Control(
            _case("name=receding", f"constant({gamma})", 200), Verdict.BROKEN,
            "in the plane the hull goes on receding",
        )  # fmt: skip


CLAIM = Claim(
    name="small_steps_on_the_line",
    section=3,
    title="small steps end near the origin, on the line",
    statement="On the line, with constant B < 0 and any steps in [0, 1], tokens end at most γ_s "
    "d(K^s) away from the origin, s the last index whose hull has it.",
    formula="d = 1:  |z| ≤ γ_s d(K^s)",
    source="this project; proof: in the file of the claim",
    standing=Standing.AMENDED,
    remark="So the limit of small steps is the origin on the line; it need not be in the plane.",
    hypotheses=("d = 1, constant B < 0", "the origin lies in the first hull", "ties=points"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="distance of the hull to the origin after the loss: bounded, and constant",
    horizon="5 steps after the loss, which comes within 300",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
)  # fmt: skip
