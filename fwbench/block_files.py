"""Files of atoms that are read in pieces: .npy and .parquet.

A file is untrusted: nothing in it is executed, its header is checked against its size, and what is
cut short or changed while it is in use is an error that names it. Files are read, not mapped into
memory: where a mapped file is cut short the process dies.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidProblem, said
from fwbench.geometry.inputs import real_array
from fwbench.pieces import spans

SUFFIXES = (".npy", ".parquet")
HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
INDEX = "__index_level_"  # columns that pandas adds where the rows have names
BUFFER = 2**15  # bytes of each column of a .parquet file that are read at once


@dataclass(frozen=True)
class Stored:
    """A file of atoms, as it was when it was first looked at.

    Attributes
    ----------
    path : Path
    n, d : int
    dtype : numpy.dtype
        Of the numbers in the file.
    size, changed : int
        In bytes; when last written, in nanoseconds.
    offset : int
        Where the numbers of a .npy file begin.
    by_columns : bool
        Whether a .npy file holds column after column.
    columns : tuple of str
        Of a .parquet file.
    """

    path: Path
    n: int
    d: int
    dtype: np.dtype[Any]
    size: int
    changed: int
    offset: int = 0
    by_columns: bool = False
    columns: tuple[str, ...] = ()

    def pieces(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (first row, rows) in order; what was yielded is overwritten by the next.

        Raises
        ------
        InvalidProblem
            Where the file has changed, is cut short, or lacks values.
        """
        with opened(self.path) as file:
            self._unchanged(file)
            yield from _parquet_pieces(self, file) if self.columns else _npy_pieces(self, file)
            self._unchanged(file)

    def rows(self, keys: NDArray[np.int64]) -> NDArray[Any]:
        """Return single rows, shape (len(keys), d)."""
        with opened(self.path) as file:
            self._unchanged(file)
            if self.columns:
                return _parquet_rows(self, file, keys)
            out = np.empty((len(keys), self.d), dtype=self.dtype)
            ends = [0, *(np.flatnonzero(np.diff(keys) != 1) + 1).tolist(), len(keys)]
            for begin, end in pairwise(ends):  # rows that lie behind each other are read at once
                if begin < end:
                    first, many = int(keys[begin]), end - begin
                    room = np.empty(many * self.d, dtype=self.dtype)
                    out[begin:end] = _npy_rows(self, file, first, first + many, room)
            return out

    def _unchanged(self, file: BinaryIO) -> None:
        now = os.fstat(file.fileno())
        if (now.st_size, now.st_mtime_ns) != (self.size, self.changed):
            raise InvalidProblem(
                f"atoms in {self.path}: the file has changed since it was first looked at "
                f"({self.size} bytes then, {now.st_size} now); what was found so far is of no use"
            )


