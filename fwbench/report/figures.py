"""Findings as PNG and PDF figures, as wide as one column of a paper or two. No window, no pyplot.

What there is to be drawn `fwbench.report.exhibits` says; one thing on given axes draws
`fwbench.report.panels`.
"""

from collections.abc import Sequence
from textwrap import wrap
from typing import assert_never

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fwbench.analysis.atlas import Atlas
from fwbench.analysis.diagrams import Diagram
from fwbench.analysis.findings import Findings, Picture
from fwbench.report import atlases, canvas, curves, diagrams, panels, profiles, selection, words
from fwbench.report.canvas import COLUMN, FAINT, PAGE, drawing
from fwbench.report.exhibits import (
    Claim,
    Collapse,
    Convergence,
    Growth,
    Overview,
    Profile,
    Ratios,
    Seeds,
    Subject,
    exhibits,
)
from fwbench.report.panels import Styles
from fwbench.report.selection import Race, Regime
from fwbench.theory.verdicts import curves as curves_of

ACROSS = 3  # panels of a page


def figures(findings: Findings) -> dict[str, bytes]:
    """Draw all figures.

    Parameters
    ----------
    findings : Findings
        What analysis found.

    Returns
    -------
    dict of str to bytes
        File names and contents: what `fwbench.report.exhibits.exhibits` names, each as PNG and PDF.
    """
    styles = words.styles(selection.solvers(findings))
    files: dict[str, bytes] = {}
    with drawing():
        for stem, subject in exhibits(findings).items():
            files |= canvas.files(stem, draw(subject, styles))
    return files


def draw(subject: Subject, styles: Styles) -> Figure:
    """Draw one figure; to be called inside `fwbench.report.canvas.drawing`."""
    match subject:
        case Overview():
            return overview(subject, styles)
        case Convergence():
            return convergence(subject, styles)
        case Seeds():
            return seeds(subject, styles)
        case Picture():
            return plane(subject, styles)
        case Atlas():
            return atlases.draw(subject)
        case Diagram():
            return diagrams.draw(subject)
        case Ratios():
            return ratios(subject.races, styles)
        case Growth():
            return growth(subject.regimes, styles)
        case Collapse():
            return collapse(subject, styles)
        case Profile():
            return profiles.draw(subject.profiles, subject.number, styles)
        case Claim():
            found = curves_of(subject.record)
            assert found is not None  # else there is no such exhibit
            return curves.draw(found)
        case _:
            assert_never(subject)


def convergence(shown: Convergence, styles: Styles) -> Figure:
    """Draw suboptimality and gap against steps, side by side, legend below."""
    count = len(shown.measures)
    figure = Figure(figsize=(COLUMN if count == 1 else PAGE, 2.1), layout="constrained")
    width = figure.get_size_inches()[0]
    figure.suptitle(canvas.wrapped(shown.label, width - 0.3))
    for measure, axes in zip(shown.measures, _grid(figure, 1, count), strict=True):
        bands = shown.bands.get(("k", measure), ())
        left_out = panels.curves(axes, shown.curves, "k", measure, styles, bands)
        axes.set(xlabel=words.AXES["k"], title=words.MEASURES[measure])
        if left_out:
            absent = canvas.plain(", ".join(left_out)[:300])
            note = wrap(f"not drawn, being ≤ 0 at some k: {absent}", int(width / count * 17))
            axes.set_xlabel("\n".join([words.AXES["k"], *note]))
    panels.legend(figure, [curve.solver for curve in shown.curves], styles)
    return figure


def seeds(shown: Seeds, styles: Styles) -> Figure:
    """Draw bands over seeds against steps, a panel a measure."""
    count = len(shown.bands)
    figure = Figure(figsize=(COLUMN if count == 1 else PAGE, 2.1), layout="constrained")
    width = figure.get_size_inches()[0]
    figure.suptitle(canvas.wrapped(f"{shown.regime}, over seeds", width - 0.3))
    for (measure, bands), axes in zip(shown.bands.items(), _grid(figure, 1, count), strict=True):
        panels.bands(axes, bands, "k", styles)
        axes.set(xlabel=words.AXES["k"], title=words.MEASURES[measure])
    drawn = [band.solver for bands in shown.bands.values() for band in bands]
    panels.legend(figure, drawn, styles)
    return figure


