"""What the page's script draws from: curves, bands, growth, profiles, pictures, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwbench.analysis.alike import usual
from fwbench.analysis.contests import Contest
from fwbench.analysis.duels import duels
from fwbench.analysis.findings import Findings
from fwbench.analysis.growth import medians
from fwbench.analysis.profiles import Profiles
from fwbench.report import selection, words
from fwbench.report.columns import Pool, short
from fwbench.report.paths import picture_data
from fwbench.report.words import Style

BAND_DIGITS = 4  # of a band over decades
ENDS = ("low", "high", "without_low", "without_high", "grid_low", "grid_high")
MOST_STEPS = 100  # of a profile; more are thinned
MOST_DUELLISTS = 12
Array = NDArray[np.float64]


def page_data(findings: Findings, styles: dict[str, Style]) -> dict[str, Any]:
    """Return all that charts are drawn from: JSON without NaN, rounded to what a screen can show.

    Parameters
    ----------
    findings : Findings
    styles : dict of str to Style
        By solver label.

    Returns
    -------
    dict
        ``columns``: lists of numbers, which ``curves``, ``bands`` and ``profiles`` name by their
        place; a column that is missing has none. ``instances``: labels of those that have curves.
    """
    pool, solvers = Pool(), {label: i for i, label in enumerate(styles)}
    traces = _traces(findings)
    drawn = {trace.instance for trace in traces.values()}
    labels = {
        name: row["instance_label"]
        for name, row in selection.instances(findings).items()
        if name in drawn
    }
    instances = {name: i for i, name in enumerate(labels)}
    # of repetitions the first, for the others took the same steps; of an answer at once each
    curves = {run: trace for run, trace in traces.items() if not trace.repetition or trace.once}
    bands, regimes = _bands(findings, traces, list(curves), instances, solvers, pool)
    return {
        "solvers": [
            {"label": label, "colour": look.colour, "dash": look.css_dash, "symbol": look.symbol}
            for label, look in styles.items()
        ],
        "measures": words.MEASURES,
        "axes": words.AXES,
        "instances": list(labels.values()),
        "curves": [_curve(trace, instances, solvers, pool) for trace in curves.values()],
        "bands": bands,
        "regimes": regimes,
        "growth": _growth(findings, solvers),
        "pictures": [picture_data(picture, solvers) for picture in findings.pictures],
        "profiles": _profiles(findings.profiles, solvers, pool),
        "columns": pool.columns,
    }


# -- curves and bands ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Trace:
    """The checkpoints of one run; `once`: its method has no path."""

    instance: str
    solver: str
    repetition: int
    once: bool
    columns: dict[str, NDArray[np.floating[Any]]]


def _traces(findings: Findings) -> dict[str, _Trace]:
    """Return the traces of all runs that left one, in the order of the runs.

    Where an instance was timed on several machines, those of one alone have seconds: of that with
    most runs.
    """
    table = findings.trace.sort_values(["run_id", "k"], kind="stable")
    arrays = {
        name: table[name].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
        for name in selection.COLUMNS
    }
    names = table["run_id"].to_numpy(dtype=object)
    cuts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1), len(names)]
    rows = {str(names[i]): slice(i, j) for i, j in pairwise(cuts) if i < j}
    found = {}
    columns = ("run_id", "instance", "solver_label", "repetition")
    facts = zip(*(findings.runs[name] for name in columns), usual(findings.runs), strict=True)
    for run, instance, solver, repetition, timed in facts:
        if run not in rows:
            continue
        mine = {name: column[rows[run]] for name, column in arrays.items()}
        if not timed:
            mine["seconds"] = np.full(len(mine["k"]), np.nan)
        repeated = 0 if words.missing(repetition) else int(repetition)
        once = bool((mine["k"] <= 1).all())
        found[str(run)] = _Trace(str(instance), str(solver), repeated, once, mine)
    return found


def _curve(
    trace: _Trace, instances: dict[str, int], solvers: dict[str, int], pool: Pool
) -> dict[str, Any]:
    kept = selection.thinned(len(trace.columns["k"]))
    places = {name: pool.place(column[kept]) for name, column in trace.columns.items()}
    return {
        "instance": instances[trace.instance],
        "solver": solvers[trace.solver],
        "once": trace.once,
        **{name: place for name, place in places.items() if place is not None},
    }


def _bands(
    findings: Findings,
    traces: dict[str, _Trace],
    curves: list[str],
    instances: dict[str, int],
    solvers: dict[str, int],
    pool: Pool,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the bands, each with what its members did after it ended; and the regimes of seeds."""
    given = findings.bands
    points = dict(iter(given.points.groupby("band", sort=False)))
    members = dict(iter(given.members.groupby("band", sort=False)))
    place_of = {run: i for i, run in enumerate(curves)}
    found: list[dict[str, Any]] = []
    regimes: dict[str, set[int]] = {}
    for number, row in enumerate(selection.records(given.bands)):
        grid, mine = points[number], members[number]
        here = {instances[traces[run].instance] for run in mine["run_id"]}
        seeds = row["over"] == "seeds"
        if not seeds and grid["low"].equals(grid["high"]) and mine["stopped"].nunique() == 1:
            continue  # the curve of any of them says the same
        if seeds:
            regimes.setdefault(row["place"], set()).update(here)
        kept = ("axis", "measure", "of", "members", "ends", "end")
        found.append(
            {name: row[name] for name in kept}
            | {"solver": solvers[row["solver_label"]], "end": short(row["end"])}
            | ({"regime": row["place"]} if seeds else {"instance": min(here)})
            | {
                name: pool.place(grid[name].tolist(), BAND_DIGITS)
                for name in ("at", "low", "median", "high")
            }
            | {"covers": [place_of[run] for run in mine["run_id"] if run in place_of]}
            | {
                "tails": [
                    {"curve": place_of[run]} if run in place_of else _tail(traces[run], row, pool)
                    for run, stopped in zip(mine["run_id"], mine["stopped"], strict=True)
                    if stopped > row["end"]
                ]
            }
        )
    named = [{"label": name, "instances": sorted(places)} for name, places in regimes.items()]
    for band in found:
        if "regime" in band:
            band["regime"] = list(regimes).index(band["regime"])
    return found, named


