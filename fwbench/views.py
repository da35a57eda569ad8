"""The tables of a run folder, read for a comparison; nothing is drawn from them, nothing written.

The journal is the truth, but the tables are what people share, cut and look into. They are taken
as they stand while they hold the runs of the journal; else the journal is read anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fwbench.analysis.sides import Array, Run, Side
from fwbench.disk import open_plain
from fwbench.errors import RunFolderError, visible
from fwbench.execution.tasks import Task
from fwbench.findings import CLOCKED, INTEGERS, POINTS, RUNS, build
from fwbench.shapes import duration
from fwbench.store import RunFolder
from fwbench.trace import COLUMNS, Status

Tables = dict[str, pd.DataFrame]
TABLES = {
    "runs": RUNS,
    "trace": ("run_id", *COLUMNS, "suboptimality"),
    "targets": ("run_id", "measure", "target", "k_low", "k_high"),
    "fixed_points": POINTS,
}
TEXTS = frozenset(
    {"run_id", "problem", "instance", "kind", "solver", "params", "chosen", "status", "reason",
     "traceback", "signal", "seconds_from", "fixed_point", "fixed_point_label", "rate_class",
     "rate_reason", "host", "cache_key", "solver_label", "instance_label", "rate_signal", "library",
     "measure", "class", "label"}
)  # fmt: skip
TRUTHS = frozenset({"noisy", "shared", "certified", "stable"})
NAMES = ("run_id", "instance", "solver", "status")  # no run without these
# what tells one making of a run from another: the code and the moment, never a result
MADE = ("cache_key", "load_before", "load_after", "frequency_before")
SHOWN = ("instance_label", "solver_label", "reason", "fixed_point_label", "host")  # to people
NEVER = frozenset({Status.INTERRUPTED})


class _Unfit(Exception):
    """A table that is missing, damaged or older than the journal; the message says which."""


def read(path: Path, *, whole: bool = True) -> Side:
    """Read a run folder as one side of a comparison.

    Parameters
    ----------
    path : Path
    whole : bool
        False: the rows of ``runs`` alone, which is quicker.

    Raises
    ------
    RunFolderError
        It has no manifest, or neither tables that can be used nor a journal; the manifest is
        damaged or of a newer schema.
    """
    folder = RunFolder(path)
    manifest = folder.manifest
    records = folder.records() if folder.has_journal else None
    notes: tuple[str, ...] = ()
    try:
        asked = TABLES if whole else ("runs",)
        tables = {name: _table(path / f"{name}.parquet", name) for name in asked}
        _refuse_stale(tables["runs"], records)
    except _Unfit as unfit:
        if records is None:
            raise RunFolderError(f"{path}: {unfit}, and there is no journal to read") from unfit
        notes = (f"{path}: {unfit}; read from the journal (fwbench report {path} writes it anew)",)
        found = build(folder)
        tables = {name: _whole(getattr(found, name), columns) for name, columns in TABLES.items()}
    radii = {
        record["row"].get("instance"): _number(record["row"].get("radius"))
        for record in records or ()
    }
    runs = _runs(tables, manifest, radii, folder.points)
    return Side(str(path), "run folder", tuple(runs), _facts(manifest), notes)


def _table(path: Path, name: str) -> pd.DataFrame:
    """Read one table, with all columns that are looked at."""
    if not path.exists():
        raise _Unfit(f"{path.name} is missing")
    try:
        with open_plain(path) as file:
            table = pd.read_parquet(file)
        return _whole(table, TABLES[name])
    except _Unfit:
        raise
    except Exception as error:  # damaged bytes make pyarrow raise whatever it likes
        raise _Unfit(f"{path.name} is damaged: {visible(str(error))[:200]}") from error


def _whole(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Return a table with these columns; those that an older version did not write are null."""
    found = {}
    for name in columns:
        if name not in table:
            if name in NAMES:
                raise _Unfit(f"a table holds no column {name}")
            found[name] = pd.Series(None, index=table.index, dtype=object)
        elif name in TEXTS:
            found[name] = _texts(table[name])
        elif name in TRUTHS:
            found[name] = table[name].astype("boolean")
        else:
            found[name] = _numbers(table[name], whole=name in INTEGERS)
            if "status" in columns and name in CLOCKED:
                _refuse_odd_clock(found[name])
    whole = pd.DataFrame(found)
    if "status" in whole:
        odd = set(whole["status"].dropna()) - set(Status)
        if odd or whole["run_id"].duplicated().any() or whole[list(NAMES)].isna().any(axis=None):
            raise _Unfit(
                f"its runs are none: {sorted(map(str, odd))[:3] or 'names missing or twice'}"
            )
    return whole


