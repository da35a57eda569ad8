"""Who leads each query: from tiles of scores, or from boxes around the keys; and steps towards it.

The leader is the lowest index whose score is within `tie` of the least. It is *sure* where the same
key leads by twice the tolerance and is the least by half of it: no rounding changes that.
"""

import numpy as np

from fwbench.geometry.boxes import BRANCH, LEAF
from fwbench.kernels import jit_views
from fwbench.kernels.order import numeral, ordinal

STRETCH = 1024  # numbers that take all steps before the next ones are looked at
NONE = np.int64(0x7FFFFFFFFFFFFFFF)


@jit_views
def lead_tile(scores, first, tie, least, score, lead, open):
    """Look at a tile of scores (r, w) of the keys from `first` on, after those before; O(rw).

    Updates the least score so far, the lowest index within `tie` of it and its score, (r,) each.
    Where the leader fell behind, but an earlier key may not have, `open` is set: it must be looked
    for again.
    """
    for q in range(len(scores)):
        row = scores[q]
        lowest = ordinal(row[0])
        for i in range(np.uintp(len(row))):
            key = ordinal(row[i])
            lowest = key if key < lowest else lowest
        bottom, before = numeral(lowest), least[q]
        if bottom <= before + tie:
            least[q] = bottom if bottom < before else before
            bar = least[q] + tie
            if not score[q] <= bar:
                if before <= bar:
                    open[q] = 1
                for i in range(len(row)):
                    if row[i] <= bar:
                        score[q] = row[i]
                        lead[q] = first + i
                        break


@jit_views
def lead_rows(scores, tie, lead, sure):
    """Find the leader of each row of scores (m, n), and whether it is sure; O(mn)."""
    for q in range(len(scores)):
        row = scores[q]
        lowest = ordinal(row[0])
        for i in range(np.uintp(len(row))):
            key = ordinal(row[i])
            lowest = key if key < lowest else lowest
        least = numeral(lowest)
        lead[q], sure[q] = 0, False
        for i in range(len(row)):
            if row[i] <= least + 2 * tie:
                lead[q] = i
                break
        first = lead[q]
        if row[first] > least + tie:
            for i in range(first + 1, len(row)):
                if row[i] <= least + tie:
                    lead[q] = i
                    break
        else:
            sure[q] = row[first] <= least + tie / 2


@jit_views
def score_of(field, point):
    """Return ⟨g, y⟩, summed up in this order."""
    score = field[0] * point[0]
    for k in range(1, len(field)):
        score += field[k] * point[k]
    return score


@jit_views
def first_below(field, keys, bar, otherwise):
    """Return the lowest index with a score of at most `bar`; `otherwise` if there is none."""
    for i in range(len(keys)):
        if score_of(field, keys[i]) <= bar:
            return i
    return otherwise


@jit_views
def bound(field, low, high):
    """Return what no score of a point between low and high is below, rounding included.

    Products and sums as in `score_of`: rounding keeps their order.
    """
    end = field[0] * (low[0] if field[0] >= 0 else high[0])
    for k in range(1, len(field)):
        end += field[k] * (low[k] if field[k] >= 0 else high[k])
    return end


@jit_views
def inside(box, starts):
    """Return the first box inside a box that is no leaf, and the one behind the last."""
    level = 1
    while box >= starts[level + 1]:
        level += 1
    first = starts[level - 1] + (box - starts[level]) * BRANCH
    return first, min(starts[level], first + BRANCH)


@jit_views
def least_in_boxes(field, boxes, stack, ends):
    """Return the least score of all points; boxes that can't hold it aren't opened."""
    points, _, lows, highs, _, starts = boxes
    least = score_of(field, points[0])
    size = 1
    stack[0] = len(lows) - 1
    ends[0] = bound(field, lows[stack[0]], highs[stack[0]])
    while size > 0:
        size -= 1
        box = stack[size]
        if ends[size] <= least:
            if box < starts[1]:
                for i in range(box * LEAF, min(len(points), (box + 1) * LEAF)):
                    score = score_of(field, points[i])
                    least = score if score < least else least
            else:
                bottom = size
                first, last = inside(box, starts)
                for child in range(first, last):
                    end = bound(field, lows[child], highs[child])
                    if end < least:
                        stack[size], ends[size] = child, end
                        if size > bottom and ends[size - 1] < end:  # the best one on top
                            stack[size], stack[size - 1] = stack[size - 1], stack[size]
                            ends[size], ends[size - 1] = ends[size - 1], ends[size]
                        size += 1
    return least


