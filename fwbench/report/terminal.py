"""What stands on the terminal when a session ends: who won where, what failed and why."""

from typing import Any

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.text import Text

from fwbench.analysis.findings import Findings
from fwbench.report import claims, selection, standings, words
from fwbench.report.grid import GAP, Grid, Paragraph, fitted, row
from fwbench.report.sentences import Said
from fwbench.theory.verdicts import Record

SHOWN_FAILURES = 12
LONG_NAME = 36
NARROW = 110  # columns: with fewer, six columns of words can't be read
_TONES = {"converged": "green", "finished": "green", "stalled": "yellow", "interrupted": "yellow"}
_STANDINGS = {
    "first": "first",
    "of these sure": "sure",
    "alone": "alone",
    "solved": "solved",
    "times the best": "× best",
    "median lead": "lead",
    "failed runs": "failed",
}
_SHORT = {"suboptimality": "subopt.", "gap": "gap", "gap_current": "gap now"}


def terminal_summary(findings: Findings) -> RenderableType:
    """Return the end of ``fwbench run``, to be printed by a rich console.

    Names are given as text, never as rich's markup. A console that writes to a log prints it plain.
    """
    parts: list[RenderableType] = []
    if won := standings.won(findings):
        parts += [Text("Who won", style="bold"), *map(_said, won), _standings(findings), Text()]
    parts += [Text("Who won where", style="bold"), _winners(findings)]
    tally = Text(f"{len(findings.runs)} {'run' if len(findings.runs) == 1 else 'runs'}:")
    for status, n in selection.statuses(findings):
        tally.append(f"  {n} ").append(status, style=_tone(status))
    parts += [Text(), tally]
    failed = selection.failures(findings)
    if failed:
        parts += [Text(), Text("What failed", style="bold")]
        parts += map(_failure, failed[:SHOWN_FAILURES])
        if len(failed) > SHOWN_FAILURES:
            parts.append(Text(f"  … and {len(failed) - SHOWN_FAILURES} more in runs.parquet"))
    elif len(findings.runs):
        left = dict(selection.statuses(findings)).get("interrupted", 0)
        missing = f" {left} of {len(findings.runs)} runs are still to be made." if left else ""
        parts.append(Text(f"No run failed.{missing}", style="yellow" if left else "green"))
    if findings.claims is not None:
        parts += [Text(), Text("Claims", style="bold"), *_conclusion(findings.claims)]
    skipped = selection.skipped(findings)
    if skipped:
        parts += [Text(), Text("Skipped", style="bold")]
        parts += [Text(f"  {n:>3} × {reason}", style="dim") for reason, n in skipped]
    return Group(*map(_broken, parts))


def _broken(part: RenderableType) -> RenderableType:
    return Paragraph(part) if isinstance(part, Text) and part.plain else part


def verdicts(document: dict[str, Any], width: int) -> RenderableType:
    """Return the end of ``fwbench verify`` for a terminal of so many columns; nothing is cut.

    Parameters
    ----------
    document : dict
        As `fwbench.theory.verdicts.document` makes it.
    width : int
    """
    records = document["claims"]
    shown = [_facts(record) for record in records]
    if width < NARROW:
        parts: list[RenderableType] = []
        for record, facts in zip(records, shown, strict=True):
            parts.append(_lined(Text(record["name"], style="bold"), width))
            named = zip(claims.HEAD[1:], facts[1:], strict=True)
            parts += [_named(head, fact, width) for head, fact in named if fact.plain]
    else:
        widths = _widths([[fact.plain for fact in facts] for facts in shown], width)
        parts = [row([Text(head, "dim") for head in claims.HEAD], widths)] if records else []
        parts += [Text("─" * width, "dim")] if records else []
        section = None
        for record, facts in zip(records, shown, strict=True):
            if record["section"] != section:
                section = record["section"]
                parts.append(Text(claims.SECTIONS.get(section, f"Section {section}"), "bold"))
            parts.append(row(facts, widths))
    note = claims.cited(records)
    ends = [*([Text(note, "dim")] if note else []), *_conclusion(document)]
    return Group(*parts, Text(), *(_lined(end, width) for end in ends))


def _facts(record: Record) -> list[Text]:
    tone = "" if record["as_expected"] else "bold red"
    return [
        Text(record["name"]),
        Text(claims.source(record)),
        Text(record["standing"]),
        Text(claims.expected(record), style=tone),
        Text(record["witness"]),
        Text(claims.numbers(record["numbers"], claims.SHOWN_NUMBERS)),
    ]


