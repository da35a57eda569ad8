"""Convex combinations of atoms, m at a time, as three plain arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

LONG = 8  # from so many entries a query on, a product a query is faster than one pass over all


@dataclass(frozen=True, eq=False)
class Combinations:
    """m convex combinations; the i-th has ``data[indptr[i]:indptr[i+1]]`` on those ``keys``.

    Parameters
    ----------
    indptr : ndarray of int, shape (m + 1,)
    keys : ndarray of int, shape (nnz,)
        Which atoms; keys are row numbers for listed atoms.
    data : ndarray, shape (nnz,)
        Weights, float64 (object where they are exact rationals).

    Examples
    --------
    >>> half = Combinations.from_dense([[0.5, 0.0, 0.5]])
    >>> half.keys.tolist(), half.m
    ([0, 2], 1)
    >>> half.dense(3).tolist()
    [[0.5, 0.0, 0.5]]
    """

    indptr: NDArray[np.int64]
    keys: NDArray[np.int64]
    data: NDArray[Any]

    @classmethod
    def vertices(cls, keys: Iterable[int] | ArrayLike) -> Combinations:
        """Return one combination a key, with all its weight there."""
        each = np.atleast_1d(np.asarray(keys, dtype=np.int64))
        return cls(np.arange(len(each) + 1), each, np.ones(len(each)))

    @classmethod
    def from_dense(cls, weights: ArrayLike) -> Combinations:
        """Keep the nonzero entries of an (m, n) array; negative ones too: a judge must see them."""
        dense = np.atleast_2d(np.asarray(weights))
        query, keys = np.nonzero(dense)
        counts = np.bincount(query, minlength=len(dense))
        return cls(np.concatenate([[0], np.cumsum(counts)]), keys, dense[query, keys])

    @classmethod
    def joined(cls, parts: Sequence[Combinations]) -> Combinations:
        """Put several behind each other."""
        counts = np.concatenate([np.diff(part.indptr) for part in parts])
        return cls(
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([part.keys for part in parts]),
            np.concatenate([part.data for part in parts]),
        )

    @property
    def m(self) -> int:
        """How many combinations."""
        return len(self.indptr) - 1

    @property
    def query(self) -> NDArray[np.int64]:
        """Which combination each entry belongs to, shape (nnz,)."""
        return np.repeat(np.arange(self.m), np.diff(self.indptr))

    def one(self, query: int) -> Combinations:
        """Return a single one of them."""
        part = slice(self.indptr[query], self.indptr[query + 1])
        return Combinations(np.array([0, part.stop - part.start]), self.keys[part], self.data[part])

    def dense(self, n: int) -> NDArray[Any]:
        """Return the weights as an (m, n) array; entries of one key add up."""
        out = np.zeros((self.m, n), dtype=self.data.dtype)
        np.add.at(out, (self.query, self.keys), self.data)
        return out

    def sums(self) -> NDArray[np.float64]:
        """Return the sum of the weights of each combination, shape (m,)."""
        doubles = self.data.astype(np.float64, copy=False)
        if self.m == 1:
            return np.array([doubles.sum()])
        return np.bincount(self.query, doubles, minlength=self.m).astype(np.float64)

    def averages(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Average rows that stand in the order of `keys`, shape (nnz, d), into (m, d)."""
        if self.m == 1:
            return np.asarray(self.data @ rows)[None, :]
        out = np.zeros((self.m, rows.shape[1]), dtype=np.result_type(rows, self.data))
        if len(self.keys) < LONG * self.m:
            np.add.at(out, self.query, self.data[:, None] * rows)
        else:
            for q in range(self.m):
                part = slice(self.indptr[q], self.indptr[q + 1])
                out[q] = self.data[part] @ rows[part]
        return out

    def repaired(self) -> Combinations:
        """Clip negative weights and normalise; a combination with nothing left stays as it is."""
        clipped = np.where(self.data > 0, self.data, 0.0)
        if self.m == 1:
            total = clipped.sum()
            return Combinations(self.indptr, self.keys, clipped / total if total else self.data)
        sums = np.bincount(self.query, clipped, minlength=self.m)[self.query]
        good = sums > 0
        return Combinations(
            self.indptr, self.keys, np.where(good, clipped / np.where(good, sums, 1.0), self.data)
        )
