"""The list of atoms in use: keys, weights and reaches side by side, no weight 0.

`place` (n,) says where each atom stands in the list, −1 if nowhere: membership is by index, so
atoms at the same point are two atoms.
"""

import numpy as np

from fwbench.kernels import jit_view_sums, jit_views


@jit_view_sums
def total(weight, first, last):
    """Return the sum of weights in the places from `first` up to `last`."""
    gathered = 0 * weight[0]
    for p in range(first, last):
        gathered += weight[p]
    return gathered


@jit_views
def scaled(weight, size, keep):
    """Multiply the weights in use; return whether none became 0, by underflow or because keep is.

    What a weight rounds to decides, not the step that led to it.
    """
    gone = 0
    for p in range(size):
        weight[p] = keep * weight[p]
        gone += weight[p] == 0
    return gone == 0


@jit_views
def enlist(key, gain, own, weight, reach, active, size, place):
    """Add to the weight of an atom whose reach is `own`, listing it if it is new."""
    p = place[key]
    if p < 0:
        p = size[0]
        size[0] = p + 1
        place[key] = p
        active[p] = key
        reach[p] = own
        weight[p] = gain
    else:
        weight[p] = weight[p] + gain


@jit_views
def purge(weight, reach, active, size, place):
    """Drop every atom without weight from the list; the others keep their order."""
    kept = 0
    for p in range(size[0]):
        key = active[p]
        if weight[p] <= 0:
            place[key] = -1
        else:  # a weight that is not a number stays, and shows
            weight[kept] = weight[p]
            reach[kept] = reach[p]
            active[kept] = key
            place[key] = kept
            kept += 1
    size[0] = kept


@jit_views
def lowest_at_least(bar, scores, active, size):
    """Return the place of the lowest key in use whose score is at least `bar`."""
    found, lowest = 0, len(scores)
    for p in range(size):
        if active[p] < lowest and scores[active[p]] >= bar:
            lowest, found = active[p], p
    return found


@jit_views
def lowest_at_most(bar, scores, active, size):
    """Return the place of the lowest key in use whose score is at most `bar`."""
    found, lowest = 0, len(scores)
    for p in range(size):
        if active[p] < lowest and scores[active[p]] <= bar:
            lowest, found = active[p], p
    return found


@jit_views
def worst(scores, tie, active, size):
    """Return the place of the atom in use of largest score, of those within `tie` the lowest key.

    The rule of the leader, so that rounding decides as little here. Only if the second largest is
    as near as that are the keys looked at.
    """
    if size == 1:
        return 0
    found, top, second = 0, scores[active[0]], scores[active[1]]
    for p in range(1, size):
        score = scores[np.uintp(active[p])]
        lower = score if score < top else top
        second = lower if lower > second else second
        found = p if score > top else found
        top = score if score > top else top
    return lowest_at_least(top - tie, scores, active, size) if second >= top - tie else found


@jit_views
def ends(scores, tie, active, size):
    """Return the places of the `worst` atom in use and of the best, by the same rule."""
    if size == 1:
        return 0, 0
    high, top, under = 0, scores[active[0]], scores[active[1]]
    low, bottom, over = 0, top, under
    for p in range(1, size):
        score = scores[np.uintp(active[p])]
        lower = score if score < top else top
        under = lower if lower > under else under
        high = p if score > top else high
        top = score if score > top else top
        higher = score if score > bottom else bottom
        over = higher if higher < over else over
        low = p if score < bottom else low
        bottom = score if score < bottom else bottom
    if under >= top - tie:
        high = lowest_at_least(top - tie, scores, active, size)
    if over <= bottom + tie:
        low = lowest_at_most(bottom + tie, scores, active, size)
    return high, low


@jit_views
def normalise(weight, size):
    """Divide the weights in use by their sum."""
    whole = total(weight, 0, size)
    for p in range(size):
        weight[p] = weight[p] / whole
