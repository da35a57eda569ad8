"""From a run folder to its findings: tables of the design of the files, and what they say."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd

from fwbench.analysis import fixed_points, promises, rates, seeds, targets
from fwbench.analysis.alike import named
from fwbench.analysis.bands import bands
from fwbench.analysis.costs import costs
from fwbench.analysis.diagrams import diagrams
from fwbench.analysis.findings import Findings
from fwbench.analysis.goals import goals
from fwbench.analysis.growth import growth, sizes
from fwbench.analysis.heads import heads
from fwbench.analysis.layers import layers
from fwbench.analysis.meetings import agreement
from fwbench.analysis.plane import atlases, pictures
from fwbench.analysis.profiles import profiles
from fwbench.analysis.races import races
from fwbench.analysis.resting import resting
from fwbench.analysis.standings import standings
from fwbench.gathering import Gathered, families, gathered, together
from fwbench.reading import Kept
from fwbench.shapes import duration, integer, number, text, truth
from fwbench.store import RunFolder
from fwbench.trace import COLUMNS, Status

RUNS = (
    "run_id", "problem", "instance", "seed", "n", "d", "kind", "queries", "solver", "params",
    "chosen", "repetition", "order", "status", "reason", "traceback", "signal", "steps", "seconds",
    "seconds_from", "setup_seconds", "value", "value_centred", "gap", "gap_relative", "scale",
    "reference_low", "reference_high", "suboptimality", "feasibility", "support", "lmo",
    "gradient", "matvec", "drop_steps", "fixed_point", "fixed_point_label", "rate_class", "rate",
    "rate_low", "rate_high", "rate_from", "rate_to", "host", "threads", "load_before",
    "load_after", "noisy", "steal", "peak_memory", "frequency_before", "frequency_after",
    "attempts", "cache_key", "solver_label", "instance_label", "rate_signal", "judged_queries",
    "library", "tol", "pass_seconds", "gemv_seconds", "gram_seconds", "shared",
    "diameter_squared", "rate_reason",
)  # fmt: skip
INTEGERS = (
    "seed", "n", "d", "queries", "repetition", "order", "steps", "support", "lmo", "gradient",
    "matvec", "drop_steps", "rate_from", "rate_to", "threads", "attempts", "judged_queries",
    "k", "k_low", "k_high", "lmo_high", "query", "seeds", *seeds.CLASSES,
)  # fmt: skip
FLOATS = (
    "seconds", "setup_seconds", "value", "value_centred", "gap", "gap_relative", "scale",
    "reference_low", "reference_high", "suboptimality", "feasibility", "rate", "rate_low",
    "rate_high", "load_before", "load_after", "steal", "peak_memory", "frequency_before",
    "frequency_after", "target", "seconds_low", "seconds_high", "tol", "pass_seconds",
    "gemv_seconds", "gram_seconds", "diameter_squared", "promised_rate", "bound_constant",
    "bound_share",
)  # fmt: skip
CLOCKED = ("seconds", "setup_seconds", "pass_seconds", "gemv_seconds", "gram_seconds")
BOOLEANS = ("noisy", "shared", "certified", "stable")
# what a row of the journal may hold, besides null
SHAPES = {
    **dict.fromkeys((*RUNS, "sampling"), text),
    **dict.fromkeys((*FLOATS, "best_vertex_centred"), number),
    **dict.fromkeys(CLOCKED, duration),
    **dict.fromkeys(INTEGERS, integer),
    **dict.fromkeys(BOOLEANS, truth),
}
LOCAL = 1e-6  # of the scale: a concave run that ends this far above the best vertex rests elsewhere
POINTS = (
    "run_id", "query", "class", "label", "certified", "support", "value", "gap", "stable",
)  # fmt: skip


# outside the hull, or not a number: it took part, and reached nothing
_UNGRADED = frozenset({Status.INFEASIBLE, Status.NONFINITE, Status.ERROR})


def _typed(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    """Return a table in which a missing value is null, whatever the type of its column."""
    table = pd.DataFrame(rows, columns=list(columns))
    for name in columns:
        if name in INTEGERS:  # not by way of the table, where a null beside them makes floats
            table[name] = pd.array([row.get(name) for row in rows], dtype="Int64")
        elif name in FLOATS or (name in COLUMNS and name != "k"):
            table[name] = table[name].astype("Float64").astype("float64")
        else:
            table[name] = table[name].astype("boolean" if name in BOOLEANS else "string")
    return table


def build(*folders: RunFolder) -> Findings:
    """Read the journal of a run folder, or of several, and draw every conclusion from it.

    Parameters
    ----------
    *folders : RunFolder
        Of several the runs stand side by side, as `fwbench.gathering.together` names them.

    Returns
    -------
    Findings
        Nothing is run; the same journals give the same findings.
    """
    if len(folders) == 1:
        return _concluded(gathered(folders[0], SHAPES))
    return _concluded(together(folders, SHAPES))


def _concluded(given: Gathered) -> Findings:
    """Draw every conclusion from what was gathered."""
    records, manifest = given.records, given.manifest
    kept = Kept(given.points, records)
    places = {record["row"]["run_id"]: place for place, record in enumerate(records)}
    runs, traces, reached, rests = [], [], [], []
    for _, group in itertools.groupby(
        sorted(records, key=lambda r: r["row"]["instance"]), key=lambda r: r["row"]["instance"]
    ):
        alike = list(group)
        low, high = _reference(alike)
        for record in alike:
            row, measure, column = _row(record, low, high)
            runs.append(row | {"folder": record["row"].get("folder")})
            traces += _trace(record, measure, column)
            # a model that leaves the hull by design has no accuracy that it could reach
            graded = any(value is not None for value in column) or row["status"] in _UNGRADED
            if record["trace"] and graded:
                # the start of a direct method is none of its answers
                first = 1 if record["row"].get("sampling") == "once" else 0
                part = {name: values[first:] for name, values in record["trace"].items()}
                reached += [
                    {"run_id": row["run_id"], **one}
                    for one in targets.brackets(part, measure, column[first:], row["scale"])
                ]
            rests += _rests(record)
    told = (*RUNS, "folder") if manifest.get("folders") else RUNS
    table = _typed(runs, told).sort_values(
        "run_id", key=lambda ids: ids.map(places), kind="stable", ignore_index=True
    )
    order = {run_id: i for i, run_id in enumerate(table["run_id"])}
    trace_columns = ("run_id", *COLUMNS, "suboptimality")
    in_order = [
        frame.sort_values("run_id", key=lambda s: s.map(order), kind="stable", ignore_index=True)
        for frame in (
            _typed(traces, trace_columns),
            _typed(reached, ("run_id", "measure", "target", "k_low", "k_high", "seconds_low",
                             "seconds_high", "lmo_high")),
            _typed(rests, POINTS),
        )
    ]  # fmt: skip
    trace, target_table, rest = in_order
    rested = resting(kept, records)
    table, over_seeds = _over_seeds(table, trace, records, kept)
    raced, spent, points = races(table, trace), costs(table, trace), sizes(table)
    compared = profiles(table.assign(solver=families(table)), trace, target_table, given.limits)
    won = standings(table, target_table, compared.efforts)
    return Findings(
        manifest=manifest,
        runs=table,
        trace=trace,
        targets=target_table,
        fixed_points=rest,
        winners=named(targets.winners(table, target_table), "instance_label"),
        agreement=agreement(rested.meetings),
        pictures=pictures(kept, records),
        atlases=atlases(kept, records),
        diagrams=diagrams() if manifest.get("diagrams") else (),
        races=named(raced, "instance_label"),
        costs=named(spent, "instance_label"),
        sizes=named(points, "regime"),
        growth=named(growth(points), "regime"),
        goals=goals(raced, spent),
        heads=heads(records),
        layers=layers(records, kept.points),
        rates=over_seeds,
        profiles=compared,
        standings=won.table,
        firsts=won.firsts,
        claims=given.claims,
        rests=rested.rests,
        places=rested.places,
        meetings=rested.meetings,
        bands=bands(table, trace),
    )


def _over_seeds(
    runs: pd.DataFrame, trace: pd.DataFrame, records: list[dict[str, Any]], kept: Kept
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the runs with the intervals of their rates, and the rates over seeds themselves."""
    laws = {record["row"]["run_id"]: record.get("laws") or [] for record in records}
    counted = seeds.members(runs)
    table = seeds.rates(counted)
    places = promises.optima(runs, kept.weights)
    found = promises.promised(runs, trace, laws, places)
    full = promises.beside(table, counted, found)
    rows = [{str(name): row[name] for name in row} for row in full.to_dict("records")]
    columns = (*seeds.COLUMNS, *promises.COLUMNS)
    return seeds.shared(runs, table), _typed(rows, columns)


