"""What a run gives back in Python: its findings as tables that can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwbench.errors import InvalidParameter

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from fwbench.analysis.contests import Contest
    from fwbench.analysis.findings import Findings
    from fwbench.analysis.profiles import Profiles


@dataclass(frozen=True, eq=False)
class Finding:
    """A table that can be drawn: ``finding["column"]`` reads it, ``finding.plot()`` draws it.

    Attributes
    ----------
    title : str
    table : DataFrame
    """

    title: str
    table: pd.DataFrame
    _draw: Callable[..., Axes] = field(repr=False)

    def plot(self, axes: Axes | None = None, **choice: Any) -> Axes:
        """Draw the finding, and return the axes.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw, in the look that they have. By default new ones, made without pyplot:
            they show themselves in a notebook, and ``axes.figure.savefig("name.pdf")`` keeps them.
        **choice
            What is drawn of the table, as the method says that returned the finding.

        Raises
        ------
        InvalidParameter
            There is nothing to be drawn, nothing of that name, or no such choice.
        """
        return self._draw(axes, **choice)

    def __getitem__(self, columns: Any) -> Any:
        return self.table[columns]

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"{self.title}\n{self.table!r}"

    def _repr_html_(self) -> str:
        from fwbench.report.notebook import frame

        return frame(self.title, self.table)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Profiles that can be drawn; the tables are those of `fwbench.analysis.profiles.Profiles`."""

    profiles: Profiles
    _labels: tuple[str, ...] = field(repr=False)  # of all solvers: each has its colour everywhere

    @property
    def contests(self) -> tuple[Contest, ...]:
        """Who is compared on which instances."""
        return self.profiles.contests

    @property
    def steps(self) -> pd.DataFrame:
        """From which ratio or effort on which share of the instances is solved."""
        return self.profiles.steps

    @property
    def pairs(self) -> pd.DataFrame:
        """Every two solvers."""
        return self.profiles.pairs

    @property
    def means(self) -> pd.DataFrame:
        """Shifted geometric means."""
        return self.profiles.means

    @property
    def efforts(self) -> pd.DataFrame:
        """What each run spent to come to each target."""
        return self.profiles.efforts

    @property
    def absent(self) -> pd.DataFrame:
        """Who took no part where, and why."""
        return self.profiles.absent

    def plot(self, axes: Axes | None = None, **choice: Any) -> Axes:
        """Draw one profile, and return the axes.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            As in `Finding.plot`.
        **choice
            kind ("performance", the default, or "data"), cost ("lmo", "seconds" or "total"), target
            (the tightest by default) and variant ("defaults", "tuned" or "chosen").

        Raises
        ------
        InvalidParameter
            No two solvers share instances, or there is nothing of that name.
        """
        return _drawn("profile", (self.profiles, self._labels), axes, **choice)

    def __repr__(self) -> str:
        return f"Shifted geometric means\n{self.means!r}"

    def _repr_html_(self) -> str:
        from fwbench.report.notebook import frame

        names = [contest.variant for contest in self.contests]
        means = self.means.assign(contest=[names[number] for number in self.means["contest"]])
        return frame("Shifted geometric means", means)


