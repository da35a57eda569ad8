r"""One pass over the atoms: scores, their minima, means and extents.

A pass is as fast as memory delivers the atoms, and it needs no copy of them: what is centred is
:math:`⟨v_i - μ, g⟩`, with the subtraction inside the sum, so that a common offset costs no digit.
Atoms may be float64 or float32; sums are taken in float64.
"""

import numpy as np

from fwbench.kernels import jit, jit_sums

# All bits of a double but its sign: flipped under a negative one they order doubles as integers,
# and only a minimum of integers uses whole vectors.
MAGNITUDE = np.int64(0x7FFFFFFFFFFFFFFF)
SAMPLE = 512  # atoms that tell how scores are spread
STRETCH = 512  # atoms whose scores stay in the fastest cache


@jit_sums
def product(points, direction, out):
    """Write ⟨p_i, g⟩ for points (n, r) into out (n,); O(nr).

    A row's sum is the same whenever it is asked for.
    """
    n, r = points.shape
    if r == 2:
        a, b = direction[0], direction[1]
        for i in range(n):
            out[i] = points[i, 0] * a + points[i, 1] * b
    elif r == 3:
        a, b, c = direction[0], direction[1], direction[2]
        for i in range(n):
            out[i] = points[i, 0] * a + points[i, 1] * b + points[i, 2] * c
    else:
        whole = n // 4 * 4
        zero = 0 * direction[:1].sum()
        for i in range(0, whole, 4):
            p = q = u = v = zero
            for k in range(r):
                g = direction[k]
                p += points[i, k] * g
                q += points[i + 1, k] * g
                u += points[i + 2, k] * g
                v += points[i + 3, k] * g
            out[i], out[i + 1], out[i + 2], out[i + 3] = p, q, u, v
        for i in range(whole, n):
            p = zero
            for k in range(r):
                p += points[i, k] * direction[k]
            out[i] = p


@jit_sums
def centred_product(atoms, mean, direction, first, last, out):
    """Write ⟨v_i − μ, g⟩ for the atoms from `first` up to `last` into the front of out."""
    d = atoms.shape[1]
    if d == 2:
        a, b = direction[0], direction[1]
        x, y = mean[0], mean[1]
        for i in range(first, last):
            out[i - first] = (atoms[i, 0] - x) * a + (atoms[i, 1] - y) * b
    elif d == 3:
        a, b, c = direction[0], direction[1], direction[2]
        x, y, z = mean[0], mean[1], mean[2]
        for i in range(first, last):
            out[i - first] = (atoms[i, 0] - x) * a + (atoms[i, 1] - y) * b + (atoms[i, 2] - z) * c
    else:
        whole = first + (last - first) // 4 * 4
        for i in range(first, whole, 4):
            p = q = u = v = 0.0
            for k in range(d):
                m, g = mean[k], direction[k]
                p += (atoms[i, k] - m) * g
                q += (atoms[i + 1, k] - m) * g
                u += (atoms[i + 2, k] - m) * g
                v += (atoms[i + 3, k] - m) * g
            o = i - first
            out[o], out[o + 1], out[o + 2], out[o + 3] = p, q, u, v
        for i in range(whole, last):
            p = 0.0
            for k in range(d):
                p += (atoms[i, k] - mean[k]) * direction[k]
            out[i - first] = p


@jit
def smallest(values, size):
    """Return the bits of the least of the first `size` float64 values; O(size)."""
    bits = values.view(np.int64)
    best = MAGNITUDE
    for i in range(size):
        key = bits[i] ^ ((bits[i] >> 63) & MAGNITUDE)
        best = key if key < best else best
    return best ^ ((best >> 63) & MAGNITUDE)


@jit
def largest_magnitude(values, size):
    """Return the bits of the largest absolute value of the first `size` doubles; O(size)."""
    bits = values.view(np.int64)
    best = np.int64(0)
    for i in range(size):
        key = bits[i] & MAGNITUDE
        best = key if key > best else best
    return best


@jit
def place(values, size, wanted):
    """Return the first index at which `values` has these bits, looking at 64 at a time."""
    bits = values.view(np.int64)
    whole = size // 64 * 64
    for first in range(0, whole, 64):
        hits = np.int64(0)
        for i in range(first, first + 64):
            hits |= np.int64(bits[i] == wanted)
        if hits:
            for i in range(first, first + 64):
                if bits[i] == wanted:
                    return i
    for i in range(whole, size):
        if bits[i] == wanted:
            return i
    return 0


