"""Two versions of the code judged: exact quantities first, then seconds of one sitting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from fwbench.analysis.changes import Comparison, Pace, Timing
from fwbench.analysis.comparison import compared
from fwbench.analysis.durations import comparable
from fwbench.analysis.pairing import paired
from fwbench.analysis.sides import Key, Run, Side
from fwbench.gating.code import Code
from fwbench.gating.decisions import Cell, Task
from fwbench.gating.exact import Question, results
from fwbench.gating.turns import measured
from fwbench.trace import Status

SECONDS = 300.0  # for all timings of a gate
KINDS: tuple[Literal["seconds", "set-up"], ...] = ("seconds", "set-up")


def _silent(said: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Terms:
    """How a gate judges.

    Attributes
    ----------
    exact_only : bool
        Time nothing.
    strict : bool
        Every change that is neither better nor worse counts as worse.
    seconds : float
        For all timings together.
    seed : int
        Of the order of the pairs and of what is drawn of them.
    told : callable
        Is called with a sentence on what goes on.
    """

    exact_only: bool = False
    strict: bool = False
    seconds: float = SECONDS
    seed: int = 0
    told: Callable[[str], None] = field(default=_silent)


def gated(base: Code, new: Code, question: Question, room: Path, terms: Terms) -> Comparison:
    """Compare two versions of the code on one question.

    Parameters
    ----------
    base, new : Code
    question : Question
    room : Path
        A folder for the results of both sides.
    terms : Terms

    Returns
    -------
    Comparison
        Its timings are of pairs in one sitting, or None where nobody asked for them.

    Raises
    ------
    GateError
        A side cannot put the question.
    RunFolderError
        Its results cannot be read.
    """
    terms.told("exact results of both sides")
    sides = results(base, new, question, room)
    found = compared(*sides, exact_only=True, strict=terms.strict)
    absent = dict.fromkeys((*base.notes, *new.notes))  # of most, both sides say the same
    found = replace(found, notes=(*found.notes, *absent))
    if terms.exact_only:
        return found
    cells = list(timed(*sides))
    terms.told(f"{len(cells)} timings, in {terms.seconds:g} s at most")
    rng = np.random.default_rng(terms.seed)
    timings = measured(base, new, cells, terms.seconds, rng, terms.told)
    notes = (*found.notes, *_left_out(sides, cells))
    return replace(found, timings=(*timings, *_cut_short(sides, cells)), notes=notes)


def timed(base: Side, new: Side) -> Iterable[Cell]:
    """Yield what can be timed on both sides: the same work, done well or to the same step.

    Repetitions are of no use here: a cell is measured as often as it takes.
    """
    known: set[Key] = set()
    for a, b in paired(base.runs, new.runs).pairs:
        if a.key in known or not (comparable(a, b) and _positive(a) and _positive(b)):
            continue
        known.add(a.key)
        for what in KINDS:
            yield Cell(a, _task(a), _task(b), what)


def _cut_short(sides: tuple[Side, Side], cells: Sequence[Cell]) -> Iterable[Timing]:
    """Yield what cannot be timed since the new side met its time limit.

    Whether it is slower or the machine was, nobody can say; it is not the same. Where both met it,
    they may have come unequally far.
    """
    known = {cell.run.key for cell in cells}
    for a, b in paired(*(side.runs for side in sides)).pairs:
        if a.key in known or a.failed:
            continue
        if b.row.get("status") == Status.TIMEOUT:
            also = a.row.get("status") == Status.TIMEOUT
            known.add(a.key)
            yield Timing(
                run=a, what="seconds", unit="s", base=None, new=None, ratio=None, low=None,
                high=None, pairs=0, p=None, pace=Pace.INCONCLUSIVE,
                reason=f"{'both sides' if also else 'the new side'} met the time limit of the run",
            )  # fmt: skip


def _positive(run: Run) -> bool:
    """Say whether a run took a step, and was timed."""
    steps, seconds = run.row.get("steps"), run.row.get("seconds")
    return steps is not None and steps > 0 and seconds is not None and seconds > 0


def _task(run: Run) -> Task:
    row = run.row
    return Task(
        problem=str(row["planned_problem"]),
        solver=str(row["planned_solver"]),
        steps=int(row["steps"]),
        tol=float(row["tol"]),
        max_seconds=float(row["max_seconds"]),
    )


def _left_out(sides: tuple[Side, Side], cells: Sequence[Cell]) -> Iterable[str]:
    """Say how many solvers on instances were not timed: they did not do the same work."""
    matched = {a.key for a, _ in paired(*(side.runs for side in sides)).pairs}
    if many := len(matched - {cell.run.key for cell in cells}):
        yield f"seconds of {many} are not compared: failed, no step, other ends, or other steps"
