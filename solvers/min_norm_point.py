r"""Wolfe's min-norm point: the leader enters the active set, minor cycles correct it.

Major cycle: j = argmin s; stop if the gap is 0; S ← S ∪ {j}. Minor cycle: u minimises f over the
affine hull of S; if u > 0, w ← u; else w ← w + θ(u − w) as far as w ≥ 0 allows, atoms without
weight leave S, and again. S stays affinely independent in the coordinates of Q; where j depends on
S (repeated atoms, singular Q) weight moves along the line without curvature until an atom leaves.
Finite; O(1/t) (Chakrabarty, Jain and Kothari 2014), linear (Lacoste-Julien and Jaggi 2015).

Wolfe 1976, here for any convex Q and c.
"""

from __future__ import annotations

from dataclasses import dataclass

from fwbench.corral import Corral, Rooted, corral, rooted
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.kernels.working_set import major_cycles
from fwbench.laws import Law
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, SolverEntry


@dataclass(frozen=True)
class MinNormPoint:
    """Minimise over the atoms in use; the leader of all enters."""

    def prepare(self, problem: QuadraticOverHull) -> Rooted:
        return rooted(problem)

    def init(self, model: Rooted, start: Combinations) -> Corral:
        return corral(model, start)

    def advance(self, model: Rooted, state: Corral, steps: int) -> None:
        if state.done:
            return
        taken, state.done = major_cycles(
            model.hull, state.arrays, state.kept, model.block, model.sizes, state.counts,
            state.steps, steps,
        )  # fmt: skip
        state.steps += taken


ENTRY = SolverEntry(
    name="min_norm_point",
    make=MinNormPoint,
    label="Wolfe's min-norm point",
    reference="Wolfe 1976",
    law="finite; linear on the way",
    laws=(Law("finite"),),
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    promise=1e-12,
)
