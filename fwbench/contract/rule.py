"""A rule of the contract, and what was found of it: plain data.

A rule is a function of what is checked. It returns where the rule holds and raises a `Violation`
where it does not; whatever else it raises is a violation too, for it was raised by what is checked.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from fwbench.errors import MissingExtra, said


class Standing(StrEnum):
    """What became of a rule."""

    OK = "ok"
    FAILED = "FAILED"
    SKIPPED = "skipped"
    WARNING = "warning"


class Violation(Exception):
    """A rule that does not hold.

    Parameters
    ----------
    expected, came : str
        With numbers.
    slip : str
        What its author most likely did.
    grave : bool
        False for what is bad manners but spoils no result.
    """

    def __init__(self, expected: str, came: str, slip: str = "", *, grave: bool = True) -> None:
        super().__init__(expected, came, slip)
        self.expected, self.came, self.slip, self.grave = expected, came, slip, grave


class Inapplicable(Exception):
    """A rule that says nothing of what is checked; the message is the reason."""


class Checked(Protocol):
    """What a rule is tried on."""

    at: str  # what it is tried on at present: a problem, a variant

    @property
    def file(self) -> Path | None:
        """The file that its author writes."""


@dataclass(frozen=True)
class Rule:
    """A rule.

    Attributes
    ----------
    name : str
        One word or two.
    says : str
        What holds where the rule holds.
    holds : callable
        Raises `Violation` or `Inapplicable`.
    """

    name: str
    says: str
    holds: Callable[[Any], None]


@dataclass(frozen=True)
class Finding:
    """What was found of a rule.

    Attributes
    ----------
    rule, says : str
    standing : Standing
    where : str
        The variant and the problem on which it failed.
    expected, came, slip : str
        Of a failure and of a warning; for a skipped rule `came` is the reason.
    """

    rule: str
    says: str
    standing: Standing
    where: str = ""
    expected: str = ""
    came: str = ""
    slip: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return plain data for JSON."""
        return {key: str(value) for key, value in asdict(self).items()}

    @classmethod
    def read(cls, content: dict[str, str]) -> Finding:
        """Return what `as_dict` wrote."""
        return cls(**{**content, "standing": Standing(content["standing"])})  # type: ignore[arg-type] # all others are text

    @property
    def sentence(self) -> str:
        """What a person reads behind the rule's name."""
        if self.standing is Standing.OK:
            return self.says
        if self.standing is Standing.SKIPPED:
            return self.came
        place = f"{self.where}: " if self.where else ""
        likely = f" Likely: {self.slip}." if self.slip else ""
        return f"{place}expected {self.expected}; got {self.came}.{likely}"


def tried(rule: Rule, subject: Checked) -> Finding:
    """Try a rule; whatever it raises, KeyboardInterrupt and SystemExit included, is a finding."""
    subject.at = ""
    try:
        rule.holds(subject)
    except Inapplicable as reason:
        return Finding(rule.name, rule.says, Standing.SKIPPED, came=str(reason))
    except MissingExtra as error:
        return Finding(rule.name, rule.says, Standing.SKIPPED, came=str(error))
    except Violation as found:
        standing = Standing.FAILED if found.grave else Standing.WARNING
        told = (found.expected, found.came, found.slip)
        return Finding(rule.name, rule.says, standing, subject.at, *told)
    except BaseException as error:  # by what is checked, for the rules themselves raise nothing
        came = said(error) + _place(error, subject.file)
        told = ("no exception", came, _slip(error))
        return Finding(rule.name, rule.says, Standing.FAILED, subject.at, *told)
    return Finding(rule.name, rule.says, Standing.OK)


def _place(error: BaseException, file: Path | None) -> str:
    """Return function and line of the last frame inside the author's file."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if file is not None and Path(frame.filename) == file]
    if not own:
        return ""
    return f", in {own[-1].name} ({Path(own[-1].filename).name} line {own[-1].lineno})"


def _slip(error: BaseException) -> str:
    if isinstance(error, ValueError) and "read-only" in str(error):
        return "the arrays of a problem are shared and read-only; write into a copy"
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return "a method ends by state.done = True, and fails by an ordinary exception"
    if isinstance(error, ZeroDivisionError | FloatingPointError):
        return "where atoms coincide, or Q and c are 0, steps and bends are 0: ask before dividing"
    return ""
