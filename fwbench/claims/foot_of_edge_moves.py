"""Under a rule that averages ties, a point rests only where it is the mean of its leaders.

Without a gap a point may still move: at the foot of the perpendicular from the origin to an edge
both ends lead, any point of the edge would do as the leader, and the rule picks the middle.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.ascent import gaps
from fwbench.geometry.ownership import scores
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.walks import cloud_of, stepped, walk

SOLVER = "hardmax_attention[keys={keys},ties={ties},step=constant(3/10),arithmetic=exact]"
PLANE = np.array([Fraction(1), Fraction(1)], dtype=object)
# The query comes last.
UNEVEN = [["2", "0"], ["0", "1"], ["-1", "-1"], ["2/5", "4/5"]]  # the foot of the first edge
MIDDLE = [["1", "1"], ["-1", "1"], ["0", "-1"], ["0", "1"]]  # equal norms: the foot is the middle
ASIDE = [["1", "1"], ["-1", "1"], ["0", "-1"], ["1/2", "1"]]  # no foot: one end leads
CORNER = [["2", "0"], ["0", "1"], ["-1", "-1"], ["2", "0"]]


def _case(tokens: list[list[str]], keys: str, ties: str, claimed: str = "mean") -> Case:
    told = " ".join(f"({', '.join(token)})" for token in tokens)
    exact = np.array([[Fraction(entry) for entry in token] for token in tokens], dtype=object)
    given = {"tokens": exact, "keys": keys, "ties": ties, "claimed": claimed}
    return Case(f"tokens {told}, keys {keys}, ties {ties}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    for tokens in (UNEVEN, MIDDLE, ASIDE, CORNER):
        for keys, ties in (("fixed", "points"), ("moving", "points"), ("moving", "indices")):
            yield _case(tokens, keys, ties)
    yield _case(UNEVEN, "moving", "lowest")


def _refuses(case: Case) -> str | None:
    return "one of the tied leads, no mean of them" if case["ties"] == "lowest" else None


def _after(case: Case) -> NDArray[Any]:
    """Return where one step of the solver takes the query, shape (d,)."""
    tokens = case["tokens"]
    solver = SOLVER.format(keys=case["keys"], ties=case["ties"])
    if case["keys"] == "fixed":
        return np.asarray(stepped(cloud_of(tokens[:-1], PLANE), solver, tokens[-1:])[0])
    *_, (_, points) = walk(cloud_of(tokens, PLANE), solver, 1)
    return np.asarray(points[-1])


def _check(case: Case, effort: Effort) -> Outcome:
    """Ask whether the query rests exactly where it should: at the mean of its leaders."""
    tokens, x = case["tokens"], case["tokens"][-1]
    keys = tokens[:-1] if case["keys"] == "fixed" else tokens
    row = scores(x[None], keys, PLANE)[0]
    leaders = [tuple(key) for key in keys[row == row.max()]]
    counted = list(dict.fromkeys(leaders)) if case["ties"] == "points" else leaders
    gap = gaps(x[None], keys, PLANE)[0]
    mean = np.array(counted, dtype=object).sum(axis=0) / len(counted)
    should = bool((mean == x).all()) if case["claimed"] == "mean" else gap == 0
    after = _after(case)
    rests = bool((after == x).all())
    broken = "" if rests == should else f"gap {text(gap)}, yet {_point(x)} goes to {_point(after)}"
    return Outcome(
        Verdict.HOLDS if rests == should else Verdict.BROKEN, "1 step", broken,
        {"gap": text(gap), "leaders": text(len(counted)), "after the step": _point(after)},
    )  # fmt: skip


def _point(x: NDArray[Any]) -> str:
    return f"({', '.join(map(text, x))})"


def _controls(effort: Effort) -> Iterator[Control]:
    for keys in ("fixed", "moving"):
        yield Control(
            _case(UNEVEN, keys, "points", claimed="no gap"), Verdict.BROKEN,
            "that a point without gap rests: not under a rule that averages",
        )  # fmt: skip


CLAIM = Claim(
    name="foot_of_edge_moves",
    section=4,
    title="without a gap and yet not at rest: the foot of an edge",
    statement="Under a rule that averages over ties, a point rests if and only if it is the mean "
    "of its leaders; that its gap is zero is necessary, not sufficient.",
    formula="x⁺ = x  ⟺  x = mean of argmax_y ⟨Bx, y⟩;  gap(x) = 0 says only that x is in the hull "
    "of the argmax",
    source="this project; proof: x⁺ − x = γ (mean − x)",
    standing=Standing.PROVED,
    remark="The foot (2/5, 4/5) of the edge from (2, 0) to (0, 1) ties exactly, in rationals. "
    "Rounding may drop one of the tied leaders: this is a statement for exact arithmetic alone.",
    hypotheses=("ties are averaged: points or indices",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="the point before and after one step, step length 3/10",
    horizon="1 step",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
)
