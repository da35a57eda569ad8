"""Where solvers that started at the same points come to rest, compared: which rests are one place.

Points are compared in x alone; weights of one point need not be unique.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

SAME = 1e-4  # of the radius: rests this close are the same point
APART = 1e-3  # of the radius: rests farther apart are different points; in between nobody can say
LOWER = 1e-6  # of the scale: values that differ by more are unlike
NEARBY = 0.1  # of the radius: starts this close to a point are near it
PLACES = 2000  # different points of an instance up to which they are gathered into places
VERTEX = "vertex"

RESTS = (
    "instance", "instance_label", "kind", "solver_label", "run_id", "query", "class", "label",
    "certified", "gap_relative", "value", "above", "standing", "stable", "place",
)  # fmt: skip
PLACED = (
    "instance", "instance_label", "kind", "place", "class", "label", "value", "above", "standing",
    "rests", "solvers", "returned", "left", "near", "leaving",
)  # fmt: skip
COUNTS = ("starts", "resting", "same", "near", "apart", "lower_a", "lower_b")
MEETINGS = (
    "instance", "instance_label", "kind", "solver_a", "solver_b", *COUNTS, "vertices", "lone",
    "distance", "value_apart", "overlap",
)  # fmt: skip
AGREEMENT = (
    "instance", "instance_label", "solver_a", "solver_b", "starts", "same", "distance",
)  # fmt: skip
OVERALL = ("solver_a", "solver_b", "instances", *COUNTS)


@dataclass(frozen=True, eq=False)
class End:
    """Where the queries of one run ended.

    Attributes
    ----------
    solver : str
        Label.
    run_id : str
    moving : bool
        Keys move: a lone start stands for all atoms.
    points : ndarray, shape (m, d)
    starts : ndarray, shape (m, d), or None
        Where they are known.
    resting : ndarray of bool, shape (m,)
        At rest by certificate.
    vertex : ndarray of bool, shape (m,)
    values : ndarray, shape (m,)
        NaN for fields.
    supports : tuple of frozenset of int, or None
        Atoms with a weight above 10⁻⁶, a query, where weights are known.
    """

    solver: str
    run_id: str
    moving: bool
    points: Array
    starts: Array | None
    resting: Mask
    vertex: Mask
    values: Array
    supports: tuple[frozenset[int], ...] | None

    def __len__(self) -> int:
        return len(self.points)


def meetings(ends: list[End], radius: float, scale: float) -> list[dict[str, Any]]:
    """Compare every two solvers of an instance, start by start.

    An answer that does not depend on the start is one for each. Runs judged at different queries
    are not compared.

    Returns
    -------
    list of dict
        A row a pair: ``starts``; ``resting`` (both are at rest), of these ``same``, ``near`` (too
        close to be called different, too far to be called the same) and ``apart``; ``lower_a``,
        ``lower_b`` (apart, and a's or b's value is the lower one by 10⁻⁶ of the scale);
        ``vertices`` (all of the points that are apart are vertices; null where none are apart);
        ``lone`` (the answer of one of them is one for all starts);
        ``distance`` and ``value_apart`` (the largest, over radius and scale, where both rest);
        ``overlap`` (mean over these of shared atoms to all atoms in use, where weights are known).
    """
    m = max((len(end) for end in ends if not end.moving), default=1)
    pairs = itertools.combinations(ends, 2)
    return [_meeting(a, b, radius, scale) for a, b in pairs if _comparable(a, b, m)]


def _comparable(a: End, b: End, starts: int) -> bool:
    """Say whether the i-th query of both started at one point; `starts` are the instance's."""
    if len(a) == len(b):
        return True
    return 1 in (len(a), len(b)) and max(len(a), len(b)) == starts


def _meeting(a: End, b: End, radius: float, scale: float) -> dict[str, Any]:
    m = max(len(a), len(b))
    i, j = (np.arange(m) % len(end) for end in (a, b))
    both = a.resting[i] & b.resting[j]
    away = np.linalg.norm(a.points[i] - b.points[j], axis=1) / (radius or 1.0)
    rise = (b.values[j] - a.values[i]) / (scale or 1.0)
    apart = both & (away > APART)
    known = both & np.isfinite(rise)
    shared = [
        _overlap(a.supports[i[q]], b.supports[j[q]])
        for q in np.flatnonzero(both)
        if a.supports is not None and b.supports is not None
    ]
    return {
        "solver_a": a.solver,
        "solver_b": b.solver,
        "starts": m,
        "resting": int(both.sum()),
        "same": int((both & (away <= SAME)).sum()),
        "near": int((both & (away > SAME) & ~apart).sum()),
        "apart": int(apart.sum()),
        "lower_a": int((apart & known & (rise > LOWER)).sum()),
        "lower_b": int((apart & known & (rise < -LOWER)).sum()),
        "vertices": bool((a.vertex[i] & b.vertex[j])[apart].all()) if apart.any() else None,
        "lone": len(a) != len(b),
        "distance": float(away[both].max()) if both.any() else None,
        "value_apart": float(np.abs(rise[known]).max()) if known.any() else None,
        "overlap": float(np.mean(shared)) if shared else None,
    }


