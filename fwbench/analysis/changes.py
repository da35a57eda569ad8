"""What a comparison says: a change of an exact quantity, a timing beside another, the whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from fwbench.analysis.sides import Likeness, Run, Side

WELL, WORSE, INCONCLUSIVE = 0, 1, 3  # exit codes


class Verdict(StrEnum):
    """What became of an exact quantity; `CHANGED` is neither better nor worse."""

    WORSE = "worse"
    CHANGED = "changed"
    BETTER = "better"
    SAME = "same"

    @property
    def swapped(self) -> Verdict:
        """The verdict with both sides exchanged."""
        return {Verdict.WORSE: Verdict.BETTER, Verdict.BETTER: Verdict.WORSE}.get(self, self)


class Pace(StrEnum):
    """What became of a timing."""

    SLOWER = "slower"
    FASTER = "faster"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"


class Outcome(StrEnum):
    """What a comparison comes to."""

    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"
    BETTER = "better"
    CHANGED = "changed"
    SAME = "same"

    @property
    def code(self) -> int:
        """The exit code that says so."""
        return {Outcome.WORSE: WORSE, Outcome.INCONCLUSIVE: INCONCLUSIVE}.get(self, WELL)


@dataclass(frozen=True)
class Found:
    """What was found of one quantity of a pair of runs whose two values differ.

    Attributes
    ----------
    quantity : str
    base, new : object
        The two values, as plain data.
    band : str
        Within what they would count as the same, in words.
    verdict : Verdict
    detail : str
        What there is to say besides.
    alarm : bool
        Whether it makes the comparison end as worse, though it is neither better nor worse.
    """

    quantity: str
    base: Any
    new: Any
    band: str
    verdict: Verdict
    detail: str = ""
    alarm: bool = False

    @property
    def bad(self) -> bool:
        """Whether it makes the comparison end as worse."""
        return self.alarm or self.verdict is Verdict.WORSE


@dataclass(frozen=True, eq=False)
class Change:
    """A quantity of a run that is not what it was; ``base`` and ``new`` are the runs."""

    base: Run
    new: Run
    likeness: Likeness
    found: Found


@dataclass(frozen=True, eq=False)
class Timing:
    """Seconds of a solver on an instance beside those of the other side.

    Attributes
    ----------
    run : Run
        One of those that were timed; its names are meant.
    what : str
        ``seconds`` or ``set-up``.
    unit : {"s", "passes"}
        Passes are pricing passes, the unit in which a baseline keeps its timings.
    base, new : float or None
        The tenth percentiles over the pairs; None against a baseline.
    ratio, low, high : float or None
        new over base, and its interval of 99 %, widened by what the machine itself changed;
        against a baseline the median over instances.
    pairs : int
        How many pairs of repetitions.
    p : float or None
        How likely such pairs are where nothing changed by more than the band,
        adjusted for all timings of the comparison.
    pace : Pace
    reason : str
    confirmed : bool
        Whether a second, fresh measurement says the same; stored results have none.
    """

    run: Run
    what: str
    unit: Literal["s", "passes"]
    base: float | None
    new: float | None
    ratio: float | None
    low: float | None
    high: float | None
    pairs: int
    p: float | None
    pace: Pace
    reason: str
    confirmed: bool = False


@dataclass(frozen=True, eq=False)
class Lone:
    """A solver on an instance that one side alone has, or had not finished on the other."""

    run: Run
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sides compared.

    Attributes
    ----------
    base, new : Side
    matched : int
        Solvers on instances that both sides have.
    compared : int
        Pairs of runs.
    likeness : tuple of (Likeness, int)
        How many pairs were compared how sharply.
    changes : tuple of Change
        Quantities whose two values differ, those within their band too, the worst first.
    timings : tuple of Timing or None
        None where nobody asked for timings.
    missing, added : tuple of Lone
        What the base alone has, and what is new.
    notes : tuple of str
    strict : bool
        Whether every change that is neither better nor worse counts as worse.
    """

    base: Side
    new: Side
    matched: int
    compared: int
    likeness: tuple[tuple[Likeness, int], ...]
    changes: tuple[Change, ...]
    timings: tuple[Timing, ...] | None
    missing: tuple[Lone, ...]
    added: tuple[Lone, ...]
    notes: tuple[str, ...] = ()
    strict: bool = False

    def is_bad(self, change: Change) -> bool:
        """Say whether a change makes the comparison end as worse."""
        strictly = self.strict and change.found.verdict is Verdict.CHANGED
        return change.found.bad or strictly

    @property
    def verdicts(self) -> Counter[Verdict]:
        """How many changes there are of each verdict."""
        return Counter(change.found.verdict for change in self.changes)

    @property
    def paces(self) -> Counter[Pace]:
        """How many timings there are of each verdict."""
        return Counter(timing.pace for timing in self.timings or ())

    @property
    def outcome(self) -> Outcome:
        """What it comes to: what is worse counts first, then what nobody can say."""
        verdicts, paces = self.verdicts, self.paces
        if any(map(self.is_bad, self.changes)) or paces[Pace.SLOWER]:
            return Outcome.WORSE
        if not self.matched or self.missing or paces[Pace.INCONCLUSIVE]:
            return Outcome.INCONCLUSIVE
        if verdicts[Verdict.BETTER] or paces[Pace.FASTER]:
            return Outcome.BETTER
        return Outcome.CHANGED if verdicts[Verdict.CHANGED] else Outcome.SAME
