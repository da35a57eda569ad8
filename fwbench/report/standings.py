"""Who won, in words: a few sentences, and a row a solver."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fwbench.analysis.findings import Findings
from fwbench.analysis.standings import RACES, TIE
from fwbench.report.sentences import SOLVER, Part, Said, many, solvers, tallied
from fwbench.report.words import count, missing, number, times

Row = dict[Any, Any]

SHOWN = 8  # solvers in the table of the first screen
NAMED = 3  # solvers in a sentence
KINDS = 3  # kinds of instances that are named
HEAD = (
    "solver", "instances", "first", "of these sure", "alone", "solved", "times the best",
    "median lead", "failed runs",
)  # fmt: skip
NOTE = (
    "First: by seconds in the solver, set-up left out, at the tightest target from 1e-02 to 1e-08 "
    "of the scale that anybody reached in all its repetitions; a lead below 1.1× is a tie, and "
    "nobody's. Sure: its bracket, over all repetitions, lies below that of everybody else (of "
    "less than three timings, below half of that), on one machine, quiet and not shared unless the "
    "lead is tenfold, and no random chain took part. Alone: nobody else came there: no race. Times "
    "the best: geometric mean where it and another came there."
)


def context(findings: Findings) -> dict[str, Any]:
    """Return what the template of the standings shows."""
    rows = table(findings)
    return {
        "standings_said": won(findings),  # what failed stands beside it
        "standings_head": HEAD,
        "standings_rows": rows[:SHOWN],
        "standings_more": rows[SHOWN:],
        "standings_where": by_kind(findings),
        "standings_note": note(findings),
    }


def note(findings: Findings) -> str:
    """Say what the columns mean, the shift of the means too."""
    if findings.standings.empty:
        return NOTE
    shifts = findings.standings["shift"].dropna()
    return NOTE + (f" Shift {number(shifts.iloc[0])}." if len(shifts) else "")


def table(findings: Findings) -> list[Row]:
    """Return a row a solver, over all kinds of instances, the one that was first most often first.

    Each has, for every column behind the solver's, its text and what it is sorted by.
    """
    if findings.standings.empty:
        return []
    everywhere = findings.standings[findings.standings["where"].isna()]
    return [{"solver": row["solver_label"], "cells": _cells(row)} for row in _rows(everywhere)]


def _cells(row: Row) -> list[tuple[str, Any]]:
    share = row["solved"] / row["instances"] if row["instances"] else None
    return [
        (count(row["instances"]), row["instances"]),
        (count(row["firsts"]), row["firsts"]),
        (count(row["sure"]) if row["firsts"] else "–", row["sure"]),
        (count(row["alone"]), row["alone"]),
        (f"{count(row['solved'])} of {count(row['instances'])}", "" if share is None else share),
        (times(row["mean"]), _sorted(row["mean"])),
        (times(row["lead"]), _sorted(row["lead"])),
        (f"{count(row['failures'])} of {count(row['runs'])}", row["failures"]),
    ]


def _sorted(value: Any) -> Any:
    return "" if missing(value) else value


def by_kind(findings: Findings) -> list[tuple[str, int, list[tuple[str, int, int]]]]:
    """Return each kind of instance, how many there are, and who was first: name, firsts, sure.

    Kinds on which nobody was first stand in it without a name.
    """
    if findings.firsts.empty:
        return []
    found = []
    for where, mine in findings.firsts.groupby("where", sort=False):
        won = mine[mine["contest"].isin(["sure", "unsure"])]
        sure = Counter(won.loc[won["contest"] == "sure", "solver_label"])
        names = Counter(won["solver_label"]).most_common()
        found.append((str(where), len(mine), [(str(n), c, sure[n]) for n, c in names]))
    return found


def headline(findings: Findings) -> list[Said]:
    """Say in a few sentences who won, where, by how much, how surely, and what failed."""
    failures = _failed(findings)
    return won(findings) + ([failures] if failures else [])


def won(findings: Findings) -> list[Said]:
    """Say who won, where, by how much and how surely."""
    said = [_winner(findings), _surest(findings), _others(findings), _tied(findings),
            _alone(findings), _doubts(findings)]  # fmt: skip
    return [one for one in said if one]


def _rows(frame: Any) -> list[Row]:
    return list(frame.to_dict("records"))


def _winner(findings: Findings) -> Said:
    firsts = findings.firsts
    if firsts.empty:
        return []
    raced = firsts[firsts["contest"].isin(RACES)]
    several = f"{many(len(raced), 'race')} on {many(firsts['instance'].nunique(), 'instance')}"
    if raced.empty:
        return [Part("Nobody was first: on no instance did two solvers race to the same target.")]
    if (raced["contest"] == TIE).all():
        return [Part(f"Nobody was first in {several}.")]
    rows = _rows(findings.standings[findings.standings["where"].isna()])
    best = _best(rows)
    row, name = best[0], best[0]["solver_label"]
    nothing = not any(one["sure"] for one in rows)
    begin = [Part("No first place is sure. ")] if nothing else []
    surely = "" if nothing else f", {_surely(row)}"
    by = "by" if row["firsts"] == 1 else "by a median"
    text = f" first most often: {count(row['firsts'])} of {several}"
    if len(raced) == 1:
        text = f" first in the only race on {many(firsts['instance'].nunique(), 'instance')}"
    if len(best) > 1:
        more = f" and {len(best) - NAMED} more" if len(best) > NAMED else ""
        names = solvers([row["solver_label"] for row in best[:NAMED]])
        leads = ", ".join(times(row["lead"]) for row in best[:NAMED])
        end = f" each{surely}, {by} {leads} over the next."
        return [*begin, *names, Part(f"{more} were{text}{end}")]
    end = f"{surely}, {by} {times(row['lead'])} over the next{_where(findings, name)}."
    return [*begin, Part(name, SOLVER), Part(f" was{text}{end}")]


def _best(rows: list[Row]) -> list[Row]:
    """Return who was first most often and, of these, surely most often."""
    most = (rows[0]["firsts"], rows[0]["sure"])  # as they are ranked
    return [row for row in rows if (row["firsts"], row["sure"]) == most]


def _surest(findings: Findings) -> Said:
    """Say who was surely first most often, where that is not who was first most often."""
    if findings.standings.empty:
        return []
    rows = _rows(findings.standings[findings.standings["where"].isna()])
    most = max((row["sure"] for row in rows), default=0)
    if not most or any(row["sure"] == most and row["firsts"] == rows[0]["firsts"] for row in rows):
        return []
    best = [row for row in rows if row["sure"] == most]
    more = f" and {len(best) - NAMED} more" if len(best) > NAMED else ""
    names = solvers([row["solver_label"] for row in best[:NAMED]])
    each = " each" if len(best) > 1 else ""
    return [Part("Surely first most often: "), *names, Part(f"{more}, {many(most, 'time')}{each}.")]


def _tied(findings: Findings) -> Said:
    """Say how many races were ties, and between whom."""
    if findings.firsts.empty:
        return []
    tied = findings.firsts[findings.firsts["contest"] == TIE]
    if tied.empty:
        return []
    names = Counter([*tied["solver_label"], *tied["runner_up"]]).most_common()
    pairs = [(str(name), f"in {count(n)}") for name, n in names]
    begin = f"{many(len(tied), 'race')} {'was a tie' if len(tied) == 1 else 'were ties'}: "
    return [Part(begin), *tallied(pairs, NAMED), Part(".")]


def _where(findings: Findings, name: str) -> str:
    """Say on which kinds of instances a solver was first, and of which families they are."""
    won = findings.firsts
    won = won[won["contest"].isin(["sure", "unsure"]) & (won["solver_label"] == name)]
    kinds = Counter(won["where"]).most_common(KINDS)
    parts = []
    for kind, times_first in kinds:
        families = Counter(won.loc[won["where"] == kind, "problem"]).most_common(KINDS)
        listed = ", ".join(f"{family} {n}" for family, n in families)
        parts.append(f"{count(times_first)} {kind} ({listed})")
    return f": {', '.join(parts)}"


def _surely(row: Row) -> str:
    if row["sure"] == row["firsts"]:
        return "surely" if row["firsts"] == 1 else "all of them surely"
    return f"{count(row['sure'])} of them surely" if row["sure"] else "none of them surely"


def _others(findings: Findings) -> Said:
    if findings.standings.empty:
        return []
    rows = _rows(findings.standings[findings.standings["where"].isna()])
    best = [row["solver_label"] for row in _best(rows)] if rows else []
    rest = [row for row in rows if row["firsts"] and row["solver_label"] not in best]
    if not rest:
        return []
    pairs = [
        (row["solver_label"], f"{count(row['firsts'])} ({count(row['sure'])} surely)")
        for row in rest
    ]
    return [Part("Then "), *tallied(pairs, NAMED), Part(".")]


def _alone(findings: Findings) -> Said:
    if findings.firsts.empty:
        return []
    alone = findings.firsts[findings.firsts["contest"] == "alone"]
    names = Counter(alone["solver_label"]).most_common()
    if not names:
        return []
    pairs = [(str(name), f"on {count(n)}") for name, n in names]
    end = ". That is no race, and no first place."
    return [Part("Alone came to the tightest target: "), *tallied(pairs, NAMED), Part(end)]


def _doubts(findings: Findings) -> Said:
    if findings.firsts.empty:
        return []
    unsure = findings.firsts[findings.firsts["contest"] == "unsure"]
    if unsure.empty:
        return []
    why = Counter(reason for text in unsure["doubts"] for reason in str(text).split("; "))
    listed = ", ".join(f"{reason} ({count(n)})" for reason, n in why.most_common())
    are = "is" if len(unsure) == 1 else "are"
    text = f"{many(len(unsure), 'first place')} {are} unsure: {listed}."
    return [Part(text + _once(findings))]


def _once(findings: Findings) -> str:
    if (findings.runs["repetition"].fillna(0) > 0).any():
        return ""
    return " Each run was timed once: repeat (--repeat 5) what hangs on seconds."


def _failed(findings: Findings) -> Said:
    if findings.standings.empty:
        return []
    rows = _rows(findings.standings[findings.standings["where"].isna()])
    lost = sorted((row for row in rows if row["failures"]), key=lambda row: -row["failures"])
    total = sum(row["runs"] for row in rows)
    if not lost:
        none = (
            "The only run did not fail." if total == 1 else f"None of {count(total)} runs failed."
        )
        return [Part(none)] if total else []
    pairs = [(row["solver_label"], count(row["failures"])) for row in lost]
    failed = sum(row["failures"] for row in lost)
    begin = f"{count(failed)} of {many(total, 'run')} failed: "
    return [Part(begin), *tallied(pairs, NAMED), Part(".")]
