"""Reports to be opened in a browser: of made findings, of hostile names, of next to nothing."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

import fwbench as fw
from fwbench.analysis.findings import Findings
from tests.report.made_findings import INSTANCES, LAWS, empty_findings, made_findings
from tests.report.made_plane import plane_findings

# Names that would load, run or break something if they were taken for anything but text.
HOSTILE = (
    "<script>window.hit = 1</script>",
    "<img src=http://example.invalid/pixel.png onerror='window.hit = 1'>",
    "<a href='http://example.invalid/'>link</a> <b>bold</b>",
    "]]></script><svg onload=window.hit=1>",
    "${window.hit = 1}` \\u003cb> {{ 7 * 7 }} %{y}",
    "quote \" ' &quot; &lt;i> \\",
    "one\u2028two\u2029three",
    "\u202egnitset\u202c [שלום=1]",
    "a_name_without_any_place_to_break_it_" + 20 * "x1y2z3",
    "javascript:window.hit=1",
    "-- --> <!-- <!DOCTYPE html>",
    "__proto__",
    "=1+1",
)
SHOWN = dict(zip([*LAWS, *(name for name, *_ in INSTANCES)], HOSTILE, strict=True))


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Return findings, or a part of them, with other names of solvers and instances."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, pd.DataFrame):
        return value.replace(names)
    if isinstance(value, dict):
        return {renamed(key, names): renamed(part, names) for key, part in value.items()}
    if isinstance(value, tuple | list | frozenset):
        parts = [renamed(part, names) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if is_dataclass(value):
        made = {f.name: renamed(getattr(value, f.name), names) for f in fields(value) if f.init}
        return replace(value, **made)
    return value


def of_runs(findings: Findings, kept: pd.Series) -> Findings:
    """Return what is left of findings where only some runs were made, and nothing was concluded."""
    runs = findings.runs[kept]
    there = {
        name: table[table["run_id"].isin(runs["run_id"])]
        for name in ("trace", "fixed_points")
        for table in [getattr(findings, name)]
    }
    return replace(empty_findings(), manifest=findings.manifest, runs=runs, **there)


def failed_only() -> Findings:
    """Return findings of runs that failed, most of them without a trace."""
    findings = made_findings()
    bad = ["wrong", "nonfinite", "infeasible", "error", "crashed", "memory"]
    return of_runs(findings, findings.runs["status"].isin(bad))


def one_run() -> Findings:
    """Return findings of one run."""
    findings = made_findings()
    return of_runs(findings, findings.runs["order"] == 2)


def of_nulls() -> Findings:
    """Return findings that hold names, and null wherever there may be a null."""
    findings = made_findings()
    kept = {"run_id", "instance", "instance_label", "solver_label", "status", "kind"}
    runs = findings.runs.astype(object)
    runs[[name for name in runs if name not in kept]] = None
    trace = findings.trace.astype(object)
    trace[[name for name in trace if name not in {"run_id", "k"}]] = None
    empty = empty_findings()
    return replace(empty, runs=runs, trace=trace, fixed_points=findings.fixed_points)


def undrawn() -> Findings:
    """Return made findings without a chart, whose page has no plotly and opens at once."""
    empty = empty_findings()
    nothing = {name: getattr(empty, name) for name in ("trace", "sizes", "growth")}
    return replace(made_findings(), pictures=(), profiles=None, **nothing)


def real(folder: Path) -> Findings:
    """Return findings of a small run: three seeds of a convex instance, a cloud in the plane."""
    results = fw.run(
        problems=["min_norm_point[n=60,d=5,shift=1,seed=0..2]", "polygon[k=5]"],
        solvers=["frank_wolfe", "away_steps", "cvxpy_reference"],
        max_steps=300,
        jobs=None,
        out=folder,
    )
    return results.findings


MADE = {
    "made": made_findings,
    "hostile": lambda: renamed(made_findings(), SHOWN),
    "tables": undrawn,
    "plane": plane_findings,
    "failed": failed_only,
    "one": one_run,
    "nulls": of_nulls,
    "none": empty_findings,
}
