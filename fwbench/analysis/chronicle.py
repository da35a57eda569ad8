"""Many run folders in the order of time: a line for each quantity of a solver on an instance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fwbench.analysis.shifts import shifts
from fwbench.analysis.sides import Run, Side

EXACT = {"steps": "steps", "oracle calls": "lmo", "gap": "gap_relative"}
SECONDS = "seconds"
NAMED = {"status": "status", "fixed point": "fixed_point", "rate class": "rate_class"}
SHARE = 0.01  # by which a gap may differ and be the same


@dataclass(frozen=True)
class Station:
    """A run folder: its name, when it was made, from which revision."""

    name: str
    created: str
    revision: str


@dataclass(frozen=True)
class Line:
    """One quantity over time.

    Attributes
    ----------
    solver, instance : str
        Labels.
    quantity : str
        ``seconds`` or a name of `EXACT`.
    machine : str or None
        On which seconds were taken; exact quantities belong to none.
    stations : tuple of int
        Places of the folders that know it.
    values : tuple of float
        Medians over repetitions.
    quiet : tuple of bool
        False where the machine was not quiet, or shared: no step is read off there.
    """

    solver: str
    instance: str
    quantity: str
    machine: str | None
    stations: tuple[int, ...]
    values: tuple[float, ...]
    quiet: tuple[bool, ...]


@dataclass(frozen=True)
class Step:
    """A quantity that is another one from a station on.

    Attributes
    ----------
    line : Line or None
        That it belongs to; None for names such as a status.
    station : int
        The first one with the new value.
    solver, instance, quantity : str
    before, after : float or str
    p : float or None
        How likely such a step is by chance; None for exact quantities, where there is none.
    """

    line: Line | None
    station: int
    solver: str
    instance: str
    quantity: str
    before: float | str
    after: float | str
    p: float | None


@dataclass(frozen=True)
class Chronicle:
    """All lines of some run folders and where they step; steps in the order of time."""

    stations: tuple[Station, ...]
    lines: tuple[Line, ...]
    steps: tuple[Step, ...]


def chronicle(sides: Iterable[Side]) -> Chronicle:
    """Lay run folders out in time.

    Parameters
    ----------
    sides : iterable of Side
        In any order; they are put into that of their making.
    """
    ordered = sorted(sides, key=lambda side: (str(side.facts.get("created") or ""), side.name))
    stations = tuple(
        Station(
            side.name,
            str(side.facts.get("created") or ""),
            str(side.facts.get("revision") or "")[:10],
        )
        for side in ordered
    )
    lines, steps = list[Line](), list[Step]()
    for (solver, instance, _), groups in sorted(_grouped(ordered).items(), key=str):
        for line in _lines(solver, instance, groups, ordered):
            lines.append(line)
            steps += _steps(line)
        steps += _named(solver, instance, groups)
    steps.sort(key=lambda step: (step.station, step.solver, step.instance, step.quantity))
    return Chronicle(stations, tuple(lines), tuple(steps))


Groups = dict[int, list[Run]]  # runs by station


def _grouped(sides: Sequence[Side]) -> dict[tuple[str, str, Hashable], Groups]:
    found: dict[tuple[str, str, Hashable], Groups] = defaultdict(lambda: defaultdict(list))
    for place, side in enumerate(sides):
        for run in side.runs:
            row = run.row
            found[row["solver_label"], row["instance_label"], row.get("tol")][place].append(run)
    return found


def _lines(solver: str, instance: str, groups: Groups, sides: Sequence[Side]) -> Iterable[Line]:
    """Yield the lines of a solver on an instance: exact ones, and seconds for each machine."""
    for quantity, column in EXACT.items():
        points = {
            place: known
            for place, runs in groups.items()
            if (
                known := [float(run.row[column]) for run in runs if run.row.get(column) is not None]
            )
        }
        if points:
            yield Line(
                solver, instance, quantity, None, tuple(points),
                tuple(float(np.median(known)) for known in points.values()), (True,) * len(points),
            )  # fmt: skip
    timed: dict[str, Groups] = defaultdict(lambda: defaultdict(list))
    for place, runs in groups.items():
        for run in runs:
            host, threads = run.row.get("host"), run.row.get("threads")
            if host is not None and run.row.get("seconds") and not run.failed:
                cpu = sides[place].facts.get("cpu") or "unknown processor"
                timed[f"{host}, {cpu}, {threads} threads"][place].append(run)
    for machine, found in timed.items():
        still = {
            place: [run for run in runs if not (run.row.get("noisy") or run.row.get("shared"))]
            for place, runs in found.items()
        }
        values = [
            float(np.median([run.row["seconds"] for run in still[place] or runs]))
            for place, runs in found.items()
        ]
        quiet = tuple(bool(runs) for runs in still.values())
        yield Line(solver, instance, SECONDS, machine, tuple(found), tuple(values), quiet)


def _steps(line: Line) -> Iterable[Step]:
    """Yield where a line steps: seconds by a test, exact quantities wherever they change."""
    names = line.solver, line.instance, line.quantity
    if line.quantity == SECONDS:
        quiet = [i for i, still in enumerate(line.quiet) if still]
        for shift in shifts([line.values[i] for i in quiet]) if len(quiet) > 1 else []:
            at = line.stations[quiet[shift.place]]
            yield Step(line, at, *names, shift.before, shift.after, shift.p)
        return
    band = SHARE if line.quantity == "gap" else 0.0
    for i in range(1, len(line.values)):
        before, after = line.values[i - 1], line.values[i]
        if abs(after - before) > band * min(abs(before), abs(after)):
            yield Step(line, line.stations[i], *names, before, after, None)


def _named(solver: str, instance: str, groups: Groups) -> Iterable[Step]:
    """Yield where a status, a fixed point or a rate class becomes another one."""
    for quantity, column in NAMED.items():
        told: list[tuple[int, Any]] = [
            (place, runs[0].row.get(column)) for place, runs in sorted(groups.items())
        ]
        known = [(place, name) for place, name in told if name is not None]
        for (_, before), (place, after) in pairwise(known):
            if before != after:
                yield Step(None, place, solver, instance, quantity, str(before), str(after), None)
