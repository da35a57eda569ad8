"""MATLAB's files of versions 4 to 7, read without trust: numbers alone, full or sparse.

Read here, because a spoilt file ends the whole process in scipy's reader, and because an array
that is not asked for need not be unpacked. Objects, function handles and cells are never built.

A file of version 5 is a header and elements, each a tag (type, bytes) and its data. A variable is
an element of type MATRIX whose parts are elements again: flags, shape, name, values; or an element
of type COMPRESSED that unpacks to one.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidProblem
from fwbench.intake import affordable, fits

Array = NDArray[Any]

MATRIX, COMPRESSED = 14, 15
# types of stored numbers; those of a class may be stored in a shorter type
STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8",
          13: "u8", 16: "u1"}  # fmt: skip
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8",
           15: "u8"}  # fmt: skip
SPARSE, OPAQUE = 5, 17
NO_NUMBERS = {1: "a cell array", 2: "a struct", 3: "an object", 4: "text", 16: "a function handle",
              OPAQUE: "an object of a MATLAB class (string, table, datetime?)"}  # fmt: skip
COMPLEX, LOGICAL = 0x0800, 0x0200
HEADER = 4096  # bytes: flags, shape and name of a variable lie within
DIMENSIONS = 32
STORED_4 = ("f8", "f4", "i4", "i2", "u2", "u1")


@dataclass(frozen=True)
class Variable:
    """A variable that is not read yet.

    Attributes
    ----------
    name : str
    other : str
        What it holds where that is no numbers, else "".
    read : callable
        Returns its array, sparse ones dense.
    """

    name: str
    other: str
    read: Callable[[], Array]


def variables_of(data: bytes) -> list[Variable]:
    """Return the variables of a .mat file; none is unpacked beyond its name.

    Raises
    ------
    InvalidProblem
        Where it is of version 7.3 or no such file. Reading a variable raises it too: where it is
        cut short, or takes more memory than there is.
    """
    try:
        if data[:10] == b"MATLAB 7.3" or data[:8] == b"\x89HDF\r\n\x1a\n":
            raise InvalidProblem("it is of MATLAB's version 7.3; save it with -v7")
        if 0 not in data[:4] and data[126:128] in (b"IM", b"MI"):
            order = "<" if data[126:128] == b"IM" else ">"
            if data[124:126] != (b"\0\1" if order == "<" else b"\1\0"):
                raise InvalidProblem("it is of a version of MATLAB's format that is not known")
            return [found for found in _elements(data, order) if found.name]
        return list(_version_4(data))
    except (struct.error, UnicodeDecodeError, zlib.error, OverflowError) as error:
        raise _damaged(str(error)) from error


def _damaged(why: str) -> InvalidProblem:
    return InvalidProblem(
        f"it can't be read as .mat (another format under this name, or cut short?); {why}"
    )


class _Parts:
    """Reads the elements that stand one after the other in a piece of data."""

    def __init__(self, data: bytes | memoryview, order: str, at: int = 0) -> None:
        self.data, self.order, self.at = data, order, at

    def tag(self) -> tuple[int, int, int]:
        """Return type, bytes and place of the next element's data, and go behind it."""
        kind, length = struct.unpack_from(f"{self.order}II", self.data, self.at)
        if kind >> 16:  # a small element: type, bytes and up to 4 bytes of data in one word
            place, length, kind = self.at + 4, kind >> 16, kind & 0xFFFF
            if length > 4:
                raise _damaged("an element is damaged")
            self.at += 8
        else:
            place = self.at + 8
            self.at = place + length
            if kind != COMPRESSED:
                self.at += -length % 8
        return kind, length, place

    def values(self, stored: str = "") -> Array:
        """Return the next element as numbers, of the type that it has or of another one."""
        kind, length, place = self.tag()
        if kind not in STORED or place + length > len(self.data):
            raise _damaged(f"an element of type {kind} and {length} bytes is no list of numbers")
        dtype = np.dtype(self.order + (stored or STORED[kind]))
        return np.frombuffer(self.data, dtype, length // dtype.itemsize, place)


def _elements(data: bytes, order: str) -> Iterable[Variable]:
    parts = _Parts(memoryview(data), order, at=128)
    while parts.at + 8 <= len(data):
        kind, length, place = parts.tag()
        if place + length > len(data):
            raise _damaged(f"an element of {length} bytes ends behind the file")
        inside = parts.data[place : place + length]
        if kind == COMPRESSED:
            head = zlib.decompressobj().decompress(inside, HEADER)
            yield _variable(head, order, partial(_unpacked, inside, order))
        elif kind == MATRIX:
            whole = parts.data[place - 8 : place + length]
            yield _variable(bytes(whole[:HEADER]), order, partial(bytes, whole))
    if parts.at < len(data):
        raise _damaged(f"{len(data) - parts.at} bytes are left over")


def _unpacked(inside: bytes | memoryview, order: str) -> bytes:
    """Unpack a compressed variable, after a look at how large it says that it is."""
    unpacking = zlib.decompressobj()
    head = unpacking.decompress(inside, 8)
    kind, length = struct.unpack_from(f"{order}II", head)
    if kind != MATRIX:
        raise _damaged("a compressed element is no variable")
    fits(length, "unpacked, one of its variables")
    data = head + unpacking.decompress(unpacking.unconsumed_tail, length + 1)
    if len(data) != length + 8:
        raise _damaged(f"a variable unpacks to {len(data) - 8} bytes and says {length}")
    # the checksum of the packed data comes behind; zlib looks at it when it is asked for more
    unpacking.decompress(unpacking.unconsumed_tail, 1)
    if not unpacking.eof:
        raise _damaged("a variable ends early")
    return data


def _variable(head: bytes, order: str, whole: Callable[[], bytes]) -> Variable:
    """Read flags, shape and name of a variable."""
    parts = _Parts(head, order, at=8)
    flags = parts.values()
    if len(flags) != 2 or flags.dtype.kind != "u":
        raise _damaged("the flags of a variable are damaged")
    kind = int(flags[0]) & 0xFF
    shape = () if kind == OPAQUE else tuple(parts.values().tolist())
    name = parts.values().tobytes().decode("utf-8")
    if kind not in CLASSES and kind != SPARSE:
        other = NO_NUMBERS.get(kind, f"something of class {kind}")
        return Variable(name, other, lambda: np.empty(0))
    if not 2 <= len(shape) <= DIMENSIONS or min(shape) < 0:
        raise _damaged(f"variable {name[:40]!r} has the shape {str(shape)[:80]}")
    is_complex = bool(int(flags[0]) & COMPLEX)
    # MATLAB writes the entries of logical sparse matrices as bytes and calls them doubles
    entries = "u1" if int(flags[0]) & LOGICAL else ""

    behind = parts.at

    def read() -> Array:
        try:
            rest = _Parts(whole(), order, at=behind)
            if kind == SPARSE:
                return _sparse(rest, shape, entries, is_complex)
            return _full(rest, shape, CLASSES[kind], is_complex)
        except (struct.error, OverflowError, zlib.error) as error:
            raise _damaged(str(error)) from error

    return Variable(name, "", read)


def _full(parts: _Parts, shape: tuple[int, ...], kind: str, is_complex: bool) -> Array:
    values = parts.values()
    if len(values) != math.prod(shape):
        raise _damaged(f"it holds {len(values)} numbers for the shape {str(shape)[:80]}")
    affordable(shape)
    if is_complex:
        return np.zeros(shape, dtype=complex)  # enough to be refused
    return np.ascontiguousarray(values.reshape(shape[::-1]).T.astype(kind))


def _sparse(parts: _Parts, shape: tuple[int, ...], entries: str, is_complex: bool) -> Array:
    """Return a matrix stored by columns: the rows of entries, where columns begin, the entries."""
    rows, starts, values = parts.values(), parts.values(), parts.values(entries)
    n, d = shape if len(shape) == 2 else (0, 0)
    affordable((n, d))
    if is_complex:
        return np.zeros((1, 1), dtype=complex)  # enough to be refused
    starts = starts.astype(np.int64)
    if len(starts) != d + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
        raise _damaged("the columns of a sparse matrix are damaged")
    count = int(starts[-1])
    if min(len(rows), len(values)) < count:
        raise _damaged(f"a sparse matrix holds {min(len(rows), len(values))} of {count} entries")
    at = rows[:count].astype(np.int64)
    if count and (at.min() < 0 or at.max() >= n):
        raise _damaged(f"an entry of a sparse matrix lies outside of its shape {shape}")
    found = np.zeros((n, d))
    np.add.at(found, (at, np.repeat(np.arange(d), np.diff(starts))), values[:count].astype(float))
    return found


def _version_4(data: bytes) -> Iterable[Variable]:
    """Read the variables of version 4: five numbers, the name, the values by columns."""
    at = 0
    while at < len(data):
        # the first number is at most 4052, so its bytes say their order
        order = "<" if 0 <= struct.unpack_from("<i", data, at)[0] < 5000 else ">"
        mark, rows, columns, imaginary, length = struct.unpack_from(f"{order}5i", data, at)
        machine, zero, stored, kind = mark // 1000, mark // 100 % 10, mark // 10 % 10, mark % 10
        if (
            machine not in (0, 1) or zero or stored >= len(STORED_4) or kind > 2
            or min(rows, columns) < 0 or imaginary not in (0, 1) or not 0 < length < HEADER
        ):  # fmt: skip
            raise _damaged("it holds no variable of a known version")
        dtype = np.dtype(order + STORED_4[stored])
        name = data[at + 20 : at + 20 + length].partition(b"\0")[0].decode("latin-1")
        begins, count = at + 20 + length, rows * columns
        if kind == 2:  # sparse: a table of row, column, value, and the shape in its last row
            read = _triples(data, begins, rows, columns, dtype, imaginary)
        else:
            read = _plain(data, begins, rows, columns, dtype, imaginary)
        at = begins + count * dtype.itemsize * (2 if imaginary and kind != 2 else 1)
        if at > len(data):
            raise _damaged(f"variable {name[:40]!r} ends behind the file")
        yield Variable(name, "text" if kind == 1 else "", read)


def _plain(
    data: bytes, at: int, rows: int, columns: int, dtype: np.dtype[Any], imaginary: int
) -> Callable[[], Array]:
    def read() -> Array:
        affordable((rows, columns))
        if imaginary:
            return np.zeros((rows, columns), dtype=complex)  # enough to be refused
        values = np.frombuffer(data, dtype, rows * columns, at).reshape(columns, rows).T
        return np.ascontiguousarray(values.astype(dtype.newbyteorder("=")))

    return read


def _triples(
    data: bytes, at: int, rows: int, columns: int, dtype: np.dtype[Any], imaginary: int
) -> Callable[[], Array]:
    def read() -> Array:
        if columns != 3 or rows < 1 or imaginary:
            raise _damaged("a sparse matrix is no table of row, column and value")
        table = np.frombuffer(data, dtype, rows * 3, at).reshape(3, rows).T.astype(float)
        if not (np.isfinite(table).all() and (table[:, :2] == np.rint(table[:, :2])).all()):
            raise _damaged("a place of a sparse matrix is no whole number")
        n, d = (int(side) for side in table[-1, :2])
        places = table[:-1, :2]
        if n < 0 or d < 0:
            raise _damaged("the shape of a sparse matrix is damaged")
        affordable((n, d))
        if ((places < 1) | (places > [n, d])).any():
            raise _damaged(f"an entry of a sparse matrix lies outside of its shape {(n, d)}")
        found = np.zeros((n, d))
        np.add.at(found, tuple(places.T.astype(np.int64) - 1), table[:-1, 2])
        return found

    return read
