r"""The five forms of Q, each with four verbs.

``apply`` multiplies; ``factors`` moves points to coordinates in which Q is a diagonal of signs (a
field: two sets of coordinates); ``kind`` says what Q is; ``scale`` is the largest
:math:`\|p\|^2_{|Q|}` of some points. A new structure of Q is one class more.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Factors = tuple[Array, Array, Array]

SEMIDEFINITE = 1e-12  # eigenvalues and singular values below this part of the largest are rounding
DENSE_EIGENVALUES = 500  # above this dimension two Cholesky factorisations decide


class Kind(StrEnum):
    """What Q is; ``monotone`` and ``general`` are fields without a potential."""

    CONVEX = "convex"
    CONCAVE = "concave"
    INDEFINITE = "indefinite"
    MONOTONE = "monotone"
    GENERAL = "general"

    @property
    def has_potential(self) -> bool:
        """Whether there is an f at all."""
        return self in (Kind.CONVEX, Kind.CONCAVE, Kind.INDEFINITE)


class Form(Protocol):
    """What every form of Q offers."""

    def apply(self, x: Array) -> Array:
        """Return Q x for each row of x, shape (..., d)."""

    def factors(self, points: Array) -> Factors:
        """Return left (n, r), right (n, r), signs (r,): <Q x, y> = sum signs * right_x * left_y."""

    def kind(self, tolerance: float) -> Kind:
        """Return what Q is, eigenvalues within `tolerance` of its norm counting as 0."""

    def scale(self, points: Array) -> float:
        """Return max ||p||^2 in the norm of |Q| over the rows of `points`."""

    def chain(self) -> tuple[Array, ...]:
        """Return the matrices, and vectors for diagonal ones, whose product from the left is Q."""


def through(chain: tuple[NDArray[Any], ...], x: NDArray[Any]) -> NDArray[Any]:
    """Multiply each row of x by the links of a chain in turn; exact where all are rationals."""
    for link in chain:
        x = x @ link.T if link.ndim == 2 else x * link
    return x


def transposed(chain: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    """Return a chain for Q', from one for Q."""
    return tuple(link.T for link in reversed(chain))


def kind_of(eigenvalues: NDArray[Any], tolerance: float, norm: float | None = None) -> Kind:
    """Return the kind of a symmetric matrix with these eigenvalues."""
    small = tolerance * (np.abs(eigenvalues).max(initial=0.0) if norm is None else norm)
    if (eigenvalues >= -small).all():
        return Kind.CONVEX
    return Kind.CONCAVE if (eigenvalues <= small).all() else Kind.INDEFINITE


def _symmetric_kind(Q: Array, tolerance: float, norm: float | None = None) -> Kind:
    if len(Q) <= DENSE_EIGENVALUES:
        return kind_of(np.linalg.eigvalsh(Q), tolerance, norm)
    norm = float(np.abs(Q).sum(axis=0).max()) if norm is None else norm
    shift = tolerance * norm * np.eye(len(Q))
    for kind, matrix in ((Kind.CONVEX, Q + shift), (Kind.CONCAVE, shift - Q)):
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            continue
        return kind
    return Kind.CONVEX if not Q.any() else Kind.INDEFINITE


def _eigen_factors(eigenvalues: Array, coordinates: Array) -> Factors:
    """Scale coordinates along eigenvectors; eigenvalues that are rounding are left out."""
    noise = len(eigenvalues) * np.finfo(float).eps * np.abs(eigenvalues).max(initial=0.0)
    keep = np.abs(eigenvalues) > noise
    Y = coordinates[:, keep] * np.sqrt(np.abs(eigenvalues[keep]))
    return Y, Y, np.sign(eigenvalues[keep])


@dataclass(frozen=True)
class Scalar:
    """Q = q I."""

    q: float

    def apply(self, x: Array) -> Array:
        return through(self.chain(), x)

    def factors(self, points: Array) -> Factors:
        Y = points if abs(self.q) == 1 else np.sqrt(abs(self.q)) * points
        if self.q == 0:
            Y = Y[:, :0]
        return Y, Y, np.full(Y.shape[1], np.sign(self.q))

    def kind(self, tolerance: float) -> Kind:
        return Kind.CONVEX if self.q >= 0 else Kind.CONCAVE

    def scale(self, points: Array) -> float:
        return abs(self.q) * float((points**2).sum(axis=1).max())

    def chain(self) -> tuple[Array, ...]:
        return (np.array(self.q),)


@dataclass(frozen=True, eq=False)
class Diagonal:
    """Q = diag(q), q of shape (d,)."""

    q: Array

    def apply(self, x: Array) -> Array:
        return through(self.chain(), x)

    def factors(self, points: Array) -> Factors:
        keep = self.q != 0
        Y = points[:, keep] * np.sqrt(np.abs(self.q[keep]))
        return Y, Y, np.sign(self.q[keep])

    def kind(self, tolerance: float) -> Kind:
        return kind_of(self.q, tolerance)

    def scale(self, points: Array) -> float:
        return float((points**2 @ np.abs(self.q)).max())

    def chain(self) -> tuple[Array, ...]:
        return (self.q,)