def _texts(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of texts; one that holds anything else is unfit."""
    if pd.api.types.infer_dtype(column.astype(object), skipna=True) not in ("string", "empty"):
        raise _Unfit(f"a table holds no texts in its column {column.name}")
    return column.astype("string")


def _numbers(column: pd.Series[Any], *, whole: bool) -> pd.Series[Any]:
    """Return a column of numbers, Int64 where they must be whole; one of anything else is unfit."""
    kinds = pd.api.types
    if column.isna().all():
        return column.astype("Float64").astype("float64")
    if not kinds.is_numeric_dtype(column) or kinds.is_bool_dtype(column):
        raise _Unfit(f"a table holds no numbers in its column {column.name}")
    if not whole:
        return column
    try:
        with np.errstate(invalid="ignore"):  # of what is too large it is told below
            return column.replace([math.inf, -math.inf], None).astype("Int64")
    except (TypeError, ValueError, OverflowError) as error:
        raise _Unfit(f"a table holds no whole numbers in its column {column.name}") from error


def _refuse_odd_clock(column: pd.Series[float]) -> None:
    """Raise where a column of the runs holds what no clock shows."""
    known = column[column.notna() & np.isfinite(column)]
    if not known.map(duration).eq("").all():
        raise _Unfit(f"a table holds what no clock shows in its column {column.name}")


def _refuse_stale(runs: pd.DataFrame, records: list[dict[str, Any]] | None) -> None:
    """Raise where the runs of the tables are not those of the journal.

    Times of files would not tell: a copy of a folder has others.
    """
    if records is None:
        return
    rows = {row["run_id"]: row for row in _rows(runs)}
    made = {run_id for run_id, row in rows.items() if row["status"] not in NEVER}
    there = {record["row"]["run_id"]: record["row"] for record in records}
    if made - there.keys():
        raise _Unfit(f"runs.parquet holds {len(made - there.keys())} runs that the journal lacks")
    late = [
        run_id
        for run_id, row in there.items()
        if (row["status"] not in NEVER and run_id not in made)
        or any(_unlike(row.get(name), rows.get(run_id, {}).get(name)) for name in MADE)
    ]
    if late:
        raise _Unfit(f"runs.parquet is older than the journal: {len(late)} runs were made since")


def _unlike(a: Any, b: Any) -> bool:
    return a is not None and b is not None and a != b


def _runs(
    tables: Tables,
    manifest: Mapping[str, Any],
    radii: Mapping[str, float | None],
    points: Callable[[str], dict[str, Any] | None],
) -> Iterable[Run]:
    """Yield the runs of the tables."""
    limits = {}
    for planned in manifest["plan"]:
        task = Task.from_dict(planned)
        budget = {"max_steps": task.budget.max_steps, "max_seconds": task.budget.max_seconds}
        asked = {"planned_problem": task.problem, "planned_solver": task.solver}
        limits[task.run_id] = budget | asked | {"tol": task.budget.tol}
    traces, reached, rests = (
        _by_run(tables[name]) if name in tables else {}
        for name in ("trace", "targets", "fixed_points")
    )
    for row in _rows(tables["runs"]):
        run_id = row["run_id"]
        row |= {n: v for n, v in limits.get(run_id, {}).items() if row.get(n) is None}
        row["repetition"] = row["repetition"] or 0
        row["solver_label"] = row["solver_label"] or row["solver"]
        row["instance_label"] = row["instance_label"] or row["instance"]
        row |= {name: visible(row[name]) for name in SHOWN if row[name] is not None}
        brackets = reached.get(run_id, [])
        trace = traces.get(run_id, [])
        yield Run(
            row=row,
            trace={name: [line[name] for line in trace] for name in TABLES["trace"][1:]},
            graded=bool(brackets),
            once=any(one["k_low"] is None and (one["k_high"] or 0) > 0 for one in brackets),
            rests=tuple(sorted(rests.get(run_id, []), key=lambda rest: rest["query"] or 0)),
            points=_ends(points, run_id, row.get("d")),
            radius=radii.get(row["instance"]),
        )


def _ends(
    points: Callable[[str], dict[str, Any] | None], run_id: str, d: int | None
) -> Callable[[], Array | None]:
    """Return what reads where a run ended, when it is asked."""

    def read_points() -> Array | None:
        found = (points(run_id) or {}).get("points")
        if found is None or found.ndim != 2 or found.dtype.kind not in "iuf":
            return None
        if (d is not None and found.shape[1] != d) or not np.isfinite(found).all():
            return None
        return np.asarray(found, dtype=np.float64)

    return read_points


def _by_run(table: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(table):
        found.setdefault(row["run_id"], []).append(row)
    return found


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as plain values; what is null or not finite is None."""
    columns = {}
    for name in table.columns:
        values = table[name].astype(object).where(table[name].notna(), None).tolist()
        whole = name in INTEGERS
        if name not in TEXTS and name not in TRUTHS:
            values = [None if v is None else int(v) if whole else _number(v) for v in values]
        columns[str(name)] = values
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _number(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a reader has to know of a run folder."""
    git, machine = manifest.get("git") or {}, manifest.get("machine") or {}
    versions = dict(manifest.get("versions") or {})
    return {
        **{name: manifest.get(name) for name in ("created", "suite", "suite_digest")},
        "revision": git.get("revision"),
        "dirty": git.get("dirty"),
        "cpu": machine.get("cpu"),
        "blas": machine.get("blas"),
        "versions": versions | {"python": manifest.get("python")},
    }
