"""Basins as images: a map a solver, its numbers name the atoms; unlike neighbours have a line."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.path import Path
from numpy.typing import NDArray

from fwbench.analysis.atlas import ELSEWHERE, MOVING, Atlas, Basins
from fwbench.report.canvas import COLUMN, INK, PAGE, RIM, wrapped
from fwbench.report.words import cell_colours

HATCHES = {ELSEWHERE: ("....", "rests elsewhere"), MOVING: ("xxxx", "not at rest")}
VECTORS = 10_000  # starts; more are drawn as one picture of points
APART = ("#8f98a1", "////", "solvers differ")


def draw(atlas: Atlas) -> Figure:
    """Draw the map of each solver, and where they differ; inside `canvas.drawing`.

    Parameters
    ----------
    atlas : Atlas

    Returns
    -------
    Figure
    """
    panels = len(atlas.basins) + (len(atlas.basins) > 1)
    wide = min(panels, 3 if panels != 4 else 2)
    high = -(-panels // wide)
    across, up = np.ptp(atlas.hull, axis=0)
    width = COLUMN if wide == 1 else PAGE
    tall = min(max((width / wide - 0.2) * up / across, 1.0), 4.0)
    figure = Figure(figsize=(width, (tall + 0.45) * high + 0.6), layout="constrained")
    places: list[Axes] = list(figure.subplots(high, wide, squeeze=False).flat)
    figure.suptitle(wrapped(atlas.label, width - 0.3))
    shown = list(atlas.ends)
    met: set[int] = set()
    for basins, axes in zip(atlas.basins, places, strict=False):
        _map(axes, atlas, basins, shown)
        met |= set(np.unique(basins.keys).tolist()) & HATCHES.keys()
        axes.set_title(wrapped(basins.solver, width / wide - 0.5))
    if panels > len(atlas.basins):
        axes = places[panels - 1]
        colour, hatch, name = APART
        _squares(axes, atlas, atlas.differ, hatch, colour)
        axes.set_title("where two solvers rest apart")
    for axes in places[:panels]:
        _frame(axes, atlas)
    for axes in places[panels:]:
        axes.remove()
    handles = [
        Patch(facecolor="white", edgecolor=INK, hatch=HATCHES[code][0], label=HATCHES[code][1])
        for code in sorted(met)
    ]
    if atlas.differ.any():
        handles.append(Patch(facecolor=colour, edgecolor=INK, hatch=hatch, label=name))
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _map(axes: Axes, atlas: Atlas, basins: Basins, shown: list[int]) -> None:
    if shown:
        place = np.full(max(shown) + 1, -1)
        place[shown] = np.arange(len(shown))
        held = np.where(basins.keys >= 0, place[np.maximum(basins.keys, 0)], -1)
        mesh = axes.pcolormesh(
            atlas.x, atlas.y, np.ma.masked_less(held, 0), shading="nearest",
            cmap=ListedColormap(cell_colours(len(shown))), vmin=-0.5, vmax=len(shown) - 0.5,
            edgecolor="face", linewidth=0.2, rasterized=atlas.differ.size > VECTORS,
        )  # fmt: skip
        mesh.set_clip_path(Path(atlas.hull), axes.transData)
    for code, (hatch, _) in HATCHES.items():
        _squares(axes, atlas, basins.keys == code, hatch, "white")
    axes.add_collection(LineCollection(list(basins.borders), colors=RIM, linewidths=0.7))
    for key, x, y in basins.numbers:
        axes.text(x, y, str(key), ha="center", va="center", fontsize=8, color=RIM)


def _squares(axes: Axes, atlas: Atlas, where: NDArray[np.bool_], hatch: str, colour: str) -> None:
    side = atlas.x[1] - atlas.x[0]
    for i, j in zip(*np.nonzero(where), strict=True):
        corner = float(atlas.x[j] - side / 2), float(atlas.y[i] - side / 2)
        axes.add_patch(
            Rectangle(corner, side, side, facecolor=colour, edgecolor=INK, hatch=hatch, linewidth=0)
        )


def _frame(axes: Axes, atlas: Atlas) -> None:
    axes.plot(*atlas.hull.T, color=RIM, linewidth=1.0)
    axes.plot(*atlas.atoms.T, "o", color=INK, markersize=2.5)
    if len(atlas.atoms) <= 40:
        middle = atlas.hull[:-1].mean(axis=0)
        for key, atom in enumerate(atlas.atoms):
            away = (atom - middle) / (np.linalg.norm(atom - middle) or 1.0)
            axes.annotate(
                str(key), atom, xytext=8 * away, textcoords="offset points", ha="center",
                va="center",
            )  # fmt: skip
    axes.set_aspect("equal")
    axes.grid(False)
    axes.use_sticky_edges = False
    axes.margins(0.12)
