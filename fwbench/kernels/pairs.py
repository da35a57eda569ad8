"""The pairwise loops: weight moves from one atom in use to another atom, the rest stays.

A step costs one pass over the scores and two columns, all O(n), and O(k + r + d) for k atoms in
use; a column that is not cached costs O(nr).
"""

import numpy as np

from fwbench.kernels import jit_views
from fwbench.kernels.frank_wolfe import (
    DROPPED,
    FW,
    GRADIENT,
    LMO,
    MATVEC,
    PAIRWISE,
    REFRESH,
    admit,
    follow,
    renew,
)
from fwbench.kernels.in_use import ends, enlist, normalise, purge, worst
from fwbench.kernels.line import DROP, EXACT, GIVEN, bend, energy, line_step, squared_distance
from fwbench.kernels.pricing import BLOCK, PIECE, blocks_of, fill, leading, seat, shift, turned

WORST, CURVED = 0, 1


@jit_views
def carried(gamma, goal, origin, at):
    """Take a point to at + γ (goal − origin)."""
    for i in range(len(at)):
        at[i] = at[i] + gamma * (goal[i] - origin[i])


@jit_views
def made(left, linear, direction, out):
    """Write a whole column, in the pieces in which it is always made."""
    for first in range(0, len(linear), PIECE):
        last = min(len(linear), first + PIECE)
        fill(left[first:last], direction, linear[first:last], out[first:last])


