r"""Projected gradient on the weights, centred: w ← P(u − F(u)/L).

P projects onto the simplex, F(u) = V Q V'u + V c are the scores, L = λ_max(V Q V') with the atoms
centred at their mean (the same f on the simplex, a far smaller L for shifted hulls).
momentum=restart looks ahead by Beck and Teboulle's sequence, f − f* ≤ 2L‖w_0 − w*‖²/(k + 1)², and
restarts by the gradient test, which makes it linear on quadratics; momentum=none takes u = w.

Beck and Teboulle 2009; O'Donoghue and Candès 2015.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.kernels.gradient import projected_gradient
from fwbench.lowering import COUNTERS, Lowered, counted, lowered
from fwbench.problem import QuadraticOverHull
from fwbench.solver import SolverEntry

# The largest singular value comes with rounding; a step above 1/L could diverge.
SAFETY = 1.0 + 1e-6


@dataclass(eq=False)
class Weights:
    """w and the point u ahead of it, both (n,); the momentum sequence (1,)."""

    model: Lowered
    w: NDArray[Any]
    ahead: NDArray[Any]
    momentum: NDArray[np.float64]
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(COUNTERS), np.int64))
    steps: int = 0
    done: bool = False
    claim: str | None = None

    @property
    def counters(self) -> dict[str, int]:
        """What was asked for so far, by name."""
        return counted(self.counts)

    def points(self) -> NDArray[np.float64]:
        """Return the point, shape (1, d)."""
        offset = self.w.astype(np.float64) @ self.model.points
        return np.asarray(self.model.mean + offset, dtype=np.float64)[None, :]

    def weights(self) -> Combinations:
        """Return w."""
        return Combinations.from_dense(self.w.astype(np.float64))


@dataclass(frozen=True)
class ProjectedGradient:
    """Step against the scores, then project onto the simplex.

    Parameters
    ----------
    momentum : {"restart", "none"}
        Accelerated with restart (convex problems), or plain (all kinds).
    """

    momentum: Literal["restart", "none"] = "restart"

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        if self.momentum == "restart" and problem.kind is not Kind.CONVEX:
            return (
                f"momentum needs a convex problem, this one is {problem.kind}; momentum=none runs"
            )
        return None

    def prepare(self, problem: QuadraticOverHull) -> tuple[Lowered, float]:
        model = lowered(problem)
        left = np.asarray(np.linalg.qr(model.left, mode="r"))
        right = left
        if model.right is not model.left:
            right = np.asarray(np.linalg.qr(model.right, mode="r"))
        lipschitz = np.linalg.norm((left * model.signs) @ right.T, 2) if left.size else 0.0
        # a linear objective has no curvature: any step size will do, this one is its own scale
        fallback = float(np.abs(model.linear).max()) or 1.0
        return model, SAFETY * float(lipschitz) or fallback

    def init(self, model: tuple[Lowered, float], start: Combinations) -> Weights:
        hull = model[0]
        w = start.one(0).dense(len(hull.left))[0].astype(hull.left.dtype)
        return Weights(hull, w, w.copy(), np.array([float(self.momentum == "restart")]))

    def advance(self, model: tuple[Lowered, float], state: Weights, steps: int) -> None:
        hull, lipschitz = model
        projected_gradient(
            hull.left, hull.right, hull.signs, hull.linear, hull.left.dtype.type(lipschitz),
            state.w, state.ahead, state.momentum, state.counts, steps,
        )  # fmt: skip
        state.steps += steps


ENTRY = SolverEntry(
    name="projected_gradient",
    make=ProjectedGradient,
    label="projected gradient on the weights",
    reference="Beck and Teboulle 2009; O'Donoghue and Candès 2015",
    law="f - f* <= 2 L |w0 - w*|^2/(k + 1)^2, linear after restarts",
    grid=({"momentum": "restart"}, {"momentum": "none"}),
)
