"""Where a run came to rest: the facts, measured at its end; `analysis` gives them their names."""

from __future__ import annotations

import copy
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.judge import BLOCK
from fwbench.problem import QuadraticOverHull
from fwbench.surroundings import Around, Edges, around, everywhere

Array = NDArray[np.float64]

NEAR = 1e-6  # of the scale: atoms this close to the least score span the face; of the radius
STILL = 1e-4  # of the radius: a query that moves less is quiet
CERTIFIED = 1e-6  # of the scale: the gap that certifies rest
PERIODS = 64  # the longest cycle that is looked for
RANK = 1e-9  # singular values below this part of the largest are rounding

_HULLS: WeakKeyDictionary[QuadraticOverHull, int] = WeakKeyDictionary()  # no problem stays for it


def affine_rank(points: Array) -> int:
    """Return the dimension of the affine hull of points (p, d).

    Examples
    --------
    >>> affine_rank(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))
    1
    """
    return _rank(points[1:] - points[0], float(np.abs(points).max(initial=0.0)))


def _rank(edges: Array, size: float) -> int:
    if edges.size == 0:
        return 0
    values = np.linalg.svd(edges, compute_uv=False)
    return int((values > RANK * max(float(values[0]), RANK * size)).sum())


def facts(
    problem: QuadraticOverHull,
    offset: Array,
    gaps: Array,
    recent: list[Array],
    weights: Combinations | None,
    period: list[int | None],
) -> dict[str, list[Any]]:
    """Return what is needed to say where each query rests, a list a fact.

    Parameters
    ----------
    offset : ndarray, shape (m, d)
        The last points, from the mean.
    gaps : ndarray, shape (m,)
        Convex: not above value − lower.
    recent : list of ndarray, shape (m, d)
        The checkpoints of the last tenth of the steps.
    weights : Combinations or None
        Of the last points.
    period : list of int or None
        Of the cycle each query is in.

    Returns
    -------
    dict of lists, each of length m
        gap_relative, drift (largest distance between recent points, of the radius), nearest
        (key), distance (to it, of the radius), leads (it has the least score at x), leads_itself
        (and at itself), face (affine rank of the atoms that share the least score), hull (that of
        all atoms), support (the 8 heaviest keys), used (how many
        keys have weight above 10⁻⁶), period, value.
    """
    radius, scale = problem.radius or 1.0, problem.scale or 1.0
    hull = _hull(problem)
    out: dict[str, list[Any]] = {
        name: []
        for name in ("gap_relative", "drift", "nearest", "distance", "leads", "leads_itself",
                     "face", "hull", "support", "used", "period", "value")
    }  # fmt: skip
    values = (
        problem.centred_value(offset) + problem.value_at_mean
        if problem.kind.has_potential
        else None
    )
    drifts = drift([*recent, offset])
    for q in range(len(offset)):
        # a face that holds x holds the atoms that x is made of
        support = _support(weights, q)
        look = _around if problem.in_memory else around
        found = look(problem, offset[q], support or [], NEAR * problem.scale)
        face = found.face
        out["gap_relative"].append(float(gaps[q] / scale))
        out["drift"].append(float(drifts[q] / radius))
        out["nearest"].append(found.nearest)
        out["distance"].append(found.distance / radius)
        out["leads"].append(found.score <= found.least + NEAR * problem.scale)
        out["leads_itself"].append(found.own <= found.least_there + problem.tie)
        out["face"].append(hull if face.many == problem.n else _rank(face.factor, face.size))
        out["hull"].append(hull)
        out["support"].append(None if support is None else support[:8])
        out["used"].append(None if support is None else len(support))
        out["period"].append(period[q])
        out["value"].append(None if values is None else float(values[q]))
    return out


