r"""Fully corrective Frank-Wolfe: minimise f over the hull of all leaders so far.

j = argmin s; W ← W ∪ {j}; x ← argmin of f over conv W, exactly, by an active set. Unlike Wolfe's
method it forgets no leader. Linear on polytopes without drop steps, h ← h(1 − (μ/L)(δ/M)²), and
finite, since the inner problem is solved to the end.

Holloway 1974; Lacoste-Julien and Jaggi 2015.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fwbench.corral import Corral, Rooted, corral, rooted
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.kernels.working_set import corrective_step
from fwbench.laws import Law
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, SolverEntry


@dataclass(frozen=True)
class FullyCorrective:
    """Minimise over the hull of all leaders so far."""

    def prepare(self, problem: QuadraticOverHull) -> Rooted:
        return rooted(problem)

    def init(self, model: Rooted, start: Combinations) -> Corral:
        return corral(model, start)

    def advance(self, model: Rooted, state: Corral, steps: int) -> None:
        for _ in range(steps):
            if state.done:
                break
            if state.lead[0] not in state.visited:
                state.visited = np.append(state.visited, state.lead)
            state.done = corrective_step(
                model.hull, state.arrays, state.kept, model.block, model.sizes, state.counts,
                state.visited, len(state.visited),
            )  # fmt: skip
            state.steps += 1


ENTRY = SolverEntry(
    name="fully_corrective",
    make=FullyCorrective,
    label="fully corrective Frank-Wolfe",
    reference="Holloway 1974; Lacoste-Julien and Jaggi 2015",
    law="linear, factor 1 - (mu/L)(delta/M)^2 a step; finite",
    laws=(Law("finite"),),
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    promise=1e-12,
)
