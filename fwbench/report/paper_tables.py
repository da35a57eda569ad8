"""The tables of a report as LaTeX, one a finding; what was not found has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fwbench.analysis.contests import Contest
from fwbench.analysis.findings import Findings
from fwbench.analysis.meetings import overall
from fwbench.report import resting, selection, standings, words
from fwbench.report.tex import Column, Line, prose, table
from fwbench.report.words import NONE, count, duration, missing, number, power, text

Row = dict[Any, Any]

BLOCK = 10  # columns of a matrix that fit on a line
COSTS = {
    "lmo": "oracle calls",
    "seconds": "seconds in the solver",
    "total": "seconds with set-up",
}
VARIANTS = {
    "defaults": "each solver as it is by default",
    "tuned": "each solver at the best of its grid on every instance, chosen afterwards",
    "chosen": "solvers as chosen",
}


def _standings(findings: Findings) -> str:
    rows = [
        [row["solver"], *(shown for shown, _ in row["cells"])] for row in standings.table(findings)
    ]
    if not rows:
        return ""
    head, *others = standings.HEAD
    columns = [Column(head, "name"), *(Column(name, "number") for name in others)]
    return table("standings", prose(standings.note(findings)), columns, rows)


def _winners(findings: Findings) -> str:
    rows = [
        [
            row["instance_label"],
            f"{words.MEASURES[row['measure']]} ≤ {power(row['target'])}",
            NONE if row["solver_label"] is None else row["solver_label"],
            duration(row["seconds"]),
            count(row["lmo"]),
            words.ahead(row),
            f"{row['reached']} of {row['of']}",
        ]
        for row in selection.winners(findings)
    ]
    columns = [
        Column("instance", "name"),
        Column("target"),
        Column("won by", "name"),
        Column("in", "number"),
        Column("oracle calls", "number"),
        Column("ahead"),
        Column("reached by", "number"),
    ]
    told = (
        "First at the tightest target that anybody reached, relative to the scale of the instance; "
        "seconds in the solver, set-up left out; ahead: the runner-up's seconds over these."
    )
    return table("winners", prose(told), columns, rows) if rows else ""


def _rates(findings: Findings) -> str:
    rows: list[Line] = []
    regime = None
    found = selection.records(findings.rates)
    places = {name: n for n, name in enumerate(dict.fromkeys(row["regime"] for row in found))}
    for row in sorted(found, key=lambda row: places[row["regime"]]):  # of several folders together
        if row["regime"] != regime:
            regime = row["regime"]
            rows.append(regime)
        ends = f" ({number(row['rate_low'])} … {number(row['rate_high'])})"
        promised = {"rate_class": row["promised_class"], "rate": row["promised_rate"]}
        law = words.rate(promised)
        rows.append(
            [
                row["solver_label"],
                count(row["seeds"]),
                text(row["rate_class"]),
                words.rate(row) + ("" if missing(row["rate_low"]) else ends),
                text(row["promised_class"]) if law == NONE else law,
                number(row["bound_share"]),
                text(row["verdict"]),
            ]
        )
    columns = [
        Column("solver", "name"),
        Column("seeds", "number"),
        Column("class"),
        Column("rate (95 % interval)"),
        Column("promised"),
        Column("of the bound", "number"),
        Column("so far"),
    ]
    told = (
        "Rates over seeds, by instances that differ in their seed alone: the class that they agree "
        "on, its mean and a bootstrap interval over seeds; the law that theory promises, and the "
        "largest measured share of its bound where the constant is known."
    )
    return table("rates", prose(told), columns, rows) if rows else ""


def _points(findings: Findings) -> str:
    """Write the matrix solver × solver, columns by number, in blocks that fit on a line."""
    if findings.meetings.empty:
        return ""
    pairs = {(row["solver_a"], row["solver_b"]): row
             for row in selection.records(overall(findings.meetings))}  # fmt: skip
    cells = pairs | {(b, a): row for (a, b), row in pairs.items()}
    names = list(dict.fromkeys(name for pair in cells for name in pair))
    told = (
        "Starts from which two solvers rest at the same point, of those from which both are "
        "certified at rest, over all instances; columns are numbered as the rows."
    )
    made = []
    for first in range(0, len(names), BLOCK):
        some = names[first : first + BLOCK]
        columns = [Column("", "number"), Column("solver", "name")]
        columns += [Column(str(first + i), "number") for i in range(1, len(some) + 1)]
        rows = [
            [str(place), name, *(_met(cells.get((name, other))) for other in some)]
            for place, name in enumerate(names, 1)
        ]
        label = "fixed-points" + (f"-from-{first + 1}" if first else "")
        made.append(table(label, prose(told), columns, rows))
    return "\n".join(made)


def _met(row: Row | None) -> str:
    return NONE if row is None else resting.same(row)


def _profiles(findings: Findings) -> str:
    """Write the shifted geometric means of the largest contest of each variant and cost."""
    if findings.profiles is None:
        return ""
    made: dict[str, str] = {}
    means = selection.records(findings.profiles.means)
    for place, contest in enumerate(findings.profiles.contests):
        name = f"means-{contest.variant}-{contest.cost}"
        if name in made:
            continue
        mine = [row for row in means if row["contest"] == place]
        made[name] = _means(name, contest, mine, dict(zip(contest.solvers, contest.labels,
                                                          strict=True)))  # fmt: skip
    return "\n".join(made.values())


def _means(name: str, contest: Contest, means: list[Row], labels: dict[str, str]) -> str:
    shown: Callable[[Any], str] = number if contest.cost == "lmo" else duration
    targets = sorted({row["target"] for row in means}, reverse=True)
    at = {(row["solver"], row["target"]): row for row in means}
    ranked = sorted(labels, key=lambda solver: at[solver, targets[-1]]["rank"] or len(labels))
    rows = [[solver, *(_mean(at[solver, target], shown) for target in targets)]
            for solver in ranked]  # fmt: skip
    shifts = ", ".join(shown(at[ranked[0], target]["shift"]) for target in targets)
    columns = [Column("solver", "name"), *(Column(f"to {power(t)}", "number") for t in targets)]
    told = (
        f"Shifted geometric means of {COSTS[contest.cost]} over {len(contest.places)} instances, "
        f"{VARIANTS[contest.variant]}: least … largest that the brackets allow; in parentheses "
        "how many instances were missed, which count with what the run was allowed. "
        f"Shifts, by target: {shifts}."
    )
    return table(name, prose(told), columns, rows)


def _mean(row: Row, shown: Callable[[Any], str]) -> str:
    low, high = shown(row["low"]), shown(row["high"])
    ends = low if low == high else f"{low} … {high}"
    return ends + (f" ({count(row['failures'])})" if row["failures"] else "")


def _growth(findings: Findings) -> str:
    rows = [
        [
            row.regime,
            row.against,
            row.label,
            count(row.seconds["sizes"]),
            words.exponent(row.seconds),
            words.exponent(row.steps),
        ]
        for row in selection.growths(findings)
    ]
    columns = [
        Column("instances", "name"),
        Column("against"),
        Column("solver", "name"),
        Column("sizes", "number"),
        Column("exponent of seconds"),
        Column("exponent of steps"),
    ]
    told = "Growth with a size: exponents of a power law with 95 % intervals; seconds with set-up."
    return table("growth", prose(told), columns, rows) if rows else ""


def _ratios(findings: Findings) -> str:
    if not selection.has_ratios(findings):
        return ""
    return "\n".join(part for part in (_goals(findings), _races(findings)) if part)


def _goals(findings: Findings) -> str:
    rows = [
        [row["what"], row["where"], words.bound(row), number(row["measured"]), text(row["met"]),
         text(row["detail"])]
        for row in selection.records(findings.goals)
    ]  # fmt: skip
    columns = [Column("ratio"), Column("where"), Column("bound", "number"),
               Column("measured", "number"), Column("met"), Column("rests on")]  # fmt: skip
    return table("goals", "Ratios that were to be reached.", columns, rows) if rows else ""


def _races(findings: Findings) -> str:
    labels = selection.racers(findings, foreign=True)
    rows = []
    for race in selection.races(findings):
        ours = race.ours or {"solver_label": NONE, "total": None}
        each = [_raced(race.rows.get(label)) for label in labels]
        rows.append(
            [race.label, power(race.target), ours["solver_label"], duration(ours["total"]), *each]
        )
    columns = [Column("instance", "name"), Column("gap ≤", "number"), Column("our best", "name"),
               Column("in", "number"), *(Column(label) for label in labels)]  # fmt: skip
    told = "Time to a certified gap, foreign codes over our best: with set-up (without it)."
    return table("ratios", prose(told), columns, rows) if rows and labels else ""


def _raced(row: Row | None) -> str:
    said = words.raced(row)
    if row is None or missing(row["total"]) or missing(row["ratio"]):
        return said
    return f"{said} ({words.times(row['ratio'])})"


def _failures(findings: Findings) -> str:
    rows = [
        [row["status"], row["solver_label"], row["instance_label"], text(row["reason"])]
        for row in selection.failures(findings)
    ]
    columns = [
        Column("status"), Column("solver", "name"), Column("instance", "name"), Column("reason"),
    ]  # fmt: skip
    return table("failures", "What failed, and why.", columns, rows) if rows else ""


# name of the file, heading, and what writes it
TABLES: dict[str, tuple[str, Callable[[Findings], str]]] = {
    "standings": ("Standings", _standings),
    "winners": ("Who won where", _winners),
    "failures": ("What failed", _failures),
    "rates": ("Rates", _rates),
    "fixed-points": ("Fixed points", _points),
    "profiles": ("Means over instances", _profiles),
    "growth": ("Growth", _growth),
    "ratios": ("Ratios", _ratios),
}
