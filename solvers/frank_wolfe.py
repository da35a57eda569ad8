r"""Frank-Wolfe: x ← x + γ_t (v_j − x), where v_j minimises the linearised objective, j = argmin s.

With γ_t = 2/(t + 2), f(x_t) − f* ≤ 2D²/(t + 2) from t = 1 on, D² = max ⟨v_i − v_j, Q(v_i − v_j)⟩.
A growing l in l/(t + l) gives up to O(t⁻²) on polytopes; line search is linear for an interior
optimum and no better than t⁻¹ when the optimum lies on a face. Hardmax attention with fixed keys
is this method with its step as γ.

Frank and Wolfe 1956; Jaggi 2013; Guélat and Marcotte 1986; Wirth, Kerdreux and Pokutta 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from fwbench import blocked
from fwbench.blocked import FewWeights, InBlocks, few_weights, in_blocks
from fwbench.geometry.combinations import Combinations
from fwbench.kernels import plain
from fwbench.kernels.frank_wolfe import toward
from fwbench.kernels.line import SHORT
from fwbench.laws import frank_wolfe_laws
from fwbench.lowering import Lowered, lowered_exactly, lowered_with_norm
from fwbench.problem import QuadraticOverHull
from fwbench.scored import ScoredWeights, hull_of, scored
from fwbench.solver import SolverEntry
from fwbench.steps import OpenLoop, StepRule, unfit


@dataclass(frozen=True)
class FrankWolfe:
    """Move towards the leading atom, by any step rule.

    Parameters
    ----------
    step : StepRule
        open_loop(l), log_adaptive, constant(γ), exact, short or backtracking.
    arithmetic : {"float", "exact"}
        Exact runs hold rationals; open_loop and constant only.
    cache_mebibytes : float
        Memory for score columns; never changes a result.
    """

    step: StepRule = OpenLoop()  # noqa: RUF009 - frozen
    arithmetic: Literal["float", "exact"] = "float"
    cache_mebibytes: float = 64.0
    blockwise: ClassVar[bool] = True

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        if self.arithmetic == "exact" and not problem.in_memory:
            return "arithmetic=exact needs the atoms in memory, as rationals; they lie in blocks"
        return unfit(self.step, problem.kind, exact=self.arithmetic == "exact")

    def prepare(self, problem: QuadraticOverHull) -> tuple[Lowered, float] | InBlocks:
        if not problem.in_memory:
            return in_blocks(problem, wanted=self.step.code == SHORT)
        if self.arithmetic == "exact":
            return lowered_exactly(problem), 0.0
        return lowered_with_norm(problem, wanted=self.step.code == SHORT)

    def init(
        self, model: tuple[Lowered, float] | InBlocks, start: Combinations
    ) -> ScoredWeights | FewWeights:
        if isinstance(model, InBlocks):
            return few_weights(model, start)
        return scored(model[0], start, self.cache_mebibytes)

    def advance(self, model: Any, state: Any, steps: int) -> None:
        if isinstance(model, InBlocks):
            given = self.step.lengths(state.steps, steps)
            for gamma in given if len(given) else np.zeros(steps):
                blocked.toward(model, state, self.step.code, float(gamma))
            return
        lowered, lipschitz = model
        take, lengths = toward, self.step.lengths
        if lowered.exact:
            take, lengths = plain(toward), self.step.exact_lengths
        hull = hull_of(lowered, lipschitz)
        for first, count in state.stretches(steps):
            take(hull, state.kept, self.step.code, lengths(first, count), first, count)


ENTRY = SolverEntry(
    name="frank_wolfe",
    make=FrankWolfe,
    label="classic Frank-Wolfe",
    reference="Frank and Wolfe 1956; Jaggi 2013",
    law="sublinear, f - f* <= 2 D^2/(t + 2) with open_loop(2); linear with line search inside",
    laws=frank_wolfe_laws(),
    grid=({"step": OpenLoop()}, {"step": "exact"}),
)
