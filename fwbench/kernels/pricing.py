r"""Scores of all atoms, their leader, and a bounded cache of score columns.

Points are weights w over the atoms; in the lowered coordinates the scores are
:math:`s = left\,(signs ∘ right^⊤ w) + linear`, shape (n,).
"""

import numpy as np

from fwbench.kernels import jit


@jit
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


@jit
def refresh(left, right, signs, linear, points, w, y, x, s, level):
    """Recompute everything that is kept beside the weights, so that no rounding piles up; O(nr)."""
    y[:] = np.dot(w, right)
    x[:] = np.dot(w, points)
    s[:] = np.dot(left, signs * y) + linear
    level[0] = np.dot(w, linear)


@jit
def column(left, right, signs, key, columns, slot, owner, hand, keep):
    """Return the row of `columns` that holds the scores of one atom, filled at need.

    The oldest column gives way, but never that of the atom `keep`. The same product fills a row
    whenever it is asked for, so what the cache holds never shows in a result.
    """
    if slot[key] < 0:
        row = hand[0] % len(columns)
        if owner[row] == keep and keep >= 0:
            row = (row + 1) % len(columns)
        hand[0] = row + 1
        if owner[row] >= 0:
            slot[owner[row]] = -1
        columns[row] = np.dot(left, signs * right[key])
        slot[key] = row
        owner[row] = key
    return slot[key]


@jit
def leaders(scores, tie, out):
    """Write the leader of each row of scores (m, n) into out (m,); O(mn)."""
    for q in range(len(scores)):
        out[q] = leader(scores[q], tie)
