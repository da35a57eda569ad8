"""How long to a certified gap, by whom, and how many times longer than the suite's own best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwbench.analysis.alike import timed_on
from fwbench.trace import Status

GAPS = (1e-4, 1e-8, 1e-12)  # of the scale
LOOSE = 1e-9  # convex weights within this are convex weights, however tight the gap
ROUNDING = 1e-9  # a tolerance of 1e-4 is the gap 1e-4, however it was written
VOID = frozenset({Status.NONFINITE, Status.ERROR, Status.CRASHED, Status.MEMORY})
COLUMNS = (
    "instance", "instance_label", "n", "d", "solver_label", "library", "target", "seconds",
    "total", "ratio", "ratio_total", "first", "tol", "run_id", "status", "gap_relative", "reason",
    "timed_on",
)  # fmt: skip
Run = Mapping[Any, Any]


class _Reached(NamedTuple):
    """Seconds in the solver, seconds with set-up."""

    seconds: float
    total: float


def races(runs: pd.DataFrame, trace: pd.DataFrame) -> pd.DataFrame:
    """Return a row an instance, solver and certified gap of 1e-4, 1e-8 and 1e-12 of the scale.

    A checkpoint has come to a gap τ if what the judge certified there (the smaller of gap and
    value − best lower bound of that run) is at most τ of the scale and the weights, as returned,
    are convex weights within τ. A run's own word counts for nothing, its status neither: a code
    that called itself optimal and was not may have come to 1e-4 all the same. A solver that was
    run with several tolerances or limits has the best time of all, of repetitions the median.

    Parameters
    ----------
    runs, trace : DataFrame
        As in the findings.

    Returns
    -------
    DataFrame
        ``seconds`` is the time inside the solver, ``total`` that and the set-up; ``ratio`` and
        ``ratio_total`` are these over the least of the suite's own solvers (`library` is null);
        ``first`` marks the least total of the suite's own, and of the foreign codes. Where the gap
        was not reached the times are null, and ``status``, ``gap_relative`` and ``reason`` are
        those of the run that came nearest. Gaps that no run was asked for have no rows. Where runs
        were timed on several machines, ``timed_on`` says on which, and each is a race of its own.
    """
    rows: list[dict[str, Any]] = []
    traces = {str(name): group for name, group in trace.groupby("run_id", sort=False)}
    reached = {
        str(run["run_id"]): _reached(run, traces[run["run_id"]])
        for run in runs.to_dict("records")
        if run["run_id"] in traces and run["status"] not in VOID
    }
    runs = runs.assign(timed_on=timed_on(runs))
    alike = ["instance", "timed_on", "solver_label", "tol", "repetition"]
    runs = runs.assign(budget=runs.groupby(alike, dropna=False).cumcount())
    places = _grouped(runs.to_dict("records"), "instance", "timed_on")
    for here in places:
        for target in GAPS:
            if any(_asked(run, target) for run in here):
                rows += _race(here, target, reached)
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(
        {name: "float64" for name in COLUMNS if name.startswith(("seconds", "total", "ratio"))}
    )


def _grouped(runs: Iterable[Run], *names: str) -> list[list[Run]]:
    """Return runs in groups that are alike; all nulls are. Far faster than a frame a group."""
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        key = tuple(None if pd.isna(run[name]) else run[name] for name in names)
        groups.setdefault(key, []).append(run)
    return list(groups.values())


def _asked(run: Run, target: float) -> bool:
    """Return whether a run was asked for a gap; one of unknown tolerance may have been."""
    return bool(pd.isna(run["tol"]) or run["tol"] <= target * (1 + ROUNDING))


def _race(
    here: list[Run], target: float, reached: dict[str, dict[float, _Reached]]
) -> list[dict[str, Any]]:
    """Return the rows of one instance and gap."""
    rows: list[dict[str, Any]] = []
    for mine in _grouped(here, "solver_label"):
        row = {name: mine[0][name] for name in COLUMNS if name in mine[0]} | {"target": target}
        best = min(_times(mine, target, reached), default=None, key=lambda one: one[1].total)
        run = _nearest(mine, target) if best is None else best[0]
        times = _Reached(np.nan, np.nan) if best is None else best[1]
        told = ("tol", "run_id", "status", "gap_relative", "reason")
        row |= {name: None if run is None else run[name] for name in told}
        rows.append(row | times._asdict())
    own = [row for row in rows if pd.isna(row["library"])]
    foreign = [row for row in rows if not pd.isna(row["library"])]
    for row in rows:
        row["ratio"] = _over(row["seconds"], [one["seconds"] for one in own])
        row["ratio_total"] = _over(row["total"], [one["total"] for one in own])
    for side in (own, foreign):
        totals = [row["total"] for row in side]
        for row in side:
            row["first"] = bool(row["total"] == np.nanmin([*totals, np.inf]))
    return rows


def _times(
    mine: list[Run], target: float, reached: dict[str, dict[float, _Reached]]
) -> Iterator[tuple[Run, _Reached]]:
    """Yield, for each budget with which all repetitions came there, a run and median times."""
    for repeated in _grouped(mine, "tol", "budget"):
        found = [reached.get(run["run_id"], {}).get(target) for run in repeated]
        times = [one for one in found if one is not None]
        if len(times) == len(found):
            seconds, total = (float(np.median(column)) for column in zip(*times, strict=True))
            yield repeated[0], _Reached(seconds, total)


def _nearest(mine: list[Run], target: float) -> Run | None:
    """Return the run that came nearest to a gap, of those that were asked for it."""
    asked = (run for run in mine if _asked(run, target))
    gaps = ((np.inf if pd.isna(run["gap_relative"]) else run["gap_relative"], run) for run in asked)
    return min(gaps, default=(0.0, None), key=lambda one: one[0])[1]


def _over(value: float, own: list[float]) -> float:
    least = np.nanmin([*own, np.inf])
    return float(value / least) if 0 < least < np.inf else np.nan


def _reached(run: Run, rows: pd.DataFrame) -> dict[float, _Reached]:
    """Return the times at which one run came to each gap."""
    rows = rows.sort_values("k", kind="stable")
    if int(rows["k"].iloc[-1]) == 1:  # the start of a direct method is none of its answers
        rows = rows[rows["k"] > 0]
    k, seconds = rows["k"].to_numpy(dtype=float), rows["seconds"].to_numpy(dtype=float)
    gap, violation = certified(rows) / (run["scale"] or 1.0), rows["feasibility"].to_numpy(float)
    # the trace says when, the uninterrupted call how long it all takes
    whole = run["seconds_from"] == "run" and seconds[-1] > 0
    share = float(run["seconds"]) / seconds[-1] if whole else 1.0
    setup: float = 0.0 if pd.isna(run["setup_seconds"]) else float(run["setup_seconds"])
    times = {}
    for target in GAPS:
        met = (gap <= target) & (violation <= max(target, LOOSE))
        if met.any():
            at = float(seconds[met.argmax()]) * share if k[met.argmax()] > 0 else 0.0
            times[target] = _Reached(at, at + setup)
    return times


def certified(rows: pd.DataFrame) -> NDArray[np.float64]:
    """Return what was certified at each checkpoint: the gap, or value − best bound if smaller.

    Examples
    --------
    >>> nan = float("nan")
    >>> rows = {"gap": [3.0, 2.0], "value_centred": [1.0, 1.0], "lower_centred": [nan, 0.5]}
    >>> certified(pd.DataFrame(rows)).tolist()
    [3.0, 0.5]
    """
    columns = (rows[name].to_numpy(float) for name in ("gap", "value_centred", "lower_centred"))
    gap, value, lower = columns
    return np.asarray(np.fmin(gap, np.maximum(value - lower, 0.0)))
