r"""The affinely independent atoms in use and the minimiser over their hull (Wolfe 1976).

With rows P (k, r) in the coordinates of Q and linear terms b (k,), the point :math:`P^⊤w` minimises
:math:`½\|P^⊤w\|^2 + ⟨b, w⟩` over w ≥ 0, Σw = 1. Kept beside P is the upper triangular R with
:math:`R^⊤R = PP^⊤ + σ11^⊤`, with :math:`R^{-⊤}1` and :math:`-R^{-⊤}b`: an atom more is a column
more, an atom less is a pass of rotations, and the affine minimiser is one back substitution.

``corral = (P, R, ones, bent, b, w, keys, size)``: shapes (K, r), (K, K), (K,), (K,), (K,), (K,),
(K,) of int, (1,) of int; the first ``size[0]`` places are in use.
"""

import numpy as np

from fwbench.kernels import jit_view_sums, jit_views
from fwbench.kernels.passes import product

# A row whose distance to the affine hull of the others is below this part of σ, squared, depends
# on them: what its own direction could gain is below every tolerance.
DEPENDENT = 1e-13
NOTHING = 1e-15  # a weight below this is none
MAJORS = 256  # major cycles between two looks at all atoms, which end a step: it must not take long


@jit_view_sums
def inner(a, b, size):
    """Return Σ a_i b_i over the first `size` entries."""
    total = 0.0
    for i in range(size):
        total += a[i] * b[i]
    return total


@jit_views
def copied(row, out):
    """Write a row into out."""
    for i in range(len(row)):
        out[i] = row[i]


@jit_view_sums
def combined(rows, weights, size, out):
    """Write Σ w_q rows_q over the first `size` rows into out (r,)."""
    for i in range(len(out)):
        out[i] = 0.0
    for q in range(size):
        for i in range(len(out)):
            out[i] += weights[q] * rows[q, i]


@jit_view_sums
def forward(R, size, v):
    """Solve R'u = v in place for the first `size` entries."""
    for q in range(size):
        v[q] /= R[q, q]
        for p in range(q + 1, size):
            v[p] -= R[q, p] * v[q]


@jit_view_sums
def backward(R, size, v):
    """Solve Ru = v in place for the first `size` entries, two rows at a time."""
    q = size - 1
    if size % 2:
        v[q] /= R[q, q]
        q -= 1
    while q > 0:
        below, above = 0.0, 0.0
        for p in range(q + 1, size):
            below += R[q, p] * v[p]
            above += R[q - 1, p] * v[p]
        v[q] = (v[q] - below) / R[q, q]
        v[q - 1] = (v[q - 1] - above - R[q - 1, q] * v[q]) / R[q - 1, q - 1]
        q -= 2


@jit_view_sums
def rotate(R, ones, bent, first, size):
    """Make R triangular again, whose columns have an entry below the diagonal from `first` on."""
    for c in range(first, size):
        h = np.sqrt(R[c, c] * R[c, c] + R[c + 1, c] * R[c + 1, c])
        cosine, sine = R[c, c] / h, R[c + 1, c] / h
        R[c, c] = h
        R[c + 1, c] = 0.0
        for q in range(c + 1, size):
            a, e = R[c, q], R[c + 1, q]
            R[c, q] = cosine * a + sine * e
            R[c + 1, q] = cosine * e - sine * a
        for v in (ones, bent):
            a, e = v[c], v[c + 1]
            v[c] = cosine * a + sine * e
            v[c + 1] = cosine * e - sine * a


@jit_views
def append(corral, row, height, key, shift, column):
    """Take an atom in with weight 0; False, and nothing changed, if it depends on the others.

    `column` (K,) is scratch; the row's coordinates R⁻ᵀ(Py + σ1) stay there.
    """
    P, R, ones, bent, b, w, keys, size = corral
    k = size[0]
    product(P[:k], row, column)
    for q in range(k):
        column[q] += shift
    forward(R, k, column)
    square = shift + inner(row, row, len(row))
    rest = square - inner(column, column, k)
    if rest <= DEPENDENT * square:
        return False
    for q in range(k):
        R[q, k] = column[q]
    R[k, k] = np.sqrt(rest)
    ones[k] = (1.0 - inner(column, ones, k)) / R[k, k]
    bent[k] = (-height - inner(column, bent, k)) / R[k, k]
    copied(row, P[k])
    b[k] = height
    w[k] = 0.0
    keys[k] = key
    size[0] = k + 1
    return True


@jit_views
def remove(corral, place):
    """Let the atom at a place go; rotations mend the factor, O(k²)."""
    P, R, ones, bent, b, w, keys, size = corral
    k = size[0] - 1
    for q in range(place, k):
        copied(P[q + 1], P[q])
        b[q] = b[q + 1]
        w[q] = w[q + 1]
        keys[q] = keys[q + 1]
    for p in range(k + 1):
        for q in range(max(place, p - 1), k):
            R[p, q] = R[p, q + 1]
    rotate(R, ones, bent, place, k)
    size[0] = k