@jit_views
def trade(left, linear, columns, to, off, directions, pieces, gamma, scores, lows):
    """Take s to s + γ (column − column); `to` and `off` say where each stands, or is to be made.

    They are (row, fresh) as `seat` returns them.
    """
    if not (to[1] or off[1]):
        shift(gamma, columns[to[0]], columns[off[0]], scores, lows)
        return
    for first in range(0, len(scores), PIECE):
        last = min(len(scores), first + PIECE)
        one = columns[to[0]][first:last] if to[0] >= 0 else pieces[0][: last - first]
        two = columns[off[0]][first:last] if off[0] >= 0 else pieces[1][: last - first]
        if to[1]:
            fill(left[first:last], directions[0], linear[first:last], one)
        if off[1]:
            fill(left[first:last], directions[1], linear[first:last], two)
        parts = lows[first // BLOCK : blocks_of(last)]
        shift(gamma, one, two, scores[first:last], parts)


@jit_views
def curved(scores, least, column, own, tie, active, reach, size):
    """Return the place of the atom that promises most: (s_a − s_j)² / ⟨v_j − v_a, Q(v_j − v_a)⟩.

    The choice of a pair by second-order information. `own` is ⟨v_j, Qv_j⟩; a curvature that is
    rounding, or negative, counts as a very small one.
    """
    small = tie if tie > 0 else 1 + tie  # no tie, no scale: all scores are one
    found, most = 0, 0 * tie
    for p in range(size):
        a = np.uintp(active[p])
        fall = scores[a] - least
        fall = fall if fall > 0 else 0 * fall
        curvature = own + reach[p] - 2 * column[a]
        promise = fall * fall / (curvature if curvature > small else small)
        found = p if promise > most else found
        most = promise if promise > most else most
    return found


@jit_views
def swap(hull, kept, j, p, to, rule, length):
    """Move weight from the atom in place p to atom j; `length` is the step if the rule is GIVEN.

    `to` says where the column of j stands already, (−1, True) if nowhere.
    """
    right, points, linear, signs = hull.right, hull.points, hull.linear, hull.signs
    weight, active, size, place, s = kept.weight, kept.active, kept.size, kept.place, kept.s
    a, longest = active[p], weight[p]
    gamma = length
    if rule != GIVEN:
        curvature, terms = bend(signs, right[a], right[j])
        squared = terms if rule == EXACT else squared_distance(points[a], points[j])
        gamma = line_step(
            rule, s[j] - s[a], curvature, terms, squared, longest, hull.lipschitz, kept.estimate
        )
    kept.counters[PAIRWISE] += 1
    if gamma == 0 or j == a:
        return
    step = longest if gamma >= longest * (1 - DROP) else s.dtype.type(gamma)
    weight[p] = longest - step
    drop = weight[p] <= 0
    own = 0 * step
    if place[j] < 0:
        own = energy(signs, right[j]) + 2 * linear[j]
    enlist(j, step, own, weight, kept.reach, active, size, place)
    if drop:
        kept.counters[DROPPED] += 1
        purge(weight, kept.reach, active, size, place)
    if to[0] < 0:
        to = seat(j, kept.slot, kept.owner, kept.hand, a)
        if to[1]:
            turned(signs, right, j, kept.directions[0])
    off = seat(a, kept.slot, kept.owner, kept.hand, j)
    if off[1]:
        turned(signs, right, a, kept.directions[1])
    carried(step, right[j], right[a], kept.y)
    carried(step, points[j], points[a], kept.x)
    kept.level[0] = kept.level[0] + step * (linear[j] - linear[a])
    trade(
        hull.left, linear, kept.columns, to, off, kept.directions, kept.pieces, step, s, kept.lows
    )


@jit_views
def pairwise(hull, kept, chooser, rule, gammas, first, steps):
    """Take steps w += γ (e_j − e_a), j the leader, a an atom in use: the worst, or by curvature.

    With ``rule == GIVEN`` the steps γ are `gammas`, at most w_a; else a line is searched. With
    ``chooser == CURVED`` the last row of `columns` belongs to no atom: a column that is not kept
    stands there while it is looked at.
    """
    s, columns = kept.s, kept.columns
    for t in range(first, first + steps):
        j = leading(s, kept.lows, hull.tie)
        kept.counters[LMO] += 1
        kept.counters[GRADIENT] += 1
        kept.counters[MATVEC] += 2
        to = (-1, True)
        if chooser == CURVED:
            row, fresh = seat(j, kept.slot, kept.owner, kept.hand, -1)
            row = len(kept.owner) if row < 0 else row
            if fresh:
                turned(hull.signs, hull.right, j, kept.directions[0])
                made(hull.left, hull.linear, kept.directions[0], columns[row])
            to = (row, False)
            own = columns[row, j] - hull.linear[j]
            p = curved(s, s[j], columns[row], own, hull.tie, kept.active, kept.reach, kept.size[0])
        else:
            p = worst(s, hull.tie, kept.active, kept.size[0])
        swap(hull, kept, j, p, to, rule, gammas[t - first] if rule == GIVEN else 0.0)
        if (t + 1) % REFRESH == 0:
            normalise(kept.weight, kept.size[0])
            renew(hull, kept)


@jit_views
def blended(hull, kept, lazy, phi, rule, first, steps):
    """Move weight between atoms in use where that promises as much as the leader, else to it.

    With `lazy` the promise is compared with Φ = `phi` (1,) instead, and the leader is asked for
    only where no pair in use keeps it; a leader that promises less than Φ/2 halves Φ, and nothing
    moves.
    """
    s, y, signs, counters = kept.s, kept.y, hull.signs, kept.counters
    for t in range(first, first + steps):
        p, near = ends(s, hull.tie, kept.active, kept.size[0])
        j = leading(s, kept.lows, hull.tie)
        local = s[kept.active[p]] - s[kept.active[near]]
        gap = energy(signs, y) + kept.level[0] - s[j]
        if lazy and t == 0:
            phi[0] = gap / 2
        pair = local >= (phi[0] if lazy else gap)
        counters[GRADIENT] += 1
        if not (lazy and pair):
            counters[LMO] += 1
        if pair:
            counters[MATVEC] += 2
            swap(hull, kept, kept.active[near], p, (-1, True), rule, 0.0)
        elif lazy and not gap >= phi[0] / 2:
            phi[0] = phi[0] / 2
        else:
            counters[MATVEC] += 1
            counters[FW] += 1
            curvature, terms = bend(signs, y, hull.right[j])
            squared = terms if rule == EXACT else squared_distance(kept.x, hull.points[j])
            gamma = line_step(
                rule, -gap, curvature, terms, squared, 1.0, hull.lipschitz, kept.estimate
            )
            if gamma != 0:
                step = s.dtype.type(gamma)
                keep = s.dtype.type(1 - step)
                admit(hull, kept, j, keep, step)
                follow(hull, kept, j, keep, step)
        if (t + 1) % REFRESH == 0:
            normalise(kept.weight, kept.size[0])
            renew(hull, kept)
