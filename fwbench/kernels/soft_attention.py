r"""Softmax, a tile of scores at a time: weights, their sums, and how those of earlier tiles shrink.

:math:`e^{-β(s - s_{min})} = 2^t` with :math:`t ≤ 0`, where :math:`s_{min}` is the least score so
far. A whole power of two is a few bits; what is left of t lies in :math:`[-½, ½]`, and of that the
power is its Taylor polynomial, right to the last bit or two. So whole vectors are taken at a time,
as no exp of a library is from here.
"""

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from fwbench.kernels import jit_view_sums, jit_views
from fwbench.kernels.order import numeral, ordinal, same_bits

TAYLOR = [math.log(2.0) ** k / math.factorial(k) for k in range(13)]


def power_of_two(exponent: Any) -> Any:
    """Return 2^t for t ≤ 0; compiled, what is no normal number any more is 0."""
    return 2.0**exponent


@overload(power_of_two)
def _power_of_two(exponent):
    if exponent == types.float32:
        b0, b1, b2, b3, b4, b5, b6, b7 = map(np.float32, TAYLOR[:8])
        half, least, none = np.float32(0.5), np.float32(-126.0), np.float32(0.0)

        def narrow(exponent):
            t = exponent if exponent > least else least
            whole = np.floor(t + half)
            f = t - whole
            part = b0 + f * (b1 + f * (b2 + f * (b3 + f * (b4 + f * (b5 + f * (b6 + f * b7))))))
            power = part * same_bits(np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)))
            return power if exponent > least else none

        return narrow
    a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12 = TAYLOR

    def wide(exponent):
        t = exponent if exponent > -1022.0 else -1022.0
        whole = np.floor(t + 0.5)
        f = t - whole
        part = a6 + f * (a7 + f * (a8 + f * (a9 + f * (a10 + f * (a11 + f * a12)))))
        part = a0 + f * (a1 + f * (a2 + f * (a3 + f * (a4 + f * (a5 + f * part)))))
        power = part * same_bits((np.int64(whole) + np.int64(1023)) << np.int64(52))
        return power if exponent > -1022.0 else 0.0

    return wide


@jit_views
def least_of(scores):
    """Return the least score of a row."""
    least = ordinal(scores[0])
    for i in range(np.uintp(len(scores))):
        key = ordinal(scores[i])
        least = key if key < least else least
    return numeral(least)


@jit_view_sums
def soften(scores, sharpness, least, mass, kept):
    """Turn a tile of scores (r, w) into weights 2^(sharpness (least − score)); O(rw).

    `least` (r,) is that of all tiles so far; `mass` (r,) sums up the weights, those of earlier
    tiles shrunk by the factor that `kept` (r,) tells.
    """
    for q in range(len(scores)):
        row = scores[q]
        bottom = least_of(row)
        if bottom < least[q]:
            kept[q] = power_of_two(sharpness * (bottom - least[q]))
            least[q] = bottom
        else:
            kept[q] = 1
        low = least[q]
        total = 0 * sharpness
        for i in range(np.uintp(len(row))):
            weight = power_of_two(sharpness * (low - row[i]))
            row[i] = weight
            total += weight
        mass[q] = mass[q] * kept[q] + total
