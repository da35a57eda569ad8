"""One thing drawn on given axes: curves, a fit, rates, a picture, growth, agreement, collapse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from fwbench.analysis import fits
from fwbench.analysis.findings import Picture
from fwbench.report import canvas, selection, words
from fwbench.report.bands import Band
from fwbench.report.canvas import FAINT, INK, RIM, within
from fwbench.report.selection import Agreement, Curve, Race, Regime, Row
from fwbench.report.words import Style

Styles = Mapping[str, Style]

THIN = 20.0  # a hull this much longer than wide is not drawn to scale
MARKERS = {"circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "x": "X"}
SHADES = (("#0072b2", ""), ("#a9cfe8", "////"), ("#ffffff", "...."))
WIDTH = 1.1  # of a curve, in points


def curves(
    axes: Axes,
    some: Sequence[Curve],
    x: str,
    y: str,
    styles: Styles,
    bands: Sequence[Band] = (),
) -> list[str]:
    """Draw curves on log axes, in place of a curve the band where its solver has one.

    Returns
    -------
    list of str
        The solvers of which a value has no place there.
    """
    left_out = []
    axes.set(xscale="log", yscale="log")
    drawn: dict[str, list[float]] = {x: [], y: []}
    for found in bands:
        for name, values in zip((x, y), _band(axes, found, styles), strict=True):
            drawn[name].extend(values)
    instead = {found.solver for found in bands}
    for curve in some:
        if curve.solver in instead:
            continue
        xs, ys = (np.array(curve.columns[name], dtype=float) for name in (x, y))
        if (ys <= 0).any():
            left_out.append(curve.solver)
        shown = np.isfinite(xs) & np.isfinite(ys) & (xs > 0) & (ys > 0)
        xs, ys = within(xs, log=True), within(ys, log=True)
        if not shown.any():
            continue
        drawn[x].extend(xs[shown])
        drawn[y].extend(ys[shown])
        axes.plot(
            np.where(shown, xs, np.nan),
            np.where(shown, ys, np.nan),
            markevery=_marked(shown),
            **line(styles[curve.solver], WIDTH, path=not curve.once),
        )
    ticks(axes.xaxis, drawn[x], words.duration if x == "seconds" else power)
    ticks(axes.yaxis, drawn[y], power)
    return list(dict.fromkeys(left_out))


def bands(axes: Axes, some: Sequence[Band], x: str, styles: Styles) -> None:
    """Draw bands alone, on log axes."""
    axes.set(xscale="log", yscale="log")
    ends = [_band(axes, found, styles) for found in some]
    ticks(
        axes.xaxis, [v for xs, _ in ends for v in xs], words.duration if x == "seconds" else power
    )
    ticks(axes.yaxis, [v for _, ys in ends for v in ys], power)


def _band(axes: Axes, band: Band, styles: Styles) -> tuple[list[float], list[float]]:
    """Draw a band with its median, then its members one by one, thin; return all places drawn."""
    look = line(styles[band.solver], WIDTH)
    low, median, high = (
        np.where(values > 0, within(values, log=True), np.nan)
        for values in (band.low, band.median, band.high)
    )
    axes.fill_between(band.at, low, high, color=look["color"], alpha=0.2, linewidth=0)
    seen = np.isfinite(median)
    if seen.any():
        axes.plot(band.at, median, markevery=_marked(seen), **look)
    xs, ys = [band.at], [low[np.isfinite(low)], high[np.isfinite(high)]]
    for tail_x, tail_y in band.tails:
        kept = np.where(tail_y > 0, within(tail_y, log=True), np.nan)
        axes.plot(tail_x, kept, color=look["color"], linestyle=look["linestyle"], linewidth=0.5)
        xs.append(tail_x[np.isfinite(kept)])
        ys.append(kept[np.isfinite(kept)])
    return np.concatenate(xs).tolist(), np.concatenate(ys).tolist()


def _marked(shown: NDArray[np.bool_]) -> list[int]:
    """Return which points of a curve get a mark: the last one, and those with no neighbour."""
    alone = shown & ~np.r_[False, shown[:-1]] & ~np.r_[shown[1:], False]
    return sorted({*np.flatnonzero(alone).tolist(), int(np.flatnonzero(shown)[-1])})


def fit(axes: Axes, run: Row, k: Sequence[Any], signal: Sequence[Any], style: Style) -> None:
    """Draw what a rate was read off, and the law over the window that it was read from.

    Parameters
    ----------
    axes : Axes
        Steps to the right, logarithmic both ways.
    run : dict
        The run's row, with ``rate_class``, ``rate``, ``rate_from``, ``rate_to``.
    k, signal : sequence, shape (r,)
        The trace.
    style : Style
        Of the solver.
    """
    steps, values = np.array(k, dtype=float), np.array(signal, dtype=float)
    shown = np.isfinite(values) & (steps > 0) & (values > 0)
    axes.set(xscale="log", yscale="log")
    if shown.any():
        axes.plot(
            np.where(shown, within(steps, log=True), np.nan),
            np.where(shown, within(values, log=True), np.nan),
            markevery=_marked(shown),
            **line(style, WIDTH),
        )
    if run["rate_from"] is not None and run["rate_to"] is not None:
        ends = float(max(run["rate_from"], 1)), float(run["rate_to"])
        axes.axvspan(*ends, color=FAINT, alpha=0.12, linewidth=0)
        if run["rate"] is not None:
            over = fits.law(steps, values, run["rate_class"], run["rate"], *ends)
            axes.plot(*over, color=INK, linewidth=1.8, linestyle=(0, (1, 1)))
    ticks(axes.xaxis, steps[shown].tolist(), power)
    ticks(axes.yaxis, values[shown].tolist(), power)


def rates(axes: Axes, rows: Sequence[Row], styles: Styles) -> None:
    """Draw rates over seeds of one class: a row each, the interval a bar.

    Parameters
    ----------
    axes : Axes
    rows : sequence of dict
        Of `Findings.rates`, each with a ``rate``.
    styles : mapping of str to Style
    """
    for place, row in enumerate(rows):
        style = styles[row["solver_label"]]
        if row["rate_low"] is not None:
            axes.plot([row["rate_low"], row["rate_high"]], [place] * 2, color=style.colour,
                      linewidth=2.0, solid_capstyle="butt")  # fmt: skip
        axes.plot(row["rate"], place, **line(style, WIDTH, path=False))
        if row["rate_class"] == row["promised_class"] and row["promised_rate"] is not None:
            axes.plot(row["promised_rate"], place, "|", color=INK, markersize=9)
    names = [canvas.label(f"{row['solver_label']}, {row['regime']}") for row in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(len(rows) - 0.5, -0.5)


def ratios(axes: Axes, races: Sequence[Race], labels: Sequence[str], styles: Styles) -> list[str]:
    """Draw how many times longer foreign codes took, a row an instance; return who is shown."""
    shown: list[str] = []
    for race in races:
        for name, row in race.rows.items():
            if row["library"] is not None and row["ratio_total"] is not None:
                place, ratio = labels.index(race.label), within(row["ratio_total"], log=True)
                axes.plot(ratio, place, **line(styles[name], WIDTH, path=False))
                shown.append(name)
    axes.axvline(1.0, color=RIM, linewidth=0.8)
    axes.set(xscale="log", xlabel="times our best")
    axes.set_yticks(range(len(labels)), [canvas.label(name) for name in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    return shown


def growth(axes: Axes, regime: Regime, styles: Styles) -> None:
    """Draw seconds with set-up against the size: a mark an instance, a line through medians."""
    axes.set(xscale="log", yscale="log", xlabel=regime.against, ylabel="seconds, with set-up")
    for label, points in regime.lines.items():
        sizes, seconds = (within(part, log=True) for part in zip(*points, strict=True))
        places = np.unique(sizes)
        middle = [np.median(seconds[sizes == size]) for size in places]
        axes.plot(places, middle, **line(styles[label], WIDTH) | {"marker": "none"})
        axes.plot(sizes, seconds, **line(styles[label], WIDTH, False))
    drawn = [point for points in regime.lines.values() for point in points]
    ticks(axes.xaxis, [size for size, _ in drawn], power)
    ticks(axes.yaxis, [seconds for _, seconds in drawn], words.duration)


def agreement(axes: Axes, found: Agreement) -> None:
    """Draw a matrix solver × solver: on how many starts both rest at the same point.

    The number stands in each field, and the darker it is the larger the share; a field without
    one: nobody compared them, or not both rest.
    """
    names = found.solvers
    shares = np.full((len(names), len(names)), np.nan)
    for (a, b), row in found.cells.items():
        if row["same"] is None:
            continue
        i, j = names.index(a), names.index(b)
        shares[i, j] = row["same"] / row["starts"]
        axes.text(
            j, i, f"{words.count(row['same'])}/{words.count(row['starts'])}",
            ha="center", va="center", color="white" if shares[i, j] > 0.55 else INK,
        )  # fmt: skip
    axes.imshow(np.ma.masked_invalid(shares), cmap="Blues", vmin=0.0, vmax=1.15)
    axes.set_xticks(range(len(names)), [canvas.label(name) for name in names], rotation=90)
    axes.set_yticks(range(len(names)), [canvas.label(name) for name in names])
    axes.grid(False)


def standings(axes: Axes, rows: Sequence[Row], kinds: Mapping[str, str]) -> None:
    """Draw a bar a solver: on how many instances it was first, in parts by how surely.

    Parameters
    ----------
    axes : Axes
    rows : sequence of dict
        Of `Findings.standings`.
    kinds : mapping of str to str
        The columns to be stacked, and what they are called; told apart by shade and hatching.
    """
    left = np.zeros(len(rows))
    for (name, called), (colour, hatch) in zip(kinds.items(), SHADES, strict=False):
        counts = np.array([row[name] or 0 for row in rows], dtype=float)
        axes.barh(range(len(rows)), counts, left=left, height=0.7, label=called, color=colour,
                  hatch=hatch, edgecolor=INK, linewidth=0.5)  # fmt: skip
        left += counts
    axes.set_yticks(range(len(rows)), [canvas.label(row["solver_label"]) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def collapse(axes: Axes, rows: Sequence[Row], styles: Styles) -> list[str]:
    """Draw after how many layers clouds have collapsed against the entropy of their attention.

    A bar between the checkpoints that bracket it; where it had not by the last layer an open mark
    stands there, with an arrow.

    Returns
    -------
    list of str
        The solvers shown.
    """
    axes.set(yscale="log", xlabel="entropy of attention over log n", ylabel="layers to collapse")
    layers: list[float] = []
    for row in rows:
        look = line(styles[row["solver_label"]], WIDTH, path=False)
        x = row["entropy_relative"]
        if row["k_high"] is None:
            last = max(float(row["steps"] or 0), 1.0)
            axes.plot(x, last, **look | {"markerfacecolor": "none", "markeredgewidth": 0.8})
            axes.annotate("", (x, last), xytext=(0, 10), textcoords="offset points", zorder=1,
                          arrowprops={"arrowstyle": "<-", "linewidth": 0.6, "color": FAINT,
                                      "shrinkB": 3})  # fmt: skip
            layers.append(last)
            continue
        low, high = max(float(row["k_low"]), 1.0), float(row["k_high"])
        axes.plot([x, x], [low, high], color=look["color"], linewidth=2.0)
        axes.plot(x, high, **look)
        layers += [low, high]
    axes.set_xlim(-0.04, 1.04)
    ticks(axes.yaxis, layers, power)
    axes.set_ylim(min(layers) / 1.5, max(layers) * 3)
    return [row["solver_label"] for row in rows]


def plane(axes: Axes, picture: Picture, styles: Styles) -> None:
    """Draw the hull in the plane with its cells, the starts and the paths."""
    _cells(axes, picture)
    axes.plot(*picture.hull.T, color=RIM, linewidth=0.9)
    axes.plot(*picture.atoms.T, "o", color=RIM, markersize=2.5)
    for i, (label, points) in enumerate(picture.paths):
        thick = min(0.8 * (len(picture.paths) - 1 - i), 3.2)
        look = line(styles[label], 1.0 + thick)
        for path in points.swapaxes(0, 1):
            axes.plot(*path.T, markevery=[len(path) - 1], **look)
    axes.plot(*picture.starts.T, "o", markersize=3.5, markerfacecolor="none", color=INK)
    if len(picture.atoms) <= 40:
        middle = picture.hull[:-1].mean(axis=0)
        for i, atom in enumerate(picture.atoms):
            away = (atom - middle) / (np.linalg.norm(atom - middle) or 1.0)
            axes.annotate(
                str(i), atom, xytext=7 * away, textcoords="offset points", ha="center", va="center"
            )  # fmt: skip
    axes.grid(False)
    wide, high = np.ptp(picture.atoms, axis=0)
    if max(wide, high) > THIN * min(wide, high):
        axes.set_aspect("auto")  # drawn to scale a sliver would be a line
        axes.set_xlabel("axes not to one scale")
        axes.ticklabel_format(useOffset=False)
    else:
        axes.set_aspect("equal")
    axes.locator_params(nbins=4)
    (left, right), (bottom, top) = selection.window(picture)
    axes.set(xlim=(left, right), ylim=(bottom, top))


def _cells(axes: Axes, picture: Picture) -> None:
    keys = selection.leaders(picture)
    if picture.rings:
        colours = dict(zip(keys, words.cell_colours(len(keys)), strict=True))
        for key, ring in picture.rings:  # one too small for the grid has no colour of its own
            colour = colours.get(key, "white")
            axes.fill(*ring.T, facecolor=colour, edgecolor="#9aa5af", linewidth=0.6)
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


def line(style: Style, width: float, path: bool = True) -> dict[str, Any]:
    """Return a solver's look as matplotlib reads it; without a path, its mark alone."""
    dash = tuple(px / 2 for px in style.dash)
    return {
        "color": style.colour,
        "linestyle": ((0, dash) if dash else "-") if path else "none",
        "linewidth": width,
        "marker": MARKERS[style.symbol],
        "markersize": 2.7 + width,
    }


