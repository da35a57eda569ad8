r"""Extragradient: u = P(w − γF(w)), then w ← P(w − γF(u)).

P projects onto the simplex of weights, F(w) = V Q V'w + V c are the scores of centred atoms. Where
F is monotone the distance to every solution falls at each step with γ < 1/L, also where the field
rotates and w ← P(w − γF(w)) goes round in circles; linear for affine F on a polytope. γ shrinks
until γ|F(u) − F(w)| ≤ 0.7 |u − w|, so that no constant need be known. On a field that is not
monotone nothing is promised.

Korpelevich 1976; Khobotov 1987; Tseng 1995.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fwbench.first_order import AllWeights, Steep, steep, weighted
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.kernels.gradient import SHARE, extragradient
from fwbench.laws import Law
from fwbench.problem import QuadraticOverHull
from fwbench.solver import SolverEntry


@dataclass(frozen=True)
class Extragradient:
    """Step by the field found one step ahead; no parameters."""

    def prepare(self, problem: QuadraticOverHull) -> Steep:
        return steep(problem)

    def init(self, model: Steep, start: Combinations) -> AllWeights:
        w, s = weighted(model, start)
        return AllWeights(model.hull, w, s, (np.array([SHARE / model.lipschitz]),))

    def advance(self, model: Steep, state: AllWeights, steps: int) -> None:
        extragradient(
            *model.arrays, model.rounding, state.w, state.s, *state.kept, state.counts, steps
        )
        state.steps += steps


ENTRY = SolverEntry(
    name="extragradient",
    make=Extragradient,
    label="extragradient on the weights",
    reference="Korpelevich 1976; Khobotov 1987; Tseng 1995",
    law="monotone fields: linear, the distance to every solution falls at each step",
    laws=(Law("linear", kinds=frozenset({Kind.CONVEX, Kind.MONOTONE})),),
    kinds=frozenset({Kind.CONVEX, Kind.MONOTONE, Kind.GENERAL}),
)
