r"""When the first token looks away: exactly geometric, from one token at each vertex of a polygon.

Proof: a token at a vertex picks another one with probability p, by symmetry the same for all; until
one does, nothing moves, and tokens draw independently. So the first such step is geometric with
q = 1 − (1 − p)^k. For large β, p ≈ 2e^{−β(1 − cos(2π/k))}: the logarithm of the median grows with
that slope. With more tokens at a vertex or a token inside it is another law.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.dominance import regular_polygon
from fwbench.theory.chains import Until, attention, events
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
from fwbench.theory.intervals import CONFIDENCE, binomial

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
LARGE = (40.0, 60.0)  # β between which the slope of the logarithm is taken


def _case(k: int, beta: float, *, pairs: bool = False) -> Case:
    each = "2 tokens" if pairs else "a token"
    return Case(
        f"regular polygon of {k}, {each} a vertex, beta = {beta:g}, step 0.5",
        {"k": k, "beta": beta, "tokens": np.repeat(regular_polygon(k), 1 + pairs, axis=0)},
    )


def _cases(effort: Effort) -> Iterator[Case]:
    for k, beta in ((3, 2.0), (3, 4.0), (4, 5.0), (5, 6.0), (6, 8.0)):
        yield _case(k, beta)
    yield _case(3, 4.0, pairs=True)  # refused


def _refuses(case: Case) -> str | None:
    return None if len(case["tokens"]) == case["k"] else "more than one token at a vertex"


def _straying(k: int, beta: float) -> float:
    """Return p, from the formula: the chance that a token picks one of the other vertices."""
    others = np.exp(-beta * (1 - np.cos(2 * np.pi * np.arange(1, k) / k))).sum()
    return float(others / (1 + others))


def _median(q: float) -> float:
    return float(np.log(0.5) / np.log1p(-q))


def _any(p: float, tokens: int) -> float:
    """Return the chance that one of so many tokens does, without loss of digits."""
    return float(-np.expm1(tokens * np.log1p(-p)))


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare how many replicas have not seen it by the quantiles of the law, each time exactly."""
    k, beta, replicas = case["k"], case["beta"], effort.of(2000, 50_000)
    p = _straying(k, beta)
    q = _any(p, k)
    times = np.unique([int(np.ceil(np.log1p(-u) / np.log1p(-q))) for u in QUANTILES])
    found = events(
        case["tokens"], np.repeat(np.arange(k), len(case["tokens"]) // k), beta=beta, gamma=0.5,
        replicas=replicas, steps=int(times[-1]), until=Until.CROSSED, seed=effort.seed,
    )  # fmt: skip
    first = found.crossed.min(axis=1)
    confidence, broken = 1 - (1 - CONFIDENCE) / len(times), ""
    for t in times:
        expected = float((1 - q) ** t)
        interval = binomial(int((first > t).sum()), replicas, confidence)
        if not interval.low <= expected <= interval.high and not broken:
            broken = f"P(none by t = {t}) = {text(expected)} not in {interval.text}"
    low, high = (np.log(_median(_any(_straying(k, large), k))) for large in LARGE)
    cross = 1 - np.diagonal(attention(regular_polygon(k), beta))
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        f"{replicas} replicas of {times[-1]} steps",
        broken,
        {
            "p": text(p), "p by the softmax solver": text(cross.max()),
            "median, law": text(_median(q)), "median, seen": text(float(np.median(first))),
            "slope of the logarithm of the median": text((high - low) / (LARGE[1] - LARGE[0])),
            "1 - cos(2 pi/k)": text(1 - np.cos(2 * np.pi / k)),
        },
        _curves(case.name, first, q, int(times[-1])) if (k, beta) == (3, 4.0) else None,
    )  # fmt: skip


def _curves(name: str, first: NDArray[np.int64], q: float, horizon: int) -> Curves:
    t = np.arange(horizon + 1.0)
    seen = np.array([(first > s).mean() for s in t])
    return Curves(
        f"No token has looked away yet, {name}", "t", "probability",
        (Line("frequency", t, seen), Line("(1 − q)^t", t, (1 - q) ** t, bound=True)),
        log_y=True,
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case(3, 4.0, pairs=True), Verdict.BROKEN, "two tokens a vertex: weights add, q is another"
    )


CLAIM = Claim(
    name="escape_law",
    section=5,
    title="the first cross-pick of any token is geometric",
    statement="From one token at each vertex of a regular polygon of k vertices, the first step at "
    "which any token picks another one is geometric with 1 − (1 − p)^k, p the attention of a token "
    "to all others; the logarithm of its median grows like (1 − cos(2π/k))β.",
    formula="P(nobody has by t) = (1 − p)^{kt},  p = S/(1 + S),  "
    "S = Σ_{j=1}^{k−1} e^{−β(1 − cos(2πj/k))}",
    source="this project; for the chain (SA_P) of arXiv 2508.09628v1",
    standing=Standing.PROVED,
    remark="It needs that tokens draw independently given their positions, which the paper leaves "
    "open.",
    hypotheses=("one token at each vertex of a regular polygon of radius 1",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="frequency of no cross-pick at five quantiles, exact intervals, 99.9 % together",
    horizon="the 90 % quantile, 2000 (long: 50 000) replicas",
    arithmetic="float64, seeded",
    expects=Verdict.HOLDS,
)