def _tail(trace: _Trace, band: dict[str, Any], pool: Pool) -> dict[str, Any]:
    """Return what a run did after its band ended, from its last checkpoint within on."""
    x, y = trace.columns[band["axis"]], trace.columns[band["measure"]]
    after = slice(max(int(np.searchsorted(x, band["end"], side="right")) - 1, 0), None)
    return {"x": pool.place(x[after]), "y": pool.place(y[after])}


# -- growth ----------------------------------------------------------------------------------------


def _growth(findings: Findings, solvers: dict[str, int]) -> list[dict[str, Any]]:
    """Return seconds and steps against each size: a line through medians, and all points."""
    exponents = {
        (row["regime"], row["against"], row["solver_label"], row["quantity"]): row
        for row in selection.records(findings.growth)
    }
    found = []
    names = ("regime", "against", "solver_label")
    middles = dict(selection.grouped(selection.records(medians(findings.sizes)), *names))
    rows = selection.records(findings.sizes)
    for (name, against), mine in selection.grouped(rows, "regime", "against"):
        lines = []
        for (label,), points in selection.grouped(mine, "solver_label"):
            key = (name, against, label)
            lines.append(
                {
                    "solver": solvers[label],
                    **_through(middles[key]),
                    "points": _through(points) if len(points) > len(middles[key]) else None,
                    "exponents": {
                        quantity: words.exponent(exponents[*key, quantity])
                        for quantity in ("seconds", "steps")
                        if (*key, quantity) in exponents
                    },
                }
            )
        found.append({"regime": name, "against": against, "lines": lines})
    return found


def _through(points: list[selection.Row]) -> dict[str, Any]:
    return {
        name: [short(point[column]) for point in points]
        for name, column in (("sizes", "size"), ("seconds", "seconds"), ("steps", "steps"))
    }


# -- profiles --------------------------------------------------------------------------------------


def _profiles(
    profiles: Profiles | None, solvers: dict[str, int], pool: Pool
) -> list[dict[str, Any]]:
    """Return the contests with their profiles: sorted thresholds, those never passed left out."""
    if profiles is None:
        return []
    found = []
    steps = dict(iter(profiles.steps.groupby("contest", sort=False)))
    for number, contest in enumerate(profiles.contests):
        if number not in steps:
            continue
        keys = ["profile", "target", "solver"]
        parts = list(steps[number].groupby(keys, sort=False))
        count = len(contest.places)
        kept = _kept(count)
        found.append(
            {
                "variant": contest.variant,
                "cost": contest.cost,
                "solvers": list(contest.solvers),
                "looks": [solvers[label] for label in contest.labels],
                "instances": count,
                "excluded": len(contest.excluded),
                "shares": pool.place((kept + 1) / count),
                "targets": sorted(
                    {float(target) for target in steps[number]["target"]}, reverse=True
                ),
                "steps": [
                    {
                        "profile": profile,
                        "target": target,
                        "solver": contest.solvers.index(solver),
                        **_ends(part, kept, pool),
                    }
                    for (profile, target, solver), part in parts
                ],
                "duels": _duels(contest, profiles.efforts, kept, pool),
            }
        )
    return found


def _kept(count: int) -> NDArray[np.int64]:
    """Return which steps of a profile are drawn: all, or evenly spread with the last."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_STEPS)).round().astype(int))


def _duels(
    contest: Contest, efforts: pd.DataFrame, kept: NDArray[np.int64], pool: Pool
) -> list[dict[str, Any]]:
    """Return the profiles of each two solvers alone; none where a page would not hold them."""
    if not 2 < len(contest.solvers) <= MOST_DUELLISTS or contest.cost == "total":
        return []
    return [
        {
            "a": duel.a,
            "b": duel.b,
            "target": duel.target,
            **{
                end: [pool.place(column[np.isfinite(column)]) for column in columns[kept].T]
                for end, columns in (("low", duel.low), ("high", duel.high))
            },
        }
        for duel in duels(contest, efforts)
    ]


def _ends(part: pd.DataFrame, kept: NDArray[np.int64], pool: Pool) -> dict[str, int]:
    ends = {name: part[name].to_numpy(dtype=float)[kept] for name in ENDS}
    places = {
        name: pool.place(column[np.isfinite(column)])
        for name, column in ends.items()
        if np.isfinite(column).any()
    }
    return {name: place for name, place in places.items() if place is not None}
