r"""Hardmax attention: x_i ← x_i + γ_t (leader(x_i) − x_i), towards the most attended key.

The score of key y for query x is −⟨F(x), y⟩ (B = −Q: ⟨Bx, y⟩ − ⟨c, y⟩), so the most attended key
minimises the linearised objective. keys=fixed: the keys stay the atoms, and the update *is* a
Frank-Wolfe step, t = 0, 1, … as there. keys=moving: the keys are the tokens themselves, all step
at once, and the hull shrinks: no Frank-Wolfe method any more.

Ties: lowest (the lowest index leads), points (the mean over the distinct tied points, coinciding
ones counted once, in floats those of equal bits; the paper's rule), indices (the mean over tied
indices; the limit of softmax).

Index: layer t = 0, 1, … takes the points of time t to those of time t + 1, with γ_t and B(t). A
step h_t/(1 + h_t) is the layer with values V = h_t I, divided by 1 + h_t; values=V for any V is
x_i ← x_i + P (leader(x_i) − x_i) with P = (I + V)⁻¹V, and normalised=false is x_i ← x_i + V leader.
Both leave the hull unless V = hI (and normalised). scores=D_t: queries and keys enter the scores as
D_t x and D_t y, so B(t) = D_t B D_t, F_t(x) = D_t F(D_t x); a number that scales B alone changes no
leader.

Alcalde, Geshkovski and Ruiz-Balet, arXiv 2508.09628, equations (2) to (4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.laws import frank_wolfe_laws
from fwbench.layers import checked, leaving, matrix_of, rule_of, unfit_layer
from fwbench.problem import QuadraticOverHull
from fwbench.schedules import Factors
from fwbench.settling import settle
from fwbench.solver import Queries, SolverEntry
from fwbench.steps import OpenLoop, StepRule
from fwbench.tokens import (
    Keys,
    Mixing,
    MixingLater,
    Moved,
    Tokens,
    averaged,
    cloud,
    keys_of,
    tied,
    tokens,
    walk,
)
from fwbench.values import NONE, Values

USUAL = OpenLoop()


@dataclass(frozen=True)
class HardmaxAttention:
    """Move every query towards its leader.

    Parameters
    ----------
    keys : {"fixed", "moving"}
        Keys stay the atoms, or are the current tokens.
    step : StepRule
        Any; a query searches along its own line.
    ties : {"lowest", "points", "indices"}
        Who leads where scores are equal.
    arithmetic : {"float", "exact"}
        Exact runs hold rationals: steps and scores must be rational.
    values : Values
        V of a layer with matrix steps, instead of a step.
    normalised : bool
        False: x + V leader, not divided by I + V.
    scores : Factors
        D_t, one schedule for all coordinates or one for each.
    """

    keys: Literal["fixed", "moving"] = "fixed"
    step: StepRule = USUAL
    ties: Literal["lowest", "points", "indices"] = "lowest"
    arithmetic: Literal["float", "exact"] = "float"
    values: Values = NONE
    normalised: bool = True
    scores: Factors = Factors()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
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
        return not self.scores.steady

    @property
    def autonomous(self) -> bool:
        return self.leaves_hull or self.rule.autonomous

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        exact = self.arithmetic == "exact"
        return unfit_layer(self.rule, self.values, self.scores, problem, exact=exact)

    def start(self, problem: QuadraticOverHull) -> Combinations:
        return cloud(problem, moving=self.moving)

    def prepare(self, problem: QuadraticOverHull) -> Keys:
        matrix = matrix_of(self.values, normalised=self.normalised)
        exact, whole = self.arithmetic == "exact", self.normalised
        return keys_of(problem, self.rule, exact=exact, matrix=matrix, normalised=whole)

    def init(self, model: Keys, start: Combinations) -> Tokens:
        return tokens(model, start, self.layer, moving=self.moving)

    def layer(self, model: Keys, x: NDArray[Any], t: int, estimate: NDArray[np.float64]) -> Moved:
        """Return what step t does to points x (m, d)."""
        keys = x if self.moving else model.points
        query, seen = x, keys
        if not self.scores.ones:
            model, factors, _ = model.scaled(self.scores, t)
            query, seen = factors * x, factors * keys
        still = seen is model.points
        tie = model.tie if still else model.tie_among(seen)
        if self.ties == "lowest":
            lead, _ = model.leaders(query, seen, tie)
            mixing: Mixing | MixingLater = Combinations.vertices(lead)
            target = keys[lead]
        else:
            target = np.empty_like(x)
            for block, part in self.tied(model, query, seen, keys, tie):
                target[block] = averaged(part, keys)
            mixing = partial(self.tied_in_all, model, query, seen, keys, tie)
        return model.moved(self.rule, t, x, target, mixing, estimate)

    def tied(
        self, model: Keys, query: NDArray[Any], seen: NDArray[Any], keys: NDArray[Any], tie: Any
    ) -> Iterator[tuple[slice, Combinations]]:
        """Yield the means over tied keys, a block of queries at a time."""
        for block, scores in model.scores(query, seen):
            yield block, tied(scores, tie, keys, distinct=self.ties == "points")

    def tied_in_all(
        self, model: Keys, query: NDArray[Any], seen: NDArray[Any], keys: NDArray[Any], tie: Any
    ) -> Combinations:
        """Return the means over tied keys of all queries: they may be m·n keys."""
        return Combinations.joined([part for _, part in self.tied(model, query, seen, keys, tie)])

    def advance(self, model: Keys, state: Tokens, steps: int) -> None:
        # where leaders can be known for good, later layers need no scores
        if self.moving or self.ties != "lowest" or self.leaves_hull or not self.scores.ones:
            walk(state, steps)
        else:
            settle(state, self.rule, steps)


ENTRY = SolverEntry(
    name="hardmax_attention",
    make=HardmaxAttention,
    label="hardmax attention",
    reference="Alcalde, Geshkovski and Ruiz-Balet, arXiv 2508.09628",
    law="keys fixed, step 2/(t + 2): f - f* <= 2 D^2/(t + 2) on convex problems",
    laws=frank_wolfe_laws(keys=("fixed",), values=("none",), scores=("1",)),
    queries=Queries.MANY,
)
