"""Findings as PNG and PDF figures. Figure objects only: no window, no pyplot, no global state."""

import re
from collections.abc import Callable, Iterable
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from fwbench.analysis.findings import Findings, Picture
from fwbench.report import atlases, canvas, diagrams, profiles, selection, words
from fwbench.report.canvas import drawing, within
from fwbench.report.curves import claim_files
from fwbench.report.selection import Curve, Race, Regime
from fwbench.report.words import Style

Styles = dict[str, Style]

OVERVIEW_PANELS = 6
THIN = 20.0  # a hull this much longer than wide is not drawn to scale
MARKERS = {"circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "x": "X"}


def figures(findings: Findings) -> dict[str, bytes]:
    """Draw all figures.

    Parameters
    ----------
    findings : Findings
        What analysis found.

    Returns
    -------
    dict of str to bytes
        File names and contents: ``overview``, ``convergence-INSTANCE`` for each instance with a
        value that a log axis can show, ``plane-INSTANCE`` for each picture, ``atlas-INSTANCE`` for
        each atlas, ``paper-NAME`` for each diagram, ``ratios`` and
        ``growth`` where there are any, ``profile-VARIANT-COST`` where solvers share instances,
        ``claim-NAME`` for each claim with a figure; each as PNG
        and PDF.
    """
    styles = words.styles(selection.solvers(findings))
    instances = selection.instances(findings)
    curves: dict[str, list[Curve]] = {}
    for curve in selection.curves(findings):
        if selection.measures([curve]):
            curves.setdefault(curve.instance, []).append(curve)
    labels = {name: row["instance_label"] for name, row in instances.items()}
    labels |= {picture.instance: picture.label for picture in findings.pictures}
    labels |= {atlas.instance: atlas.label for atlas in findings.atlases}
    names = _file_names(labels)

    files: dict[str, bytes] = {}
    with drawing():
        if curves or findings.pictures:
            files |= canvas.files("overview", overview(findings, curves, labels, styles))
        for name, some in curves.items():
            figure = convergence(labels[name], some, styles)
            files |= canvas.files(f"convergence-{names[name]}", figure)
        for picture in findings.pictures:
            files |= canvas.files(f"plane-{names[picture.instance]}", plane(picture, styles))
        for atlas in findings.atlases:
            files |= canvas.files(f"atlas-{names[atlas.instance]}", atlases.draw(atlas))
        for diagram in findings.diagrams:
            files |= canvas.files(diagram.name, diagrams.draw(diagram))
        if selection.has_ratios(findings):
            if selection.racers(findings, foreign=True):
                files |= canvas.files("ratios", ratios(selection.races(findings), styles))
            if regimes := selection.regimes(findings):
                files |= canvas.files("growth", growth(regimes, styles))
    if findings.profiles is not None:
        files |= profiles.files(findings.profiles, styles)
    if findings.claims is not None:
        files |= claim_files(findings.claims["claims"])
    return files


def convergence(label: str, curves: list[Curve], styles: Styles) -> Figure:
    """Draw suboptimality and gap against steps, side by side, legend below."""
    measures = selection.measures(curves)
    figure = Figure(figsize=(4.2 * max(len(measures), 1), 3.6), layout="constrained")
    figure.suptitle(canvas.label(label), fontsize=10)
    for measure, axes in zip(measures, _grid(figure, 1, len(measures)), strict=True):
        left_out = _draw(axes, curves, "k", measure, styles)
        axes.set(xlabel=words.AXES["k"], title=words.MEASURES[measure])
        if left_out:
            absent = canvas.plain(", ".join(left_out)[:400])
            axes.annotate(
                "\n".join(wrap(f"not drawn, being ≤ 0 at some k: {absent}", 64)),
                (0, 0),
                xycoords="axes fraction",
                xytext=(2, 3),
                textcoords="offset points",
                fontsize=6,
                color="#5f6b76",
            )
    _legend(figure, [curve.solver for curve in curves], styles)
    return figure


def plane(picture: Picture, styles: Styles) -> Figure:
    """Draw the hull in the plane with its cells, the starts and the paths."""
    figure = Figure(figsize=(5.2, 5.4), layout="constrained")
    (axes,) = _grid(figure, 1, 1)
    _draw_plane(axes, picture, styles)
    axes.set_title(canvas.label(picture.label))
    _legend(figure, [label for label, _ in picture.paths], styles)
    return figure


def overview(
    findings: Findings, curves: dict[str, list[Curve]], labels: dict[str, str], styles: Styles
) -> Figure:
    """Draw a few instances of unlike kinds against seconds, and one picture in the plane."""
    pictures = findings.pictures[:1]
    kinds = {name: row["kind"] for name, row in selection.instances(findings).items()}
    chosen = _varied({name: kinds[name] for name in curves}, OVERVIEW_PANELS - len(pictures))
    panels = len(chosen) + len(pictures)
    wide = min(panels, 3)
    high = -(-panels // wide)
    figure = Figure(figsize=(3.5 * wide, 2.9 * high + 0.5), layout="constrained")
    places = _grid(figure, high, wide)
    for name, axes in zip(chosen, places, strict=False):
        measure = selection.measures(curves[name])[0]
        _draw(axes, curves[name], "seconds", measure, styles)
        axes.set(xlabel=words.AXES["seconds"], ylabel=words.MEASURES[measure])
        axes.set_title(f"{canvas.label(labels[name])}\n{kinds[name]}", fontsize=8)
    for picture, axes in zip(pictures, places[len(chosen) :], strict=False):
        _draw_plane(axes, picture, styles)
        axes.set_title(f"{canvas.label(picture.label)}\ncells, starts and paths", fontsize=8)
    for axes in places[panels:]:
        axes.remove()
    drawn = [curve.solver for name in chosen for curve in curves[name]]
    _legend(figure, drawn + [label for picture in pictures for label, _ in picture.paths], styles)
    return figure


def ratios(races: list[Race], styles: Styles) -> Figure:
    """Draw how many times longer foreign codes took: a row an instance, a panel a gap."""
    labels = list(dict.fromkeys(race.label for race in races))
    targets = sorted({race.target for race in races}, reverse=True)
    figure = Figure(
        figsize=(3.2 + 2.6 * len(targets), 1.2 + 0.3 * len(labels)), layout="constrained"
    )
    shown: list[str] = []
    panels = figure.subplots(1, len(targets), squeeze=False, sharey=True, sharex=True)[0]
    for target, axes in zip(targets, panels, strict=True):
        here = [race for race in races if race.target == target]
        for race in here:
            for name, row in race.rows.items():
                if row["library"] is not None and row["ratio_total"] is not None:
                    place = labels.index(race.label)
                    axes.plot(
                        within(row["ratio_total"], log=True),
                        place,
                        **_line(styles[name], 1.2, path=False),
                    )
                    shown.append(name)
        axes.axvline(1.0, color="#444c55", linewidth=0.9)
        axes.set(xscale="log", title=f"gap ≤ {words.power(target)}", xlabel="times our best")
        axes.set_yticks(range(len(labels)), map(canvas.label, labels))
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.xaxis.set_major_locator(LogLocator(numticks=8))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_locator(NullLocator())
    _legend(figure, shown, styles)
    return figure


def growth(regimes: list[Regime], styles: Styles) -> Figure:
    """Draw seconds with set-up against the size, a panel a regime."""
    wide = min(len(regimes), 3)
    high = -(-len(regimes) // wide)
    figure = Figure(figsize=(3.8 * wide, 3.0 * high + 0.5), layout="constrained")
    places = _grid(figure, high, wide)
    for regime, axes in zip(regimes, places, strict=False):
        axes.set(xscale="log", yscale="log", xlabel=regime.against, ylabel="seconds, with set-up")
        axes.set_title(canvas.label(regime.name), fontsize=8)
        for label, points in regime.lines.items():
            sizes, seconds = (within(part, log=True) for part in zip(*points, strict=True))
            axes.plot(sizes, seconds, **_line(styles[label], 1.4))
        drawn = [point for points in regime.lines.values() for point in points]
        _ticks(axes.xaxis, [size for size, _ in drawn], words.power)
        _ticks(axes.yaxis, [seconds for _, seconds in drawn], words.duration)
    for axes in places[len(regimes) :]:
        axes.remove()
    _legend(figure, [label for regime in regimes for label in regime.lines], styles)
    return figure


def _draw(axes: Axes, curves: list[Curve], x: str, y: str, styles: Styles) -> list[str]:
    """Draw curves on log axes; return the solvers of which a value has no place there."""
    left_out = []
    axes.set(xscale="log", yscale="log")
    drawn: dict[str, list[float]] = {x: [], y: []}
    for curve in curves:
        xs, ys = (np.array(curve.columns[name], dtype=float) for name in (x, y))
        if (ys <= 0).any():
            left_out.append(curve.solver)
        shown = np.isfinite(xs) & np.isfinite(ys) & (xs > 0) & (ys > 0)
        xs, ys = within(xs, log=True), within(ys, log=True)
        if not shown.any():
            continue
        drawn[x].extend(xs[shown])
        drawn[y].extend(ys[shown])
        alone = shown & ~np.r_[False, shown[:-1]] & ~np.r_[shown[1:], False]
        marked = sorted({*np.flatnonzero(alone).tolist(), int(np.flatnonzero(shown)[-1])})
        axes.plot(
            np.where(shown, xs, np.nan),
            np.where(shown, ys, np.nan),
            markevery=marked,
            **_line(styles[curve.solver], 1.4, path=not curve.once),
        )
    _ticks(axes.xaxis, drawn[x], words.duration if x == "seconds" else words.power)
    _ticks(axes.yaxis, drawn[y], words.power)
    return list(dict.fromkeys(left_out))


def _ticks(axis: Axis, drawn: list[float], word: Callable[[float], str]) -> None:
    """Label decades in plain words (mathematical text would take most of the drawing time)."""
    short = not drawn or max(drawn) < 50 * min(drawn)
    if drawn and max(drawn) < 5 * min(drawn):  # no decade in sight: plain numbers, evenly spaced
        axis.set_major_locator(MaxNLocator(4))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    else:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,), numticks=8))
        axis.set_major_formatter(FuncFormatter(lambda value, _: word(value)))
    axis.set_minor_locator(NullLocator())


