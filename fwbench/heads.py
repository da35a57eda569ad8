r"""How far an attention head is from what theory covers: facts of a cloud of tokens, off the clock.

Theory knows attention whose B is symmetric and of one sign, and tokens that lead at themselves. So
of B = −Q are told the eigenvalues of its symmetric part and the share of its antisymmetric part; of
the tokens, who owns its cell, how many lead at all, and how sharp attention is at β = 1. That is
the temperature at which a head was trained, for its B holds the factor 1/√h.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.forms import Diagonal, Factored, Form, LowRank, Scalar
from fwbench.problem import KIND, QuadraticOverHull

Array = NDArray[np.float64]

MOST = 256  # tokens: all their scores of each other are held at once
WIDE = 1000  # dimensions from which on a Q without structure is not decomposed


def is_cloud(problem: QuadraticOverHull) -> bool:
    """Say whether the queries are the atoms, one at each, and few enough to be looked at in pairs.

    Examples
    --------
    >>> is_cloud(QuadraticOverHull(np.eye(2))), is_cloud(QuadraticOverHull(np.eye(2), start=[0, 1]))
    (False, True)
    """
    start, n = problem.start, problem.n
    if not 2 <= n <= MOST or start.m != n or len(start.keys) != n:
        return False
    return bool((start.keys == np.arange(n)).all() and (start.data == 1).all())


def scores(problem: QuadraticOverHull) -> Array:
    """Return ⟨F(v_i), v_j − μ⟩, shape (n, n): a row for each atom as a query, least is first."""
    return np.asarray(problem.centred_field(problem.centred) @ problem.centred.T)


def compressed(form: Form, d: int) -> Array:
    """Return M (k, k) with Q = U M U', the columns of U orthonormal; k = 2r for a rank r < d/2.

    The symmetric and the antisymmetric part of M have the norms, and but for zeros the
    eigenvalues, of those of Q. O(d r²) for Q of rank r.

    Examples
    --------
    >>> compressed(LowRank(np.eye(9)[:, :1], np.eye(9)[:, 1:2]), 9).round(9).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    if isinstance(form, LowRank) and form.R is not None and 2 * form.L.shape[1] < d:
        r = form.L.shape[1]
        small = np.asarray(np.linalg.qr(np.hstack([form.L, form.R]), mode="r"))
        return np.asarray(small[:, :r] @ small[:, r:].T)
    if isinstance(form, Factored) and len(form.F) < d:
        small = np.asarray(np.linalg.qr(form.F.T, mode="r"))
        return np.asarray((small * form.chain()[1]) @ small.T)
    return np.asarray(form.apply(np.eye(d)).T)


def spectrum(problem: QuadraticOverHull) -> dict[str, Any]:
    """Return what ½(B + B') and ½(B − B') are, B = −Q; all None where Q is too large to be asked.

    Returns
    -------
    dict
        ``positive``, ``negative``: eigenvalues of the symmetric part above and below 0, those
        within 10⁻¹² (float32: 10⁻⁵) of the norm left out; ``largest``, ``smallest`` of them all;
        ``antisymmetric``: the Frobenius norm of that part over that of B, None where B is 0.
    """
    names = ("positive", "negative", "largest", "smallest", "antisymmetric")
    form, d = problem.form, problem.d
    if isinstance(form, Scalar | Diagonal):
        eigenvalues, part, size = -np.broadcast_to(form.q, (d,)), 0.0, float(np.abs(form.q).max())
    else:
        ranked = isinstance(form, LowRank) and form.R is not None
        if d > WIDE and not ranked and not isinstance(form, Factored):
            return dict.fromkeys(names)
        B = -compressed(form, d)
        eigenvalues = np.linalg.eigvalsh((B + B.T) / 2)
        if len(B) < d:
            eigenvalues = np.append(eigenvalues, 0.0)
        part, size = float(np.linalg.norm((B - B.T) / 2)), float(np.linalg.norm(B))
    small = KIND[problem.dtype] * size
    found = (
        int((eigenvalues > small).sum()),
        int((eigenvalues < -small).sum()),
        float(eigenvalues.max()),
        float(eigenvalues.min()),
        part / size if size else None,
    )
    return dict(zip(names, found, strict=True))


def attention(scores: Array, tie: float) -> dict[str, Any]:
    """Return who leads, and how sharply, among tokens with these scores of each other, (n, n).

    Returns
    -------
    dict
        ``owners``: the share of tokens that own their cell, no other within `tie` of them there;
        ``tied_owners``: the share that nobody leads by more than `tie` there; ``leaders``: how many
        different tokens lead, the lowest of equals; ``entropy``: of attention at β = 1, in nats,
        the mean over queries, and ``entropy_relative``: that over log n; ``top_mass``: the mean of
        the largest weight.

    Examples
    --------
    >>> found = attention(np.array([[-1.0, 0.0], [-1.0, 0.0]]), 0.0)
    >>> found["owners"], found["leaders"], round(found["top_mass"], 3)
    (0.5, 1, 0.731)
    """
    least = scores.min(axis=1)
    equal = scores <= least[:, None] + tie
    itself = np.diagonal(equal)
    behind = scores - least[:, None]
    weights = np.exp(-behind)
    total = weights.sum(axis=1)
    entropy = float((np.log(total) + (weights * behind).sum(axis=1) / total).mean())
    return {
        "owners": float((itself & (equal.sum(axis=1) == 1)).mean()),
        "tied_owners": float(itself.mean()),
        "leaders": len(np.unique(equal.argmax(axis=1))),
        "entropy": entropy,
        "entropy_relative": entropy / float(np.log(len(scores))),
        "top_mass": float((1 / total).mean()),
    }


def head(problem: QuadraticOverHull) -> dict[str, Any]:
    """Return all facts of a cloud: what `spectrum` and `attention` say; O(n²d + d r²)."""
    return spectrum(problem) | attention(scores(problem), problem.tie)
