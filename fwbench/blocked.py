r"""Steps of the Frank-Wolfe family over atoms in blocks: one pass a step, and few atoms in memory.

The methods are those of `fwbench.kernels.frank_wolfe` and `fwbench.kernels.pairs`. There all scores
are kept and a step costs a column; here a step prices all atoms by one pass, and what is kept is
the weights of the atoms in use and their coordinates: their scores are a small product.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Form, spectral_norm
from fwbench.kernels import plain
from fwbench.kernels.frank_wolfe import AWAY, DROPPED, FW, GRADIENT, LMO, MATVEC, PAIRWISE
from fwbench.kernels.line import DROP, EXACT, GIVEN, line_step
from fwbench.lowering import COUNTERS, counted
from fwbench.problem import QuadraticOverHull
from fwbench.reductions import Reduced

Array = NDArray[np.float64]

_line_step = plain(line_step)  # a step is a pass: compiling would cost more than it brings


@dataclass(frozen=True, eq=False)
class InBlocks:
    """A problem whose atoms lie in blocks; depends on the problem alone.

    Attributes
    ----------
    passes : Reduced
    mean, linear : ndarray, shape (d,)
        The atoms' mean μ, and the field there.
    form : Form
    tie, lipschitz : float
        Scores within `tie` of the least count as equal; the largest eigenvalue of Q in absolute
        value, 0 where no step rule asks for it.
    """

    passes: Reduced
    mean: Array
    linear: Array
    form: Form
    tie: float
    lipschitz: float

    def field(self, x: Array) -> Array:
        """Return F at μ + x, shape (d,)."""
        return self.form.apply(x) + self.linear


def in_blocks(problem: QuadraticOverHull, *, wanted: bool) -> InBlocks:
    """Return the model; it is `wanted` with the Lipschitz constant of the gradient, or without."""
    lipschitz = spectral_norm(problem.form, problem.d) if wanted else 0.0
    passes = problem.passes
    assert isinstance(passes, Reduced)  # whoever asks has looked
    return InBlocks(passes, problem.mean, problem.centred_c, problem.form, problem.tie, lipschitz)


@dataclass(eq=False)
class FewWeights:
    """Weights of the atoms in use, and where these are; one query.

    Attributes
    ----------
    mean : ndarray, shape (d,)
    keys, weight : ndarray, shape (k,)
    atoms : ndarray, shape (k, d)
        Their coordinates from the mean.
    gap : float
        By the last pass, at the point before the last step; infinite before the first.
    estimate : ndarray, shape (1,)
        Of the backtracking rule.
    phi : float
        What a lazy method asks of a pair or a leader.
    counts : ndarray of int, shape (7,)
        In the order of `COUNTERS`.
    """

    mean: Array
    keys: NDArray[np.int64]
    weight: Array
    atoms: Array
    gap: float = np.inf
    estimate: Array = field(default_factory=lambda: np.full(1, np.finfo(np.float64).tiny))
    phi: float = 0.0
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(COUNTERS), np.int64))
    steps: int = 0
    done: bool = False
    claim: str | None = None

    @property
    def x(self) -> Array:
        """The point from the mean, shape (d,): made from the weights, so that nothing drifts."""
        return np.asarray(self.weight @ self.atoms)

    @property
    def counters(self) -> dict[str, int]:
        """What was asked for so far, by name."""
        return counted(self.counts)

    @property
    def own_gap(self) -> float:
        """The gap by the last pass: says when a look is worthwhile, never what is true."""
        return self.gap

    def points(self) -> Array:
        """Return the point, shape (1, d)."""
        return (self.mean + self.x)[None, :]

    def weights(self) -> Combinations:
        """Return the weights, by rising keys."""
        order = np.argsort(self.keys)
        return Combinations(np.array([0, len(order)]), self.keys[order], self.weight[order])

    def admit(self, key: int, atom: Array, share: float) -> None:
        """Add to the weight of an atom, listing it if it is new."""
        place = np.flatnonzero(self.keys == key)
        if len(place):
            self.weight[place[0]] += share
            return
        self.keys = np.append(self.keys, key)
        self.weight = np.append(self.weight, share)
        self.atoms = np.vstack([self.atoms, atom])

    def purge(self) -> None:
        """Drop every atom without weight; a weight that is not a number stays, and shows."""
        gone = self.weight <= 0
        if gone.any():
            self.keys, self.weight, self.atoms = (
                self.keys[~gone], self.weight[~gone], self.atoms[~gone]
            )  # fmt: skip


def few_weights(model: InBlocks, start: Combinations) -> FewWeights:
    """Return the state at the first combination of `start`."""
    one = start.one(0)
    keys, place = np.unique(one.keys, return_inverse=True)
    weight = np.bincount(place, one.data.astype(np.float64), minlength=len(keys))
    keys, weight = keys[weight != 0], weight[weight != 0]
    return FewWeights(model.mean, keys, weight, model.passes.rows(keys) - model.mean)


class Leader(NamedTuple):
    """Who leads at a point: key, coordinates from the mean, score."""

    key: int
    atom: Array
    score: float


def priced(model: InBlocks, state: FewWeights, x: Array, direction: Array) -> Leader:
    """Price all atoms at x by one pass; the state's gap is the one there."""
    found = model.passes.leaders(model.mean, direction, model.tie)
    key, row = model.passes.foremost(model.mean, direction, model.tie, found)
    atom = row - model.mean
    score = float(atom @ direction)
    slack = state.atoms @ direction - min(score, float(found.least.min()))
    state.gap = float(state.weight @ np.maximum(slack, 0.0))
    state.counts[LMO] += 1
    return Leader(key, atom, score)


