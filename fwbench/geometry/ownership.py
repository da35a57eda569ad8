"""Which key leads where, and which keys lead at their own place: B acts on the query.

Arrays of doubles or of Fractions alike; B is a diagonal (d,) or a matrix (d, d).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

NOBODY = -1  # leads where several keys tie


def images(x: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """Return Bx for each row of x, shape (..., d)."""
    return np.asarray(x * B if B.ndim == 1 else x @ B.T)


def scores(x: NDArray[Any], keys: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """Return ⟨Bx_i, y_j⟩ for queries x (m, d) and keys y (n, d), shape (m, n).

    Examples
    --------
    >>> scores(np.array([[1, 2]]), np.array([[1, 0], [0, 1]]), np.array([3, 1])).tolist()
    [[3, 2]]
    """
    return np.asarray(images(x, B) @ keys.T)


def labels(x: NDArray[Any], keys: NDArray[Any], B: NDArray[Any]) -> NDArray[np.int64]:
    """Return the key of largest score for each query, or −1 where two or more tie; shape (m,).

    Examples
    --------
    >>> square = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]])
    >>> labels(np.array([[2, 1], [2, 0]]), square, np.ones(2)).tolist()
    [0, -1]
    """
    found = scores(x, keys, B)
    leads = found == found.max(axis=1)[:, None]
    return np.where(leads.sum(axis=1) == 1, leads.argmax(axis=1), NOBODY)


def owners(keys: NDArray[Any], B: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which keys own their cell strictly, ⟨Bv_i, v_i⟩ > ⟨Bv_i, v_j⟩ for j ≠ i; shape (n,).

    Examples
    --------
    >>> owners(np.array([[3.0, 0.0], [1.0, 1.2], [-1.0, -1.0]]), np.ones(2)).tolist()
    [True, False, True]
    """
    return np.asarray(labels(keys, keys, B) == np.arange(len(keys)))


def positive(B: NDArray[Any]) -> bool:
    """Say whether B is symmetric and positive definite.

    Examples
    --------
    >>> positive(np.array([[2, 1], [1, 2]])), positive(np.array([[1, 2], [2, 1]]))
    (True, False)
    """
    pivots = _pivots(B)
    return pivots is not None and all(pivot > 0 for pivot in pivots)


def semidefinite(B: NDArray[Any]) -> bool:
    """Say whether B is symmetric and positive semidefinite; meant for Fractions.

    Examples
    --------
    >>> semidefinite(np.array([[1, 2], [2, 4]])), semidefinite(np.array([[0, 1], [1, 0]]))
    (True, False)
    """
    pivots = _pivots(B)
    return pivots is not None and all(pivot >= 0 for pivot in pivots)


def _pivots(B: NDArray[Any]) -> list[Any] | None:
    """Return the pivots of a symmetric elimination; None where it is stuck: B has both signs."""
    if B.ndim == 1:
        return list(B)
    if (B != B.T).any():
        return None
    rest, pivots = B if B.dtype == object else B.astype(np.float64), []
    for i in range(len(B)):
        pivots.append(rest[i, i])
        if rest[i, i] != 0:
            rest = rest - np.outer(rest[:, i], rest[i]) / rest[i, i]
        elif (rest[i, i:] != 0).any():
            return None
    return pivots


def outside_own_cells(x: NDArray[Any], vertices: NDArray[np.int64], B: NDArray[Any]) -> str | None:
    """Return which assumption of Theorem 4.2 tokens x (n, d) miss, or None.

    Parameters
    ----------
    x : ndarray, shape (n, d)
    vertices : ndarray of int, shape (k,)
        Which tokens are the vertices of the hull.
    B : ndarray, shape (d,) or (d, d)
    """
    if not positive(B):
        return "B is not positive definite"
    own = owners(x[vertices], B)
    if not own.all():
        lost = vertices[int(own.argmin())]
        return f"vertex {lost} does not own its cell strictly"
    seen = labels(x, x[vertices], B)
    if (seen == NOBODY).any():
        return f"token {int((seen == NOBODY).argmax())} lies in two cells"
    return None