def _moving(record: dict[str, Any]) -> bool:
    trace = record["trace"]
    return bool(trace) and any(gap is not None for gap in trace["gap_current"])


def _reference(records: list[dict[str, Any]]) -> tuple[float | None, float | None]:
    """Return the centred reference interval of one instance's runs."""
    with_trace = [record for record in records if record["trace"]]
    if not with_trace:
        return None, None
    allowed = [r for r in with_trace if r["row"]["status"] != Status.INFEASIBLE]
    vertices = [r["row"].get("best_vertex_centred") for r in with_trace]
    best = next((vertex for vertex in vertices if vertex is not None), None)
    kind = with_trace[0]["row"]["kind"]
    return targets.reference(kind, [r["trace"] for r in allowed], best)


def _row(
    record: dict[str, Any], low: float | None, high: float | None
) -> tuple[dict[str, Any], str, list[float | None]]:
    """Return a row of runs, and what the accuracy of the run is read off."""
    row: dict[str, Any] = {name: record["row"].get(name) for name in RUNS}
    trace = record["trace"]
    if not trace:
        return row, "gap", []
    moving = _moving(record)
    # A reference is a centred value; people see it beside `value`.
    shift = None
    if row["value"] is not None and row["value_centred"] is not None:
        shift = row["value"] - row["value_centred"]
    if low is not None and high is not None and shift is not None:
        row |= {"reference_low": low + shift, "reference_high": high + shift}
    if record["rest"]:
        places = fixed_points.places(record)
        row["fixed_point"], row["fixed_point_label"] = fixed_points.common(places)
    if row["status"] == Status.INFEASIBLE:  # outside the hull a small value is no merit
        return row, "gap", [None] * len(trace["k"])
    measure, column = targets.measured(trace, low, moving=moving)
    if measure == "suboptimality" and column:
        row["suboptimality"] = column[-1]
    if len(trace["k"]) < 2:  # it failed at its first step
        return row, measure, column
    width = (high - low) if low is not None and high is not None and not moving else 0.0
    gap = trace["gap"] if measure == "suboptimality" else column
    # a run that rests at a worse vertex has no suboptimality that could vanish: its gap does
    local = row["kind"] == "concave" and (row["suboptimality"] or 0.0) > LOCAL * row["scale"]
    fitted = measure == "suboptimality" and not local
    rate = rates.rate_of(
        trace["k"],
        np.array(column, dtype=float) if fitted else None,
        np.array(gap, dtype=float),
        scale=row["scale"],
        floor=width,
        exact_end=row["status"] == Status.FINISHED,
    )
    row |= {
        "rate_class": str(rate.rate_class),
        "rate_signal": measure if moving else rate.signal,
        "rate": rate.rate,
        "rate_low": rate.rate_low,
        "rate_high": rate.rate_high,
        "rate_from": rate.rate_from,
        "rate_to": rate.rate_to,
        "rate_reason": rate.reason or None,
    }
    return row, measure, column


