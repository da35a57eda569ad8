"""What a claim is: a statement of the theory with an executable check, and how it gets its verdict.

A claim is checked case by case. Its hypotheses refuse the cases that lie outside; what is left
holds or breaks, at a step that can be named. Controls are cases whose outcome is known beforehand,
among them one on which the check must fail (or, of a false statement, must pass): a check that
cannot fail says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidParameter

DIGITS = 6  # of a number that is no fraction
NUMBER = re.compile(r"(?:≈ )?(-?\d+(?:/\d+|(?:\.\d*)?(?:e[-+]?\d+)?))")
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


def _typed(owner: Any, kinds: Mapping[str, type | tuple[type, ...]], told: str = "") -> None:
    """Raise InvalidParameter where a field is of another kind, such as "holds" for a Verdict."""
    for name, kind in kinds.items():
        if not isinstance(value := getattr(owner, name), kind):
            of = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
            of = of.replace("NoneType", "None")
            whole = told or type(owner).__name__
            raise InvalidParameter(f"{whole}: {name} must be of type {of}; got {value!r}")


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

    def __post_init__(self) -> None:
        _typed(self, {"label": str, "x": np.ndarray, "y": np.ndarray})
        if self.x.ndim != 1 or self.x.shape != self.y.shape:
            shapes = f"{self.x.shape} and {self.y.shape}"
            raise InvalidParameter(f"Line {self.label!r}: x and y must be (p,); got {shapes}")


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

    def __post_init__(self) -> None:
        _typed(self, {"name": str, "given": Mapping})

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

    def __post_init__(self) -> None:
        kinds = {"verdict": Verdict, "horizon": str, "witness": str, "numbers": Mapping}
        _typed(self, kinds | {"curves": (Curves, type(None))})
        for name, value in self.numbers.items():
            if not (isinstance(name, str) and isinstance(value, str)):
                raise InvalidParameter(f"Outcome: numbers are texts; got {name!r}: {value!r}")


@dataclass(frozen=True, eq=False)
class Control:
    """A case whose verdict is known beforehand, whether or not it meets the hypotheses."""

    case: Case
    expects: Verdict
    why: str

    def __post_init__(self) -> None:
        _typed(self, {"case": Case, "expects": Verdict, "why": str})


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
    telling : str
        Name of the number whose largest value says which case's numbers stand for the claim;
        those of the first case without it.
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
    telling: str = ""

    def __post_init__(self) -> None:
        texts = ("name", "title", "statement", "formula", "source", "quantity", "horizon",
                 "arithmetic", "expects_witness", "remark", "telling")  # fmt: skip
        kinds: dict[str, Any] = {"section": int, "standing": Standing, "expects": Verdict}
        _typed(self, dict.fromkeys(texts, str) | kinds | {"hypotheses": tuple}, f"{self.name}.py")
        for name in ("refuses", "cases", "check", "controls"):
            if not callable(value := getattr(self, name)):
                raise InvalidParameter(f"{self.name}.py: {name} must be a function; got {value!r}")
        if not all(isinstance(text, str) for text in self.hypotheses):
            raise InvalidParameter(f"{self.name}.py: hypotheses must be a tuple of texts")


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
        What was raised, and where in the claim's file, if the check itself failed.
    trace : str
        All frames of it, a line each.
    """

    claim: Claim
    verdict: Verdict
    tried: tuple[Tried, ...]
    controls: tuple[Tried, ...]
    seconds: float
    error: str = ""
    trace: str = ""

    @property
    def deciding(self) -> Tried | None:
        """The case whose numbers stand for the claim: one with its verdict.

        Of a broken claim the first; else where the number `telling` is largest.
        """
        measured = [t for t in self.tried if t.outcome is not None and t.outcome.numbers]
        same = [t for t in measured if t.outcome and t.outcome.verdict is self.verdict]
        found = same or measured
        if self.verdict is not Verdict.BROKEN and self.claim.telling:
            return max(found, key=self._told, default=None)  # of equal ones the first
        return next(iter(found), None)

    def _told(self, tried: Tried) -> float:
        numbers = tried.outcome.numbers if tried.outcome else {}
        return _value(numbers.get(self.claim.telling, ""))

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
            return (f"the check failed: {self.error}",)
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
        elif not any(control.expects in _others(claim.expects) for control in self.controls):
            found.append("no control that comes out the other way")
        if claim.telling and not any(name.endswith(f": {claim.telling}") for name in self.numbers):
            found.append(f"no case has the number {claim.telling!r}")
        return tuple(found)


def _others(expects: Verdict) -> set[Verdict]:
    """Return what a control may expect that shows that the check can come out the other way."""
    if expects is Verdict.VACUOUS:
        return {Verdict.HOLDS, Verdict.BROKEN}
    return set(Verdict) - {expects}


def _value(written: str) -> float:
    """Return the number with which a text begins; −∞ of others.

    Examples
    --------
    >>> _value("9/16"), _value("≈ 0.5"), _value("-1e-3"), _value("3 of 4"), _value("")
    (0.5625, 0.5, -0.001, 3.0, -inf)
    """
    first = NUMBER.match(written)
    return float(Fraction(first[1])) if first else -inf


def counted(number: int, name: str) -> str:
    """Write how many: "1 step", "9 steps".

    Examples
    --------
    >>> counted(1, "step"), counted(9, "step")
    ('1 step', '9 steps')
    """
    return f"{number} {name}{'' if number == 1 else 's'}"


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
