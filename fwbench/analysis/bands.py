"""Bands over repetitions and over seeds: where alike runs lie together, as far as all of them went.

Nothing is made up for a run that stopped: the band ends there, and what the others did after stays
theirs alone. Between two checkpoints a run is read on the straight line that joins them in
logarithms, as its curve is drawn; across a checkpoint that nobody judged it is not read at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwbench.analysis.alike import usual
from fwbench.analysis.regimes import regime

AXES = ("k", "lmo", "seconds")
MEASURES = ("suboptimality", "gap", "gap_current")
COUNTED = ("k", "lmo")  # there is no half step
MOST = 60  # points of a band: of more a screen shows no more
FOR_QUARTILES = 8  # members: of fewer a quartile is one of the runs, or close to it
POINTS = ("band", "at", "low", "median", "high")
BANDS = (
    "over", "place", "solver_label", "tol", "axis", "measure", "of", "members", "ends", "start",
    "end",
)  # fmt: skip
MEMBERS = ("band", "run_id", "stopped")

Array = NDArray[np.floating[Any]]


def _empty(columns: tuple[str, ...]) -> Callable[[], pd.DataFrame]:
    return lambda: pd.DataFrame(columns=list(columns))


@dataclass(frozen=True, eq=False)
class Bands:
    """Bands, each named by its row in `bands`.

    Attributes
    ----------
    bands : DataFrame
        A row a group, axis (k, lmo or seconds) and measure. ``over``: ``repetitions`` of one
        instance, named by ``place``, or ``seeds`` of a regime, likewise; ``of`` runs are in the
        group, and ``members`` of them have data; ``ends``: the band is the ``range`` of its members
        or, of eight and more, goes between their ``quartiles``; from ``start`` to ``end`` all have
        data.
    points : DataFrame
        ``at`` on the axis, ``low``, ``median`` and ``high``; null where some member was not judged.
        What rounding put below zero counts as zero. Between two members they are interpolated in
        logarithms.
    members : DataFrame
        The runs, and where on the axis each ``stopped``.
    """

    bands: pd.DataFrame = field(default_factory=_empty(BANDS))
    points: pd.DataFrame = field(default_factory=_empty(POINTS))
    members: pd.DataFrame = field(default_factory=_empty(MEMBERS))


def bands(runs: pd.DataFrame, trace: pd.DataFrame) -> Bands:
    """Return the bands over repetitions, and over the seeds of instances that are else alike.

    Repetitions share instance, solver, tolerance and limits. Over seeds, of repetitions the first
    counts and of several tolerances the tightest. In seconds only runs count that were timed where
    most on their instance were.

    Parameters
    ----------
    runs, trace : DataFrame
        As in the findings.
    """
    columns = _columns(trace)
    timed = set(runs.loc[usual(runs), "run_id"])
    rows: list[dict[str, Any]] = []
    points: dict[str, list[Any]] = {name: [] for name in POINTS}
    members: dict[str, list[Any]] = {name: [] for name in MEMBERS}
    for facts, group in _groups(runs):
        for axis in AXES:
            counted = [run for run in group if axis != "seconds" or run in timed]
            for measure in MEASURES:
                known = [(run, _curve(columns[run], axis, measure)) for run in counted
                         if run in columns]  # fmt: skip
                lines = [(run, line) for run, line in known if len(line[0]) > 1]
                found = band([line for _, line in lines], whole=axis in COUNTED)
                if found is None:
                    continue
                at, low, median, high = found
                ends = "quartiles" if len(lines) >= FOR_QUARTILES else "range"
                part = {"band": [len(rows)] * len(at), "at": at, "low": low, "median": median}
                for name, values in (part | {"high": high}).items():
                    points[name].append(values)
                members["band"] += [len(rows)] * len(lines)
                members["run_id"] += [run for run, _ in lines]
                members["stopped"] += [float(line[0][-1]) for _, line in lines]
                rows.append(
                    facts
                    | {"axis": axis, "measure": measure, "of": len(counted), "members": len(lines)}
                    | {"ends": ends, "start": float(at[0]), "end": float(at[-1])}
                )
    joined: dict[str, Any] = {
        name: np.concatenate(parts) if parts else [] for name, parts in points.items()
    }
    return Bands(
        pd.DataFrame(rows, columns=list(BANDS)),
        pd.DataFrame(joined, columns=list(POINTS)),
        pd.DataFrame(members, columns=list(MEMBERS)),
    )


def _columns(trace: pd.DataFrame) -> dict[str, dict[str, Array]]:
    """Return the columns of each run that left a trace, its checkpoints in order."""
    rows = trace.sort_values(["run_id", "k"], kind="stable")
    arrays = {
        name: rows[name].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
        for name in (*AXES, *MEASURES)
    }
    names = rows["run_id"].to_numpy(dtype=object)
    if not len(names):
        return {}
    cuts = np.flatnonzero(names[1:] != names[:-1]) + 1
    ends = zip([0, *cuts], [*cuts, len(names)], strict=True)
    return {
        str(names[start]): {name: column[start:end] for name, column in arrays.items()}
        for start, end in ends
    }


def _groups(runs: pd.DataFrame) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield what the runs of a group share, and their ids; groups of one are none."""
    alike = ["instance", "solver_label", "tol", "repetition"]
    known = runs.assign(budget=runs.groupby(alike, dropna=False, sort=False).cumcount())
    keys = ["instance", "solver_label", "tol", "budget"]
    for key, mine in known.groupby(keys, dropna=False, sort=False):
        if len(mine) > 1:
            yield _facts("repetitions", key[0], key[1], key[2]), list(mine["run_id"])
    firsts = known.sort_values(["tol", "repetition"], kind="stable").drop_duplicates(
        ["instance", "solver_label"]
    )
    firsts = firsts.sort_index()
    firsts = firsts.assign(
        regime=[regime(str(label), "seed") for label in firsts["instance_label"]]
    )
    for key, mine in firsts.groupby(["regime", "solver_label"], sort=False):
        if len(mine) > 1:
            yield _facts("seeds", key[0], key[1], mine["tol"].min()), list(mine["run_id"])


