"""What the first version's abstract says: tokens contract linearly to a cluster at the origin.

False: once a hull lacks the origin all later ones do, and no token comes closer to it than that
hull.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fwbench.geometry.exact_hulls import holds, least_energy
from fwbench.theory.bounds import outside
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
from fwbench.theory.walks import OPEN_LOOP, energies, exact_form, hardmax, instance, walk

NEAR = Fraction(1, 1000)  # of the largest |x| at first: who keeps the origin must have come so near
SETTLED = 4  # steps after the loss: the hull has mostly shrunk to where it stays


def _case(cloud: str, step: str, steps: int = 60, keys: str = "moving") -> Case:
    given = {"problem": instance(f"token_cloud[{cloud}]"), "step": step, "steps": steps}
    return Case(f"token_cloud[{cloud}], step={step}, keys={keys}", given | {"keys": keys})


def _cases(effort: Effort) -> Iterator[Case]:
    for step in (OPEN_LOOP, "harmonic(2,3)", "constant(0.5)", "constant(0.1)"):
        for name in ("three-one", "four-one", "triangle-16"):
            yield _case(f"name={name}", step)
    for seed in range(effort.of(4, 40)):
        yield _case(f"n=7,d=2,integers=9,seed={seed}", "constant(0.5)")
    yield _case("n=3,d=2,integers=9,seed=0", "constant(0.5)")  # the origin outside
    yield _case("name=four-one", OPEN_LOOP, keys="fixed")


def _refuses(case: Case) -> str | None:
    if case["keys"] != "moving":
        return "keys are fixed"
    if (reason := outside(case["problem"])) is not None:
        return reason
    if exact_form(case["problem"]).min() <= 0:
        return "B is not negative definite"
    return "d > 2, where the distance to a hull is not known" if case["problem"].d > 2 else None


def _check(case: Case, effort: Effort) -> Outcome:
    """Look for a hull without the origin, and how far away from it the later ones stay."""
    unit = np.full(case["problem"].d, Fraction(1), dtype=object)
    lost, farthest = None, list[Fraction]()
    for t, x in walk(case["problem"], hardmax(case["step"], keys=case["keys"]), case["steps"]):
        farthest.append(2 * energies(x, unit).max())
        if case["keys"] == "moving" and lost is None and not holds(x):
            lost = t
        if lost is not None and t == lost + SETTLED:
            square = 2 * least_energy(x, unit)
            away = f"t = {lost}: the origin is lost; |x_i|² ≥ {text(square)} from t = {t} on"
            return Outcome(
                Verdict.BROKEN, counted(t, "step"), away,
                {"lost at": text(lost), "squared distance of the hull": text(square)},
            )  # fmt: skip
    contracted = farthest[-1] <= NEAR**2 * farthest[0]
    return Outcome(
        Verdict.HOLDS if contracted else Verdict.INCONCLUSIVE, counted(case["steps"], "step"), "",
        {"largest |x| at the end": text(float(farthest[-1]) ** 0.5)},
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("name=symmetric", "constant(0.3)"), Verdict.HOLDS, "a mirrored cloud does contract"
    )


CLAIM = Claim(
    name="contraction_to_origin",
    section=3,
    title="tokens contract linearly to the origin",
    statement="With B ≺ 0 and the origin in the first hull, the tokens contract linearly to a "
    "cluster at the origin.",
    formula="|x_i^t| ≤ C r^t,  r < 1",
    source="arXiv 2508.09628v1, abstract",
    standing=Standing.FALSE,
    remark="The published version claims the rate 1/t of the energy instead, which Theorem 3.1 "
    "does not give either. They do form a cluster: see the claim consensus.",
    hypotheses=("keys are the current tokens", "B ≺ 0 (here diagonal, d ≤ 2)",
                "the origin lies in the first hull"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="distance of the origin to the hull; where it stays inside, the largest |x|, to be "
    "1/1000 of the first",
    horizon="60 steps",
    arithmetic="exact (fractions)",
    expects=Verdict.BROKEN,
    expects_witness="token_cloud[name=three-one], step=open_loop(2), keys=moving: t = 2: the "
    "origin is lost; |x_i|² ≥ 1/9 from t = 6 on",
)  # fmt: skip
