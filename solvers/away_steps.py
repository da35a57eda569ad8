r"""Away-step Frank-Wolfe: towards the leading atom, or away from the worst one in use.

j = argmin s, a = argmax s over the atoms with w > 0. If ⟨F, x − v_j⟩ ≥ ⟨F, v_a − x⟩ the step is
Frank-Wolfe's; else d = x − v_a with γ ≤ w_a/(1 − w_a), and a step of that length drops a. Linear
on polytopes: h ← h (1 − (μ/4L)(δ/M)²) on every step that drops no atom, δ the pyramidal width;
at most half of the steps drop.

Guélat and Marcotte 1986; Lacoste-Julien and Jaggi 2015; Beck and Shtern 2017 for Q singular.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fwbench import blocked
from fwbench.blocked import FewWeights, InBlocks, few_weights, in_blocks
from fwbench.geometry.combinations import Combinations
from fwbench.kernels.frank_wolfe import toward_or_away
from fwbench.kernels.line import GIVEN, SHORT
from fwbench.laws import Law
from fwbench.lowering import Lowered, lowered_with_norm
from fwbench.problem import QuadraticOverHull
from fwbench.scored import ScoredWeights, hull_of, scored
from fwbench.solver import POTENTIAL, SolverEntry
from fwbench.steps import Exact, StepRule


@dataclass(frozen=True)
class AwaySteps:
    """Move towards the leading atom or away from the worst one in use.

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
            return f"away steps need a line search; step={self.step.text} may leave the hull"
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
                blocked.toward_or_away(model, state, self.step.code)
            return
        hull = hull_of(*model)
        for first, count in state.stretches(steps):
            toward_or_away(hull, state.kept, self.step.code, first, count)


ENTRY = SolverEntry(
    name="away_steps",
    make=AwaySteps,
    label="away-step Frank-Wolfe",
    reference="Guélat and Marcotte 1986; Lacoste-Julien and Jaggi 2015",
    law="linear on polytopes: factor 1 - (mu/4L)(delta/M)^2 a step, drop steps apart",
    laws=(Law("linear", where={"step": ("exact", "short", "backtracking")}),),
    kinds=POTENTIAL,
)