def power(value: float) -> str:
    """Format a mark on a log axis: plain where that is short.

    Examples
    --------
    >>> [power(value) for value in (1e-6, 0.01, 1.0, 200.0, 1e5)]
    ['1e-06', '0.01', '1', '200', '1e+05']
    """
    return f"{value:g}" if 1e-2 <= value < 1e5 else words.power(value)


def ticks(axis: Axis, drawn: Sequence[float], word: Callable[[float], str]) -> None:
    """Label decades in plain words (mathematical text would take most of the drawing time)."""
    short = not drawn or max(drawn) < 50 * min(drawn)
    if drawn and max(drawn) < 5 * min(drawn):  # no decade in sight: plain numbers, evenly spaced
        axis.set_major_locator(MaxNLocator(4))
        axis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{value:.3g}" if word is power else word(value))
        )
    else:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,), numticks=6))
        axis.set_major_formatter(FuncFormatter(lambda value, _: word(value)))
    axis.set_minor_locator(NullLocator())


def legend(figure: Figure, labels: Iterable[str], styles: Styles, path: bool = True) -> None:
    """Put a legend below all axes: each label once, without a path its mark alone."""
    shown = sorted(set(labels))
    if not shown:
        return
    lines = [Line2D([], [], **line(styles[label], WIDTH, path)) for label in shown]
    canvas.legend(figure, lines, shown)