@jit
def block_leaders(scores, begin, end, size, keys, values):
    """Write the leader of each block of `size` atoms and its score, for the atoms begin to end."""
    for first in range(begin, end, size):
        many = min(end, first + size) - first
        block = scores[first - begin : first - begin + many]
        j = place(block, many, smallest(block, many))
        keys[first // size] = first + j
        values[first // size] = block[j]


@jit
def block_minima(atoms, mean, direction, keys, values, size):
    """Find the leader of each block of `size` atoms; one pass, O(nd).

    Writes keys and scores ⟨v − μ, g⟩ into `keys` and `values`, (blocks,) each.
    """
    n = len(atoms)
    stretch = size * max(1, STRETCH // size)
    scores = np.empty(stretch)
    for begin in range(0, n, stretch):
        end = min(n, begin + stretch)
        centred_product(atoms, mean, direction, begin, end, scores)
        block_leaders(scores, begin, end, size, keys, values)


@jit
def sampled_cut(atoms, mean, direction, part):
    """Return a score that about this part of the atoms stays below, from evenly spaced ones."""
    n = len(atoms)
    many = min(n, SAMPLE)
    scores = np.empty(many)
    for i in range(many):
        key = i * n // many
        centred_product(atoms, mean, direction, key, key + 1, scores[i:])
    for _ in range(int(part * many)):
        scores[place(scores, many, smallest(scores, many))] = np.inf
    return scores[place(scores, many, smallest(scores, many))]


@jit
def block_minima_below(atoms, mean, direction, keys, values, size, cut, near, copies):
    """Do what `block_minima` does, and keep the atoms whose score is below `cut`.

    Their keys go into `near` (room,), themselves into `copies` (room, d); returns how many there
    are, −1 if there is no room for them.
    """
    n = len(atoms)
    count = 0
    stretch = size * max(1, STRETCH // size)
    scores = np.empty(stretch)
    for begin in range(0, n, stretch):
        end = min(n, begin + stretch)
        centred_product(atoms, mean, direction, begin, end, scores)
        block_leaders(scores, begin, end, size, keys, values)
        for first in range(begin, end, size):
            if values[first // size] < cut and count >= 0:
                block = scores[first - begin : min(end, first + size) - begin]
                for i in range(len(block)):
                    if block[i] < cut:
                        if count < len(near):
                            near[count] = first + i
                            for k in range(atoms.shape[1]):
                                copies[count, k] = atoms[first + i, k]
                        count += 1
                if count > len(near):
                    count = -1
    return count


@jit
def least(atoms, mean, direction):
    """Return the least ⟨v_i − μ, g⟩ over all atoms; one pass, no memory of their size."""
    found, scores = np.empty(1), np.empty(STRETCH)
    best = np.inf
    for first in range(0, len(atoms), STRETCH):
        last = min(len(atoms), first + STRETCH)
        centred_product(atoms, mean, direction, first, last, scores)
        found.view(np.int64)[0] = smallest(scores, last - first)
        # a score that is not a number leads: it must not pass for a small gap
        if not found[0] >= best and best == best:
            best = found[0]
    return best


@jit
def first_within(atoms, mean, direction, bound, keys, values, size):
    """Return the lowest index with a score of at most `bound`, from the minima of all blocks."""
    scores = np.empty(size)
    for c in range(len(values)):
        if values[c] <= bound:
            first = c * size
            last = min(len(atoms), first + size)
            centred_product(atoms, mean, direction, first, last, scores)
            for i in range(last - first):
                if scores[i] <= bound:
                    return first + i
            return keys[c]
    return 0  # a score is not a number


@jit_sums
def offsets_mean(atoms, out):
    """Write the mean of the differences to the first atom into out (d,), float64; one pass.

    Any entry that is not finite makes one of `out` so.
    """
    n, d = atoms.shape
    if d == 2:
        x, y = np.float64(atoms[0, 0]), np.float64(atoms[0, 1])
        a = b = 0.0
        for i in range(n):
            a += atoms[i, 0] - x
            b += atoms[i, 1] - y
        out[0], out[1] = a / n, b / n
    elif d == 3:
        x, y, z = np.float64(atoms[0, 0]), np.float64(atoms[0, 1]), np.float64(atoms[0, 2])
        a = b = c = 0.0
        for i in range(n):
            a += atoms[i, 0] - x
            b += atoms[i, 1] - y
            c += atoms[i, 2] - z
        out[0], out[1], out[2] = a / n, b / n, c / n
    else:
        out[:] = 0.0
        for i in range(n):
            for k in range(d):
                out[k] += atoms[i, k] - np.float64(atoms[0, k])
        for k in range(d):
            out[k] /= n


@jit_sums
def farthest(atoms, mean, weights):
    """Return max Σ_k weights_k (v_ik − μ_k)² over the atoms; one pass."""
    n, d = atoms.shape
    best = 0.0
    for i in range(n):
        square = 0.0
        for k in range(d):
            difference = atoms[i, k] - mean[k]
            square += weights[k] * difference * difference
        best = max(best, square)
    return best


@jit
def placed(atoms, mean, factors, shift, out):
    """Write factors (v − μ) + shift into the first columns of out (n, d or more), 1 into others.

    One pass; subtracted first, μ takes no digit of the atoms with it.
    """
    n, d = atoms.shape
    if d == 3:
        x, y, z = mean[0], mean[1], mean[2]
        a, b, c = factors[0], factors[1], factors[2]
        e, f, g = shift[0], shift[1], shift[2]
        for i in range(n):
            out[i, 0] = (atoms[i, 0] - x) * a + e
            out[i, 1] = (atoms[i, 1] - y) * b + f
            out[i, 2] = (atoms[i, 2] - z) * c + g
    else:
        for i in range(n):
            for k in range(d):
                out[i, k] = (atoms[i, k] - mean[k]) * factors[k] + shift[k]
    for k in range(d, out.shape[1]):
        for i in range(n):
            out[i, k] = 1.0


@jit_sums
def sizes(atoms, mean, weights, direction, first, last, squares, heights):
    """Write Σ_k weights_k (v_ik − μ_k)² and ⟨v_i − μ, g⟩ of the atoms from `first` to `last`."""
    d = atoms.shape[1]
    if d == 2:
        p, q = weights[0], weights[1]
        x, y = mean[0], mean[1]
        e, f = direction[0], direction[1]
        for i in range(first, last):
            a, b = atoms[i, 0] - x, atoms[i, 1] - y
            squares[i - first] = p * a * a + q * b * b
            heights[i - first] = a * e + b * f
    elif d == 3:
        p, q, r = weights[0], weights[1], weights[2]
        x, y, z = mean[0], mean[1], mean[2]
        e, f, g = direction[0], direction[1], direction[2]
        for i in range(first, last):
            a, b, c = atoms[i, 0] - x, atoms[i, 1] - y, atoms[i, 2] - z
            squares[i - first] = p * a * a + q * b * b + r * c * c
            heights[i - first] = a * e + b * f + c * g
    else:
        whole = first + (last - first) // 2 * 2
        for i in range(first, whole, 2):
            p = q = s = t = 0.0
            for k in range(d):
                m, w, g = mean[k], weights[k], direction[k]
                a, b = atoms[i, k] - m, atoms[i + 1, k] - m
                p += w * a * a
                q += w * b * b
                s += a * g
                t += b * g
            o = i - first
            squares[o], squares[o + 1], heights[o], heights[o + 1] = p, q, s, t
        for i in range(whole, last):
            p = s = 0.0
            for k in range(d):
                a = atoms[i, k] - mean[k]
                p += weights[k] * a * a
                s += a * direction[k]
            squares[i - first], heights[i - first] = p, s


@jit
def extent(atoms, mean, weights, direction, keys, values, size):
    """Measure how far the atoms reach from μ, in one pass; O(nd).

    Returns max Σ weights (v − μ)² and max |⟨v − μ, g⟩|; keys and scores ⟨v − μ, g⟩ of the leaders
    of blocks of `size` atoms go into `keys` and `values`.
    """
    largest = np.zeros(2)
    bits = largest.view(np.int64)
    n = len(atoms)
    stretch = size * max(1, STRETCH // size)
    squares, heights = np.empty(stretch), np.empty(stretch)
    for begin in range(0, n, stretch):
        end = min(n, begin + stretch)
        sizes(atoms, mean, weights, direction, begin, end, squares, heights)
        bits[0] = max(bits[0], largest_magnitude(squares, end - begin))
        bits[1] = max(bits[1], largest_magnitude(heights, end - begin))
        block_leaders(heights, begin, end, size, keys, values)
    return largest[0], largest[1]
