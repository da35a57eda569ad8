"""How many steps to which accuracy, as brackets; the reference interval; who won where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fwbench.analysis.alike import timed_on
from fwbench.trace import failed

TIED = 1.1  # a lead smaller than this is none: one timing is no better
TARGETS = tuple(10.0**-e for e in range(1, 13))
SHOWN = (1e-8, 1e-6, 1e-4, 1e-2, 1e-1)  # for each of them a winner is named


def reference(
    kind: str, traces: list[Mapping[str, list[Any]]], best_vertex: float | None
) -> tuple[float | None, float | None]:
    """Return the interval that holds the optimal centred value of an instance.

    Convex: the largest lower bound and the smallest value over all judged feasible points of all
    runs, the ends swapped where rounding crosses them; a point that nobody saw to lie in the hull
    counts for nothing. Concave: the best vertex. Else none.
    """
    if kind == "concave" and best_vertex is not None:
        return best_vertex, best_vertex
    if kind != "convex":
        return None, None
    lowers = [v for trace in traces for v in trace["lower_centred"] if v is not None]
    inside = [v for trace in traces for v in _inside(trace, trace["value_centred"])]
    values = [v for v in inside if v is not None]
    if not lowers or not values:
        return None, None
    low, high = max(lowers), min(values)
    return min(low, high), max(low, high)


def _inside(trace: Mapping[str, list[Any]], column: list[float | None]) -> list[float | None]:
    """Keep what was measured at points with judged weights."""
    pairs = zip(column, trace["feasibility"], strict=True)
    return [value if judged is not None else None for value, judged in pairs]


def measured(
    trace: Mapping[str, list[Any]], reference_low: float | None, *, moving: bool
) -> tuple[str, list[float | None]]:
    """Return what the accuracy of a run is read off, and its column."""
    if moving:
        return "gap_current", trace["gap_current"]
    values = _inside(trace, trace["value_centred"])
    if reference_low is not None and any(value is not None for value in values):
        return "suboptimality", [None if v is None else max(v - reference_low, 0) for v in values]
    return "gap", trace["gap"]


def brackets(
    trace: Mapping[str, list[Any]], measure: str, column: list[float | None], scale: float
) -> list[dict[str, Any]]:
    """Return a row a target: not met at k_low, met at k_high; nothing is interpolated.

    The first checkpoint that meets a target counts: the Frank-Wolfe gap is not monotone. A
    checkpoint that nobody judged is no end: it may have met the target.

    Examples
    --------
    >>> trace = {"k": [0, 1, 2], "seconds": [0.0, 0.1, 0.2], "lmo": [0, 1, 2]}
    >>> [row] = [r for r in brackets(trace, "gap", [1.0, 0.5, 0.05], 1.0) if r["target"] == 0.1]
    >>> row["k_low"], row["k_high"], row["lmo_high"]
    (1, 2, 2)
    """
    k, seconds, lmo = trace["k"], trace["seconds"], trace["lmo"]
    values = np.array([np.nan if v is None else v for v in column], dtype=float)
    judged = np.flatnonzero(~np.isnan(values))
    rows = []
    for target in TARGETS:
        met = np.flatnonzero(values <= target * scale)
        first = int(met[0]) if met.size else None
        above = judged if first is None else judged[judged < first]
        before = int(above[-1]) if above.size else None
        rows.append(
            {
                "measure": measure,
                "target": target,
                "k_low": None if before is None else k[before],
                "k_high": None if first is None else k[first],
                "seconds_low": None if before is None else seconds[before],
                "seconds_high": None if first is None else seconds[first],
                "lmo_high": None if first is None else lmo[first],
            }
        )
    return rows


def winners(runs: pd.DataFrame, targets: pd.DataFrame) -> pd.DataFrame:
    """Return who reached which accuracy soonest: an instance, a measure and a target a row.

    Where runs were timed on several machines, `timed_on` says on which, and each has its own row.
    Seconds are those of one uninterrupted call, by the share of its steps that the first checkpoint
    to meet the target had taken (of runs over a second: those of the trace); the median over a
    solver's repetitions, set-up left out. A solver that missed the target, or failed, in any
    repetition did not reach it; one that ran with several tolerances or limits has the best time.
    `contest` says what a first place is worth: ``won``, ``tied`` (the next needed less than 1.1
    times as long), ``start`` (it stood there from the start: nothing was won), ``alone`` (nobody
    else came there) or ``unopposed`` (nobody else took part).
    """
    columns = [
        "instance", "instance_label", "kind", "measure", "target", "solver_label", "run_id",
        "seconds", "lmo", "runner_up", "ratio", "contest", "reached", "of", "timed_on",
    ]  # fmt: skip
    facts = ["run_id", "instance", "instance_label", "kind", "solver_label", "tol", "budget"]
    timed = ["seconds", "seconds_from", "steps", "timed_on"]
    # a solver may have run with several tolerances and limits: those are no repetitions
    alike = ["instance", "solver_label", "tol", "repetition"]
    runs = runs.assign(budget=runs.groupby(alike, dropna=False).cumcount()).fillna({"tol": 0.0})
    runs = runs.assign(timed_on=timed_on(runs))
    table = targets.merge(runs[facts + timed], on="run_id", how="left")
    whole = (table["seconds_from"] == "run") & (table["steps"] > 0)
    share = table["seconds"] * (table["k_high"] / table["steps"]).astype("Float64").astype(float)
    table["seconds_high"] = table["seconds_high"].astype(float).mask(whole, share)
    lost = {
        (run.instance, run.solver_label, run.tol, run.budget)
        for run in runs.itertuples()
        if failed(str(run.status), run.signal)
    }
    askers = table[["instance", "solver_label", "tol", "budget"]].itertuples(index=False)
    table.loc[[tuple(asker) in lost for asker in askers], "seconds_high"] = np.nan
    rows = []
    places = table.groupby(["instance", "timed_on", "measure"], sort=False, dropna=False)
    for (_, _, measure), group in places:
        facts = ["instance", "instance_label", "kind", "timed_on"]
        shared = {name: group[name].iloc[0] for name in facts}
        shared |= {"measure": measure, "of": group["solver_label"].nunique()}
        for target in SHOWN:
            at = group[np.isclose(group["target"], target, rtol=1e-9, atol=0)]
            row = {**dict.fromkeys(columns), **shared, "target": target, **_first(at)}
            rows.append(row | {"contest": _contest(row)})
    return pd.DataFrame(rows, columns=columns)


def _first(at: pd.DataFrame) -> dict[str, Any]:
    """Return who came first to one target, by how much, and how many came there at all."""
    repeated = at.groupby(["solver_label", "tol", "budget"], sort=False)["seconds_high"]
    came = repeated.transform("count") == repeated.transform("size")
    reached = at.assign(seconds_high=repeated.transform("median"))[came]
    if reached.empty:
        return {"reached": 0}
    order = reached.groupby("solver_label")["seconds_high"].min().sort_values(kind="stable")
    first = reached[reached["solver_label"] == order.index[0]]
    first = first[first["seconds_high"] == order.iloc[0]].iloc[0]
    found = {
        "solver_label": order.index[0],
        "run_id": first["run_id"],
        "seconds": float(order.iloc[0]),
        "lmo": first["lmo_high"],
        "reached": len(order),
    }
    if len(order) > 1:
        found["runner_up"] = order.index[1]
        first_seconds, second_seconds = float(order.iloc[0]), float(order.iloc[1])
        tied = first_seconds == second_seconds  # both met the target at their start
        found["ratio"] = 1.0 if tied else second_seconds / first_seconds if first_seconds else None
    return found


def _contest(row: dict[str, Any]) -> str | None:
    """Return what a first place is worth, None where nobody has it."""
    if row["solver_label"] is None:
        return None
    if row["of"] == 1:
        return "unopposed"
    if row["seconds"] == 0.0:
        return "start"
    if row["reached"] == 1:
        return "alone"
    return "tied" if row["ratio"] is not None and row["ratio"] < TIED else "won"