def _draw_plane(axes: Axes, picture: Picture, styles: Styles) -> None:
    keys = selection.leaders(picture)
    if picture.rings:
        colours = dict(zip(keys, words.cell_colours(len(keys)), strict=True))
        for key, ring in picture.rings:  # one too small for the grid has no colour of its own
            axes.fill(
                *ring.T, facecolor=colours.get(key, "white"), edgecolor="#9aa5af", linewidth=0.6
            )
    elif keys:  # a hull without an inside has no cells
        place = np.full(max(keys) + 2, -1)  # the last entry stands for key -1
        place[keys] = np.arange(len(keys))
        axes.pcolormesh(
            picture.cell_x,
            picture.cell_y,
            np.ma.masked_less(place[picture.cells], 0),
            cmap=ListedColormap(words.cell_colours(len(keys))),
            vmin=-0.5,
            vmax=len(keys) - 0.5,
            rasterized=True,
        )
    axes.plot(*picture.hull.T, color="#444c55", linewidth=0.9)
    axes.plot(*picture.atoms.T, "o", color="#444c55", markersize=3)
    for i, (label, points) in enumerate(picture.paths):
        thick = min(1.0 * (len(picture.paths) - 1 - i), 4.0)
        for path in points.swapaxes(0, 1):
            axes.plot(*path.T, markevery=[len(path) - 1], **_line(styles[label], 1.2 + thick))
    axes.plot(*picture.starts.T, "o", markersize=4, markerfacecolor="none", color="#1b1f24")
    if len(picture.atoms) <= 40:
        middle = picture.hull[:-1].mean(axis=0)
        for i, atom in enumerate(picture.atoms):
            away = (atom - middle) / (np.linalg.norm(atom - middle) or 1.0)
            axes.annotate(
                str(i), atom, xytext=8 * away, textcoords="offset points", ha="center", va="center"
            )
    axes.grid(False)
    wide, high = np.ptp(picture.atoms, axis=0)
    if max(wide, high) > THIN * min(wide, high):
        axes.set_aspect("auto")  # drawn to scale a sliver would be a line
        axes.set_xlabel("axes not to one scale")
        axes.ticklabel_format(useOffset=False)
        axes.locator_params(nbins=4)
    else:
        axes.set_aspect("equal")
    axes.margins(0.08)
    (left, right), (bottom, top) = selection.window(picture)
    axes.set(xlim=(left, right), ylim=(bottom, top))


