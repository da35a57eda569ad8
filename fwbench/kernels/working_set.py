r"""Steps of exact methods: pricing all atoms in turn with an active set.

A hull is ``(atoms, mean, root, stretch, field)``: atoms (n, d) as given, their mean (d,), and
Q = R'R with R = root (r, d), or R = diag(stretch) where root has no rows; field = c + Qμ (d,). An
atom's coordinates are :math:`y_i = R(v_i - μ)`, its linear term :math:`b_i = ⟨field, v_i - μ⟩`,
and the scores at y are :math:`⟨R^⊤y + field, v_i - μ⟩`: a pass needs the atoms alone.
"""

import numpy as np

from fwbench.kernels import jit
from fwbench.kernels.active_set import combined, enter, inner, known, settle
from fwbench.kernels.passes import (
    block_minima,
    block_minima_below,
    first_within,
    product,
    sampled_cut,
)

LMO, GRADIENT, MATVEC, FW, AWAY, PAIRWISE, DROPPED = range(7)

EXACT = 1e-15  # of the scale: a gap that is rounding
# Of a pass's gap: how far its candidates are followed; where passes are cheap and the last ones led
# astray, no farther than the second.
INNER, LOOSE = 0.01, 0.5
FALL = 0.9  # of a gap: a refinement that brings less brings nothing
NEAR = 1 / 16  # the part of the atoms that may be listed as near the lead
VAIN = 2  # so often no more is kept near the lead


@jit
def coordinates(hull, key, row):
    """Write y = R(v − μ) of one atom into row (r,) and return its linear term; O(rd)."""
    atoms, mean, root, stretch, field = hull
    difference = atoms[key] - mean
    if len(root):
        product(root, difference, row)
    else:
        row[:] = stretch * difference
    return inner(difference, field, len(field))


@jit
def direction(hull, x, out):
    """Write the field R'x + field at the point with coordinates x (r,) into out (d,); O(rd)."""
    _, _, root, stretch, field = hull
    if len(root):
        combined(root, x, len(root), out)
        out += field
    else:
        out[:] = stretch * x + field


@jit
def price(hull, corral, x, tie, gap, lead, leaders, minima, size):
    """Score all atoms at x by one pass: its gap, and who leads each block and all.

    The leader is the lowest index whose score is within `tie` of the least.
    """
    atoms, mean = hull[0], hull[1]
    field = np.empty(len(mean))
    direction(hull, x, field)
    block_minima(atoms, mean, field, leaders, minima, size)
    least = minima.min()
    lead[0] = first_within(atoms, mean, field, least + tie, leaders, minima, size)
    level = inner(x, x, len(x)) + inner(corral[4], corral[5], corral[7][0])
    gap[0] = max(level - least, 0.0)
    return level


