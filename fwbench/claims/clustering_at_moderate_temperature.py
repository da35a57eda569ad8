r"""What Theorem 5.2 says at moderate temperatures: nothing, for no start is admitted.

Starts lie where v_i beats every other vertex by η = β^{−1/8}, and δ = β^{−1/4} inside of that. In
the triangle of circumradius 1 the farthest such point on the axis of v_i is r v_i with r ≤ 1 − 2δ
(the two edges at v_i) and 3r/2 ≥ η + √3 δ (the other vertices): with δ = η² there is one exactly
if (3 + √3) η² + η ≤ 3/2, that is from β = 440.7 on.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.geometry.dominance import eroded_share, regular_polygon
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

TRIANGLE = regular_polygon(3)
MODERATE = (1, 10, 100, 300, 440)
LARGE = (1_000, 10_000, 1_000_000)


def _case(beta: float) -> Case:
    return Case(f"unit triangle, beta = {beta:g}", {"beta": float(beta)})


def _cases(effort: Effort) -> Iterator[Case]:
    yield from map(_case, MODERATE)


def _refuses(case: Case) -> str | None:
    return None if case["beta"] > 0 else "β is not positive"


def _share(beta: float) -> float:
    return eroded_share(TRIANGLE, beta ** (-1 / 8), beta ** (-1 / 4))


def _check(case: Case, effort: Effort) -> Outcome:
    """Measure which part of the triangle the starts cover: none, and the theorem is vacuous."""
    share = _share(case["beta"])
    return Outcome(
        Verdict.HOLDS if share > 0 else Verdict.VACUOUS,
        "the whole triangle",
        "",
        {
            "share of the triangle": text(share),
            "probability promised": text(1 - case["beta"] ** (-1 / 8)),
        },
        _curves() if case["beta"] == MODERATE[0] else None,
    )


def _curves() -> Curves:
    grid = np.geomspace(100, 1e8, 120)
    return Curves(
        "Reach of Theorem 5.2 on the unit triangle", "β", "",
        (Line("share of the triangle", grid, np.array([_share(beta) for beta in grid])),
         Line("probability promised", grid, 1 - grid ** (-1 / 8), bound=True)),
        log_x=True,
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    for beta in (441, *LARGE):
        yield Control(_case(beta), Verdict.HOLDS, "β is so large that there are starts")


CLAIM = Claim(
    name="clustering_at_moderate_temperature",
    section=5,
    title="Theorem 5.2 at β up to 440",
    statement="On the regular triangle of circumradius 1, Theorem 5.2 promises clustering for some "
    "starts at β up to 440.",
    formula="I_i(β^{−1/8}) ⊖ β^{−1/4} B_1 ≠ ∅",
    source="arXiv 2508.09628v1, Theorem 5.2",
    standing=Standing.STATED,
    remark="The theorem speaks of β beyond some β_*; below 440.7 it would speak of no start. Even "
    "at 10 000 the starts cover 22 % of the triangle, with a probability of 0.68.",
    hypotheses=("β > 0",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="area of the eroded dominance cones over that of the triangle",
    horizon="β = 1 to 440",
    arithmetic="float64",
    expects=Verdict.VACUOUS,
    telling="probability promised",
)
