"""What the suite's own solvers are meant to reach, as ratios, and what a run folder measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import pandas as pd

OUTSIDE, INSIDE = "min_norm_point[n=1000,d=50,shift=0.6]", "min_norm_point[n=1000,d=50]"
FACE = "min_norm_point[n=1000,d=50,face=29]"
TALL = "min_norm_point[n=10000,d=100,shift=0.6]"
TALLER = "min_norm_point[n=100000,d=50,shift=1]"
BALL = "ball[n=1000000]"
WIDE = "min_norm_point[n=2000,d=5000]"
# few vertices and many steps between them: what a step costs once all columns are there
STEEP = (
    "min_norm_point[n=1000,d=50,shift=0.6,condition=1000000]",
    "min_norm_point[n=10000,d=100,shift=0.6,condition=1000000]",
    "min_norm_point[n=100000,d=50,shift=1,condition=1000000]",
)
FAMILY = ("frank_wolfe", "away_steps", "pairwise", "blended_pairwise", "pair_descent")
EXACT = 1e-12
CACHED = 2000  # steps of a run in whose second half every score column is there
TIMED = (2e-3, 1.0)  # seconds of the runs whose trace is held against one call
WORTH = 1e-3  # seconds: a choice between solvers that are all faster than this gains little
COLUMNS = ("what", "where", "at_least", "bound", "measured", "met", "detail")

Row = dict[Any, Any]
Found = tuple[float, str] | None  # a ratio, and what it rests on
Look = Callable[[list[Row], list[Row]], Found]  # at races and costs


@dataclass(frozen=True)
class Goal:
    """A ratio, where it is taken, its bound, and how it is found."""

    what: str
    where: str
    bound: float
    look: Look
    at_least: bool = True


def goals(races: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each goal that a run folder can say something of.

    Parameters
    ----------
    races, costs : DataFrame
        As in the findings.

    Returns
    -------
    DataFrame
        ``what`` is a ratio, ``where`` the instance or the sizes; ``at_least`` says whether `bound`
        bounds it from below; ``measured``, ``met``; ``detail`` says what it rests on.
    """
    rows = []
    raced = races[races["total"].notna()].to_dict("records")
    spent = costs.to_dict("records")
    for goal in GOALS:
        if (found := goal.look(raced, spent)) is not None:
            measured, detail = found
            met = measured >= goal.bound if goal.at_least else measured <= goal.bound
            rows.append((goal.what, goal.where, goal.at_least, goal.bound, measured, met, detail))
    return pd.DataFrame(rows, columns=list(COLUMNS))


# -- how a ratio is found ----------------------------------------------------------------------


def _foreign_over_ours(wanted: str, where: str, *, exact: bool) -> Look:
    """Take the quickest of some foreign codes on an instance, at the smallest gap it came to."""

    def look(races: list[Row], costs: list[Row]) -> Found:
        here = [row for row in races if row["instance_label"] == where and _ratio(row)]
        here = [row for row in here if wanted in _name(row) and not pd.isna(row["library"])]
        here = [row for row in here if not exact or row["target"] == EXACT]
        if not here:
            return None
        best = min(here, key=lambda row: (row["target"], row["ratio_total"]))
        return best["ratio_total"], f"{best['solver_label']} to {best['target']:.0e}"

    return look


def _least_over_ours(wanted: str, least_n: int, most_n: float) -> Look:
    """Take the least ratio of a foreign code, of all instances of some sizes."""

    def look(races: list[Row], costs: list[Row]) -> Found:
        here = [row for row in races if _name(row) == wanted and row["target"] == EXACT]
        here = [row for row in here if _ratio(row) and least_n <= row["n"] <= most_n]
        if not here:
            return None
        least = min(here, key=lambda row: float(row["ratio_total"]))
        return least["ratio_total"], f"least of {len(here)}, on {least['instance_label']}"

    return look


def _in_units(unit: str, where: str, time: str) -> Look:
    """Take our least time to the exact gap on an instance, in passes or Gram products."""

    def look(races: list[Row], costs: list[Row]) -> Found:
        units = {row["run_id"]: row[unit] for row in costs if not pd.isna(row[unit])}
        here = [row for row in races if row["instance_label"] == where and row["target"] == EXACT]
        here = [row for row in here if row["run_id"] in units]
        if not here:
            return None
        # of each machine its least time, in its own units
        first = sorted(here, key=lambda row: float(row[time]), reverse=True)
        least = {str(row.get("timed_on")): row for row in first}.values()
        best = min(least, key=lambda row: float(row[time] / units[row["run_id"]]))
        return best[time] / units[best["run_id"]], str(best["solver_label"])

    return look