def plane(picture: Picture, styles: Styles) -> Figure:
    """Draw the hull in the plane with its cells, the starts and the paths."""
    figure = Figure(figsize=(COLUMN, 3.1), layout="constrained")
    (axes,) = _grid(figure, 1, 1)
    panels.plane(axes, picture, styles)
    axes.set_title(canvas.wrapped(picture.label, COLUMN - 0.3))
    panels.legend(figure, [label for label, _ in picture.paths], styles)
    return figure


def overview(shown: Overview, styles: Styles) -> Figure:
    """Draw a few instances of unlike kinds against seconds, and one picture in the plane."""
    count = len(shown.panels) + len(shown.pictures)
    figure, places = _sheet(count)
    each = figure.get_size_inches()[0] / min(count, ACROSS) - 0.6
    for one, axes in zip(shown.panels, places, strict=False):
        measure = one.measures[0]
        bands = one.bands.get(("seconds", measure), ())
        panels.curves(axes, one.curves, "seconds", measure, styles, bands)
        axes.set(xlabel=words.AXES["seconds"], ylabel=words.MEASURES[measure])
        axes.set_title(f"{canvas.wrapped(one.label, each)}\n{one.kind}")
    for picture, axes in zip(shown.pictures, places[len(shown.panels) :], strict=False):
        panels.plane(axes, picture, styles)
        axes.set_title(f"{canvas.wrapped(picture.label, each)}\ncells, starts and paths")
    drawn = [curve.solver for one in shown.panels for curve in one.curves]
    drawn += [label for picture in shown.pictures for label, _ in picture.paths]
    panels.legend(figure, drawn, styles)
    return figure


def ratios(races: Sequence[Race], styles: Styles) -> Figure:
    """Draw how many times longer foreign codes took: a row an instance, a panel a gap."""
    labels = list(dict.fromkeys(race.label for race in races))
    targets = sorted({race.target for race in races}, reverse=True)
    figure = Figure(figsize=(PAGE, 0.6 + 0.17 * len(labels)), layout="constrained")
    shown: list[str] = []
    columns = figure.subplots(1, len(targets), squeeze=False, sharey=True, sharex=True)[0]
    for target, axes in zip(targets, columns, strict=True):
        here = [race for race in races if race.target == target]
        shown += panels.ratios(axes, here, labels, styles)
        axes.set_title(f"gap ≤ {words.power(target)}")
    panels.legend(figure, shown, styles, path=False)
    return figure


def growth(regimes: Sequence[Regime], styles: Styles) -> Figure:
    """Draw seconds with set-up against the size, a panel a regime."""
    figure, places = _sheet(len(regimes))
    each = figure.get_size_inches()[0] / min(len(regimes), ACROSS) - 0.6
    for regime, axes in zip(regimes, places, strict=False):
        panels.growth(axes, regime, styles)
        axes.set_title(canvas.wrapped(regime.name, each))
    panels.legend(figure, [label for regime in regimes for label in regime.lines], styles)
    return figure


def collapse(shown: Collapse, styles: Styles) -> Figure:
    """Draw layers to collapse against entropy: fixed keys to the left, moving ones to the right."""
    sides = [
        [row for row in shown.rows if bool(row["moving"]) is moving] for moving in (False, True)
    ]
    titles = ("keys fixed", "keys moving")
    there = [(title, rows) for title, rows in zip(titles, sides, strict=True) if rows]
    figure = Figure(figsize=(COLUMN if len(there) == 1 else PAGE, 2.1), layout="constrained")
    solvers: list[str] = []
    for (title, rows), axes in zip(there, _grid(figure, 1, len(there)), strict=True):
        solvers += panels.collapse(axes, rows, styles)
        axes.set_title(title)
        axes.annotate(
            "open marks: not collapsed by then", (0, 1), xycoords="axes fraction",
            xytext=(2, -2), textcoords="offset points", va="top", color=FAINT,
        )  # fmt: skip
    panels.legend(figure, solvers, styles, path=False)
    return figure


def _sheet(count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with a grid of so many axes, as wide as what stands in it asks for."""
    wide = min(count, ACROSS)
    high = -(-count // wide)
    figure = Figure(figsize=(COLUMN if wide == 1 else PAGE, 2.0 * high), layout="constrained")
    places = _grid(figure, high, wide)
    for axes in places[count:]:
        axes.remove()
    return figure, places[:count]


def _grid(figure: Figure, high: int, wide: int) -> list[Axes]:
    return list(figure.subplots(high, wide, squeeze=False).flat)
