"""One finding as one picture, on axes of its own or on given ones: what `.plot()` calls.

No pyplot: axes that are made here show themselves in a notebook, and `axes.figure.savefig` keeps
them. Given axes keep the look of their owner.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from fwbench.analysis.findings import Findings
from fwbench.analysis.profiles import Profiles
from fwbench.errors import InvalidParameter, nearest
from fwbench.report import canvas, panels, selection, words
from fwbench.report import profiles as stairs
from fwbench.report.exhibits import Convergence, collapses, convergences
from fwbench.report.panels import Styles

WIDE, HIGH = 4.4, 2.9  # inches
MOST = 40  # rates in one picture
CLASSES = ("sublinear", "linear", "superlinear", "finite")
UNITS = {"sublinear": "exponent", "linear": "factor a step", "superlinear": "order",
         "finite": "steps"}  # fmt: skip
FIRST = {"sure": "first, surely", "unsure": "first, unsure", "alone": "nobody else came there"}


def curves(
    findings: Findings,
    axes: Axes | None,
    *,
    instance: str = "",
    solvers: str | Sequence[str] = (),
    measure: str = "",
    against: str = "k",
) -> Axes:
    """Draw the convergence curves of one instance, with bands where repetitions differ."""
    shown = _convergence(findings, instance)
    measure = _one(measure, shown.measures, "measure") if measure else shown.measures[0]
    against = _one(against, tuple(words.AXES), "axis")
    drawn = [curve.solver for curve in shown.curves]
    asked = [solvers] if isinstance(solvers, str) else solvers
    wanted = {_one(name, drawn, "solver") for name in asked} or set(drawn)
    styles = _styles(findings)
    with _look(axes):
        found = axes if axes is not None else canvas.shown_axes(WIDE, HIGH)
        bands = [one for one in shown.bands.get((against, measure), ()) if one.solver in wanted]
        some = [curve for curve in shown.curves if curve.solver in wanted]
        panels.curves(found, some, against, measure, styles, bands)
        found.set(xlabel=words.AXES[against], ylabel=words.MEASURES[measure])
        found.set_title(canvas.wrapped(shown.label, WIDE))
        _legend(found, axes is None, wanted, styles)
    return found


def rate(findings: Findings, axes: Axes | None, *, instance: str = "", solver: str = "") -> Axes:
    """Draw what the rate of one run was read off, its window, and the law that was found."""
    rows = selection.rates(findings)
    rows = [row for row in rows if row["run_id"] in set(findings.trace["run_id"])]
    if not rows:
        raise InvalidParameter("no run has a rate class that could be drawn")
    if instance:
        label = _called(instance, [row["instance_label"] for row in rows], findings)
        rows = [row for row in rows if row["instance_label"] == label]
    if solver:
        name = _one(solver, [row["solver_label"] for row in rows], "solver")
        rows = [row for row in rows if row["solver_label"] == name]
    row = next((row for row in rows if row["rate"] is not None), rows[0])
    trace = findings.trace[findings.trace["run_id"] == row["run_id"]].sort_values("k")
    signal = row["rate_signal"] or "gap"
    values = trace[signal].astype("Float64").to_numpy(dtype=float, na_value=float("nan"))
    with _look(axes):
        found = axes if axes is not None else canvas.shown_axes(WIDE, HIGH)
        style = _styles(findings)[row["solver_label"]]
        panels.fit(found, row, trace["k"].tolist(), values.tolist(), style)
        law = row["rate_class"] + ("" if row["rate"] is None else f", {words.rate(row)}")
        found.set(xlabel=words.AXES["k"], ylabel=words.MEASURES[signal])
        title = f"{row['solver_label']} on {row['instance_label']}"
        found.set_title(f"{canvas.wrapped(title, WIDE - 0.8)}\n{law}")
    return found


def seed_rates(findings: Findings, axes: Axes | None, *, rate_class: str = "") -> Axes:
    """Draw the rates over seeds of one class with their intervals, and the promised ones."""
    rows = [row for row in selection.records(findings.rates) if row["rate"] is not None]
    known = [name for name in CLASSES if any(row["rate_class"] == name for row in rows)]
    if not known:
        raise InvalidParameter("no solver has a rate that could be drawn")
    if not rate_class:  # the class of most of them
        rate_class = max(known, key=lambda name: sum(r["rate_class"] == name for r in rows))
    rate_class = _one(rate_class, known, "rate class")
    rows = [row for row in rows if row["rate_class"] == rate_class]
    shown = rows[:MOST]
    with _look(axes):
        high = 0.8 + 0.16 * len(shown)
        found = axes if axes is not None else canvas.shown_axes(WIDE + 1.6, high)
        panels.rates(found, shown, _styles(findings))
        if len(rows) > MOST:
            found.set_title(f"the first {MOST} of {len(rows)}")
        found.set(xlabel=f"{rate_class}: {UNITS[rate_class]}")
    return found


def agreement(findings: Findings, axes: Axes | None, *, instance: str = "") -> Axes:
    """Draw on how many starts each two solvers rest at the same point, on one instance."""
    compared = {one.label: one for one in selection.agreements(findings)}
    if not compared:
        raise InvalidParameter("no two solvers came to rest on one instance")
    name = _called(instance, compared, findings) if instance else next(iter(compared))
    shown = compared[name]
    with _look(axes):
        matrix = 0.42 * len(shown.solvers)
        names = max(map(len, shown.solvers)) / canvas.LETTERS
        side = matrix + min(names, canvas.LONGEST / canvas.LETTERS) + 0.5
        found = axes if axes is not None else canvas.shown_axes(side, side)
        panels.agreement(found, shown)
        title = f"{name}: starts with the same point"
        found.set_title(canvas.wrapped(title, max(matrix, 1.4)))
    return found


def profile(
    found: Profiles,
    labels: Iterable[str],
    axes: Axes | None,
    *,
    kind: str = "performance",
    cost: str = "",
    target: float | None = None,
    variant: str = "",
) -> Axes:
    """Draw one profile: of the first contest of that cost and variant, to one target."""
    kind = _one(kind, stairs.PROFILES, "kind of profile")
    if not found.contests:
        raise InvalidParameter("no two solvers share instances enough for a profile")
    costs = [contest.cost for contest in found.contests]
    variants = [contest.variant for contest in found.contests]
    wanted = (
        _one(cost, costs, "cost") if cost else costs[0],
        _one(variant, variants, "variant") if variant else variants[0],
    )
    pairs = list(zip(costs, variants, strict=True))
    if wanted not in pairs:
        raise InvalidParameter(f"there is no profile of {wanted[1]} in {wanted[0]}")
    number = pairs.index(wanted)
    contest = found.contests[number]
    rows = found.steps[(found.steps["contest"] == number) & (found.steps["profile"] == kind)]
    targets = sorted(set(rows["target"]))
    if target is not None and target not in targets:
        known = ", ".join(words.power(one) for one in targets)
        raise InvalidParameter(f"profiles are made to {known} of the scale; got {target!r}")
    target = targets[0] if target is None else target
    styles = words.styles([*labels, *contest.labels])
    looks = {name: styles[label] for name, label in
             zip(contest.solvers, contest.labels, strict=True)}  # fmt: skip
    with _look(axes):
        drawn = axes if axes is not None else canvas.shown_axes(WIDE, HIGH)
        stairs.limits(drawn, rows, kind)
        stairs.panel(drawn, rows[rows["target"] == target], looks)
        drawn.set(xlabel=f"{stairs.along(kind, contest.cost)} ({stairs.WORDS[contest.cost]})")
        drawn.set(ylabel=f"share of {words.count(len(contest.places))} instances")
        drawn.set_title(f"{kind} profile, to {words.power(target)} of the scale")
        _legend(drawn, axes is None, looks, looks, mark=False)
    return drawn


def growth(findings: Findings, axes: Axes | None, *, regime: str = "", against: str = "") -> Axes:
    """Draw how seconds grow with one size, in one regime."""
    regimes = selection.regimes(findings)
    if not regimes:
        raise InvalidParameter("nothing grows: growth needs four sizes of one family")
    if regime:
        name = _one(regime, [one.name for one in regimes], "regime")
        regimes = [one for one in regimes if one.name == name]
    if against:
        name = _one(against, [one.against for one in regimes], "size")
        regimes = [one for one in regimes if one.against == name]
    shown, styles = regimes[0], _styles(findings)
    with _look(axes):
        found = axes if axes is not None else canvas.shown_axes(WIDE, HIGH)
        panels.growth(found, shown, styles)
        found.set_title(canvas.wrapped(shown.name, WIDE))
        _legend(found, axes is None, shown.lines, styles)
    return found


def standings(findings: Findings, axes: Axes | None) -> Axes:
    """Draw on how many instances each solver was first, and how surely."""
    rows = [row for row in selection.records(findings.standings) if row["where"] is None]
    rows = [row for row in rows if row["firsts"] or row["alone"]]
    if not rows:
        raise InvalidParameter("nobody was first anywhere")
    with _look(axes):
        found = axes if axes is not None else canvas.shown_axes(WIDE, 0.8 + 0.2 * len(rows))
        panels.standings(found, rows, FIRST)
        found.set(xlabel="instances")
        handles, names = found.get_legend_handles_labels()
        if axes is None:
            canvas.legend(found.figure.figure, handles, names)
        else:
            found.legend()
    return found


def plane(findings: Findings, axes: Axes | None, *, instance: str = "") -> Axes:
    """Draw one instance in the plane: hull, cells, starts and paths."""
    pictures = {picture.label: picture for picture in findings.pictures}
    if not pictures:
        raise InvalidParameter("no instance lies in the plane")
    name = _called(instance, pictures, findings) if instance else next(iter(pictures))
    styles = _styles(findings)
    with _look(axes):
        found = axes if axes is not None else canvas.shown_axes(WIDE, WIDE)
        panels.plane(found, pictures[name], styles)
        found.set_title(canvas.wrapped(name, WIDE))
        _legend(found, axes is None, [label for label, _ in pictures[name].paths], styles)
    return found


def collapse(findings: Findings, axes: Axes | None) -> Axes:
    """Draw after how many layers clouds collapsed, against the entropy of their attention."""
    shown = collapses(findings)
    if shown is None:
        raise InvalidParameter("no cloud of tokens has collapsed")
    styles = _styles(findings)
    with _look(axes):
        found = axes if axes is not None else canvas.shown_axes(WIDE, HIGH)
        labels = panels.collapse(found, shown.rows, styles)
        _legend(found, axes is None, labels, styles, line=False)
    return found


def _convergence(findings: Findings, instance: str) -> Convergence:
    every = convergences(findings)
    if not every:
        raise InvalidParameter("no run left a value that could be drawn")
    if not instance:
        return every[0]
    label = _called(instance, [one.label for one in every], findings)
    return next(one for one in every if one.label == label)


def _called(asked: str, known: Collection[str], findings: Findings) -> str:
    """Return the label of the one instance that is meant: by its label, or any parameters of it."""
    if asked in known:
        return asked
    wanted = _parts(asked)
    labels = {name: row["instance_label"] for name, row in selection.instances(findings).items()}
    meant = [label for name, label in labels.items() if label in known and wanted <= _parts(name)]
    return meant[0] if len(meant) == 1 else _one(asked, known, "instance")


def _parts(name: str) -> set[str]:
    return set(re.split(r"[\[\],]", name)) - {""}


def _one(asked: str, known: Iterable[str], what: str) -> str:
    known = list(dict.fromkeys(known))
    if asked not in known:
        raise InvalidParameter(f"no {what} is called {asked!r}; {nearest(asked, known)}")
    return asked


def _styles(findings: Findings) -> Styles:
    return words.styles(selection.solvers(findings))


def _look(axes: Axes | None) -> AbstractContextManager[None]:
    return canvas.drawing() if axes is None else nullcontext()


def _legend(
    axes: Axes,
    own: bool,
    labels: Iterable[str],
    styles: Styles,
    *,
    line: bool = True,
    mark: bool = True,
) -> None:
    names = sorted(set(labels))
    if not names:
        return
    bare = {} if mark else {"marker": "none"}
    handles = [Line2D([], [], **panels.line(styles[name], panels.WIDTH, line) | bare)
               for name in names]  # fmt: skip
    if own:
        canvas.legend(axes.figure.figure, handles, names)
    else:
        axes.legend(handles, [canvas.label(name) for name in names])
