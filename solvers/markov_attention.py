r"""Markov attention: token i picks one key j with probability a_ij, x_i ← x_i + γ_t (y_j − x_i).

The probabilities are those of softmax attention, a_i = softmax_j(−β_t⟨F(x_i), y_j⟩), so given the
points the mean of the next ones is its layer. In Gumbel form j = argmax_k(−β_t⟨F(x_i), y_k⟩ + G_k);
it is drawn as the equal race of exponential clocks, argmin_k E_k e^(β_t⟨F(x_i), y_k⟩), with one
logarithm a key. Given the points all tokens draw independently (the paper fixes the law of each,
not the joint one). keys=moving: the keys are the tokens themselves; a pick of itself moves nothing.

Index: layer t = 0, 1, … takes the points of time t to those of time t + 1, with γ_t and β_t. No
ties: equal scores are picked equally often, each index counted, so weights of coinciding keys add.

The numbers of a pick come from a counter (seed, replica, step, token, key): any cut of a run, and
any number of replicas beside it, gives the same bits. Replicas start at the same points; the points
are those of all replicas, one replica behind the other.

Alcalde, Geshkovski and Ruiz-Balet, arXiv 2508.09628, equation (8).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidParameter
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import through
from fwbench.kernels.chain import races
from fwbench.kernels.line import GIVEN
from fwbench.problem import QuadraticOverHull
from fwbench.schedules import Schedule, Steady
from fwbench.solver import Queries, SolverEntry
from fwbench.steps import Constant, StepRule
from fwbench.tokens import Keys, Moved, Tokens, cloud, keys_of, tokens, towards, walk

WORD = 2**32


@dataclass(frozen=True)
class MarkovAttention:
    """Move every token towards a key that it picks at random.

    Parameters
    ----------
    beta : Schedule
        Inverse temperature.
    keys : {"fixed", "moving"}
        Keys stay the atoms, or are the current tokens of the same replica.
    step : StepRule
        One whose lengths are known in advance.
    seed : int
        0 … 2⁶³ − 1.
    replicas : int
        How many independent runs from the same start, in one batch.
    """

    beta: Schedule = Steady(Fraction(10))  # noqa: RUF009 - frozen
    keys: Literal["fixed", "moving"] = "fixed"
    step: StepRule = Constant()  # noqa: RUF009 - frozen
    seed: int = 0
    replicas: int = 1
    scheduled = True  # by chance

    def __post_init__(self) -> None:
        if not self.beta.at(0) > 0:
            raise InvalidParameter(f"beta must be positive; got {self.beta.text}")
        if self.step.code != GIVEN:
            raise InvalidParameter(
                f"step={self.step.text} searches along f, towards a key that chance has picked; "
                "take a step whose lengths are known in advance"
            )
        if self.seed < 0:
            raise InvalidParameter(f"seed must not be negative; got {self.seed}")
        if not 1 <= self.replicas < WORD:
            raise InvalidParameter(f"replicas must lie in [1, 2^32); got {self.replicas}")

    @property
    def moving(self) -> bool:
        return self.keys == "moving"

    def start(self, problem: QuadraticOverHull) -> Combinations:
        return Combinations.joined([cloud(problem, moving=self.moving)] * self.replicas)

    def prepare(self, problem: QuadraticOverHull) -> Keys:
        return keys_of(problem, self.step)

    def init(self, model: Keys, start: Combinations) -> Tokens:
        if start.m % self.replicas:
            raise InvalidParameter(
                f"replicas={self.replicas}: a start holds the points of all replicas, one behind "
                f"the other; got {start.m} points (start(problem) gives them)"
            )
        return tokens(model, start, self.layer, moving=self.moving)

    def layer(self, model: Keys, x: NDArray[Any], t: int, estimate: NDArray[np.float64]) -> Moved:
        """Return what step t does to points x (replicas · m, d)."""
        keys = x if self.moving else model.points
        field = through(model.chain, x) + model.c
        high, low = divmod(self.seed, WORD)
        picks, scores = np.empty(len(x), dtype=np.int64), np.empty(len(keys))
        races(
            field, keys, self.moving, self.replicas, self.beta.at(t),
            np.uint64(low), np.uint64(high), t, scores, picks,
        )  # fmt: skip
        target = keys[picks]
        gamma = model.step_lengths(self.step, t, x, target - x, estimate)
        return Moved(towards(x, target, gamma), gamma, Combinations.vertices(picks))

    def advance(self, model: Keys, state: Tokens, steps: int) -> None:
        walk(state, steps)

    def picks(self, model: Keys, state: Tokens, steps: int) -> NDArray[np.int64]:
        """Move the state on like `advance`, and return who picked whom.

        Returns
        -------
        ndarray of int, shape (steps, replicas, m)
            Which key each token picked, counted within its replica where keys move.
        """
        out = np.empty((steps, self.replicas, len(state.x) // self.replicas), dtype=np.int64)
        for step in out:
            t = state.steps
            moved = self.layer(model, state.x, t, state.estimate)
            step[:] = moved.mixing.keys.reshape(step.shape)  # type: ignore[union-attr] # vertices
            state.x, state.steps = moved.x, t + 1
            state.asked += len(state.x)
        if self.moving:
            out -= np.arange(self.replicas)[:, None] * out.shape[2]
        return out


ENTRY = SolverEntry(
    name="markov_attention",
    make=MarkovAttention,
    label="Markov attention",
    reference="Alcalde, Geshkovski and Ruiz-Balet, arXiv 2508.09628, equation (8)",
    law="given the points, its mean is the softmax layer",
    queries=Queries.MANY,
    promise=1.0,
)
