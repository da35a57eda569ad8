"""How common the counterexamples to Theorem 3.1 are: nearly every random start loses the origin."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.geometry.exact_hulls import holds
from fwbench.problem import QuadraticOverHull
from fwbench.theory.claim import (
    Case,
    Claim,
    Control,
    Curves,
    Effort,
    Line,
    Outcome,
    Standing,
    Verdict,
    text,
)
from fwbench.theory.intervals import at_least, binomial
from fwbench.theory.walks import hardmax, walk

PROBABILITY = 0.98
HORIZON = 100
# d, n, step
SHAPES = ((1, 2, "open_loop(2)"), (1, 5, "harmonic(2,3)"), (2, 3, "constant(0.5)"),
          (2, 6, "open_loop(2)"))  # fmt: skip
MORE = ((1, 20, "open_loop(2)"), (2, 6, "constant(0.1)"), (2, 20, "open_loop(2)"),
        (3, 8, "open_loop(2)"))  # fmt: skip


def _case(
    d: int, n: int, step: str, replicas: int, horizon: int = HORIZON, *,
    seed: int = 0, mirrored: bool = False,
) -> Case:  # fmt: skip
    name = f"{n} Gaussian tokens in dimension {d}, step={step}, {replicas} starts, seed {seed}"
    given = {"d": d, "n": n, "step": step, "replicas": replicas, "seed": seed, "horizon": horizon}
    return Case(name + ", mirrored" * mirrored, given | {"mirrored": mirrored})


def _cases(effort: Effort) -> Iterator[Case]:
    for d, n, step in SHAPES + (MORE if effort.long else ()):
        yield _case(d, n, step, effort.of(400, 1000), seed=effort.seed)


def _refuses(case: Case) -> str | None:
    return "mirrored starts are no Gaussian ones" if case["mirrored"] else None


def _starts(case: Case) -> Iterator[QuadraticOverHull]:
    """Yield the draws whose hull has the origin, by exact membership."""
    rng, n = np.random.default_rng(case["seed"]), case["n"]
    for _ in range(case["replicas"]):
        while True:
            tokens = rng.standard_normal((n, case["d"]))
            if case["mirrored"]:
                tokens[n // 2 :] = -tokens[: n // 2]
            if holds(tokens):
                break
        yield QuadraticOverHull(tokens, start=range(n))


def _check(case: Case, effort: Effort) -> Outcome:
    times, solver = [], hardmax(case["step"], ties="lowest")  # Gaussian tokens do not tie
    for problem in _starts(case):
        for t, x in walk(problem, solver, case["horizon"]):
            if not holds(x):
                times.append(t)
                break
    interval = binomial(len(times), case["replicas"])
    verdict = at_least(interval, PROBABILITY)
    witness = f"lost {len(times)} of {case['replicas']} times, {interval.text}"
    numbers = {"lost": f"{len(times)} of {case['replicas']}", "interval": interval.text}
    if times:
        numbers |= {"median t": text(float(np.median(times))), "latest t": text(max(times))}
    ends = np.arange(max(times, default=0) + 2.0)
    left = [1 - sum(time <= end for time in times) / case["replicas"] for end in ends]
    curves = Curves(
        f"Starts whose hull still has the origin: {case['n']} tokens, d = {case['d']}", "t",
        "share", (Line("the origin is in the hull", ends, np.array(left)),),
    )  # fmt: skip
    return Outcome(
        verdict, f"{case['replicas']} replicas, {case['horizon']} steps",
        witness if verdict is Verdict.BROKEN else "", numbers, curves,
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case(2, 4, "open_loop(2)", 12, 12, mirrored=True), Verdict.BROKEN,
        "mirrored clouds keep the origin",
    )  # fmt: skip


CLAIM = Claim(
    name="origin_lost_generically",
    section=3,
    title="nearly every random start loses the origin",
    statement="Gaussian tokens with the origin in their hull, B = −I: for each number of tokens, "
    "dimension and step that is tried, with probability at least 0.98 some hull K^t, t ≤ 100, "
    "lacks the origin, and Theorem 3.1 fails in the end.",
    formula="P(0 ∉ K^t for some t ≤ 100 | 0 ∈ K⁰) ≥ 0.98",
    source="this project; no proof",
    standing=Standing.MEASURED,
    remark="Most starts lose it within a few steps. On the line it is certain (claim "
    "one_dimension).",
    hypotheses=("Gaussian tokens, drawn until the origin lies in the hull, by exact membership",
                "B_* = I, keys are the current tokens"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="share of starts that lose the origin, exact binomial interval at 0.999",
    horizon="400 starts a shape, 100 steps; long: 1000 starts, four more shapes",
    arithmetic="exact (the doubles that were drawn, as fractions)",
    expects=Verdict.HOLDS,
    telling="latest t",
)  # fmt: skip
