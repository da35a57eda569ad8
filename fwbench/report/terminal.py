"""What stands on the terminal when a session ends: who won where, what failed and why."""

import re
from itertools import zip_longest
from typing import Any

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fwbench.analysis.findings import Findings
from fwbench.report import claims, selection, words
from fwbench.theory.verdicts import Record

SHOWN_FAILURES = 12
LONG_NAME = 36
GAP = "   "  # between columns of verdicts
JOINT = re.compile(r"[^-_,=\[(·/]*[-_,=\[(·/]+|[^-_,=\[(·/]+")  # a piece of a name
NARROW = 110  # columns: with fewer, six columns of words can't be read
_TONES = {"converged": "green", "finished": "green", "stalled": "yellow", "interrupted": "yellow"}
_SHORT = {"suboptimality": "subopt.", "gap": "gap", "gap_current": "gap now"}


def terminal_summary(findings: Findings) -> RenderableType:
    """Return the end of ``fwbench run``, to be printed by a rich console.

    Names are given as text, never as rich's markup. A console that writes to a log prints it plain.
    """
    parts: list[RenderableType] = [Text("Who won where", style="bold"), _winners(findings)]
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
    return Group(*parts)


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
        parts = [_row([Text(head, "dim") for head in claims.HEAD], widths)] if records else []
        parts += [Text("─" * width, "dim")] if records else []
        section = None
        for record, facts in zip(records, shown, strict=True):
            if record["section"] != section:
                section = record["section"]
                parts.append(Text(claims.SECTIONS.get(section, f"Section {section}"), "bold"))
            parts.append(_row(facts, widths))
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


def _row(facts: list[Text], widths: list[int]) -> Text:
    """Lay cells side by side, each in lines of its own; nothing stands behind the last letter."""
    cells = [_fitted(fact.plain, width) for fact, width in zip(facts, widths, strict=True)]
    lines = []
    for pieces in zip_longest(*cells, fillvalue=""):
        line, blanks = Text(), ""
        for fact, piece, width in zip(facts, pieces, widths, strict=True):
            if piece:
                line.append(blanks).append(piece, style=fact.style)
                blanks = ""
            blanks += " " * (width - cell_len(piece)) + GAP
        lines.append(line)
    return Text("\n").join(lines)


def _lined(text: Text, width: int) -> Text:
    """Break a text of one style into lines; an indent of its first one stays."""
    indent = text.plain[: len(text.plain) - len(text.plain.lstrip())]
    lines = _fitted(text.plain, max(width - len(indent), 1))
    return Text("\n".join(indent + line for line in lines), text.style)


def _named(head: str, fact: Text, width: int) -> Text:
    lines = _fitted(f"{head}: {fact.plain}", max(width - 2, 1))
    shown = Text("\n".join(f"  {line}" for line in lines), fact.style)
    shown.stylize("dim", 2, 3 + len(head))
    return shown


def _fitted(text: str, width: int) -> list[str]:
    """Break a text into lines; a word that is too long breaks after a sign that joins words.

    Examples
    --------
    >>> _fitted("token_cloud[name=four-one]: t = 224", 19)
    ['token_cloud[name=', 'four-one]: t = 224']
    """
    lines = [""]
    for word in text.split():
        pieces = [word] if cell_len(word) <= width else JOINT.findall(word)
        for i, piece in enumerate(pieces):
            joined = lines[-1] + " " * (i == 0 and lines[-1] != "") + piece
            if cell_len(joined) <= width:
                lines[-1] = joined
                continue
            lines += chop_cells(piece, width)
    return lines[1:] if lines[0] == "" and len(lines) > 1 else lines


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
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    for head in ("instance", "won by"):
        table.add_column(head, overflow="fold")
    for head in ("to", "in", "ahead", "reached"):
        table.add_column(head, no_wrap=True)
    for row in rows:
        label = row["solver_label"]
        table.add_row(
            Text(row["instance_label"]),
            Text("nobody", style="dim") if label is None else Text(label, style="bold"),
            Text(f"{_SHORT[row['measure']]} {words.power(row['target'])}"),
            Text(words.duration(row["seconds"])),
            Text(words.ahead(row)),
            Text(f"{row['reached']}/{row['of']}"),
        )
    return table


def _failure(row: selection.Row) -> Text:
    line = Text("  ").append(f"{row['status']:<10}", style=_tone(row["status"]))
    line.append(f" {row['solver_label']}", style="bold")
    return line.append(f" on {row['instance_label']}: {words.text(row['reason'])}")


def runs_table(findings: Findings) -> RenderableType:
    """Return a row a run: how it ended, how good, where it rests, how fast it came there."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    table.add_column("solver", overflow="fold")
    several = findings.runs["tol"].nunique() > 1
    if several:
        table.add_column("tol", no_wrap=True)
    for head in ("status", "steps", "in", "gap/scale", "rests at", "rate"):
        table.add_column(head, no_wrap=True)
    instance = None
    for row in findings.runs.to_dict("records"):
        if row["instance_label"] != instance:
            instance = row["instance_label"]
            table.add_row(Text(instance, style="bold"))
        table.add_row(
            Text(f"  {row['solver_label']}"),
            *([Text(words.power(row["tol"]))] if several else []),
            Text(row["status"], style=_tone(row["status"])),
            Text(words.count(row["steps"])),
            Text(words.duration(row["seconds"])),
            Text(words.number(row["gap_relative"])),
            Text(words.text(row["fixed_point"])),
            Text(words.text(row["rate_class"])),
        )
    return table
