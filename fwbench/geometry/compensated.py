r"""Sums of products in twice the working precision.

A cloud far from the origin with a matching linear term, :math:`c = -Qa`, is the same problem as
the cloud moved back; the digits of :math:`c + Q\mu` survive only if the products are not rounded
before they cancel.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SPLITTER = 134217729.0  # 2**27 + 1 cuts a double into two halves of 26 bits (Veltkamp)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded sum and its rounding error, exactly (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded product and its rounding error, exactly (Dekker)."""
    product = a * b
    a_wide, b_wide = _SPLITTER * a, _SPLITTER * b
    a_high, b_high = a_wide - (a_wide - a), b_wide - (b_wide - b)
    a_low, b_low = a - a_high, b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def matvec(M: Array, high: Array, low: Array | None = None) -> tuple[Array, Array]:
    r"""Multiply by a vector given as an unevaluated sum, in doubled precision.

    Parameters
    ----------
    M : ndarray, shape (p, d)
    high, low : ndarray, shape (d,)
        The vector is ``high + low``; `low` None means 0.

    Returns
    -------
    high, low : ndarray, shape (p,)
        The product as an unevaluated sum. O(pd).

    Examples
    --------
    >>> matvec(np.array([[1e16, 1.0, -1e16]]), np.ones(3))[0].tolist()
    [1.0]
    """
    total, error = np.zeros(len(M)), np.zeros(len(M))
    for k in range(M.shape[1]):
        product, rounding = two_product(M[:, k], np.broadcast_to(high[k], len(M)))
        total, carry = two_sum(total, product)
        error += carry + rounding
        if low is not None:
            error += M[:, k] * low[k]
    return two_sum(total, error)