def worst(scores: Array, keys: NDArray[np.int64], tie: float) -> int:
    """Return the place of the largest score, of those within `tie` the one of the lowest key."""
    near = np.flatnonzero(scores >= scores.max() - tie)
    return int(near[keys[near].argmin()]) if len(near) else 0


def length(
    model: InBlocks, state: FewWeights, rule: int, way: Array, slope: float, longest: float
) -> float:
    """Return how far to go along a direction (d,) on which f has this slope."""
    left, _, signs = model.form.factors(way[None, :])
    squares = left[0] ** 2
    size = float(squares.sum())
    squared = size if rule == EXACT else float(way @ way)
    return float(
        _line_step(
            rule, slope, float(signs @ squares), size, squared, longest, model.lipschitz,
            state.estimate,
        )
    )  # fmt: skip


def _go(state: FewWeights, leader: Leader, gamma: float) -> None:
    """Take the weights to (1 − γ) w + γ e_j."""
    state.counts[FW] += 1
    if gamma != 0:
        state.weight = (1 - gamma) * state.weight
        state.admit(leader.key, leader.atom, gamma)
        state.purge()


def toward(model: InBlocks, state: FewWeights, rule: int, gamma: float) -> None:
    """Take a step towards the leader: γ where the rule is GIVEN, else as far as it says."""
    x = state.x
    direction = model.field(x)
    leader = priced(model, state, x, direction)
    if rule != GIVEN:
        slope = leader.score - float(x @ direction)
        gamma = length(model, state, rule, leader.atom - x, slope, 1.0)
    state.counts[[GRADIENT, MATVEC]] += 1
    _go(state, leader, gamma)
    state.steps += 1


def toward_or_away(model: InBlocks, state: FewWeights, rule: int) -> None:
    """Take a Frank-Wolfe or an away step, whichever promises more."""
    x = state.x
    direction = model.field(x)
    leader = priced(model, state, x, direction)
    scores, here = state.atoms @ direction, float(x @ direction)
    p = worst(scores, state.keys, model.tie)
    # not 1 − w_a, which near w_a = 1 is rounding alone
    others = float(np.delete(state.weight, p).sum())
    state.counts[[GRADIENT, MATVEC]] += 1
    state.steps += 1
    if not (scores[p] - here > here - leader.score and others > 0):
        gamma = length(model, state, rule, leader.atom - x, leader.score - here, 1.0)
        return _go(state, leader, gamma)
    longest = float(state.weight[p]) / others
    gamma = length(model, state, rule, state.atoms[p] - x, here - float(scores[p]), longest)
    state.counts[AWAY] += 1
    if gamma == 0:
        return None
    drop = gamma >= longest * (1 - DROP)
    keep = 1 + (longest if drop else gamma)
    left = 1 - others * keep
    drop = drop or left <= 0
    state.weight = keep * state.weight
    state.weight[p] = 0.0 if drop else left
    state.counts[DROPPED] += drop
    state.purge()
    state.weight /= state.weight.sum()
    return None


def _swap(model: InBlocks, state: FewWeights, to: Leader, p: int, score: float, rule: int) -> None:
    """Move weight from the atom in place p, of this score, to another."""
    longest = float(state.weight[p])
    gamma = length(model, state, rule, to.atom - state.atoms[p], to.score - score, longest)
    state.counts[PAIRWISE] += 1
    if gamma == 0 or to.key == state.keys[p]:
        return
    step = longest if gamma >= longest * (1 - DROP) else gamma
    state.weight[p] = longest - step
    state.counts[DROPPED] += state.weight[p] <= 0
    state.admit(to.key, to.atom, step)
    state.purge()


def pairwise(model: InBlocks, state: FewWeights, rule: int) -> None:
    """Move weight from the worst atom in use to the leader."""
    x = state.x
    direction = model.field(x)
    leader = priced(model, state, x, direction)
    scores = state.atoms @ direction
    p = worst(scores, state.keys, model.tie)
    state.counts[GRADIENT] += 1
    state.counts[MATVEC] += 2
    _swap(model, state, leader, p, float(scores[p]), rule)
    state.steps += 1


def blended(model: InBlocks, state: FewWeights, rule: int, *, lazy: bool) -> None:
    """Move weight between atoms in use where that promises as much as the leader, else to it.

    With `lazy` a pass is made only where no pair in use keeps the promise Φ.
    """
    x = state.x
    direction = model.field(x)
    scores, here = state.atoms @ direction, float(x @ direction)
    p, q = worst(scores, state.keys, model.tie), worst(-scores, state.keys, model.tie)
    near = Leader(int(state.keys[q]), state.atoms[q], float(scores[q]))
    local = float(scores[p] - scores[q])
    state.counts[GRADIENT] += 1
    first = state.steps == 0
    state.steps += 1
    if lazy and not first and local >= state.phi:
        state.counts[MATVEC] += 2
        return _swap(model, state, near, p, float(scores[p]), rule)
    leader = priced(model, state, x, direction)
    gap = here - leader.score
    if lazy and first:
        state.phi = gap / 2
    if local >= (state.phi if lazy else gap):
        state.counts[MATVEC] += 2
        return _swap(model, state, near, p, float(scores[p]), rule)
    if lazy and not gap >= state.phi / 2:
        state.phi /= 2
        return None
    state.counts[MATVEC] += 1
    return _go(state, leader, length(model, state, rule, leader.atom - x, -gap, 1.0))
