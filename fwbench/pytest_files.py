"""Files of pytest-benchmark, read for a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fwbench.analysis.sides import Array, Run, Side
from fwbench.errors import InvalidParameter, visible
from fwbench.shapes import (
    Shape,
    columns,
    duration,
    integer,
    listed,
    mapped,
    maybe,
    number,
    scalar,
    table,
    text,
    truth,
)  # fmt: skip
from fwbench.solver import Sampling
from fwbench.trace import COLUMNS, Status

BLOCKS = 24  # rounds follow one another and hang together: so many stretches of them are taken
EXTRA = "fwbench"  # in extra_info: columns of `runs`, for the exact quantities

_STATS = {name: duration for name in ("min", "max", "mean", "median")}
_BENCHMARK = table(
    {"name": text, "fullname": text, "stats": table(_STATS, {"data": maybe(listed(duration))})},
    {"group": maybe(text), "extra_info": maybe(table({}))},
)
_TEXTS = ("kind", "status", "fixed_point", "fixed_point_label", "rate_class", "reason", "signal")
_NUMBERS = (
    "n", "d", "queries", "scale", "steps", "gap_relative", "value_centred", "tol", "max_steps",
    "max_seconds", "threads", "gemv_seconds",
)  # fmt: skip
_TRACE = columns(
    {"k": integer}, {name: maybe(number) for name in (*COLUMNS, "suboptimality") if name != "k"}
)
_REST = table({"class": text, "label": text, "certified": truth}, {"value": maybe(number)})
_ROW = table({}, {
    **dict.fromkeys((*_TEXTS, "solver", "solver_label", "params", "sampling"), maybe(text)),
    **dict.fromkeys((*_NUMBERS, "radius"), maybe(number)),
    "trace": maybe(_TRACE), "rests": maybe(listed(_REST)), "versions": maybe(mapped(text)),
    "points": maybe(listed(listed(number, 1), 1)), "gemv_seconds": maybe(duration),
    "gemv_stretches": maybe(listed(duration)),
})  # fmt: skip


def _machine(value: Any) -> str:
    return "" if isinstance(value, dict) else "must be a table"


_FILE: Shape = table(
    {"benchmarks": listed(_BENCHMARK)},
    {"machine_info": maybe(_machine), "commit_info": maybe(mapped(maybe(scalar))),
     "datetime": maybe(text)},
)  # fmt: skip


def side(name: str, content: dict[str, Any]) -> Side:
    """Return the benchmarks of a file as one side of a comparison.

    Rounds that were kept (``--benchmark-save-data``) are taken in up to 24 stretches, the tenth
    percentile of each; else there is the median alone.

    Parameters
    ----------
    name : str
        Of the file.
    content : dict
        As JSON gave it.

    Raises
    ------
    InvalidParameter
        It is not of the shape that pytest-benchmark writes.
    """
    if wrong := _FILE(content):
        raise InvalidParameter(f"{name} is no file of pytest-benchmark: {visible(wrong)}")
    info = content.get("machine_info") or {}
    found = info.get("cpu")
    cpu: dict[str, Any] = found if isinstance(found, dict) else {}
    commit = content.get("commit_info") or {}
    kept = (_extra(name, benchmark) for benchmark in content["benchmarks"])
    versions: dict[str, str] = next((row["versions"] for row in kept if row.get("versions")), {})
    facts = {
        "created": content.get("datetime"),
        "suite": None,
        "suite_digest": None,
        "revision": None if commit.get("id") == "unversioned" else _text(commit.get("id")),
        "dirty": commit.get("dirty") if isinstance(commit.get("dirty"), bool) else None,
        "cpu": _text(cpu.get("brand_raw")) or _text(info.get("processor")),
        "blas": None,
        "versions": {**versions, "python": _text(info.get("python_version"))},
    }
    runs = [
        run
        for benchmark in content["benchmarks"]
        for run in _runs(name, benchmark, _text(info.get("node")))
    ]
    places = {(run.key, run.row["repetition"]) for run in runs}
    if len(places) < len(runs):
        raise InvalidParameter(f"{name}: several benchmarks have one name; compare them apart")
    return Side(name, "pytest-benchmark", tuple(runs), facts)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _extra(file: str, benchmark: dict[str, Any]) -> dict[str, Any]:
    """Return what a benchmark says of its run besides the seconds; {} where it says nothing."""
    extra = (benchmark.get("extra_info") or {}).get(EXTRA)
    exact: dict[str, Any] = extra if isinstance(extra, dict) else {}
    if wrong := _ROW(exact):
        raise InvalidParameter(
            f"{file}: extra_info.{EXTRA} of {visible(benchmark['name'])[:80]}: {visible(wrong)}"
        )
    if exact.get("status") not in (None, *Status):
        raise InvalidParameter(f"{file}: {visible(exact['status'])[:40]!r} is no status of a run")
    if len({len(point) for point in exact.get("points") or ()}) > 1:
        raise InvalidParameter(
            f"{file}: extra_info.{EXTRA}.points of {visible(benchmark['name'])[:80]} must be as "
            "long as one another"
        )
    return exact


def _runs(file: str, benchmark: dict[str, Any], host: str | None) -> Iterator[Run]:
    """Yield a benchmark as a run for each stretch of its rounds.

    The first one has all that is known of the run; of the others the end is enough to say whether
    they did the same work.
    """
    exact = _extra(file, benchmark)
    stats = benchmark["stats"]
    label = exact.get("solver_label") or exact.get("solver") or benchmark.get("group") or ""
    known = {column: exact.get(column) for column in (*_TEXTS, *_NUMBERS)}
    ends = ("status", "steps", "tol", "threads")
    times = stretches(stats.get("data") or []) or [stats["median"]]
    products = exact.get("gemv_stretches") or []
    beside = products if len(products) == len(times) else [known["gemv_seconds"]] * len(times)
    for place, seconds in enumerate(times):
        row = {
            "run_id": f"{benchmark['fullname']} {place}",
            "instance": visible(benchmark["fullname"]),
            "instance_label": visible(benchmark["name"]),
            "solver": exact.get("solver") or "",
            "solver_label": visible(label),
            "params": exact.get("params") or "",
            "repetition": place,
            "seconds": float(seconds),
            "host": host,
        }
        also = {column: known[column] for column in ends} if place else known
        course = {} if place else _course(exact)
        yield Run(row | also | {"gemv_seconds": beside[place]}, **course)


def _course(exact: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of the way that a run took, and of where it came to rest."""
    trace = exact.get("trace")
    points: Array | None = None
    if exact.get("points"):
        points = np.array(exact["points"], dtype=float)
    found = {"rests": tuple(exact.get("rests") or ()), "points": lambda: points}
    found["radius"] = exact.get("radius")
    if not trace:
        return found
    never = [None] * len(trace["k"])
    accuracy = ("gap", "gap_current", "suboptimality")
    return found | {
        "trace": {name: trace.get(name, never) for name in (*COLUMNS, "suboptimality")},
        "graded": any(value is not None for name in accuracy for value in trace.get(name, never)),
        "once": exact.get("sampling") == Sampling.ONCE,
    }


def stretches(data: list[float]) -> list[float]:
    """Return the tenth percentile of each of up to 24 stretches of rounds.

    Parameters
    ----------
    data : list of float
        Seconds, in the order of the rounds.

    Examples
    --------
    >>> stretches([1.0, 2.0, 3.0]), len(stretches([1.0] * 100))
    ([1.0, 2.0, 3.0], 24)
    """
    if not data:
        return []
    parts = np.array_split(np.asarray(data, dtype=float), min(BLOCKS, len(data)))
    return [float(np.quantile(part, 0.1)) for part in parts]
