r"""Where tokens coincide, their weights add: the chain draws an index, not a point.

A point that m tokens share is picked with m e^s/Σ_k e^{s_k}, the sum over all tokens. A chain that
draws among the different points is another one, and forgets how large a cluster is. The hardmax
limit of the paper counts points instead, the limit of the chain at β = ∞ tokens.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.problem import QuadraticOverHull
from fwbench.theory.chains import first_picks, law
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.intervals import CONFIDENCE, binomial


def _case(multiplicities: tuple[int, ...], beta: float, *, once: bool = False) -> Case:
    """Build tokens at 0 or more of the points of a triangle, each so often; B = I.

    `once` takes every point once.
    """
    points = np.array([[1.0, 0.0], [-0.5, 0.75], [-0.25, -0.5], [0.5, 0.5]])[: len(multiplicities)]
    counted = ", every point counted once" if once else ""
    return Case(
        f"{len(points)} points with {' '.join(map(str, multiplicities))} tokens, "
        f"beta = {beta:g}{counted}",
        {"points": points, "counts": multiplicities, "beta": beta, "once": once},
    )


def _cases(effort: Effort) -> Iterator[Case]:
    yield _case((5, 1, 1), 1.0)
    yield _case((2, 3, 1, 1), 2.0)
    yield _case((1, 20, 1), 0.5)
    yield _case((1, 1, 1), 1.0)  # refused


def _refuses(case: Case) -> str | None:
    return None if max(case["counts"]) > 1 else "no tokens coincide"


def _check(case: Case, effort: Effort) -> Outcome:
    """Count picks of points by the first token at each point."""
    replicas, points = effort.of(5000, 100_000), case["points"]
    place = np.repeat(np.arange(len(points)), case["counts"])
    cloud = QuadraticOverHull(points[place], -1.0, start=np.arange(len(place)))
    picks = place[first_picks(cloud, case["beta"], replicas=replicas, seed=effort.seed)]
    alone = law(QuadraticOverHull(points, -1.0), case["beta"])
    weights = alone * (1 if case["once"] else np.array(case["counts"]))
    weights /= weights.sum(axis=1)[:, None]
    confidence, broken = 1 - (1 - CONFIDENCE) / weights.size, ""
    for i in range(len(points)):
        drawn = picks[:, np.flatnonzero(place == i)[0]]
        for j, count in enumerate(np.bincount(drawn, minlength=len(points))):
            interval = binomial(int(count), replicas, confidence)
            if not interval.low <= weights[i, j] <= interval.high and not broken:
                broken = f"point {i + 1} picks {j + 1}: {text(weights[i, j])} not in "
                broken += interval.text
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        f"{replicas} replicas of one step",
        broken,
        {"probability of the first point for itself": text(weights[0, 0])},
    )


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case((5, 1, 1), 1.0, once=True), Verdict.BROKEN, "a law of points, not of tokens"
    )


CLAIM = Claim(
    name="weights_add_at_coinciding_tokens",
    section=5,
    title="weights of coinciding tokens add",
    statement="A point at which m tokens are is picked with m times the weight of one of them.",
    formula="P(i picks the point y) = Σ_{j: x_j = y} a_ij",
    source="arXiv 2508.09628v1, equation (SA_P)",
    standing=Standing.PROVED,
    remark="At once from the definition; a probability per target point is a usual slip.",
    hypotheses=("some tokens coincide",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="frequency of each point, exact binomial intervals, 99.9 % for all pairs together",
    horizon="one step, 5000 (long: 100 000) replicas",
    arithmetic="float64, seeded",
    expects=Verdict.HOLDS,
)
