r"""The least point of a convex quadratic over the hull of a few atoms, by dense linear algebra.

In weights: minimise :math:`½⟨w, Gw⟩ + ⟨b, w⟩` over w ≥ 0, Σw = 1, for a matrix G (k, k) that is
positive semidefinite. Two ways: over the affine hull, where atoms of negative weight leave in
blocks, a few systems that most often end at the minimiser; and an interior-point method, about
twenty systems that always do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Beside the size of the quadratic: keeps a face of affinely dependent atoms solvable. It is no
# error, for each solution is bettered by the next one.
RIDGE = 1e-13
ROUNDS = 6
PIVOTS = 30  # rounds in which atoms leave
INTERIOR = 60  # steps of the interior-point method
CLOSE = 1e-14  # of the scale: where it ends
ENOUGH = 1e-13  # of the scale: what is nearer to the least value is the least
SHORT_OF = 0.99  # of the way to the boundary


def bordered_solution(G: Array, diagonal: Array | float, b: Array, total: float) -> Array:
    """Return u (k,) and λ with (G + diag)u + λ1 = b and Σu = total; shape (k + 1,), O(k³).

    Examples
    --------
    >>> bordered_solution(np.eye(2), 0.0, np.array([0.0, -1.0]), 1.0).round(6).tolist()
    [1.0, 0.0, -1.0]
    """
    k = len(G)
    matrix = np.empty((k + 1, k + 1))
    matrix[:k, :k] = G
    matrix.flat[: k * (k + 1) : k + 2] += diagonal
    unit = float(np.abs(matrix.flat[: k * (k + 1) : k + 2]).max()) or 1.0
    matrix[k, :k] = matrix[:k, k] = unit
    matrix[k, k] = 0.0
    solution = np.linalg.solve(matrix, np.append(b, total * unit))
    solution[k] *= unit
    return np.asarray(solution)


def pivoted(G: Array, b: Array, w: Array, scale: float) -> Array:
    """Return the minimiser over the affine hull of fewer and fewer atoms, until no weight is < 0.

    It starts from the atoms that `w` (k,) uses or that would better it. Those of negative weight
    leave all at once (block pivoting), so that it may be no minimiser over the hull.

    Examples
    --------
    The least norm in a triangle of which one corner is not needed:

    >>> corners = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
    >>> pivoted(corners @ corners.T, np.zeros(3), np.full(3, 1 / 3), 18.0).round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    s = G @ w + b
    s -= w @ s  # a common offset of scores moves nothing
    stays, new = (w > 0) | (s < 0), w
    for _ in range(PIVOTS):
        pull = G[np.ix_(stays, ~stays)] @ w[~stays] - s[stays]
        inside = G[np.ix_(stays, stays)]
        new = np.zeros_like(w)
        step = bordered_solution(inside, RIDGE * scale, pull, float(w[~stays].sum()))
        new[stays] = w[stays] + step[:-1]
        if (new >= 0).all() or not (new > 0).any():
            break
        stays = new > 0
    new = np.maximum(new, 0.0)
    return np.asarray(new / new.sum())


def interior(G: Array, b: Array, scale: float) -> Array:
    """Return weights of almost the least value, all positive, by a primal-dual path (Wright 1997).

    With slacks z = Gw + b − λ, the path wz = μ is followed by Newton's method as μ falls; the
    further the last step went, the faster it falls.

    Examples
    --------
    >>> corners = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
    >>> interior(corners @ corners.T, np.zeros(3), 18.0).round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    k = len(G)
    w = np.full(k, 1 / k)
    s = G @ w + b
    z, went = s - s.min() + scale / 10, 0.0
    for _ in range(INTERIOR):
        s = G @ w + b
        if w @ (s - s.min()) <= CLOSE * scale:
            break
        mu = max((1 - went) / 2, 0.01) * (w @ z) / k
        # z + Δz = Gw + GΔw + b − λ and wz + zΔw + wΔz = μ, without Δz
        step = bordered_solution(G, z / w, mu / w - s, 0.0)[:-1]
        slack = (mu - w * z - z * step) / w
        went = 1.0
        for part, move in ((w, step), (z, slack)):
            down = move < 0
            went = min(went, SHORT_OF * float((-part[down] / move[down]).min(initial=np.inf)))
        w, z = w + went * step, z + went * slack
        w /= w.sum()
    return w


def better(G: Array, b: Array, w: Array, new: Array) -> bool:
    """Return whether the value falls from w to `new`, by the difference of the two alone."""
    move, s = new - w, G @ w + b
    return bool(move @ (s - w @ s) + 0.5 * move @ (G @ move) < 0)


def gap(G: Array, b: Array, w: Array) -> float:
    """Return how far the value at w is from the least over the hull, or more."""
    s = G @ w + b
    return float(w @ (s - s.min()))


def least_over_hull(G: Array, b: Array, w: Array, scale: float, *, surely: bool) -> Array | None:
    """Return better weights than w (k,), or None; those of the least point, if `surely`.

    Without that only the quick way is tried. `scale` is the size of the quadratic.
    """
    new = w
    try:
        for _ in range(ROUNDS if surely else 1):
            next_one = pivoted(G, b, new, scale)
            if not better(G, b, new, next_one):
                break
            new = next_one
            if gap(G, b, new) <= ENOUGH * scale:
                break
        if surely and gap(G, b, new) > ENOUGH * scale:
            inner = interior(G, b, scale)
            exact = pivoted(G, b, inner, scale)
            new = exact if better(G, b, inner, exact) else inner
    except np.linalg.LinAlgError:
        return None
    return new if better(G, b, w, new) else None