@dataclass(frozen=True, eq=False)
class Dense:
    """Q symmetric, shape (d, d)."""

    Q: Array

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        eigenvalues, vectors = np.linalg.eigh(self.Q)
        return eigenvalues, vectors

    def apply(self, x: Array) -> Array:
        return through(self.chain(), x)

    def factors(self, points: Array) -> Factors:
        eigenvalues, vectors = self._eigen
        return _eigen_factors(eigenvalues, points @ vectors)

    @property
    def small(self) -> bool:
        """Whether its eigenvalues say what it is."""
        return len(self.Q) <= DENSE_EIGENVALUES

    def kind(self, tolerance: float) -> Kind:
        if self.small:
            return kind_of(self._eigen[0], tolerance)
        return _symmetric_kind(self.Q, tolerance)

    def scale(self, points: Array) -> float:
        eigenvalues, vectors = self._eigen
        return float(((points @ vectors) ** 2 @ np.abs(eigenvalues)).max())

    def chain(self) -> tuple[Array, ...]:
        return (self.Q,)


@dataclass(frozen=True, eq=False)
class Factored:
    """Q = F' diag(signs) F, never expanded; F of shape (p, d), signs (p,), None for all +1."""

    F: Array
    signs: Array | None = None

    def _signs(self) -> Array:
        return np.ones(len(self.F)) if self.signs is None else self.signs

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        """The eigenvalues of R D R' and its eigenvectors in d coordinates (QR of F')."""
        basis, R = np.linalg.qr(self.F.T)
        eigenvalues, vectors = np.linalg.eigh((R * self._signs()) @ R.T)
        return eigenvalues, basis @ vectors

    def apply(self, x: Array) -> Array:
        return through(self.chain(), x)

    def factors(self, points: Array) -> Factors:
        Y = points @ self.F.T
        return Y, Y, self._signs()

    def kind(self, tolerance: float) -> Kind:
        signs = self._signs()
        if (signs > 0).all() or ((signs < 0).all() and self.F.any()):
            return Kind.CONVEX if signs[0] > 0 else Kind.CONCAVE
        return kind_of(self._eigen[0], tolerance)

    def scale(self, points: Array) -> float:
        eigenvalues, vectors = self._eigen
        return float(((points @ vectors) ** 2 @ np.abs(eigenvalues)).max())

    def chain(self) -> tuple[Array, ...]:
        return (self.F, self._signs(), self.F.T)


@dataclass(frozen=True, eq=False)
class LowRank:
    """The field x -> L R' x, not symmetric; L, R of shape (d, r); R None is the identity."""

    L: Array
    R: Array | None = None

    def apply(self, x: Array) -> Array:
        return through(self.chain(), x)

    def factors(self, points: Array) -> Factors:
        right = points if self.R is None else points @ self.R
        return points @ self.L, right, np.ones(right.shape[1])

    def kind(self, tolerance: float) -> Kind:
        if self.R is None:
            norm = float(np.linalg.norm(self.L, 2))
            convex = _symmetric_kind((self.L + self.L.T) / 2, tolerance, norm) is Kind.CONVEX
        else:  # the symmetric part is [L R] [[0, 1/2], [1/2, 0]] [L R]'
            r = self.L.shape[1]
            small = np.asarray(np.linalg.qr(np.hstack([self.L, self.R]), mode="r"))
            swapped = np.hstack([small[:, r:], small[:, :r]]) / 2
            norm = float(np.linalg.norm(small[:, :r] @ small[:, r:].T, 2))
            eigenvalues = np.linalg.eigvalsh(small @ swapped.T)
            convex = kind_of(eigenvalues, tolerance, norm) is Kind.CONVEX
        return Kind.MONOTONE if convex else Kind.GENERAL

    def scale(self, points: Array) -> float:
        norms = np.linalg.norm(points, axis=1).max()
        return float(norms * np.linalg.norm(self.apply(points), axis=1).max())

    def chain(self) -> tuple[Array, ...]:
        return (self.L,) if self.R is None else (self.R.T, self.L)


def semidefinite_root(form: Form) -> Array | None:
    """Return R (r, d) with Q = R'R, or None where Q is not positive semidefinite."""
    if isinstance(form, Factored) and (form.signs is None or (form.signs > 0).all()):
        return form.F
    if isinstance(form, Dense | Factored):
        eigenvalues, vectors = form._eigen
        large = np.abs(eigenvalues).max(initial=0.0)
        if eigenvalues.min(initial=0.0) >= -SEMIDEFINITE * large:
            keep = eigenvalues > len(eigenvalues) * np.finfo(float).eps * large
            return np.ascontiguousarray((vectors[:, keep] * np.sqrt(eigenvalues[keep])).T)
    return None


def along(left: Array, signs: Array) -> Array:
    """Return Y (n, p) with YY' = left diag(signs) left', which is positive semidefinite.

    Q itself need not be; it is factored along the rows of `left` (n, r).
    """
    hull, lengths, basis = np.linalg.svd(left, full_matrices=False)
    keep = lengths > SEMIDEFINITE * lengths.max(initial=0.0)
    eigenvalues, vectors = np.linalg.eigh((basis[keep] * signs) @ basis[keep].T)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    return np.asarray((hull[:, keep] * lengths[keep]) @ root)


def spectral_norm(form: Form, d: int) -> float:
    """Return the largest eigenvalue of a symmetric Q in absolute value; O(d^3) for a dense one."""
    if isinstance(form, Scalar | Diagonal):
        return float(np.abs(form.q).max(initial=0.0))
    matrix = form.F if isinstance(form, Factored) and form.signs is None else form.apply(np.eye(d))
    norm = float(np.linalg.norm(matrix, 2))
    return norm**2 if isinstance(form, Factored) and form.signs is None else norm
