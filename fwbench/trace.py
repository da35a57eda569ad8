"""What a run leaves behind: its status and its checkpoints."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np

from fwbench.cards import table

COLUMNS = (
    "k", "seconds", "value", "value_centred", "gap", "gap_current", "lower", "lower_centred",
    "support", "lmo", "gradient", "matvec", "feasibility", "spread", "value_median", "gap_median",
    "energy",
)  # fmt: skip


SHOWN = 30  # rows of a trace, in a notebook
STALLED_LOOKS, STALLED_GAIN = 8, 0.01
STALLED_STEPS = 1000  # before that, the spikes of an open-loop gap look like a stall


class Status(StrEnum):
    """How a run ended; each run has exactly one."""

    CONVERGED = "converged"
    FINISHED = "finished"
    BUDGET = "budget"
    TIMEOUT = "timeout"
    STALLED = "stalled"
    NONFINITE = "nonfinite"
    INFEASIBLE = "infeasible"
    WRONG = "wrong"
    ERROR = "error"
    CRASHED = "crashed"
    MEMORY = "memory"
    SKIPPED = "skipped"
    INTERRUPTED = "interrupted"

    @property
    def is_failure(self) -> bool:
        """Whether the run makes `fwbench run` exit with 1."""
        return self in _FAILURES


_FAILURES = frozenset(
    {Status.WRONG, Status.NONFINITE, Status.INFEASIBLE, Status.ERROR, Status.CRASHED, Status.MEMORY}
)


def failed(status: str, signal: object) -> bool:
    """Say whether a run failed: its status says so, or its time limit had to be kept by force.

    Parameters
    ----------
    status : str
    signal : object
        Name of the signal that ended its process; anything but a text: none did.

    Examples
    --------
    >>> failed("timeout", None), failed("timeout", "SIGKILL")
    (False, True)
    """
    forced = status == Status.TIMEOUT and isinstance(signal, str)
    return forced or Status(status).is_failure


def checkpoints(last: int) -> list[int]:
    """Return the steps at which a run is looked at: 0 … 16, then geometric with ratio 1.1.

    Examples
    --------
    >>> checkpoints(25)
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 25]
    """
    at = list(range(min(last, 16) + 1))
    while at[-1] < last:
        at.append(min(last, max(at[-1] + 1, round(at[-1] * 1.1))))
    return at


class Columns(dict[str, list[Any]]):
    """A trace column by column: a dict of lists that shows itself in a notebook as a table."""

    def _repr_html_(self) -> str:
        head = [name for name, values in self.items() if any(value is not None for value in values)]
        rows = len(self["k"]) if "k" in self else 0
        # all of a short trace; of a long one the start, and rows evenly spread on a log axis
        at = (
            np.unique(np.geomspace(1, rows, SHOWN).round().astype(int)) - 1
            if rows > SHOWN
            else (np.arange(rows))
        )
        body = [[_short(self[name][i]) for name in head] for i in at.tolist()]
        rest = rows - len(body)
        return table(head, body, f"{rest} of {rows} rows are left out" if rest else "")


def _short(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


class Trace:
    """The checkpoints of a run, column by column; row k is the state after k steps."""

    def __init__(self) -> None:
        self.columns = Columns({name: [] for name in COLUMNS})

    def add(self, **row: Any) -> None:
        """Append a row; columns that are not given are null."""
        if not row.keys() <= self.columns.keys():
            raise KeyError(f"a trace has no columns {sorted(row.keys() - self.columns.keys())}")
        for name, column in self.columns.items():
            column.append(row.get(name))

    def cut(self, k: int) -> None:
        """Forget the rows from step k on: a row of the same number of steps takes their place."""
        while len(self) and self.columns["k"][-1] >= k:
            for column in self.columns.values():
                column.pop()

    def replace_last(self, **row: Any) -> None:
        """Replace entries of the newest row."""
        for name, value in row.items():
            self.columns[name][-1] = value

    def last(self, name: str) -> Any:
        """Return the newest value of a column."""
        return self.columns[name][-1]

    def __len__(self) -> int:
        return len(self.columns["k"])

    def stalled(self, *, convex: bool, rounding: float = 0.0) -> bool:
        """Say whether the second half of all steps brought nothing.

        The best gap fell by less than 1 %. On convex problems one lucky dip of the gap fixes the
        lower bound for long, and values dip as well; so the best value must have come to a halt
        since a quarter of the steps: what it fell from there on is at most `rounding`, or less
        than 1 % of what it fell between an eighth and a quarter.
        """
        if self.last("k") < STALLED_STEPS:
            return False
        k = np.array(self.columns["k"])
        late = k >= k[-1] / 2
        if late.sum() < STALLED_LOOKS:
            return False
        best = np.minimum.accumulate(np.array(self.columns["gap"], dtype=float))
        if best[-1] < (1 - STALLED_GAIN) * best[late][0]:
            return False
        if not convex:
            return True
        value = np.minimum.accumulate(np.array(self.columns["value_centred"], dtype=float))
        quarter, eighth = value[k >= k[-1] / 4][0], value[k >= k[-1] / 8][0]
        return bool(quarter - value[-1] <= max(STALLED_GAIN * (eighth - quarter), rounding))
