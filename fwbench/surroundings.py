"""What lies around a point where the atoms lie in blocks: two passes a point, one for the hull.

Of many atoms the directions between them are kept as the triangular factor of a QR decomposition,
which has their singular values and is no larger than (d, d).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwbench.pieces import Results
from fwbench.problem import QuadraticOverHull
from fwbench.reductions import Reduced

Array = NDArray[np.float64]


class Edges(NamedTuple):
    """Differences of atoms to one of them.

    Attributes
    ----------
    many : int
        Of how many atoms.
    factor : ndarray, shape (p, d)
        With the singular values of all differences.
    size : float
        The largest coordinate of the atoms from their mean, in absolute value.
    """

    many: int
    factor: Array
    size: float


class Around(NamedTuple):
    """What lies around a point.

    Attributes
    ----------
    nearest : int
        The key of the atom nearest to it.
    distance : float
        To that one.
    score, least : float
        Of that one at the point, and the least of all.
    own, least_there : float
        Of that one at itself, and the least of all there.
    face : Edges
        Of the atoms whose score is near the least, and of some more.
    """

    nearest: int
    distance: float
    score: float
    least: float
    own: float
    least_there: float
    face: Edges


def around(problem: QuadraticOverHull, offset: Array, support: list[int], near: float) -> Around:
    """Look around the point μ + offset (d,): two passes.

    Parameters
    ----------
    problem : QuadraticOverHull
        With its atoms in blocks.
    offset : ndarray, shape (d,)
    support : list of int
        Keys of atoms that count as of the face, whatever their score.
    near : float
        So far above the least score an atom is of the face.
    """
    reduce, mean = _source(problem).reduce, problem.mean
    field = problem.centred_field(offset)
    [found] = reduce("rest", _nearest, mean, offset, field, fold=_whole_nearest)
    distance, nearest, row, score, least, _, origin = found
    there = problem.centred_field(row)
    [(face, least_there)] = reduce(
        "rest", _face, mean, field, least + near, np.array(support, np.int64), origin, there,
        fold=_whole_face,
    )  # fmt: skip
    return Around(nearest, distance, score, least, float(row @ there), least_there, face)


def everywhere(problem: QuadraticOverHull) -> Edges:
    """Return the differences of all atoms to one of them: one pass."""
    origin = problem.offsets([0])[0]
    [found] = _source(problem).reduce("rest", _edges, problem.mean, origin, fold=_whole_edges)
    edges: Edges = found
    return edges


def _whole_edges(parts: Results) -> Results:
    """Put those of several pieces together."""
    stacked = np.vstack([part.factor for part in parts])
    factor = np.asarray(np.linalg.qr(stacked, mode="r")) if len(stacked) else stacked
    return [Edges(sum(part.many for part in parts), factor, max(part.size for part in parts))]


def _whole_face(parts: Results) -> Results:
    [edges] = _whole_edges([edges for edges, _ in parts])
    return [(edges, min(low for _, low in parts))]


def _whole_nearest(parts: Results) -> Results:
    nearest = min((part[:4] for part in parts), key=lambda part: part[:2])
    leader = min((part[4:] for part in parts), key=lambda part: part[:2])
    return [nearest + leader]


def _source(problem: QuadraticOverHull) -> Any:
    assert isinstance(problem.passes, Reduced)  # whoever asks has looked
    return problem.passes.source


def _nearest(
    piece: NDArray[Any], first: int, mean: Array, offset: Array, field: Array
) -> tuple[float, int, Array, float, float, int, Array]:
    """Return distance, key, coordinates, score of the nearest; score, key, those of the leader."""
    offsets = piece - mean
    away = np.linalg.norm(offsets - offset, axis=1)
    scores = offsets @ field
    i, j = int(away.argmin()), int(scores.argmin())
    return (
        float(away[i]), first + i, offsets[i].copy(), float(scores[i]),
        float(scores[j]), first + j, offsets[j].copy(),
    )  # fmt: skip


def _face(
    piece: NDArray[Any], first: int, mean: Array, field: Array, bound: float,
    support: NDArray[np.int64], origin: Array, there: Array,
) -> tuple[Edges, float]:  # fmt: skip
    """Return the edges of the atoms whose score is at most `bound`, and the least score there."""
    offsets = piece - mean
    near = offsets @ field <= bound
    near[support[(support >= first) & (support < first + len(piece))] - first] = True
    return _of(offsets[near], origin), float((offsets @ there).min())


def _edges(piece: NDArray[Any], first: int, mean: Array, origin: Array) -> Edges:
    return _of(piece - mean, origin)


def _of(offsets: Array, origin: Array) -> Edges:
    size = float(np.abs(offsets).max(initial=0.0))
    edges = offsets - origin
    return Edges(
        len(edges), np.asarray(np.linalg.qr(edges, mode="r")) if len(edges) else edges, size
    )
