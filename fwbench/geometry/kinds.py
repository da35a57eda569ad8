"""What Q is over a hull: kinds that hold along differences of atoms, signs that matter there."""

from __future__ import annotations

import numpy as np

from fwbench.errors import InvalidProblem
from fwbench.geometry.forms import Array, Dense, Diagonal, Factored, Form, Kind


def overlooked(form: Form, kind: Kind) -> Array | None:
    """Return R (d, r) with RR' the part of ±Q whose sign a semidefinite kind takes for 0.

    None where there is no such part. Large dense Q, which two attempted factorisations judge, are
    not asked again.
    """
    if kind not in (Kind.CONVEX, Kind.CONCAVE):
        return None
    if isinstance(form, Diagonal):
        eigenvalues, vectors = form.q, np.eye(len(form.q))
    elif isinstance(form, Factored) or (isinstance(form, Dense) and form.small):
        eigenvalues, vectors = form._eigen
    else:
        return None
    wrong = eigenvalues < 0 if kind is Kind.CONVEX else eigenvalues > 0
    if not wrong.any():
        return None
    return np.asarray(vectors[:, wrong] * np.sqrt(np.abs(eigenvalues[wrong])))


def along_span(form: Form, points: Array, rank: float) -> Array:
    """Return λ max ⟨p, u⟩² over points for each eigenpair of the symmetric part of Q on their span.

    Ascending by λ. Singular values below `rank` of the largest are rounding; nothing where all are.
    """
    _, lengths, basis = np.linalg.svd(points, full_matrices=False)
    basis = basis[lengths > rank * lengths[0]]
    restricted = basis @ form.apply(basis).T
    eigenvalues, vectors = np.linalg.eigh((restricted + restricted.T) / 2)
    reach = ((points @ basis.T @ vectors) ** 2).max(axis=0, initial=0.0)
    return np.asarray(eigenvalues * reach)


def declared_kind(declared: str, certified: Kind, bends: Array, small: float) -> Kind:
    """Return the kind that a caller declared, if it holds along the hull.

    Parameters
    ----------
    declared : str
    certified : Kind
        What Q is in all of space.
    bends : ndarray
        How Q bends over the hull (`along_span`).
    small : float
        As much counts as 0.

    Raises
    ------
    InvalidProblem
        For a kind that there is not, or that does not hold.
    """
    kind = Kind(declared)
    if not len(bends):
        return kind  # one point has no differences
    convex, concave = (bends >= -small).all(), (bends <= small).all()
    holds = {
        Kind.CONVEX: certified.has_potential and convex,
        Kind.CONCAVE: certified.has_potential and concave,
        Kind.MONOTONE: convex,
        Kind.GENERAL: not certified.has_potential,
    }
    if not holds.get(kind, False):
        raise InvalidProblem(
            f"kind was declared {kind.value}, but Q is {certified.value} (along differences of "
            f"atoms: eigenvalues · widths², from {bends.min():.3g} to {bends.max():.3g})"
        )
    return kind
