r"""The working set over atoms in blocks: each step minimises in memory and prices by one pass.

What `fwbench.kernels.working_set.pricing_rounds` does for listed atoms. In memory are the atoms in
use and the leaders of some hundred groups of atoms, which the last pass brought along.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.corral import root_of
from fwbench.geometry.combinations import Combinations
from fwbench.kernels.active_set import append, settle
from fwbench.kernels.working_set import EXACT, FW, GRADIENT, INNER, LMO, MATVEC
from fwbench.lowering import COUNTERS, counted
from fwbench.problem import QuadraticOverHull
from fwbench.reductions import Leaders, Reduced

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RootedBlocks:
    """A convex problem whose atoms lie in blocks; depends on the problem alone.

    Attributes
    ----------
    passes : Reduced
    mean, linear : ndarray, shape (d,)
        The atoms' mean μ, and the field there.
    root, stretch : ndarray, shape (r, d) and (d,)
        Q = R'R with R = root, or R = diag(stretch) where root has no rows.
    leaders : Leaders
        At the mean.
    shift, scale : float
        The largest squared norm in the coordinates of Q, 1 where all are 0; the problem's scale.
    """

    passes: Reduced
    mean: Array
    linear: Array
    root: Array
    stretch: Array
    leaders: Leaders
    shift: float
    scale: float

    def coordinates(self, offsets: Array) -> tuple[Array, Array]:
        """Return R(v − μ) and ⟨field, v − μ⟩ of atoms given from the mean, (k, r) and (k,)."""
        rows = offsets @ self.root.T if len(self.root) else offsets * self.stretch
        return np.ascontiguousarray(rows), offsets @ self.linear

    def field(self, y: Array) -> Array:
        """Return the field at the point of coordinates y (r,), shape (d,)."""
        bent = y @ self.root if len(self.root) else y * self.stretch
        return np.asarray(bent + self.linear)


def rooted_blocks(problem: QuadraticOverHull) -> RootedBlocks:
    """Factor Q = R'R, which must be semidefinite; one pass where the scale is not known yet."""
    found, passes, extent = root_of(problem.form, problem.d), problem.passes, problem.at_mean
    assert isinstance(passes, Reduced)  # whoever asks has looked
    assert found is not None
    return RootedBlocks(
        passes, problem.mean, problem.centred_c, *found, extent.leaders,
        shift=problem.quadratic_scale or 1.0, scale=problem.scale,
    )  # fmt: skip


@dataclass(eq=False)
class BlockedCorral:
    """Affinely independent atoms in use, their weights, and who led in the last pass.

    Attributes
    ----------
    mean : ndarray, shape (d,)
    arrays : tuple of ndarray
        (P, R, ones, bent, b, w, keys, size), see `fwbench.kernels.active_set`.
    start : Combinations
        Where the run began; only its heaviest atom is kept beyond step 0.
    atoms : ndarray, shape (k, d)
        The coordinates of the atoms in use, from the mean.
    x : ndarray, shape (r,)
        The point in the coordinates of Q, from the mean.
    leaders : Leaders
        Of the last pass; at first those at the mean.
    gap : float
        By the last pass.
    """

    mean: Array
    arrays: tuple[NDArray[Any], ...]
    start: Combinations
    atoms: Array
    x: Array
    leaders: Leaders
    gap: float
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(COUNTERS), np.int64))
    steps: int = 0
    done: bool = False
    claim: str | None = None

    @property
    def counters(self) -> dict[str, int]:
        """What was asked for so far, by name."""
        return counted(self.counts)

    @property
    def own_gap(self) -> float:
        """The gap by the last pass: says when a look is worthwhile, never what is true."""
        return self.gap

    def weights(self) -> Combinations:
        """Return the weights."""
        if self.steps == 0:
            return self.start
        k = int(self.arrays[7][0])
        return Combinations(np.array([0, k]), self.arrays[6][:k].copy(), self.arrays[5][:k].copy())

    def points(self) -> Array:
        """Return the point, shape (1, d)."""
        return np.asarray(self.mean + self.weights().data @ self.atoms)[None, :]


def blocked_corral(model: RootedBlocks, start: Combinations) -> BlockedCorral:
    """Return the state at the first combination of `start`; steps begin at its heaviest atom."""
    one = start.one(0)
    atoms = model.passes.rows(one.keys) - model.mean
    heaviest = int(np.argmax(one.data))
    rows, heights = model.coordinates(atoms[heaviest : heaviest + 1])
    r = rows.shape[1]
    most = min(model.passes.n, r + 1) + 1
    arrays = (
        np.zeros((most, r)), np.zeros((most, most)), np.zeros(most), np.zeros(most),
        np.zeros(most), np.zeros(most), np.zeros(most, dtype=np.int64), np.zeros(1, dtype=np.int64),
    )  # fmt: skip
    key = int(one.keys[heaviest])
    append(arrays, rows[0], float(heights[0]), key, model.shift, np.empty(most))
    arrays[5][0] = 1.0
    gap = -float(model.leaders.least.min())
    return BlockedCorral(
        model.mean, arrays, one, np.asarray(atoms), rows[0].copy(), model.leaders, gap
    )


def take_step(model: RootedBlocks, state: BlockedCorral) -> None:
    """Minimise over the atoms in use and the leaders, then price all atoms by one pass."""
    P, _, _, _, b, w, keys, used = state.arrays
    x, k, found = state.x, int(state.arrays[7][0]), state.leaders
    level = float(x @ x + b[:k] @ w[:k]) if state.steps else np.inf
    better = found.least < level
    offsets = found.rows[better] - model.mean
    rows, heights = model.coordinates(offsets)
    names = np.concatenate([keys[:k], found.keys[better]])
    atoms = state.atoms if state.steps else state.atoms[state.start.keys == keys[0]][:1]
    atoms = np.vstack([atoms, offsets])
    stop = max(INNER * state.gap, EXACT * model.scale)
    count = len(names)
    taken = settle(
        state.arrays, np.vstack([P[:k], rows]), np.concatenate([b[:k], heights]), names, count,
        model.shift, stop, x, np.zeros(1, np.bool_),
        (np.empty(count), np.empty(count, np.bool_)), (np.empty(len(w)), np.empty(len(x)),
        np.empty(len(w))),
    )  # fmt: skip
    k = int(used[0])
    order = np.argsort(names, kind="stable")
    state.atoms = atoms[order[np.searchsorted(names, keys[:k], sorter=order)]]
    state.leaders = model.passes.leaders(model.mean, model.field(x), 0.0)
    state.gap = max(float(x @ x + b[:k] @ w[:k]) - float(state.leaders.least.min()), 0.0)
    state.counts[[LMO, GRADIENT, MATVEC]] += 1
    state.counts[FW] += taken
    state.done = bool(state.gap <= EXACT * model.scale or (taken == 0 and state.steps > 0))
    state.steps += 1
