r"""What first-order methods on the weights share: how steep the field is, and the state they move.

A method of this kind sees all scores s = F(w) at each step, and moves all weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.kernels.gradient import scores_at, steepness
from fwbench.lowering import COUNTERS, Lowered, counted, lowered
from fwbench.problem import QuadraticOverHull

Gram = Literal["auto", "yes", "no"]

# With `auto` a Gram matrix is made where it is no larger than the atoms, up to so many rows.
GRAM_ROWS = 5000
# Rounds of the power method: the loops raise a constant that proves too small.
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Steep:
    """A lowered problem and how steep its field is; depends on the problem alone.

    Attributes
    ----------
    hull : Lowered
    gram : ndarray of float32, shape (n, n) or (0, 0)
        ⟨left_i, Q right_j⟩ in units of `unit`, or nothing.
    unit : float
        The problem's scale, 1 if that is 0.
    lipschitz : float
        Of s as a function of w, or less; of a field without curvature, its size.
    rounding : float
        What may be rounding in a score.
    """

    hull: Lowered
    gram: NDArray[np.float32]
    unit: float
    lipschitz: float
    rounding: float

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What `scores_at` takes first."""
        return self.hull.left, self.hull.right, self.hull.signs, self.hull.linear


def gram_matrix(hull: Lowered, unit: float) -> NDArray[np.float32]:
    """Return ⟨left_i, signs ∘ right_j⟩/unit in single precision, shape (n, n)."""

    def single(rows: NDArray[Any]) -> NDArray[np.float32]:
        out = np.empty(rows.shape, dtype=np.float32)
        np.multiply(rows, 1 / np.sqrt(unit), out=out, casting="same_kind")
        return out

    left, signs = single(hull.left), hull.signs.astype(np.float32)
    if hull.right is not hull.left:
        return np.asarray(left * signs @ single(hull.right).T)
    # of one array and its transpose half the products are made
    return np.asarray(left @ left.T if (signs > 0).all() else left * signs @ left.T)


def steep(problem: QuadraticOverHull, gram: Gram = "no") -> Steep:
    """Lower a problem, and find how steep its field is."""
    hull = lowered(problem)
    n, r = hull.left.shape
    unit = problem.scale or 1.0
    wanted = gram == "yes" or (gram == "auto" and n <= min(r, GRAM_ROWS))
    matrix = gram_matrix(hull, unit) if wanted else np.empty((0, 0), dtype=np.float32)
    # a linear objective has no curvature: any step size will do, this one is its own scale
    size = steepness(hull.left, hull.right, hull.signs, matrix, unit, ROUNDS) or unit
    return Steep(hull, matrix, unit, float(size), problem.tie)


@dataclass(eq=False)
class AllWeights:
    """Weights over all atoms with their scores; one query.

    Attributes
    ----------
    w, s : ndarray, shape (n,)
    kept : tuple of ndarray
        What the method keeps beside them, in the order of its kernel.
    counts : ndarray of int, shape (7,)
        In the order of `COUNTERS`.
    """

    hull: Lowered
    w: NDArray[Any]
    s: NDArray[Any]
    kept: tuple[NDArray[Any], ...]
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(COUNTERS), np.int64))
    steps: int = 0
    done: bool = False
    claim: str | None = None

    @property
    def counters(self) -> dict[str, int]:
        """What was asked for so far, by name."""
        return counted(self.counts)

    @property
    def own_gap(self) -> float:
        """The gap by the kept scores: says when a look is worthwhile, never what is true."""
        return float(np.dot(self.w, self.s - self.s.min()))

    def points(self) -> NDArray[np.float64]:
        """Return the point, shape (1, d)."""
        offset = self.w.astype(np.float64) @ self.hull.points
        return np.asarray(self.hull.mean + offset, dtype=np.float64)[None, :]

    def weights(self) -> Combinations:
        """Return w."""
        return Combinations.from_dense(self.w.astype(np.float64))


def weighted(model: Steep, start: Combinations) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the weights of the first combination of `start` over all atoms, and their scores."""
    hull = model.hull
    w = start.one(0).dense(len(hull.left))[0].astype(hull.left.dtype)
    s = np.empty_like(w)
    scores_at(*model.arrays, w, np.empty_like(hull.signs), s)
    return w, s