def _facts(over: str, place: object, label: object, tol: Any) -> dict[str, Any]:
    return {"over": over, "place": str(place), "solver_label": str(label), "tol": tol}


def _curve(columns: dict[str, Array], axis: str, measure: str) -> tuple[Array, Array]:
    """Return the places after the start, up to the last judged one, and the values there."""
    x, y = columns[axis], columns[measure]
    on = x > 0  # a start has no place on a logarithmic axis
    x, y = x[on], y[on]
    judged = np.flatnonzero(np.isfinite(y))
    if not len(judged):
        return x[:0], y[:0]
    kept = slice(judged[0], judged[-1] + 1)
    return x[kept], np.maximum(y[kept], 0.0)


def band(
    lines: list[tuple[Array, Array]], *, whole: bool = False
) -> tuple[Array, Array, Array, Array] | None:
    """Return the grid and the lower end, median and upper end of a band there; None: there is none.

    Parameters
    ----------
    lines : list of pair of ndarray
        Of each member the places, positive and not falling, and the values, none below zero, NaN
        where nobody judged. A place that comes twice counts with its last value.
    whole : bool
        The axis counts: its grid has whole numbers.

    Returns
    -------
    at, low, median, high : ndarray
        The checkpoints, where all members have the same ones, else spread evenly on a logarithmic
        axis; from where the last member begins to where the first one stops.

    Examples
    --------
    >>> slow = np.array([1.0, 2.0, 4.0]), np.array([4.0, 1.0, 0.5])
    >>> fast = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    >>> [ends.tolist() for ends in band([slow, fast])]
    [[1.0, 2.0], [1.0, 1.0], [2.0, 1.0], [4.0, 1.0]]
    """
    if len(lines) < 2 or not all(len(x) for x, _ in lines):
        return None
    start, end = max(x[0] for x, _ in lines), min(x[-1] for x, _ in lines)
    if not start < end:
        return None
    at = _grid([x for x, _ in lines], start, end, whole)
    values = np.array([_read(x, y, at) for x, y in lines])
    values[:, np.isnan(values).any(axis=0)] = np.nan
    values.sort(axis=0)
    outer = (0.25, 0.75) if len(lines) >= FOR_QUARTILES else (0.0, 1.0)
    low, median, high = (_quantile(values, q) for q in (outer[0], 0.5, outer[1]))
    return at, low, median, high


def _grid(places: list[Array], start: float, end: float, whole: bool) -> Array:
    common = [x[(x >= start) & (x <= end)] for x in places]
    if all(np.array_equal(x, common[0]) for x in common[1:]):
        at = np.unique(common[0])
        if len(at) > MOST:
            rows = np.unique(np.geomspace(1, len(at), MOST).round().astype(int)) - 1
            at = at[rows]
        return at
    # twice as many as there are checkpoints: the corners of all lines come near to one
    at = np.geomspace(start, end, min(MOST, 2 * max(map(len, common)) + 2))
    at[0], at[-1] = start, end  # not a rounding beyond
    return np.unique(at.round()) if whole else at


def _read(x: Array, y: Array, at: Array) -> Array:
    """Read a line at places that it reaches, on straight lines in logarithms between checkpoints.

    Between a value and zero, which has no logarithm, the value holds until the zero is seen.
    """
    left = np.searchsorted(x, at, side="right") - 1
    right = np.minimum(left + 1, len(x) - 1)
    wide = np.log(x[right] / x[left])
    there = np.divide(np.log(at / x[left]), wide, out=np.zeros(len(at)), where=wide > 0)
    a, b = y[left], y[right]
    found = np.where(there > 0, a ** (1.0 - there) * b**there, a)
    found = np.where((there > 0) & ((a == 0) | (b == 0)), a, found)
    # rounding must not leave what was measured
    inside = np.clip(found, np.fmin(a, b), np.fmax(a, b))
    return np.where((there > 0) & np.isnan(b), np.nan, inside)


def _quantile(values: Array, q: float) -> Array:
    """Return a quantile of each column of sorted values, interpolated in logarithms."""
    place = q * (len(values) - 1)
    below = int(place)
    above, part = min(below + 1, len(values) - 1), place - below
    a, b = values[below], values[above]
    return a if part == 0 else np.asarray(np.clip(a ** (1.0 - part) * b**part, a, b))
