"""What all figures share: one look, and a figure as the bytes of files. No window, no pyplot."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from fwbench.errors import visible

LONGEST = 100  # letters of a name in a figure
FARTHEST = 1e150  # matplotlib looks for ticks far beyond what it draws, which must not overflow
INK, RIM, FAINT = "#1b1f24", "#444c55", "#5f6b76"
LOOK: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#9aa5af",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6eaee",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "savefig.dpi": 150,
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
