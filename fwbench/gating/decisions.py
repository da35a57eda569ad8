"""What pairs of seconds of two sides say: slower, faster, the same, or not yet known.

A measurement is some sittings; in each, new processes of both sides take turns. Processes of the
same code differ for their whole life, by where their memory lies: so pairs of one sitting hang
together, and the interval draws sittings first, then pairs inside them. It has to lie above the
band in a first measurement, and again in a second one with processes of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from fwbench.analysis.changes import Pace, Timing
from fwbench.analysis.ratios import (
    BAND,
    FALSE,
    LOW,
    adjusted,
    chance_of_groups,
    interval_of_groups,
    log_ratio,
)
from fwbench.analysis.sides import Array, Run

SITTINGS, EACH = 4, 6  # of a measurement; pairs of each
FEWEST = SITTINGS * EACH  # pairs
MOST = 20  # measurements: what is not decided then lies too close to the band


@dataclass(frozen=True, eq=False)
class Busy:
    """Work that one side does besides, so that it is slower on purpose.

    Attributes
    ----------
    chunk : int
        Both sides advance so many steps at once.
    spins : int
        So many turns of an empty loop follow each chunk.
    """

    chunk: int
    spins: int


@dataclass(frozen=True, eq=False)
class Task:
    """What one side is asked to do.

    Attributes
    ----------
    problem, solver : str
        As the plan of that side spells them.
    steps : int
    tol, max_seconds : float
    busy : Busy or None
    """

    problem: str
    solver: str
    steps: int
    tol: float
    max_seconds: float
    busy: Busy | None = None


@dataclass(frozen=True, eq=False)
class Cell:
    """What is timed on both sides.

    Attributes
    ----------
    run : Run
        Of the base: its names are meant.
    base, new : Task
    what : {"seconds", "set-up"}
    """

    run: Run
    base: Task
    new: Task
    what: Literal["seconds", "set-up"]


@dataclass(frozen=True)
class Opinion:
    """What some sittings say, as if there were no other cells.

    Attributes
    ----------
    base, new : float
        Tenth percentiles, seconds.
    ratio, low, high : float
        New over base, and its interval of 99 %.
    p : float
        How likely ratios so far beyond the band are where there are none.
    pace : Pace
    """

    base: float
    new: float
    ratio: float
    low: float
    high: float
    p: float
    pace: Pace


def opinion(base: Array, new: Array) -> Opinion:
    """Return what pairs of seconds say.

    Parameters
    ----------
    base, new : (sittings, pairs) array
        Seconds, positive.

    Examples
    --------
    >>> seconds = np.linspace(1.0, 1.01, 24).reshape(4, 6)
    >>> opinion(seconds, seconds).pace.value, opinion(seconds, 1.1 * seconds).pace.value
    ('same', 'slower')
    """
    band = math.log1p(BAND)
    low, high = interval_of_groups(base, new)
    if -band <= low and high <= band:
        pace = Pace.SAME
    elif low > band:
        pace = Pace.SLOWER
    elif high < -band:
        pace = Pace.FASTER
    else:
        pace = Pace.INCONCLUSIVE
    return Opinion(
        base=float(np.quantile(base, LOW)),
        new=float(np.quantile(new, LOW)),
        ratio=math.exp(log_ratio(base, new)),
        low=math.exp(low),
        high=math.exp(high),
        p=chance_of_groups(base, new, band),
        pace=pace,
    )


@dataclass(eq=False)
class Evidence:
    """What is known of a cell so far.

    Attributes
    ----------
    cell : Cell
    first, second : list of (2, sittings, pairs) arrays
        The seconds of both sides, measurement by measurement; the second ones are those that were
        made after an alarm.
    alarm : Opinion or None
        That of the first ones, once it was slower or faster among all cells.
    pace : Pace or None
        Once it is decided.
    reason : str
        Why there is nothing to know, or no more.
    """

    cell: Cell
    first: list[Array] = field(default_factory=list)
    second: list[Array] = field(default_factory=list)
    alarm: Opinion | None = None
    pace: Pace | None = None
    reason: str = ""

    @property
    def open(self) -> bool:
        """Whether more pairs could tell more."""
        return self.pace is None and not self.reason

    def add(self, pairs: Array) -> None:
        """Add a measurement, shape (2, sittings, pairs)."""
        if pairs.min() <= 0.0:
            self.reason = "it takes less time than the clock can tell"
            return
        (self.first if self.alarm is None else self.second).append(pairs)

    @property
    def pairs(self) -> int:
        """How many there are."""
        return sum(measured[0].size for measured in (*self.first, *self.second))

    def together(self) -> Opinion | None:
        """Return what all its pairs say."""
        return _opinion([*self.first, *self.second])


def _opinion(measurements: Sequence[Array]) -> Opinion | None:
    return opinion(*np.concatenate(measurements, axis=1)) if measurements else None


def look(cells: Sequence[Evidence]) -> None:
    """Decide what can be decided, of cells that have just had another measurement.

    The same is decided at once. Slower and faster need a first measurement that says so, among
    all cells (Benjamini and Hochberg), and a second, fresh one that says the same.

    Parameters
    ----------
    cells : sequence of Evidence
        All of a gate, those that are decided too; changed in place.
    """
    known = [(cell, said) for cell in cells if (said := cell.together()) is not None]
    chances = adjusted([said.p for _, said in known])
    for (cell, said), p in zip(known, chances, strict=True):
        if not cell.open:
            continue
        if said.pace is Pace.SAME:
            cell.pace = Pace.SAME
        elif cell.alarm is None:
            if said.pace is not Pace.INCONCLUSIVE and p <= FALSE:
                cell.alarm = said
        elif (again := _opinion(cell.second)) is not None and again.pace is cell.alarm.pace:
            cell.pace = again.pace
        if cell.open and len(cell.first) + len(cell.second) >= MOST:
            cell.reason = f"{cell.pairs} pairs are enough"


def timings(cells: Sequence[Evidence]) -> tuple[Timing, ...]:
    """Return what was found of each cell when all time is spent, or all is decided.

    Parameters
    ----------
    cells : sequence of Evidence

    Returns
    -------
    tuple of Timing
        Ratios and intervals are those of all pairs of a cell together.
    """
    together = [cell.together() for cell in cells]
    chances = iter(adjusted([said.p for said in together if said is not None]))
    return tuple(
        _timing(cell, said, None if said is None else next(chances))
        for cell, said in zip(cells, together, strict=True)
    )


def _timing(cell: Evidence, said: Opinion | None, p: float | None) -> Timing:
    pace = cell.pace or Pace.INCONCLUSIVE
    return Timing(
        run=cell.cell.run,
        what=cell.cell.what,
        unit="s",
        base=None if said is None else said.base,
        new=None if said is None else said.new,
        ratio=None if said is None else said.ratio,
        low=None if said is None else said.low,
        high=None if said is None else said.high,
        pairs=cell.pairs,
        p=p,
        pace=pace,
        reason="" if cell.pace is not None else _why(cell),
        confirmed=pace in (Pace.SLOWER, Pace.FASTER),
    )


def _why(cell: Evidence) -> str:
    """Say why a cell is undecided."""
    found = []
    if cell.alarm is not None:
        by = 100 * (cell.alarm.ratio - 1)
        says = "does not confirm it" if cell.second else "was not made"
        found.append(f"a first measurement says {cell.alarm.pace} ({by:+.1f} %), a second {says}")
    elif cell.first:
        found.append(f"an interval that lies neither within nor beyond ±{100 * BAND:.0f} %")
    return "; ".join(filter(None, (*found, cell.reason)))
