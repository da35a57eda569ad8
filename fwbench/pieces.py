"""Pieces of atoms: the slices in which what is larger than memory is looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwbench.geometry.inputs import read_only, real_array

PIECE = 2**22  # bytes of a piece: it stays in a cache while all is taken from it
FOLD = 256  # results of pieces that may pile up where they can be folded into fewer

Results = list[Any]
Fold = Callable[[Results], Results]


class Source(Protocol):
    """Atoms that are not in memory at once.

    Attributes
    ----------
    n, d : int
    dtype : numpy.dtype
        Of the pieces: float64, or float32 if all atoms are.
    passes : Counter of str
        How many passes over all atoms were made so far, by what they found.
    bytes_read : int
        Of atoms, by passes and single rows.
    """

    n: int
    d: int
    dtype: np.dtype[Any]
    passes: Counter[str]
    bytes_read: int

    def reduce(
        self,
        purpose: str,
        function: Callable[..., Any],
        *arguments: Any,
        fold: Fold | None = None,
    ) -> Results:
        """Return ``function(piece, first, *arguments)`` of each piece, in order: one pass.

        A piece is (rows, d), in C order, read-only, and gone once the function has returned;
        `first` is the key of its first atom. `fold` takes results of pieces that follow each
        other and returns fewer: of wide atoms pieces are many, and rows are as large as pieces.
        Both functions must be known by their module's name.
        """

    def rows(self, keys: ArrayLike) -> NDArray[Any]:
        """Return the coordinates of the atoms with these keys, shape (len(keys), d)."""

    def where(self, key: int) -> str:
        """Return where an atom lies, for people."""


def spans(n: int, d: int) -> Iterator[tuple[int, int]]:
    """Yield first and last row of pieces of n atoms in d coordinates.

    Examples
    --------
    >>> list(spans(5, 2**18))
    [(0, 2), (2, 4), (4, 5)]
    """
    rows = max(1, PIECE // (8 * d))
    for first in range(0, n, rows):
        yield first, min(n, first + rows)


def folded(results: Results, fold: Fold | None, most: int = 1) -> Results:
    """Return results, folded where there are more than `most` and a fold is given."""
    return results if fold is None or len(results) <= most else fold(results)


def canonical(name: str, raw: ArrayLike, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return atoms as passes take them: of one type, in C order, read-only.

    Raises
    ------
    InvalidProblem
        For objects, complex numbers, truth values, integers beyond 2**53.
    """
    array = real_array(name, raw, finite=False).astype(dtype, copy=False)
    # what comes over a network may lie anywhere: passes are compiled for memory that is aligned
    return read_only(np.require(array, requirements=["C", "A"]))


class Held:
    """A few atoms in memory as a source: a slice of one that is larger, for trying things out.

    Parameters
    ----------
    atoms : ndarray, shape (n, d)
    """

    def __init__(self, atoms: NDArray[Any]) -> None:
        self.atoms = canonical("atoms", atoms, atoms.dtype)
        self.dtype: np.dtype[Any] = atoms.dtype
        self.n, self.d = self.shape = atoms.shape
        self.passes: Counter[str] = Counter()
        self.bytes_read = 0

    def reduce(
        self,
        purpose: str,
        function: Callable[..., Any],
        *arguments: Any,
        fold: Fold | None = None,
    ) -> Results:
        """Return ``function(piece, first, *arguments)`` of each piece, in order: one pass."""
        self.passes[purpose] += 1
        pieces = spans(self.n, self.d)
        found = [function(self.atoms[first:last], first, *arguments) for first, last in pieces]
        return folded(found, fold)

    def rows(self, keys: ArrayLike) -> NDArray[Any]:
        """Return the coordinates of the atoms with these keys, shape (len(keys), d)."""
        return self.atoms[np.asarray(keys, dtype=np.int64)]

    def where(self, key: int) -> str:
        """Return in which row an atom lies."""
        return f"row {key}"
