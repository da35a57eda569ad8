"""What each solver spent to come to an accuracy, as brackets, and who took no part and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from fwbench.analysis.alike import timed_on
from fwbench.trace import Status, failed

ACCURACIES = (1e-2, 1e-4, 1e-6, 1e-8)  # of the scale
COSTS = ("lmo", "seconds", "total")  # oracle calls; seconds in the solver, without and with set-up
# A target met at the start costs the one call that shows it; no clock is truer than a microsecond.
FLOOR = {"lmo": 1.0, "seconds": 1e-6, "total": 1e-6}
MOVING = "gap_current"  # the measure of solvers whose keys move
PLACE = ["instance", "measure", "timed_on"]  # where solvers can be compared
COLUMNS = (
    *PLACE, "instance_label", "unit", "solver", "solver_label", "cost", "target", "low", "high",
    "least", "most", "spent", "limit",
)  # fmt: skip
ABSENT = ("instance", "instance_label", "solver_label", "reason")
_ENDS = ["low", "high", "spent", "limit"]


class Limits(NamedTuple):
    """What a run was allowed."""

    steps: float
    seconds: float


def efforts(
    runs: pd.DataFrame,
    trace: pd.DataFrame,
    targets: pd.DataFrame,
    limits: Mapping[str, Limits],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what solvers spent to come to 1e-2, 1e-4, 1e-6 and 1e-8 of the scale.

    The ends are those of `targets`: not met at k_low, met at k_high. Where no step lies between
    the two, or nothing before k_high is an answer (a target met at the start, a direct method),
    they coincide at the upper one. A checkpoint that nobody judged is no lower end. Who missed the
    target, or failed, is at infinity. Of repetitions the median of each end, infinite ones
    counted; of several tolerances or limits the least. Seconds are those of one uninterrupted
    call, by the share of its steps, as in `winners`.

    Parameters
    ----------
    runs, trace, targets : DataFrame
        As in the findings.
    limits : mapping of str to Limits
        By run; what a run without an entry was allowed is null.

    Returns
    -------
    efforts : DataFrame
        A row a place (instance, measure and, for seconds, `timed_on`), solver label, cost and
        target: ``low``, ``high``, of all repetitions ``least`` and ``most``; ``spent``: all that
        the run used, its limit where that is unknown; ``limit``: max_steps calls a query, or
        max_seconds, or what it used if more;
        ``unit``: min(n, d + 1) oracle calls a query, so many as there are atoms in a combination
        that reaches any point of the hull.
    absent : DataFrame
        Who took no part on an instance, with the reason.
    """
    facts = ["run_id", "instance", "instance_label", "solver", "solver_label", "tol", "seconds",
             "seconds_from", "steps", "lmo", "setup_seconds"]  # fmt: skip
    table = runs[facts].rename(columns={"seconds": "run_seconds", "lmo": "run_lmo"})
    numbers = ["tol", "run_seconds", "steps", "run_lmo", "setup_seconds"]
    texts = ["instance", "instance_label", "solver", "solver_label"]
    table[texts] = table[texts].astype(object)  # what is grouped is gathered in tuples
    table[numbers] = table[numbers].astype("Float64").astype(float)
    alike = ["instance", "solver_label", "tol", "repetition"]
    table = table.assign(
        tol=table["tol"].fillna(0.0),
        place=np.arange(len(runs)),
        budget=runs.groupby(alike, dropna=False).cumcount(),
        timed_on=timed_on(runs),
        unit=_units(runs),
        limit_lmo=_allowed(runs, limits, "steps") * _queries(runs),
        limit_seconds=_allowed(runs, limits, "seconds"),
        setup_seconds=table["setup_seconds"].fillna(0.0),
    )
    lost = np.array([failed(str(run.status), run.signal) for run in runs.itertuples()], dtype=bool)
    graded = runs["run_id"].isin(targets["run_id"])
    reasons = _reasons(runs, graded | lost)
    away = reasons.notna()
    absent = runs.assign(reason=reasons)[away][list(ABSENT)].drop_duplicates(ignore_index=True)
    missed = lost | ~graded
    met = _ends(table[~away & ~missed], trace, targets)
    nowhere = _nowhere(table[~away & missed], met)
    every = pd.concat([part for part in (met, nowhere) if len(part)] or [met])
    every = every.sort_values(["place", "target"], ascending=[True, False], kind="stable")
    counting = set(table.loc[table["run_lmo"].notna(), "solver_label"])
    parts = [_of_cost(every, cost, counting) for cost in COSTS]
    found = pd.concat(parts, ignore_index=True)
    return found[list(COLUMNS)], absent


