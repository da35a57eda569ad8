"""Passes over atoms in blocks: each is one reduction, of every piece to a few numbers.

The verbs are those of `fwbench.listed.Listed`. A pass over a whole data set finds, for some
hundred groups of atoms, who leads each and where that atom is, so that a method need not ask again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fwbench.blocks import Blocks
from fwbench.chunked import Chunked, is_dask
from fwbench.errors import InvalidProblem, Refused
from fwbench.geometry.forms import Diagonal, Form, LowRank, Scalar
from fwbench.kernels.passes import (
    block_minima,
    extent,
    farthest,
    first_within,
    least,
    offsets_mean,
)
from fwbench.listed import LARGEST_BLOCK, MOST_BLOCKS, Extent, steepness, wanted_blocks
from fwbench.pieces import Held, Results, Source, spans

Array = NDArray[np.float64]

MOST_LEADERS = 2 * MOST_BLOCKS  # that a pass brings along: rows as wide as the atoms
# Of atoms in blocks; a test compares this with the solvers that say so of themselves.
BLOCKWISE = ("away_steps", "blended_pairwise", "frank_wolfe", "pairwise", "working_set")


def in_blocks(atoms: Any) -> Source | None:
    """Return atoms that are not in memory at once as a source of pieces; None for others.

    Raises
    ------
    InvalidProblem
        For a Dask array that cannot be read by rows.
    """
    if isinstance(atoms, Blocks | Chunked | Held):
        return atoms
    return Chunked(atoms) if is_dask(atoms) else None


@dataclass(frozen=True, eq=False)
class Leaders:
    """Who leads each group of atoms.

    Attributes
    ----------
    keys : ndarray of int, shape (groups,)
        The lowest key whose score is within `tie` of the group's least.
    scores, least : ndarray, shape (groups,)
        Its score ⟨field, v − μ⟩, and the least of its group.
    rows : ndarray, shape (groups, d)
        Its coordinates, float64.
    begin, end : ndarray of int, shape (groups,)
        The keys of the group: from, up to.
    """

    keys: NDArray[np.int64]
    scores: Array
    least: Array
    rows: Array
    begin: NDArray[np.int64]
    end: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: list[Leaders]) -> Leaders:
        """Put those of several pieces behind each other."""
        names = ("keys", "scores", "least", "rows", "begin", "end")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def thinned(self, tie: float) -> Leaders:
        """Return one leader for several groups where there are more than `MOST_LEADERS`.

        The keys of a group are then those of all of them, for whoever looks at it again.
        """
        if len(self.keys) <= MOST_LEADERS:
            return self
        # cut by keys: by number, what is thinned again and again would pile up in the first group
        stretch = -(-(self.end[-1] - self.begin[0]) // MOST_LEADERS)
        firsts = np.flatnonzero(np.diff((self.begin - self.begin[0]) // stretch, prepend=-1))
        ends = np.append(firsts[1:], len(self.keys))
        least = np.minimum.reduceat(self.least, firsts)
        near = self.least <= np.repeat(least + tie, ends - firsts)
        kept = [
            first + int(near[first:end].argmax()) for first, end in zip(firsts, ends, strict=True)
        ]
        return Leaders(
            self.keys[kept], self.scores[kept], least, self.rows[kept], self.begin[firsts],
            self.end[ends - 1],
        )  # fmt: skip


class Reduced:
    """Passes over atoms that are not in memory at once.

    Parameters
    ----------
    source : Source
    """

    in_memory = False

    def __init__(self, source: Source) -> None:
        self.source = source
        self.n, self.d = source.n, source.d
        wanted = -(-self.n // wanted_blocks(self.d))
        self.block = min(wanted, LARGEST_BLOCK)
        # blocks that share a leader: scores of a block stay in the fastest cache, and there are
        # never many more leaders than can hold a support
        self.together = -(-wanted // self.block)

    @property
    def packed(self) -> NoReturn:
        """No array; says why."""
        raise Refused(
            "this needs the atoms in memory, but they lie in blocks; of these only "
            f"{', '.join(BLOCKWISE)} make do with passes over them"
        )

    def mean(self) -> Array:
        """Return the mean of the atoms, shape (d,); an entry that is not finite shows here."""
        [(_, first, offsets, bad)] = self.source.reduce("mean", _mean, fold=_whole_mean)
        if bad is not None:
            key, column, value = bad
            raise InvalidProblem(
                f"atoms must be finite; got {value} in column {column} of "
                f"{self.source.where(key)} (missing values in the data?)"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(first + offsets)

    def extent(self, mean: Array, form: Form, field: Array) -> Extent:
        """Return how far the atoms reach from the mean, and who leads there."""
        [(sizes, leaders)] = self.source.reduce(
            "extent", _extent, mean, form, field, self.block, self.together, fold=_whole_extent
        )
        # of a field: the product of two lengths, which need not belong to one atom
        square, height, reach = float(sizes[0] * sizes[1]), float(sizes[2]), float(sizes[3])
        return Extent(square, height, leaders.keys, leaders.least, leaders, reach)

    def width(self) -> float:
        """Return the difference of the largest and the smallest coordinate."""
        least, largest = zip(*self.source.reduce("width", _width), strict=True)
        return float(max(largest) - min(least))

    def widest(self, mean: Array, root: Array) -> float:
        """Return max ‖root'(v − μ)‖² over the atoms, for root (d, r)."""
        return float(max(self.source.reduce("kind", _widest, mean, root)))

    def least(self, mean: Array, field: Array) -> float:
        """Return the least ⟨field, v − μ⟩; a score that is not a number is the least."""
        return float(np.min(self.source.reduce("least", _least, mean, field)))

    def leaders(self, mean: Array, field: Array, tie: float) -> Leaders:
        """Return who leads each group of atoms; one pass."""
        parts = self.source.reduce(
            "leaders", _leaders, mean, field, self.block, self.together, tie,
            fold=partial(_whole_leaders, tie=tie),
        )  # fmt: skip
        return Leaders.joined(parts).thinned(tie)

    def foremost(self, mean: Array, field: Array, tie: float, found: Leaders) -> tuple[int, Array]:
        """Return key and coordinates of who leads all groups: the lowest key within `tie`.

        Where a group's first atom within `tie` of its own least is not within `tie` of the least
        of all, that group is read again.
        """
        bound = found.least.min() + tie
        group = int(np.argmax(found.least <= bound))
        key, row = int(found.keys[group]), found.rows[group]
        if not found.scores[group] <= bound < np.inf:
            begin, end = int(found.begin[group]), int(found.end[group])
            for first, last in spans(end - begin, self.d):  # one of many may be large
                piece = self.source.rows(np.arange(begin + first, begin + last))
                within = np.flatnonzero((piece - mean) @ field <= bound)
                if len(within):
                    return begin + first + int(within[0]), piece[within[0]].astype(np.float64)
        return key, row

    def leader(self, mean: Array, field: Array, tie: float, at_mean: Extent | None = None) -> int:
        """Return the lowest key whose ⟨field, v − μ⟩ is within `tie` of the least."""
        found = self.leaders(mean, field, tie) if at_mean is None else at_mean.leaders
        if at_mean is not None:  # made before the tie was known: look again
            found = Leaders(
                found.keys, np.full(len(found.keys), np.inf), found.least, found.rows,
                found.begin, found.end,
            )  # fmt: skip
        return self.foremost(mean, field, tie, found)[0]

    def least_value(self, mean: Array, form: Form, field: Array) -> float:
        """Return the least f(v) − f(μ) over the atoms."""
        return float(min(self.source.reduce("vertices", _least_value, mean, form, field)))

    def rows(self, keys: NDArray[np.int64]) -> NDArray[Any]:
        """Return single atoms, shape (len(keys), d)."""
        if keys.size and not 0 <= keys.min() <= keys.max() < self.n:
            raise InvalidProblem(f"keys name atoms 0 to {self.n - 1}; got {keys}")
        return self.source.rows(keys)

    def content(self) -> bytes:
        """Return hashes of all pieces, one after the other: a pass of its own."""
        return b"".join(self.source.reduce("fingerprint", _digest))


