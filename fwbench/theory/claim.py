"""What a claim is: a statement of the theory with an executable check, and how it gets its verdict.

A claim is checked case by case. Its hypotheses refuse the cases that lie outside; what is left
holds or breaks, at a step that can be named. Controls are cases whose outcome is known beforehand,
among them one on which the check must fail (or, of a false statement, must pass): a check that
cannot fail says nothing.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidParameter, said

DIGITS = 6  # of a number that is no fraction
LONGEST = 4000  # bits of a fraction that is written exactly; Python writes none beyond 4300 digits


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"  # on what was tried, to the horizon that is named
    BROKEN = "broken"  # the first witness is named and can be reproduced
    VACUOUS = "vacuous"  # hypotheses met by nothing tried, or a bound that says nothing
    INCONCLUSIVE = "inconclusive"  # an interval straddles the bound


class Standing(StrEnum):
    """Status of a statement in the literature."""

    PROVED = "proved"  # in the paper or, in a few lines, in the file of the claim
    CHECKED = "machine-checked"  # in a public Lean 4 formalisation of the paper
    STATED = "stated"  # with a proof that nobody outside has checked
    FALSE = "false"
    MEASURED = "measured"  # seen by this project, without a proof
    AMENDED = "amended"  # what this project puts in place of a false statement, with its proof


@dataclass(frozen=True)
class Effort:
    """How much is tried: `long` stands for longer horizons and more draws."""

    long: bool = False
    seed: int = 0

    def of(self, standard: int, long: int) -> int:
        """Return the number for this effort."""
        return long if self.long else standard


@dataclass(frozen=True, eq=False)
class Line:
    """One line of a figure; `bound` says that it is what the claim promises.

    Attributes
    ----------
    label : str
    x, y : ndarray, shape (p,)
        NaN where there is no point.
    bound : bool
    """

    label: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    bound: bool = False


@dataclass(frozen=True, eq=False)
class Curves:
    """The figure that decides a claim.

    Attributes
    ----------
    title, x_label, y_label : str
    lines : tuple of Line
    log_x, log_y : bool
        Logarithmic axes.
    marks : tuple of (float, str)
        Places on the x axis with a word, such as the first step at which a bound breaks.
    note : str
        One sentence below the figure.
    """

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False
    marks: tuple[tuple[float, str], ...] = ()
    note: str = ""


@dataclass(frozen=True, eq=False)
class Case:
    """Something to try a claim on.

    Attributes
    ----------
    name : str
        By which it can be made again: instance, solver, parameters as text.
    given : mapping
        What the claim's own functions need.
    """

    name: str
    given: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        return self.given[key]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one case.

    Attributes
    ----------
    verdict : Verdict
    horizon : str
        How far was looked: "600 steps", "400 replicas".
    witness : str
        Where it broke first, with both sides of the inequality; "" if it did not.
    numbers : mapping of str to str
        What was measured, as text: fractions exactly.
    curves : Curves or None
    """

    verdict: Verdict
    horizon: str
    witness: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)
    curves: Curves | None = None


@dataclass(frozen=True, eq=False)
class Control:
    """A case whose verdict is known beforehand, whether or not it meets the hypotheses."""

    case: Case
    expects: Verdict
    why: str


@dataclass(frozen=True, eq=False)
class Claim:
    """A statement and its check; the last line of a file of `fwbench/claims/`.

    Attributes
    ----------
    name : str
        The file's name.
    section : int
        Of the paper: 2 derivations, 3 negative definite, 4 positive definite, 5 finite β.
    title : str
        A few words.
    statement, formula : str
        In words, and as a formula in plain text.
    source : str
        Paper and number of the statement.
    standing : Standing
    remark : str
        What a reader must know of it: the error, who found it, why others missed it.
    hypotheses : tuple of str
        In words; `refuses` checks them.
    refuses : callable
        Returns why a case lies outside the statement, or None.
    cases : callable
        Yields what is tried at an effort.
    check : callable
        Tries the claim on a case.
    controls : callable
        Yields the controls at an effort; at least one.
    quantity, horizon, arithmetic : str
        What is measured, how far, and in which numbers.
    expects : Verdict
    expects_witness : str
        Of a broken claim: how its first witness begins.
    """

    name: str
    section: int
    title: str
    statement: str
    formula: str
    source: str
    standing: Standing
    hypotheses: tuple[str, ...]
    refuses: Callable[[Case], str | None]
    cases: Callable[[Effort], Iterable[Case]]
    check: Callable[[Case, Effort], Outcome]
    controls: Callable[[Effort], Iterable[Control]]
    quantity: str
    horizon: str
    arithmetic: str
    expects: Verdict
    expects_witness: str = ""
    remark: str = ""


@dataclass(frozen=True, eq=False)
class Tried:
    """A case with what became of it: refused, or an outcome."""

    case: str
    refused: str | None
    outcome: Outcome | None
    expects: Verdict | None = None  # of a control
    why: str = ""


