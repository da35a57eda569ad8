"""Passes over atoms in memory: what a problem finds out about its hull."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.forms import Diagonal, Form, LowRank, Scalar
from fwbench.geometry.inputs import read_only
from fwbench.kernels.passes import (
    block_minima,
    extent,
    farthest,
    first_within,
    least,
    offsets_mean,
)

Array = NDArray[np.float64]

# Blocks of atoms whose leaders a pass finds: as many as can hold a support, few enough to be cheap,
# so small that their scores stay in the fastest cache.
FEWEST_BLOCKS, MOST_BLOCKS, LARGEST_BLOCK = 64, 512, 512
ENTRIES = 2**20  # of a block of centred atoms, where a block is multiplied by a matrix


class Extent(NamedTuple):
    r"""What one pass finds at the mean.

    Attributes
    ----------
    square, height : float
        max ‖v − μ‖² in the norm of \|Q\|, of a field max ‖v − μ‖ max ‖Q(v − μ)‖; and
        max |⟨F(μ), v − μ⟩|.
    keys, scores : ndarray, shape (blocks,)
        The leader of each block of atoms at μ, and its score ⟨F(μ), v − μ⟩.
    leaders : object
        What passes over blocks on disk know of these leaders beside; None for listed atoms.
    reach : float
        max ‖v − μ‖², where it is found beside; NaN for listed atoms.
    """

    square: float
    height: float
    keys: NDArray[np.int64]
    scores: Array
    leaders: Any = None
    reach: float = np.nan


def wanted_blocks(d: int) -> int:
    """Return how many blocks of atoms a pass tells apart, at most."""
    return min(max(FEWEST_BLOCKS, 2 * d), MOST_BLOCKS)


def steepness(form: Form, d: int) -> Array:
    """Return |q| by coordinate (d,) for a Q that is diagonal, zeros for others."""
    sizes = np.zeros(d)
    if isinstance(form, Scalar | Diagonal):
        sizes[:] = np.abs(form.q)
    return sizes


class Listed:
    """Passes over atoms in memory, which leave nothing of their size.

    Parameters
    ----------
    packed : ndarray, shape (n, d)
        In C order, read-only.
    """

    in_memory = True

    def __init__(self, packed: NDArray[Any]) -> None:
        self.packed = packed
        self.n, self.d = packed.shape

    @cached_property
    def block(self) -> int:
        """How many atoms share a block of a pass."""
        return int(min(-(-self.n // wanted_blocks(self.d)), LARGEST_BLOCK))

    def mean(self) -> Array:
        """Return the mean of the atoms, shape (d,)."""
        # the mean of the differences to one atom keeps the digits of a cloud far from 0
        offsets = np.empty(self.d)
        with np.errstate(over="ignore", invalid="ignore"):
            offsets_mean(self.packed, offsets)
            return np.asarray(self.packed[0] + offsets)

    def _offsets(self, mean: Array) -> Iterator[Array]:
        """Yield atoms from the mean, in parts that can be multiplied by a matrix."""
        rows = max(1, ENTRIES // self.d)
        for first in range(0, self.n, rows):
            yield self.packed[first : first + rows] - mean

    def extent(self, mean: Array, form: Form, field: Array) -> Extent:
        """Return how far the atoms reach from the mean, and who leads there."""
        keys, scores = self._room()
        sizes = steepness(form, self.d)
        square, height = extent(self.packed, mean, sizes, field, keys, scores, self.block)
        if isinstance(form, LowRank):
            square = form.scale(self.packed - mean)
        elif not isinstance(form, Scalar | Diagonal):
            square = max(form.scale(offsets) for offsets in self._offsets(mean))
        return Extent(float(square), float(height), read_only(keys), read_only(scores))

    def _room(self) -> tuple[NDArray[np.int64], Array]:
        blocks = -(-self.n // self.block)
        return np.empty(blocks, dtype=np.int64), np.empty(blocks)

    def width(self) -> float:
        """Return the difference of the largest and the smallest coordinate."""
        return float(np.ptp(self.packed))

    def farthest(self, mean: Array) -> float:
        """Return the largest squared distance of an atom to the mean."""
        return float(farthest(self.packed, mean, np.ones(self.d)))

    def widest(self, mean: Array, root: Array) -> float:
        """Return max ‖root'(v − μ)‖² over the atoms, for root (d, r)."""
        return float(max(((o @ root) ** 2).sum(axis=1).max() for o in self._offsets(mean)))

    def least(self, mean: Array, field: Array) -> float:
        """Return the least ⟨field, v − μ⟩."""
        return float(least(self.packed, mean, field))

    def leader(self, mean: Array, field: Array, tie: float, at_mean: Extent | None = None) -> int:
        """Return the lowest key whose ⟨field, v − μ⟩ is within `tie` of the least.

        `at_mean` spares a pass where the field is that at the mean.
        """
        if at_mean is None:
            keys, scores = self._room()
            block_minima(self.packed, mean, field, keys, scores, self.block)
        else:
            keys, scores = at_mean.keys, at_mean.scores
        bound = scores.min() + tie
        return int(first_within(self.packed, mean, field, bound, keys, scores, self.block))

    def rows(self, keys: NDArray[np.int64]) -> NDArray[Any]:
        """Return single atoms, shape (len(keys), d)."""
        return self.packed[keys]

    def content(self) -> bytes:
        """Return the atoms' bytes: what a fingerprint is made from."""
        return self.packed.tobytes()