def _queries(runs: pd.DataFrame) -> pd.Series[float]:
    """Return how many queries an instance has: a solver whose answer serves all is run for one."""
    queries = runs["queries"].astype("Float64").astype(float)
    return queries.groupby(runs["instance"]).transform("max").fillna(1.0)


def _units(runs: pd.DataFrame) -> pd.Series[float]:
    n, d = (
        runs[name].astype("Float64").astype(float).groupby(runs["instance"]).transform("max")
        for name in ("n", "d")
    )
    return n.where(n < d + 1.0, d + 1.0).where(n.notna()) * _queries(runs)


def _allowed(runs: pd.DataFrame, limits: Mapping[str, Limits], what: str) -> pd.Series[float]:
    found = [getattr(limits[name], what) if name in limits else np.nan for name in runs["run_id"]]
    return pd.Series(found, index=runs.index, dtype=float)


def _reasons(runs: pd.DataFrame, known: pd.Series[bool]) -> pd.Series[str]:
    """Return why runs do not count: they never were, or have no accuracy; null where they do."""
    reasons = pd.Series(None, index=runs.index, dtype=object)
    none = ~known & (runs["status"] != Status.TIMEOUT)
    reasons = reasons.mask(none, "leaves the hull by design: no accuracy that it could reach")
    unmade = runs["status"].isin([Status.SKIPPED, Status.INTERRUPTED])
    told = runs["status"].astype(str) + ": " + runs["reason"].astype("string").fillna("no reason")
    return reasons.mask(unmade, told.astype(object))


def _ends(table: pd.DataFrame, trace: pd.DataFrame, targets: pd.DataFrame) -> pd.DataFrame:
    """Return a row a run and target with the ends of all costs; the infinite ones, where missed."""
    kept = np.isclose(
        targets["target"].to_numpy(float)[:, None], ACCURACIES, rtol=1e-9, atol=0
    ).any(axis=1)
    columns = [
        "run_id", "measure", "target", "k_low", "k_high", "lmo_high", "seconds_low",
        "seconds_high",
    ]  # fmt: skip
    asked = targets.loc[kept, columns].merge(table, on="run_id", how="inner")
    numbers = ["k_low", "k_high", "lmo_high", "seconds_low", "seconds_high"]
    asked[numbers] = asked[numbers].astype("Float64").astype(float)
    asked = _before(asked, trace)
    # where nobody judged what came first, the target may have been met from the start on
    open_start = asked["k_low"].isna() & (asked["k_high"] - asked["k_unjudged"] > 1)
    step = asked["k_high"] - asked["k_low"]
    alone = (asked["k_low"].isna() & ~open_start) | (step <= 1)
    whole = (asked["seconds_from"] == "run") & (asked["steps"] > 0)
    pace = asked["run_seconds"] / asked["steps"].where(whole)
    high = {
        "lmo": asked["lmo_high"],
        "seconds": asked["seconds_high"].mask(whole, pace * asked["k_high"]),
    }
    low = {
        "lmo": asked["lmo_before"].fillna(0.0),
        "seconds": asked["seconds_low"].mask(whole, pace * asked["k_low"]).fillna(0.0),
    }
    setup, missed = asked["setup_seconds"], asked["k_high"].isna()
    for cost in ("lmo", "seconds"):
        # rounding of a share must not cross the ends
        least = low[cost].where(~(low[cost] > high[cost]) & ~alone, high[cost])
        asked[f"{cost}_low"] = least.clip(lower=FLOOR[cost]).mask(missed, np.inf)
        asked[f"{cost}_high"] = high[cost].clip(lower=FLOOR[cost]).mask(missed, np.inf)
    for end in ("low", "high"):
        asked[f"total_{end}"] = asked[f"seconds_{end}"] + setup
    return asked


