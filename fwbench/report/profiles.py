"""Profiles as figures: bands of steps between the ends that brackets allow."""

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from fwbench.analysis.profiles import Profiles
from fwbench.report import canvas
from fwbench.report.canvas import FAINT, drawing, within
from fwbench.report.words import Style, power

DRAWN = ("lmo", "seconds")  # total differs little from seconds in a figure
BEYOND = 1.3  # the axis ends this much after the last step
WORDS = {"lmo": "oracle calls", "seconds": "seconds in the solver", "total": "seconds, with set-up"}
UNITS = {"lmo": "calls / min(n, d + 1)", "seconds": "seconds", "total": "seconds"}
VARIANTS = {
    "defaults": "each solver as it is by default",
    "tuned": "each solver at the best of its grid on each instance",
    "chosen": "solvers as chosen",
}
Steps = list[dict[str, Any]]


def files(profiles: Profiles, styles: Mapping[str, Style]) -> dict[str, bytes]:
    """Draw the largest contest of each variant, in oracle calls and in seconds.

    Returns
    -------
    dict of str to bytes
        ``profile-VARIANT-COST`` as PNG and PDF.
    """
    made: dict[str, bytes] = {}
    with drawing():
        for number, contest in enumerate(profiles.contests):
            stem = f"profile-{contest.variant}-{contest.cost}"
            if contest.cost in DRAWN and f"{stem}.pdf" not in made:
                made |= canvas.files(stem, draw(profiles, number, styles))
    return made


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
    figure = Figure(figsize=(2.6 * len(targets), 5.6), layout="constrained")
    figure.suptitle(f"{VARIANTS[contest.variant]}, in {WORDS[contest.cost]}", fontsize=10)
    grid = figure.subplots(2, len(targets), squeeze=False, sharey=True, sharex="row")
    kinds = {"performance": "times the best", "data": UNITS[contest.cost]}
    for (kind, label), line in zip(kinds.items(), grid, strict=True):
        _limits(line[0], rows[rows["profile"] == kind], least=1.0 if kind != "data" else None)
        for target, axes in zip(targets, line, strict=True):
            here = rows[(rows["profile"] == kind) & (rows["target"] == target)]
            for solver, part in here.groupby("solver", sort=False):
                _band(axes, part.to_dict("list"), looks[str(solver)])
            axes.set(xlabel=label)
            axes.set_title(f"to {power(target)} of the scale", fontsize=8)
        line[0].set_ylabel(f"share of {len(contest.places)} instances")
    _legend(figure, looks, bool(rows["grid_low"].notna().any()), _caption(contest.instances))
    return figure


def _limits(axes: Axes, rows: Any, least: float | None) -> None:
    """Set the axis that a row of panels shares."""
    ends = rows[["low", "high", "grid_high"]].to_numpy(dtype=float)
    ends = ends[np.isfinite(ends) & (ends > 0)]
    low = least or (float(ends.min()) / BEYOND if len(ends) else 1.0)
    high = float(ends.max()) * BEYOND if len(ends) else 10.0
    axes.set(xscale="log", xlim=within([low, max(high, 2 * low)], log=True), ylim=(-0.03, 1.03))
    axes.xaxis.set_major_locator(LogLocator(numticks=5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
    axes.xaxis.set_minor_locator(NullLocator())


def _band(axes: Axes, part: dict[str, list[float]], style: Style) -> None:
    """Draw one solver: a line where its share is sure, a band up to where it may be."""
    left, right = axes.get_xlim()
    share = part["share"]
    sure, hoped = (_stairs(part[name], share, left, right) for name in ("high", "low"))
    dash = tuple(px / 2 for px in style.dash)
    line: dict[str, Any] = {"color": style.colour, "linestyle": (0, dash) if dash else "-"}
    axes.plot(*sure, linewidth=1.4, **line)
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


def _legend(figure: Figure, looks: dict[str, Style], tuned: bool, caption: str) -> None:
    handles: list[Any] = []
    for solver, style in looks.items():
        dash = tuple(px / 2 for px in style.dash)
        look: dict[str, Any] = {"color": style.colour, "linestyle": (0, dash) if dash else "-"}
        handles.append(Line2D([], [], label=canvas.label(solver), **look))
    handles.append(Patch(color=FAINT, alpha=0.35, label="what the brackets leave open"))
    handles.append(Patch(color=FAINT, alpha=0.12, label="with one other solver left out"))
    if tuned:
        handles.append(Line2D([], [], color=FAINT, linewidth=0.7, label="thin: the whole grid"))
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = max(1, int(figure.get_size_inches()[0] * 15 / (longest + 9)))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        handlelength=3.6,
        title=caption,
        title_fontsize=7,
    )


def _caption(instances: tuple[str, ...]) -> str:
    """Name the instances, as far as they fit."""
    text = f"{len(instances)} instances: {', '.join(instances)}"
    lines = wrap(canvas.plain(text), 150, break_on_hyphens=False)
    return "\n".join(lines if len(lines) <= 3 else [*lines[:3], "…"])
