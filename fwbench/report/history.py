"""Many run folders over time: figures, a page, a table of what stepped when."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter
from rich.console import Group, RenderableType
from rich.text import Text

from fwbench.analysis.chronicle import EXACT, SECONDS, Chronicle, Line, Step
from fwbench.errors import visible
from fwbench.report import canvas, pages, words
from fwbench.report.differences import both
from fwbench.report.grid import Headed
from fwbench.report.words import Style

QUANTITIES = (SECONDS, *EXACT)
AXES = {SECONDS: "seconds in the solver", "gap": "certified gap, of the scale"}
SHOWN = 40  # steps on a terminal
INSTANCES = 24  # lines of one figure; more can't be told apart
TICKS = 8
HEAD = ("from", "solver", "instance", "quantity", "before", "after", "p")
DECADE = 10.0  # values that span less stand on a linear axis
LOWEST = 1e-17  # gaps of 0 stand here, on a log axis


def figures(chronicle: Chronicle) -> dict[str, Figure]:
    """Draw a figure for each solver: a panel a quantity, a line an instance, a mark a step.

    Seconds of one machine make one line; those of machines that were not quiet are pale.
    """
    solvers = dict.fromkeys(line.solver for line in chronicle.lines)
    styles = words.styles(line.instance for line in chronicle.lines)
    with canvas.drawing():
        return {solver: _figure(solver, chronicle, styles) for solver in solvers}


def files(drawn: dict[str, Figure]) -> dict[str, bytes]:
    """Return the figures as PNG and PDF, by file name."""
    made: dict[str, bytes] = {}
    with canvas.drawing():
        for place, figure in enumerate(drawn.values(), 1):
            made |= canvas.files(f"history-{place:02d}", figure)
    return made


def _figure(solver: str, chronicle: Chronicle, styles: dict[str, Style]) -> Figure:
    mine = [line for line in chronicle.lines if line.solver == solver]
    kept = list(dict.fromkeys(line.instance for line in mine))[:INSTANCES]
    shown = [q for q in QUANTITIES if any(line.quantity == q for line in mine)]
    figure = Figure(figsize=(3.6 * len(shown), 3.4), layout="constrained")
    figure.suptitle(canvas.label(solver), fontsize=10)
    panels = figure.subplots(1, len(shown), squeeze=False)[0]
    for axes, quantity in zip(panels, shown, strict=True):
        lines = [line for line in mine if line.quantity == quantity and line.instance in kept]
        _panel(axes, lines, chronicle, styles)
        axes.set_ylabel(AXES.get(quantity, quantity))
    handles = [
        Line2D([], [], color=styles[name].colour, linestyle=_dash(styles[name]),
               label=canvas.label(name))
        for name in kept
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=6)
    return figure


def _dash(style: Style) -> Any:
    return (0, tuple(px / 2 for px in style.dash)) if style.dash else "-"


def _panel(
    axes: Axes, lines: Sequence[Line], chronicle: Chronicle, styles: dict[str, Style]
) -> None:
    known = [max(value, LOWEST) for line in lines for value in line.values]
    if known and max(known) >= DECADE * min(known):
        axes.set_yscale("log")
    elif any(line.quantity == SECONDS for line in lines):
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: words.duration(value)))
    for line in lines:
        style = styles[line.instance]
        values = canvas.within([max(value, LOWEST) for value in line.values], log=True)
        axes.plot(line.stations, values, color=style.colour, linestyle=_dash(style), linewidth=1)
        for station, value, quiet in zip(line.stations, values, line.quiet, strict=True):
            face = style.colour if quiet else "white"
            axes.plot([station], [value], marker=".", markersize=5, color=style.colour,
                      markerfacecolor=face, alpha=1.0 if quiet else 0.4)  # fmt: skip
        for step in chronicle.steps:
            if step.line is line:
                at = line.stations.index(step.station)
                up = values[at] > values[at - 1]
                axes.plot([step.station], [values[at]], marker="^" if up else "v", markersize=8,
                          color=style.colour, markeredgecolor=canvas.INK)  # fmt: skip
    count = len(chronicle.stations)
    places = sorted({round(i * (count - 1) / max(TICKS - 1, 1)) for i in range(TICKS)})
    axes.set_xticks(places, [_when(chronicle, place) for place in places], rotation=60, fontsize=6)
    axes.set_xlim(-0.5, count - 0.5)


def _when(chronicle: Chronicle, place: int) -> str:
    station = chronicle.stations[place]
    return canvas.label(f"{station.created[:10]} {station.revision[:7]}".strip() or station.name)


def row(chronicle: Chronicle, step: Step) -> list[str]:
    """Return a step in words."""
    station = chronicle.stations[step.station]
    when = " ".join(
        part for part in (station.created[:16].replace("T", " "), station.revision) if part
    )
    if step.quantity == SECONDS:
        values = words.duration(step.before), words.duration(step.after)
        ratio = f" ({float(step.after) / float(step.before):.3g}×)"
    else:
        values, ratio = both(step.before, step.after), ""
    cells = [
        f"{station.name} {when}".strip(), step.solver, step.instance, step.quantity,
        values[0], f"{values[1]}{ratio}", words.NONE if step.p is None else f"{step.p:.2g}",
    ]  # fmt: skip
    return [visible(cell) for cell in cells]


def conclusion(chronicle: Chronicle) -> str:
    """Say how many folders, lines and steps there are."""
    folders, timed = len(chronicle.stations), sum(x.quantity == SECONDS for x in chronicle.lines)
    steps = sum(step.p is not None for step in chronicle.steps)
    exact = len(chronicle.steps) - steps
    return (
        f"{folders} run folder{'s' * (folders != 1)}: {exact} change{'s' * (exact != 1)} of exact "
        f"quantities, {steps} step{'s' * (steps != 1)} in {timed} line{'s' * (timed != 1)} of "
        f"seconds (by chance: about {0.01 * timed:.1f})"
    )


def terminal(chronicle: Chronicle) -> RenderableType:
    """Return what ``fwbench history`` prints, for a rich console."""
    parts: list[RenderableType] = []
    if chronicle.steps:
        rows = [[Text(cell) for cell in row(chronicle, step)] for step in chronicle.steps[-SHOWN:]]
        table = Headed(list(HEAD), rows, (0, 1, 2))
        left = len(chronicle.steps) - SHOWN
        parts += [Text(f"… {left} earlier ones are on the page", "dim")] if left > 0 else []
        parts += [table, Text()]
    said = conclusion(chronicle)
    return Group(*parts, Text(f"{said[0].upper()}{said[1:]}."))


def page(chronicle: Chronicle, drawn: dict[str, Figure], notes: Sequence[str], command: str) -> str:
    """Return everything as one HTML document that needs no network.

    Parameters
    ----------
    chronicle : Chronicle
    drawn : dict of str to Figure
        As `figures` returns them.
    notes : sequence of str
        What was left out.
    command : str
    """
    with canvas.drawing():
        pictures = [(visible(name), _inline(figure)) for name, figure in drawn.items()]
    return pages.page(
        "history.html.j2",
        title="History",
        command=visible(command),
        conclusion=f"{conclusion(chronicle)}.",
        notes=[visible(note) for note in notes],
        head=HEAD,
        rows=[row(chronicle, step) for step in reversed(chronicle.steps)],
        pictures=pictures,
    )


def _inline(figure: Figure) -> Markup:
    """Return a figure as SVG to stand in a page, without the lines that head a file."""
    drawn = canvas.svg(figure).decode()
    return Markup(drawn[drawn.index("<svg") :])