@dataclass(frozen=True, eq=False)
class Results:
    """The findings of a run folder, as pandas tables; what a method returns can be drawn."""

    folder: Path
    findings: Findings

    @property
    def runs(self) -> pd.DataFrame:
        """A row a run."""
        return self.findings.runs

    @property
    def trace(self) -> pd.DataFrame:
        """A row a checkpoint."""
        return self.findings.trace

    def standings(self) -> Finding:
        """Return how often each solver was first, how surely, by kind of instance."""
        return self._finding("Who was first", self.findings.standings, "standings")

    def curves(self) -> Finding:
        """Return the checkpoints of all runs with the names of instance and solver.

        ``plot`` draws one instance: instance (the first by default), solvers (all), measure
        ("suboptimality", "gap", "gap_current"), against ("k", "lmo", "seconds").
        """
        return self._finding("Curves", self._named(self.trace), "curves")

    def rates(self) -> Finding:
        """Return the rate class of each run with its window.

        ``plot`` draws what one was read off: instance, solver (by default the first of both).
        """
        columns = ["instance_label", "solver_label", "rate_class", "rate", "rate_low", "rate_high",
                   "rate_from", "rate_to", "rate_signal"]  # fmt: skip
        return self._finding("Rates", self.runs[columns], "rate")

    def seed_rates(self) -> Finding:
        """Return what the seeds of one family say together, with intervals, beside the theory.

        ``plot`` draws all of one class: rate_class (by default the commonest).
        """
        return self._finding("Rates over seeds", self.findings.rates, "seed_rates")

    def fixed_points(self) -> Finding:
        """Return where each query of each run came to rest, with the names of instance and solver.

        ``plot`` draws on how many starts each two solvers rest at the same point: instance.
        """
        return self._finding("Fixed points", self._named(self.findings.fixed_points), "agreement")

    def planes(self) -> Finding:
        """Return the paths on instances in the plane.

        ``plot`` draws one instance with its hull and cells: instance (by default the first).
        """
        return self._finding("Paths in the plane", _paths(self.findings), "plane")

    def growth(self) -> Finding:
        """Return how time and steps grow with n, d, condition or β: exponents.

        ``plot`` draws the seconds of one: regime, against (by default the first of both).
        """
        return self._finding("Growth", self.findings.growth, "growth")

    def layers(self) -> Finding:
        """Return what one attention layer, repeated, does to each cloud of tokens.

        ``plot`` draws layers to collapse against entropy.
        """
        return self._finding("Layers repeated", self.findings.layers, "collapse")

    def profiles(self, solvers: Sequence[str] = ()) -> Comparison:
        """Return performance and data profiles, pairs and shifted geometric means as tables.

        Parameters
        ----------
        solvers : sequence of str, optional
            Solver labels to be compared alone, over all instances that they share; two of them
            give a pairwise profile. By default each solver as it is without parameters and,
            apart from that, each at the best of its grid, with what the grid cost.

        Raises
        ------
        InvalidParameter
            If there is only one label, one is unknown, or they share no instance.
        """
        found = self.findings.profiles
        if found is None:
            raise InvalidParameter("these findings were drawn up without profiles")
        from fwbench.report.selection import solvers as solvers_of

        some = found.of(solvers) if len(solvers) else found
        return Comparison(some, tuple(solvers_of(self.findings)))

    def report(self, path: str | Path | None = None) -> Path:
        """Write the report into the run folder, or another one; return the HTML page."""
        from fwbench.report.write import write

        folder = self.folder if path is None else Path(path)
        write(self.findings, folder)
        return folder / "report.html"

    def _finding(self, title: str, table: pd.DataFrame, plot: str) -> Finding:
        return Finding(title, table, partial(_drawn, plot, (self.findings,)))

    def _named(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return rows of runs with the names of instance and solver."""
        names = self.runs[["run_id", "instance_label", "solver_label", "repetition"]]
        return names.merge(table, on="run_id")

    def __repr__(self) -> str:
        return f"Results({str(self.folder)!r}, {len(self.runs)} runs)"

    def _repr_html_(self) -> str:
        from fwbench.report.notebook import results

        return results(self.findings, str(self.folder))


def _paths(findings: Findings) -> pd.DataFrame:
    """Return a row an instance in the plane, solver, checkpoint of its path and query: x and y."""
    import numpy as np
    import pandas as pd

    names = ["instance_label", "solver_label", "checkpoint", "query"]
    parts = []
    for picture in findings.pictures:
        for label, points in picture.paths:
            checkpoint, query = np.indices(points.shape[:2]).reshape(2, -1)
            columns = (picture.label, label, checkpoint, query)
            x, y = points.reshape(-1, 2).T
            parts.append(pd.DataFrame(dict(zip(names, columns, strict=True)) | {"x": x, "y": y}))
    return (
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*names, "x", "y"])
    )


def _drawn(plot: str, what: tuple[Any, ...], axes: Axes | None, **choice: Any) -> Axes:
    """Draw by a function of `fwbench.report.plots`: matplotlib is imported at the first plot."""
    from matplotlib.axes import Axes as Drawable

    from fwbench.report import plots

    draw: Callable[..., Axes] = getattr(plots, plot)
    places = signature(draw).parameters.values()
    known = [place.name for place in places if place.kind is place.KEYWORD_ONLY]
    chosen = f"name what is drawn: {', '.join(known)}" if known else "there is nothing to choose"
    if axes is not None and not isinstance(axes, Drawable):
        raise InvalidParameter(f"axes are one matplotlib Axes; got {type(axes).__name__}; {chosen}")
    for name in sorted(choice.keys() - set(known)):
        raise InvalidParameter(f"plot has no choice {name!r}; {chosen}")
    return draw(*what, axes, **choice)
