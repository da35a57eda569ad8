r"""Frank-Wolfe on a field, from change of leader to change of leader: it rests, or only pauses.

While atom j leads, steps 2/(t + 2) keep the point on a segment,

    x_t' = p x_t + (1 − p) v_j,   p = t(t + 1)/(t'(t' + 1)),

so all scores are known ahead, and with them the step at which j is overtaken. A walk over these
changes alone sees what no run has the time for: a stretch of a billion steps costs no more than one
of three. What becomes of a query:

* it settles: nobody overtakes j on the way to v_j, so it converges to that vertex;
* it turns: some leaders take turns for good, each stretch a smaller part of all steps, and the gap
  falls: it converges into the face that they span;
* it pauses: each round of leaders is longer than the last by some factor, and the gap does not
  fall. It is quiet in most windows of steps and converges to nothing; nor does it cycle, for it
  never takes as long again;
* or that is not decided by then. (On a convex problem theory decides: who does not settle, turns.)

This is fictitious play where atoms are the pure strategies of a symmetric game and −Q its payoffs;
a round of pauses is its Shapley triangle (Gaunersdorfer and Hofbauer 1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.forms import Kind
from fwbench.problem import QuadraticOverHull

Array = NDArray[np.float64]

REACH = 10**9  # steps
CHANGES = 512  # of the leader
LOOKS = 4  # times CHANGES: a look that rounding let come too early finds the leader unchanged
FALLEN = 0.5  # the largest gap of the last quarter of changes over that of the second quarter
ROUND = 16  # the longest round that is looked for
LONGER = 1.02  # a pausing round over the one before it, at least


class Course(StrEnum):
    """What becomes of a query."""

    SETTLES = "settles"
    TURNS = "turns"
    PAUSES = "pauses"
    UNDECIDED = "undecided"


@dataclass(frozen=True, eq=False)
class Walk:
    """The stretches of one query.

    Attributes
    ----------
    leaders : list of int
        Who leads, stretch by stretch.
    begins : list of int
        The step at which each stretch begins; the first is 0.
    gaps : list of float
        The gap there, of the scale.
    settled : bool
        Whether the last stretch never ends.
    """

    leaders: list[int]
    begins: list[int]
    gaps: list[float]
    settled: bool


def walks(problem: QuadraticOverHull, reach: int = REACH, changes: int = CHANGES) -> list[Walk]:
    """Walk one query from each atom, all at once, until it settles, or past `reach` or `changes`.

    O(n³ + n² changes) and no more, however many steps that is.

    Parameters
    ----------
    problem : QuadraticOverHull
    reach : int
        The first stretch that begins at or after this step is the last.
    changes : int
        After so many a query is left alone.

    Examples
    --------
    >>> [walk] = walks(QuadraticOverHull([[3.0], [-1.0]]), changes=4)[:1]
    >>> walk.leaders, walk.begins
    ([1, 0, 1, 0, 1], [0, 1, 2, 4, 5])
    """
    n, tie = problem.n, problem.tie
    at = problem.centred_field(problem.centred) @ problem.centred.T  # of all atoms, at each atom
    score, weight = at.copy(), np.eye(n)
    t = np.zeros(n)
    kept = [Walk([], [], [], settled=False) for _ in range(n)]
    settled, alive, scale = np.zeros(n, dtype=bool), np.arange(n), problem.scale or 1.0
    lower = np.tri(n, k=-1, dtype=bool)  # [j, i]: i has a lower index than j
    for _ in range(LOOKS * changes):
        if not alive.size:
            break
        s, now = score[alive], t[alive]
        least = s.min(axis=1)
        j = (s <= least[:, None] + tie).argmax(axis=1)
        gap = (weight[alive] * (s - least[:, None])).sum(axis=1) / scale
        for q, leader, begin, short in zip(alive, j, now, gap, strict=True):
            if not kept[q].leaders or kept[q].leaders[-1] != leader:
                kept[q].leaders.append(int(leader))
                kept[q].begins.append(int(begin))
                kept[q].gaps.append(float(short))
        own = np.arange(len(alive))
        # i overtakes j where p ahead < rise: the lower index wins a tie
        rise = at[j, j][:, None] - at[j] + np.where(lower[j], tie, -tie)
        rise[own, j] = 0
        ahead = s - s[own, j][:, None] + at[j, j][:, None] - at[j]
        ratio = np.where(rise > 0, 1.0, 0.0)
        np.divide(rise, ahead, out=ratio, where=(rise > 0) & (ahead > rise))
        p = ratio.max(axis=1)
        settled[alive] = p == 0
        then = np.ceil(np.sqrt(0.25 + now * (now + 1) / np.where(p > 0, p, 1)) - 0.5)
        then = np.maximum(then, now + 1)
        keep = (now * (now + 1) / (then * (then + 1)))[:, None]
        score[alive] = keep * s + (1 - keep) * at[j]
        weight[alive] *= keep
        weight[alive, j] += 1 - keep[:, 0]
        t[alive] = then
        many = np.array([len(kept[q].leaders) > changes for q in alive])
        alive = alive[~(settled[alive] | many | (now >= reach))]
    return [
        Walk(walk.leaders, walk.begins, walk.gaps, bool(end))
        for walk, end in zip(kept, settled, strict=True)
    ]


def course(walk: Walk) -> Course:
    """Say what becomes of a query.

    Examples
    --------
    >>> course(Walk([3], [0], [0.0], settled=True)).value
    'settles'
    """
    if walk.settled:
        return Course.SETTLES
    seen = len(walk.gaps) - 1
    before, last = walk.gaps[seen // 4 : seen // 2], walk.gaps[seen - seen // 4 :]
    fell = bool(before) and max(last) <= FALLEN * max(before)
    if fell:
        return Course.TURNS if seen >= CHANGES else Course.UNDECIDED
    growth = _growth(walk.begins, around(walk.leaders) or 1)
    grows = growth is not None and growth >= LONGER
    return Course.PAUSES if grows or walk.begins[-1] >= REACH else Course.UNDECIDED


def around(leaders: list[int]) -> int | None:
    """Return the least p for which the last p leaders are the p before them again, or None.

    Examples
    --------
    >>> around([5, 7, 1, 2, 3, 1, 2, 3]), around([1, 2, 3, 4])
    (3, None)
    """
    most = min(ROUND, len(leaders) // 2)
    return next((p for p in range(2, most + 1) if leaders[-p:] == leaders[-2 * p : -p]), None)


def stretches(problem: QuadraticOverHull) -> dict[str, list[Any]]:
    """Return what becomes of each query, a list a fact.

    Parameters
    ----------
    problem : QuadraticOverHull
        Its atoms are its queries.

    Returns
    -------
    dict of lists, each of length n
        course; changes (of the leader, that were seen); last (the step at which the last stretch
        began); leaders (pausing: of the last round, in order; else, or where there is no round, the
        different ones of the last quarter of stretches); growth (pausing: the length of the last
        whole stretch over that of the one a round before, or of the one before it; else None); gap
        (the largest at the start of those stretches, of the scale; 0 where it settles).
    """
    names = ("course", "changes", "last", "leaders", "growth", "gap")
    out: dict[str, list[Any]] = {name: [] for name in names}
    for walk in walks(problem):
        kind, p = course(walk), around(walk.leaders)
        if kind is not Course.SETTLES and problem.kind is Kind.CONVEX:
            kind = Course.TURNS
        pausing = kind is Course.PAUSES
        last = 1 if walk.settled else p if pausing and p else -(-len(walk.leaders) // 4)
        lasting = walk.leaders[-last:]
        out["course"].append(str(kind))
        out["changes"].append(len(walk.leaders) - 1)
        out["last"].append(walk.begins[-1])
        out["leaders"].append(lasting if pausing and p else sorted(set(lasting)))
        out["growth"].append(_growth(walk.begins, p or 1) if pausing else None)
        out["gap"].append(0.0 if walk.settled else max(walk.gaps[-last:]))
    return out


def _growth(begins: list[int], p: int) -> float | None:
    """Return the length of the last whole stretch over that of the one p before."""
    lengths = np.diff(begins)
    return float(lengths[-1] / lengths[-1 - p]) if len(lengths) > p else None
