"""Seconds of both sides in one sitting after another: pairs in random order, all cells in turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from statistics import fmean
from time import monotonic

import numpy as np

from fwbench.analysis.changes import Timing
from fwbench.analysis.sides import Array
from fwbench.execution.machine import cores
from fwbench.gating.decisions import EACH, FEWEST, SITTINGS, Cell, Evidence, look, timings
from fwbench.gating.timekeeper import Failed, Lost, Timekeeper
from fwbench.gating.version import Code

LEAST_SECONDS = 4e-3  # of a measurement: so many calls are made
FEWEST_CALLS, LONG_CALL = 3, 0.02  # a call that takes so many seconds is made once
LOAD_SECONDS = 120.0  # to build a problem, to compile; its calls may take their own limit each
LOADING_CALLS = 4
GRACE_SECONDS, GRACE = 10.0, 10.0  # a measurement that takes so much longer than before hangs
SIDES = ("the base", "the new side")
PLACES = 1 << 30  # how many placements of arrays there are


def _silent(said: str) -> None:
    """Say nothing."""


def measured(
    base: Code,
    new: Code,
    cells: Sequence[Cell],
    seconds: float,
    rng: np.random.Generator,
    told: Callable[[str], None] = _silent,
) -> tuple[Timing, ...]:
    """Time both sides against each other, until all is decided or the time is spent.

    Parameters
    ----------
    base, new : Code
    cells : sequence of Cell
    seconds : float
        For all together. A sitting that has begun is ended.
    rng : Generator
        Draws the order of all pairs, hash seeds and placements.
    told : callable
        Is called with a sentence on what goes on.

    Returns
    -------
    tuple of Timing
        One for each cell, in order. A cell that a side cannot do is inconclusive, with the reason.
    """
    found = [_Measured(Evidence(cell)) for cell in cells]
    turns = _Turns((base, new), seconds, rng)
    while open_ := [one for one in found if one.evidence.open]:
        alarms = sum(one.evidence.alarm is not None for one in open_)
        again = f", {alarms} of them to confirm an alarm" if alarms else ""
        told(f"{FEWEST} pairs of {len(open_)} timings{again}; {turns.left:.0f} s are left")
        turns.measure(open_)
        look([one.evidence for one in found])
    return timings([one.evidence for one in found])


@dataclass(eq=False)
class _Measured:
    """A cell in the making.

    Attributes
    ----------
    evidence : Evidence
    calls : int
        In each measurement, on both sides; 0 where not known yet.
    cost : float
        Seconds of a pair, with all that is off the clock.
    """

    evidence: Evidence
    calls: int = 0
    cost: float = 0.0


class _Turns:
    """Sittings of two sides, within a budget."""

    def __init__(self, sides: tuple[Code, Code], seconds: float, rng: np.random.Generator) -> None:
        self.sides, self.seconds, self.rng = sides, seconds, rng
        self.until = monotonic() + seconds
        self.begun: list[float] = []  # seconds that it took until each sitting could begin

    @property
    def beginning(self) -> float:
        """Seconds that it takes until a sitting can begin; 0 where not known yet."""
        return fmean(self.begun) if self.begun else 0.0

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return max(0.0, self.until - monotonic())

    def measure(self, cells: Sequence[_Measured]) -> None:
        """Add a measurement to each cell for which there is time; the others are given up."""
        taken: dict[_Measured, list[Array]] = {one: [] for one in cells}
        for sitting in range(SITTINGS):
            pairs = self._sit(cells, SITTINGS - sitting)
            for one, seconds in pairs.items():
                taken[one].append(seconds)
        for one, sittings in taken.items():
            if len(sittings) == SITTINGS:
                one.evidence.add(np.stack(sittings, axis=1))

    def _sit(self, cells: Sequence[_Measured], sittings: int) -> dict[_Measured, Array]:
        """Return the pairs of a sitting, of cells that no process was lost with."""
        while todo := self._affordable(cells, sittings, self.beginning):
            try:
                return self._sitting(todo, sittings)
            except _Again:
                continue
        return {}

    def _affordable(
        self, cells: Iterable[_Measured], sittings: int, beginning: float
    ) -> list[_Measured]:
        """Give up the dearest cells until the others can be measured in the time that is left."""
        todo = [one for one in cells if one.evidence.open]
        left = self.left - beginning - self.beginning * (sittings - 1)
        kept: list[_Measured] = []
        for one in sorted(todo, key=lambda one: one.cost):
            left -= one.cost * EACH * sittings
            if left > 0:
                kept.append(one)
            else:
                one.evidence.reason = self._too_little(one)
        return [one for one in todo if one in kept]

    def _too_little(self, one: _Measured) -> str:
        whole = f"the {self.seconds:g} s for all timings are too few"
        takes = f"{FEWEST} pairs of it take about {one.cost * FEWEST:.0f} s"
        more = "another" if one.evidence.first else "a"
        return f"{whole} for {more} measurement" + (f": {takes}" if one.cost > 1 else "")

    def _sitting(self, cells: Sequence[_Measured], sittings: int) -> dict[_Measured, Array]:
        begun = monotonic()
        with ExitStack() as stack:
            seeds = self.rng.integers(10**8, 10**9, 2)  # of equal length on both sides
            pair = [
                stack.enter_context(Timekeeper(code, name, int(seed)))
                for code, name, seed in zip(self.sides, SIDES, seeds, strict=True)
            ]
            ready = [one for i, one in enumerate(cells) if self._loads(one, i, pair)]
            for keeper in pair:
                self._ask(ready, keeper, LOAD_SECONDS, "begin", core=cores()[-1])
            self.begun.append(monotonic() - begun)
            ready = self._affordable(ready, sittings, 0.0)
            return self._pairs({one: cells.index(one) for one in ready}, pair)

    def _loads(self, one: _Measured, number: int, pair: Sequence[Timekeeper]) -> bool:
        """Build a cell on both sides; say whether it can be timed."""
        evidence = one.evidence
        tasks = (evidence.cell.base, evidence.cell.new)
        for keeper, task in zip(pair, tasks, strict=True):
            keeper.ask("load", cell=number, what=evidence.cell.what, **asdict(task))
        answers = []
        for keeper, task in zip(pair, tasks, strict=True):
            patience = LOAD_SECONDS + LOADING_CALLS * task.max_seconds
            answers.append(self._answer([one], keeper, min(patience, GRACE_SECONDS + self.left)))
        if not evidence.open:
            return False
        if not one.calls:
            call = min(answer["seconds"] for answer in answers)
            few = FEWEST_CALLS if call < LONG_CALL else 1
            one.calls = max(few, math.ceil(LEAST_SECONDS / max(call, 1e-9)))
            one.cost = sum(one.calls * told["seconds"] + told["aside"] for told in answers)
        return True

    def _pairs(
        self, cells: dict[_Measured, int], pair: Sequence[Timekeeper]
    ) -> dict[_Measured, Array]:
        taken = {one: np.zeros((2, EACH)) for one in cells}
        spent = dict.fromkeys(cells, 0.0)
        order = list(cells)
        for turn in range(EACH):
            for place in self.rng.permutation(len(order)):
                one = order[place]
                if not one.evidence.open:
                    continue
                begun = monotonic()
                for side in self.rng.permutation(2):
                    found = self._ask(
                        [one], pair[side], GRACE_SECONDS + GRACE * one.cost, "time",
                        cell=cells[one], calls=one.calls, placed=int(self.rng.integers(PLACES)),
                    )  # fmt: skip
                    taken[one][side, turn] = found.get("seconds", 0.0)
                spent[one] += monotonic() - begun
        for one, seconds in spent.items():
            one.cost = seconds / EACH
        return {one: seconds for one, seconds in taken.items() if one.evidence.open}

    def _ask(
        self,
        cells: Sequence[_Measured],
        keeper: Timekeeper,
        patience: float,
        do: str,
        **asked: object,
    ) -> dict[str, float]:
        keeper.ask(do, **asked)
        return self._answer(cells, keeper, patience)

    def _answer(
        self, cells: Sequence[_Measured], keeper: Timekeeper, patience: float
    ) -> dict[str, float]:
        """Return an answer; where there is none, the cells that were asked for get the reason."""
        try:
            return keeper.answer(patience)
        except Failed as error:
            reason, lost = str(error), False
        except Lost as error:
            reason, lost = str(error), True
        for one in cells:
            one.evidence.reason = one.evidence.reason or reason
        if lost:
            raise _Again
        return {}


class _Again(Exception):
    """A process was lost; the others of its sitting begin anew without the cell."""
