"""Attention heads against the theory: a row an instance whose tokens are its queries."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import Any

import pandas as pd

from fwbench.analysis.regimes import bare
from fwbench.errors import InvalidParameter
from fwbench.grammar import spelled

FAMILY = "attention_head"
PLAIN = "frank_wolfe"  # the label of Frank-Wolfe with steps 2/(t + 2), which is the default
SHOWN, LONGEST = 4, 8  # sets of leaders, and atoms of one, that are named
COURSES = ("settles", "turns", "pauses", "undecided")
FACTS = (
    "positive", "negative", "largest", "smallest", "antisymmetric", "owners", "tied_owners",
    "leaders", "entropy", "entropy_relative", "top_mass",
)  # fmt: skip
COLUMNS = (
    "instance", "instance_label", "sentence", "layer", "head", "n", "d", *FACTS, *COURSES,
    "changes", "settled_at", "faces", "rounds", "growth", "pause_gap", "run_id", "status", "steps",
    "gap_relative",
)  # fmt: skip
INTEGERS = (
    "layer", "head", "n", "d", "positive", "negative", "leaders", *COURSES, "changes",
    "settled_at", "steps",
)  # fmt: skip
TEXTS = (
    "instance", "instance_label", "sentence", "faces", "rounds", "run_id", "status",
)  # fmt: skip
TYPES = {
    name: "Int64" if name in INTEGERS else "string" if name in TEXTS else "float64"
    for name in COLUMNS
}


def heads(records: list[dict[str, Any]]) -> pd.DataFrame:
    """Return a row for each instance whose queries start one at each atom.

    Parameters
    ----------
    records : list of dict
        Of the journal; what `fwbench.heads` and `fwbench.stretches` found stands in ``head``.

    Returns
    -------
    DataFrame
        By layer, head and sentence, which are null unless it is a head of the shipped model. The
        facts of the head; how many queries of Frank-Wolfe with steps 2/(t + 2), keys fixed, settle,
        turn and pause; ``changes``: the most changes of leader before a query settled, and
        ``settled_at``: the last step of any; ``faces``: the atoms that take turns; ``rounds``: the
        leaders of the rounds between which queries pause, ``growth``: how many times longer each
        round is than the last (median), ``pause_gap``: the largest gap there, of the scale; then
        what the run of that solver came to, if there was one.
    """
    known: dict[str, dict[str, Any]] = {}
    for record in records:
        row = record["row"]
        if (head := record.get("head")) is None:
            continue
        found = known.setdefault(row["instance"], _row(row, head))
        if bare(row["solver_label"]) == PLAIN and found.get("run_id") is None:
            found |= {name: row.get(name) for name in ("run_id", "status", "steps", "gap_relative")}
    table = pd.DataFrame(list(known.values()), columns=list(COLUMNS)).astype(TYPES)
    return table.sort_values(
        ["layer", "head", "sentence"], kind="stable", na_position="last", ignore_index=True
    )


def _row(row: dict[str, Any], head: dict[str, Any]) -> dict[str, Any]:
    facts = dict.fromkeys(COLUMNS) | {name: head.get(name) for name in FACTS}
    named = {name: row.get(name) for name in ("instance", "instance_label", "n", "d")}
    return facts | named | _place(row) | _courses(head["stretches"])


def _place(row: dict[str, Any]) -> dict[str, Any]:
    """Return sentence, layer and head of an instance of the shipped model."""
    names = ("sentence", "layer", "head")
    missing: dict[str, Any] = dict.fromkeys(names)
    if row.get("problem") != FAMILY:
        return missing
    try:
        values = spelled(bare(row["instance"])).values
        if values.get("file", [""]) != [""]:
            return missing
        [[sentence], [layer], [head]] = (values[name] for name in names)
        return {"sentence": sentence, "layer": int(layer), "head": int(head)}
    except (InvalidParameter, KeyError, ValueError):  # a family of that name from elsewhere
        return missing


def _courses(stretches: dict[str, list[Any]]) -> dict[str, Any]:
    """Count what becomes of the queries, and say where."""
    facts = zip(*stretches.values(), strict=True)
    queries = [dict(zip(stretches, fact, strict=True)) for fact in facts]
    by = {course: [q for q in queries if q["course"] == course] for course in COURSES}
    growths = [q["growth"] for q in by["pauses"] if q["growth"] is not None]
    return {
        **{course: len(those) for course, those in by.items()},
        "changes": max((q["changes"] for q in by["settles"]), default=None),
        "settled_at": max((q["last"] for q in by["settles"]), default=None),
        "faces": _listed(by["turns"]),
        "rounds": _listed(by["pauses"]),
        "growth": median(growths) if growths else None,
        "pause_gap": max((q["gap"] for q in by["pauses"]), default=None),
    }


def _listed(queries: list[dict[str, Any]]) -> str | None:
    """Return the different sets of leaders, the commonest first, ``atoms 0 6 9; atoms 2 5``."""
    found = Counter(_named(q["leaders"]) for q in queries)
    more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return "; ".join([name for name, _ in found.most_common(SHOWN)] + more) or None


def _named(leaders: list[int]) -> str:
    """Name atoms, from the lowest key on: where a round was cut says nothing."""
    at = leaders.index(min(leaders))
    keys = leaders[at:] + leaders[:at]
    return f"atoms {' '.join(map(str, keys[:LONGEST]))}" + " …" * (len(keys) > LONGEST)
