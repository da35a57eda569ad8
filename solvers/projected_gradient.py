r"""Projected gradient on the weights, centred: w ← P(u − F(u)/L).

P projects onto the simplex, F(u) = V Q V'u + V c are the scores, L ≤ 1.01 λ_max(V Q V') with the
atoms centred at their mean (the same f on the simplex, a far smaller L for shifted hulls); L starts
below and grows where a step breaks the bound that it stands for. momentum=restart looks ahead by
Beck and Teboulle's sequence, f − f* ≤ 2L‖w_0 − w*‖²/(k + 1)², and restarts by the gradient test,
which makes it linear on quadratics; momentum=none takes u = w. With a Gram matrix V Q V' a step
costs O(n²), without one O(nd).

Beck and Teboulle 2009; O'Donoghue and Candès 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fwbench.first_order import AllWeights, Gram, Steep, steep, weighted
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.kernels.gradient import projected_gradient
from fwbench.laws import Law
from fwbench.problem import QuadraticOverHull
from fwbench.solver import SolverEntry


@dataclass(frozen=True)
class ProjectedGradient:
    """Step against the scores, then project onto the simplex.

    Parameters
    ----------
    momentum : {"restart", "none"}
        Accelerated with restart (convex problems), or plain (all kinds).
    gram : {"auto", "yes", "no"}
        Whether to build the n × n Gram matrix; auto does where n ≤ d and n ≤ 5000.
    """

    momentum: Literal["restart", "none"] = "restart"
    gram: Gram = "auto"

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        if self.momentum == "restart" and problem.kind is not Kind.CONVEX:
            return (
                f"momentum needs a convex problem, this one is {problem.kind}; momentum=none runs"
            )
        return None

    def prepare(self, problem: QuadraticOverHull) -> Steep:
        return steep(problem, self.gram)

    def init(self, model: Steep, start: Combinations) -> AllWeights:
        w, s = weighted(model, start)
        ahead, anchor = (w.copy(), s.copy()), (w.copy(), s.copy())
        momentum = np.array([float(self.momentum == "restart")])
        kept = (*ahead, *anchor, momentum, np.array([model.lipschitz, 0.0]))
        return AllWeights(model.hull, w, s, kept)

    def advance(self, model: Steep, state: AllWeights, steps: int) -> None:
        projected_gradient(
            *model.arrays, model.gram, model.unit, model.rounding, model.hull.kind.has_potential,
            state.w, state.s, *state.kept, state.counts, state.steps, steps,
        )  # fmt: skip
        state.steps += steps


ENTRY = SolverEntry(
    name="projected_gradient",
    make=ProjectedGradient,
    label="projected gradient on the weights",
    reference="Beck and Teboulle 2009; O'Donoghue and Candès 2015",
    law="f - f* <= 2 L |w0 - w*|^2/(k + 1)^2, linear after restarts",
    laws=(
        Law("linear", where={"momentum": ("restart",)}),
        Law("sublinear", -1.0, where={"momentum": ("none",)}),
    ),
    grid=({"momentum": "restart"}, {"momentum": "none"}),
)
