"""Projected gradient on the weights: the projection onto the simplex and the loop around it."""

import numpy as np

from fwbench.kernels import jit


@jit
def project(v, out):
    r"""Write the nearest point of :math:`\{w ≥ 0, \sum_i w_i = 1\}` to v (n,) into out (n,).

    The shift by the maximum keeps the digits of the sum; O(n log n).
    """
    top = v.max()
    u = np.sort(v - top)[::-1]
    total, threshold = 0.0, 0.0
    for i in range(len(u)):
        total += u[i]
        if u[i] * (i + 1) > total - 1.0:
            threshold = (total - 1.0) / (i + 1)
    for i in range(len(v)):
        difference = v[i] - top - threshold
        out[i] = difference if difference > 0.0 else 0.0


@jit
def projected_gradient(left, right, signs, linear, lipschitz, w, ahead, momentum, counters, steps):
    """Take steps w ← P(u − F(u)/L), u ahead of w by momentum; O(nr + n log n) a step.

    `momentum` (1,) holds the sequence t of Beck and Teboulle (2009), 0 for none; it restarts when
    the gradient at u and the move w⁺ − w make an acute angle (O'Donoghue and Candès 2015).
    """
    new = np.empty_like(w)
    for _ in range(steps):
        scores = np.dot(left, signs * np.dot(ahead, right)) + linear
        project(ahead - scores / lipschitz, new)
        if momentum[0] > 0.0:
            uphill = np.dot(ahead - new, new - w) > 0.0
            last = 1.0 if uphill else momentum[0]
            momentum[0] = (1.0 + np.sqrt(1.0 + 4.0 * last * last)) / 2.0
            ratio = 0.0 if uphill else (last - 1.0) / momentum[0]
            ahead[:] = new + ratio * (new - w)
            if uphill:
                momentum[0] = 1.0
        else:
            ahead[:] = new
        w[:] = new
        counters[0] += 1
        counters[1] += 1
        counters[2] += 2
