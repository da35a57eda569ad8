"""Diagrams of pure geometry: cells, contours, cones, power cells; told apart in grey by lines."""

from textwrap import wrap
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from fwbench.analysis.diagrams import Diagram, Role
from fwbench.report.canvas import COLUMN, FAINT, INK, LETTERS, RIM, plain
from fwbench.report.words import cell_colours

NAMED = 10  # regions of up to so many vertices carry their numbers
WIDE = int(COLUMN * LETTERS) - 2  # letters in a line
LOOKS: dict[Role, dict[str, Any]] = {
    Role.CELL: {"edgecolor": RIM, "linewidth": 0.8},
    Role.SHADE: {"facecolor": "#d9dde1", "edgecolor": RIM, "linewidth": 1.0},
    Role.CONE: {"facecolor": "#9fd8bd", "edgecolor": "#00684a", "linewidth": 1.2, "hatch": "////"},
    Role.ERODED: {
        "facecolor": "#e7b3d3", "edgecolor": "#8a2f66", "linewidth": 1.6, "hatch": "xxxx",
    },
    Role.LEVEL: {"edgecolor": "white", "linewidth": 0.3},
    Role.VORONOI: {
        "facecolor": "none", "edgecolor": INK, "linewidth": 1.6, "linestyle": (0, (4, 2)),
    },
}  # fmt: skip
NAMES = {
    Role.SHADE: "the cell",
    Role.CONE: "dominance cone",
    Role.ERODED: "eroded cone",
    Role.CELL: "cells of attention",
    Role.VORONOI: "Voronoi cells",
}


def draw(diagram: Diagram) -> Figure:
    """Draw a diagram; to be called inside `fwbench.report.canvas.drawing`.

    Parameters
    ----------
    diagram : Diagram

    Returns
    -------
    Figure
        Everything in it is a path, nothing a picture of points.
    """
    figure = Figure(figsize=(COLUMN, 3.6), layout="constrained")
    axes: Axes = figure.subplots()
    levels = [part.value for part in diagram.parts if part.value is not None]
    scale = Normalize(min(levels, default=0.0), max(levels, default=1.0))
    plasma = mpl.colormaps["plasma"]
    colours = cell_colours(len(diagram.atoms))
    drawn: dict[Role, Polygon] = {}
    for part in diagram.parts:
        look = dict(LOOKS[part.role])
        if part.role is Role.CELL and part.key is not None:
            look["facecolor"] = colours[_turn(diagram)[part.key]]
        if part.value is not None:
            look["facecolor"] = plasma(scale(part.value))
        patch = Polygon(part.ring, closed=True, **look)
        drawn.setdefault(part.role, patch)
        axes.add_patch(patch)
    axes.plot(*diagram.hull.T, color=RIM, linewidth=1.1)
    axes.plot(*diagram.atoms.T, "o", color=INK, markersize=4, markerfacecolor="white")
    axes.plot(0, 0, "+", color=INK, markersize=7, markeredgewidth=1.2)
    _number(axes, diagram)
    axes.set_aspect("equal")
    axes.grid(False)
    axes.margins(0.1)
    axes.locator_params(nbins=5)
    axes.set_title("\n".join(wrap(plain(diagram.title), WIDE)))
    if diagram.note:
        axes.set_xlabel("\n".join(wrap(plain(diagram.note), WIDE)), color=FAINT)
    if levels:
        mappable = ScalarMappable(scale, plasma)
        figure.colorbar(mappable, ax=axes, orientation="horizontal", shrink=0.8, aspect=40)
    elif set(drawn) != {Role.CELL}:
        named = [(patch, NAMES[role]) for role, patch in drawn.items()]
        figure.legend(*zip(*named, strict=True), loc="outside lower center", ncols=3)
    return figure


def _turn(diagram: Diagram) -> dict[int, int]:
    """Return each atom's place in the order of angles, so that neighbours look unlike."""
    away = diagram.atoms - diagram.hull[:-1].mean(axis=0)
    order = np.argsort(np.arctan2(away[:, 1], away[:, 0]), kind="stable")
    return {int(key): place for place, key in enumerate(order)}


def _number(axes: Axes, diagram: Diagram) -> None:
    middle = diagram.hull[:-1].mean(axis=0)
    for key, atom in enumerate(diagram.atoms):
        away = (atom - middle) / (np.linalg.norm(atom - middle) or 1.0)
        axes.annotate(
            str(key), atom, xytext=8 * away, textcoords="offset points", ha="center", va="center",
            color=INK,
        )  # fmt: skip
    if len(diagram.atoms) > NAMED:
        return
    for part in diagram.parts:
        if part.middle is not None:
            x, y = part.middle
            axes.text(
                x, y, str(part.key), ha="center", va="center", fontsize=8,
                color=RIM,
            )  # fmt: skip
