"""From the records of a run folder to where each solver rests, from each start of each instance."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwbench.analysis import fixed_points, meetings
from fwbench.analysis.meetings import MEETINGS, PLACED, RESTS, End
from fwbench.reading import Kept
from fwbench.trace import Status

Record = dict[str, Any]
Row = dict[str, Any]

LOCAL = 1e-6  # of the scale: a rest this far above a better point is not the best one
HEAVY = 1e-6  # a smaller weight is none
ROUNDING = 1e-15  # of a value that is large beside the scale
GLOBAL, ONLY_LOCAL = "global", "local"

# outside the hull, or cut off: where it is says nothing of the problem
_ASTRAY = frozenset({Status.INFEASIBLE, Status.NONFINITE, Status.ERROR})


class Rests(NamedTuple):
    """Tables: a row a query of a run, a row a place, a row a pair of solvers."""

    rests: pd.DataFrame
    places: pd.DataFrame
    meetings: pd.DataFrame


@dataclass(frozen=True, eq=False)
class _Run:
    """One run with its facts, the places of its queries by name, and where they ended."""

    record: Record
    named: list[fixed_points.FixedPoint]
    end: End


def resting(kept: Kept, records: list[Record]) -> Rests:
    """Say where each solver rests on each instance, and compare the solvers.

    Of repetitions the first counts; of a solver that ran at several tolerances the tightest run.

    Parameters
    ----------
    kept : Kept
        The arrays beside the records.
    records : list of dict
        Sound ones, in the order of the plan.

    Returns
    -------
    Rests
        ``rests``: `class`, `label`, `certified` as in fixed_points; `above` is the value over the
        best known (the best vertex of a concave problem; elsewhere without convexity the least
        value of any run), over the scale; `standing` is ``global`` where that is certain,
        ``local`` where a better point is known, else null; `stable` as measured; `place` is the
        number of the point among those of the instance.
        ``places``: of each such point, how many `rests` of how many `solvers`, how many of these
        `returned` after a push or `left`, and, where starts are known, how many starts lie `near`
        it, `leaving` for another place.
        ``meetings``: as `fwbench.analysis.meetings.meetings`, by instance.
    """
    instances: dict[str, dict[str, _Run]] = {}
    for record in records:
        row = record["row"]
        if not record["rest"] or row["repetition"] != 0 or row["status"] in _ASTRAY:
            continue
        if (run := _run(kept, record)) is None:
            continue
        group = instances.setdefault(row["instance"], {})
        before = group.get(row["solver_label"])
        if before is None or (row["tol"] or np.inf) < (before.record["row"]["tol"] or np.inf):
            group[row["solver_label"]] = run
    rests: list[Row] = []
    places: list[Row] = []
    met: list[Row] = []
    for group in instances.values():
        runs = [*group.values()]
        first, ends = runs[0].record["row"], [run.end for run in runs]
        about = {name: first[name] for name in ("instance", "instance_label", "kind")}
        placed = meetings.places(ends, first["radius"])
        mine = _rests(runs, placed)
        near = meetings.neighbourhood(ends, placed, first["radius"])
        rests += [{**about, **one} for one in mine]
        places += [{**about, **one} for one in _places(mine, near)]
        compared = meetings.meetings(ends, first["radius"], first["scale"])
        met += [{**about, **one} for one in compared]
    return Rests(_table(rests, RESTS), _table(places, PLACED), _table(met, MEETINGS))


def _table(rows: list[Row], columns: tuple[str, ...]) -> pd.DataFrame:
    """Return a table whose counts stay integers where some are null."""
    table = pd.DataFrame(rows, columns=list(columns))
    counts = {"place", "near", "leaving"} & set(columns)
    return table.astype(dict.fromkeys(counts, "Int64"))


def _run(kept: Kept, record: Record) -> _Run | None:
    row, facts = record["row"], record["rest"]
    found = kept.points(row["run_id"])
    if found is None or "points" not in found:
        return None
    named, points, path = fixed_points.places(record), found["points"], found.get("path")
    if not np.isfinite(points).all():
        return None
    # a path of all queries beside a sample of them is none of these
    starts = path[0] if path is not None and path.shape[1] == len(points) else None
    end = End(
        solver=row["solver_label"],
        run_id=row["run_id"],
        moving=any(gap is not None for gap in record["trace"].get("gap_current", ())),
        points=points,
        starts=starts,
        resting=np.array([place.certified for place in named]),
        vertex=np.array([place.kind is fixed_points.Class.VERTEX for place in named]),
        values=np.array(facts["value"], dtype=float),
        supports=_supports(found, len(points)),
    )
    return _Run(record, named, end)


def _supports(found: dict[str, NDArray[Any]], m: int) -> tuple[frozenset[int], ...] | None:
    """Return the atoms in use, a query, or None where the weights are not there or not whole."""
    if not {"indptr", "keys", "data"} <= found.keys():
        return None
    indptr, keys, data = (found[name] for name in ("indptr", "keys", "data"))
    flat = indptr.ndim == keys.ndim == data.ndim == 1 and len(indptr) == m + 1
    whole = flat and indptr[0] == 0 and bool((np.diff(indptr) >= 0).all())
    if not (whole and len(keys) == len(data) == indptr[-1]):
        return None
    parts = [slice(int(a), int(b)) for a, b in pairwise(indptr)]
    return tuple(frozenset(keys[part][data[part] > HEAVY].tolist()) for part in parts)


def _best(runs: list[_Run]) -> float | None:
    """Return the best value known of a problem that is not convex, None where there is none."""
    kind = runs[0].record["row"]["kind"]
    if kind == "concave":
        vertices = [_vertex(run.record["row"]) for run in runs]
        return next((vertex for vertex in vertices if vertex is not None), None)
    if kind == "indefinite":  # any point of the hull proves that a higher one is not the best
        least = [
            run.end.values.min()
            for run in runs
            if run.record["row"].get("gap") is not None and np.isfinite(run.end.values).all()
        ]  # models that leave the hull by design have no gap
        return float(min(least)) if least else None
    return None


def _vertex(row: Row) -> float | None:
    """Return the value of the best vertex, whose journal keeps it centred."""
    best, value, centred = (row.get(n) for n in ("best_vertex_centred", "value", "value_centred"))
    if best is None or value is None or centred is None:
        return None
    return float(best + (value - centred))


def _rests(runs: list[_Run], placed: list[NDArray[np.int64]]) -> list[Row]:
    best, rows = _best(runs), []
    for run, at in zip(runs, placed, strict=True):
        facts, row = run.record["rest"], run.record["row"]
        stable = facts.get("stable") or [None] * len(at)
        for q, place in enumerate(run.named):
            above = _above(facts["value"][q], best, row["scale"])
            gap = facts["gap_relative"][q]
            rows.append(
                {
                    "solver_label": row["solver_label"],
                    "run_id": row["run_id"],
                    "query": q,
                    "class": str(place.kind),
                    "label": place.label,
                    "certified": place.certified,
                    "gap_relative": gap,
                    "value": facts["value"][q],
                    "above": above,
                    "standing": _standing(row["kind"], above, gap) if place.certified else None,
                    "stable": stable[q] if place.certified else None,
                    "place": int(at[q]) if at[q] >= 0 else None,
                }
            )
    return rows


def _above(value: float | None, best: float | None, scale: float) -> float | None:
    """Return (value − best)/scale, at least 0; None where rounding outweighs what is looked for."""
    if value is None or best is None:
        return None
    if ROUNDING * max(abs(value), abs(best)) > LOCAL / 10 * scale:
        return None
    return max(0.0, value - best) / (scale or 1.0)


def _standing(kind: str, above: float | None, gap: float | None) -> str | None:
    """Say whether a certified rest is the best point of the problem, as far as that is certain."""
    if kind == "convex":  # a cloud in consensus rests without any gap
        return GLOBAL if gap is not None and gap <= fixed_points.CERTIFIED else None
    if above is None:
        return None
    if above > LOCAL:
        return ONLY_LOCAL
    return GLOBAL if kind == "concave" else None


def _places(rests: list[Row], near: dict[int, tuple[int, int]]) -> list[Row]:
    members: dict[int, list[Row]] = {}
    for row in rests:
        if row["place"] is not None:
            members.setdefault(row["place"], []).append(row)
    rows = []
    for place, mine in sorted(members.items()):
        kind, label = Counter((row["class"], row["label"]) for row in mine).most_common(1)[0][0]
        lowest = min(mine, key=lambda row: np.inf if row["value"] is None else row["value"])
        around, leaving = near.get(place, (None, None))
        rows.append(
            {
                "place": place,
                "class": kind,
                "label": label,
                "value": lowest["value"],
                "above": lowest["above"],
                "standing": lowest["standing"],
                "rests": len(mine),
                "solvers": len({row["solver_label"] for row in mine}),
                "returned": sum(row["stable"] is True for row in mine),
                "left": sum(row["stable"] is False for row in mine),
                "near": around,
                "leaving": leaving,
            }
        )
    return rows
