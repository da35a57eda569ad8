"""Whether a method comes back to where it rests after a small push: measured off the clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Each, Queries, SolverEntry, each

Array = NDArray[np.float64]

PUSH = 1e-3  # of the radius: how far a point is moved, at most
NEAR = 1e-6  # of the radius: points closer than this are one; of the scale: scores that tie
BACK = 1e-2  # of the push: whoever ends this close has come back
GONE = 2.0  # pushes: whoever stays farther than this, and comes no nearer, has left
NEARER = 0.9  # of an earlier distance: a smaller one is on its way back
ATOMS = 3  # towards which a point is pushed, besides the mean
POINTS = 32  # different points of a run that are tried
LEAST, MOST = 100, 1000  # steps after a push: a ninth of the run's within these
STEPS = 16384  # of all pushed points together
WORK = 2e8  # multiply-adds that they may cost
LONGEST = 10.0  # seconds that they would take at the pace of the run
EIGHTHS = (2, 3, 4, 5, 6, 7, 8)  # of the steps: where distances are taken


def stable(
    problem: QuadraticOverHull,
    solver: Any,
    entry: SolverEntry,
    model: Any,
    offset: Array,
    weights: Combinations,
    resting: list[int],
    steps: int,
    pace: float,
) -> list[bool | None]:
    """Push the points at which queries rest, and say whether the method brings them back.

    Each different point is moved by 10⁻³ of the radius, within the hull, towards the mean and
    towards up to 3 other atoms, those with the least scores first; from there the method starts
    anew.

    Parameters
    ----------
    problem : QuadraticOverHull
        With atoms in memory.
    solver : Solver
        As it ran: lifted, if it was.
    entry : SolverEntry
    model : object
        What the solver prepared.
    offset : ndarray, shape (m, d)
        Last points, from the mean.
    weights : Combinations
        Of the last points: m convex ones.
    resting : list of int
        The queries to be tried.
    steps : int
        Taken by the run.
    pace : float
        Seconds a step of one query.

    Returns
    -------
    list of bool or None, length m
        True: from every push it came back. False: from some push it went away for good. None: not
        tried (too many points, too costly), or neither is seen after so many steps.
    """
    out: list[bool | None] = [None] * len(offset)
    radius = problem.radius
    if not resting or not radius:
        return out
    alike = np.round(offset[resting] / (NEAR * radius))
    _, first, group = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    size = problem.n * problem.d
    if len(first) > POINTS or len(first) * size * LEAST > WORK:
        return out
    pushed = [_pushed(problem, offset[q], weights.one(q)) for q in np.array(resting)[first]]
    start = Combinations.joined([one for some in pushed for one, _ in some])
    length = np.array([far for some in pushed for _, far in some])
    k = min(max(LEAST, steps // 9), MOST, STEPS // start.m, int(WORK / (start.m * size)))
    if k < LEAST or start.m * k * pace > LONGEST:
        return out
    counts = [len(some) for some in pushed]
    home = np.repeat(offset[resting][first], counts, axis=0)
    try:
        away = _followed(problem, solver, entry, model, start, home, k)
    except Exception:  # it never promised to start here; its own run is well
        return out
    verdicts = [verdict(path) for path in (away / length).T]
    ends = np.cumsum([0, *counts])
    found = [_all(verdicts[ends[i] : ends[i + 1]]) for i in range(len(counts))]
    for place, q in enumerate(resting):
        out[q] = found[int(group.ravel()[place])]
    return out


def verdict(away: Array) -> bool | None:
    """Say of one push whether it was undone (True), or grew for good (False), or neither.

    Parameters
    ----------
    away : ndarray, shape (7,)
        Distances, in pushes, after 2, 3, …, 8 eighths of the steps.

    Examples
    --------
    >>> back, gone = np.array([0.5, 0.1, 0.02, 0, 0, 0, 0]), np.array([3, 9, 50, 50, 50, 50, 50])
    >>> verdict(back), verdict(gone), verdict(90.0 / np.arange(1, 8))
    (True, False, None)
    """
    half = EIGHTHS.index(4)
    if away[-1] <= BACK:
        return True
    least = away[half:].min()
    if least > GONE and least >= NEARER * away[: half + 1].max():
        return False
    return None


def _all(verdicts: list[bool | None]) -> bool | None:
    if False in verdicts:
        return False
    return True if verdicts and None not in verdicts else None


def _pushed(
    problem: QuadraticOverHull, x: Array, weights: Combinations
) -> list[tuple[Combinations, float]]:
    """Return what x is pushed to, with how far it is pushed."""
    n, radius = problem.n, problem.radius
    apart = np.linalg.norm(problem.centred - x, axis=1)
    scores = problem.centred @ problem.centred_field(x)
    later = scores > scores.min() + NEAR * problem.scale
    # those who tie stand in their own order: rounding chooses nobody
    order = np.lexsort((np.where(later, scores, 0.0), later))
    some = order[apart[order] > NEAR * radius][:ATOMS]
    targets = [(np.array([key]), float(apart[key])) for key in some]
    if (off := float(np.linalg.norm(x))) > NEAR * radius:
        targets.append((np.arange(n), off))
    found = []
    for keys, far in targets:
        part = min(1.0, PUSH * radius / far)
        data = np.concatenate([(1 - part) * weights.data, np.full(len(keys), part / len(keys))])
        each_key, place = np.unique(np.concatenate([weights.keys, keys]), return_inverse=True)
        mixed = np.bincount(place, data)
        found.append((Combinations(np.array([0, len(mixed)]), each_key, mixed), part * far))
    return found


def _followed(
    problem: QuadraticOverHull,
    solver: Any,
    entry: SolverEntry,
    model: Any,
    start: Combinations,
    home: Array,
    steps: int,
) -> Array:
    """Return the distances (7, p) of pushed points from home, (p, d), after eighths of the steps.

    A distance that is no number stays one: it decides nothing.
    """
    lifted = entry.queries is not Queries.ONE or isinstance(solver, Each)
    method = solver if lifted else each(solver)
    state, away = method.init(model, start), []
    for eighth in EIGHTHS:
        ahead = steps * eighth // 8 - state.steps
        if ahead > 0 and not state.done:
            method.advance(model, state, ahead)
        away.append(np.linalg.norm(state.points() - problem.mean - home, axis=1))
    return np.array(away)
