"""What was found, as Markdown: who won, rates, growth, profiles, fixed points; sentences first."""

from __future__ import annotations

from collections.abc import Iterable

from fwbench.analysis.findings import Findings
from fwbench.report import growing, profile_tables, rates, resting, standings
from fwbench.report.markdown import code, prose, table
from fwbench.report.sentences import Said

MOST = 8  # sentences of one kind
ALL = "All stand in report.html."


def line(said: Said) -> str:
    r"""Write a sentence so that nothing in it is markup.

    Examples
    --------
    >>> from fwbench.report.sentences import Part
    >>> print(line([Part("<b>", "solver"), Part(" was first on 2*3.")]))
    `<b>` was first on 2\*3.
    """
    return "".join(code(part.text) if part.role else _text(part.text) for part in said)


def _text(text: str) -> str:
    """Escape a piece of a sentence; the blanks at its ends stay."""
    inner = text.strip()
    if not inner:
        return text
    start = text.index(inner)
    return text[:start] + prose(inner) + text[start + len(inner) :]


def _listed(said: Iterable[Said], most: int = MOST) -> str:
    sentences = [*said]
    more = [f"- {len(sentences) - most} more in report.html"] if len(sentences) > most else []
    return "\n".join([f"- {line(one)}" for one in sentences[:most]] + more)


def won(findings: Findings) -> list[str]:
    """Return who won: a few sentences, and a row a solver."""
    rows = standings.table(findings)
    if not rows:
        return ["Nothing that could be compared was run."]
    shown = [
        [code(row["solver"]), *(prose(text) for text, _ in row["cells"])]
        for row in rows[: standings.SHOWN]
    ]
    rest = len(rows) - standings.SHOWN
    more = f"{rest} more in report.html. " if rest > 0 else ""
    return [
        " ".join(line(one) for one in standings.headline(findings)),
        table([*standings.HEAD], shown),
        more + prose(standings.note(findings)),
    ]


def decays(findings: Findings) -> list[str]:
    """Return the rates: a sentence a solver, and a row a regime that has an interval."""
    said = rates.sentences(findings)
    if not said:
        return ["No trace was long enough for a rate."]
    head = [
        "regime",
        "solver",
        "rate",
        "95 % interval",
        "seeds",
        "read off",
        "promised",
        "measured",
    ]
    rows = [
        [
            code(row["regime"]),
            code(row["solver_label"]),
            prose(row["shown"]),
            prose(row["interval_shown"]),
            prose(row["counts"]),
            prose(row["signal"]),
            prose(row["promise"]),
            prose(row["told"]),
        ]
        for row in rates.rows(findings)
        if row["rate_low"] is not None
    ]
    shown = table(head, rows[: 4 * MOST]) if rows else ""
    return [_listed(said), shown, f"{prose(rates.NOTE)} {ALL}"]


def growth(findings: Findings) -> list[str]:
    """Return how seconds and steps grow with sizes."""
    return [_listed(growing.sentences(findings))]


def profiles(findings: Findings) -> list[str]:
    """Return the means of the largest contests, and where leaving one solver out turns an order."""
    if findings.profiles is None or not findings.profiles.contests:
        return []
    found = [profile_tables.headline(findings.profiles), profile_tables.warnings(findings.profiles)]
    blocks = [_listed(found[0])]
    for variant in profile_tables.VARIANTS:
        some = [
            one
            for one in profile_tables.contests(findings.profiles)
            if one["variant"] == variant and one["cost"] == "seconds" and one["targets"]
        ]
        for contest in some[:1]:
            shifts = zip(contest["heads"], contest["shifts"], strict=True)
            head = ["solver", *(f"{name} (shift {shift})" for name, shift in shifts)]
            cells = [
                [code(row["solver"]), *(prose(_cell(cell)) for cell in row["cells"])]
                for row in contest["rows"]
            ]
            left = f"; {len(contest['excluded'])} left out" if contest["excluded"] else ""
            blocks += [f"{prose(contest['title'])}{left}:", table(head, cells)]
    if found[1]:
        blocks += ["Leaving a solver out reverses others:", _listed(found[1])]
    return [*blocks, prose(profile_tables.NOTE)]


def _cell(cell: profile_tables.Row) -> str:
    return "; ".join(cell[name] for name in ("text", "missed", "grid") if cell[name])


def rests(findings: Findings) -> list[str]:
    """Return where solvers rest apart, over all instances and on each where they do."""
    found = resting.sections(findings)
    if not found:
        return []
    said = [resting.parts(one) for one in resting.summary(findings)]
    none = "No two solvers rest at different points from the same start."
    lines = []
    for one in [section for section in found if section.parted][:MOST]:
        sentences = " ".join(line(resting.parts(some)) for some in one.sentences[:2])
        lines.append(f"- {code(one.label)}: {sentences}")
    parted = sum(one.parted for one in found)
    if parted > MOST:
        lines.append(f"- {parted - MOST} instances more in report.html")
    lines.append(f"- on {len(found) - parted} of {len(found)} instances no two solvers part")
    return [_listed(said) or none, "Instance by instance:", "\n".join(lines)]