def _trace(
    record: dict[str, Any], measure: str, column: list[float | None]
) -> list[dict[str, Any]]:
    trace = record["trace"]
    if not trace:
        return []
    rows, never = [], [None] * len(trace["k"])  # a folder of before may lack a column
    for i in range(len(trace["k"])):
        known = {name: trace.get(name, never)[i] for name in COLUMNS}
        row = {"run_id": record["row"]["run_id"], **known}
        row["suboptimality"] = column[i] if measure == "suboptimality" else None
        rows.append(row)
    return rows


def _rests(record: dict[str, Any]) -> list[dict[str, Any]]:
    facts, row = record["rest"], record["row"]
    if not facts:
        return []
    places = fixed_points.places(record)
    stable = facts.get("stable") or [None] * len(places)
    rows = []
    for q, place in enumerate(places):
        rows.append(
            {
                "run_id": row["run_id"],
                "query": q,
                "class": str(place.kind),
                "label": place.label,
                "certified": place.certified,
                "support": facts["used"][q],
                "value": facts["value"][q],
                "gap": facts["gap"][q],
                "stable": stable[q] if place.certified else None,
            }
        )
    return rows


def write_views(folder: RunFolder, findings: Findings) -> None:
    """Write the Parquet tables of a run folder."""
    for name in ("runs", "trace", "targets", "fixed_points"):
        folder.write_table(name, getattr(findings, name))
    for name in ("heads", "layers", "rates"):
        if len(getattr(findings, name)):
            folder.write_table(name, getattr(findings, name))
        else:
            folder.delete_table(name)
