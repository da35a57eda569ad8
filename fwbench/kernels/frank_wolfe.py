"""The Frank-Wolfe loops: towards the leading atom, and away from the worst one in use."""

import numpy as np

from fwbench.kernels import jit
from fwbench.kernels.line import GIVEN, line_step
from fwbench.kernels.pricing import column, leader, refresh

# Everything kept beside the weights is recomputed at multiples of this absolute step count, so
# that a run cut in two refreshes at the same steps as a whole one.
REFRESH = 1024
# A step this close to the longest one drops its atom, with exactly the longest step.
DROP = 1e-12
# An away step that stretches what is kept by more than this stretches its rounding as well.
LONG = 2.0

LMO, GRADIENT, MATVEC, FW, AWAY, PAIRWISE, DROPPED = range(7)


@jit
def toward(
    left, right, signs, linear, points, lipschitz, tie,
    w, y, x, s, level, estimate, columns, slot, owner, hand, counters,
    rule, gammas, first, steps,
):  # fmt: skip
    """Take steps w += γ (e_j − w), j the leader, from step number `first` on.

    With ``rule == GIVEN`` the steps γ are `gammas`; else a line is searched. O(n + d + r) a step
    and O(nr) a column.
    """
    for t in range(first, first + steps):
        j = leader(s, tie)
        gamma = gammas[t - first] if rule == GIVEN else 0.0
        if rule != GIVEN:
            step = right[j] - y
            bent = signs * step * step
            slope = s[j] - np.dot(signs * y, y) - level[0]
            move = points[j] - x
            gamma = line_step(
                rule, slope, bent.sum(), np.abs(bent).sum(), np.dot(move, move), 1.0,
                lipschitz, estimate,
            )  # fmt: skip
        row = column(left, right, signs, j, columns, slot, owner, hand, -1)
        keep = 1 - gamma
        w *= keep
        w[j] += gamma
        y[:] = keep * y + gamma * right[j]
        x[:] = keep * x + gamma * points[j]
        s[:] = keep * s + gamma * (columns[row] + linear)
        level[0] = keep * level[0] + gamma * linear[j]
        counters[LMO] += 1
        counters[GRADIENT] += 1
        counters[MATVEC] += 1
        counters[FW] += 1
        if (t + 1) % REFRESH == 0:
            refresh(left, right, signs, linear, points, w, y, x, s, level)


@jit
def list_in_use(w, active, size, key):
    """Keep the list of atoms in use true to the stored weights: no zero, `key` once if it has any.

    What a float32 weight rounds to decides, not the step that led to it.
    """
    kept = 0
    seen = False
    for p in range(size[0]):
        if w[active[p]] > 0.0:
            seen = seen or active[p] == key
            active[kept] = active[p]
            kept += 1
    if w[key] > 0.0 and not seen:
        active[kept] = key
        kept += 1
    size[0] = kept


@jit
def toward_or_away(
    left, right, signs, linear, points, lipschitz, tie,
    w, y, x, s, level, estimate, columns, slot, owner, hand, counters,
    active, size, rule, first, steps,
):  # fmt: skip
    """Take Frank-Wolfe or away steps, whichever promises more.

    `active` (n,) holds the keys in use in its first ``size[0]`` places. O(n + d + r) a step.
    """
    for t in range(first, first + steps):
        j = leader(s, tie)
        worst, place = s[active[0]], 0
        for p in range(1, size[0]):
            if s[active[p]] > worst:
                worst, place = s[active[p]], p
        a = active[place]
        here = np.dot(signs * y, y) + level[0]
        others = 0.0  # not 1 − w_a, which near w_a = 1 is rounding alone
        for p in range(size[0]):
            if p != place:
                others += w[active[p]]
        away = worst - here > here - s[j] and others > 0.0
        key = a if away else j
        sign = -1.0 if away else 1.0
        longest = w[a] / others if away else 1.0
        step = right[key] - y
        bent = signs * step * step
        move = points[key] - x
        gamma = line_step(
            rule, sign * (s[key] - here), bent.sum(), np.abs(bent).sum(), np.dot(move, move),
            longest, lipschitz, estimate,
        )  # fmt: skip
        drop = away and gamma >= longest * (1.0 - DROP)
        gamma = sign * (longest if drop else gamma)
        row = column(left, right, signs, key, columns, slot, owner, hand, -1)
        keep = 1.0 - gamma
        for p in range(size[0]):
            w[active[p]] *= keep
        new = 1.0 - others * keep if away else w[key] + gamma
        drop = drop or (away and new <= 0.0)
        w[key] = 0.0 if drop else new
        list_in_use(w, active, size, key)
        if drop:
            counters[DROPPED] += 1
        y[:] = keep * y + gamma * right[key]
        x[:] = keep * x + gamma * points[key]
        s[:] = keep * s + gamma * (columns[row] + linear)
        level[0] = keep * level[0] + gamma * linear[key]
        counters[LMO] += 1
        counters[GRADIENT] += 1
        counters[MATVEC] += 1
        counters[AWAY if away else FW] += 1
        if (t + 1) % REFRESH == 0 or keep > LONG:
            total = w.sum()
            w /= total
            refresh(left, right, signs, linear, points, w, y, x, s, level)
