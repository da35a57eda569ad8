r"""The one place that turns (V, Q, c) into what kernels work on, and the state that they move.

With the atoms centred at their mean μ and x = V'w, the scores of all atoms are
:math:`s = left\,(signs ∘ right^⊤ w) + linear`, and :math:`⟨d, Qd⟩ = \sum signs ∘ (right^⊤ δ)^2`
for a direction δ in weights. General Q become two factors; exact arithmetic needs no centring.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind, spectral_norm, through
from fwbench.kernels import plain
from fwbench.kernels.pricing import refresh
from fwbench.problem import QuadraticOverHull

COUNTERS = ("lmo", "gradient", "matvec", "fw", "away", "pairwise", "drop")
MEBIBYTE = 2**20


@dataclass(frozen=True, eq=False)
class Lowered:
    """A model for kernels; depends on the problem alone.

    Attributes
    ----------
    left, right : ndarray, shape (n, r)
        Centred atoms in the coordinates of Q (one array unless Q is not symmetric).
    signs : ndarray, shape (r,)
    linear : ndarray, shape (n,)
        The scores at the mean.
    points : ndarray, shape (n, d)
        Centred atoms.
    mean : ndarray, shape (d,)
    tie : number
        Scores within this of the least count as equal.
    kind : Kind
    start : Combinations
        Where the problem's queries start.
    """

    left: NDArray[Any]
    right: NDArray[Any]
    signs: NDArray[Any]
    linear: NDArray[Any]
    points: NDArray[Any]
    mean: NDArray[Any]
    tie: Any
    kind: Kind
    start: Combinations

    @property
    def exact(self) -> bool:
        """Whether all numbers are rationals."""
        return self.left.dtype == object

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What every kernel takes first."""
        return self.left, self.right, self.signs, self.linear, self.points


def lowered(problem: QuadraticOverHull) -> Lowered:
    """Lower a problem to float64, or float32 if its atoms are; one canonical layout (C order)."""
    left, right, signs = problem.form.factors(problem.centred)
    cast = np.dtype(problem.dtype)
    flat_left = np.ascontiguousarray(left, dtype=cast)
    return Lowered(
        left=flat_left,
        right=flat_left if right is left else np.ascontiguousarray(right, dtype=cast),
        signs=signs.astype(cast),
        linear=(problem.centred @ problem.centred_c).astype(cast),
        points=np.ascontiguousarray(problem.centred, dtype=cast),
        mean=problem.mean,
        tie=cast.type(problem.tie),
        kind=problem.kind,
        start=problem.start,
    )


def lowered_with_norm(problem: QuadraticOverHull, *, wanted: bool) -> tuple[Lowered, float]:
    """Lower a problem, and find the Lipschitz constant of its gradient if a step rule wants it."""
    return lowered(problem), spectral_norm(problem.form, problem.d) if wanted else 0.0


def lowered_exactly(problem: QuadraticOverHull) -> Lowered:
    """Lower a problem to Fractions, not centred: nothing cancels, and ties are equalities."""
    atoms = problem.exact_atoms
    return Lowered(
        left=atoms,
        right=through(problem.exact_chain, atoms),
        signs=np.full(problem.d, 1, dtype=object),
        linear=atoms @ problem.exact_c,
        points=atoms,
        mean=np.full(problem.d, Fraction(0), dtype=object),
        tie=Fraction(0),
        kind=problem.kind,
        start=problem.start,
    )


def counted(counts: NDArray[np.int64]) -> dict[str, int]:
    """Name counts in the order of `COUNTERS`."""
    return dict(zip(COUNTERS, counts.tolist(), strict=True))


@dataclass(eq=False)
class ScoredWeights:
    """Weights over all atoms and what is kept up to date beside them; one query.

    Attributes
    ----------
    w : ndarray, shape (n,)
    y, x : ndarray, shape (r,) and (d,)
        The point in the coordinates of Q and in space, both from the mean.
    s : ndarray, shape (n,)
        Scores of all atoms.
    level : ndarray, shape (1,)
        ⟨linear, w⟩.
    estimate : ndarray, shape (1,)
        The backtracking estimate.
    columns, slot, owner, hand : ndarray
        The cache of score columns (`fwbench.kernels.pricing.column`).
    active, size : ndarray of int, shape (n,) and (1,)
        The atoms in use, where a method keeps the list (the first ``size[0]`` places).
    counts : ndarray of int, shape (7,)
        In the order of `COUNTERS`.
    """

    mean: NDArray[Any]
    w: NDArray[Any]
    y: NDArray[Any]
    x: NDArray[Any]
    s: NDArray[Any]
    level: NDArray[Any]
    estimate: NDArray[Any]
    columns: NDArray[Any]
    slot: NDArray[np.int64]
    owner: NDArray[np.int64]
    hand: NDArray[np.int64]
    active: NDArray[np.int64]
    size: NDArray[np.int64]
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(COUNTERS), np.int64))
    steps: int = 0
    done: bool = False
    claim: str | None = None

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What the Frank-Wolfe kernels change in place."""
        kept = (self.w, self.y, self.x, self.s, self.level, self.estimate)
        return (*kept, self.columns, self.slot, self.owner, self.hand, self.counts)

    @property
    def counters(self) -> dict[str, int]:
        """What was asked for so far, by name."""
        return counted(self.counts)

    @property
    def own_gap(self) -> float:
        """The gap by the kept scores: says when a look is worthwhile, never what is true."""
        return float(np.dot(self.w, self.s) - self.s.min())

    def exact_points(self) -> NDArray[Any]:
        """Return the point, shape (1, d), in the arithmetic of the run."""
        return np.asarray(self.mean + self.x)[None, :]

    def points(self) -> NDArray[np.float64]:
        """Return the point as doubles, shape (1, d)."""
        return self.exact_points().astype(np.float64)

    def weights(self) -> Combinations:
        """Return the weights as doubles."""
        return Combinations.from_dense(self.w.astype(np.float64))


def scored(model: Lowered, start: Combinations, cache_mebibytes: float) -> ScoredWeights:
    """Return the state at the first combination of `start`, its column cache empty."""
    n, r = model.left.shape
    kind = model.left.dtype
    zero = Fraction(0) if model.exact else kind.type(0)
    w = np.full(n, zero, dtype=kind)
    one = start.one(0)
    for key, weight in zip(one.keys, one.data, strict=True):
        w[key] += Fraction(weight) if model.exact else kind.type(weight)
    used = np.flatnonzero(w)
    rows = int(cache_mebibytes * MEBIBYTE / (n * kind.itemsize))
    state = ScoredWeights(
        mean=model.mean,
        w=w,
        y=np.full(r, zero, dtype=kind),
        x=np.full(model.points.shape[1], zero, dtype=kind),
        s=np.full(n, zero, dtype=kind),
        level=np.full(1, zero, dtype=kind),
        # far below any curvature: the first search doubles it up to the right size
        estimate=np.full(1, np.finfo(np.float64).tiny),
        columns=np.empty((min(max(rows, 2), max(n, 2)), n), dtype=kind),
        slot=np.full(n, -1, dtype=np.int64),
        owner=np.full(max(n, 2), -1, dtype=np.int64),
        hand=np.zeros(1, dtype=np.int64),
        active=np.concatenate([used, np.zeros(n - len(used), dtype=np.int64)]),
        size=np.array([len(used)]),
    )
    fill = plain(refresh) if model.exact else refresh
    fill(*model.arrays, state.w, state.y, state.x, state.s, state.level)
    return state
