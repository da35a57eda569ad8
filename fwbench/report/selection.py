"""Which rows a report shows and in what order. Selects, sorts and counts; computes nothing."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fwbench.analysis.alike import usual
from fwbench.analysis.findings import Findings, Picture
from fwbench.report.words import MEASURES, NONE, missing, text
from fwbench.trace import Status, failed

Row = dict[str, Any]

FAILED = tuple(str(status) for status in Status if status.is_failure)
STATUSES = (
    *FAILED,
    "interrupted",
    "timeout",
    "stalled",
    "budget",
    "finished",
    "converged",
    "skipped",
)
CURVE_ROWS = 400
COLUMNS = ("k", "seconds", "lmo", "suboptimality", "gap", "gap_current")


@dataclass(frozen=True, eq=False)
class Curve:
    """One run's trace, ready to be drawn.

    Attributes
    ----------
    columns : dict of str to list
        The columns ``COLUMNS``, null as None, at most ``CURVE_ROWS`` entries each.
    once : bool
        The method has no path: only rows k = 0 and 1.
    rows : int
        Rows of the trace, before thinning.
    """

    instance: str
    solver: str
    status: str
    columns: dict[str, list[float | None]]
    once: bool
    rows: int


def title(manifest: Row) -> str:
    """Return the report's name: that of the folders, of several, or of the suite, of one."""
    if folders := manifest.get("folders"):
        return f"fwbench report: {' beside '.join(folder['name'] for folder in folders)}"
    suite = manifest.get("suite")
    return f"fwbench report: {suite}" if suite else "fwbench report"


def facts(manifest: Row) -> list[tuple[str, str]]:
    """Return what made the report, in the order to be read: date, code, machine, libraries."""
    machine = manifest.get("machine") or {}
    git = manifest.get("git") or {}
    revision = text(git.get("revision"))[:12] + (" with changes" if git.get("dirty") else "")
    listed = {
        "made": str(manifest.get("created") or "").replace("T", " "),
        "revision": revision if git.get("revision") else None,
        "seeds": manifest.get("seeds"),
        **{
            name: machine[name]
            for name in ("cpu", "cores", "threads", "blas", "load")
            if name in machine
        },
        "python": manifest.get("python"),
        **(manifest.get("versions") or {}),
    }
    return [(name, shown) for name, value in listed.items() if (shown := text(value)) != NONE]


