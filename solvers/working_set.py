r"""Multiple pricing around Wolfe's min-norm point: minimise over a working set, then price all.

W = the atoms in use and the leader of each of some hundred blocks of atoms; x = the minimiser of f
over the hull of W (to 0.01 of the gap), by an active set with an updated factor; then one pass
over all atoms gives the gap and the next W. Finite: f falls with every atom taken in, and there
are finitely many sets of affinely independent atoms. In practice 3 to 8 passes, whatever n.

Wolfe 1976; multiple pricing is the simplex method's (Orchard-Hays 1968).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fwbench.blocked_corral import (
    BlockedCorral,
    RootedBlocks,
    blocked_corral,
    rooted_blocks,
    take_step,
)
from fwbench.corral import Corral, Rooted, corral, root_of, rooted
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.kernels.working_set import pricing_rounds
from fwbench.laws import Law
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, SolverEntry


@dataclass(frozen=True)
class WorkingSet:
    """Minimise over the atoms in use and the leaders of blocks of atoms."""

    blockwise: ClassVar[bool] = True

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        if problem.in_memory or root_of(problem.form, problem.d) is not None:
            return None
        return "of atoms in blocks it needs a Q without negative eigenvalues; away_steps does not"

    def prepare(self, problem: QuadraticOverHull) -> Rooted | RootedBlocks:
        return rooted(problem) if problem.in_memory else rooted_blocks(problem)

    def init(self, model: Rooted | RootedBlocks, start: Combinations) -> Corral | BlockedCorral:
        if isinstance(model, RootedBlocks):
            return blocked_corral(model, start)
        return corral(model, start)

    def advance(self, model: Any, state: Any, steps: int) -> None:
        if isinstance(model, RootedBlocks):
            for _ in range(steps):
                if not state.done:
                    take_step(model, state)
            return
        if state.done:
            return
        taken, state.done = pricing_rounds(
            model.hull, state.arrays, state.kept, state.near, model.block, model.sizes,
            state.counts, state.steps, steps,
        )  # fmt: skip
        state.steps += taken


ENTRY = SolverEntry(
    name="working_set",
    make=WorkingSet,
    label="working set with multiple pricing",
    reference="Wolfe 1976; Orchard-Hays 1968",
    law="finite: a few passes over the atoms",
    laws=(Law("finite"),),
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    promise=1e-12,
)
