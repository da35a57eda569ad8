"""Queries that live in space and look at keys: what the attention layers share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fwbench.attention import Search
from fwbench.errors import InvalidParameter
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Form, spectral_norm, through
from fwbench.kernels import plain
from fwbench.kernels.line import GIVEN, SHORT, line_step
from fwbench.kernels.pricing import leaders
from fwbench.labels import Labels
from fwbench.problem import TIE, QuadraticOverHull
from fwbench.schedules import Factors
from fwbench.steps import StepRule

BLOCK = 2**22  # entries of a block of scores: the full (m, n) matrix is never held
ROOM = {np.dtype(np.float64): 1e100, np.dtype(np.float32): 1e12}  # for factors of scores beside c
REPLAYED = 10**6  # above this m·n the weights are not rebuilt

# Weights of the keys, each row one query's, or what makes them: only who rebuilds weights asks.
Mixing = Combinations | NDArray[Any]
MixingLater = Callable[[], Mixing]

# One layer: (model, points, step number, backtracking estimates) -> what it did.
Layer = Callable[["Keys", NDArray[Any], int, NDArray[np.float64]], "Passed"]


class Passed(Protocol):
    """What a layer did."""

    @property
    def x(self) -> NDArray[Any]:
        """The new points, shape (m, d)."""

    def mixed(self, weights: NDArray[np.float64], *, moving: bool) -> NDArray[np.float64]:
        """Carry weights of the atoms, (m, n), through the layer."""


@dataclass(frozen=True, eq=False)
class Keys:
    """The atoms as keys, centred (exactly: as they are), and the field that scores them.

    Attributes
    ----------
    points : ndarray, shape (n, d)
    chain : tuple of ndarray
        The links of Q.
    c : ndarray, shape (d,)
        The field at the origin of `points`.
    mean : ndarray, shape (d,)
    tie : number
        For fixed keys.
    form : Form
    lipschitz : float
        For step=short.
    matrix : ndarray, shape (1,), (d,) or (d, d), or None
        The step matrix P; V itself where the layer is not normalised. None for scalar steps.
    normalised : bool
    linear : ndarray, shape (d,)
        The field at the origin of space, where points are centred.
    """

    points: NDArray[Any]
    chain: tuple[NDArray[Any], ...]
    c: NDArray[Any]
    mean: NDArray[Any]
    tie: Any
    form: Form
    lipschitz: float = 0.0
    matrix: NDArray[Any] | None = None
    normalised: bool = True
    linear: NDArray[Any] | float = 0.0

    @property
    def exact(self) -> bool:
        """Whether all numbers are rationals."""
        return self.points.dtype == object

    @cached_property
    def search(self) -> Search:
        """The search for leaders among fixed keys: what helps it is made once."""
        return Search(self.points)

    def field(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return F at points x (m, d)."""
        return np.asarray(through(self.chain, x) + self.c)

    def leaders(
        self, x: NDArray[Any], keys: NDArray[Any], tie: Any
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return which key (n, d) leads each query x (m, d), and where no rounding changes that.

        Leads: has the lowest index among the scores within `tie` of the least.
        """
        if not self.exact:
            search = self.search if keys is self.points else Search(keys, sure=False)
            return search.leaders(self.field(x), tie)
        lead = np.empty(len(x), dtype=np.int64)
        for block, scores in self.scores(x, keys):
            plain(leaders)(scores, tie, lead[block])
        return lead, np.ones(len(x), dtype=np.bool_)

    def scores(self, x: NDArray[Any], keys: NDArray[Any]) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield ⟨F(x), y⟩ for queries x (m, d) and keys y (n, d), in blocks of queries."""
        field = self.field(x)
        rows = max(1, BLOCK // len(keys))
        for first in range(0, len(x), rows):
            block = slice(first, first + rows)
            yield block, field[block] @ keys.T

    def scaled(self, scores: Factors, t: int) -> tuple[Keys, NDArray[Any], int]:
        """Return D = D_t/2^e, these keys with the field F(D_t x)/2^e of D (x − μ), and e.

        Nothing cancels where D_t is far from 1, since c + Q D_t μ is a sum of its own; nor do
        scores, smaller by 4^e, overflow or vanish.

        Raises
        ------
        InvalidParameter
            Where all factors are next to nothing beside c.
        """
        if self.exact:
            return self, scores.exactly(t), 0
        factors, cast = scores.at(t), self.points.dtype
        most = float(np.abs(factors).max())
        power = math.frexp(most)[1]
        if np.any(self.linear) and power < 0:
            power = 0
            if most * ROOM[cast] < 1:
                raise InvalidParameter(
                    f"scores={scores.text}: at layer {t} no factor is above {most:.0e}; beside a "
                    f"linear term {cast} scores need {1 / ROOM[cast]:.0e}; take fewer layers"
                )
        factors = np.ldexp(factors, -power)
        c = self.form.apply(factors * self.mean) + np.ldexp(self.linear, -power)
        return replace(self, c=c.astype(cast)), factors.astype(cast), power

    def tie_among(self, keys: NDArray[Any]) -> Any:
        """Return the tie tolerance of moving keys: relative to the scale of where they are now."""
        if self.exact:
            return Fraction(0)
        mean = np.ascontiguousarray(keys.T).mean(axis=1)  # along rows it is several times as slow
        offsets = keys - mean
        slope = np.abs(offsets @ (through(self.chain, mean) + self.c)).max()
        return TIE[keys.dtype] * (self.form.scale(offsets) + slope)

    def step_lengths(
        self,
        rule: StepRule,
        t: int,
        x: NDArray[Any],
        move: NDArray[Any],
        estimate: NDArray[np.float64],
    ) -> Any:
        """Return γ, one number or one a query, shape (m, 1), for the directions `move` (m, d)."""
        if rule.code == GIVEN:
            lengths = (rule.exact_lengths if self.exact else rule.lengths)(t, 1)
            return lengths.astype(x.dtype)[0]  # float32 points must not become float64
        bent = through(self.chain, move) * move
        slope = ((through(self.chain, x) + self.c) * move).sum(axis=1)
        return np.array(
            [
                line_step(
                    rule.code, slope[q], bent[q].sum(), np.abs(bent[q]).sum(), move[q] @ move[q],
                    1.0, self.lipschitz, estimate[q : q + 1],
                )
                for q in range(len(x))
            ],
            dtype=x.dtype,
        )[:, None]  # fmt: skip

    def moved(
        self,
        rule: StepRule,
        t: int,
        x: NDArray[Any],
        target: NDArray[Any],
        mixing: Mixing | MixingLater,
        estimate: NDArray[np.float64],
    ) -> Moved:
        """Move points x (m, d) towards their targets: by a step, or by the step matrix."""
        if self.matrix is None:
            gamma = self.step_lengths(rule, t, x, target - x, estimate)
            return Moved(towards(x, target, gamma), gamma, mixing)
        # V acts from the origin, a difference from anywhere
        by = target - x if self.normalised else target + self.mean.astype(x.dtype)
        return Moved(x + through((self.matrix,), by), None, mixing)


def keys_of(
    problem: QuadraticOverHull,
    rule: StepRule,
    *,
    exact: bool = False,
    matrix: NDArray[Any] | None = None,
    normalised: bool = True,
) -> Keys:
    """Return the atoms of a problem as keys; `matrix` holds Fractions."""
    if exact:
        return Keys(
            points=problem.exact_atoms,
            chain=problem.exact_chain,
            c=problem.exact_c,
            mean=np.full(problem.d, Fraction(0), dtype=object),
            tie=Fraction(0),
            form=problem.form,
            matrix=matrix,
            normalised=normalised,
        )
    cast = problem.dtype
    return Keys(
        points=np.ascontiguousarray(problem.centred, dtype=cast),
        chain=tuple(link.astype(cast) for link in problem.form.chain()),
        c=problem.centred_c.astype(cast),
        mean=problem.mean,
        tie=problem.tie,
        form=problem.form,
        lipschitz=spectral_norm(problem.form, problem.d) if rule.code == SHORT else 0.0,
        matrix=None if matrix is None else matrix.astype(cast),
        normalised=normalised,
        linear=problem.c,
    )


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


def averaged(part: Combinations, keys: NDArray[Any]) -> NDArray[Any]:
    """Return the averages of keys (n, d) by each combination, (m, d); memory O(nd) and a block."""
    if len(part.keys) * keys.shape[1] <= BLOCK:
        return part.averages(keys[part.keys])
    each = (part.one(query) for query in range(part.m))
    return np.vstack([one.averages(keys[one.keys]) for one in each])


def towards(x: NDArray[Any], target: NDArray[Any], gamma: Any) -> NDArray[Any]:
    """Return x + γ (target − x): x itself at rest, the target itself for γ = 1."""
    if np.ndim(gamma) == 0:
        return target if gamma == 1 else np.asarray(x + gamma * (target - x))
    return np.where(gamma == 1, target, x + gamma * (target - x))


@dataclass(frozen=True, eq=False)
class Moved:
    """What one layer did: new points (1 − γ) x + γ (mixing @ keys), shape (m, d)."""

    x: NDArray[Any]
    gamma: Any
    weighing: Mixing | MixingLater

    @cached_property
    def mixing(self) -> Mixing:
        """The weights of the keys."""
        return self.weighing() if callable(self.weighing) else self.weighing

    def mixed(self, weights: NDArray[np.float64], *, moving: bool) -> NDArray[np.float64]:
        """Carry weights of the atoms, (m, n), through the layer."""
        gamma = np.asarray(self.gamma, dtype=np.float64)
        kept = (1 - gamma) * weights
        if isinstance(self.mixing, Combinations):
            each = Combinations(
                self.mixing.indptr, self.mixing.keys, self.mixing.data.astype(np.float64)
            )
            if moving:
                return np.asarray(kept + gamma * each.averages(weights[each.keys]))
            share = np.broadcast_to(gamma, (each.m, 1))[each.query, 0] * each.data
            np.add.at(kept, (each.query, each.keys), share)
            return kept
        rows = self.mixing.astype(np.float64)
        rows /= rows.sum(axis=1)[:, None]  # those of float32 sum to 1 but for 1e-7, at every step
        return np.asarray(kept + gamma * (rows @ weights if moving else rows))


@dataclass(eq=False)
class Tokens:
    """m points and, off the clock, the combinations of atoms that they are.

    The path is a function of the start alone, so the weights are found by walking it again from
    where they were known last; the layer itself keeps no log.
    """

    model: Keys
    layer: Layer
    moving: bool
    x: NDArray[Any]
    estimate: NDArray[np.float64]
    known_x: NDArray[Any]
    known_estimate: NDArray[np.float64]
    known_weights: NDArray[np.float64]
    known_steps: int = 0
    steps: int = 0
    done: bool = False
    claim: str | None = None
    asked: int = field(default=0)
    labels: Labels | None = None

    @property
    def counters(self) -> dict[str, int]:
        """One oracle call a query and step."""
        calls = self.asked
        return {"lmo": calls, "gradient": calls, "matvec": calls, "fw": calls}

    def exact_points(self) -> NDArray[Any]:
        """Return the points, shape (m, d), in the arithmetic of the run."""
        return np.asarray(self.x + self.model.mean)

    def points(self) -> NDArray[np.float64]:
        """Return the points as doubles, shape (m, d)."""
        return self.exact_points().astype(np.float64)

    def weights(self) -> Combinations | None:
        """Return the points as combinations of the problem's atoms.

        None where m·n > 10⁶, and of layers that leave the hull.
        """
        if self.known_weights.size == 0:
            return None
        for t in range(self.known_steps, self.steps):
            moved = self.layer(self.model, self.known_x, t, self.known_estimate)
            self.known_weights = moved.mixed(self.known_weights, moving=self.moving)
            self.known_x = moved.x
        self.known_steps = self.steps
        return Combinations.from_dense(self.known_weights)


def tokens(model: Keys, start: Combinations, layer: Layer, *, moving: bool) -> Tokens:
    """Return the state at the start."""
    rows = model.points[start.keys]
    if model.exact:
        exact = Combinations(
            start.indptr, start.keys, np.array([Fraction(w) for w in start.data], dtype=object)
        )
        x = exact.averages(rows)
    else:
        x = start.averages(rows).astype(rows.dtype)
    followed = start.m * len(model.points) <= REPLAYED and model.matrix is None
    # far below any curvature: the first search doubles it up to the right size
    estimate = np.full(start.m, np.finfo(np.float64).tiny)
    return Tokens(
        model=model,
        layer=layer,
        moving=moving,
        x=x,
        estimate=estimate,
        known_x=x.copy(),
        known_estimate=estimate.copy(),
        known_weights=start.dense(len(model.points)) if followed else np.empty((0, 0)),
    )


def cloud(problem: QuadraticOverHull, *, moving: bool) -> Combinations:
    """Return where queries start: keys that move are the tokens, so a lone query stands for all."""
    return problem.every_atom if moving and problem.start.m == 1 else problem.start


def walk(state: Tokens, steps: int) -> None:
    """Move the tokens through so many layers."""
    # what leaves the hull may grow beyond all doubles: the run ends as nonfinite
    grows = state.model.matrix is not None
    with np.errstate(over="ignore", invalid="ignore") if grows else nullcontext():
        for t in range(state.steps, state.steps + steps):
            state.x = state.layer(state.model, state.x, t, state.estimate).x
    state.asked += steps * len(state.x)
    state.steps += steps
