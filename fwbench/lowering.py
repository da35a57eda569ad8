r"""The one place that turns (V, Q, c) into what kernels work on.

With the atoms centred at their mean μ and x = V'w, the scores of all atoms are
:math:`s = left\,(signs ∘ right^⊤ w) + linear`, and :math:`⟨d, Qd⟩ = \sum signs ∘ (right^⊤ δ)^2`
for a direction δ in weights. General Q become two factors; exact arithmetic needs no centring.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind, spectral_norm, through
from fwbench.problem import QuadraticOverHull

COUNTERS = ("lmo", "gradient", "matvec", "fw", "away", "pairwise", "drop")


@dataclass(frozen=True, eq=False)
class Lowered:
    """A model for kernels; depends on the problem alone.

    Attributes
    ----------
    left, right : ndarray, shape (n, r)
        Centred atoms in the coordinates of Q (one array unless Q is not symmetric).
    signs : ndarray, shape (r,)
    linear : ndarray, shape (n,)
        The scores at the mean.
    points : ndarray, shape (n, d)
        Centred atoms.
    mean : ndarray, shape (d,)
    tie : number
        Scores within this of the least count as equal.
    kind : Kind
    start : Combinations
        Where the problem's queries start.
    """

    left: NDArray[Any]
    right: NDArray[Any]
    signs: NDArray[Any]
    linear: NDArray[Any]
    points: NDArray[Any]
    mean: NDArray[Any]
    tie: Any
    kind: Kind
    start: Combinations

    @property
    def exact(self) -> bool:
        """Whether all numbers are rationals."""
        return self.left.dtype == object

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What every kernel takes first."""
        return self.left, self.right, self.signs, self.linear, self.points


def lowered(problem: QuadraticOverHull) -> Lowered:
    """Lower a problem to float64, or float32 if its atoms are; one canonical layout (C order)."""
    left, right, signs = problem.form.factors(problem.centred)
    cast = np.dtype(problem.dtype)
    flat_left = np.ascontiguousarray(left, dtype=cast)
    return Lowered(
        left=flat_left,
        right=flat_left if right is left else np.ascontiguousarray(right, dtype=cast),
        signs=signs.astype(cast),
        linear=(problem.centred @ problem.centred_c).astype(cast),
        points=np.ascontiguousarray(problem.centred, dtype=cast),
        mean=problem.mean,
        tie=cast.type(problem.tie),
        kind=problem.kind,
        start=problem.start,
    )


def lowered_with_norm(problem: QuadraticOverHull, *, wanted: bool) -> tuple[Lowered, float]:
    """Lower a problem, and find the Lipschitz constant of its gradient if a step rule wants it."""
    return lowered(problem), spectral_norm(problem.form, problem.d) if wanted else 0.0


def lowered_exactly(problem: QuadraticOverHull) -> Lowered:
    """Lower a problem to Fractions, not centred: nothing cancels, and ties are equalities."""
    atoms = problem.exact_atoms
    return Lowered(
        left=atoms,
        right=through(problem.exact_chain, atoms),
        signs=np.full(problem.d, 1, dtype=object),
        linear=atoms @ problem.exact_c,
        points=atoms,
        mean=np.full(problem.d, Fraction(0), dtype=object),
        tie=Fraction(0),
        kind=problem.kind,
        start=problem.start,
    )


def counted(counts: NDArray[np.int64]) -> dict[str, int]:
    """Name counts in the order of `COUNTERS`."""
    return dict(zip(COUNTERS, counts.tolist(), strict=True))