@jit_views
def affine_minimiser(corral, refine, scratch):
    """Write the minimiser over the affine hull, in weights, into the first of `scratch`.

    With `refine` the residual, taken through P itself, corrects what the squared condition of
    PP' cost. `scratch` is (u, point, rest), shapes (K,), (r,), (K,).
    """
    P, R, ones, bent, b, _, _, size = corral
    u, point, rest = scratch
    k = size[0]
    free = inner(ones, bent, k)
    total = inner(ones, ones, k)
    for q in range(k):
        u[q] = bent[q] + (1.0 - free) / total * ones[q]
    backward(R, k, u)
    if refine[0]:
        combined(P, u, k, point)
        product(P[:k], point, rest)
        level = 0.0
        for q in range(k):
            rest[q] = -b[q] - rest[q]
            level += rest[q] / k
        for q in range(k):
            rest[q] -= level  # only differences matter: Σu is set below
        forward(R, k, rest)
        free = inner(ones, rest, k)
        for q in range(k):
            rest[q] -= free / total * ones[q]
        backward(R, k, rest)
        for q in range(k):
            u[q] += rest[q]
    total = 0.0
    for q in range(k):
        total += u[q]
    for q in range(k):
        u[q] /= total


@jit_views
def shed(corral):
    """Let atoms without weight go and make the rest sum to 1."""
    _, _, _, _, _, w, _, size = corral
    for q in range(size[0] - 1, -1, -1):
        if w[q] <= NOTHING and size[0] > 1:
            remove(corral, q)
    total = 0.0
    for q in range(size[0]):
        total += w[q]
    for q in range(size[0]):
        w[q] /= total


@jit_views
def correct(corral, refine, scratch):
    """Move to the minimiser over the hull of the atoms in use, letting go of those it leaves.

    Wolfe's minor cycle: towards the affine minimiser as far as the weights allow.
    """
    _, _, _, _, _, w, _, size = corral
    u = scratch[0]
    while True:
        affine_minimiser(corral, refine, scratch)
        theta, out = 1.0, -1
        for q in range(size[0]):
            if u[q] <= NOTHING:
                reach = w[q] / (w[q] - u[q]) if w[q] > u[q] else 0.0
                if reach < theta or out < 0:
                    theta, out = min(reach, 1.0), q
        for q in range(size[0]):
            w[q] += theta * (u[q] - w[q])
        if out >= 0:
            w[out] = 0.0
        shed(corral)
        if out < 0:
            break


@jit_views
def exchange(corral, row, height, key, shift, slope, column):
    """Take an atom in that depends on those in use: along the line without curvature.

    `append` has left its coordinates in `column`. Weight moves from the others onto it in the
    proportions that keep the point, until one of them is used up and goes.
    """
    _, R, _, _, _, w, _, size = corral
    k = size[0]
    rest = column
    backward(R, k, rest)  # affine coordinates: row = Σ rest_q P_q
    theta, out = np.inf, -1
    for q in range(k):
        if rest[q] > NOTHING:
            reach = w[q] / rest[q]
            if reach < theta or (reach == theta and rest[q] > rest[out]):
                theta, out = reach, q
    if out < 0 or not slope < 0.0:
        return False
    for q in range(k):
        w[q] = max(w[q] - theta * rest[q], 0.0)
    w[out] = 0.0
    remove(corral, out)
    if not append(corral, row, height, key, shift, column):
        shed(corral)
        return False
    w[size[0] - 1] = theta
    shed(corral)
    return True


@jit_views
def known(corral, key):
    """Return whether an atom is in use."""
    keys, size = corral[6], corral[7]
    found = False
    for q in range(size[0]):
        found = found or keys[q] == key
    return found


@jit_views
def enter(corral, row, height, key, shift, slope, refine, scratch):
    """Take one atom in and correct; False where it did not stay. O(k² + kr) a minor cycle.

    An atom in use that leads shows the rounding of the last minimiser: that one is refined.
    """
    if known(corral, key):
        if not refine[0]:
            refine[0] = True
            correct(corral, refine, scratch)
            return True
        return False
    taken = append(corral, row, height, key, shift, scratch[2])
    if not taken:
        taken = exchange(corral, row, height, key, shift, slope, scratch[2])
    correct(corral, refine, scratch)
    return taken and known(corral, key)


@jit_views
def settle(corral, rows, heights, keys, count, shift, stop, x, refine, room, scratch):
    """Minimise over the hull of the atoms in use and of `count` candidates, to a gap of `stop`.

    Multiple pricing: a major cycle looks at the candidates alone. ``x = P'w`` is kept up to
    date; `room` is (scores, banned), shape (count,) each or longer. Returns the number of major
    cycles that changed something.
    """
    P, _, _, _, b, w, _, size = corral
    scores, banned = room
    for i in range(count):
        banned[i] = False
    taken = idle = 0
    lowest = np.inf
    while idle <= len(w) and taken < MAJORS:
        combined(P, w, size[0], x)
        square, height = inner(x, x, len(x)), inner(b, w, size[0])
        product(rows[:count], x, scores)
        best, j = np.inf, -1
        for i in range(count):
            score = scores[i] + heights[i]
            if score < best and not banned[i]:
                best, j = score, i
        slope = best - square - height
        if j < 0 or -slope <= stop:
            break
        # f falls with every atom; where it does so by rounding alone, not for ever
        value = square / 2 + height
        idle = 0 if value < lowest - NOTHING * shift else idle + 1
        lowest = min(value, lowest)
        if enter(corral, rows[j], heights[j], keys[j], shift, slope, refine, scratch):
            taken += 1
        else:
            banned[j] = True
    return taken
