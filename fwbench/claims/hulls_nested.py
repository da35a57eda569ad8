"""Hulls are nested: a token steps towards a point of the hull, and stays in it.

Proof: x^{t+1} = (1 − γ) x^t + γ y with x^t and y in K^t, which is convex. Nothing else is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from fwbench.problem import QuadraticOverHull
from fwbench.steps import step_rule
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
from fwbench.theory.walks import first_exit, hardmax, walk

TIES = ("points", "indices", "lowest")
STEPS = ("open_loop(2)", "harmonic(2,3)", "constant(0.5)", "rising(1,2)", "geometric(1/2,1/2)")
RESIDUAL = 1e-9  # of the radius: how far outside rounding may put a token


def _case(
    n: int, d: int, seed: int, step: str, ties: str, steps: int, *,
    values: str = "none", arithmetic: str = "exact",
) -> Case:  # fmt: skip
    rng = np.random.default_rng(seed)
    tokens, Q = rng.integers(-9, 10, (n, d)), rng.integers(-3, 4, (d, d))
    name = f"{n} integer tokens in [-9, 9]^{d}, Q in [-3, 3]^({d}, {d}), seed {seed}, step={step}"
    given = {"problem": QuadraticOverHull(tokens, Q, start=range(n)), "steps": steps}
    given |= {"step": step, "ties": ties, "values": values, "arithmetic": arithmetic}
    return Case(f"{name}, ties={ties}, values={values}, {arithmetic}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    steps, seed = effort.of(8, 20), 0
    for step, ties in product(STEPS, TIES):
        for d in (1, 2) if not effort.long else (1, 2, 3):
            seed += 1
            yield _case(6, d, seed, step, ties, steps)
    for seed in range(effort.of(2, 20)):
        yield _case(4, 3, seed, "constant(0.5)", "points", 4)
        yield _case(12, 5, seed, "constant(0.5)", "points", steps, arithmetic="float")
    yield _case(3, 2, 0, "open_loop(2)", "points", steps, values="3/2 7/3")


def _refuses(case: Case) -> str | None:
    if case["values"] != "none":
        return "the steps are matrices"
    lengths = step_rule(case["step"]).exact_lengths(0, case["steps"])
    return None if all(0 <= gamma <= 1 for gamma in lengths) else "a step outside [0, 1]"


def _check(case: Case, effort: Effort) -> Outcome:
    """Look for a token outside the hull of the layer before, exactly, or by least squares."""
    problem, horizon = case["problem"], counted(case["steps"], "step")
    solver = hardmax(
        case["step"], ties=case["ties"], values=case["values"], arithmetic=case["arithmetic"]
    )
    layers = walk(problem, solver, case["steps"])
    if case["arithmetic"] == "exact":
        left = first_exit(layers)
        if left is None:
            return Outcome(Verdict.HOLDS, horizon)
        witness = f"t = {left[0]}: ({', '.join(map(text, left[1]))}) outside"
        return Outcome(Verdict.BROKEN, horizon, witness)
    from scipy.optimize import nnls

    worst, before = 0.0, None
    for _, x in layers:
        if before is not None:
            system = np.vstack([before.T / problem.radius, np.ones(len(before))])
            for row in x / problem.radius:
                worst = max(worst, float(nnls(system, np.append(row, 1.0))[1]))
        before = x
    verdict = Verdict.HOLDS if worst <= RESIDUAL else Verdict.BROKEN
    outside = f"a token is {text(worst)} of the radius outside" if worst > RESIDUAL else ""
    return Outcome(verdict, horizon, outside, {"largest residual": text(worst)})


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case(3, 2, 0, "open_loop(2)", "points", 3, values="3/2 7/3"), Verdict.BROKEN,
        "matrix steps leave the hull",
    )  # fmt: skip
    yield Control(
        _case(12, 5, 0, "open_loop(2)", "points", 3, values="1/2 1 2 3 4", arithmetic="float"),
        Verdict.BROKEN, "matrix steps leave the hull, by least squares",
    )  # fmt: skip


CLAIM = Claim(
    name="hulls_nested",
    section=2,
    title="hulls are nested",
    statement="With scalar steps in [0, 1], any B and any tie rule, the hull of the tokens never "
    "grows.",
    formula="K^{t+1} ⊆ K^t",
    source="arXiv 2508.09628v1, section 2, the lemma that the hull decreases",
    standing=Standing.CHECKED,
    remark="Stated for steps in (0, 1); it holds with both ends.",
    hypotheses=("scalar steps in [0, 1]",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="membership of each x_i^{t+1} in K^t; residual of nonnegative least squares, at most "
    "1e-9 of the radius, in five dimensions",
    horizon="4 to 8 steps; long: 20",
    arithmetic="exact (fractions) up to three dimensions, floating point in five",
    expects=Verdict.HOLDS,
    telling="largest residual",
)  # fmt: skip
