"""Basins: where each solver comes to rest from each start of a lattice in the plane."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.cells import polygon_of
from fwbench.geometry.lattice import lines

Array = NDArray[np.float64]
Map = NDArray[np.int64]

NO_START, ELSEWHERE, MOVING = -1, -2, -3  # instead of the key of an atom
SAME = 1e-3  # of the radius: rests closer than this are one point
FEWEST = 5  # lines of a lattice in each direction: fewer make no map


class Ended(NamedTuple):
    """Where one solver's run ended.

    Attributes
    ----------
    solver : str
        Label.
    starts, points : ndarray, shape (m, 2)
        First and last points.
    keys : ndarray of int, shape (m,)
        Of the atom at which a query rests; ELSEWHERE for another certified rest; MOVING for none.
    """

    solver: str
    starts: Array
    points: Array
    keys: Map


@dataclass(frozen=True, eq=False)
class Basins:
    """The map of one solver.

    Attributes
    ----------
    solver : str
    keys : ndarray of int, shape (h, g)
        At ``(x[j], y[i])`` the key of the atom at which the start comes to rest, or NO_START,
        ELSEWHERE, MOVING.
    starts, elsewhere, moving : int
        All starts; those that rest at no atom; those that are not at rest.
    numbers : tuple of (int, float, float)
        Each atom at which starts rest, and where its number stands: in the middle of them.
    borders : ndarray, shape (b, 2, 2)
        The sides that starts with unlike ends share, from point to point.
    """

    solver: str
    keys: Map
    starts: int
    elsewhere: int
    moving: int
    numbers: tuple[tuple[int, float, float], ...]
    borders: Array


@dataclass(frozen=True)
class Pair:
    """How two solvers differ: of `starts`, from `resting` both rest, from `apart` of these apart.

    `share` is apart/starts; `vertices` says that wherever both rest both are at atoms.
    """

    solver_a: str
    solver_b: str
    starts: int
    resting: int
    apart: int
    share: float
    vertices: bool


@dataclass(frozen=True, eq=False)
class Atlas:
    """The maps of all solvers on one instance.

    Attributes
    ----------
    instance, label : str
        Canonical name, and the short one for people.
    atoms : ndarray, shape (n, 2)
    hull : ndarray, shape (p + 1, 2)
    x, y : ndarray, shape (g,) and (h,)
        The lines of the lattice.
    ends : tuple of int
        The atoms at which some start rests, in order around the hull.
    basins : tuple of Basins
    pairs : tuple of Pair
    differ : ndarray of bool, shape (h, g)
        Where two solvers rest at different points.
    """

    instance: str
    label: str
    atoms: Array
    hull: Array
    x: Array
    y: Array
    ends: tuple[int, ...]
    basins: tuple[Basins, ...]
    pairs: tuple[Pair, ...]
    differ: NDArray[np.bool_]


def atlas(
    instance: str, label: str, atoms: Array, radius: float, ended: list[Ended]
) -> Atlas | None:
    """Return the maps of an instance, or None if its starts lie on no lattice.

    Parameters
    ----------
    instance, label : str
    atoms : ndarray, shape (n, 2)
    radius : float
        Distances are relative to it.
    ended : list of Ended
        A run a solver; those that do not start on the first one's lattice are left out.
    """
    found = next((found for run in ended if (found := _lattice(run.starts)) is not None), None)
    if found is None:
        return None
    starts, x, y, column, row = found
    alike = [run for run in ended if _same(run.starts, starts, radius).all()]
    basins, differ = [], np.zeros((len(y), len(x)), dtype=bool)
    for run in alike:
        keys = np.full(differ.shape, NO_START, dtype=np.int64)
        keys[row, column] = run.keys
        elsewhere, moving = (int((run.keys == code).sum()) for code in (ELSEWHERE, MOVING))
        drawn = _numbers(starts, run.keys), _borders(x, y, keys)
        basins.append(Basins(run.solver, keys, len(starts), elsewhere, moving, *drawn))
    pairs = []
    for a, b in itertools.combinations(alike, 2):
        both = (a.keys != MOVING) & (b.keys != MOVING)
        apart = both & ~_same(a.points, b.points, radius)
        differ[row[apart], column[apart]] = True
        count = int(apart.sum())
        vertices = bool((a.keys[both] >= 0).all() and (b.keys[both] >= 0).all())
        share = count / len(starts)
        pairs.append(Pair(a.solver, b.solver, len(starts), int(both.sum()), count, share, vertices))
    hull = polygon_of(atoms)
    keys = np.unique(np.concatenate([run.keys for run in alike]))
    keys = keys[keys >= 0]
    arms = atoms[keys] - hull[:-1].mean(axis=0)
    around = keys[np.argsort(np.arctan2(arms[:, 1], arms[:, 0]), kind="stable")]
    return Atlas(
        instance, label, atoms, hull, x, y, tuple(map(int, around)), tuple(basins), tuple(pairs),
        differ,
    )  # fmt: skip


def _lattice(starts: Array) -> tuple[Array, Array, Array, Map, Map] | None:
    found = lines(starts)
    if found is None or min(len(found[0]), len(found[1])) < FEWEST:
        return None
    return starts, *found


def _numbers(starts: Array, keys: Map) -> tuple[tuple[int, float, float], ...]:
    """Return for each atom the start that is nearest to the middle of those that end there."""
    found = []
    for key in np.unique(keys[keys >= 0]):
        mine = starts[keys == key]
        x, y = mine[np.linalg.norm(mine - mine.mean(axis=0), axis=1).argmin()]
        found.append((int(key), float(x), float(y)))
    return tuple(found)


def _borders(x: Array, y: Array, keys: Map) -> Array:
    """Return the sides between neighbours that end at unlike places."""
    half = (x[1] - x[0]) / 2
    known = keys != NO_START
    rows, columns = np.nonzero((keys[:, :-1] != keys[:, 1:]) & known[:, :-1] & known[:, 1:])
    upright = np.column_stack(
        [x[columns] + half, y[rows] - half, x[columns] + half, y[rows] + half]
    )
    rows, columns = np.nonzero((keys[:-1] != keys[1:]) & known[:-1] & known[1:])
    level = np.column_stack([x[columns] - half, y[rows] + half, x[columns] + half, y[rows] + half])
    return np.vstack([upright, level]).reshape(-1, 2, 2)


def _same(a: Array, b: Array, radius: float) -> NDArray[np.bool_]:
    if len(a) != len(b):
        return np.zeros(1, dtype=bool)
    return np.asarray(np.linalg.norm(a - b, axis=1) <= SAME * (radius or 1.0))
