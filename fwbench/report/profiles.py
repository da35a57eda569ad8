"""Profiles as figures: bands of steps between the ends that brackets allow."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from fwbench.analysis.profiles import Profiles
from fwbench.report import canvas
from fwbench.report.canvas import FAINT, PAGE, within
from fwbench.report.words import Style, power

PROFILES = ("performance", "data")
BEYOND = 1.3  # the axis ends this much after the last step
WORDS = {"lmo": "oracle calls", "seconds": "seconds in the solver", "total": "seconds, with set-up"}
UNITS = {"lmo": "calls / min(n, d + 1)", "seconds": "seconds", "total": "seconds"}
VARIANTS = {
    "defaults": "each solver as it is by default",
    "tuned": "each solver at the best of its grid on each instance",
    "chosen": "solvers as chosen",
}
Steps = list[dict[str, Any]]


def draw(profiles: Profiles, number: int, styles: Mapping[str, Style]) -> Figure:
    """Draw a contest: performance profiles above, data profiles below, a column a target.

    To be called inside `fwbench.report.canvas.drawing`.

    Parameters
    ----------
    profiles : Profiles
    number : int
        Of the contest.
    styles : mapping of str to Style
        By solver label.

    Returns
    -------
    Figure
    """
    contest = profiles.contests[number]
    rows = profiles.steps[profiles.steps["contest"] == number]
    targets = sorted(set(rows["target"]), reverse=True)
    looks = {
        solver: styles[label] for solver, label in zip(contest.solvers, contest.labels, strict=True)
    }
    figure = Figure(figsize=(PAGE, 3.8), layout="constrained")
    figure.suptitle(f"{VARIANTS[contest.variant]}, in {WORDS[contest.cost]}")
    grid = figure.subplots(2, len(targets), squeeze=False, sharey=True, sharex="row")
    for kind, line in zip(PROFILES, grid, strict=True):
        limits(line[0], rows[rows["profile"] == kind], kind)
        for target, axes in zip(targets, line, strict=True):
            panel(axes, rows[(rows["profile"] == kind) & (rows["target"] == target)], looks)
            axes.set_xlabel(along(kind, contest.cost))
            axes.set_title(f"to {power(target)} of the scale")
        line[0].set_ylabel(f"share of {len(contest.places)} instances")
    _legend(figure, looks, tuned=bool(rows["grid_low"].notna().any()))
    return figure


def along(kind: str, cost: str) -> str:
    """Say what the axis of a profile counts.

    Examples
    --------
    >>> along("performance", "lmo"), along("data", "lmo")
    ('times the best', 'calls / min(n, d + 1)')
    """
    return UNITS[cost] if kind == "data" else "times the best"


def panel(axes: Axes, rows: pd.DataFrame, looks: Mapping[str, Style]) -> None:
    """Draw one profile on axes whose limits are set: the rows of one target, of `steps`."""
    for solver, part in rows.groupby("solver", sort=False):
        columns = {str(name): values for name, values in part.to_dict("list").items()}
        _band(axes, columns, looks[str(solver)])


def limits(axes: Axes, rows: pd.DataFrame, kind: str) -> None:
    """Set the axes so that all steps of a kind of profile, `rows`, are seen."""
    ends = rows[["low", "high", "grid_high"]].to_numpy(dtype=float)
    ends = ends[np.isfinite(ends) & (ends > 0)]
    low = float(ends.min()) / BEYOND if kind == "data" and len(ends) else 1.0
    high = float(ends.max()) * BEYOND if len(ends) else 10.0
    axes.set(xscale="log", xlim=within([low, max(high, 2 * low)], log=True), ylim=(-0.03, 1.03))
    axes.xaxis.set_major_locator(LogLocator(numticks=4))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: f"{x:g}" if 1e-2 <= x < 1e5 else power(x))
    )
    axes.xaxis.set_minor_locator(NullLocator())


def _band(axes: Axes, part: dict[str, list[float]], style: Style) -> None:
    """Draw one solver: a line where its share is sure, a band up to where it may be."""
    left, right = axes.get_xlim()
    share = part["share"]
    sure, hoped = (_stairs(part[name], share, left, right) for name in ("high", "low"))
    dash = tuple(px / 2 for px in style.dash)
    line: dict[str, Any] = {"color": style.colour, "linestyle": (0, dash) if dash else "-"}
    axes.plot(*sure, linewidth=1.1, **line)
    _filled(axes, sure, hoped, style.colour, 0.35)
    if not np.isnan(part["without_low"]).all():
        _filled(axes, sure, _stairs(part["without_low"], share, left, right), style.colour, 0.08)
    if not np.isnan(part["grid_high"]).all():
        grid = _stairs(part["grid_high"], share, left, right)
        axes.plot(*grid, linewidth=0.7, **line)


def _stairs(
    thresholds: list[float], shares: list[float], left: float, right: float
) -> tuple[list[float], list[float]]:
    """Return the corners of a step function from the left edge to the right one.

    Examples
    --------
    >>> _stairs([1.0, 2.0, float("nan")], [0.25, 0.5, 0.75], 1.0, 8.0)
    ([1.0, 1.0, 1.0, 2.0, 2.0, 8.0], [0.0, 0.0, 0.25, 0.25, 0.5, 0.5])
    """
    x, y = [left], [0.0]
    for at, share in zip(thresholds, shares, strict=True):
        if at <= right:  # null is never reached
            x += [max(at, left)] * 2
            y += [y[-1], share]
    return [*x, right], [*y, y[-1]]


def _filled(axes: Axes, below: Any, above: Any, colour: str, alpha: float) -> None:
    """Fill between two step functions."""
    (x, y), (other_x, other_y) = below, above
    axes.fill([*x, *other_x[::-1]], [*y, *other_y[::-1]], color=colour, alpha=alpha, linewidth=0)


def _legend(figure: Figure, looks: Mapping[str, Style], tuned: bool) -> None:
    handles: list[Any] = []
    for style in looks.values():
        dash = tuple(px / 2 for px in style.dash)
        look: dict[str, Any] = {"color": style.colour, "linestyle": (0, dash) if dash else "-"}
        handles.append(Line2D([], [], **look))
    named: dict[str, Any] = {
        "what the brackets leave open": Patch(color=FAINT, alpha=0.35),
        "with one other solver left out": Patch(color=FAINT, alpha=0.12),
    }
    if tuned:
        named["thin: the whole grid"] = Line2D([], [], color=FAINT, linewidth=0.7)
    canvas.legend(figure, [*handles, *named.values()], [*looks, *named])