def opened(path: Path) -> BinaryIO:
    """Open a file for reading, or say why that cannot be."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a named pipe would wait for ever
            raise InvalidProblem(f"atoms in {path}: this is no file")
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise InvalidProblem(f"atoms in {path}: it can't be opened: {error.strerror}") from error
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
    return file


def stored(path: Path) -> Stored:
    """Look at a file's header.

    Raises
    ------
    InvalidProblem
        Names the file, the rule and what came.
    """
    with opened(path) as file:
        try:
            found = _npy(path, file) if path.suffix.lower() == ".npy" else _parquet(path, file)
        except InvalidProblem:
            raise
        except Exception as error:  # a reader of a foreign format may raise anything
            raise InvalidProblem(
                f"atoms in {path}: it can't be read as {path.suffix} (another format under this "
                f"name, or cut short?); {said(error)}"
            ) from error
    if found.d == 0:
        raise InvalidProblem(f"atoms in {path}: it holds no columns")
    return found


# -- .npy ------------------------------------------------------------------------------------


def _npy(path: Path, file: BinaryIO) -> Stored:
    version = np.lib.format.read_magic(file)
    if version not in HEADERS:
        raise InvalidProblem(f"atoms in {path}: version {version} of .npy is for named columns")
    shape, by_columns, dtype = HEADERS[version](file)
    _refuse(path, dtype)
    if len(shape) != 2:
        slip = " (one atom? save it as a row)" if len(shape) == 1 else ""
        raise InvalidProblem(f"atoms in {path}: it must be 2-D (n, d); got {shape}{slip}")
    if min(shape) < 0:
        raise InvalidProblem(f"atoms in {path}: no side may be negative; its header says {shape}")
    now, offset = os.fstat(file.fileno()), file.tell()
    wanted = offset + shape[0] * shape[1] * dtype.itemsize
    if now.st_size != wanted:
        slip = "cut short?" if now.st_size < wanted else "several arrays in one file?"
        raise InvalidProblem(
            f"atoms in {path}: {shape} of {dtype} take {wanted} bytes; the file has {now.st_size} "
            f"({slip})"
        )
    return Stored(
        path, *shape, dtype, now.st_size, now.st_mtime_ns, offset, by_columns and shape[0] > 1
    )


def _refuse(path: Path, dtype: np.dtype[Any]) -> None:
    """Raise InvalidProblem for what is no real number; objects are never read."""
    if dtype.kind not in "iuf":
        slip = {"O": " (pickled objects are never read)", "c": " (take .real?)", "b": " (a mask?)"}
        raise InvalidProblem(
            f"atoms in {path}: it must hold real numbers; got dtype {dtype}"
            f"{slip.get(dtype.kind, '')}"
        )


def _npy_pieces(stored: Stored, file: BinaryIO) -> Iterator[tuple[int, NDArray[Any]]]:
    largest = next(spans(stored.n, stored.d), (0, 0))[1]
    room = np.empty(largest * stored.d, dtype=stored.dtype)
    for first, last in spans(stored.n, stored.d):
        yield first, _npy_rows(stored, file, first, last, room)


def _npy_rows(
    stored: Stored, file: BinaryIO, first: int, last: int, room: NDArray[Any]
) -> NDArray[Any]:
    """Read rows first to last into `room`, in which they then lie, shape (last − first, d)."""
    many, size = last - first, stored.dtype.itemsize
    part = room[: many * stored.d]
    if not stored.by_columns:
        _fill(stored, file, stored.offset + first * stored.d * size, part)
        return part.reshape(many, stored.d)
    for k, column in enumerate(part.reshape(stored.d, many)):
        _fill(stored, file, stored.offset + (k * stored.n + first) * size, column)
    return part.reshape(stored.d, many).T


def _fill(stored: Stored, file: BinaryIO, offset: int, part: NDArray[Any]) -> None:
    """Fill a part of memory from the file."""
    file.seek(offset)
    left = part.view(np.uint8).data
    while len(left):
        read = file.readinto(left)  # type: ignore[attr-defined] # an unbuffered file has it
        if not read:
            raise InvalidProblem(f"atoms in {stored.path}: it was cut short while it was read")
        left = left[read:]


# -- .parquet --------------------------------------------------------------------------------


def _parquet(path: Path, file: BinaryIO) -> Stored:
    import pyarrow.parquet as pq
    from pyarrow import types

    now = os.fstat(file.fileno())
    found = pq.ParquetFile(file)
    schema = found.schema_arrow
    pandas = schema.pandas_metadata or {}
    index = {name for name in pandas.get("index_columns", ()) if isinstance(name, str)}
    columns = [
        field for field in schema if not (field.name in index or field.name.startswith(INDEX))
    ]
    for field in columns:
        if not (types.is_floating(field.type) or types.is_integer(field.type)):
            raise InvalidProblem(
                f"atoms in {path}: column {field.name!r} holds {field.type}, no numbers (a column "
                "of labels? keep the coordinates only)"
            )
    names = tuple(field.name for field in columns)
    if len(set(names)) < len(names):
        raise InvalidProblem(f"atoms in {path}: two columns have one name")
    single = all(types.is_float32(field.type) for field in columns)
    dtype = np.dtype(np.float32 if single else np.float64)
    return Stored(
        path, found.metadata.num_rows, len(names), dtype, now.st_size, now.st_mtime_ns,
        columns=names,
    )  # fmt: skip


def _parquet_pieces(stored: Stored, file: BinaryIO) -> Iterator[tuple[int, NDArray[Any]]]:
    first = 0
    with _in_batches(file) as found:
        batches = found.iter_batches(
            batch_size=_batch(stored), columns=list(stored.columns), use_threads=False
        )
        for batch in _readable(stored, batches):
            yield first, _numbers(stored, batch, first)
            first += len(batch)


def _parquet_rows(stored: Stored, file: BinaryIO, keys: NDArray[np.int64]) -> NDArray[Any]:
    """Read the groups of rows that hold the keys, one after the other."""
    out = np.empty((len(keys), stored.d), dtype=stored.dtype)
    with _in_batches(file) as found:
        many = [found.metadata.row_group(g).num_rows for g in range(found.num_row_groups)]
        firsts = np.concatenate([[0], np.cumsum(many)])
        group = np.searchsorted(firsts, keys, side="right") - 1
        for g in np.unique(group).tolist():
            here = group == g
            batches = found.iter_batches(
                batch_size=_batch(stored), row_groups=[g], columns=list(stored.columns),
                use_threads=False,
            )  # fmt: skip
            first = int(firsts[g])
            for batch in _readable(stored, batches):
                inside = here & (keys >= first) & (keys < first + len(batch))
                if inside.any():
                    out[inside] = _numbers(stored, batch, first)[keys[inside] - first]
                first += len(batch)
    return out


def _in_batches(file: BinaryIO) -> Any:
    """Return a .parquet file of which no more than a buffer a column is read ahead."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(file, pre_buffer=False, buffer_size=BUFFER)


def _batch(stored: Stored) -> int:
    """Return how many rows make a piece."""
    return next(spans(stored.n, stored.d), (0, 1))[1]


def _readable(stored: Stored, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches; a spoilt page is an error that names the file."""
    while True:
        try:
            batch = next(batches, None)
        except Exception as error:  # pyarrow raises several kinds, OSError among them
            raise InvalidProblem(
                f"atoms in {stored.path}: it can't be read to its end; {error}"
            ) from error
        if batch is None:
            return
        yield batch


def _numbers(stored: Stored, batch: Any, first: int) -> NDArray[Any]:
    """Return a batch as an array (rows, d)."""
    out = np.empty((len(batch), stored.d), dtype=stored.dtype)
    for k, name in enumerate(stored.columns):
        column = batch.column(k)
        if column.null_count:
            row = first + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise InvalidProblem(
                f"atoms in {stored.path}: column {name!r} has no value in row {row} (missing "
                "values in the data?)"
            )
        out[:, k] = real_array(
            f"atoms in {stored.path}: column {name!r}",
            column.to_numpy(zero_copy_only=False),
            finite=False,
        )
    return out
