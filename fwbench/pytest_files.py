"""Files of pytest-benchmark, read for a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fwbench.analysis.sides import Run, Side
from fwbench.errors import InvalidParameter, visible
from fwbench.shapes import Shape, listed, mapped, maybe, number, scalar, table, text
from fwbench.trace import Status

BLOCKS = 24  # rounds follow one another and hang together: so many stretches of them are taken
EXTRA = "fwbench"  # in extra_info: columns of `runs`, for the exact quantities

_STATS = {name: number for name in ("min", "max", "mean", "median")}
_BENCHMARK = table(
    {"name": text, "fullname": text, "stats": table(_STATS, {"data": maybe(listed(number))})},
    {"group": maybe(text), "extra_info": maybe(table({}))},
)
_TEXTS = ("kind", "status", "fixed_point", "fixed_point_label", "rate_class", "reason", "signal")
_NUMBERS = ("n", "d", "queries", "scale", "steps", "gap_relative", "value_centred", "tol")
_ROW = table({}, {
    **dict.fromkeys(_TEXTS, maybe(text)), **dict.fromkeys(_NUMBERS, maybe(number)),
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
    facts = {
        "created": content.get("datetime"),
        "suite": None,
        "suite_digest": None,
        "revision": _text(commit.get("id")),
        "dirty": commit.get("dirty") if isinstance(commit.get("dirty"), bool) else None,
        "cpu": _text(cpu.get("brand_raw")) or _text(info.get("processor")),
        "blas": None,
        "versions": {"python": _text(info.get("python_version"))},
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


def _runs(file: str, benchmark: dict[str, Any], host: str | None) -> Iterator[Run]:
    """Yield a benchmark as a run for each stretch of its rounds."""
    extra = (benchmark.get("extra_info") or {}).get(EXTRA)
    exact: dict[str, Any] = extra if isinstance(extra, dict) else {}
    if wrong := _ROW(exact):
        raise InvalidParameter(
            f"{file}: extra_info.{EXTRA} of {visible(benchmark['name'])[:80]}: {visible(wrong)}"
        )
    if exact.get("status") not in (None, *Status):
        raise InvalidParameter(f"{file}: {visible(exact['status'])[:40]!r} is no status of a run")
    stats = benchmark["stats"]
    for place, seconds in enumerate(_stretches(stats.get("data") or []) or [stats["median"]]):
        yield Run(
            {
                "run_id": f"{benchmark['fullname']} {place}",
                "instance": visible(benchmark["fullname"]),
                "instance_label": visible(benchmark["name"]),
                "solver": exact.get("solver") or "",
                "solver_label": visible(str(exact.get("solver") or benchmark.get("group") or "")),
                "params": "",
                "repetition": place,
                "seconds": float(seconds),
                "host": host,
                **{column: exact.get(column) for column in (*_TEXTS, *_NUMBERS)},
            }
        )


def _stretches(data: list[float]) -> list[float]:
    if not data:
        return []
    parts = np.array_split(np.asarray(data, dtype=float), min(BLOCKS, len(data)))
    return [float(np.quantile(part, 0.1)) for part in parts]