def resting(found: dict[str, list[Any]]) -> list[int]:
    """Return the queries that are quiet, by a gap that certifies rest, of facts."""
    pairs = zip(found["drift"], found["gap_relative"], strict=True)
    return [q for q, (far, gap) in enumerate(pairs) if far <= STILL and gap <= CERTIFIED]


def _hull(problem: QuadraticOverHull) -> int:
    """Return the dimension of the hull, found once a problem: O(nd²)."""
    if problem not in _HULLS:
        if problem.in_memory:
            _HULLS[problem] = affine_rank(problem.centred)
        else:
            whole = everywhere(problem)
            _HULLS[problem] = _rank(whole.factor, whole.size)
    return _HULLS[problem]


def _around(problem: QuadraticOverHull, offset: Array, support: list[int], near: float) -> Around:
    """Do what `around` does, for atoms in memory."""
    away = np.linalg.norm(problem.centred - offset, axis=1)
    nearest = int(away.argmin())
    scores = problem.centred @ problem.centred_field(offset)
    itself = problem.centred @ problem.centred_field(problem.centred[nearest])
    within = scores <= scores.min() + near
    within[support] = True
    face = problem.centred[within]
    edges = Edges(len(face), face[1:] - face[0], float(np.abs(face).max(initial=0.0)))
    return Around(
        nearest, float(away[nearest]), float(scores[nearest]), float(scores.min()),
        float(itself[nearest]), float(itself.min()), edges,
    )  # fmt: skip


def _support(weights: Combinations | None, query: int) -> list[int] | None:
    if weights is None:
        return None
    one = weights.one(query)
    heavy = one.keys[np.argsort(-one.data, kind="stable")]
    return [int(key) for key in heavy[: int((one.data > NEAR).sum())]]


def drift(path: list[Array]) -> Array:
    """Return the largest distance between two of the points of each query, (m, d) each; (m,)."""
    points = np.stack(path)
    largest = np.zeros(points.shape[1])
    for i, row in enumerate(points[:-1], 1):
        away = points[i:] - row
        np.maximum(largest, (away * away).sum(axis=2).max(axis=0), out=largest)
    return np.sqrt(largest)  # once: it keeps their order


def _ahead(model: Any, state: Any) -> Any:
    """Return a copy of the state; the model, which may be large, is never copied."""
    parts = model if isinstance(model, tuple) else (model,)
    return copy.deepcopy(state, {id(part): part for part in parts})


def onward(solver: Any, model: Any, state: Any) -> list[Array]:
    """Return the points (m, d) of a copy of the state in the next ninth of its steps.

    A run that its certificate stopped had no time to show that it rests: the last tenth of its
    steps may still lead there.
    """
    ahead, path = _ahead(model, state), []
    for last in np.unique(np.linspace(0, max(1, state.steps // 9), 9).astype(int))[1:]:
        solver.advance(model, ahead, int(last) - (ahead.steps - state.steps))
        path.append(ahead.points())
    return path


def cycles(solver: Any, model: Any, state: Any, radius: float) -> list[int | None]:
    """Return the period of each query's cycle, or None: steps a copy of the state further.

    A query cycles with period p if it is back where it was (within 10⁻⁶ of the radius) after p
    steps, and again after 2p, having been further away than it may drift in between. Only asked
    of methods whose steps do not shrink with the step number.
    """
    path = [state.points()]
    if path[0].size * 2 * PERIODS > BLOCK:
        return [None] * len(path[0])
    ahead = _ahead(model, state)
    while len(path) <= 2 * PERIODS and not ahead.done:
        solver.advance(model, ahead, 1)
        path.append(ahead.points())
    away = np.linalg.norm(np.stack(path) - path[0], axis=2) / (radius or 1.0)
    return [_period(away[:, q]) for q in range(away.shape[1])]


def _period(away: Array) -> int | None:
    for p in range(2, (len(away) - 1) // 2 + 1):
        if max(away[p], away[2 * p]) <= NEAR and away[1:p].max() > STILL:
            return p
    return None
