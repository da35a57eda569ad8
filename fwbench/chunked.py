"""A Dask array as atoms: each pass is one graph, computed where the chunks are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwbench.errors import FwbenchError, InvalidProblem, said
from fwbench.pieces import FOLD, Fold, Held, Results, canonical, folded, spans

Declared = tuple[int, tuple[int, int], np.dtype[Any]]  # number, shape and dtype of a chunk


def is_dask(atoms: Any) -> bool:
    """Say whether something is a collection of Dask; Dask is not imported for that."""
    return hasattr(atoms, "__dask_graph__")


class Chunked:
    """Atoms in a Dask array (n, d), chunked along its rows alone.

    A pass is one graph: each chunk is reduced to a few numbers where it is, by whatever scheduler
    is active (threads, or a distributed client), one chunk a thread in memory at a time.

    Parameters
    ----------
    array : dask.array.Array, shape (n, d)

    Attributes
    ----------
    n, d : int
    dtype : numpy.dtype
        float32 if the array is, else float64.
    passes : Counter of str
        How many passes over all atoms were made so far, by what they found.
    bytes_read : int
        Of atoms, by passes and single rows (of these, the whole chunks that hold them).

    Raises
    ------
    InvalidProblem
        Names the rule, what came and the likely slip.
    """

    def __init__(self, array: Any) -> None:
        import dask.array

        if not isinstance(array, dask.array.Array):
            raise InvalidProblem(
                f"atoms must be a Dask array; got {type(array).__name__} of Dask (a data frame? "
                "call .to_dask_array(lengths=True))"
            )
        if array.ndim != 2:
            raise InvalidProblem(
                f"atoms must be 2-D (n, d), one atom a row; got a Dask array of shape {array.shape}"
            )
        if any(np.isnan(many) for chunks in array.chunks for many in chunks):
            raise InvalidProblem(
                "atoms: the Dask array does not know the sizes of its chunks; call "
                ".compute_chunk_sizes() on it first"
            )
        if len(array.chunks[1]) > 1:
            raise InvalidProblem(
                f"atoms: each chunk of the Dask array must hold all {array.shape[1]} columns; they "
                f"lie in {len(array.chunks[1])} (call .rechunk({{1: -1}}))"
            )
        if 0 in array.shape:
            raise InvalidProblem(
                f"atoms must hold at least one atom of d >= 1; got {tuple(array.shape)}"
            )
        if type(array._meta) is not np.ndarray or array.dtype.kind not in "iuf":
            raise InvalidProblem(
                "atoms must hold real numbers in numpy arrays; the chunks are "
                f"{type(array._meta).__name__} of {array.dtype} (masked, sparse, complex, a mask?)"
            )
        self.array: Any = array
        self.sizes = [int(many) for many in array.chunks[0]]
        self.firsts = np.concatenate([[0], np.cumsum(self.sizes)]).tolist()
        self.n, self.d = self.firsts[-1], int(array.shape[1])
        self.dtype: np.dtype[Any] = np.dtype(
            np.float32 if array.dtype == np.float32 else np.float64
        )
        self.passes: Counter[str] = Counter()
        self.bytes_read = 0

    def __repr__(self) -> str:
        return f"Chunked({len(self.sizes)} chunks, n={self.n}, d={self.d})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: kept for name, kept in self.__dict__.items() if name != "_parts"}

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self.n, self.d

    def __getitem__(self, keys: slice) -> Held:
        """Return a slice of the atoms, in memory: a source as well."""
        return Held(self.rows(np.arange(*keys.indices(self.n))))

    @cached_property
    def _parts(self) -> list[Any]:
        array: Any = self.array
        return list(array.to_delayed()[:, 0])

    def reduce(
        self,
        purpose: str,
        function: Callable[..., Any],
        *arguments: Any,
        fold: Fold | None = None,
    ) -> Results:
        """Return ``function(piece, first, *arguments)`` of each piece, in order: one pass.

        A piece is (rows, d), read-only; `first` is the key of its first atom. `fold` makes results
        of pieces that follow each other fewer, first where they are, then here.
        """
        self.passes[purpose] += 1
        chunks = [i for i, many in enumerate(self.sizes) if many]
        found = self._computed(
            chunks,
            [
                (_reduced, self._declared(i), self.firsts[i], self.dtype, function, arguments, fold)
                for i in chunks
            ],
        )
        return folded([result for chunk in found for result in chunk], fold)

    def rows(self, keys: ArrayLike) -> NDArray[Any]:
        """Return the coordinates of the atoms with these keys, shape (len(keys), d)."""
        wanted = np.asarray(keys, dtype=np.int64)
        out = np.empty((len(wanted), self.d), dtype=self.dtype)
        owner = np.searchsorted(self.firsts, wanted, side="right") - 1
        chunks = np.unique(owner).tolist()
        local = [wanted[owner == i] - self.firsts[i] for i in chunks]
        calls = [
            (_picked, self._declared(i), self.dtype, few)
            for i, few in zip(chunks, local, strict=True)
        ]
        found = self._computed(chunks, calls)
        for i, rows in zip(chunks, found, strict=True):
            out[owner == i] = rows
        return out

    def _declared(self, i: int) -> Declared:
        return i, (self.sizes[i], self.d), self.array.dtype

    def _computed(self, chunks: list[int], calls: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        """Call ``call[0](chunk, *call[1:])`` for each of some chunks, where they are."""
        dask: Any = import_module("dask")  # its functions carry no types
        self.bytes_read += sum(self.sizes[i] for i in chunks) * self.d * self.array.dtype.itemsize
        tasks = [
            dask.delayed(call[0], pure=False)(self._parts[i], *call[1:])
            for i, call in zip(chunks, calls, strict=True)
        ]
        try:
            return tuple(dask.compute(*tasks))
        except (FwbenchError, MemoryError):
            raise
        except Exception as error:  # a chunk is made by whatever the caller put into the graph
            raise InvalidProblem(
                f"atoms: a chunk of the Dask array could not be computed; {said(error)}"
            ) from error

    def where(self, key: int) -> str:
        """Return in which row an atom lies."""
        return f"row {key} of the Dask array"


def _reduced(
    chunk: Any,
    declared: Declared,
    first: int,
    dtype: np.dtype[Any],
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    fold: Fold | None,
) -> Results:
    """Reduce a chunk piece by piece, so that what is made beside a piece stays small."""
    _as_declared(chunk, declared)
    # arrays that came over a network are read-only and lie anywhere
    own = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    found: Results = []
    for begin, end in spans(*chunk.shape):
        found.append(function(canonical("atoms", chunk[begin:end], dtype), first + begin, *own))
        found = folded(found, fold, FOLD)
    return folded(found, fold)


def _picked(
    chunk: Any, declared: Declared, dtype: np.dtype[Any], keys: NDArray[np.int64]
) -> NDArray[Any]:
    _as_declared(chunk, declared)
    return canonical("atoms", np.asarray(chunk)[keys], dtype)


def _as_declared(chunk: Any, declared: Declared) -> None:
    """Refuse a chunk that is not what the array says: Dask itself believes every function."""
    i, shape, dtype = declared
    for what, came, said_so in (
        ("shape", getattr(chunk, "shape", None), shape),
        ("dtype", getattr(chunk, "dtype", None), dtype),
    ):
        if came != said_so:
            raise InvalidProblem(
                f"atoms: chunk {i} of the Dask array has {what} {came}, the array says {said_so} "
                "(a function of map_blocks that makes something else than it declares?)"
            )
