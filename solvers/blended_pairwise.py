r"""Blended pairwise conditional gradients: pairs inside the support, and a Frank-Wolfe step else.

With a = argmax s and l = argmin s over the atoms with w > 0 and j = argmin s over all: if
s_a − s_l ≥ ⟨F, x − v_j⟩, weight moves from a to l, w ← w + γ (e_l − e_a), 0 ≤ γ ≤ w_a, and a step
of that length drops a; else the step is Frank-Wolfe's towards j. New atoms come by Frank-Wolfe
steps alone, so there are no swaps and supports are small.

h_t ≤ h_0 exp(−(t/2) min{1/2, δ²μ/(4LM²)}), δ the pyramidal width, M the diameter.

lazy=yes compares s_a − s_l with a promise Φ instead, and asks for j only where no pair keeps it:
a Frank-Wolfe step where ⟨F, x − v_j⟩ ≥ Φ/2, else Φ ← Φ/2 and nothing moves; Φ is at first half
the gap.

Tsuji, Tanaka and Pokutta 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from fwbench import blocked
from fwbench.blocked import FewWeights, InBlocks, few_weights, in_blocks
from fwbench.geometry.combinations import Combinations
from fwbench.kernels.line import GIVEN, SHORT
from fwbench.kernels.pairs import blended
from fwbench.laws import Law
from fwbench.lowering import Lowered, lowered_with_norm
from fwbench.problem import QuadraticOverHull
from fwbench.scored import ScoredWeights, hull_of, scored
from fwbench.solver import POTENTIAL, SolverEntry
from fwbench.steps import Exact, StepRule


@dataclass(frozen=True)
class BlendedPairwise:
    """Move weight inside the support while that promises as much as the leader, else to it.

    Parameters
    ----------
    step : StepRule
        exact, short or backtracking.
    lazy : {"no", "yes"}
        Ask for the leader only where no pair in use keeps the promise.
    cache_mebibytes : float
        Memory for score columns; never changes a result.
    """

    step: StepRule = Exact()  # noqa: RUF009 - frozen
    lazy: Literal["no", "yes"] = "no"
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
                blocked.blended(model, state, self.step.code, lazy=self.lazy == "yes")
            return
        hull, lazy, code = hull_of(*model), self.lazy == "yes", self.step.code
        for first, count in state.stretches(steps):
            blended(hull, state.kept, lazy, state.phi, code, first, count)


ENTRY = SolverEntry(
    name="blended_pairwise",
    make=BlendedPairwise,
    label="blended pairwise Frank-Wolfe",
    reference="Tsuji, Tanaka and Pokutta 2022",
    law="h_t <= h_0 exp(-t/2 min(1/2, delta^2 mu/(4 L M^2))) on convex problems",
    laws=(Law("linear", where={"step": ("exact", "short", "backtracking")}),),
    kinds=POTENTIAL,
)
