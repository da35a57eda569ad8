"""A folder of files as atoms: read piece by piece, in bounded memory."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwbench.block_files import SUFFIXES, Stored, stored
from fwbench.errors import InvalidProblem
from fwbench.pieces import FOLD, Fold, Held, Results, canonical, folded

# Files that look as if they held atoms: left out silently, the problem would be another.
FOREIGN = (".csv", ".npz", ".mtx", ".mat", ".feather", ".arrow", ".h5", ".hdf5", ".gz", ".zarr")
SHOWN = 200  # letters of a path that leads nowhere


class Blocks:
    """Atoms in a folder of .npy and .parquet files, (n_i, d) each, in the order of their names.

    Numbers in names count as numbers: part-2 comes before part-10. Files whose names begin with
    "." or "_" are left out. Only headers are read here; a pass reads every file once, in pieces
    of 4 MiB (a .parquet file: by batches of its groups of rows), and holds one piece at a time.
    The files must not change while they are in use: one that has is an error.

    Parameters
    ----------
    path : path
        The folder.

    Attributes
    ----------
    n, d : int
    dtype : numpy.dtype
        float32 if all files are, else float64.
    passes : Counter of str
        How many passes over all atoms were made so far, by what they found.
    bytes_read : int
        Of atoms, by passes and single rows.

    Raises
    ------
    InvalidProblem
        Names the file, the rule, what came and the likely slip.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> np.save(f"{folder.name}/1.npy", [[1.0, 0.0], [0.0, 1.0]])
    >>> np.save(f"{folder.name}/2.npy", [[2.0, 2.0]])
    >>> blocks = Blocks(folder.name)
    >>> blocks.n, blocks.d, blocks.rows([2, 0]).tolist()
    (3, 2, [[2.0, 2.0], [1.0, 0.0]])
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            folder = Path(path).expanduser()
            self.path = folder.absolute()  # another working directory must not lead elsewhere
        except (RuntimeError, OSError) as error:  # ~name of nobody, a working folder that is gone
            raise InvalidProblem(f"atoms in {str(path)[:SHOWN]}: {error}") from error
        self.files = tuple(map(stored, _paths(folder, self.path)))
        first = self.files[0]
        for file in self.files[1:]:
            if file.d != first.d:
                raise InvalidProblem(
                    f"atoms in {file.path}: it has d = {file.d} columns, but {first.path.name} "
                    f"has {first.d} (transposed, or of another data set?)"
                )
        self.firsts = np.concatenate([[0], np.cumsum([file.n for file in self.files])]).tolist()
        self.n, self.d = self.firsts[-1], first.d
        if self.n == 0:
            raise InvalidProblem(f"atoms in {folder}: its files hold no atom")
        single = all(file.dtype == np.float32 for file in self.files)
        self.dtype: np.dtype[Any] = np.dtype(np.float32 if single else np.float64)
        self.passes: Counter[str] = Counter()
        self.bytes_read = 0

    def __repr__(self) -> str:
        return f"Blocks({str(self.path)!r}): {len(self.files)} files, n={self.n}, d={self.d}"

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self.n, self.d

    def __getitem__(self, keys: slice) -> Held:
        """Return a slice of the atoms, in memory: a source as well."""
        return Held(self.rows(np.arange(*keys.indices(self.n))))

    def reduce(
        self,
        purpose: str,
        function: Callable[..., Any],
        *arguments: Any,
        fold: Fold | None = None,
    ) -> Results:
        """Return ``function(piece, first, *arguments)`` of each piece, in order: one pass.

        A piece is (rows, d), read-only, and gone once the function has returned; `first` is the
        key of its first atom. `fold` makes results of pieces that follow each other fewer.
        """
        found: Results = []
        self.passes[purpose] += 1
        for file, first in zip(self.files, self.firsts, strict=False):
            for row, raw in file.pieces():
                self.bytes_read += raw.nbytes
                piece = canonical(f"atoms in {file.path}", raw, self.dtype)
                found.append(function(piece, first + row, *arguments))
                found = folded(found, fold, FOLD)
        return folded(found, fold)

    def rows(self, keys: ArrayLike) -> NDArray[Any]:
        """Return the coordinates of the atoms with these keys, shape (len(keys), d)."""
        wanted = np.asarray(keys, dtype=np.int64)
        out = np.empty((len(wanted), self.d), dtype=self.dtype)
        owner = np.searchsorted(self.firsts, wanted, side="right") - 1
        for i in np.unique(owner).tolist():
            file: Stored = self.files[i]
            here = owner == i
            raw = file.rows(wanted[here] - self.firsts[i])
            self.bytes_read += raw.nbytes
            out[here] = canonical(f"atoms in {file.path}", raw, self.dtype)
        return out

    def where(self, key: int) -> str:
        """Return in which row of which file an atom lies."""
        i = bisect_right(self.firsts, key) - 1
        return f"row {key - self.firsts[i]} of {self.files[i].path}"


def _paths(folder: Path, shown: Path) -> list[Path]:
    """Return the files of a folder that hold atoms, in the order of their names."""
    try:
        names = [entry.name for entry in os.scandir(shown)]
    except ValueError as error:  # a zero byte, a lone surrogate
        raise InvalidProblem(f"atoms in {str(folder)[:SHOWN]!r}: no path: {error}") from error
    except OSError as error:
        slip = " (one file? file[path=...] reads it)" if os.path.isfile(shown) else ""
        raise InvalidProblem(
            f"atoms in {str(folder)[:SHOWN]}: this must be a folder of {' or '.join(SUFFIXES)} "
            f"files; {error.strerror}{slip}"
        ) from error
    names = [name for name in names if not name.startswith((".", "_"))]
    for name in sorted(names):
        if Path(name).suffix.lower() in FOREIGN:
            raise InvalidProblem(
                f"atoms in {folder}: {name} is neither .npy nor .parquet; convert it or move it "
                "out, for all the atoms should be read"
            )
    found = [name for name in names if Path(name).suffix.lower() in SUFFIXES]
    if not found:
        raise InvalidProblem(
            f"atoms in {folder}: it holds no {' or '.join(SUFFIXES)} file"
            + (f" (but {min(names)})" if names else "; it is empty")
        )
    return [shown / name for name in sorted(found, key=_natural)]


def _natural(name: str) -> tuple[list[tuple[bool, int, str]], str]:
    """Return what names are ordered by: text as text, numbers in it as numbers."""
    parts = re.split(r"([0-9]+)", name)
    return [(p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in parts if p], name
