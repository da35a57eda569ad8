r"""Softmax attention: x_i ← x_i + γ_t (Σ_j a_ij y_j − x_i), a_i = softmax_j(−β_t⟨F(x_i), y_j⟩).

Frank-Wolfe with a soft vertex: the linear oracle errs by at most log(n)/β, so with fixed keys and
fixed β the gap stops at a floor of that order. keys=fixed: keys stay the atoms; keys=moving: the
keys are the tokens themselves. No ties: equal scores get equal weight, each index counted.

Index: layer t = 0, 1, … takes the points of time t to those of time t + 1, with γ_t, β_t, B(t). A
step h_t/(1 + h_t) is the layer with values V = h_t I, divided by 1 + h_t; values=V for any V is
x_i ← x_i + P (Σ_j a_ij y_j − x_i) with P = (I + V)⁻¹V, and normalised=false is the layer itself,
x_i ← x_i + V Σ_j a_ij y_j. Both leave the hull unless V = hI (and normalised). Without a linear
term, and with keys moving, the layer with V = hI is (1 + h)^t times the divided one with
β_t = β (1 + h)^(2t).
scores=D_t: queries and keys enter the scores as D_t x and D_t y, so B(t) = D_t B D_t and
F_t(x) = D_t F(D_t x); a number that scales B alone is a schedule of β.

Alcalde, Geshkovski and Ruiz-Balet, arXiv 2508.09628, equations (1), (2), (7); Vaswani et al. 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.attention import soft_average
from fwbench.errors import InvalidParameter
from fwbench.geometry.combinations import Combinations
from fwbench.layers import checked, leaving, matrix_of, rule_of, unfit_layer
from fwbench.problem import QuadraticOverHull
from fwbench.schedules import Factors, Schedule, Steady
from fwbench.solver import Queries, SolverEntry
from fwbench.steps import Constant, StepRule
from fwbench.tokens import Keys, Moved, Tokens, cloud, keys_of, tokens, walk
from fwbench.values import NONE, Values

USUAL = Constant()


def weights_of_keys(
    model: Keys, query: NDArray[Any], seen: NDArray[Any], beta: float
) -> NDArray[Any]:
    """Return all weights a (m, n) of a layer, for those who rebuild what the points are made of."""
    parts = []
    for _, scores in model.scores(query, seen):
        # scores grow with beta: shifting by the least one keeps exp from overflowing
        with np.errstate(over="ignore"):  # a weight of e^(−∞) is none
            weights = np.exp(-beta * (scores - scores.min(axis=1)[:, None]))
        parts.append(weights / weights.sum(axis=1)[:, None])
    return np.vstack(parts)


@dataclass(frozen=True)
class SoftmaxAttention:
    """Move every query towards the softmax average of the keys.

    Parameters
    ----------
    beta : Schedule
        Inverse temperature.
    keys : {"fixed", "moving"}
        Keys stay the atoms, or are the current tokens.
    step : StepRule
        Any; a query searches along its own line.
    values : Values
        V of a layer with matrix steps, instead of a step.
    normalised : bool
        False: x + V Σ a y, not divided by I + V.
    scores : Factors
        D_t, one schedule for all coordinates or one for each.
    """

    beta: Schedule = Steady(Fraction(10))  # noqa: RUF009 - frozen
    keys: Literal["fixed", "moving"] = "fixed"
    step: StepRule = USUAL
    values: Values = NONE
    normalised: bool = True
    scores: Factors = Factors()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        if not self.beta.at(0) > 0:
            raise InvalidParameter(f"beta must be positive; got {self.beta.text}")
        checked(self.step, USUAL, self.values, self.scores, normalised=self.normalised)

    @property
    def moving(self) -> bool:
        return self.keys == "moving"

    @property
    def leaves_hull(self) -> bool:
        return leaving(self.values, normalised=self.normalised)

    @property
    def rule(self) -> StepRule:
        """The step rule; that of V = hI where values are given so."""
        return rule_of(self.step, self.values, normalised=self.normalised)

    @property
    def scheduled(self) -> bool:
        return not (self.beta.steady and self.scores.steady)

    @property
    def autonomous(self) -> bool:
        return self.leaves_hull or self.rule.autonomous

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        return unfit_layer(self.rule, self.values, self.scores, problem)

    def start(self, problem: QuadraticOverHull) -> Combinations:
        return cloud(problem, moving=self.moving)

    def prepare(self, problem: QuadraticOverHull) -> Keys:
        matrix = matrix_of(self.values, normalised=self.normalised)
        return keys_of(problem, self.rule, matrix=matrix, normalised=self.normalised)

    def init(self, model: Keys, start: Combinations) -> Tokens:
        return tokens(model, start, self.layer, moving=self.moving)

    def layer(self, model: Keys, x: NDArray[Any], t: int, estimate: NDArray[np.float64]) -> Moved:
        """Return what step t does to points x (m, d)."""
        keys = x if self.moving else model.points
        query, seen, power = x, keys, 0
        if not self.scores.ones:
            model, factors, power = model.scaled(self.scores, t)
            query, seen = factors * x, factors * keys
        most = float(np.finfo(x.dtype).max)
        beta = min(self.beta.at(t) * 4.0 ** min(power, 500), most)
        # from one key on: a cloud at rest stays, however the rounded weights sum up
        target = keys[0] + soft_average(model.field(query), seen, beta, keys - keys[0])
        mixing = partial(weights_of_keys, model, query, seen, beta)
        return model.moved(self.rule, t, x, target, mixing, estimate)

    def advance(self, model: Keys, state: Tokens, steps: int) -> None:
        walk(state, steps)


ENTRY = SolverEntry(
    name="softmax_attention",
    make=SoftmaxAttention,
    label="softmax attention",
    reference="Vaswani et al. 2017; Jaggi 2013, theorem 1 (inexact oracle)",
    law="to a floor of order log(n)/beta",
    queries=Queries.MANY,
    promise=1.0,
)
