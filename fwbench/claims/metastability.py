r"""Theorem 5.4 from the vertices: the probability that all groups stay, against its bound.

The first case runs β = 2 … 6 to see when tokens leave: the bound is negative at those times, so it
says nothing of them. It says something where e^{βc_0/2} is far beyond t, and there nobody leaves.
Before a token first picks one of another group nothing moves, if all start at vertices: the first
such step is geometric, and P(T_2 ≥ t) is at least (1 − q)^{t−1}, which needs no replica.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.dominance import diameter, narrowest, own_gap, regular_polygon
from fwbench.theory.chains import Until, attention, events, exponent
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
from fwbench.theory.intervals import Interval, at_least, binomial
from fwbench.theory.trials import together

VERTICES = regular_polygon(3)
GAP, SIZE = float(own_gap(VERTICES)), diameter(VERTICES)
PAIRS, GROUPS = np.repeat(VERTICES, 2, axis=0), np.repeat(np.arange(3), 2)
GAMMA = 0.02
LENGTH = 2 * SIZE  # ε/γ, with ε = 2γ d(K)
RUN = 3000  # steps beyond which replicas are not worth their time


def _case(betas: tuple[float, ...], t: int, *, margin: float = 1.0) -> Case:
    name = f"unit triangle, 2 tokens a vertex, beta = {betas[0]:g}"
    name += f" to {betas[-1]:g}" if len(betas) > 1 else ""
    scaled = "" if margin == 1 else f", score gap taken {margin:g} times"
    return Case(
        f"{name}, step {GAMMA:g}, t = {t}{scaled}", {"betas": betas, "t": t, "margin": margin}
    )


def _cases(effort: Effort) -> Iterator[Case]:
    yield _case((2.0, 3.0, 4.0, 5.0, 6.0), effort.of(RUN, 10 * RUN))
    yield _case((14.0,), 1000)
    yield _case((26.0,), 1_000_000)
    yield _case((-2.0,), 1000)  # refused


def _refuses(case: Case) -> str | None:
    if min(case["betas"]) <= 0:
        return "β is not positive"
    norms = (VERTICES**2).sum(axis=1)
    meets = narrowest(VERTICES) > 0 and np.ptp(norms) < 1e-12 and GAP > 0 and LENGTH >= 2 * SIZE
    return None if meets else "the polytope or ε does not meet the hypotheses"


def _strays(beta: float) -> float:
    """Return with what probability some token picks another vertex, from the start."""
    weights = attention(PAIRS, beta)
    cross = np.where(GROUPS[:, None] == GROUPS[None], 0.0, weights).sum(axis=1)
    return float(-np.expm1(np.log1p(-cross).sum()))


def _times(beta: float, t: int, effort: Effort) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return T_2 and the first pick of another vertex by replica; huge if not in t − 1 steps."""
    found = events(
        PAIRS, GROUPS, beta=beta, gamma=GAMMA, replicas=400, steps=t - 1, until=Until.LEFT,
        epsilon=LENGTH * GAMMA, seed=effort.seed,
    )  # fmt: skip
    return found.left, found.crossed.min(axis=1)


def _check(case: Case, effort: Effort) -> Outcome:
    """Take the worst of the temperatures: of each, the frequency of T_2 ≥ t or the exact bound."""
    t, verdicts, witness, numbers = case["t"], [], "", {}
    medians = dict[float, tuple[float, float, float]]()
    for beta in case["betas"]:
        promised = -np.expm1(exponent(t, len(PAIRS), beta, case["margin"] * GAP, LENGTH))
        q = _strays(beta)
        staying = float(np.exp((t - 1) * np.log1p(-q)))
        label = f"beta = {beta:g}, "
        numbers[label + "promised"] = text(promised)
        numbers[label + "P(nobody strays)"] = text(staying)
        if t > 100 * RUN:  # too long to run, and not needed
            verdicts.append(at_least(Interval(staying, 1.0), promised))
            continue
        left, crossed = _times(beta, t, effort)
        interval = binomial(int((left >= t).sum()), len(left))
        verdicts.append(at_least(interval, promised))
        law = float(np.log(0.5) / np.log1p(-q))
        medians[beta] = float(np.median(left)), float(np.median(crossed)), law
        numbers[label + "P(T_2 >= t)"] = interval.text
        numbers[label + "median T_2"] = _median(medians[beta][0], t)
        numbers[label + "median first cross-pick"] = _median(medians[beta][1], t)
        numbers[label + "left within the horizon"] = f"{(left < t).sum()}/{len(left)}"
        if verdicts[-1] is Verdict.BROKEN and not witness:
            witness = f"{label}P(T_2 ≥ {t}) in {interval.text}, below {text(promised)}"
    verdict = together(Outcome(v, "") for v in verdicts)
    curves = _curves(medians, t) if len(medians) > 1 else None
    run = "400 replicas, " if medians else ""
    return Outcome(verdict, f"{run}t = {t}", witness, numbers, curves)


def _median(value: float, t: int) -> str:
    return f"> {t - 1}" if value >= t else text(value)


def _curves(medians: dict[float, tuple[float, float, float]], t: int) -> Curves:
    betas = np.array(list(medians))
    rows = np.array([[m if m < t else np.nan for m in row[:2]] + [row[2]] for row in
                     medians.values()])  # fmt: skip
    # where 1 − exp(exponent) is ½, as a time; below 1 there is none
    logarithm = (LENGTH * betas * GAP / 2 - np.log(2)) / (1 + LENGTH) + np.log(LENGTH / len(PAIRS))
    return Curves(
        "When tokens leave their vertices, unit triangle", "β", "steps",
        (Line("median T_2", betas, rows[:, 0]),
         Line("median first cross-pick", betas, rows[:, 1]),
         Line("median first cross-pick, exact", betas, rows[:, 2]),
         Line("median T_2 at least, by the theorem", betas, np.exp(logarithm), bound=True)),
        log_y=True,
        note="Medians beyond the horizon are left out.",
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case((4.0,), 400, margin=8), Verdict.BROKEN,
        "a score gap eight times as large promises what does not happen",
    )  # fmt: skip


CLAIM = Claim(
    name="metastability",
    section=5,
    title="groups at the vertices stay for long",
    statement="Tokens that start at the vertices of the regular triangle of circumradius 1, with "
    "gap c_0 = 3/2, stay within ε = 2γ d(K) of them for a time t, at least with the probability "
    "below.",
    formula="P(T_2 ≥ t) ≥ 1 − exp((1 + ε/γ)(log(γt/ε) + log n) − (βc_0/2)(ε/γ))",
    source="arXiv 2508.09628v1, Theorem 5.4",
    standing=Standing.STATED,
    remark="The theorem speaks of every polytope with acute cones, equal norms and a gap. At times "
    "at which tokens can be seen to leave, the bound is negative. False at other scales, and from "
    "starts near an edge: see the claim on scales.",
    hypotheses=("regular triangle of circumradius 1, all tokens at vertices", "ε = 2γ d(K)"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="frequency of T_2 ≥ t, exact binomial interval at 99.9 %, or its exact lower bound",
    horizon="t = 3000 (long: 30 000) for β = 2 to 6, 1000 for β = 14, 10⁶ for β = 26",
    arithmetic="float64, seeded",
    expects=Verdict.HOLDS,
)  # fmt: skip
