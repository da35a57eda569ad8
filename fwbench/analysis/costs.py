"""What a step and a whole solve cost, in units of one pass over the atoms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fwbench.analysis.alike import timed_on
from fwbench.trace import Status

LATE = 32  # steps that a run must have before its second half says what a later step costs
ANSWERED = frozenset({Status.CONVERGED, Status.FINISHED})
TIMES = (
    "pass_seconds", "gram_seconds", "step_seconds", "step_passes", "late_step_seconds",
    "late_step_gemvs", "solve_passes", "solve_grams", "trace_over_run",
)  # fmt: skip
COLUMNS = (
    "instance", "instance_label", "n", "d", "solver_label", "run_id", "tol", "status", "steps",
    *TIMES, "timed_on",
)  # fmt: skip


def costs(runs: pd.DataFrame, trace: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each of the suite's own iterative solvers on each measured instance.

    Of repetitions (equal tolerances and steps, on one machine) the medians; `run_id` is the first
    one's.

    Parameters
    ----------
    runs, trace : DataFrame
        As in the findings.

    Returns
    -------
    DataFrame
        ``step_seconds``: seconds in the solver over steps; ``step_passes``: that in pricing passes;
        ``late_step_seconds``: the same over the second half of at least 32 steps, when score
        columns are cached; ``late_step_gemvs``: that over numpy's product V g; ``solve_passes`` and
        ``solve_grams``: set-up and solver of a run that reached its tolerance, in pricing passes
        and (where n < d) in bare Gram products; ``trace_over_run``: seconds of the trace over those
        of the same steps in one call, where both were timed.
    """
    traces = {str(name): group for name, group in trace.groupby("run_id", sort=False)}
    rows = []
    for run in runs.assign(timed_on=timed_on(runs)).to_dict("records"):
        own = pd.isna(run["library"]) and run["run_id"] in traces
        if own and _positive(run["pass_seconds"]) and not pd.isna(run["seconds"]):
            walk = traces[run["run_id"]].sort_values("k", kind="stable")
            if int(walk["k"].iloc[-1]) > 0 and run["seconds"] > 0:
                row: dict[str, Any] = {name: run.get(name) for name in COLUMNS}
                rows.append(row | _cost(run, walk))
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(TIMES, "float64"))
    alike = ["instance", "timed_on", "solver_label", "tol", "steps"]
    repeated = table.groupby(alike, dropna=False, sort=False)
    how = dict.fromkeys(COLUMNS, "first") | dict.fromkeys(TIMES, "median")
    return repeated[list(COLUMNS)].agg(how).reset_index(drop=True)


def _cost(run: dict[Any, Any], walk: pd.DataFrame) -> dict[str, Any]:
    k, seconds = walk["k"].to_numpy(dtype=float), walk["seconds"].to_numpy(dtype=float)
    one, pricing, gemv = run["seconds"] / k[-1], run["pass_seconds"], run["gemv_seconds"]
    late, gram = np.nan, run["gram_seconds"]
    half = int(np.searchsorted(k, k[-1] / 2))
    if k[-1] >= LATE and half < len(k) - 1:
        late = (seconds[-1] - seconds[half]) / (k[-1] - k[half])
    total = np.nan
    certified = not pd.isna(run["gap_relative"]) and run["gap_relative"] <= run["tol"]
    if run["status"] in ANSWERED and certified:
        total = run["seconds"] + run["setup_seconds"]
    timed = run["seconds_from"] == "run" and seconds[-1] > 0
    return {
        "step_seconds": one,
        "step_passes": one / pricing,
        "late_step_seconds": late,
        "late_step_gemvs": late / gemv if _positive(gemv) else np.nan,
        "solve_passes": total / pricing,
        "solve_grams": total / gram if _positive(gram) else np.nan,
        "trace_over_run": seconds[-1] / run["seconds"] if timed else np.nan,
    }


def _positive(seconds: float | None) -> bool:
    """Say whether seconds are known, and something can be measured in them."""
    return not pd.isna(seconds) and seconds > 0
