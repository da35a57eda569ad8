"""How far attention is from rest, and the bound on its gap along a path: arrays in, arrays out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.ownership import images


def gaps(x: NDArray[Any], keys: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """Return max_y ⟨Bx_i, y − x_i⟩ over keys (n, d) for each point of x (m, d), shape (m,).

    Examples
    --------
    >>> gaps(np.array([[1, 0], [0, 1]]), np.array([[1, 0], [0, 3]]), np.ones(2)).tolist()
    [0.0, 2.0]
    """
    field = images(x, B)
    return np.asarray((field @ keys.T).max(axis=1) - (field * x).sum(axis=1))


def squares(x: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """Return ⟨Bx_i, x_i⟩ for each point of x (m, d), shape (m,)."""
    return np.asarray((images(x, B) * x).sum(axis=1))


def gap_bound(
    path: NDArray[Any], B: NDArray[Any], gamma: NDArray[Any], beta: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both sides of the bound on the least gap so far, for t = 1, …, T.

    With key-query matrix β_t B, steps γ_t and J_t = −½β_t⟨Bx, x⟩ (Yurtsever and Sra 2022):
    min_{1≤τ≤t} β_τ gap(x_i^τ) ≤ (J_1(x_i^1)/γ_1 − min over the hull at t of J_t/γ_t)/t. The
    minimum of a concave function over a hull is at a token.

    Parameters
    ----------
    path : ndarray, shape (T + 1, n, d)
        Tokens, which are the keys too.
    B : ndarray, shape (d,) or (d, d)
    gamma, beta : ndarray, shape (T + 1,)

    Returns
    -------
    least, bound : ndarray, shape (T, n)
    """
    found = np.array([b * gaps(x, x, B) for x, b in zip(path[1:], beta[1:], strict=True)])
    least = np.minimum.accumulate(found, axis=0)
    first = -beta[1] * squares(path[1], B) / (2 * gamma[1])
    last = np.array([squares(x, B).max() for x in path[1:]]) * beta[1:] / (2 * gamma[1:])
    count = np.arange(1, len(path))
    return least, (first + last[:, None]) / count[:, None]
