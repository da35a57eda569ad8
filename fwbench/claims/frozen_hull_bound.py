"""With fixed keys Theorem 3.1 is right: then the update is a Frank-Wolfe step over the first hull.

The classical bound is 2/(t + 2) of λ d² at t + 1 steps, below the theorem's 2/(t + 1). The hull
stays K⁰, so the origin stays in it and the least energy is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from fwbench.theory.bounds import Compared, compared, outside, size
from fwbench.theory.claim import (
    Case,
    Claim,
    Control,
    Curves,
    Effort,
    Outcome,
    Standing,
    Verdict,
    text,
)
from fwbench.theory.walks import exact_form, hardmax, instance, squared_diameter, walk

# cloud, arithmetic: ratios stay below 0.2, far from where rounding could decide
CLOUDS = {"name=three-one": "exact", "n=20,d=2,seed=0": "float", "n=40,d=5,seed=0": "float"}

SHORTER = 10  # with moving keys the energy has long come to rest by then


def _case(cloud: str, steps: int, arithmetic: str, keys: str = "fixed") -> Case:
    name = f"token_cloud[{cloud}]" + (f", keys={keys}" if keys != "fixed" else "")
    given = {"problem": instance(f"token_cloud[{cloud}]"), "steps": steps}
    return Case(name, given | {"arithmetic": arithmetic, "keys": keys})


def _cases(effort: Effort) -> Iterator[Case]:
    for cloud, arithmetic in CLOUDS.items():
        yield _case(cloud, effort.of(4000, 20_000), arithmetic)
    for seed in range(effort.of(3, 60)):
        yield _case(f"n=5,d=2,integers=9,seed={seed}", effort.of(60, 300), "exact")
    yield _case("name=four-one", 60, "exact", keys="moving")


def _refuses(case: Case) -> str | None:
    if case["keys"] != "fixed":
        return "keys move, and the hull with them"
    return outside(case["problem"])


def _compared(case: Case, keys: str, steps: int) -> Compared:
    problem, exact = case["problem"], case["arithmetic"] == "exact"
    most, Q = 2 * size(problem), exact_form(problem)
    ties = (
        "points" if exact else "lowest"
    )  # Gaussian tokens do not tie, and this rule is the fast one
    solver = hardmax(keys=keys, ties=ties, arithmetic=case["arithmetic"])
    layers = walk(problem, solver, steps)
    if exact:
        return compared(layers, Q, lambda t: most / Fraction(t + 1))
    return compared(layers, Q.astype(float), lambda t: float(most) / (t + 1))


def _check(case: Case, effort: Effort) -> Outcome:
    found = _compared(case, case["keys"], case["steps"])
    outcome = found.outcome()
    if case["steps"] < 1000:
        return outcome
    squared = float(squared_diameter(case["problem"].exact_atoms))
    moving = _compared(case, "moving", case["steps"] // SHORTER)
    numbers = {
        "J / d² at the end": text(float(found.last) / squared),
        f"with moving keys, after {case['steps'] // SHORTER} steps": text(
            float(moving.last) / squared
        ),
    }
    lines = (found.line("keys fixed"), moving.line("keys moving"), found.level)
    curves = Curves(
        f"Energy over the bound of Theorem 3.1, {case.name}", "t + 1", "J / bound", lines,
        log_x=True, log_y=True, note="With fixed keys the energy falls like 1/t².",
    )  # fmt: skip
    return replace(outcome, numbers={**outcome.numbers, **numbers}, curves=curves)


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("name=four-one", 240, "exact", keys="moving"), Verdict.BROKEN,
        "keys moving, the hull loses the origin",
    )  # fmt: skip


CLAIM = Claim(
    name="frozen_hull_bound",
    section=3,
    title="the bound of Theorem 3.1 with fixed keys",
    statement="With keys that stay where they were, so that leaders are looked for in the first "
    "hull, and all else as in Theorem 3.1, the energy of every token is at most 2/(t + 1) of λ_max "
    "times the squared diameter of that hull.",
    formula="leaders in K⁰:  J(x_i^{t+1}) ≤ 2/(t + 1) · λ_max(B_*) · d(K⁰)²",
    source="this project; proof: the classical bound of Frank-Wolfe (Jaggi 2013)",
    standing=Standing.AMENDED,
    remark="In practice J falls like 1/t² here, where it stays above a constant with moving keys.",
    hypotheses=("keys are the first tokens", "steps 2/(t + 2)",
                "B_* ⪰ 0 constant (here diagonal)", "the origin lies in the first hull"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="max_i J(x_i^{t+1}) against the bound",
    horizon="60 to 4000 steps; long: 300 to 20 000",
    arithmetic="exact (fractions); floating point on Gaussian clouds, whose ratios stay below 0.2",
    expects=Verdict.HOLDS,
    telling="largest ratio",
)  # fmt: skip