def _before(asked: pd.DataFrame, trace: pd.DataFrame) -> pd.DataFrame:
    """Add the oracle calls at k_low, and the first k of a run if nobody judged it; null if not."""
    looks = trace.assign(
        run_id=trace["run_id"].astype(str),
        k_low=trace["k"].astype("Float64").astype(float),
        lmo_before=trace["lmo"].astype("Float64").astype(float),
    )
    asked = asked.assign(run_id=asked["run_id"].astype(str), k_unjudged=np.nan)
    first = looks.drop_duplicates("run_id").set_index("run_id")
    for name in ("suboptimality", "gap", MOVING):
        unjudged = asked["run_id"].map(first["k_low"].mask(first[name].notna())).astype(float)
        asked["k_unjudged"] = asked["k_unjudged"].mask(asked["measure"] == name, unjudged)
    return asked.merge(looks[["run_id", "k_low", "lmo_before"]], on=["run_id", "k_low"], how="left")


def _nowhere(table: pd.DataFrame, met: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of runs that reached nothing, each where its solver would be compared."""
    own = met.groupby(["instance", "solver_label"])["measure"].agg(_commonest).to_dict()
    moving = met.groupby("solver_label")["measure"].agg(_commonest).eq(MOVING).to_dict()
    resting = met[met["measure"] != MOVING]
    usual = resting.groupby("instance")["measure"].agg(_commonest).to_dict()
    measures = [
        own.get((run.instance, run.solver_label))
        or (MOVING if moving.get(run.solver_label) else usual.get(run.instance, "gap"))
        for run in table.itertuples()
    ]
    rows = table.assign(measure=np.array(measures, dtype=object))
    rows = rows.assign(**{f"{cost}_{end}": np.inf for cost in COSTS for end in ("low", "high")})
    return rows.merge(pd.DataFrame({"target": ACCURACIES}), how="cross")


def _of_cost(every: pd.DataFrame, cost: str, counting: set[str]) -> pd.DataFrame:
    """Return the efforts of one cost: medians over repetitions, the least over budgets."""
    spent = every["run_lmo"] if cost == "lmo" else every["run_seconds"]
    limit = every["limit_lmo"] if cost == "lmo" else every["limit_seconds"]
    if cost == "total":
        spent, limit = spent + every["setup_seconds"], limit + every["setup_seconds"]
    spent = spent.fillna(limit)
    rows = every.assign(
        cost=cost,
        low=every[f"{cost}_low"],
        high=every[f"{cost}_high"],
        spent=spent,
        limit=np.fmax(limit, spent),
    )
    if cost == "lmo":  # calls are the same on every machine; who counts none is not compared
        counted = rows["solver_label"].isin(counting) & rows["high"].notna()
        rows = rows[counted].assign(timed_on=None)
    rows = rows.assign(timed_on=rows["timed_on"].astype(object).where(rows["timed_on"].notna()))
    nearest = np.abs(np.subtract.outer(rows["target"].to_numpy(float), ACCURACIES)).argmin(axis=1)
    rows["target"] = np.array(ACCURACIES)[nearest]  # 10.0**-2 is 0.01, however it was written
    alike = [*PLACE, "instance_label", "unit", "solver", "solver_label", "cost", "target"]
    grouped = rows.groupby([*alike, "tol", "budget"], sort=False, dropna=False)
    repeated = grouped[_ENDS].median()
    repeated = repeated.assign(least=grouped["low"].min(), most=grouped["high"].max())
    how = dict.fromkeys(("low", "high", "least", "most"), "min") | {"spent": "max", "limit": "max"}
    return repeated.reset_index().groupby(alike, sort=False, dropna=False).agg(how).reset_index()


def _commonest(names: pd.Series[str]) -> str:
    return str(names.value_counts().index[0])
