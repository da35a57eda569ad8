"""The figure that decides a claim: a few lines, dashed where they are what the claim promises."""

import math
import re
from collections.abc import Iterable
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fwbench.report import canvas
from fwbench.report.canvas import COLUMN, FAINT, INK, LETTERS, drawing, plain
from fwbench.report.words import COLOURS
from fwbench.theory.claim import Curves, Line
from fwbench.theory.verdicts import Record
from fwbench.theory.verdicts import curves as curves_of

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", (0, (6, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (9, 2, 1, 2, 1, 2)))
BOUND = (0, (3, 2))
SHOWN = 9  # marks along a line: enough to tell it from others in grey
FEW = 15  # of so few points each is marked
ON_PAGE = 5.6  # inches, in HTML
MOST, MARKED = 600, 48  # letters of a title or a note, and of a mark: more leave no room for lines


def draw(curves: Curves, width: float = COLUMN) -> Figure:
    """Draw a claim's curves: every line with a dash and a marker of its own, bounds in grey.

    To be called inside `fwbench.report.canvas.drawing`.

    Parameters
    ----------
    curves : Curves
        A point that is not finite, or not positive on a logarithmic axis, is a hole.
    width : float
        In inches.

    Returns
    -------
    Figure
    """
    letters = int(width * LETTERS) - 4
    figure = Figure(figsize=(width, 0.68 * width), layout="constrained")
    axes: Axes = figure.subplots()
    bounds = measured = 0
    labels: list[str] = []
    for line in curves.lines:
        x, y = _places(line, curves)
        if not len(x):
            continue
        marked = range(len(x)) if len(x) <= FEW else _spread(x, curves.log_x)
        if line.bound:
            look: dict[str, Any] = {
                "color": FAINT,
                "linestyle": BOUND,
                "linewidth": 1.6,
                "zorder": 3,
            }
            if bounds:  # a second bound is told from the first by its marks
                look |= {"marker": "|x+"[(bounds - 1) % 3], "markevery": list(marked)}
            bounds += 1
        else:
            look = {
                "color": COLOURS[measured % len(COLOURS)],
                "linestyle": DASHES[measured % len(DASHES)],
                "linewidth": 1.1,
                "marker": MARKERS[measured % len(MARKERS)],
                "markersize": 4,
                "markerfacecolor": "white" if measured % 2 else None,
                "markevery": list(marked),
            }
            measured += 1
        axes.plot(x, y, label=canvas.label(line.label), **look)
        labels.append(line.label)
    axes.set(
        xscale="log" if curves.log_x else "linear",
        yscale="log" if curves.log_y else "linear",
        xlabel=canvas.label(curves.x_label),
        ylabel=canvas.label(curves.y_label),
    )
    axes.set_title("\n".join(wrap(plain(curves.title[:MOST]), letters - 4)))
    for place, word in curves.marks:
        if not math.isfinite(place) or (curves.log_x and place <= 0):
            continue
        axes.axvline(place, color=INK, linewidth=0.7, linestyle=(0, (1, 2)))
        axes.annotate(
            canvas.label(word[:MARKED]), (place, 0.0), xytext=(2, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points", rotation=90, va="bottom", color=INK, zorder=9,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.6},
        )  # fmt: skip
    if labels:
        canvas.legend(figure, axes.get_lines()[: len(labels)], labels)
    if curves.note:
        note = wrap(plain(curves.note[:MOST]), letters, break_on_hyphens=False)
        axes.set_xlabel("\n".join([canvas.label(curves.x_label), *note]))
    return figure


def _places(line: Line, curves: Curves) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points of a line, those without a place on the axes as NaN; none: empty."""
    x, y = (np.array(values, dtype=float) for values in (line.x, line.y))
    shown = np.isfinite(x) & np.isfinite(y)
    shown &= (x > 0) | (not curves.log_x)
    shown &= (y > 0) | (not curves.log_y)
    if not shown.any():
        return np.empty(0), np.empty(0)
    x, y = np.where(shown, x, np.nan), np.where(shown, y, np.nan)
    return canvas.within(x, curves.log_x), canvas.within(y, curves.log_y)


def _spread(x: NDArray[np.float64], log: bool) -> list[int]:
    """Return indices of points that are evenly spread along the axis, the ends among them."""
    along = np.log(x) if log else x
    known = np.flatnonzero(np.isfinite(along))
    at = np.linspace(np.nanmin(along), np.nanmax(along), SHOWN)
    return sorted({int(known[np.abs(along[known] - place).argmin()]) for place in at})


def claim_files(records: Iterable[Record]) -> dict[str, bytes]:
    """Draw the deciding figure of each claim that has one: ``claim-NAME`` as PNG and PDF."""
    made: dict[str, bytes] = {}
    with drawing():
        for record in records:
            if (found := curves_of(record)) is not None:
                made |= canvas.files(f"claim-{record['name']}", draw(found))
    return made


def inline(record: Record) -> str | None:
    """Return the deciding figure as an SVG element that shares a page with others, or None."""
    found = curves_of(record)
    if found is None:
        return None
    with drawing():
        picture = canvas.svg(draw(found, ON_PAGE)).decode()
    # several on one page: each has ids of its own
    own = rf"\g<1>{re.sub('[^A-Za-z0-9_]', '-', record['name'])}-"
    picture = re.sub(r'(\bid="|href="#|url\(#)', own, picture[picture.index("<svg") :])
    return picture.replace("<svg ", '<svg role="img" ', 1)
