"""What a benchmark writes of its run beside the seconds: the row that `compare` reads.

It stands in ``extra_info["fwbench"]`` of a file of pytest-benchmark, as JSON knows it. Names are
those of the columns of ``runs``, ``trace`` and ``fixed_points``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fwbench.analysis import fixed_points, rates, targets
from fwbench.analysis.resting import LOCAL
from fwbench.endings import Budget
from fwbench.expectations import places
from fwbench.geometry.forms import Kind
from fwbench.handed import Handed
from fwbench.manifest import versions
from fwbench.plain import plain
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Run
from fwbench.trace import Status

# of a trace, what a comparison looks at
COLUMNS = (
    "k", "value_centred", "gap", "gap_current", "lower_centred", "feasibility", "lmo", "gradient",
    "matvec", "suboptimality",
)  # fmt: skip
MOST_NUMBERS = 4096  # of points: of more queries the class of the whole run has to do
_ROW = (
    "steps", "queries", "value", "value_centred", "gap", "gap_relative", "scale", "feasibility",
    "support", "lmo", "gradient", "matvec", "sampling", "setup_seconds", "seconds",
)  # fmt: skip


def row(given: Handed, budget: Budget, run: Run, threads: int) -> dict[str, Any]:
    """Return what is kept of a run.

    Parameters
    ----------
    given : Handed
    budget : Budget
    run : Run
        One that did not fail.
    threads : int
        For BLAS and numba.

    Returns
    -------
    dict
        Plain data; nulls where something is not known.
    """
    problem = given.problem
    named = places(run, problem)
    kind, label = fixed_points.common(named) if named else (None, None)
    trace = run.trace.columns
    low, high = targets.reference(str(problem.kind), [trace], run.row.get("best_vertex_centred"))
    moving = bool(getattr(given.solver, "moving", False))
    width = 0.0 if low is None or high is None else high - low
    measure, column = targets.measured(trace, low, moving=moving)
    suboptimality = column if measure == "suboptimality" else [None] * len(column)
    few = run.points is not None and run.points.size <= MOST_NUMBERS
    rests = [
        {"class": str(place.kind), "label": place.label, "certified": place.certified,
         "value": value}
        for place, value in zip(named, (run.rest or {}).get("value", ()), strict=True)
    ]  # fmt: skip
    found = {
        "instance": given.instance,
        "solver": given.name,
        "params": given.params,
        "solver_label": given.label,
        "status": str(run.status),
        "reason": run.reason,
        "tol": budget.tol,
        "max_steps": budget.max_steps,
        "max_seconds": budget.max_seconds,
        "n": problem.n,
        "d": problem.d,
        "kind": str(problem.kind),
        "radius": problem.radius,
        **{name: run.row.get(name) for name in _ROW},
        "fixed_point": None if kind is None else str(kind),
        "fixed_point_label": label,
        "rate_class": _rate_class(run, problem, measure, column, 0.0 if moving else width),
        "threads": threads,
        "versions": versions(),
        "rests": rests if few else [],
        "points": run.points if few else None,
        "trace": {name: [*trace.get(name, suboptimality)] for name in COLUMNS},
    }
    kept: dict[str, Any] = plain(found)
    return kept


def _rate_class(
    run: Run, problem: QuadraticOverHull, measure: str, column: list[float | None], width: float
) -> str | None:
    """Name how the run's accuracy decays, against the reference that it gives itself."""
    trace = run.trace.columns
    if len(trace["k"]) < 2:
        return None
    signal = measure == "suboptimality"
    # at a worse vertex nothing vanishes but the gap
    worse = problem.kind is Kind.CONCAVE and (column[-1] or 0.0) > LOCAL * problem.scale
    found = rates.rate_of(
        trace["k"],
        np.array(column, dtype=float) if signal and not worse else None,
        np.array(trace["gap"] if signal else column, dtype=float),
        scale=problem.scale,
        floor=width,
        exact_end=run.status is Status.FINISHED,
    )
    return str(found.rate_class)