@dataclass(frozen=True, eq=False)
class Verified:
    """A claim with its verdict.

    Attributes
    ----------
    claim : Claim
    verdict : Verdict
    tried, controls : tuple of Tried
    seconds : float
    error : str
        A traceback if the check itself failed.
    """

    claim: Claim
    verdict: Verdict
    tried: tuple[Tried, ...]
    controls: tuple[Tried, ...]
    seconds: float
    error: str = ""

    @property
    def witness(self) -> str:
        """The first witness of a broken claim, as "case: where, both sides"; else ""."""
        broken = (t for t in self.tried if t.outcome and t.outcome.verdict is Verdict.BROKEN)
        first = next(broken, None)
        return f"{first.case}: {first.outcome.witness}" if first and first.outcome else ""

    @property
    def curves(self) -> Curves | None:
        """The figure that decides: of the first case that broke, else of the first with one."""
        drawn = [t.outcome for t in self.tried if t.outcome is not None and t.outcome.curves]
        broken = (o.curves for o in drawn if o.verdict is Verdict.BROKEN)
        return next(broken, drawn[0].curves if drawn else None)

    @property
    def numbers(self) -> dict[str, str]:
        """What was measured, by "case: quantity"."""
        return {
            f"{t.case}: {name}": value
            for t in self.tried
            if t.outcome is not None
            for name, value in t.outcome.numbers.items()
        }

    @property
    def surprises(self) -> tuple[str, ...]:
        """What differs from what the claim's file expects; empty if all is as expected."""
        if self.error:
            return (f"the check failed: {self.error.strip().splitlines()[-1]}",)
        claim, found = self.claim, []
        if self.verdict is not claim.expects:
            found.append(f"{self.verdict} where {claim.expects} is expected")
        elif not self.witness.startswith(claim.expects_witness):
            found.append(f"first witness {self.witness!r}, expected {claim.expects_witness!r}")
        for control in self.controls:
            verdict = control.outcome.verdict if control.outcome else None
            if verdict is not control.expects:
                found.append(f"control {control.case}: {verdict}, must be {control.expects}")
        if not self.controls:
            found.append("no control: a check that cannot fail says nothing")
        return tuple(found)


def together(outcomes: Iterable[Outcome]) -> Verdict:
    """Return the verdict over all cases that the hypotheses admit.

    Broken if one is; else inconclusive if one is; else vacuous if none holds.

    Examples
    --------
    >>> together([Outcome(Verdict.HOLDS, "9 steps"), Outcome(Verdict.VACUOUS, "9 steps")]).value
    'holds'
    >>> together([]).value
    'vacuous'
    """
    verdicts = {outcome.verdict for outcome in outcomes}
    for verdict in (Verdict.BROKEN, Verdict.INCONCLUSIVE, Verdict.HOLDS):
        if verdict in verdicts:
            return verdict
    return Verdict.VACUOUS


def verified(claim: Claim, effort: Effort) -> Verified:
    """Try a claim on all its cases and controls; nothing is raised but KeyboardInterrupt."""
    begun, tried, controls = perf_counter(), list[Tried](), list[Tried]()
    error = ""
    try:
        for case in claim.cases(effort):
            refused = claim.refuses(case)
            outcome = None if refused is not None else claim.check(case, effort)
            tried.append(Tried(case.name, refused, outcome))
        for control in claim.controls(effort):
            outcome = claim.check(control.case, effort)
            controls.append(Tried(control.case.name, None, outcome, control.expects, control.why))
    except Exception as raised:
        error = f"{traceback.format_exc()}\n{said(raised)}"
    verdict = together(t.outcome for t in tried if t.outcome is not None)
    if error:  # a check that did not end has shown nothing
        verdict = Verdict.INCONCLUSIVE
    seconds = perf_counter() - begun
    return Verified(claim, verdict, tuple(tried), tuple(controls), seconds, error)


def text(value: Any) -> str:
    """Write a number for people: fractions exactly, unless too long; others to six digits.

    Examples
    --------
    >>> text(Fraction(2, 9)), text(0.28878809508), text(16), text(np.float64(1e-30))
    ('2/9', '0.288788', '16', '1e-30')
    """
    if isinstance(value, Fraction) and value.denominator.bit_length() > LONGEST:
        return f"≈ {float(value):.{DIGITS}g}"
    if isinstance(value, Fraction | int | np.integer | str):
        return str(value)
    return f"{float(value):.{DIGITS}g}"


def checked(claim: Any, name: str) -> Claim:
    """Return the claim of a file, if it is one.

    Raises
    ------
    InvalidParameter
        If the file does not end with a claim of its own name.
    """
    if not isinstance(claim, Claim) or claim.name != name:
        raise InvalidParameter(f"{name}.py must end with CLAIM = Claim(name={name!r}, ...)")
    return claim
