"""How often the gate errs, and how small a slowdown it finds: what trials come to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from fwbench.analysis.changes import Pace
from fwbench.theory.intervals import Interval, binomial

POWER, CONFIDENCE = 0.8, 0.95


@dataclass(frozen=True)
class Trial:
    """What the gate said of one cell; ``slowdown`` is what was done to the new side."""

    slowdown: float
    pace: Pace
    ratio: float | None
    pairs: int
    reason: str
    seconds: float


@dataclass(frozen=True)
class Row:
    """What the gate said of all trials with one slowdown.

    Attributes
    ----------
    slowdown : float
        0.1 is 10 %; 0.0 is the same code.
    paces : dict
        How many trials ended how.
    ratio : float
        The median of the measured ratios; nan without any.
    seconds : (float, float)
        Of a trial: the median, and the longest.
    """

    slowdown: float
    paces: dict[Pace, int]
    ratio: float
    seconds: tuple[float, float]

    @property
    def trials(self) -> int:
        """How many there are."""
        return sum(self.paces.values())

    @property
    def alarms(self) -> int:
        """How many were called slower."""
        return self.paces[Pace.SLOWER]

    @property
    def interval(self) -> Interval:
        """Within which the chance of an alarm lies, at 95 % (Clopper and Pearson)."""
        return binomial(self.alarms, self.trials, CONFIDENCE)


@dataclass(frozen=True)
class Table:
    """All trials of a cell.

    Attributes
    ----------
    problem, solver : str
    steps : int
        Of a call.
    trials : tuple of Trial
    """

    problem: str
    solver: str
    steps: int
    trials: tuple[Trial, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """A row for each slowdown, the same code first."""
        slowdowns = sorted({trial.slowdown for trial in self.trials})
        return tuple(_row([t for t in self.trials if t.slowdown == one]) for one in slowdowns)

    @property
    def false_alarms(self) -> int:
        """Trials of the same code that were called slower or faster."""
        same = [trial for trial in self.trials if trial.slowdown == 0.0]
        return sum(trial.pace in (Pace.SLOWER, Pace.FASTER) for trial in same)

    @property
    def smallest(self) -> float | None:
        """The smallest slowdown found in four of five trials, interpolated; None if there is none.

        Between two slowdowns that were tried, the power is taken for a straight line.
        """
        tried = [(row.slowdown, row.alarms / row.trials) for row in self.rows]
        for (before, low), (after, high) in pairwise(tried):
            if low < POWER <= high:
                return before + (POWER - low) / (high - low) * (after - before)
        return None

    @property
    def text(self) -> str:
        """The table as Markdown, with what it comes to."""
        lines = [
            "| slower by | trials | slower | faster | same | inconclusive | called slower, 95 % "
            "interval | measured ratio | s a trial: median, longest |",
            "|---|---|---|---|---|---|---|---|---|",
            *map(_line, self.rows),
            "",
            *self._summary(),
        ]
        return "\n".join(lines)

    def _summary(self) -> list[str]:
        same = [row for row in self.rows if row.slowdown == 0.0]
        found = [
            f"False alarms: {self.false_alarms} of {row.trials} trials of the same code, "
            f"at most {100 * binomial(self.false_alarms, row.trials, CONFIDENCE).high:.1f} % "
            "(95 % interval)."
            for row in same
        ]
        if self.smallest is not None:
            found.append(
                f"The smallest slowdown found in {100 * POWER:.0f} % of trials: "
                f"about {100 * self.smallest:.1f} %, interpolated between those tried."
            )
        elif any(row.slowdown for row in self.rows):
            found.append(f"No slowdown that was tried is found in {100 * POWER:.0f} % of trials.")
        return found

    def document(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {
            "problem": self.problem,
            "solver": self.solver,
            "steps": self.steps,
            "false_alarms": self.false_alarms,
            "smallest_slowdown": self.smallest,
            "trials": [asdict(trial) | {"pace": str(trial.pace)} for trial in self.trials],
        }


def _row(trials: Sequence[Trial]) -> Row:
    ratios = [trial.ratio for trial in trials if trial.ratio is not None]
    seconds = [trial.seconds for trial in trials]
    return Row(
        slowdown=trials[0].slowdown,
        paces={pace: sum(trial.pace is pace for trial in trials) for pace in Pace},
        ratio=median(ratios) if ratios else math.nan,
        seconds=(median(seconds), max(seconds)),
    )


def _line(row: Row) -> str:
    counts = (row.paces[pace] for pace in (Pace.SLOWER, Pace.FASTER, Pace.SAME, Pace.INCONCLUSIVE))
    name = f"+{100 * row.slowdown:g} %" if row.slowdown else "nothing"
    low, high = (100 * end for end in row.interval)
    share = f"{100 * row.alarms / row.trials:.0f} % [{low:.0f}, {high:.0f}]"
    seconds = ", ".join(f"{s:.1f}" for s in row.seconds)
    cells = (name, row.trials, *counts, share, f"{row.ratio:.3f}", seconds)
    return f"| {' | '.join(map(str, cells))} |"
