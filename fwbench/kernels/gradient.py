r"""First-order loops on the weights, and the scores that they share.

Scores of all atoms are :math:`s(w) = left\,(signs ∘ right^⊤w) + linear`, two passes over the atoms.
Where a Gram matrix G is given they are moved from an anchor a instead: :math:`s(a) + σG(w - a)`, G
in single precision. As s(a) is computed in full at fixed absolute step counts, the rounding of G
fades with the distance that is left.
"""

import numpy as np

from fwbench.kernels import jit, jit_sums
from fwbench.kernels.passes import product
from fwbench.kernels.simplex import project

# The anchor moves to w at multiples of this absolute step count, and at EARLY and twice that.
ANCHOR = 32
EARLY = 8
# A constant that a step showed too small grows to what was seen, and a little more.
MARGIN = 1.01
# A curvature counts as seen only where what may be rounding is below this part of it.
NOISY = 1e-3
# Extragradient steps keep γ|F(u) − F(w)| below this part of |u − w|; below half of it, γ grows.
# A field that rotates shrinks by √(1 − γ² + γ⁴), least at √½.
SHARE, GROWTH = 0.7, 1.25
# Fractional parts of its multiples fill the unit interval evenly: a start that no data are made of.
GOLDEN = 0.6180339887498949


@jit_sums
def weighted_sum(points, weights, out):
    """Write Σ w_i p_i for points (n, r) into out (r,), passing over atoms without weight."""
    n, r = points.shape
    out[:] = 0
    four = np.empty(4, np.int64)
    waiting = 0
    for i in range(n):
        if weights[i] != 0:
            four[waiting] = i
            waiting += 1
        if waiting == 4:
            a, b, c, d = four[0], four[1], four[2], four[3]
            p, q, u, v = weights[a], weights[b], weights[c], weights[d]
            for k in range(r):
                out[k] += p * points[a, k] + q * points[b, k] + u * points[c, k] + v * points[d, k]
            waiting = 0
    for j in range(waiting):
        a = four[j]
        p = weights[a]
        for k in range(r):
            out[k] += p * points[a, k]


@jit_sums
def gram_product(gram, unit, base, w, anchor, out):
    """Write base + σG(w − a) into out (n,)."""
    n = len(w)
    move = w - anchor
    for i in range(n):
        total = 0 * move[0]
        for k in range(n):
            total += gram[i, k] * move[k]
        out[i] = base[i] + unit * total


@jit
def scores_at(left, right, signs, linear, w, y, out):
    """Write the scores at w (n,) into out (n,); y (r,) is room. Two passes."""
    weighted_sum(right, w, y)
    for k in range(len(y)):
        y[k] *= signs[k]
    product(left, y, out)
    for i in range(len(out)):
        out[i] += linear[i]


@jit
def scores_near(left, right, signs, linear, gram, unit, base, anchor, w, y, out):
    """Write the scores at w into out, from the anchor where there is a Gram matrix."""
    if len(gram) > 0:
        gram_product(gram, unit, base, w, anchor, out)
    else:
        scores_at(left, right, signs, linear, w, y, out)


@jit_sums
def moves(new, old, fresh, known):
    """Return |δ|², ⟨δ, Δ⟩ and |Δ|² for the move δ of weights and the move Δ of their scores."""
    square, bend, steep = 0.0, 0.0, 0.0
    for i in range(len(new)):
        move = np.float64(new[i]) - np.float64(old[i])
        change = np.float64(fresh[i]) - np.float64(known[i])
        square += move * move
        bend += move * change
        steep += change * change
    return square, bend, steep


@jit_sums
def alignment(ahead, new, w):
    """Return ⟨u − w⁺, w⁺ − w⟩: positive where momentum points uphill."""
    total = 0.0
    for i in range(len(w)):
        total += (np.float64(ahead[i]) - new[i]) * (np.float64(new[i]) - w[i])
    return total


@jit
def steepness(left, right, signs, gram, unit, rounds):
    """Return |Gv|/|v| after some rounds v ← Gv of the power method: λ_max, or less.

    The start is fixed, and the loops raise what is too small: it need not be more than near.
    `unit` is the size of scores, so that no square overflows.
    """
    n = len(left)
    v, s, zero = np.empty(n, left.dtype), np.empty(n, left.dtype), np.zeros(n, left.dtype)
    y = np.empty_like(signs)
    for i in range(n):
        v[i] = (i * GOLDEN) % 1.0 - 0.5
    length, before = 0.0, 1.0
    for _ in range(rounds + 1):
        scores_near(left, right, signs, zero, gram, unit, zero, zero, v, y, s)
        for i in range(n):
            s[i] /= unit
        before, _, length = moves(v, zero, s, zero)
        if length > 0.0:
            for i in range(n):
                v[i] = s[i] / np.sqrt(length)
    return unit * np.sqrt(length / before) if before > 0.0 else 0.0


@jit
def anchored(step):
    """Return whether the anchor moves after so many steps."""
    return step % ANCHOR == 0 or step == EARLY or step == 2 * EARLY


