r"""The projection onto the simplex :math:`\{w ≥ 0, \sum_i w_i = 1\}`."""

import numpy as np

from fwbench.kernels import jit, jit_sums
from fwbench.kernels.passes import smallest


@jit_sums
def below(z, threshold):
    """Return the sum of the entries of z (n,) below a threshold, and how many they are."""
    total, count = 0.0, 0
    for i in range(len(z)):
        inside = z[i] < threshold
        total += z[i] if inside else 0.0
        count += 1 if inside else 0
    return total, count


@jit
def project(v, out):
    r"""Write the nearest point of the simplex to v (n,) into out (n,).

    v, float64, is used up: it becomes the depth z below its maximum, so that a common offset costs
    no digit of the sum. :math:`\sum_i (θ - z_i)_+ = 1` is solved for θ by Newton's method from 1
    downwards (Michelot 1986): a pass drops the entries above θ, and when none is dropped θ is
    exact. A few passes in practice, n at most.
    """
    n = len(v)
    for i in range(n):
        v[i] = -v[i]
    top = np.empty(1)
    top.view(np.int64)[0] = smallest(v, n)
    for i in range(n):
        v[i] -= top[0]
    before, threshold = n + 1, 1.0
    total, count = below(v, threshold)
    while count < before:
        before = count
        threshold = (1.0 + total) / count
        total, count = below(v, threshold)
    for i in range(n):
        # so written, what is not a number stays none
        out[i] = 0.0 if v[i] >= threshold else threshold - v[i]
