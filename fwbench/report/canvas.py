"""What all figures share: one look, and a figure as the bytes of files. No window, no pyplot."""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from fwbench.errors import visible

COLUMN, PAGE = 3.3, 6.9  # inches: one column of a paper, and both
ON_SCREEN = 150  # dots an inch, in a notebook
LETTERS = 18  # of the usual font go in an inch
LINE = 0.145  # inches that one takes in a legend
LONGEST = 100  # letters of a name in a figure
FARTHEST = 1e150  # matplotlib looks for ticks far beyond what it draws, which must not overflow
INK, RIM, FAINT = "#1b1f24", "#444c55", "#5f6b76"
LOOK: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelpad": 2.5,
    "figure.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#9aa5af",
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6eaee",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
    "svg.hashsalt": "fwbench",  # equal figures make equal files
}


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in the look of all reports; the settings of matplotlib are as before afterwards."""
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(LOOK)
        # A name may hold letters that the font lacks; a box in their place is no failure.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        yield


def within(values: ArrayLike, log: bool) -> NDArray[np.float64]:
    """Return values that axes can hold, those far beyond (10^±150) at the edge; NaN stays.

    Examples
    --------
    >>> within([1e-300, 1.0, 1e308], log=True).tolist()
    [1e-150, 1.0, 1e+150]
    """
    found = np.asarray(values, dtype=np.float64)
    return np.asarray(np.clip(found, 1 / FARTHEST if log else -FARTHEST, FARTHEST))


def label(name: str) -> str:
    """Return a name as it stands in a title or a legend: plain, in one line, not too long."""
    cut = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    return plain(visible(cut))


def plain(name: str) -> str:
    """Keep matplotlib from reading a name as mathematics, and SVG from letters XML lacks."""
    return visible(name, keep="\n").replace("$", r"\$")


def wrapped(name: str, width: float) -> str:
    r"""Return a name that may be of several lines, so that it fits into so many inches.

    Examples
    --------
    >>> wrapped("polygon[k=7,norms=vary,queries=400]", 1.0)
    'polygon[k=7,\nnorms=vary,\nqueries=400]'
    """
    room = max(int(width * LETTERS), 8)
    cut = visible(name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…")
    lines = [""]
    for piece in re.findall(r"[^,\[ ]*[,\[ ]?", cut):
        if lines[-1] and len(lines[-1]) + len(piece) > room:
            lines.append("")
        lines[-1] += piece
    cut_up = [part for line in lines for part in wrap(line, room) or [""]]
    return plain("\n".join(cut_up))


class ShownAxes(Axes):
    """Axes that a notebook shows as a picture of their figure, without pyplot."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with drawing():
            FigureCanvasAgg(self.figure.figure)
            self.figure.figure.savefig(buffer, format="png", dpi=ON_SCREEN)
        return buffer.getvalue()


def shown_axes(width: float, height: float) -> Axes:
    """Return the axes of a new figure of their own; to be called inside `drawing`."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure.add_subplot(axes_class=ShownAxes)


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Put handles with their labels below all axes of a figure, which grows by as much.

    In as many columns as there is room for; a long label in several lines.
    """
    width, height = figure.get_size_inches()
    named = [wrapped(name, width - 0.7) for name in labels]
    longest = max(len(part) for name in named for part in name.split("\n"))
    columns = max(1, int(width * LETTERS / (longest + 10)))
    rows = [named[i : i + columns] for i in range(0, len(named), columns)]
    lines = sum(max(name.count("\n") + 1 for name in row) for row in rows)
    figure.set_size_inches(width, height + LINE * lines + 0.1)
    figure.legend(
        handles, named, loc="outside lower center", ncols=min(columns, len(handles)),
        handlelength=3.2, columnspacing=1.2,
    )  # fmt: skip


def files(stem: str, figure: Figure) -> dict[str, bytes]:
    """Return a figure as PNG and PDF, by file name."""
    FigureCanvasAgg(figure)
    made = {}
    # No date and no version inside: equal findings make equal files.
    for suffix, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix, metadata=metadata)
        figure.set_layout_engine("none")  # the layout is made once, for the first of the two
        made[f"{stem}.{suffix}"] = buffer.getvalue()
    return made


def svg(figure: Figure) -> bytes:
    """Return a figure as SVG, letters as shapes: it looks the same without the font."""
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