@jit
def projected_gradient(
    left, right, signs, linear, gram, unit, rounding, potential,
    w, s, ahead, front, anchor, base, momentum, lipschitz, counters, first, steps,
):  # fmt: skip
    """Take steps w ← P(u − F(u)/L), u ahead of w by momentum, from step number `first` on.

    Parameters
    ----------
    rounding : float
        What may be rounding in a score.
    potential : bool
        Whether the field is a gradient.
    s, front, base : ndarray, shape (n,)
        The scores at w, at u (`ahead`) and at the anchor. Those at the new w alone are computed:
        scores are linear.
    momentum : ndarray, shape (1,)
        The sequence t of Beck and Teboulle (2009), 0 for none; it restarts when the gradient at u
        and the move w⁺ − w make an acute angle (O'Donoghue and Candès 2015).
    lipschitz : ndarray, shape (2,)
        L and the largest curvature ⟨δ, Gδ⟩/|δ|² (without a potential: |Gδ|/|δ|) of a step
        δ = w⁺ − u since the last restart. A step that shows L too small by more than rounding is
        taken again with a larger one; at a restart L becomes what was seen: on the face where the
        iterates are, the field is less steep than over the whole simplex.
    """
    n = len(w)
    v, y = np.empty(n), np.empty_like(signs)
    new, fresh = np.empty_like(w), np.empty_like(s)
    for t in range(first, first + steps):
        trying = True
        while trying:
            for i in range(n):
                v[i] = ahead[i] - front[i] / lipschitz[0]
            project(v, new)
            scores_near(left, right, signs, linear, gram, unit, base, anchor, new, y, fresh)
            square, bend, steep = moves(new, ahead, fresh, front)
            seen = bend if potential else np.sqrt(steep * square)
            noise = rounding * np.sqrt(n * square)
            if seen > noise / NOISY:
                lipschitz[1] = max(lipschitz[1], seen / square)
            trying = seen - lipschitz[0] * square > noise
            if trying:
                lipschitz[0] = MARGIN * seen / square
            counters[1] += 1
            counters[2] += 2
        ratio = 0.0
        if momentum[0] > 0.0:
            last = momentum[0]
            momentum[0] = (1.0 + np.sqrt(1.0 + 4.0 * last * last)) / 2.0
            ratio = (last - 1.0) / momentum[0]
            if alignment(ahead, new, w) > 0.0:
                momentum[0], ratio = 1.0, 0.0
                if lipschitz[1] > 0.0:
                    lipschitz[0], lipschitz[1] = MARGIN * lipschitz[1], 0.0
        for i in range(n):
            ahead[i] = new[i] + ratio * (new[i] - w[i])
            front[i] = fresh[i] + ratio * (fresh[i] - s[i])
            w[i], s[i] = new[i], fresh[i]
        counters[0] += 1
        if len(gram) > 0 and anchored(t + 1):
            anchor[:] = w
            scores_at(left, right, signs, linear, w, y, base)
            s[:] = base
            gram_product(gram, unit, base, ahead, anchor, front)
            counters[2] += 3


@jit
def extragradient(left, right, signs, linear, rounding, w, s, length, counters, steps):
    """Take steps u = P(w − γF(w)), w ← P(w − γF(u)).

    `length` (1,) is γ; it shrinks where γ|F(u) − F(w)| > SHARE |u − w| (Khobotov 1987).
    """
    n = len(w)
    v, y = np.empty(n), np.empty_like(signs)
    trial, there = np.empty_like(w), np.empty_like(s)
    for _ in range(steps):
        trying = True
        while trying:
            for i in range(n):
                v[i] = w[i] - length[0] * s[i]
            project(v, trial)
            scores_at(left, right, signs, linear, trial, y, there)
            square, _, steep = moves(trial, w, there, s)
            pull, reach = length[0] * np.sqrt(steep), SHARE * np.sqrt(square)
            noise = length[0] * rounding * np.sqrt(n)
            trying = pull - noise > reach
            if trying:
                length[0] = SHARE / MARGIN * np.sqrt(square / steep)
            counters[1] += 1
            counters[2] += 2
        for i in range(n):
            v[i] = w[i] - length[0] * there[i]
        project(v, w)
        scores_at(left, right, signs, linear, w, y, s)
        if noise < NOISY * pull and pull < reach / 2:
            length[0] *= GROWTH
        counters[0] += 1
        counters[1] += 1
        counters[2] += 2


@jit
def softmax_of(logs, w):
    """Write the weights whose logarithms are logs (n,) up to a common constant into w (n,)."""
    top = logs[0]
    for i in range(len(logs)):
        top = max(top, logs[i])
    total = 0.0
    for i in range(len(logs)):
        logs[i] -= top
        w[i] = np.exp(logs[i])
        total += w[i]
    for i in range(len(logs)):
        w[i] /= total


@jit
def mirror_descent(left, right, signs, linear, length, w, s, logs, counters, first, steps):
    """Take steps log w ← log w − γF(w) + const, the first one from the weights of `logs`.

    `logs` (n,), float64, are kept beside w: a weight that rounds to 0 can return.
    """
    y = np.empty_like(signs)
    if first == 0 and steps > 0:
        softmax_of(logs, w)
        scores_at(left, right, signs, linear, w, y, s)
        counters[2] += 2
    for _ in range(steps):
        for i in range(len(w)):
            logs[i] -= length * s[i]
        softmax_of(logs, w)
        scores_at(left, right, signs, linear, w, y, s)
        counters[0] += 1
        counters[1] += 1
        counters[2] += 2
