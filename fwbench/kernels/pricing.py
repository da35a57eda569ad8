r"""Scores of all atoms, their leader, and a bounded cache of score columns.

Points are weights w over the atoms; in the lowered coordinates the scores are
:math:`s = left\,(signs ∘ right^⊤ w) + linear`, shape (n,). A *column* holds the scores at one
atom: a step from w towards atom j takes s to (1 − γ) s + γ column_j, one pass over two vectors.

The least score of each block of atoms comes out of the same pass, by ordinals, of which a minimum
uses whole vectors; the leader is then looked for in one block.
"""

from typing import Any, NamedTuple

import numpy as np

from fwbench.kernels import jit_views
from fwbench.kernels.order import numeral, ordinal
from fwbench.kernels.passes import product

# What `slot` says of an atom that has no column: never asked for, or asked for once.
NEW, SEEN = -2, -1
# Columns are made in pieces of so many atoms; a piece that is not kept stays in the fastest cache.
PIECE = 2048
BLOCK = 512  # scores of which the least is kept; a piece is some whole blocks


class Hull(NamedTuple):
    """A lowered problem as kernels take it; see `fwbench.lowering.Lowered`."""

    left: Any
    right: Any
    signs: Any
    linear: Any
    points: Any
    lipschitz: Any
    tie: Any


class Kept(NamedTuple):
    """What kernels change in place; see `fwbench.scored.ScoredWeights`."""

    weight: Any
    reach: Any
    active: Any
    size: Any
    place: Any
    y: Any
    x: Any
    s: Any
    lows: Any
    level: Any
    estimate: Any
    columns: Any
    slot: Any
    owner: Any
    hand: Any
    counters: Any
    directions: Any
    pieces: Any


@jit_views
def leader(scores, tie):
    """Return the lowest index whose score is within `tie` of the least; O(n)."""
    least = scores[0]
    for i in range(1, len(scores)):
        if scores[i] < least:
            least = scores[i]
    for i in range(len(scores)):
        if scores[i] <= least + tie:
            return i
    return 0  # a score is not a number


@jit_views
def leaders(scores, tie, out):
    """Write the leader of each row of scores (m, n) into out (m,); O(mn)."""
    for q in range(len(scores)):
        out[q] = leader(scores[q], tie)


@jit_views
def blocks_of(n):
    """Return how many blocks n scores make."""
    return (n + BLOCK - 1) // BLOCK


@jit_views
def bottom(lows):
    """Return the least entry, by four chains of comparisons that do not wait for each other."""
    quarter = len(lows) // 4
    a = b = c = d = lows[0]
    for i in range(quarter):
        a = lows[i] if lows[i] < a else a
        b = lows[quarter + i] if lows[quarter + i] < b else b
        c = lows[2 * quarter + i] if lows[2 * quarter + i] < c else c
        d = lows[3 * quarter + i] if lows[3 * quarter + i] < d else d
    for i in range(4 * quarter, len(lows)):
        a = lows[i] if lows[i] < a else a
    a = b if b < a else a
    c = d if d < c else c
    return c if c < a else a


@jit_views
def leading(scores, lows, tie):
    """Return the `leader`, found by the least scores of the blocks; O(n/B + B)."""
    bar = bottom(lows) + tie
    for b in range(len(lows)):
        if lows[b] <= bar:
            stop = np.intp(min(len(scores), (b + 1) * BLOCK))
            found = stop
            # the whole block, without a way out: so it goes by whole vectors
            for i in range(np.uintp(b * BLOCK), np.uintp(stop)):
                place = np.intp(i) if scores[i] <= bar else stop
                found = place if place < found else found
            if found < stop:
                return found
    return 0  # a score is not a number


@jit_views
def survey(scores, lows):
    """Write the least score of each block into lows."""
    for b in range(len(lows)):
        start, stop = b * BLOCK, min(len(scores), (b + 1) * BLOCK)
        low = ordinal(scores[start])
        for i in range(np.uintp(start), np.uintp(stop)):
            key = ordinal(scores[i])
            low = key if key < low else low
        lows[b] = numeral(low)


