r"""When a given token looks away: geometric with its own p at the start. False.

Its chances change once another token has strayed: towards the one that left its vertex and towards
the place where it now is. It is true as long as nobody moves, and of the first of all tokens.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.geometry.dominance import regular_polygon
from fwbench.theory.chains import Until, attention, events
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.intervals import CONFIDENCE, binomial

QUANTILES = (0.5, 0.25, 0.75, 0.9)
SETTLED = 10_000  # steps in which every token has


def _case(k: int, beta: float, gamma: float) -> Case:
    return Case(
        f"regular polygon of {k}, a token a vertex, beta = {beta:g}, step {gamma:g}",
        {"k": k, "beta": beta, "gamma": gamma},
    )


def _cases(effort: Effort) -> Iterator[Case]:
    yield _case(3, 3.0, 0.5)
    yield _case(4, 4.0, 0.5)
    yield _case(3, 4.0, 0.1)
    yield _case(1, 3.0, 0.5)  # refused


def _refuses(case: Case) -> str | None:
    return None if case["k"] >= 3 else "no polygon"


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare how many replicas have not seen it by the quantiles of the law."""
    vertices, replicas = regular_polygon(case["k"]), effort.of(4000, 50_000)
    p = 1 - float(attention(vertices, case["beta"])[0, 0])
    first = events(
        vertices, np.arange(case["k"]), beta=case["beta"], gamma=case["gamma"], replicas=replicas,
        steps=SETTLED, until=Until.FIRST_CROSSED, seed=effort.seed,
    ).crossed[:, 0]  # fmt: skip
    confidence, broken = 1 - (1 - CONFIDENCE) / len(QUANTILES), ""
    for u in QUANTILES:
        t = int(np.ceil(np.log1p(-u) / np.log1p(-p)))
        interval = binomial(int((first > t).sum()), replicas, confidence)
        if not interval.low <= (1 - p) ** t <= interval.high and not broken:
            broken = f"P(not by t = {t}) = {text((1 - p) ** t)} not in {interval.text}"
    seen = first[first <= SETTLED]
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        f"{replicas} replicas of {SETTLED} steps",
        broken,
        {
            "mean, seen": text(float(seen.mean())), "mean, law": text(1 / p),
            "standard error": text(float(seen.std() / np.sqrt(len(seen)))),
            "not seen": text(replicas - len(seen)),
        },
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(_case(3, 3.0, 0.0), Verdict.HOLDS, "nobody moves: the chances stay")


CLAIM = Claim(
    name="escape_law_of_one_token",
    section=5,
    title="the first cross-pick of a given token is geometric",
    statement="From one token at each vertex of a regular polygon, the first step at which a given "
    "token picks another one is geometric with p, its attention to all others at the start.",
    formula="P(token 1 has not by t) = (1 − p)^t",
    source="this project; for the chain (SA_P) of arXiv 2508.09628v1",
    standing=Standing.FALSE,
    remark="A natural slip when the law of any token is explained by that of one.",
    hypotheses=("one token at each vertex of a regular polygon of radius 1",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="frequency of no cross-pick at four quantiles, exact intervals, 99.9 % together",
    horizon="until it does, 4000 (long: 50 000) replicas",
    arithmetic="float64, seeded",
    expects=Verdict.BROKEN,
    expects_witness="regular polygon of 3, a token a vertex, beta = 3, step 0.5: "
    "P(not by t = 32) = 0.495002",
)
