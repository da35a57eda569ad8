"""Hardmax layers that need no scores any more: where every leader is known for good."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.kernels.attention import approach
from fwbench.kernels.line import GIVEN
from fwbench.labels import Labels
from fwbench.steps import StepRule
from fwbench.tokens import Tokens, towards

LENGTHS = 2**16  # step lengths that are made at once


def settle(state: Tokens, rule: StepRule, steps: int) -> None:
    """Move the tokens through so many hardmax layers, without scores where leaders are settled.

    Keys are fixed, steps are scalar, the lowest index leads; see `fwbench.labels`. The points are
    those of `walk` to the last bit.
    """
    model = state.model
    labels = state.labels or Labels.none(len(state.x), len(model.points))
    t, end = state.steps, state.steps + steps
    while t < end and (len(labels.open) or rule.code != GIVEN):
        if len(labels.open):
            labels.look(state.x, model.points, lambda x: model.leaders(x, model.points, model.tie))
        target = model.points[labels.lead]
        gamma = model.step_lengths(rule, t, state.x, target - state.x, state.estimate)
        state.x = towards(state.x, target, gamma)
        t += 1
    while t < end:
        count = min(end - t, LENGTHS)
        state.x = straight(state.x, model.points[labels.lead], rule, t, count)
        t += count
    state.labels = labels
    state.asked += steps * len(state.x)
    state.steps += steps


def straight(
    x: NDArray[Any], target: NDArray[Any], rule: StepRule, t: int, count: int
) -> NDArray[Any]:
    """Return points x (m, d) after `count` steps towards the same targets.

    Exact ones by the closed form, y + (x − y) Π (1 − γ); others step by step, for the same bits.
    """
    if x.dtype == object:
        left = Fraction(1)
        for gamma in rule.exact_lengths(t, count):
            left *= 1 - gamma
        return np.asarray(target + left * (x - target))
    moved = np.array(x, order="C")
    lengths = rule.lengths(t, count).astype(x.dtype)
    approach(moved.reshape(-1), np.ascontiguousarray(target).reshape(-1), lengths)
    return moved