def _line(style: Style, width: float, path: bool = True) -> dict[str, Any]:
    dash = tuple(px / 2 for px in style.dash)
    return {
        "color": style.colour,
        "linestyle": ((0, dash) if dash else "-") if path else "none",
        "linewidth": width,
        "marker": MARKERS[style.symbol],
        "markersize": 4 + width,
    }


def _legend(figure: Figure, labels: Iterable[str], styles: Styles) -> None:
    shown = sorted(set(labels))
    if not shown:
        return
    lines = [Line2D([], [], **_line(styles[label], 1.4)) for label in shown]
    longest = max(map(len, shown))
    columns = max(1, int(figure.get_size_inches()[0] * 15 / (longest + 9)))
    figure.legend(
        lines, map(canvas.label, shown), loc="outside lower center", ncols=columns, handlelength=3.6
    )


def _grid(figure: Figure, high: int, wide: int) -> list[Axes]:
    return list(figure.subplots(high, wide, squeeze=False).flat)


def _varied(kinds: dict[str, str], room: int) -> list[str]:
    """Pick instances, one of each kind in turn, in the order given."""
    turns: dict[str, int] = {}
    rank = {}
    for place, (name, kind) in enumerate(kinds.items()):
        turns[kind] = turns.get(kind, 0) + 1
        rank[name] = (turns[kind], place)
    chosen = set(sorted(rank, key=lambda name: rank[name])[:room])
    return [name for name in kinds if name in chosen]


def _file_names(labels: dict[str, str]) -> dict[str, str]:
    """Make each instance a file name of its own from its label, whatever that holds."""
    names: dict[str, str] = {}
    for name, label in labels.items():
        stem = re.sub(r"[^A-Za-z0-9.=_]+", "-", label).strip("-.")[:80] or "instance"
        twins = sum(other.split("~")[0] == stem for other in names.values())
        names[name] = f"{stem}~{twins + 1}" if twins else stem
    return names
