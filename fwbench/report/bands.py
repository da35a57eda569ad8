"""Bands as figures draw them: ends and median, and after the band each member for itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fwbench.analysis.findings import Findings

Array = NDArray[np.float64]
TAIL = 150  # points of a member after the band


@dataclass(frozen=True, eq=False)
class Band:
    """Alike runs of one solver on one axis.

    Attributes
    ----------
    at, low, median, high : ndarray, shape (r,)
    ends : str
        ``range`` or ``quartiles``: between which of its members the band lies.
    members, of : int
        How many runs lie in it, and how many there are.
    tails : tuple of (ndarray, ndarray)
        Members that went on, from where the first one stopped.
    """

    solver: str
    at: Array
    low: Array
    median: Array
    high: Array
    ends: str
    members: int
    of: int
    tails: tuple[tuple[Array, Array], ...]

    @property
    def has_width(self) -> bool:
        """Whether its members differ anywhere: repetitions of the same steps may not."""
        return bool((self.high > self.low).any())


Place = tuple[str, str, str]  # where, axis, measure


def banded(findings: Findings, over: str) -> Mapping[Place, tuple[Band, ...]]:
    """Return the bands over ``repetitions`` or ``seeds``, by instance or regime, axis and measure.

    Of several tolerances the tightest counts.
    """
    found = findings.bands
    rows = found.bands[found.bands["over"] == over].sort_values("tol", kind="stable")
    rows = rows.drop_duplicates(["place", "solver_label", "axis", "measure"]).sort_index()
    if not len(rows):
        return {}
    points = dict(iter(found.points.groupby("band")))
    members = dict(iter(found.members.groupby("band")))
    traces = dict(iter(findings.trace.groupby("run_id")))
    made: dict[Place, list[Band]] = {}
    for number, row in zip(rows.index, rows.to_dict("records"), strict=True):
        at, low, median, high = (
            points[number][name].to_numpy(dtype=float) for name in ("at", "low", "median", "high")
        )
        tails = []
        for run in members[number]["run_id"]:
            trace = traces[run].sort_values("k", kind="stable")
            x, y = (
                trace[name].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
                for name in (row["axis"], row["measure"])
            )
            after = np.flatnonzero(x >= row["end"])
            if len(after) > 1:
                kept = np.unique(np.linspace(0, len(after) - 1, TAIL).round().astype(int))
                tails.append((x[after[kept]], y[after[kept]]))
        place = (row["place"], row["axis"], row["measure"])
        made.setdefault(place, []).append(
            Band(
                row["solver_label"], at, low, median, high, row["ends"],
                int(row["members"]), int(row["of"]), tuple(tails),
            )
        )  # fmt: skip
    return {place: tuple(some) for place, some in made.items()}
