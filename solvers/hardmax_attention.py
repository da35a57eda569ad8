r"""Hardmax attention: x_i ← x_i + γ_t (leader(x_i) − x_i), towards the most attended key.

The score of key y for query x is −⟨F(x), y⟩ (B = −Q: ⟨Bx, y⟩ − ⟨c, y⟩), so the most attended key
minimises the linearised objective. keys=fixed: the keys stay the atoms, and the update *is* a
Frank-Wolfe step, t = 0, 1, … as there. keys=moving: the keys are the tokens themselves, all step
at once, and the hull shrinks: no Frank-Wolfe method any more.

Ties: lowest (the lowest index leads), points (the mean over the distinct tied points, coinciding
ones counted once; the paper's rule), indices (the mean over tied indices; the limit of softmax).

Alcalde, Geshkovski and Ruiz-Balet, arXiv 2508.09628, equations (3) and (4).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.kernels import plain
from fwbench.kernels.pricing import leaders
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, SolverEntry
from fwbench.steps import OpenLoop, StepRule, unfit
from fwbench.tokens import Keys, Moved, Tokens, cloud, keys_of, tokens, towards, walk


def tied(scores: NDArray[Any], tie: Any, keys: NDArray[Any], *, distinct: bool) -> Combinations:
    """Return the mean over all keys that lead each row of scores (m, n), each point once or not."""
    leads = scores <= scores.min(axis=1)[:, None] + tie
    if distinct:
        first: dict[tuple[Any, ...], int] = {}
        for i, key in enumerate(map(tuple, keys)):
            first.setdefault(key, i)
        once = np.zeros(len(keys), dtype=bool)
        once[list(first.values())] = True
        leads &= once
    query, index = np.nonzero(leads)
    count = np.bincount(query, minlength=len(scores))
    one = Fraction(1) if scores.dtype == object else 1.0
    shares = np.array([one / int(c) for c in count])
    return Combinations(np.concatenate([[0], np.cumsum(count)]), index, shares[query])


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
        Exact runs hold rationals; open_loop and constant only.
    """

    keys: Literal["fixed", "moving"] = "fixed"
    step: StepRule = OpenLoop()  # noqa: RUF009 - frozen
    ties: Literal["lowest", "points", "indices"] = "lowest"
    arithmetic: Literal["float", "exact"] = "float"

    @property
    def moving(self) -> bool:
        return self.keys == "moving"

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        return unfit(self.step, problem.kind, exact=self.arithmetic == "exact")

    def start(self, problem: QuadraticOverHull) -> Combinations:
        return cloud(problem, moving=self.moving)

    def prepare(self, problem: QuadraticOverHull) -> Keys:
        return keys_of(problem, self.step, exact=self.arithmetic == "exact")

    def init(self, model: Keys, start: Combinations) -> Tokens:
        return tokens(model, start, self.layer, moving=self.moving)

    def layer(self, model: Keys, x: NDArray[Any], t: int, estimate: NDArray[np.float64]) -> Moved:
        """Return what step t does to points x (m, d)."""
        keys = x if self.moving else model.points
        tie = model.tie_among(x) if self.moving else model.tie
        if self.ties == "lowest":
            lead = np.empty(len(x), dtype=np.int64)
            find = plain(leaders) if model.exact else leaders
            for block, scores in model.scores(x, keys):
                find(scores, tie, lead[block])
            mixing = Combinations.vertices(lead)
            target = keys[lead]
        else:
            parts = [
                tied(scores, tie, keys, distinct=self.ties == "points")
                for _, scores in model.scores(x, keys)
            ]
            mixing = Combinations.joined(parts)
            target = mixing.averages(keys[mixing.keys]).astype(x.dtype)
        gamma = model.step_lengths(self.step, t, x, target - x, estimate)
        return Moved(towards(x, target, gamma), gamma, mixing)

    def advance(self, model: Keys, state: Tokens, steps: int) -> None:
        walk(state, steps)


ENTRY = SolverEntry(
    name="hardmax_attention",
    make=HardmaxAttention,
    label="hardmax attention",
    reference="Alcalde, Geshkovski and Ruiz-Balet, arXiv 2508.09628",
    law="keys fixed, step 2/(t + 2): f - f* <= 2 D^2/(t + 2) on convex problems",
    queries=Queries.MANY,
)
