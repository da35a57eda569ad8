"""Squares are small: a claim for tests, which copy this file and change numbers in it."""

from collections.abc import Iterator

import numpy as np

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

LARGEST = 9
BOUND = 100


def _cases(effort: Effort) -> Iterator[Case]:
    for number in range(-1, effort.of(LARGEST, 20) + 1, 5):
        yield Case(f"number {number}", {"number": number})


def _refuses(case: Case) -> str | None:
    return None if case["number"] >= 0 else "it is negative"


def _check(case: Case, effort: Effort) -> Outcome:
    number = case["number"]
    line = Line("<b>squares</b>", np.arange(3.0), np.array([1.0, np.nan, number**2]))
    small = number**2 < BOUND
    return Outcome(
        Verdict.HOLDS if small else Verdict.BROKEN,
        "1 step",
        "" if small else f"{text(number**2)} >= {BOUND}",
        {"square": text(number**2), "root": text(number)},
        Curves("Squares", "x", "y", (line,), marks=((1.0, "here"),), note="A note."),
    )


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(Case("number 99", {"number": 99}), Verdict.BROKEN, "it is large")


CLAIM = Claim(
    name="squares_are_small",
    section=2,
    title="squares are small",
    statement="The square of a number <script>alert(3)</script> is small.",
    formula="x² < 100",
    source="a source",
    standing=Standing.STATED,
    hypotheses=("x ≥ 0",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="the square",
    horizon="up to 9; long: 20",
    arithmetic="integers",
    expects=Verdict.HOLDS,
)
