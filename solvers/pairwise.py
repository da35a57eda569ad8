r"""Pairwise Frank-Wolfe: weight moves from the worst atom in use to the leading one.

j = argmin s, a = argmax s over the atoms with w > 0, w ← w + γ (e_j − e_a), 0 ≤ γ ≤ w_a, and a
step of that length drops a. The others keep their weights. Linear on polytopes as away steps are,
but only on good steps: of t at least t/(3 n! + 1) are, for a step that drops may swap weight
between two atoms; no such trouble is seen in practice.

The method of Mitchell, Demyanov and Malozemov 1974; Lacoste-Julien and Jaggi 2015. Sequential
minimal optimisation with the pair that violates most is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fwbench import blocked
from fwbench.blocked import FewWeights, InBlocks, few_weights, in_blocks
from fwbench.geometry.combinations import Combinations
from fwbench.kernels.line import GIVEN, SHORT
from fwbench.kernels.pairs import WORST, pairwise
from fwbench.laws import Law
from fwbench.lowering import Lowered, lowered_with_norm
from fwbench.problem import QuadraticOverHull
from fwbench.scored import ScoredWeights, hull_of, scored
from fwbench.solver import POTENTIAL, SolverEntry
from fwbench.steps import Exact, StepRule

NO_LENGTHS = np.empty(0)


@dataclass(frozen=True)
class Pairwise:
    """Move weight from the worst atom in use to the leading one.

    Parameters
    ----------
    step : StepRule
        exact, short or backtracking.
    cache_mebibytes : float
        Memory for score columns; never changes a result.
    """

    step: StepRule = Exact()  # noqa: RUF009 - frozen
    cache_mebibytes: float = 64.0
    blockwise: ClassVar[bool] = True

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        if self.step.code == GIVEN:
            return f"pairwise steps need a line search; step={self.step.text} may leave the hull"
        return None

    def prepare(self, problem: QuadraticOverHull) -> tuple[Lowered, float] | InBlocks:
        prepared = lowered_with_norm if problem.in_memory else in_blocks
        return prepared(problem, wanted=self.step.code == SHORT)

    def init(
        self, model: tuple[Lowered, float] | InBlocks, start: Combinations
    ) -> ScoredWeights | FewWeights:
        if isinstance(model, InBlocks):
            return few_weights(model, start)
        return scored(model[0], start, self.cache_mebibytes)

    def advance(self, model: Any, state: Any, steps: int) -> None:
        if isinstance(model, InBlocks):
            for _ in range(steps):
                blocked.pairwise(model, state, self.step.code)
            return
        hull, code = hull_of(*model), self.step.code
        for first, count in state.stretches(steps):
            pairwise(hull, state.kept, WORST, code, NO_LENGTHS, first, count)


ENTRY = SolverEntry(
    name="pairwise",
    make=Pairwise,
    label="pairwise Frank-Wolfe",
    reference="Mitchell, Demyanov and Malozemov 1974; Lacoste-Julien and Jaggi 2015",
    law="linear on polytopes: factor 1 - (mu/4L)(delta/M)^2 a good step, swaps and drops apart",
    laws=(Law("linear", where={"step": ("exact", "short", "backtracking")}),),
    kinds=POTENTIAL,
)
