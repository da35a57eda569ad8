"""What stands in a run folder, looked at before it is trusted: anybody may have written it.

A record whose checksum is right may still hold what no run gives: it came from another hand, or
from another version. Whatever passes here has the types and shapes that analysis relies on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import brief, visible
from fwbench.shapes import (
    Shape,
    columns,
    either,
    integer,
    listed,
    mapped,
    maybe,
    number,
    scalar,
    table,
    text,
    truth,
)
from fwbench.trace import COLUMNS, Status

Record = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

SHOWN = ("problem", "instance_label", "solver_label", "chosen", "library", "reason", "host")
KINDS = ("convex", "concave", "indefinite", "monotone", "general")
COURSES = ("settles", "turns", "pauses", "undecided")
COUNTS = ("support", "lmo", "gradient", "matvec")
MOST_STEPS = 2**53  # up to here floats, in which laws are fitted, tell steps apart
LATER = frozenset({"spread", "value_median", "gap_median", "energy"})  # older traces lack them


def _or_empty(shape: Shape) -> Shape:
    return lambda value: "" if value == {} else shape(value)


def _fact(value: Any) -> str:
    """Say what is wrong with a fact of a machine: a text, a number, or a list of such."""
    return listed(maybe(scalar))(value) if isinstance(value, list) else scalar(value)


_MACHINE = table(
    {},
    {
        **dict.fromkeys(("cpu", "host", "system"), maybe(text)),
        **dict.fromkeys(("cores", "threads", "memory"), maybe(integer)),
        "blas": maybe(listed(text)),
        "load": maybe(listed(number)),
    },
)
_TASK = {
    **dict.fromkeys(("run_id", "problem", "instance", "instance_label", "solver", "solver_label",
                     "params"), text),
    **dict.fromkeys(("repetition", "order"), integer),
}  # fmt: skip
# what a run that came to its first checkpoint says of its instance
_MEASURED = {
    "kind": either(*KINDS),
    **dict.fromkeys(("n", "d", "queries"), integer),
    **dict.fromkeys(("scale", "radius"), number),
}
_TRACE = {name: maybe(integer if name in COUNTS else number) for name in COLUMNS}
_TRACE |= {"k": integer, "seconds": number}
_REST = {
    **dict.fromkeys(("gap_relative", "drift", "value", "gap"), maybe(number)),
    **dict.fromkeys(("distance",), number),
    **dict.fromkeys(("nearest", "face", "hull"), integer),
    **dict.fromkeys(("leads", "leads_itself"), truth),
    **dict.fromkeys(("used", "period"), maybe(integer)),
    "support": maybe(listed(integer)),
}
_STRETCHES = {
    "course": either(*COURSES),
    **dict.fromkeys(("changes", "last"), integer),
    "leaders": listed(integer, 1),
    "growth": maybe(number),
    "gap": number,
}
_HEAD = {
    **dict.fromkeys(("positive", "negative", "leaders"), maybe(integer)),
    **dict.fromkeys(("largest", "smallest", "antisymmetric", "owners", "tied_owners", "entropy",
                     "entropy_relative", "top_mass"), maybe(number)),
}  # fmt: skip
_LAW = {
    "rate_class": either("sublinear", "linear", "superlinear", "finite"),
    **dict.fromkeys(("exponent", "constant"), maybe(number)),
    "optimum": maybe(either("interior")),
}
_RECORD = table(
    {
        "row": table({**_TASK, "status": either(*Status)}),
        "trace": _or_empty(
            columns(
                {name: shape for name, shape in _TRACE.items() if name not in LATER},
                {name: _TRACE[name] for name in LATER},
            )
        ),
        "rest": maybe(_or_empty(columns(_REST, {"shrunk": maybe(number), "stable": maybe(truth)}))),
    },
    {
        "head": maybe(table({"stretches": columns(_STRETCHES)}, _HEAD)),
        "laws": maybe(listed(table(_LAW))),
    },
)
_FOUND = table({"row": table(_MEASURED)})
_BUDGET = table({"tol": number, "max_steps": integer, "max_seconds": number})
_PLANNED = {
    **dict.fromkeys(("problem", "solver", "instance", "solver_text", "instance_label",
                     "solver_label"), text),
    "seed": maybe(integer),
    **dict.fromkeys(("repetition", "order"), integer),
    "budget": _BUDGET,
}  # fmt: skip
_MANIFEST = table(
    {"schema": integer, "plan": listed(table(_PLANNED))},
    {
        **dict.fromkeys(("command", "created", "python", "suite", "suite_digest"), maybe(text)),
        "versions": maybe(mapped(scalar)),
        "git": maybe(table({}, {"revision": maybe(text), "dirty": maybe(truth)})),
        "machine": maybe(lambda value: _MACHINE(value) or mapped(maybe(_fact))(value)),
        "claims": maybe(listed(text)),
        "diagrams": maybe(truth),
        "seeds": maybe(listed(integer)),
        "budgets": maybe(listed(_BUDGET)),
        "execution": maybe(mapped(maybe(scalar))),
    },
)


def manifest_fault(manifest: Any) -> str:
    """Return what is wrong with a manifest, "" where nothing is.

    Examples
    --------
    >>> manifest_fault({"schema": 1, "plan": []}), manifest_fault({"schema": 1, "plan": None})
    ('', 'plan must be a list of at least 0 entries; got None')
    """
    return _MANIFEST(manifest)


def record_fault(record: Any, types: Mapping[str, Shape]) -> str:
    """Return what is wrong with a record of the journal, "" where nothing is.

    Parameters
    ----------
    record : object
    types : mapping
        The shape of each further column of a row; any may be null or missing.
    """
    if wrong := _RECORD(record) or table({"row": table({}, _nullable(types))})(record):
        return wrong
    trace, rest = record["trace"], record["rest"]
    if not (trace or rest or record.get("head")):
        return ""
    if wrong := _FOUND(record):
        return wrong
    row = record["row"]
    if row["scale"] < 0 or row["radius"] < 0:
        return "row.scale and row.radius must not be negative"
    if trace and (trace["k"] != sorted(set(trace["k"])) or trace["k"][0] < 0):
        return "trace.k must increase"
    if trace and trace["k"][-1] > MOST_STEPS:
        return f"trace.k must end at {MOST_STEPS} at most; got {brief(trace['k'][-1])}"
    stretches = (record.get("head") or {}).get("stretches", {})
    if len({len(column) for column in stretches.values()}) > 1:
        return "head.stretches holds lists of unlike lengths"
    return ""


def _nullable(types: Mapping[str, Shape]) -> dict[str, Shape]:
    return {name: maybe(shape) for name, shape in types.items()}


def sound(records: Iterable[Record], types: Mapping[str, Shape], told: str) -> list[Record]:
    """Return the records that are what a run gives, texts for people without unseen letters.

    Of others it is warned; they are as if they were not there.

    Parameters
    ----------
    records : iterable of dict
    types : mapping
        As in `record_fault`.
    told : str
        The journal's name, for the warning.
    """
    good, faults = [], []
    for record in records:
        if wrong := record_fault(record, types):
            faults.append(wrong)
            continue
        row, trace = record["row"], record["trace"]
        never = [None] * len(trace.get("k", ()))
        shown = {name: visible(row[name]) for name in SHOWN if isinstance(row.get(name), str)}
        if isinstance(row.get("traceback"), str):
            shown["traceback"] = visible(row["traceback"], keep="\n")
        full = {name: trace.get(name, never) for name in COLUMNS} if trace else {}
        good.append({**record, "row": {**row, **shown}, "trace": full})
    if faults:
        warnings.warn(
            f"{told}: {len(faults)} records are none that a run gives, and left out (of the first, "
            f"{visible(faults[0])[:200]})",
            stacklevel=2,
        )
    return good


class Kept:
    """The arrays kept for the runs of a folder; one that does not fit its run is left out.

    Parameters
    ----------
    points : callable
        Returns the arrays that are kept for a run, by its name.
    records : iterable of dict
        Sound ones.
    """

    def __init__(self, points: Callable[[str], Arrays | None], records: Iterable[Record]) -> None:
        self._points = points
        self._records = {record["row"]["run_id"]: record for record in records}

    def points(self, run_id: str) -> Arrays | None:
        """Return the arrays of a run, or None where there are none; warns of odd ones."""
        found = self._points(run_id)
        if found is None:
            return None
        if wrong := _misfit(found, self._records[run_id]):
            warnings.warn(f"the points of run {run_id} are left out: {wrong}", stacklevel=2)
            return None
        return found

    def weights(self, run_id: str) -> NDArray[np.float64] | None:
        """Return the weights of the first point at which a run ended, None where unknown."""
        found = self.points(run_id) or {}
        data, ends = found.get("data"), found.get("indptr")
        if data is None or ends is None or data.ndim != 1 or ends.ndim != 1 or len(ends) < 2:
            return None
        if ends.dtype.kind not in "iu":
            return None
        return data[int(ends[0]) : int(ends[1])].astype(np.float64)


def _misfit(found: Arrays, record: Record) -> str:
    """Return what keeps arrays from being those of a run."""
    d, rest = record["row"].get("d"), record["rest"] or {}
    for name, array in found.items():
        if array.dtype.kind not in "iuf":
            return f"{visible(name)[:40]} holds {array.dtype}"
    points, path = found.get("points"), found.get("path")
    if points is not None and (points.ndim != 2 or d is None or points.shape[1] != d):
        return f"they have the shape {points.shape}"
    if points is not None and rest and len(points) != len(rest["drift"]):
        return f"they are {len(points)}, of {len(rest['drift'])} queries"
    if path is None:
        return ""
    shapes = {"mean": (2,), "Q": (2, 2), "c": (2,)}
    if d != 2 or any(name not in found or found[name].shape != shapes[name] for name in shapes):
        return "they are no picture of the plane"
    atoms = found.get("atoms")
    if atoms is None or atoms.ndim != 2 or atoms.shape[1] != 2 or not len(atoms):
        return "they hold no atoms in the plane"
    if path.ndim != 3 or path.shape[2] != 2 or 0 in path.shape:
        return f"the path has the shape {path.shape}"
    if points is None or len(points) != path.shape[1]:
        return "path and points are of unlike queries"
    if not all(np.isfinite(found[name]).all() for name in (*shapes, "atoms")):
        return "they are not finite"
    return ""
