"""Profiles as tables: who is compared with whom, means with their shift, and where order turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fwbench.analysis.contests import Contest
from fwbench.analysis.findings import Findings
from fwbench.analysis.profiles import Profiles
from fwbench.analysis.targets import TIED
from fwbench.report import selection
from fwbench.report.sentences import Part, Said, many, solvers
from fwbench.report.words import NONE, count, duration, number, percent, power, times

Row = dict[str, Any]

VARIANTS = {
    "defaults": "as they are by default",
    "tuned": "each at the best of its grid on each instance, chosen afterwards",
    "chosen": "as chosen",
}
COSTS = {
    "lmo": "oracle calls",
    "seconds": "seconds in the solver",
    "total": "seconds, with set-up",
}
NOTE = (
    "Shifted geometric means over the same instances for all, between the two ends that brackets "
    "allow. A miss counts what the run was allowed. The shift is 1 % of the median of what was "
    "reached; † marks a rank that a tenth of it, or tenfold, would change."
)


def context(findings: Findings) -> dict[str, Any]:
    """Return what the template of profiles shows."""
    profiles = findings.profiles
    shown = [] if profiles is None else contests(profiles)
    return {
        "profiles_contests": shown,
        "profiles_variants": _options(shown, "variant", VARIANTS),
        "profiles_costs": _options(shown, "cost", COSTS),
        "profiles_targets": sorted({t for one in shown for t in one["targets"]}, reverse=True),
        "profiles_said": [] if profiles is None else headline(profiles),
        "profiles_warnings": [] if profiles is None else warnings(profiles),
        "profiles_note": NOTE,
    }


def _options(shown: list[Row], key: str, words: dict[str, str]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in words.items() if any(one[key] == name for one in shown)]


def contests(profiles: Profiles) -> list[Row]:
    """Return each contest with its table of means: a row a solver, a cell a target."""
    rows = selection.grouped(selection.records(profiles.means), "contest")
    means = {number: mine for (number,), mine in rows}
    return [
        _contest(contest, number, means.get(number, []))
        for number, contest in enumerate(profiles.contests)
    ]


def _contest(contest: Contest, place: int, means: list[Row]) -> Row:
    targets = sorted({row["target"] for row in means}, reverse=True)
    cells = {(row["solver"], row["target"]): row for row in means}
    shifts = {row["target"]: row["shift"] for row in means}
    unit = _unit(contest.cost)
    return {
        "number": place,
        "variant": contest.variant,
        "cost": contest.cost,
        "title": f"{count(len(contest.solvers))} solvers {VARIANTS[contest.variant]}, "
        f"in {COSTS[contest.cost]}, on {many(len(contest.places), 'instance')}",
        "targets": targets,
        "heads": [f"to {power(target)}" for target in targets],
        "shifts": [NONE if shifts[t] is None else unit(shifts[t]) for t in targets],
        "rows": [
            {
                "solver": solver,
                "label": label,
                "cells": [_cell(cells.get((solver, target)), unit) for target in targets],
            }
            for solver, label in zip(contest.solvers, contest.labels, strict=True)
        ],
        "instances": contest.instances,
        "excluded": contest.excluded,
    }


def _unit(cost: str) -> Callable[[Any], str]:
    return number if cost == "lmo" else duration


def _cell(row: Row | None, unit: Callable[[Any], str]) -> Row:
    """Return one mean in words: its two ends, what was missed, and the grid's cost beside it."""
    if row is None or row["high"] is None:
        return {"text": NONE, "value": "", "missed": "", "grid": "", "first": False}
    low, high = unit(row["low"]), unit(row["high"])
    ranks = {row["rank"], row["rank_tenth"], row["rank_tenfold"]}
    missed = f"{count(row['failures'])} of {count(row['instances'])} missed"
    grid = row["grid_high"]
    return {
        "text": (low if low == high else f"{low} … {high}") + (" †" if len(ranks) > 1 else ""),
        "value": row["high"],
        "missed": missed if row["failures"] else "",
        "grid": "" if grid is None else f"whole grid {unit(grid)}",
        "first": row["rank"] == 1,
    }


def headline(profiles: Profiles) -> list[Said]:
    """Say of the largest contest in each cost who has the least mean at the tightest target."""
    said: list[Said] = []
    for cost in ("seconds", "lmo"):
        found = [
            (place, one)
            for place, one in enumerate(profiles.contests)
            if one.cost == cost and one.variant == "defaults"
        ]
        if not found:
            continue
        place, contest = found[0]
        rows = [row for row in selection.records(profiles.means) if row["contest"] == place]
        tightest = min((row["target"] for row in rows if row["high"] is not None), default=None)
        # who came there nowhere has a mean of limits alone
        here = [row for row in rows if row["target"] == tightest]
        here = [row for row in here if row["failures"] < row["instances"] and
                row["high"] is not None]  # fmt: skip
        here.sort(key=lambda row: row["high"])
        if here:
            said.append(_least(here, contest, cost))
    return said


def _least(here: list[Row], contest: Contest, cost: str) -> Said:
    """Say who needs least, if the brackets leave no doubt of it, and who follows."""
    first = here[0]
    where = f"to {power(first['target'])} on {many(len(contest.places), 'instance')}"
    begin = f"In {COSTS[cost]}, {where}: "
    if len(here) == 1:
        alone = " alone came there on any of them."
        return [Part(begin), *solvers([first["solver"]]), Part(alone)]
    second, unit = here[1], _unit(cost)
    misses = [
        f", {count(row['failures'])} of them missed" if row["failures"] else "" for row in here[:2]
    ]
    sure = all(first["high"] < row["low"] for row in here[1:])
    tied = cost != "lmo" and second["high"] < TIED * first["high"]  # calls do not jitter
    link = "needs" if sure and not tied else "is said to need"
    least = f" {link} least, {unit(first['high'])} in the mean{misses[0]}; next is "
    end = f", {unit(second['high'])}{misses[1]}"
    end += f": less than {TIED}×, a tie." if tied else "." if sure else ": brackets overlap."
    names = ([row["solver"]] for row in (first, second))
    one, two = (solvers(name) for name in names)
    return [Part(begin), *one, Part(least), *two, Part(end)]


def warnings(profiles: Profiles) -> list[Said]:
    """Name the pairs of solvers whose order in a performance profile others turn round.

    The largest reversals come first, each pair once a cost.
    """
    said: list[Said] = []
    seen: set[tuple[str, str, str]] = set()
    rows = selection.records(profiles.pairs)
    for row in sorted(rows, key=lambda row: -(row["reversed_by"] or 0.0)):
        contest = profiles.contests[row["contest"]]
        key = (row["solver_a"], row["solver_b"], row["cost"])
        if row["reversed_at"] is None or key in seen:
            continue
        seen.add(key)
        pair = solvers([row["solver_a"], row["solver_b"]])
        where = (
            f" change places at {times(row['reversed_at'])} the best "
            f"({COSTS[row['cost']]}, to {power(row['target'])}, {percent(row['reversed_by'])} of "
            f"{many(len(contest.places), 'instance')}) "
        )
        if row["reversed_without"] is None:
            said.append([*pair, Part(f"{where}when the others are left out.")])
            continue
        alone = solvers([row["reversed_without"]])
        said.append([*pair, Part(f"{where}when "), *alone, Part(" is left out.")])
    return said