def _widths(rows: list[list[str]], width: int) -> list[int]:
    """Share a line among the columns: what is short gets what it needs, the rest equal parts."""
    needed = [max(map(cell_len, column)) for column in zip(claims.HEAD, *rows, strict=True)]
    needed[0] = min(needed[0], LONG_NAME)
    left, widths = width - len(GAP) * (len(needed) - 1), [0] * len(needed)
    order = sorted(range(len(needed)), key=lambda i: (i > 0, needed[i]))  # the name before all
    for done, i in enumerate(order):
        widths[i] = min(needed[i], left if i == 0 else left // (len(order) - done))
        left -= widths[i]
    return widths


def _lined(text: Text, width: int) -> Text:
    """Break a text of one style into lines; an indent of its first one stays."""
    indent = text.plain[: len(text.plain) - len(text.plain.lstrip())]
    lines = fitted(text.plain, max(width - len(indent), 1))
    return Text("\n".join(indent + line for line in lines), text.style)


def _named(head: str, fact: Text, width: int) -> Text:
    lines = fitted(f"{head}: {fact.plain}", max(width - 2, 1))
    shown = Text("\n".join(f"  {line}" for line in lines), fact.style)
    shown.stylize("dim", 2, 3 + len(head))
    return shown


def _conclusion(document: dict[str, Any]) -> list[Text]:
    found = claims.surprises(document["claims"])
    tone = "bold red" if found else "green"
    told = [Text(f"  {name}: {text}", style="bold red") for name, text in found]
    return [*told, Text(claims.conclusion(document), style=tone)]


def _tone(status: str) -> str:
    return "bold red" if status in selection.FAILED else _TONES.get(status, "dim")


def _winners(findings: Findings) -> RenderableType:
    rows = selection.winners(findings)
    if not rows:
        return Text("No run came to any target.")
    shown = []
    for place in rows:
        label = place["solver_label"]
        shown.append(
            [
                Text(place["instance_label"]),
                Text("nobody", style="dim") if label is None else Text(label, style="bold"),
                Text(f"{_SHORT[place['measure']]} {words.power(place['target'])}"),
                Text(words.duration(place["seconds"])),
                Text(words.ahead(place)),
                Text(f"{place['reached']}/{place['of']}"),
            ]
        )
    return Grid(["instance", "won by", "to", "in", "ahead", "reached"], shown, folded=2)


def _said(said: Said) -> Paragraph:
    line = Text()
    for part in said:
        line.append(part.text, style="bold" if part.role else "")
    return Paragraph(line)


def _standings(findings: Findings) -> RenderableType:
    kept = [standings.HEAD.index(name) for name in _STANDINGS]
    rows = [
        [Text(one["solver"], style="bold"), *(Text(one["cells"][i - 1][0]) for i in kept)]
        for one in standings.table(findings)[: standings.SHOWN]
    ]
    return Grid(["solver", *_STANDINGS.values()], rows)


def _failure(run: selection.Row) -> Text:
    line = Text("  ").append(f"{run['status']:<10}", style=_tone(run["status"]))
    line.append(f" {run['solver_label']}", style="bold")
    return line.append(f" on {run['instance_label']}: {words.text(run['reason'])}")


def runs_table(findings: Findings) -> RenderableType:
    """Return a row a run: how it ended, how good, where it rests, how fast it came there."""
    several = findings.runs["tol"].nunique() > 1
    heads = ["solver", *(["tol"] if several else []), "status", "steps", "in", "gap/scale"]
    rows, instance = [], None
    for run in findings.runs.to_dict("records"):
        if run["instance_label"] != instance:
            instance = run["instance_label"]
            rows.append([Text(instance, style="bold")])
        rows.append(
            [
                Text(f"  {run['solver_label']}"),
                *([Text(words.power(run["tol"]))] if several else []),
                Text(run["status"], style=_tone(run["status"])),
                Text(words.count(run["steps"])),
                Text(words.duration(run["seconds"])),
                Text(words.number(run["gap_relative"])),
                Text(words.text(run["fixed_point"])),
                Text(words.text(run["rate_class"])),
            ]
        )
    return Grid([*heads, "rests at", "rate"], rows)
