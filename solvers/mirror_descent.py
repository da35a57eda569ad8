r"""Mirror descent with the entropy: log w ← log w − F(w)/R² + const.

F(w) = V Q V'w + V c are the scores of atoms centred at their mean, R = max_i ‖v_i‖_|Q|. On the
simplex ½⟨δ, V|Q|V'δ⟩ ≤ R² KL(w + δ‖w): relative to the entropy f is smooth with constant R². So f
falls at each step, whatever the signs of Q, and where it is convex f − f* ≤ R² KL(w*‖w_0)/t.

The first step starts from w_0 = (1 − ε) start + ε/n, because a weight that is 0 would stay 0: the
bound is R² log(n/ε)/t, with ε = 1 (the barycentre) R² log(n)/t. Logarithms are kept, so that
a weight too small for a number can return.

Nemirovski and Yudin 1983; Bauschke, Bolte and Teboulle 2017; Lu, Freund and Nesterov 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fwbench.errors import InvalidParameter
from fwbench.first_order import AllWeights, Steep, steep, weighted
from fwbench.geometry.combinations import Combinations
from fwbench.kernels.gradient import mirror_descent
from fwbench.laws import Law
from fwbench.problem import QuadraticOverHull
from fwbench.solver import POTENTIAL, SolverEntry


@dataclass(frozen=True)
class MirrorDescent:
    """Multiply each weight by the exponential of minus its score.

    Parameters
    ----------
    mixing : float
        ε in (0, 1], the share of the barycentre in w_0.
    """

    mixing: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.mixing <= 1:
            raise InvalidParameter(f"mixing must lie in (0, 1]; got {self.mixing}")

    def prepare(self, problem: QuadraticOverHull) -> tuple[Steep, float]:
        return steep(problem), 1 / (problem.quadratic_scale or problem.scale or 1.0)

    def init(self, model: tuple[Steep, float], start: Combinations) -> AllWeights:
        w, s = weighted(model[0], start)
        mixed = (1 - self.mixing) * w.astype(np.float64) + self.mixing / len(w)
        return AllWeights(model[0].hull, w, s, (np.log(mixed),))

    def advance(self, model: tuple[Steep, float], state: AllWeights, steps: int) -> None:
        field, length = model
        mirror_descent(
            *field.arrays, length, state.w, state.s, *state.kept, state.counts, state.steps, steps
        )
        state.steps += steps


ENTRY = SolverEntry(
    name="mirror_descent",
    make=MirrorDescent,
    label="mirror descent with the entropy",
    reference="Bauschke, Bolte and Teboulle 2017; Lu, Freund and Nesterov 2018",
    law="f - f* <= max |v_i|_Q^2 log(n/mixing)/t; where f is not convex, it still falls",
    laws=(Law("sublinear", -1.0),),
    kinds=POTENTIAL,
)