@jit_views
def first_in_boxes(field, boxes, bar, surely, stack):
    """Return the lowest index whose score is at most `bar`, and the score.

    Boxes whose scores all are at most `surely` are not opened; that is their score then.
    """
    points, names, lows, highs, firsts, starts = boxes
    lead, found = NONE, bar
    size = 1
    stack[0] = len(lows) - 1
    while size > 0:
        size -= 1
        box = stack[size]
        if firsts[box] < lead:
            if bound(field, highs[box], lows[box]) <= surely:
                lead, found = firsts[box], surely
            elif box < starts[1]:
                for i in range(box * LEAF, min(len(points), (box + 1) * LEAF)):
                    score = score_of(field, points[i])
                    if score <= bar and names[i] < lead:
                        lead, found = names[i], score
            else:
                bottom = size
                first, last = inside(box, starts)
                for child in range(first, last):
                    if firsts[child] < lead and bound(field, lows[child], highs[child]) <= bar:
                        stack[size] = child
                        if size > bottom and firsts[stack[size - 1]] < firsts[child]:
                            stack[size], stack[size - 1] = stack[size - 1], stack[size]
                        size += 1
    return lead, found


@jit_views
def lead_in_boxes(fields, boxes, tie, wide, extents, faint, stack, ends, lead, sure):
    """Find the leader of each query by its field (m, d), and whether it is sure.

    `wide` is 2 tie; or tie, which is quicker, where nobody asks what is sure: then none is. A query
    with ‖e∘g‖² ≤ `faint` is left to others: lead −1. In the plane some twenty boxes of
    a million points are opened for a query.
    """
    for q in range(len(fields)):
        field = fields[q]
        size = 0 * faint
        for k in range(len(field)):
            size += (extents[k] * field[k]) * (extents[k] * field[k])
        if size > faint:
            least = least_in_boxes(field, boxes, stack, ends)
            surely = least + tie / 2
            key, score = first_in_boxes(field, boxes, least + wide, surely, stack)
            sure[q] = wide > tie and score <= surely
            if score > least + tie:
                key, score = first_in_boxes(field, boxes, least + tie, surely, stack)
            lead[q] = key
        else:
            lead[q], sure[q] = -1, False


@jit_views
def scores_of(columns, first, last, point, scores):
    """Write ⟨g, y⟩ of one point for the queries first to last, whose fields are columns (d, m)."""
    for k in range(len(point)):
        y = point[k]
        if k == 0:
            for i in range(np.uintp(first), np.uintp(last)):
                scores[i - np.uintp(first)] = columns[0, i] * y
        else:
            for i in range(np.uintp(first), np.uintp(last)):
                scores[i - np.uintp(first)] += columns[k, i] * y


@jit_views
def lead_among_few(columns, keys, tie, extents, faint, room, lead, sure):
    """Do what `lead_in_boxes` does with few keys, whole vectors of queries at a time; O(mnd).

    Fields are columns (d, m); `lead` gets rows of `keys`; `room` (4, r) is overwritten.
    """
    stretch = room.shape[1]
    scores, least, found, size = room[0], room[1], room[2], room[3]
    for first in range(0, columns.shape[1], stretch):
        last = min(columns.shape[1], first + stretch)
        many = np.uintp(last - first)
        scores_of(columns, first, last, keys[0], least)
        for j in range(1, len(keys)):
            scores_of(columns, first, last, keys[j], scores)
            for i in range(many):
                least[i] = scores[i] if scores[i] < least[i] else least[i]
        for j in range(len(keys) - 1, -1, -1):  # the lowest comes last
            scores_of(columns, first, last, keys[j], scores)
            for i in range(many):
                near = scores[i] <= least[i] + 2 * tie
                found[i] = scores[i] if near else found[i]
                lead[np.uintp(first) + i] = j if near else lead[np.uintp(first) + i]
        for k in range(len(extents)):
            for i in range(many):
                part = extents[k] * columns[k, np.uintp(first) + i]
                size[i] = part * part if k == 0 else size[i] + part * part
        for i in range(many):
            q = np.uintp(first) + i
            sure[q] = found[i] <= least[i] + tie / 2
            if not size[i] > faint:
                lead[q], sure[q] = -1, False
            elif found[i] > least[i] + tie:
                for j in range(len(keys)):
                    score = columns[0, q] * keys[j, 0]
                    for k in range(1, len(extents)):
                        score += columns[k, q] * keys[j, k]
                    if score <= least[i] + tie:
                        lead[q] = j
                        break


@jit_views
def approach(x, target, lengths):
    """Take x (k,) by steps of all lengths towards the target (k,), in place.

    The same numbers, to the last bit, as step by step for all of them; but in the fastest cache.
    """
    for first in range(0, len(x), STRETCH):
        last = min(len(x), first + STRETCH)
        for t in range(len(lengths)):
            gamma = lengths[t]
            if gamma == 1:
                for i in range(np.uintp(first), np.uintp(last)):
                    x[i] = target[i]
            else:
                for i in range(np.uintp(first), np.uintp(last)):
                    x[i] += gamma * (target[i] - x[i])