def records(frame: pd.DataFrame) -> list[Row]:
    """Return the rows as plain Python values, every kind of null as None."""
    return [
        {str(name): None if missing(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def solvers(findings: Findings) -> list[str]:
    """Return all solver labels that may be drawn, sorted."""
    drawn = {label for picture in findings.pictures for label, _ in picture.paths}
    drawn |= {basins.solver for atlas in findings.atlases for basins in atlas.basins}
    return sorted(drawn.union(findings.runs["solver_label"], findings.sizes["solver_label"]))


def instances(findings: Findings) -> dict[str, Row]:
    """Return the first run of each instance, in the order of the runs, by canonical name."""
    return {row["instance"]: row for row in records(findings.runs.drop_duplicates("instance"))}


def runs(findings: Findings) -> list[Row]:
    """Return all runs, failures first; within a status in the order that they came."""
    rank = {status: i for i, status in enumerate(STATUSES)}
    return sorted(records(findings.runs), key=lambda row: rank.get(row["status"], len(rank)))


def failures(findings: Findings) -> list[Row]:
    """Return the failed runs, worst status first."""
    return [row for row in runs(findings) if failed(row["status"], row["signal"])]


def statuses(findings: Findings) -> list[tuple[str, int]]:
    """Return how many runs ended in each status, failures first."""
    return list(Counter(row["status"] for row in runs(findings)).items())


def skipped(findings: Findings) -> list[tuple[str, int]]:
    """Return the reasons why runs were skipped and how often, the commonest first."""
    reasons = (text(row["reason"]) for row in runs(findings) if row["status"] == "skipped")
    return Counter(reasons).most_common()


def all_winners(findings: Findings) -> list[Row]:
    """Return every row of the winners, with `tightest`: the one to show first.

    That is, for each instance and measure, the smallest target that anybody reached; where
    nobody reached one, the largest.
    """
    rows = records(findings.winners)
    contests = grouped(rows, "instance", "instance_label", "measure")
    tightest = {id(min(group, key=_tightness)) for _, group in contests}
    return [{**row, "tightest": id(row) in tightest} for row in rows]


def _tightness(row: Row) -> tuple[bool, float]:
    nobody = row["solver_label"] is None
    return nobody, -row["target"] if nobody else row["target"]


def winners(findings: Findings) -> list[Row]:
    """Return who won where: one row an instance and measure, at the tightest target reached."""
    return [row for row in all_winners(findings) if row["tightest"]]


def curves(findings: Findings) -> list[Curve]:
    """Return the traces of all runs that left one, in the order of the runs.

    Of repetitions the first: the others took the same steps. Where an instance was timed on several
    machines, the curves of one alone have seconds: of that with most runs.
    """
    traces = {str(run): rows for run, rows in findings.trace.groupby("run_id", sort=False)}
    return [
        _curve(row, traces[row["run_id"]].sort_values("k", kind="stable"), timed)
        for row, timed in zip(records(findings.runs), usual(findings.runs), strict=True)
        if row["run_id"] in traces and not row["repetition"]
    ]


def _curve(run: Row, trace: pd.DataFrame, timed: bool) -> Curve:
    kept = trace.iloc[thinned(len(trace))]
    columns = {
        name: [None if missing(value) else float(value) for value in kept[name]] for name in COLUMNS
    }
    if not timed:
        columns["seconds"] = [None] * len(kept)
    once = bool((trace["k"] <= 1).all())
    return Curve(run["instance"], run["solver_label"], run["status"], columns, once, len(trace))


def thinned(rows: int) -> list[int]:
    """Return at most CURVE_ROWS row numbers, from 0: all, or evenly spread on a log axis."""
    if rows <= CURVE_ROWS:
        return list(range(rows))
    spread = np.unique(np.geomspace(1, rows, CURVE_ROWS).round().astype(int)) - 1
    return [int(i) for i in spread]


def measures(some: Iterable[Curve]) -> list[str]:
    """Return the measures of which the curves have a value that a log axis can show."""
    some = list(some)
    return [
        name
        for name in MEASURES
        if any(y is not None and 0 < y < np.inf for curve in some for y in curve.columns[name])
    ]


def rests(findings: Findings) -> list[Row]:
    """Return where each run came to rest: its queries' fixed points, alike ones on one row."""
    names = {row["run_id"]: row for row in records(findings.runs)}
    groups = grouped(records(findings.fixed_points), "run_id", "class", "certified")
    return [
        {
            "run": names[run_id],
            "class": group,
            "certified": certified,
            "queries": len(rows),
            "labels": _listed(text(row["label"]) for row in rows),
            "support": span(rows, "support"),
            "value": span(rows, "value"),
            "gap": span(rows, "gap"),
        }
        for (run_id, group, certified), rows in groups
    ]


def _listed(labels: Iterable[str], shown: int = 6) -> str:
    counts = Counter(label for label in labels if label != NONE)
    parts = [f"{name} ({n} queries)" if n > 1 else name for name, n in counts.items()]
    rest = [f"and {len(parts) - shown} more"] if len(parts) > shown else []
    return ", ".join(parts[:shown] + rest) or NONE


def rates(findings: Findings) -> list[Row]:
    """Return the runs that have a rate class, instance by instance."""
    order = {name: i for i, name in enumerate(instances(findings))}
    rows = [row for row in records(findings.runs) if row["rate_class"] is not None]
    return sorted(rows, key=lambda row: order[row["instance"]])


def grouped(rows: Iterable[Row], *columns: str) -> list[tuple[tuple[Any, ...], list[Row]]]:
    """Return the rows in groups that are alike in the columns, groups in the order they came."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in columns), []).append(row)
    return list(groups.items())


def span(rows: Iterable[Row], column: str) -> tuple[Any, Any]:
    """Return the least and the largest entry of a column, (None, None) where all are null."""
    values = [row[column] for row in rows if row[column] is not None]
    return (min(values), max(values)) if values else (None, None)


@dataclass(frozen=True)
class Agreement:
    """Which solvers rest at the same points, on one instance.

    Attributes
    ----------
    cells : dict
        The row of each ordered pair of solvers, both orders.
    apart : list
        The rows of pairs that differ on some start, farthest first.
    """

    label: str
    solvers: list[str]
    cells: dict[tuple[str, str], Row]
    pairs: int
    apart: list[Row]


def agreements(findings: Findings) -> list[Agreement]:
    """Return the comparison of fixed points in x, instance by instance."""
    found = []
    for _, frame in findings.agreement.groupby("instance", sort=False):
        rows = records(frame)
        names = dict.fromkeys(name for row in rows for name in (row["solver_a"], row["solver_b"]))
        cells = {(row["solver_a"], row["solver_b"]): row for row in rows}
        cells |= {(b, a): row for (a, b), row in cells.items()}
        apart = [row for row in rows if row["same"] is not None and row["same"] < row["starts"]]
        apart.sort(key=lambda row: -(row["distance"] or 0.0))
        found.append(Agreement(rows[0]["instance_label"], list(names), cells, len(rows), apart))
    return found


# -- ratios --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Race:
    """One instance and certified gap: who was first, and a row a solver.

    Attributes
    ----------
    ours, theirs : dict or None
        The row of the suite's own best, and of the best foreign code; None where nobody came there.
    rows : dict
        By solver label.
    """

    instance: str
    label: str
    target: float
    ours: Row | None
    theirs: Row | None
    rows: dict[str, Row]


def has_ratios(findings: Findings) -> bool:
    """Say whether ratios have a place in the report: two foreign codes ran, or several sizes."""
    foreign = {row["library"] for row in records(findings.races)} - {None}
    return len(foreign) > 1 or len(findings.growth) > 0


def races(findings: Findings) -> list[Race]:
    """Return the races, instance by instance, loosest gap first."""
    found = []
    groups = grouped(records(findings.races), "instance", "instance_label", "target")
    for (instance, label, target), rows in groups:
        first = {row["library"] is None: row for row in rows if row["first"]}
        named = {row["solver_label"]: row for row in rows}
        found.append(Race(instance, label, target, first.get(True), first.get(False), named))
    return found


def racers(findings: Findings, *, foreign: bool) -> list[str]:
    """Return the foreign codes, or the suite's own solvers, in the order that they came."""
    rows = records(findings.races)
    labels = (row["solver_label"] for row in rows if (row["library"] is not None) == foreign)
    return list(dict.fromkeys(labels))


def unanswered(findings: Findings) -> list[Row]:
    """Return the runs of foreign codes that did not come to the gap they were asked for.

    What a run was asked for stands in the plan; of one that is in none it is not known.
    """
    return [
        row
        for row in runs(findings)
        if row["library"] is not None
        and row["tol"] is not None
        and not (row["gap_relative"] is not None and row["gap_relative"] <= row["tol"])
    ]


@dataclass(frozen=True)
class Growth:
    """How one solver's seconds and steps (a foreign code has none) grow with one size."""

    regime: str
    against: str
    label: str
    seconds: Row
    steps: Row | None


def growths(findings: Findings) -> list[Growth]:
    """Return the fitted exponents, regime by regime."""
    found = []
    groups = grouped(records(findings.growth), "regime", "against", "solver_label")
    for (regime, against, label), rows in groups:
        fits = {row["quantity"]: row for row in rows}
        found.append(Growth(regime, against, label, fits["seconds"], fits.get("steps")))
    return found


@dataclass(frozen=True)
class Regime:
    """Seconds with set-up against one size, a line a solver."""

    name: str
    against: str
    lines: dict[str, list[tuple[int, float]]]


def regimes(findings: Findings) -> list[Regime]:
    """Return what grows with n or d, sizes in order, what is missing left out."""
    found = []
    for (name, against), rows in grouped(records(findings.sizes), "regime", "against"):
        known = [row for row in rows if row["seconds"] is not None]
        lines = {
            label: sorted((row["size"], row["seconds"]) for row in mine)
            for (label,), mine in grouped(known, "solver_label")
        }
        found.append(Regime(name, against, lines))
    return found


def window(picture: Picture) -> list[tuple[float, float]]:
    """Return from where to where a picture reaches, (left, right) and (bottom, top).

    The hull and a rim; up to half a hull more where paths leave it, however far they go.
    """
    low, high = picture.hull.min(axis=0), picture.hull.max(axis=0)
    wide = np.maximum(high - low, 1e-12 * np.abs(picture.hull).max())
    points = [points.reshape(-1, 2) for _, points in picture.paths] or [picture.hull]
    seen = np.vstack(points)
    seen = np.clip(seen[np.isfinite(seen).all(axis=1)], low - wide / 2, high + wide / 2)
    lowest = np.minimum(low, seen.min(axis=0, initial=np.inf))
    highest = np.maximum(high, seen.max(axis=0, initial=-np.inf))
    rim = 0.08 * np.maximum(highest - lowest, wide)
    sides = zip(lowest - rim, highest + rim, strict=True)
    return [(float(from_), float(to)) for from_, to in sides]


def leaders(picture: Picture) -> list[int]:
    """Return the keys that lead somewhere in the picture, in order around the hull."""
    keys = np.unique(picture.cells[picture.cells >= 0])
    arms = picture.atoms[keys] - picture.hull.mean(axis=0)
    return [int(key) for key in keys[np.argsort(np.arctan2(arms[:, 1], arms[:, 0]), kind="stable")]]
