r"""The state of exact methods: affinely independent atoms in use, their weights and a factor.

The hull is not lowered: :math:`Q = R^⊤R` alone is factored, and kernels read the atoms as they
are, so that preparing costs no pass over them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Diagonal, Form, Scalar, along, semidefinite_root
from fwbench.kernels.active_set import append
from fwbench.kernels.working_set import INNER, coordinates
from fwbench.lowering import COUNTERS, counted
from fwbench.problem import TIE, QuadraticOverHull

Array = NDArray[np.float64]

MANY = 4096  # with fewer atoms a pass costs too little to be saved


@dataclass(frozen=True, eq=False)
class Rooted:
    """A convex problem for exact methods; depends on the problem alone.

    Attributes
    ----------
    hull : tuple
        What kernels take: (atoms, mean, root, stretch, field), see `fwbench.kernels.working_set`.
    atoms, mean : ndarray, shape (n, d) and (d,)
        In space; `hull` holds coordinates instead where Q is convex along the hull alone.
    rank : int
        Coordinates of an atom.
    at_mean : tuple of ndarray, shape (blocks,) each
        The leaders of blocks of atoms at the mean, and their scores.
    block : int
        How many atoms share a block.
    shift : float
        The largest squared norm in them, 1 where all are 0.
    scale, tie : float
    """

    hull: tuple[NDArray[Any], ...]
    atoms: NDArray[Any]
    mean: Array
    rank: int
    at_mean: tuple[NDArray[np.int64], Array]
    block: int
    shift: float
    scale: float
    tie: float

    @property
    def sizes(self) -> tuple[float, float, float]:
        """The shift of the factor, the problem's scale, and what counts as a tie."""
        return self.shift, self.scale, self.tie


def root_of(form: Form, d: int) -> tuple[Array, Array] | None:
    """Return root (r, d) and stretch (d,) with Q = R'R, R = root or, without rows, diag(stretch).

    None where Q is not positive semidefinite. O(d³) for a dense Q, nothing for a diagonal one.
    """
    if isinstance(form, Scalar | Diagonal) and (np.asarray(form.q) >= 0).all():
        return np.empty((0, d)), np.ones(d) * np.sqrt(form.q)
    if (found := semidefinite_root(form)) is not None:
        return np.array(found, order="C"), np.zeros(d)  # Q = 0 leaves no row
    return None


def rooted(problem: QuadraticOverHull) -> Rooted:
    """Factor Q = R'R for exact methods."""
    d, form = problem.d, problem.form
    atoms, mean, linear = problem.packed, problem.mean, problem.centred_c
    if (factored := root_of(form, d)) is not None:
        root, stretch = factored
    else:  # convex along differences of atoms alone: its coordinates are the atoms
        left, _, signs = form.factors(problem.centred)
        Y = along(left, signs)
        atoms = np.column_stack([Y, problem.centred @ linear])
        atoms.setflags(write=False)
        d = atoms.shape[1]
        mean, linear = np.zeros(d), np.eye(d)[-1]
        root, stretch = np.eye(d)[:-1], np.zeros(d)
    return Rooted(
        hull=(atoms, mean, root, stretch, linear),
        atoms=problem.packed,
        mean=problem.mean,
        rank=len(root) or d,
        at_mean=problem.leaders_at_mean,
        block=problem.block,
        shift=problem.quadratic_scale or 1.0,
        scale=problem.scale,
        tie=TIE[np.dtype(np.float64)] * problem.scale,  # passes are taken in doubles
    )


@dataclass(eq=False)
class Corral:
    """Affinely independent atoms, their weights and what exact methods keep beside them.

    Attributes
    ----------
    model : Rooted
    arrays : tuple of ndarray
        (P, R, ones, bent, b, w, keys, size), see `fwbench.kernels.active_set`.
    start : Combinations
        Where the run began; only its heaviest atom is kept beyond step 0.
    x : ndarray, shape (r,)
        The point in the coordinates of Q, from the mean.
    gap : ndarray, shape (1,)
        By the last pass; the first one is the problem's own, taken at the mean.
    lead : ndarray of int, shape (1,)
        Who led in it.
    leaders, minima : ndarray, shape (blocks,)
        Who led each block of atoms in it, and the scores.
    visited : ndarray of int
        Whoever led so far, where a method keeps the list.
    """

    model: Rooted
    arrays: tuple[NDArray[Any], ...]
    start: Combinations
    x: Array
    gap: Array
    lead: NDArray[np.int64]
    leaders: NDArray[np.int64]
    minima: Array
    visited: NDArray[np.int64]
    near: tuple[NDArray[Any], ...]
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(COUNTERS), np.int64))
    steps: int = 0
    done: bool = False
    claim: str | None = None

    @property
    def kept(self) -> tuple[NDArray[Any], ...]:
        """What kernels keep of the last pass."""
        return self.x, self.gap, self.lead, self.leaders, self.minima

    @property
    def size(self) -> int:
        """How many atoms are in use."""
        return int(self.arrays[7][0])

    @property
    def counters(self) -> dict[str, int]:
        """What was asked for so far, by name."""
        return counted(self.counts)

    @property
    def own_gap(self) -> float:
        """The gap by the last pass: says when a look is worthwhile, never what is true."""
        return float(self.gap[0])

    def weights(self) -> Combinations:
        """Return the weights."""
        if self.steps == 0:
            return self.start
        k = self.size
        return Combinations(np.array([0, k]), self.arrays[6][:k].copy(), self.arrays[5][:k].copy())

    def points(self) -> Array:
        """Return the point, shape (1, d)."""
        used, mean = self.weights(), self.model.mean
        return np.asarray(mean + used.data @ (self.model.atoms[used.keys] - mean))[None, :]


def corral(model: Rooted, start: Combinations) -> Corral:
    """Return the state at the heaviest atom of the first combination of `start`."""
    one = start.one(0)
    heaviest = int(one.keys[np.argmax(one.data)])
    r = model.rank
    n, d = model.hull[0].shape
    room = n // 16 if n >= MANY else 0
    most = min(n, r + 1) + 1
    arrays = (
        np.zeros((most, r)), np.zeros((most, most)), np.zeros(most), np.zeros(most),
        np.zeros(most), np.zeros(most), np.zeros(most, dtype=np.int64), np.zeros(1, dtype=np.int64),
    )  # fmt: skip
    x = np.empty(r)
    height = coordinates(model.hull, heaviest, x)
    append(arrays, x, height, heaviest, model.shift, np.empty(most))
    arrays[5][0] = 1.0
    leaders, scores = model.at_mean
    return Corral(
        model, arrays, one, x,
        gap=np.array([-scores.min()]),
        lead=np.array([heaviest]),
        leaders=leaders.copy(),
        minima=scores.copy(),
        visited=np.array([heaviest]),
        near=(
            np.empty(room, dtype=np.int64), np.empty((room, d), dtype=model.hull[0].dtype),
            np.empty(r), np.array([0.0, 0.0, 0.0, INNER]),
        ),
    )  # fmt: skip
