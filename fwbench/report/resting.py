"""Where solvers rest, in words: sentences that count, a row a point, who rests where others do.

Texts are neither Markdown nor HTML. Names of solvers stand apart from them, for they are untrusted:
whoever prints a sentence writes the names as code, joined by "and", and the text behind them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from fwbench.analysis.findings import Findings
from fwbench.analysis.meetings import LOWER, overall
from fwbench.report import selection
from fwbench.report.sentences import Part, Said
from fwbench.report.sentences import solvers as named
from fwbench.report.words import NONE, count, missing, number, percent

Row = dict[Any, Any]

MOST = 5  # sentences an instance
PAIRS = 2  # of these, about pairs
FEW = 10  # starts: a percentage of fewer says more than is known
PLACES = 12  # rows of points an instance
SUMMED = 8  # sentences over all instances
OPEN = 4  # instances whose part is open from the start, of those on which solvers part
COLUMNS = ("point", "where", "rests", "solvers", "value", "above the best", "pushed", "near starts")


class Sentence(NamedTuple):
    """Names of solvers (none: the text stands alone), and what is said of them."""

    solvers: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Matrix:
    """Solver × solver: from how many starts two rest at the same point.

    Attributes
    ----------
    solvers : list of str
    cells : dict
        By ordered pair, both orders: a row of meetings, without the pairs that were not compared.
    """

    solvers: list[str]
    cells: dict[tuple[str, str], Row]

    def cell(self, a: str, b: str) -> str:
        """Return how many starts end at the same point, of those from which both rest."""
        row = self.cells.get((a, b))
        return NONE if row is None else same(row)

    def look(self, a: str, b: str) -> str:
        """Return the class of a cell: same, partly, apart, or own where there is nothing to say."""
        row = self.cells.get((a, b))
        if row is None or not row["resting"]:
            return "own"
        if row["same"] == row["resting"]:
            return "same"
        return "apart" if row["apart"] == row["resting"] else "partly"

    def hint(self, a: str, b: str) -> str:
        """Return what stands behind a cell, where that is more than it says; else nothing."""
        row = self.cells.get((a, b))
        if row is None or not (row["apart"] or row["near"] or row["resting"] < row["starts"]):
            return ""
        far = row.get("distance")
        away = "" if missing(far) else f"; farthest {number(far)} of the radius apart"
        both = f"both rest on {count(row['resting'])} of {count(row['starts'])} starts"
        shared: Any = row.get("overlap")
        atoms = "" if missing(shared) else f"; {percent(shared)} of the atoms in use are shared"
        return f"{both}{away}{atoms}{_lower(row)}"


@dataclass(frozen=True)
class Section:
    """What is said of one instance.

    Attributes
    ----------
    instance, label, kind : str
        Canonical name, the short one, and the kind of problem.
    sentences : list of Sentence
        The most telling first.
    more : int
        How many were left out.
    places : list of tuple of str
        A row a point, as `COLUMNS` says, the one at which most rest first.
    hidden : int
        Points that were left out.
    matrix : Matrix
    """

    instance: str
    label: str
    kind: str
    sentences: list[Sentence]
    more: int
    places: list[tuple[str, ...]]
    hidden: int
    matrix: Matrix

    @property
    def parted(self) -> bool:
        """Whether two solvers rest at different points from some start."""
        return any(row["apart"] and not row["lone"] for row in self.matrix.cells.values())


def same(row: Row) -> str:
    """Say how many of two solvers' rests are the same point.

    Examples
    --------
    >>> same({"resting": 12, "starts": 12, "same": 8, "near": 0})
    '8/12'
    >>> same({"resting": 6, "starts": 12, "same": 5, "near": 1}), same({"resting": 0, "starts": 3})
    ('5/6 (1 near)', '–')
    """
    if not row["resting"]:
        return NONE
    near = f" ({count(row['near'])} near)" if row["near"] else ""
    return f"{count(row['same'])}/{count(row['resting'])}{near}"


def starts(some: int, of: int) -> str:
    """Say on how many starts, as a share only where there are enough of them.

    Examples
    --------
    >>> starts(4, 12), starts(1, 2), starts(12, 12), starts(1, 1)
    ('on 33 % of 12 starts', 'on 1 of 2 starts', 'on all 12 starts', 'from the only start')
    """
    if of == 1:
        return "from the only start" if some else "not from the only start"
    if some in (0, of):
        return f"on all {count(of)} starts" if some else f"on none of {count(of)} starts"
    share = percent(some / of) if of >= FEW else f"{some}"
    return f"on {share} of {count(of)} starts"


def matrix(met: pd.DataFrame) -> Matrix:
    """Return the meetings of one instance, or their sums over all, as a square."""
    cells = {(row["solver_a"], row["solver_b"]): row for row in met.to_dict("records")}
    names = dict.fromkeys(name for pair in cells for name in pair)
    return Matrix([*names], cells | {(b, a): row for (a, b), row in cells.items()})


def context(findings: Findings) -> dict[str, Any]:
    """Return what the template of fixed points shows."""
    said = summary(findings)
    found = sections(findings)
    parted = [one.instance for one in found if one.parted][:OPEN]
    return {
        "points_said": [parts(one) for one in said[:SUMMED]],
        "points_more": max(0, len(said) - SUMMED),
        "points_matrix": altogether(findings),
        "points_sections": found,
        "points_parts": parts,
        "points_open": set(parted),
        "points_columns": COLUMNS,
        "points_rests": selection.rests(findings),
    }


def parts(sentence: Sentence) -> Said:
    """Return a sentence in parts, to be written like all others."""
    if not sentence.solvers:
        return [Part(f"{sentence.text[:1].upper()}{sentence.text[1:]}.")]
    return [*named(sentence.solvers), Part(f" {sentence.text}.")]


def altogether(findings: Findings) -> Matrix:
    """Return the meetings of all instances, added up."""
    if findings.meetings.empty:
        return Matrix([], {})
    return matrix(overall(findings.meetings))


def summary(findings: Findings) -> list[Sentence]:
    """Say of each two solvers that differ somewhere how often, over all instances, most first."""
    if findings.meetings.empty:
        return []
    met = findings.meetings
    rows = overall(met[~met["lone"].astype(bool)]).to_dict("records")
    rows = [row for row in rows if row["apart"]]
    rows.sort(key=lambda row: -row["apart"] / row["starts"])
    return [  # counted over unlike instances: those of many starts weigh more
        Sentence(
            (row["solver_a"], row["solver_b"]),
            f"end at different points {starts(row['apart'], row['starts'])}"
            f"{_over(row['instances'])}{_both(row)}{_lower(row)}",
        )
        for row in rows
    ]


def sections(findings: Findings) -> list[Section]:
    """Return what is said of each instance, in the order in which they ran."""
    found = []
    if findings.rests.empty:
        return []
    for instance, rests in findings.rests.groupby("instance", sort=False):
        met, places = (
            frame[frame["instance"] == instance] if len(frame) else frame
            for frame in (findings.meetings, findings.places)
        )
        said = _sentences(rests.to_dict("records"), met.to_dict("records"))
        first = rests.iloc[0]
        found.append(
            Section(
                str(instance),
                first["instance_label"],
                first["kind"],
                said[:MOST],
                max(0, len(said) - MOST),
                [_place(row) for row in places.to_dict("records")[:PLACES]],
                max(0, len(places) - PLACES),
                matrix(met),
            )
        )
    return found


def _place(row: Row) -> tuple[str, ...]:
    standing = "" if missing(row["standing"]) else f" ({row['standing']})"
    pushed = [
        f"{count(row[name])} × {said}"
        for name, said in (("returned", "comes back"), ("left", "leaves"))
        if row[name]
    ]
    near = NONE
    if not missing(row["near"]):
        near = f"{count(row['leaving'])} of {count(row['near'])} leave" if row["near"] else "none"
    return (
        count(row["place"]),
        f"{row['class']}, {row['label']}",
        count(row["rests"]),
        count(row["solvers"]),
        number(row["value"]),
        number(row["above"]) + standing,
        ", ".join(pushed) or NONE,
        near,
    )


# -- sentences -----------------------------------------------------------------------------------


def _sentences(rests: list[Row], met: list[Row]) -> list[Sentence]:
    """Return all that there is to say of one instance, the most telling first."""
    runs: dict[str, list[Row]] = {}
    for row in rests:
        runs.setdefault(row["solver_label"], []).append(row)
    resting = [name for name, rows in runs.items() if any(row["certified"] for row in rows)]
    if not resting:
        return [Sentence((), "nobody is certified at rest")]
    lone = {
        name
        for row in met
        if row["lone"]
        for name in (row["solver_a"], row["solver_b"])
        if len(runs[name]) == 1
    }
    weighed = [*_different(runs, met), *_agreeing(runs, met)]
    for say, weight in ((_left, 0.95), (_local, 0.9), (_unrest, 0.2)):
        groups: dict[str, tuple[list[str], float]] = {}
        for name, rows in runs.items():
            share, one, many = say(rows, name in lone)
            if share:
                groups.setdefault(f"{one}\n{many}", ([], share))[0].append(name)
        for texts, (names, share) in groups.items():
            text = texts.split("\n")[len(names) > 1]
            weighed.append((weight * share, Sentence(tuple(names), text)))
    weighed.sort(key=lambda entry: -entry[0])
    return [sentence for _, sentence in weighed]


def _camps(runs: dict[str, list[Row]]) -> list[list[str]]:
    """Return the solvers in groups that rest at the same places from the same starts."""
    camps: dict[Any, list[str]] = {}
    for name, rows in runs.items():
        ends = tuple(-1 if missing(row["place"]) else int(row["place"]) for row in rows)
        known = any(end >= 0 for end in ends)
        camps.setdefault(ends if known else name, []).append(name)
    return [*camps.values()]


def _different(runs: dict[str, list[Row]], met: list[Row]) -> list[tuple[float, Sentence]]:
    """Say which solvers part, one of each camp for all of it, and who is in a camp."""
    camps, found = _camps(runs), []
    firsts = {camp[0] for camp in camps}
    pairs = [
        row
        for row in met
        if row["apart"] and not row["lone"] and {row["solver_a"], row["solver_b"]} <= firsts
    ]
    pairs.sort(key=lambda row: (-row["apart"], -row["distance"]))
    for row in pairs[:PAIRS]:
        where = "vertices" if row["vertices"] else "points"
        text = f"end at different {where} {starts(row['apart'], row['starts'])}"
        names = (row["solver_a"], row["solver_b"])
        sentence = Sentence(names, f"{text}{_both(row)}{_lower(row)}")
        found.append((1.0 + row["apart"] / row["starts"], sentence))
    for camp in camps if pairs else []:
        ends = [row["place"] for row in runs[camp[0]]]
        at_rest = sum(not missing(end) for end in ends)
        if len(camp) > 1 and at_rest:
            text = f"rest at the same points {starts(at_rest, len(ends))}"
            found.append((0.3 * at_rest / len(ends), Sentence(tuple(camp), text)))
    return found


def _agreeing(runs: dict[str, list[Row]], met: list[Row]) -> list[tuple[float, Sentence]]:
    """Say that nobody parts, where nobody does, and how close they are."""
    some = [row for row in met if row["resting"]]
    if any(row["apart"] for row in met):
        return []
    names = dict.fromkeys(itertools.chain(*((row["solver_a"], row["solver_b"]) for row in some)))
    if not names:
        at_rest = [name for name, rows in runs.items() if any(row["certified"] for row in rows)]
        if len(at_rest) > 1:
            return [(1.0, Sentence((), "no two solvers come to rest from the same start"))]
        return [(1.0, Sentence(tuple(at_rest), "alone is certified at rest"))]
    who = f"all {len(names)} solvers" if len(names) > 2 else "the two solvers"
    whole = all(row["resting"] == row["starts"] for row in some)
    text = f"{who} that come to rest agree"
    if not whole or max(row["starts"] for row in some) > 1:
        most = max(row["starts"] for row in some)
        text += f" on all {count(most)} starts" if whole else " from every start at which two do"
    if any(row["near"] for row in some):
        far = max(row["distance"] for row in some)
        text += f", as far as can be told: up to {number(far)} of the radius apart"
    return [(1.0, Sentence((), text))]


def _local(rows: list[Row], lone: bool) -> tuple[float, str, str]:
    """Say where a solver rests although a better point is known."""
    local = [row for row in rows if row["standing"] == "local"]
    if not local:
        return 0.0, "", ""
    best = "best vertex" if local[0]["kind"] == "concave" else "best point known"
    high = number(max(row["above"] for row in local))
    where = "whatever the start" if lone else starts(len(local), len(rows))
    text = f"at points that are only local {where}, up to {high} of the scale above the {best}"
    return len(local) / len(rows), f"rests {text}", f"rest {text}"


def _left(rows: list[Row], lone: bool) -> tuple[float, str, str]:
    """Say where a small push leads away from a rest."""
    left = sum(row["stable"] is False for row in rows)
    where = "whatever the start" if lone else starts(left, len(rows))
    text = f"for good after a small push, {where}: its rest there is unstable"
    more = f"for good after a small push, {where}: their rest there is unstable"
    return left / len(rows), f"leaves {text}", f"leave {more}"


def _unrest(rows: list[Row], lone: bool) -> tuple[float, str, str]:
    """Say from where a solver comes to rest, if not from everywhere."""
    resting = sum(row["certified"] for row in rows)
    text = "not certified at rest" if lone or len(rows) == 1 else "nowhere certified at rest"
    if resting:
        text = f"certified at rest {starts(resting, len(rows))} only"
    return 1 - resting / len(rows), f"is {text}", f"are {text}"


def _both(row: Row) -> str:
    if row["resting"] == row["starts"]:
        return ""
    return f"; both rest on {count(row['resting'])}"


def _lower(row: Row) -> str:
    """Say whose value is the lower one where two part."""
    lower = [
        f"the {which} is lower on {count(row[name])}"
        for which, name in (("first", "lower_a"), ("second", "lower_b"))
        if row[name]
    ]
    if lower:
        return f"; {', '.join(lower)} of these"
    apart: Any = row.get("value_apart")
    return "; their values are equal" if not missing(apart) and apart <= LOWER else ""


def _over(instances: int) -> str:
    return " of one instance" if instances == 1 else f" over {count(instances)} instances"
