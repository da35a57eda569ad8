"""What stands on the terminal when a session ends: who won where, what failed and why."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fwbench.analysis.findings import Findings
from fwbench.report import selection, words

SHOWN_FAILURES = 12
_TONES = {"converged": "green", "finished": "green", "stalled": "yellow", "interrupted": "yellow"}
_SHORT = {"suboptimality": "subopt.", "gap": "gap", "gap_current": "gap now"}


def terminal_summary(findings: Findings) -> RenderableType:
    """Return the end of ``fwbench run``, to be printed by a rich console.

    Names are given as text, never as rich's markup. A console that writes to a log prints it plain.
    """
    parts: list[RenderableType] = [Text("Who won where", style="bold"), _winners(findings)]
    tally = Text(f"{len(findings.runs)} runs:")
    for status, n in selection.statuses(findings):
        tally.append(f"  {n} ").append(status, style=_tone(status))
    parts += [Text(), tally]
    failed = selection.failures(findings)
    if failed:
        parts += [Text(), Text("What failed", style="bold")]
        parts += map(_failure, failed[:SHOWN_FAILURES])
        if len(failed) > SHOWN_FAILURES:
            parts.append(Text(f"  … and {len(failed) - SHOWN_FAILURES} more, all in the report"))
    elif len(findings.runs):
        parts.append(Text("No run failed.", style="green"))
    skipped = selection.skipped(findings)
    if skipped:
        parts += [Text(), Text("Skipped", style="bold")]
        parts += [Text(f"  {n:>3} × {reason}", style="dim") for reason, n in skipped]
    return Group(*parts)


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
