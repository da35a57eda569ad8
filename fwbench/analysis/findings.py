"""What analysis hands to the report: tables and pictures, every number already in them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwbench.analysis.atlas import Atlas
from fwbench.analysis.bands import Bands
from fwbench.analysis.diagrams import Diagram
from fwbench.analysis.profiles import Profiles
from fwbench.trace import failed

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Picture:
    """One instance in the plane, ready to be drawn.

    Attributes
    ----------
    instance, label : str
        Canonical name, and the short one for people.
    atoms : ndarray, shape (n, 2)
    hull : ndarray, shape (h + 1, 2)
        The extreme points in order, the first repeated at the end.
    cell_x, cell_y : ndarray, shape (g,)
        Coordinates of the grid.
    cells : ndarray of int, shape (g, g)
        Key of the atom that leads at ``(cell_x[j], cell_y[i])``; -1 outside the hull.
    starts : ndarray, shape (m, 2)
        Of many starts some.
    paths : tuple of (str, ndarray of shape (r, m, 2))
        Solver label and the points of its checkpoints.
    rings : tuple of (int, ndarray of shape (p + 1, 2))
        The cells as polygons, by key; empty where the hull has too many corners.
    """

    instance: str
    label: str
    atoms: Array
    hull: Array
    cell_x: Array
    cell_y: Array
    cells: NDArray[np.int64]
    starts: Array
    paths: tuple[tuple[str, Array], ...]
    rings: tuple[tuple[int, Array], ...] = ()


@dataclass(frozen=True, eq=False)
class Findings:
    """All that a report shows. Missing values are null or NaN, never 0; names are untrusted text.

    Attributes
    ----------
    manifest : dict
        ``manifest.json``: schema, command, created, suite, seeds, versions, git, machine, python.
    runs : DataFrame
        A row a run: the columns of ``runs.parquet``, ``solver_label`` and ``instance_label``, and
        ``rate_signal`` ("suboptimality" or "gap"): what the rate was read off.
    trace : DataFrame
        ``trace.parquet`` and ``suboptimality``: value − reference_low, null where there is none.
    targets, fixed_points : DataFrame
        As on disk.
    winners : DataFrame
        A row an instance, measure and target: instance, instance_label, kind, measure, target,
        solver_label (null: nobody), run_id, seconds, lmo, runner_up, ratio (runner-up's seconds
        over winner's), contest (won, tied, alone, unopposed), reached, of.
    agreement : DataFrame
        A row a pair of solvers: instance, instance_label, solver_a, solver_b, starts, same,
        distance (largest distance in x over the radius).
    rests, places, meetings : DataFrame
        Where each solver rests from each start, the different points of an instance at which some
        do, and every two solvers start by start, also where not both rest: as
        `fwbench.analysis.resting` says.
    pictures : tuple of Picture
        The instances in the plane.
    races, costs, sizes, growth, goals : DataFrame
        Times to certified gaps as ratios; steps and solves in passes over the atoms; time and steps
        at several n or d, and their exponents; ratios to be reached: as the modules of those names
        say (`sizes`: growth).
    heads, layers : DataFrame
        Clouds of tokens, attention heads among them, against the theory; one layer repeated: as
        the modules of those names say.
    rates : DataFrame
        A row a regime, solver and signal: the class that its seeds agree on, the rate with its
        interval, and what theory promises: as `fwbench.analysis.seeds` and `promises` say.
    atlases : tuple of Atlas
        Where solvers come to rest, on the instances whose starts cover the plane as a lattice.
    diagrams : tuple of Diagram
        Figures of pure geometry, where the suite asks for them.
    profiles : Profiles or None
        Solvers compared over many instances; None where nobody drew that up.
    standings, firsts : DataFrame
        A row a solver and kind of instance: how often it was first, how surely, and what failed;
        who was first on each instance, and what is in doubt: as `fwbench.analysis.standings` says.
    bands : Bands
        Where repetitions, and seeds, lie together along the axes.
    claims : dict or None
        Claims of the suite with their verdicts, as `fwbench.theory.verdicts.document` makes it.
    """

    manifest: dict[str, Any]
    runs: pd.DataFrame
    trace: pd.DataFrame
    targets: pd.DataFrame
    fixed_points: pd.DataFrame
    winners: pd.DataFrame
    agreement: pd.DataFrame
    pictures: tuple[Picture, ...]
    races: pd.DataFrame
    costs: pd.DataFrame
    sizes: pd.DataFrame
    growth: pd.DataFrame
    goals: pd.DataFrame
    heads: pd.DataFrame
    layers: pd.DataFrame
    atlases: tuple[Atlas, ...] = ()
    diagrams: tuple[Diagram, ...] = ()
    profiles: Profiles | None = None
    claims: dict[str, Any] | None = None
    rates: pd.DataFrame = field(default_factory=pd.DataFrame)
    rests: pd.DataFrame = field(default_factory=pd.DataFrame)
    places: pd.DataFrame = field(default_factory=pd.DataFrame)
    meetings: pd.DataFrame = field(default_factory=pd.DataFrame)
    bands: Bands = field(default_factory=Bands)
    standings: pd.DataFrame = field(default_factory=pd.DataFrame)
    firsts: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def failed(self) -> bool:
        """Whether any run failed."""
        return any(map(failed, self.runs["status"], self.runs["signal"]))