@jit_views
def blend(keep, gamma, column, scores, lows):
    """Take s to keep s + γ column, and write the least score of each block."""
    for b in range(len(lows)):
        start, stop = b * BLOCK, min(len(scores), (b + 1) * BLOCK)
        low = ordinal(keep * scores[start] + gamma * column[start])
        for i in range(np.uintp(start), np.uintp(stop)):
            score = keep * scores[i] + gamma * column[i]
            scores[i] = score
            key = ordinal(score)
            low = key if key < low else low
        lows[b] = numeral(low)


@jit_views
def shift(gamma, column, away, scores, lows):
    """Take s to s + γ (column − away), and write the least score of each block."""
    for b in range(len(lows)):
        start, stop = b * BLOCK, min(len(scores), (b + 1) * BLOCK)
        low = ordinal(scores[start] + gamma * (column[start] - away[start]))
        for i in range(np.uintp(start), np.uintp(stop)):
            score = scores[i] + gamma * (column[i] - away[i])
            scores[i] = score
            key = ordinal(score)
            low = key if key < low else low
        lows[b] = numeral(low)


@jit_views
def fill(left, direction, linear, out):
    """Write scores into out: the one routine that makes them, kept or not."""
    product(left, direction, out)
    for i in range(len(out)):
        out[i] = out[i] + linear[i]


@jit_views
def seat(key, slot, owner, hand, other):
    """Return the row for the column of an atom, −1 for none, and whether it must be filled.

    An atom's first visit keeps nothing: many atoms are visited once. The oldest column gives way,
    but never that of the atom `other`. What the cache holds never shows in a result.
    """
    row = slot[key]
    if row >= 0:
        return row, False
    if row == NEW or len(owner) == 0:
        slot[key] = SEEN
        return -1, True
    row = hand[0]
    if owner[row] == other and other >= 0:
        row = (row + 1) % len(owner)
        if owner[row] == other:
            return -1, True
    hand[0] = (row + 1) % len(owner)
    if owner[row] >= 0:
        slot[owner[row]] = SEEN
    slot[key] = row
    owner[row] = key
    return row, True


@jit_views
def turned(signs, right, key, out):
    """Write the direction whose products with `left` are the scores at one atom, less `linear`."""
    for i in range(len(out)):
        out[i] = signs[i] * right[key, i]


@jit_views
def move(left, linear, columns, row, fresh, direction, buffer, keep, gamma, scores, lows):
    """Take s to keep s + γ column, where the column stands in a row or must be made."""
    if not fresh:
        blend(keep, gamma, columns[row], scores, lows)
        return
    for first in range(0, len(scores), PIECE):
        last = min(len(scores), first + PIECE)
        piece = columns[row][first:last] if row >= 0 else buffer[: last - first]
        fill(left[first:last], direction, linear[first:last], piece)
        blend(keep, gamma, piece, scores[first:last], lows[first // BLOCK : blocks_of(last)])


@jit_views
def refresh(
    left, right, signs, linear, points, weight, active, size, y, x, scores, lows, level, direction
):
    """Recompute what is kept beside the weights, so that no rounding piles up; O(nr)."""
    y[:] = 0
    x[:] = 0
    level[0] = 0
    for p in range(size):
        key, share = active[p], weight[p]
        for i in range(len(y)):
            y[i] += share * right[key, i]
        for i in range(len(x)):
            x[i] += share * points[key, i]
        level[0] += share * linear[key]
    for i in range(len(y)):
        direction[i] = signs[i] * y[i]
    for first in range(0, len(scores), PIECE):
        last = min(len(scores), first + PIECE)
        fill(left[first:last], direction, linear[first:last], scores[first:last])
    survey(scores, lows)