# -- what becomes of a piece -----------------------------------------------------------------

Entry = tuple[int, int, float]


def _mean(piece: NDArray[Any], first: int) -> tuple[int, Array, Array, Entry | None]:
    """Return how many, the first atom, the mean of differences to it, an entry not finite."""
    offsets = np.empty(piece.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        offsets_mean(piece, offsets)
    bad = None
    if not np.isfinite(offsets).all() and not (finite := np.isfinite(piece)).all():
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        bad = first + row, column, float(piece[row, column])
    return len(piece), piece[0].astype(np.float64), offsets, bad


def _whole_mean(parts: Results) -> Results:
    """Return what `_mean` returns, of several pieces together."""
    count = sum(many for many, _, _, _ in parts)
    origin, total = parts[0][1], np.zeros(len(parts[0][1]))
    with np.errstate(over="ignore", invalid="ignore"):
        for many, first, offsets, _ in parts:
            total += many / count * (first - origin + offsets)
    bad = next((entry for _, _, _, entry in parts if entry is not None), None)
    return [(count, origin, total, bad)]


def _extent(
    piece: NDArray[Any],
    first: int,
    mean: Array,
    form: Form,
    field: Array,
    block: int,
    together: int,
) -> tuple[tuple[float, ...], Leaders]:
    """Return sizes and leaders; sizes are (‖·‖² in the norm of |Q|, 1, height, ‖·‖²).

    Those of a field begin with (length, length of Q·, …).
    """
    blocks = -(-len(piece) // block)
    keys, scores = np.empty(blocks, dtype=np.int64), np.empty(blocks)
    sizes = steepness(form, len(mean))
    square, height = extent(piece, mean, sizes, field, keys, scores, block)
    other = 1.0
    if isinstance(form, LowRank):
        offsets = piece - mean
        square = np.linalg.norm(offsets, axis=1).max()
        other = np.linalg.norm(form.apply(offsets), axis=1).max()
    elif not isinstance(form, Scalar | Diagonal):
        square = form.scale(piece - mean)
    leaders = _grouped(piece, first, mean, field, keys, scores, block, together, 0.0)
    reach = farthest(piece, mean, np.ones(len(mean)))
    return (float(square), float(other), float(height), float(reach)), leaders


def _whole_extent(parts: Results) -> Results:
    sizes = np.max([sizes for sizes, _ in parts], axis=0)
    return [(tuple(sizes.tolist()), Leaders.joined([found for _, found in parts]).thinned(0.0))]


def _whole_leaders(parts: Results, tie: float) -> Results:
    return [Leaders.joined(parts).thinned(tie)]


def _width(piece: NDArray[Any], first: int) -> tuple[float, float]:
    return float(piece.min()), float(piece.max())


def _widest(piece: NDArray[Any], first: int, mean: Array, root: Array) -> float:
    return float((((piece - mean) @ root) ** 2).sum(axis=1).max())


def _least(piece: NDArray[Any], first: int, mean: Array, field: Array) -> float:
    return float(least(piece, mean, field))


def _least_value(piece: NDArray[Any], first: int, mean: Array, form: Form, field: Array) -> float:
    offsets = piece - mean
    return float((offsets * (form.apply(offsets) / 2 + field)).sum(axis=1).min())


def _leaders(
    piece: NDArray[Any], first: int, mean: Array, field: Array, block: int, together: int,
    tie: float,
) -> Leaders:  # fmt: skip
    blocks = -(-len(piece) // block)
    keys, scores = np.empty(blocks, dtype=np.int64), np.empty(blocks)
    block_minima(piece, mean, field, keys, scores, block)
    return _grouped(piece, first, mean, field, keys, scores, block, together, tie)


def _grouped(
    piece: NDArray[Any], first: int, mean: Array, field: Array, keys: NDArray[np.int64],
    scores: Array, block: int, together: int, tie: float,
) -> Leaders:  # fmt: skip
    """Return the leaders of groups of `together` blocks, from those of the blocks."""
    groups = range(0, len(scores), together)
    lead, own, lowest, begins, ends = [], [], [], [], []
    for g in groups:
        part = slice(g, g + together)
        best = g + int(scores[part].argmin())
        begin, end = g * block, min(len(piece), (g + together) * block)
        key, score = int(keys[best]), float(scores[best])
        if tie > 0:
            low = begin + int(
                first_within(
                    piece[begin:end], mean, field, score + tie, keys[part] - begin, scores[part],
                    block,
                )
            )  # fmt: skip
            if low != key:
                key, score = low, float((piece[low] - mean) @ field)
        lead.append(key)
        own.append(score)
        lowest.append(float(scores[best]))
        begins.append(first + begin)
        ends.append(first + end)
    rows = piece[lead].astype(np.float64)
    return Leaders(
        first + np.array(lead), np.array(own), np.array(lowest), rows, np.array(begins),
        np.array(ends),
    )  # fmt: skip


def _digest(piece: NDArray[Any], first: int) -> bytes:
    return hashlib.sha256(piece.tobytes()).digest()
