"""How results show themselves in a notebook: a headline and a short table, as HTML of their own."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fwbench.analysis.findings import Findings
from fwbench.cards import card, table
from fwbench.report import selection, words
from fwbench.trace import failed

MOST = 40  # rows
RUNS = ("instance", "solver", "status", "steps", "in", "gap/scale", "rests at", "rate")


def results(findings: Findings, folder: str) -> str:
    """Return how many runs ended how, who was first, and a table of the runs, failures first."""
    rows = selection.runs(findings)
    tally = ", ".join(f"{count} {status}" for status, count in selection.statuses(findings))
    lost = sum(failed(row["status"], row["signal"]) for row in rows)
    facts = {
        "runs": f"{len(rows)}: {tally}" if rows else "none",
        "failed": f"{lost}: {_reasons(rows)}" if lost else "no run",
        "first": ", ".join(_first(findings)) or "nobody",
        "folder": folder,
    }
    shown = [
        [
            row["instance_label"],
            row["solver_label"],
            row["status"],
            words.count(row["steps"]),
            words.duration(row["seconds"]),
            words.number(row["gap_relative"]),
            words.text(row["fixed_point"]),
            _rate(row),
        ]
        for row in rows[:MOST]
    ]
    if not rows:
        return card(selection.title(findings.manifest), facts)
    return card(selection.title(findings.manifest), facts, table(RUNS, shown, _rest(len(rows))))


def frame(title: str, rows: pd.DataFrame) -> str:
    """Return a table in short, numbers with few digits."""
    columns = [str(name) for name in rows.columns if name not in ("run_id", "instance")]
    some = selection.records(rows[columns].head(MOST))
    body = [[_cell(row[name]) for name in columns] for row in some]
    return card(title, {}, table(columns, body, _rest(len(rows)) or _none(len(rows))))


def _first(findings: Findings) -> list[str]:
    """Say who was first, how often and how often surely, over all kinds of instances."""
    rows = selection.records(findings.standings)
    return [f"{row['solver_label']} {row['firsts']} ({row['sure']} surely)" for row in rows
            if row["where"] is None and row["firsts"]]  # fmt: skip


def _reasons(rows: list[dict[str, Any]]) -> str:
    said = [f"{row['solver_label']} on {row['instance_label']} ({row['status']}: "
            f"{words.text(row['reason'])})" for row in rows
            if failed(row["status"], row["signal"])]  # fmt: skip
    more = f" and {len(said) - 3} more" if len(said) > 3 else ""
    return "; ".join(said[:3]) + more


def _rate(row: dict[str, Any]) -> str:
    if row["rate_class"] is None:
        return words.NONE
    if row["rate"] is None:
        return str(row["rate_class"])
    return f"{row['rate_class']}, {words.rate(row)}"


def _cell(value: Any) -> str:
    return words.number(value) if isinstance(value, float) else words.text(value)


def _rest(rows: int) -> str:
    return (
        f"{rows - MOST} of {rows} rows are left out; .table, or .runs, has all"
        if (rows > MOST)
        else ""
    )


def _none(rows: int) -> str:
    return "" if rows else "no row"