def _cached_step(where: str) -> Look:
    """Take the dearest late step of the Frank-Wolfe family, in numpy's products V g."""

    def look(races: list[Row], costs: list[Row]) -> Found:
        here = [row for row in costs if row["instance_label"] == where and _name(row) in FAMILY]
        here = [row for row in here if row["steps"] >= CACHED and row["late_step_gemvs"] > 0]
        if not here:
            return None
        worst = max(here, key=lambda row: float(row["late_step_gemvs"]))
        return worst["late_step_gemvs"], f"dearest of {len(here)} runs, {worst['solver_label']}"

    return look


def _recording(least_n: int, most_n: float) -> Look:
    """Take the median of what looking at a run costs it."""

    def look(races: list[Row], costs: list[Row]) -> Found:
        here = [row for row in costs if least_n <= row["n"] <= most_n]
        here = [row for row in here if TIMED[0] <= row["step_seconds"] * row["steps"] <= TIMED[1]]
        ratios = [row["trace_over_run"] for row in here if row["trace_over_run"] > 0]
        if not ratios:
            return None
        return median(ratios), f"median of {len(ratios)} runs, largest {max(ratios):.2f}"

    return look


def _choice(races: list[Row], costs: list[Row]) -> Found:
    """Take the worst choice of `auto`, of the instances that are worth a choice."""
    worst: tuple[float, str] | None = None
    places = dict.fromkeys(_place(row) for row in races if _name(row) == "auto")
    for place in places:
        own = [row for row in races if _place(row) == place and pd.isna(row["library"])]
        own = [row for row in own if row["target"] == min(one["target"] for one in own)]
        mine = [row for row in own if _name(row) == "auto" and _ratio(row)]
        if mine and min(row["total"] for row in own) > WORTH:
            worst = max(worst or (0.0, ""), (mine[0]["ratio_total"], mine[0]["instance_label"]))
    return None if worst is None else (worst[0], f"worst of those instances, {worst[1]}")


def _place(row: Row) -> tuple[str, str]:
    """Return an instance and where its runs were timed."""
    return row["instance"], str(row.get("timed_on"))


def _name(row: Row) -> str:
    """Return the solver's name without its parameters."""
    return str(row["solver_label"]).partition("[")[0]


def _ratio(row: Row) -> bool:
    return not pd.isna(row["ratio_total"])


_CVXPY, _DUAL = "cvxpy with Clarabel / ours, to its own accuracy", "best dual QP / ours, to 1e-12"
_NNLS, _PASS = "scipy's NNLS / ours, to 1e-12", "ours to 1e-12 / one pricing pass"
_WHOLE, _STEP = f"{_PASS}, with set-up", "cached step of the Frank-Wolfe family / numpy's V g"
_GRAM, _TRACE = "ours to 1e-12, with set-up / bare Gram product", "seconds of trace / of one call"

GOALS = (
    *(
        Goal(_CVXPY, where, bound, _foreign_over_ours("cvxpy", where, exact=False))
        for where, bound in ((OUTSIDE, 300.0), (INSIDE, 150.0), (TALL, 2000.0))
    ),
    *(
        Goal(_DUAL, where, bound, _foreign_over_ours("_dual", where, exact=True))
        for where, bound in ((OUTSIDE, 2.0), (TALL, 8.0), (TALLER, 8.0), (BALL, 10.0))
    ),
    Goal(_NNLS, "n ≤ 1000", 5.0, _least_over_ours("scipy_nnls", 1, 1000)),
    Goal(_NNLS, "n ≥ 10000", 25.0, _least_over_ours("scipy_nnls", 10_000, float("inf"))),
    *(
        Goal(_PASS, where, bound, _in_units("pass_seconds", where, "seconds"), at_least=False)
        for where, bound in ((BALL, 3.0), (TALLER, 8.0), (TALL, 14.0), (FACE, 100.0))
    ),
    *(
        Goal(_WHOLE, where, bound, _in_units("pass_seconds", where, "total"), at_least=False)
        for where, bound in ((BALL, 7.0), (TALLER, 12.0), (TALL, 20.0))
    ),
    *(
        Goal(_STEP, where, bound, _cached_step(where), at_least=False)
        for where, bound in zip(STEEP, (0.08, 0.05, 0.02), strict=True)
    ),
    Goal(_GRAM, WIDE, 2.0, _in_units("gram_seconds", WIDE, "total"), at_least=False),
    Goal(_TRACE, "n = 1000", 1.5, _recording(1000, 1000), at_least=False),
    Goal(_TRACE, "n ≥ 10000", 1.1, _recording(10_000, float("inf")), at_least=False),
    Goal("auto / the best solver, with set-up", "above 1 ms", 1.3, _choice, at_least=False),
)
