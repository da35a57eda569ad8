r"""Softmax attention: x_i ← x_i + γ_t (Σ_j a_ij y_j − x_i), a_i = softmax_j(−β⟨F(x_i), y_j⟩).

Frank-Wolfe with a soft vertex: the linear oracle errs by at most log(n)/β, so with fixed keys and
fixed β the gap stops at a floor of that order. keys=fixed: keys stay the atoms; keys=moving: the
keys are the tokens themselves. No ties: equal scores get equal weight, each index counted.

Alcalde, Geshkovski and Ruiz-Balet, arXiv 2508.09628, equations (2) and (7); Vaswani et al. 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidParameter
from fwbench.geometry.combinations import Combinations
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, SolverEntry
from fwbench.steps import Constant, StepRule, unfit
from fwbench.tokens import Keys, Moved, Tokens, cloud, keys_of, tokens, towards, walk


@dataclass(frozen=True)
class SoftmaxAttention:
    """Move every query towards the softmax average of the keys.

    Parameters
    ----------
    beta : float
        Inverse temperature.
    keys : {"fixed", "moving"}
        Keys stay the atoms, or are the current tokens.
    step : StepRule
        Any; a query searches along its own line.
    """

    beta: float = 10.0
    keys: Literal["fixed", "moving"] = "fixed"
    step: StepRule = Constant()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        if not (self.beta > 0 and np.isfinite(self.beta)):
            raise InvalidParameter(f"beta must be positive and finite; got {self.beta}")

    @property
    def moving(self) -> bool:
        return self.keys == "moving"

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        return unfit(self.step, problem.kind)

    def start(self, problem: QuadraticOverHull) -> Combinations:
        return cloud(problem, moving=self.moving)

    def prepare(self, problem: QuadraticOverHull) -> Keys:
        return keys_of(problem, self.step)

    def init(self, model: Keys, start: Combinations) -> Tokens:
        return tokens(model, start, self.layer, moving=self.moving)

    def layer(self, model: Keys, x: NDArray[Any], t: int, estimate: NDArray[np.float64]) -> Moved:
        """Return what step t does to points x (m, d)."""
        keys = x if self.moving else model.points
        target, mixing = np.empty_like(x), []
        # from one key on: a cloud at rest stays, however the rounded weights sum up
        apart = keys - keys[0]
        for block, scores in model.scores(x, keys):
            # scores grow with beta: shifting by the least one keeps exp from overflowing
            attention = np.exp(-self.beta * (scores - scores.min(axis=1)[:, None]))
            attention /= attention.sum(axis=1)[:, None]
            target[block] = keys[0] + attention @ apart
            mixing.append(attention)
        gamma = model.step_lengths(self.step, t, x, target - x, estimate)
        return Moved(towards(x, target, gamma), gamma, np.vstack(mixing))

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
