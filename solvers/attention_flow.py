r"""Attention flow: the ordinary differential equation x_i' = leader(x_i) − x_i, one step a time h.

The limit of hardmax attention as its steps vanish. While no query changes its leader, and the
leaders stand still, x_i(t + s) = leader + e^(−s) (x_i(t) − leader).

method=integrate: scipy's solve_ivp (Dormand and Prince, order 8) with the leaders held; its event
is that another key leads by more than the tie tolerance, there it stops, the leaders are found
again and it goes on. Step k is one such walk over [kh, (k + 1)h], started afresh.
method=closed_form: the formula. Keys fixed: scores are affine in e^(−s) along a segment, so the
time at which the leader changes is known as well. Keys moving: only where every leader leads itself
(Theorem 4.2's vertices that own their cells); then labels stay for ever: the score of a convex
combination of a token and its leader, for such a combination, is a convex combination of four
scores, and in each of them the leader wins.

Index: step k takes the points of time kh to those of time (k + 1)h. Ties: at the start of a step
the lowest index within the tie tolerance leads, at a crossing the key with the least score.

Concave problems alone (B ⪰ 0): there a new leader is never given up again at once. On others the
flow slides along the boundary of two cells, and its leaders change infinitely often.

Alcalde, Geshkovski and Ruiz-Balet, arXiv 2508.09628, equation (6) and the theorem on the flow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import FwbenchError, InvalidParameter
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.kernels.pricing import leaders
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, SolverEntry
from fwbench.steps import Constant
from fwbench.tokens import Keys, Tokens, cloud, keys_of, tokens, walk

Array = NDArray[np.float64]
CROSSINGS = 100_000  # of one step: more is a flow that slides along a boundary
LONGEST = 1000.0  # e^(−1000) = 0: all that a longer step adds is work
CAPPED = 1e300  # a lone key leads by infinity, which no root finder takes
EPSILON = float(np.finfo(np.float64).eps) / 8


@dataclass(frozen=True, eq=False)
class Flowed:
    """The new points (m, d), and how long (s) which keys (m,) led on the way."""

    x: NDArray[Any]
    stretches: tuple[tuple[float, NDArray[np.int64]], ...]

    def mixed(self, weights: Array, *, moving: bool) -> Array:
        """Carry weights of the atoms, (m, n), through the step, by the formula."""
        for time, lead in self.stretches:
            if moving:
                weights = carried(weights, lead, time)
                continue
            weights = math.exp(-time) * weights
            weights[np.arange(len(lead)), lead] -= math.expm1(-time)
        return weights


@dataclass(frozen=True)
class AttentionFlow:
    """Let every query flow towards its leader.

    Parameters
    ----------
    h : float
        The time of one step, at most 1000.
    keys : {"fixed", "moving"}
        Keys stay the atoms, or are the current tokens.
    method : {"integrate", "closed_form"}
        Numerically, or by the formula where it holds.
    rtol, atol : float
        Of the integrator; atol is relative to the radius.
    """

    h: float = 0.1
    keys: Literal["fixed", "moving"] = "fixed"
    method: Literal["integrate", "closed_form"] = "integrate"
    rtol: float = 1e-10
    atol: float = 1e-12
    autonomous = True

    def __post_init__(self) -> None:
        for name in ("h", "rtol", "atol"):
            if not 0 < getattr(self, name) < math.inf:
                raise InvalidParameter(
                    f"{name} must be positive and finite; got {getattr(self, name)}"
                )
        if self.h > LONGEST:
            raise InvalidParameter(f"h must be at most {LONGEST:g}; got {self.h} (take more steps)")
        if self.rtol < 1e-13:
            raise InvalidParameter(f"rtol must be at least 1e-13; got {self.rtol} (rounding)")

    @property
    def moving(self) -> bool:
        return self.keys == "moving"

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        if self.method == "integrate" or not self.moving:
            return None
        model = self.prepare(problem)
        state = self.init(model, self.start(problem))
        if (token := wanderer(self._led(model, state.x))) is None:
            return None
        return (
            f"closed_form with moving keys holds where every leader leads itself; on this "
            f"{problem.kind} problem token {token}, which leads, follows another: method=integrate"
        )

    def start(self, problem: QuadraticOverHull) -> Combinations:
        return cloud(problem, moving=self.moving)

    def prepare(self, problem: QuadraticOverHull) -> Keys:
        return keys_of(problem, Constant())

    def init(self, model: Keys, start: Combinations) -> Tokens:
        return tokens(model, start, self.layer, moving=self.moving)

    def _led(self, model: Keys, x: NDArray[Any]) -> NDArray[np.int64]:
        """Return who leads each of the points x (m, d), shape (m,)."""
        keys = x if self.moving else model.points
        lead = np.empty(len(x), dtype=np.int64)
        for block, scores in model.scores(x, keys):
            leaders(scores, model.tie_among(x) if self.moving else model.tie, lead[block])
        return lead

    def layer(self, model: Keys, x: NDArray[Any], t: int, estimate: Array) -> Flowed:
        """Return what step t does to points x (m, d)."""
        lead = self._led(model, x)
        tie = float(model.tie_among(x) if self.moving else model.tie)
        if self.method == "closed_form" and self.moving:
            if (token := wanderer(lead)) is not None:
                raise FwbenchError(
                    f"step {t}: token {token} leads and follows another, so the closed form no "
                    "longer holds; method=integrate goes on"
                )
            end = x[lead] + math.exp(-self.h) * (x - x[lead])
            return Flowed(end, ((self.h, lead),))
        y, passed, stretches = x.astype(np.float64), 0.0, []
        go = self._integrated if self.method == "integrate" else _followed
        while passed < self.h:
            y, time, crossed = go(model, y, lead, tie, self.h - passed)
            stretches.append((time, lead))
            if not crossed:
                break
            passed += time
            lead = lead.copy()
            for block, scores in model.scores(y, y if self.moving else model.points):
                lead[block] = scores.argmin(axis=1)
            if len(stretches) > CROSSINGS:
                raise FwbenchError(
                    f"step {t}: leaders changed {CROSSINGS} times within h = {self.h}"
                )
        return Flowed(y.astype(x.dtype), tuple(stretches))

    def _integrated(
        self, model: Keys, x: Array, lead: NDArray[np.int64], tie: float, time: float
    ) -> tuple[Array, float, bool]:
        """Integrate for some time, or until another key leads; return points, time, whether so."""
        from scipy.integrate import solve_ivp

        shape = x.shape

        def slope(_: float, flat: Array) -> Array:
            now = flat.reshape(shape)
            return np.asarray(((now if self.moving else model.points)[lead] - now).ravel())

        def ahead(_: float, flat: Array) -> float:
            """Return by how much all leaders lead, and the tie tolerance on top."""
            now, least = flat.reshape(shape), math.inf
            for block, scores in model.scores(now, now if self.moving else model.points):
                own = scores[np.arange(len(scores)), lead[block]].copy()
                scores[np.arange(len(scores)), lead[block]] = np.inf
                least = min(least, float((scores.min(axis=1) - own).min()))
            return min(least + tie, CAPPED) if tie else CAPPED  # no scale: all keys coincide

        event: Any = ahead
        event.terminal, event.direction = True, -1.0
        size = float(np.abs(model.points).max()) or 1.0
        found = solve_ivp(
            slope, (0.0, time), x.ravel(), method="DOP853", rtol=self.rtol,
            atol=self.atol * size, events=event,
        )  # fmt: skip
        if found.status < 0:
            raise FwbenchError(f"solve_ivp: {found.message}")
        return found.y[:, -1].reshape(shape), float(found.t[-1]), found.status == 1

    def advance(self, model: Keys, state: Tokens, steps: int) -> None:
        walk(state, steps)


def carried(weights: Array, lead: NDArray[np.int64], time: float) -> Array:
    """Solve W' = W[lead] − W over some time, by the series of e^(s S), (S W)_i = W_lead(i).

    Its terms are positive, so nothing cancels; O(mn) a term.
    """
    pieces = max(1, math.ceil(time))
    s = time / pieces
    for _ in range(pieces):
        total, term, size, k = weights.copy(), weights, 1.0, 0
        while size > EPSILON:
            k += 1
            size *= s / k
            term = term[lead] * (s / k)
            total += term
        weights = math.exp(-s) * total
    return weights


def wanderer(lead: NDArray[np.int64]) -> int | None:
    """Return a token that leads without leading itself, or None; `lead` (m,) names tokens."""
    away = np.flatnonzero(lead[lead] != lead)
    return int(lead[away[0]]) if len(away) else None


def _followed(
    model: Keys, x: Array, lead: NDArray[np.int64], tie: float, time: float
) -> tuple[Array, float, bool]:
    """Do by the formula what is integrated, for fixed keys.

    The score of y less that of the leader is p + ρ (q − p) at ρ = e^(−s): p at the leader, q at x.
    It falls to −tie at ρ = (−tie − p)/(q − p).
    """
    goal = model.points[lead].astype(np.float64)
    at = [model.scores(points, model.points) for points in (goal, x)]
    last, ends = math.exp(-time), 0.0
    for (block, p), (_, q) in zip(*at, strict=True):
        own = (np.arange(len(p)), lead[block])
        p, q = p - p[own][:, None], q - q[own][:, None]
        falls = p < -tie  # at the leader another one would lead: it does so before
        rho = np.where(falls, (-tie - p) / np.where(falls, q - p, 1.0), 0.0)
        ends = max(ends, min(float(rho.max()), 1.0))
    crossed = ends > last
    left = ends if crossed else last
    return goal + left * (x - goal), -math.log(left) if crossed else time, crossed


ENTRY = SolverEntry(
    name="attention_flow",
    make=AttentionFlow,
    label="attention flow",
    reference="Alcalde, Geshkovski and Ruiz-Balet, arXiv 2508.09628, equation (6)",
    law="distances to the leader shrink by e^(-h) a step where vertices own their cells",
    kinds=frozenset({Kind.CONCAVE}),
    queries=Queries.MANY,
    promise=1.0,
)
