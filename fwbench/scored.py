r"""The state of score-cached methods: weights over the atoms in use, and the scores of all atoms.

Beside the centred atoms it holds few vectors of length n: the scores, two maps of half that size,
and the cache of columns, which shrinks to nothing where the atoms have few coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.kernels import plain
from fwbench.kernels.line import energy
from fwbench.kernels.pricing import BLOCK, NEW, PIECE, Hull, Kept, refresh
from fwbench.lowering import COUNTERS, Lowered, counted

MEBIBYTE = 2**20
SMALL = 4 * MEBIBYTE  # a cache of this size is no burden, however small the atoms
# Scores, maps, linear term and columns together take at most so many times the memory of the atoms.
BESIDE = 1.5
LINE = 64  # bytes of a line of the cache
STRETCH = 1024  # steps that one call may take before the list of atoms in use is given more room


@dataclass(eq=False)
class ScoredWeights:
    """Weights of the atoms in use and what is kept up to date beside them; one query.

    Attributes
    ----------
    mean : ndarray, shape (d,)
    weight, reach, active : ndarray, shape (room,)
        Weights, ⟨v, Qv⟩ + 2 linear, and keys of the atoms in use: the first ``size[0]`` places.
    size : ndarray of int, shape (1,)
    place : ndarray of int, shape (n,)
        Where an atom stands in the list, −1 if nowhere.
    y, x : ndarray, shape (r,) and (d,)
        The point in the coordinates of Q and in space, both from the mean.
    s : ndarray, shape (n,)
        Scores of all atoms.
    lows : ndarray, shape (ceil(n/512),)
        The least score of each block of atoms (`fwbench.kernels.pricing`).
    level : ndarray, shape (1,)
        ⟨linear, w⟩.
    estimate, phi : ndarray, shape (1,)
        The backtracking estimate; what a lazy method asks of a pair or a leader.
    columns, slot, owner, hand : ndarray
        The cache of score columns (`fwbench.kernels.pricing.seat`).
    directions, pieces : ndarray, shape (2, r) and (2, 2048)
        Written before they are read, in each step.
    counts : ndarray of int, shape (7,)
        In the order of `COUNTERS`.
    """

    mean: NDArray[Any]
    weight: NDArray[Any]
    reach: NDArray[Any]
    active: NDArray[np.int64]
    size: NDArray[np.int64]
    place: NDArray[np.int32]
    y: NDArray[Any]
    x: NDArray[Any]
    s: NDArray[Any]
    lows: NDArray[Any]
    level: NDArray[Any]
    estimate: NDArray[np.float64]
    phi: NDArray[np.float64]
    columns: NDArray[Any]
    slot: NDArray[np.int32]
    owner: NDArray[np.int64]
    hand: NDArray[np.int64]
    directions: NDArray[Any]
    pieces: NDArray[Any]
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(COUNTERS), np.int64))
    steps: int = 0
    done: bool = False
    claim: str | None = None

    @property
    def kept(self) -> Kept:
        """What kernels change in place."""
        listed = (self.weight, self.reach, self.active, self.size, self.place)
        scores = (self.y, self.x, self.s, self.lows, self.level, self.estimate)
        return Kept(
            *listed,
            *scores,
            self.columns,
            self.slot,
            self.owner,
            self.hand,
            self.counts,
            self.directions,
            self.pieces,
        )

    def stretches(self, steps: int) -> Iterator[tuple[int, int]]:
        """Yield (first step, how many) for calls that have room for an atom more a step."""
        end = self.steps + steps
        while self.steps < end:
            count = end - self.steps
            if len(self.active) < len(self.s):
                count = min(count, STRETCH)
                self._make_room(int(self.size[0]) + count)
            yield self.steps, count
            self.steps += count

    def _make_room(self, atoms: int) -> None:
        room = len(self.active)
        if room >= min(atoms, len(self.s)):
            return
        more = min(max(atoms, 2 * room), len(self.s)) - room
        for name in ("weight", "reach", "active"):
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.zeros(more, dtype=array.dtype)]))

    @property
    def w(self) -> NDArray[Any]:
        """The weights of all atoms, shape (n,)."""
        used = slice(self.size[0])
        w = np.full(len(self.s), 0 * self.weight[0], dtype=self.s.dtype)
        w[self.active[used]] = self.weight[used]
        return w

    @property
    def counters(self) -> dict[str, int]:
        """What was asked for so far, by name."""
        return counted(self.counts)

    @property
    def own_gap(self) -> float:
        """The gap by the kept scores: says when a look is worthwhile, never what is true."""
        used = slice(self.size[0])
        return float(np.dot(self.weight[used], self.s[self.active[used]] - self.lows.min()))

    def exact_points(self) -> NDArray[Any]:
        """Return the point, shape (1, d), in the arithmetic of the run."""
        return np.asarray(self.mean + self.x)[None, :]

    def points(self) -> NDArray[np.float64]:
        """Return the point as doubles, shape (1, d)."""
        return self.exact_points().astype(np.float64, copy=False)

    def weights(self) -> Combinations:
        """Return the weights as doubles, by rising keys."""
        used = slice(self.size[0])
        order = self.active[used].argsort()
        keys = self.active[used][order]
        data = self.weight[used][order].astype(np.float64, copy=False)
        return Combinations(np.array([0, len(keys)]), keys, data)


def aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an uninitialised array that begins where a line of the cache does.

    A vector that lies across two lines costs both; numpy aligns to 16 bytes.
    """
    if dtype.hasobject:
        return np.empty(shape, dtype=dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    buffer = np.empty(size + LINE, dtype=np.uint8)
    begin = -buffer.__array_interface__["data"][0] % LINE
    return buffer[begin : begin + size].view(dtype).reshape(shape)


def rows_of_cache(n: int, d: int, itemsize: int, cache_mebibytes: float) -> int:
    """Return how many columns are kept: within the limit, and within the memory of the atoms.

    Examples
    --------
    >>> rows_of_cache(1000, 50, 8, 64.0), rows_of_cache(100_000, 50, 8, 64.0)
    (524, 72)
    >>> rows_of_cache(10**6, 3, 8, 64.0)
    1
    """
    column = n * itemsize
    maps = 8 / itemsize  # two of int32
    bounded = max(int(SMALL / column), int(BESIDE * d - 2 - maps))
    return min(int(cache_mebibytes * MEBIBYTE / column), bounded, n)


def scored(
    model: Lowered, start: Combinations, cache_mebibytes: float, *, spare: int = 0
) -> ScoredWeights:
    """Return the state at the first combination of `start`, its column cache empty.

    `spare` rows of `columns` stand behind those of the cache, for columns that are not kept.
    """
    n, r = model.left.shape
    d = model.points.shape[1]
    kind = model.left.dtype
    number = Fraction if model.exact else kind.type
    given: dict[int, Any] = {}
    one = start.one(0)
    for key, share in zip(one.keys.tolist(), one.data.tolist(), strict=True):
        given[key] = given.get(key, number(0)) + number(share)
    given = {key: given[key] for key in sorted(given) if given[key] != 0}
    room = min(n, len(given) + STRETCH)
    rows = max(rows_of_cache(n, d, kind.itemsize, cache_mebibytes) - spare, 0)
    state = ScoredWeights(
        mean=model.mean,
        weight=np.full(room, number(0), dtype=kind),
        reach=np.full(room, number(0), dtype=kind),
        active=np.zeros(room, dtype=np.int64),
        size=np.array([len(given)]),
        place=np.full(n, -1, dtype=np.int32),
        y=np.full(r, number(0), dtype=kind),
        x=np.full(d, number(0), dtype=kind),
        s=aligned((n,), kind),
        lows=np.full(-(-n // BLOCK), number(0), dtype=kind),
        level=np.full(1, number(0), dtype=kind),
        # far below any curvature: the first search doubles it up to the right size
        estimate=np.full(1, np.finfo(np.float64).tiny),
        phi=np.zeros(1),
        columns=aligned((rows + spare, -(-n // LINE) * LINE), kind),
        slot=np.full(n, NEW, dtype=np.int32),
        owner=np.full(rows, -1, dtype=np.int64),
        hand=np.zeros(1, dtype=np.int64),
        directions=np.full((2, r), number(0), dtype=kind),
        pieces=np.full((2, min(n, PIECE)), number(0), dtype=kind),
    )
    keys = np.fromiter(given, dtype=np.int64, count=len(given))
    state.active[: len(keys)] = keys
    state.place[keys] = np.arange(len(keys))
    make, square = (plain(refresh), plain(energy)) if model.exact else (refresh, energy)
    for p, (key, share) in enumerate(given.items()):
        state.weight[p] = share
        state.reach[p] = square(model.signs, model.right[key]) + 2 * model.linear[key]
    make(
        *model.arrays, state.weight, state.active, len(keys),
        state.y, state.x, state.s, state.lows, state.level, state.directions[0],
    )  # fmt: skip
    return state


def hull_of(model: Lowered, lipschitz: float = 0.0) -> Hull:
    """Return a lowered problem as kernels take it."""
    left, right, signs, linear, points = model.arrays
    return Hull(left, right, signs, linear, points, lipschitz, model.tie)