@jit
def price_near(hull, corral, kept, near, size, sizes):
    """Price all atoms, by looking at those alone that can lead, if the last full pass tells.

    There, at `anchor`, atoms with a score below a cut were kept: ``near = (keys, copies, anchor,
    around)``, around = (how many, cut, how often that was in vain, how far to follow the next
    candidates). A score changes by at most √shift times the way since then: as long as the others
    cannot come below the best of these, nothing else need be looked at. Returns whether it took a
    full pass.
    """
    shift = sizes[0]
    atoms, mean = hull[0], hull[1]
    x, gap, lead, leaders, minima = kept
    keys, copies, anchor, around = near
    field = np.empty(len(mean))
    direction(hull, x, field)
    level = inner(x, x, len(x)) + inner(corral[4], corral[5], corral[7][0])
    listed, full = int(around[0]), True
    if listed > 0:
        way = 0.0
        for i in range(len(x)):
            way += (x[i] - anchor[i]) ** 2
        others = around[1] - np.sqrt(shift * way)
        if others > level - gap[0]:
            each = (listed + len(leaders) - 1) // len(leaders)
            minima[:] = np.inf
            block_minima(copies[:listed], mean, field, leaders, minima, each)
            full = others < minima.min()
            for c in range((listed + each - 1) // each):
                leaders[c] = keys[leaders[c]]
        around[2] += full
    if full and around[2] < VAIN and len(copies) > 0:
        around[1] = sampled_cut(atoms, mean, field, NEAR / 2)
        around[0] = block_minima_below(
            atoms, mean, field, leaders, minima, size, around[1], keys, copies
        )
        anchor[:] = x
    elif full:
        block_minima(atoms, mean, field, leaders, minima, size)
    lead[0] = leaders[minima.argmin()]
    gap[0] = max(level - minima.min(), 0.0)
    return full


@jit
def pricing_rounds(hull, corral, kept, near, size, sizes, counters, first, steps):
    """Take steps: minimise over the atoms in use and the candidates, then price all atoms.

    A candidate leads its block of `size` atoms by the last pass, which for the first step was taken
    at the mean: no weights need to express it. `kept` is (x, gap, lead, leaders, minima), `sizes`
    (shift, scale, tie). Returns the number of steps taken, and whether the method has come to its
    end. O(nd) a step beside the major cycles.
    """
    shift, scale, _ = sizes
    P, _, _, _, b, w, keys, used = corral
    x, gap, _, leaders, minima = kept
    room = len(leaders) + len(w)
    rows, heights, names = np.empty((room, len(x))), np.empty(room), np.empty(room, np.int64)
    free = np.empty(room), np.empty(room, np.bool_)
    refine = np.zeros(1, np.bool_)
    scratch = np.empty(len(w)), np.empty(len(x)), np.empty(len(w))
    for t in range(first, first + steps):
        level = inner(x, x, len(x)) + inner(b, w, used[0]) if t else np.inf
        count = used[0]
        rows[:count] = P[:count]
        heights[:count] = b[:count]
        names[:count] = keys[:count]
        for c in range(len(leaders)):
            if minima[c] < level:
                heights[count] = coordinates(hull, leaders[c], rows[count])
                names[count] = leaders[c]
                count += 1
        before = gap[0]
        stop = max(near[3][3] * before, EXACT * scale)
        refine[0] = False
        taken = settle(corral, rows, heights, names, count, shift, stop, x, refine, free, scratch)
        full = price_near(hull, corral, kept, near, size, sizes)
        counters[LMO] += 1
        counters[GRADIENT] += 1
        astray = gap[0] > LOOSE * before and len(near[0]) == 0
        near[3][3] = LOOSE if astray else INNER
        counters[MATVEC] += full
        counters[FW] += taken
        if gap[0] <= EXACT * scale or (taken == 0 and t > 0):
            return t + 1 - first, True
    return steps, False


@jit
def major_cycles(hull, corral, kept, size, sizes, counters, first, steps):
    """Take steps: the leader of all atoms enters, the minor cycle corrects, all are priced.

    Arguments and returns are those of `pricing_rounds`; the first step prices the start as well.
    """
    shift, scale, tie = sizes
    P, w, used = corral[0], corral[5], corral[7]
    x, gap, lead, leaders, minima = kept
    row = np.empty(len(x))
    refine = np.zeros(1, np.bool_)
    scratch = np.empty(len(w)), np.empty(len(x)), np.empty(len(w))
    for t in range(first, first + steps):
        if t == 0:
            price(hull, corral, x, tie, gap, lead, leaders, minima, size)
            counters[LMO] += 1
        height = coordinates(hull, lead[0], row)
        before, last, again = used[0], gap[0], known(corral, lead[0])
        refine[0] = False
        taken = enter(corral, row, height, lead[0], shift, -gap[0], refine, scratch)
        combined(P, w, used[0], x)
        price(hull, corral, x, tie, gap, lead, leaders, minima, size)
        counters[LMO] += 1
        counters[GRADIENT] += 1
        counters[FW] += 1
        counters[DROPPED] += before + 1 - used[0] if taken else 0
        # an atom in use that leads again, after refinement, is rounding
        if gap[0] <= EXACT * scale or not taken or (again and not gap[0] < FALL * last):
            return t + 1 - first, True
    return steps, False


@jit
def corrective_step(hull, corral, kept, size, sizes, counters, visited, count):
    """Minimise over the hull of the first `count` atoms of `visited`, then price all atoms.

    Arguments are those of `pricing_rounds`. Returns whether the method has come to its end.
    """
    shift, scale, tie = sizes
    w = corral[5]
    x, gap, lead, leaders, minima = kept
    rows, heights = np.empty((count, len(x))), np.empty(count)
    for i in range(count):
        heights[i] = coordinates(hull, visited[i], rows[i])
    refine = np.zeros(1, np.bool_)
    scratch = np.empty(len(w)), np.empty(len(x)), np.empty(len(w))
    stop = EXACT * scale
    free = np.empty(count), np.empty(count, np.bool_)
    taken = settle(corral, rows, heights, visited, count, shift, stop, x, refine, free, scratch)
    price(hull, corral, x, tie, gap, lead, leaders, minima, size)
    counters[LMO] += 1
    counters[GRADIENT] += 1
    counters[FW] += taken
    return gap[0] <= EXACT * scale or (taken == 0 and count > 1)
