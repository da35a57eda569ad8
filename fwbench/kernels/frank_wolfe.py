"""The Frank-Wolfe loops: towards the leading atom, and away from the worst one in use.

A step costs one pass over the scores and one column, both O(n), and O(k + r + d) for k atoms in
use; a column that is not cached costs O(nr).
"""

from fwbench.kernels import jit_views
from fwbench.kernels.in_use import enlist, normalise, purge, scaled, total, worst
from fwbench.kernels.line import DROP, EXACT, GIVEN, bend, energy, line_step, squared_distance
from fwbench.kernels.pricing import leading, move, refresh, seat, turned

# Everything kept beside the weights is recomputed at multiples of this absolute step count, so
# that a run cut in two refreshes at the same steps as a whole one.
REFRESH = 1024
# An away step that stretches what is kept by more than this stretches its rounding as well.
LONG = 2.0

LMO, GRADIENT, MATVEC, FW, AWAY, PAIRWISE, DROPPED = range(7)


@jit_views
def count(counters, kind):
    """Count a step and what it asked for: one oracle call, one gradient, one column."""
    counters[LMO] += 1
    counters[GRADIENT] += 1
    counters[MATVEC] += 1
    counters[kind] += 1


@jit_views
def drawn(keep, gamma, goal, at):
    """Take a point to keep · at + γ goal."""
    for i in range(len(at)):
        at[i] = keep * at[i] + gamma * goal[i]


@jit_views
def admit(hull, kept, j, keep, gamma):
    """Take the weights to keep · w + γ e_j."""
    size = kept.size
    whole = scaled(kept.weight, size[0], keep)
    own = 0 * gamma
    if kept.place[j] < 0:
        own = energy(hull.signs, hull.right[j]) + 2 * hull.linear[j]
    enlist(j, gamma, own, kept.weight, kept.reach, kept.active, size, kept.place)
    if not whole:
        purge(kept.weight, kept.reach, kept.active, size, kept.place)


@jit_views
def follow(hull, kept, key, keep, gamma):
    """Take all that is kept beside the weights along with them, to keep · w + γ e_key."""
    direction, level = kept.directions[0], kept.level
    row, fresh = seat(key, kept.slot, kept.owner, kept.hand, -1)
    if fresh:
        turned(hull.signs, hull.right, key, direction)
    drawn(keep, gamma, hull.right[key], kept.y)
    drawn(keep, gamma, hull.points[key], kept.x)
    level[0] = keep * level[0] + gamma * hull.linear[key]
    move(
        hull.left, hull.linear, kept.columns, row, fresh, direction, kept.pieces[0], keep, gamma,
        kept.s, kept.lows,
    )  # fmt: skip


@jit_views
def renew(hull, kept):
    """Recompute all that is kept beside the weights."""
    refresh(
        hull.left, hull.right, hull.signs, hull.linear, hull.points, kept.weight, kept.active,
        kept.size[0], kept.y, kept.x, kept.s, kept.lows, kept.level, kept.directions[0],
    )  # fmt: skip


@jit_views
def toward(hull, kept, rule, gammas, first, steps):
    """Take steps w += γ (e_j − w), j the leader, from step number `first` on.

    With ``rule == GIVEN`` the steps γ are `gammas`; else a line is searched.
    """
    s, y, signs = kept.s, kept.y, hull.signs
    for t in range(first, first + steps):
        j = leading(s, kept.lows, hull.tie)
        gamma = gammas[t - first] if rule == GIVEN else 0.0
        if rule != GIVEN:
            slope = s[j] - energy(signs, y) - kept.level[0]
            curvature, terms = bend(signs, y, hull.right[j])
            squared = terms if rule == EXACT else squared_distance(kept.x, hull.points[j])
            gamma = line_step(
                rule, slope, curvature, terms, squared, 1.0, hull.lipschitz, kept.estimate
            )
        count(kept.counters, FW)
        if gamma != 0:
            step = s.dtype.type(gamma)
            keep = s.dtype.type(1 - step)
            admit(hull, kept, j, keep, step)
            follow(hull, kept, j, keep, step)
        if (t + 1) % REFRESH == 0:
            renew(hull, kept)


@jit_views
def toward_or_away(hull, kept, rule, first, steps):
    """Take Frank-Wolfe or away steps, whichever promises more."""
    s, y, signs = kept.s, kept.y, hull.signs
    weight, active, size = kept.weight, kept.active, kept.size
    for t in range(first, first + steps):
        j = leading(s, kept.lows, hull.tie)
        p = worst(s, hull.tie, active, size[0])
        a = active[p]
        here = energy(signs, y) + kept.level[0]
        # not 1 − w_a, which near w_a = 1 is rounding alone
        others = total(weight, 0, p) + total(weight, p + 1, size[0])
        away = s[a] - here > here - s[j] and others > 0
        key = a if away else j
        sign = -1.0 if away else 1.0
        longest = weight[p] / others if away else 1.0
        curvature, terms = bend(signs, y, hull.right[key])
        squared = terms if rule == EXACT else squared_distance(kept.x, hull.points[key])
        gamma = line_step(
            rule, sign * (s[key] - here), curvature, terms, squared, longest, hull.lipschitz,
            kept.estimate,
        )  # fmt: skip
        drop = away and gamma >= longest * (1 - DROP)
        step = s.dtype.type(sign * (longest if drop else gamma))
        keep = s.dtype.type(1 - step)
        count(kept.counters, AWAY if away else FW)
        if step != 0:
            if away:
                whole = scaled(weight, size[0], keep)
                new = s.dtype.type(1 - others * keep)
                drop = drop or new <= 0
                weight[p] = 0 if drop else new
                if drop:
                    kept.counters[DROPPED] += 1
                if drop or not whole:
                    purge(weight, kept.reach, active, size, kept.place)
            else:
                admit(hull, kept, j, keep, step)
            follow(hull, kept, key, keep, step)
        if (t + 1) % REFRESH == 0 or keep > LONG:
            normalise(weight, size[0])
            renew(hull, kept)
