r"""Decomposition-invariant pairwise steps of lengths known in advance: powers of two.

Garber and Meshi's method for polytopes whose vertices are 0 and 1, on the simplex of the weights:
there the smallest face that holds w is its support, and no other decomposition of the point is
ever asked for. w_1 = e_j, the leader at the start; then, with j = argmin s over all atoms and
a = argmax s over those with w > 0, w ← w + η_t (e_j − e_a), η_t the largest power of two up to γ_t.
All weights are multiples of η_t, so w_a ≥ η_t: no step is cut short.

Where it applies: with α the least eigenvalue of VQV' on weights that sum to 0, s the size of an
optimal support (n bounds it), D² = max ⟨v_i − v_j, Q(v_i − v_j)⟩ and ρ = 1 − α/(16 s D²),

    γ_t = √(α/(16 s D²)) ρ^((t−1)/2)        h_t ≤ (D²/2) ρ^(t−1)        t = 1, 2, …

for pairs promise ⟨F, v_a − v_j⟩ ≥ √(α h/2s). So α > 0 is needed: affinely independent atoms, and Q
definite along them. lengths=exact searches the line instead, 0 ≤ η ≤ w_a, and runs on every convex
problem; from w_1 on these are pairwise Frank-Wolfe steps.

Garber and Meshi 2016; Bashiri and Zhang 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.kernels.frank_wolfe import toward
from fwbench.kernels.line import EXACT, GIVEN
from fwbench.kernels.pairs import WORST, pairwise
from fwbench.lowering import Lowered, lowered
from fwbench.problem import QuadraticOverHull
from fwbench.scored import ScoredWeights, hull_of, scored
from fwbench.solver import SolverEntry

FLAT = 1e-12  # eigenvalues below this part of the largest are rounding
WHOLE = np.ones(1)


def constants(problem: QuadraticOverHull) -> tuple[float, float]:
    """Return α and D²; α is 0 where rounding may be all there is of it, or where n > d + 1.

    Examples
    --------
    >>> constants(QuadraticOverHull(np.eye(3)))
    (1.0, 2.0)
    """
    if problem.n > problem.d + 1:
        return 0.0, 0.0
    left, right, signs = problem.form.factors(problem.centred)
    gram = (left * signs) @ right.T
    eigenvalues = np.linalg.eigvalsh(gram)
    own = np.diag(gram)
    widest = float((own[:, None] + own - 2 * gram).max())
    if problem.n == 1:
        return 0.0, widest
    alpha = float(eigenvalues[1])  # the first belongs to (1, …, 1): the atoms are centred
    return (alpha if alpha > FLAT * eigenvalues[-1] else 0.0), widest


@dataclass(frozen=True)
class DecompositionInvariant:
    """Move weight from the worst atom in use to the leading one, by powers of two.

    Parameters
    ----------
    lengths : {"schedule", "exact"}
        Known in advance, or a line search.
    support : int
        A bound on the atoms that an optimum needs; 0 stands for n.
    cache_mebibytes : float
        Memory for score columns; never changes a result.
    """

    lengths: Literal["schedule", "exact"] = "schedule"
    support: int = 0
    cache_mebibytes: float = 64.0

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        if self.support < 0:
            return f"support bounds a number of atoms, 0 stands for n; got {self.support}"
        if self.lengths == "exact" or problem.n == 1 or constants(problem)[0] > 0:
            return None
        return (
            f"its step lengths need {problem.kind} problems that are strongly so in the weights: "
            f"at most d + 1 = {problem.d + 1} affinely independent atoms (here {problem.n}) and Q "
            "definite along them; lengths=exact runs"
        )

    def prepare(self, problem: QuadraticOverHull) -> tuple[Lowered, float]:
        """Lower the problem, and find γ_1² = 1 − ρ."""
        if self.lengths == "exact" or problem.n == 1:
            return lowered(problem), 0.0
        alpha, widest = constants(problem)
        return lowered(problem), alpha / (16 * (self.support or problem.n) * widest)

    def init(self, model: tuple[Lowered, float], start: Combinations) -> ScoredWeights:
        return scored(model[0], start, self.cache_mebibytes)

    def advance(self, model: tuple[Lowered, float], state: ScoredWeights, steps: int) -> None:
        hull, rule = hull_of(model[0]), EXACT if self.lengths == "exact" else GIVEN
        for first, count in state.stretches(steps):
            if first == 0:
                toward(hull, state.kept, GIVEN, WHOLE, 0, 1)
                first, count = 1, count - 1
            eta = powers(model[1], np.arange(first, first + count))
            pairwise(hull, state.kept, WORST, rule, eta, first, count)


def powers(square: float, t: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return η_t, the largest powers of two up to γ_t, where γ_1² is given.

    Examples
    --------
    >>> powers(0.25, np.array([1, 2, 3, 6])).tolist()
    [0.5, 0.25, 0.25, 0.125]
    """
    gamma = np.sqrt(square) * (1.0 - square) ** ((t - 1) / 2)
    _, exponent = np.frexp(gamma)
    return np.where(gamma > 0, np.ldexp(1.0, exponent - 1), 0.0)


ENTRY = SolverEntry(
    name="decomposition_invariant",
    make=DecompositionInvariant,
    label="decomposition-invariant pairwise steps",
    reference="Garber and Meshi 2016; Bashiri and Zhang 2017",
    law="h_t <= (D^2/2) (1 - alpha/(16 s D^2))^(t - 1) where alpha > 0, s atoms in the optimum",
    kinds=frozenset({Kind.CONVEX}),
)