def _overlap(a: frozenset[int], b: frozenset[int]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0


def agreement(met: pd.DataFrame) -> pd.DataFrame:
    """Return of the meetings those of solvers that both rest on some start, counted by these alone.

    ``starts`` are those from which both came to rest, ``same`` how many end within 10⁻³ of the
    radius: a run that still moves agrees with nobody.
    """
    some = met[met["resting"] > 0]
    counted = some.assign(starts=some["resting"], same=some["resting"] - some["apart"])
    return counted[list(AGREEMENT)].reset_index(drop=True)


def overall(met: pd.DataFrame) -> pd.DataFrame:
    """Add the meetings of every two solvers up over the instances.

    Parameters
    ----------
    met : DataFrame
        A row an instance and pair, as `meetings` gives them; the order of the two is free.

    Returns
    -------
    DataFrame
        A row a pair: ``instances`` on which they were compared, and the sums of the counts.
    """
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    for row in met.to_dict("records"):
        a, b = row["solver_a"], row["solver_b"]
        turned = (b, a) in sums
        names = (b, a) if turned else (a, b)
        empty = dict(zip(OVERALL, (*names, *[0] * 8), strict=True))
        total = sums.setdefault(names, empty)
        total["instances"] += 1
        for name in COUNTS:
            other = {"lower_a": "lower_b", "lower_b": "lower_a"}.get(name, name)
            total[name] += int(row[other if turned else name])
    return pd.DataFrame([*sums.values()], columns=list(OVERALL))


def places(ends: list[End], radius: float) -> list[NDArray[np.int64]]:
    """Gather the points at which queries rest into places: those within 10⁻³, in chains too.

    Parameters
    ----------
    ends : list of End
    radius : float

    Returns
    -------
    list of ndarray of int, shape (m,)
        For each run the place of each query, the one at which most rest first; −1 where it is not
        at rest, and everywhere if there are more than 2000 different points, or if they are too
        far apart to be told in radii.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    none = [np.full(len(end), -1) for end in ends]
    resting = [end.points[end.resting] for end in ends]
    if not sum(map(len, resting)):
        return none
    with np.errstate(over="ignore"):  # a folder that was edited may hold any radius
        all_points = np.vstack(resting) / (radius or 1.0)
        # one of those that agree to a hundredth of the distance in question
        cells = np.round(all_points / (APART / 100))
    _, first, which = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    if len(first) > PLACES or not np.isfinite(cells).all():
        return none
    pairs = cKDTree(all_points[first]).query_pairs(APART, output_type="ndarray")
    shape = (len(first), len(first))
    joined = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=shape)
    _, component = connected_components(joined, directed=False)
    named = component[which.ravel()]
    counts = np.bincount(named)
    earliest = np.array([int((named == place).argmax()) for place in range(len(counts))])
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.lexsort((earliest, -counts))] = np.arange(len(counts))
    parts = np.split(rank[named], np.cumsum([len(part) for part in resting])[:-1])
    for out, end, part in zip(none, ends, parts, strict=True):
        out[end.resting] = part
    return none


def neighbourhood(
    ends: list[End], placed: list[NDArray[np.int64]], radius: float
) -> dict[int, tuple[int, int]]:
    """Count for each place the starts near it that come to rest, and how many of these elsewhere.

    Near: within 10 % of the radius of its first point. Only runs whose starts are known count;
    with starts on a lattice this shows a place that attracts nothing but itself.
    """
    known = [
        (end.starts[end.resting], at[end.resting])
        for end, at in zip(ends, placed, strict=True)
        if end.starts is not None
    ]
    if not known:
        return {}
    starts = np.vstack([one for one, _ in known])
    ended = np.concatenate([at for _, at in known])
    found: dict[int, tuple[int, int]] = {}
    for place in np.unique(np.concatenate(placed)):
        if place < 0:
            continue
        members = zip(ends, placed, strict=True)
        point = next(end.points[at == place][0] for end, at in members if (at == place).any())
        near = np.linalg.norm(starts - point, axis=1) <= NEARBY * radius
        found[int(place)] = int(near.sum()), int((near & (ended != place)).sum())
    return found
