r"""Pair descent: weight moves to the leading atom from the atom in use that promises most.

j = argmin s, a = argmax (s_a − s_j)²/⟨v_j − v_a, Q (v_j − v_a)⟩ over the atoms with w_a > 0 and
s_a > s_j: twice what an exact step would gain if w_a were no limit. Then w ← w + γ (e_j − e_a),
0 ≤ γ ≤ w_a. Sequential minimal optimisation with the pair chosen by second-order information:
where atoms nearly coincide it takes the pair that can move far.

Converges on convex problems, linearly in the end where Q is definite on the face of the optimum.

Platt 1998; Fan, Chen and Lin 2005; Chen, Fan and Lin 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fwbench.geometry.combinations import Combinations
from fwbench.kernels.line import EXACT
from fwbench.kernels.pairs import CURVED, pairwise
from fwbench.lowering import Lowered, lowered
from fwbench.problem import QuadraticOverHull
from fwbench.scored import ScoredWeights, hull_of, scored
from fwbench.solver import POTENTIAL, SolverEntry

NO_LENGTHS = np.empty(0)


@dataclass(frozen=True)
class PairDescent:
    """Move weight to the leading atom from the one in use that promises most.

    Parameters
    ----------
    cache_mebibytes : float
        Memory for score columns; never changes a result.
    """

    cache_mebibytes: float = 64.0

    def prepare(self, problem: QuadraticOverHull) -> Lowered:
        return lowered(problem)

    def init(self, model: Lowered, start: Combinations) -> ScoredWeights:
        return scored(model, start, self.cache_mebibytes, spare=1)

    def advance(self, model: Lowered, state: ScoredWeights, steps: int) -> None:
        hull = hull_of(model)
        for first, count in state.stretches(steps):
            pairwise(hull, state.kept, CURVED, EXACT, NO_LENGTHS, first, count)


ENTRY = SolverEntry(
    name="pair_descent",
    make=PairDescent,
    label="pair descent with second-order choice",
    reference="Platt 1998; Fan, Chen and Lin 2005",
    law="convergent; linear in the end where Q is definite on the face of the optimum",
    kinds=POTENTIAL,
)
