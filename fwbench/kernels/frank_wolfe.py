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
        away = worst - here > here - s[j] and size[0] > 1
        key = a if away else j
        sign = -1.0 if away else 1.0
        longest = w[a] / (1.0 - w[a]) if away else 1.0
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
        if keep == 0.0:  # a whole step to the leader leaves it alone in use
            for p in range(size[0]):
                w[active[p]] = 0.0
            size[0] = 0
        else:
            for p in range(size[0]):
                w[active[p]] *= keep
        if not away and w[j] == 0.0 and gamma > 0.0:
            active[size[0]] = j
            size[0] += 1
        w[key] = 0.0 if drop else w[key] + gamma
        if drop:
            size[0] -= 1
            active[place] = active[size[0]]
            counters[DROPPED] += 1
        y[:] = keep * y + gamma * right[key]
        x[:] = keep * x + gamma * points[key]
        s[:] = keep * s + gamma * (columns[row] + linear)
        level[0] = keep * level[0] + gamma * linear[key]
        counters[LMO] += 1
        counters[GRADIENT] += 1
        counters[MATVEC] += 1
        counters[AWAY if away else FW] += 1
        if (t + 1) % REFRESH == 0:
            total = w.sum()
            w /= total
            refresh(left, right, signs, linear, points, w, y, x, s, level)
