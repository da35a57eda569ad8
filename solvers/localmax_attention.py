r"""Localmax attention: x_i ← x_i + γ_t (mean of the keys that nearly lead − x_i).

A key nearly leads where its score ⟨F(x_i), y⟩ is within slack_t · scale of the least: all such keys
get the same weight. The scale is the problem's, so that a cloud that shrinks is seen as a whole in
the end; slack 0 is hardmax attention with ties=indices, a large one the plain mean of all keys.
This is our reading of the alignment sensitivity of the source; a schedule makes it vanish.

Index: layer t = 0, 1, … takes the points of time t to those of time t + 1, with γ_t and slack_t.
Ties: scores that differ by rounding count as equal (exactly: by nothing), each index counted.

Cimetière, Chiri and Gharesifard, arXiv 2509.15958.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.problem import TIE, QuadraticOverHull
from fwbench.schedules import Schedule, Steady
from fwbench.solver import Queries, SolverEntry
from fwbench.steps import Constant, StepRule, unfit
from fwbench.tokens import Keys, Moved, Tokens, cloud, keys_of, tied, tokens, walk


@dataclass(frozen=True)
class LocalmaxAttention:
    """Move every query towards the mean of the keys that nearly lead.

    Parameters
    ----------
    slack : Schedule
        Of the problem's scale.
    keys : {"fixed", "moving"}
        Keys stay the atoms, or are the current tokens.
    step : StepRule
        Any; a query searches along its own line.
    """

    slack: Schedule = Steady(Fraction(1, 100))  # noqa: RUF009 - frozen
    keys: Literal["fixed", "moving"] = "fixed"
    step: StepRule = Constant()  # noqa: RUF009 - frozen

    @property
    def moving(self) -> bool:
        return self.keys == "moving"

    @property
    def scheduled(self) -> bool:
        return not self.slack.steady

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
        tie = model.tie_among(x) if self.moving else model.tie
        scale = float(model.tie) / TIE[x.dtype]
        within = tie + self.slack.at(t) * scale
        parts = [tied(s, within, keys, distinct=False) for _, s in model.scores(x, keys)]
        mixing = Combinations.joined(parts)
        # from one key on: a cloud at rest stays, however the rounded weights sum up
        apart = mixing.averages((keys - keys[0])[mixing.keys]).astype(x.dtype)
        return model.moved(self.step, t, x, keys[0] + apart, mixing, estimate)

    def advance(self, model: Keys, state: Tokens, steps: int) -> None:
        walk(state, steps)


ENTRY = SolverEntry(
    name="localmax_attention",
    make=LocalmaxAttention,
    label="localmax attention",
    reference="Cimetière, Chiri and Gharesifard, arXiv 2509.15958",
    law="keys fixed, step 2/(t + 2): to a gap of order slack on convex problems",
    queries=Queries.MANY,
    promise=1.0,
)
