"""A comparison on a terminal, as Markdown for a pull request, as a page of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from fwbench.analysis.changes import Comparison, Outcome, Pace, Timing
from fwbench.errors import visible
from fwbench.report import differences, pages, words
from fwbench.report.differences import Line
from fwbench.report.grid import Headed, row
from fwbench.report.markdown import code, prose, table

SHOWN = 40  # lines of a section on the terminal
IN_A_COMMENT = 30  # rows of a Markdown table
_TONES = {
    Outcome.WORSE: "bold red",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.BETTER: "green",
    Outcome.CHANGED: "yellow",
    Outcome.SAME: "green",
}
_HEAD = ["solver", "instance", "quantity", "base", "new", ""]
_TIMED = ["solver", "instance", "timing", "base", "new", "new/base (99 %)", "pairs"]


def terminal(comparison: Comparison) -> RenderableType:
    """Return what ``fwbench compare`` prints, for a rich console.

    Names are given as text, never as rich's markup. A console that writes to a log prints it plain.
    """
    parts: list[RenderableType] = []
    for name, side in (("base", comparison.base), ("new", comparison.new)):
        said = " · ".join((visible(side.name), *differences.facts(side)))
        parts.append(_Hanging(Text(f"{name:<5}", "dim"), Text(said)))
    parts += [_Hanging(Text(" " * 5), Text(note, "dim")) for note in differences.notes(comparison)]
    for head, lines in differences.sections(comparison):
        quiet = head.startswith("Not equal")
        parts += [Text(), Text(f"{head}: {len(lines)}", style="bold" if not quiet else "dim")]
        if not quiet:
            parts.append(_lines(lines[:SHOWN]))
            parts += _more(len(lines) - SHOWN)
    parts += _timings(comparison)
    for head, lone in (("Missing", comparison.missing), ("New", comparison.added)):
        if lone:
            some = differences.alone(lone)
            parts += [Text(), Text(f"{head}: {len(some)}", style="bold")]
            parts += [Text(f"  {said}") for said in some[:SHOWN]]
            parts += _more(len(some) - SHOWN)
    tone = _TONES[comparison.outcome]
    return Group(*parts, Text(), Text(_sentence(comparison), style=tone))


@dataclass(frozen=True)
class _Hanging:
    """A text whose further lines stand under its first one, right of its head."""

    head: Text
    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        left = cell_len(self.head.plain)
        yield row([self.head, self.text], [left, max(options.max_width - left, 1)], "")


def _sentence(comparison: Comparison) -> str:
    said, of = differences.conclusion(comparison)
    return f"{said.capitalize()}: {of}."


def _more(left: int) -> list[Text]:
    return [Text(f"  … and {left} more; --json has all", style="dim")] if left > 0 else []


def _lines(lines: list[Line]) -> RenderableType:
    rows = (
        (line.solver, line.instance, line.quantity, line.base, line.new, line.detail)
        for line in lines
    )
    return Headed(_HEAD, [[Text(cell) for cell in cells] for cells in rows], (0, 1))


def _timings(comparison: Comparison) -> Iterator[RenderableType]:
    """Yield the timings that say something, and how many do not and why."""
    timings = comparison.timings or ()
    if told := differences.told(timings):
        slower = sum(timing.pace is Pace.SLOWER for timing in told)
        yield Text()
        yield Text(f"Timings: {slower} slower, {len(told) - slower} faster", style="bold")
        rows = [[timing.pace, *_timing(timing)] for timing in told[:SHOWN]]
        yield Headed(["", *_TIMED], [[Text(cell) for cell in cells] for cells in rows], (1, 2))
        yield from _more(len(told) - SHOWN)
    if reasons := differences.reasons(timings):
        yield Text()
        yield Text("Timings that tell nothing", style="bold")
        yield from (Text(f"  {count:>3} × {reason}", style="dim") for reason, count in reasons)


def _timing(timing: Timing) -> list[str]:
    return [
        differences.who(timing),
        differences.where(timing),
        timing.what,
        words.duration(timing.base),
        words.duration(timing.new),
        differences.pace(timing),
        str(timing.pairs),
    ]


def markdown(comparison: Comparison, rows: int = IN_A_COMMENT) -> str:
    """Return a comparison as Markdown for a pull request: the verdict first, details folded.

    Parameters
    ----------
    comparison : Comparison
    rows : int
        At most so many in each table.
    """
    said, of = differences.conclusion(comparison)
    parts = [f"**fwbench: {said}**; {prose(of)}"]
    for head, lines in differences.sections(comparison):
        shown = table(
            ["solver", "instance", "quantity", "base", "new", "verdict", "detail", "band"],
            (_row(line) for line in lines[:rows]),
        )
        shown += _rest(len(lines) - rows)
        folded = _folded(f"{head}: {len(lines)}", shown)
        parts.append(shown if head == "Worse" else folded)
    timings = comparison.timings or ()
    if told := differences.told(timings):
        shown = table(["verdict", *_TIMED], (_timed(timing) for timing in told[:rows]))
        parts.append(shown + _rest(len(told) - rows))
    if reasons := differences.reasons(timings):
        why = "\n".join(f"* {count} × {prose(reason)}" for reason, count in reasons[:rows])
        silent = sum(count for _, count in reasons)
        parts.append(_folded(f"Timings that tell nothing: {silent}", why))
    for head, lone in (("Missing", comparison.missing), ("New", comparison.added)):
        if lone:
            some = differences.alone(lone)
            listed = "\n".join(f"* {prose(one)}" for one in some[:rows]) + _rest(len(some) - rows)
            parts.append(_folded(f"{head}: {len(some)}", listed))
    known = [
        f"* {name}: {code(side.name)} {prose(' · '.join(differences.facts(side)))}"
        for name, side in (("base", comparison.base), ("new", comparison.new))
    ]
    known += [f"* {prose(note)}" for note in differences.notes(comparison)]
    parts.append(_folded("What was compared", "\n".join(known)))
    return "\n\n".join(parts) + "\n"


def _row(line: Line) -> list[str]:
    names = [code(line.solver), code(line.instance)]
    rest = (line.quantity, line.base, line.new, line.said, line.detail, line.band)
    return [*names, *map(prose, rest)]


def _timed(timing: Timing) -> list[str]:
    solver, instance, *rest = _timing(timing)
    return [prose(timing.pace), code(solver), code(instance), *map(prose, rest)]


def _rest(left: int) -> str:
    return f"\n\n… and {left} more" if left > 0 else ""


def _folded(head: str, content: str) -> str:
    return f"<details><summary>{prose(head)}</summary>\n\n{content}\n\n</details>"


def page(comparison: Comparison, command: str) -> str:
    """Return a comparison as one HTML document that needs no network.

    Parameters
    ----------
    comparison : Comparison
    command : str
        That made it, to be shown.
    """
    told = differences.told(comparison.timings or ())
    return pages.page(
        "comparison.html.j2",
        title=f"Comparison: {comparison.outcome}",
        command=visible(command),
        conclusion=_sentence(comparison),
        bad=comparison.outcome is Outcome.WORSE,
        sides=[
            (name, visible(side.name), differences.facts(side))
            for name, side in (("base", comparison.base), ("new", comparison.new))
        ],
        notes=differences.notes(comparison),
        sections=differences.sections(comparison),
        timed=_TIMED,
        timings=[(timing.pace, _timing(timing)) for timing in told],
        reasons=differences.reasons(comparison.timings or ()),
        alone=[
            (head, differences.alone(lone))
            for head, lone in (("Missing", comparison.missing), ("New", comparison.added))
            if lone
        ],
    )
