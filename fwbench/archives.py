"""numpy's files, .npy and .npz, read without trust: numbers alone, of a size that is checked first.

Nothing here unpickles. A header that promises more than the file holds, a member that swells
beyond what the memory bears and a directory of endless members are refused before they are read.
"""

from __future__ import annotations

import io
import math
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidProblem, said
from fwbench.intake import fits

KINDS = "biufcU"  # what an array may hold: numbers, and texts such as 1/7
DIRECTORY = 2**22  # bytes: room for tens of thousands of names, and quickly read
END, END_64, PLACE_64 = b"PK\5\6", b"PK\6\6", b"PK\6\7"
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others can ask for gigabytes to unpack

Header = tuple[tuple[int, ...], bool, np.dtype[Any]]


def array_of(opened: BinaryIO, size: int) -> NDArray[Any]:
    """Return the array of a .npy file.

    Parameters
    ----------
    opened : binary file
        At its start.
    size : int
        Bytes that it holds.

    Raises
    ------
    InvalidProblem
        Where it is none, holds objects, or its header does not agree with its size.
    """
    shape, fortran, dtype = _header(opened)
    if dtype.hasobject:
        raise InvalidProblem(
            "it holds Python objects, which are not read: reading them runs code (ragged rows? "
            "save an array of numbers)"
        )
    if dtype.kind not in KINDS or dtype.itemsize == 0 or dtype.shape:
        raise InvalidProblem(f"it holds {str(dtype)[:80]}, no plain numbers")
    needed, held = math.prod(shape) * dtype.itemsize, size - opened.tell()
    if any(side < 0 for side in shape) or needed != held:
        raise InvalidProblem(
            f"its header says {_sides(shape)} of {dtype}, {needed} bytes, and {held} follow (cut "
            "short?)"
        )
    fits(needed, f"its array {_sides(shape)}")
    data = opened.read(needed + 1)
    if len(data) != needed:
        raise InvalidProblem(f"it holds {len(data)} of {needed} bytes (cut short?)")
    flat = np.frombuffer(data, dtype)
    if dtype.kind == "U":  # numpy would make texts of any numbers
        letters = np.frombuffer(data, np.dtype("u4").newbyteorder(dtype.byteorder))
        if ((letters > 0x10FFFF) | ((letters >= 0xD800) & (letters < 0xE000))).any():
            raise InvalidProblem("it holds texts that are no Unicode (damaged?)")
    found = flat.reshape(shape[::-1]).transpose() if fortran else flat.reshape(shape)
    return found.astype(dtype.newbyteorder("="), copy=False)


def _sides(shape: tuple[int, ...]) -> str:
    shown = str(shape)
    return shown if len(shown) < 80 else f"{shown[:80]}…"


def _header(opened: BinaryIO) -> Header:
    read: dict[tuple[int, int], Callable[[BinaryIO], Header]] = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
        # 3.0 is 2.0 with names of fields that are not ASCII: no plain numbers
    }
    start = opened.read(6)
    if start[:4] in (b"PK\3\4", END):
        raise InvalidProblem("it holds several arrays: its name should end in .npz")
    if start != np.lib.format.MAGIC_PREFIX:
        raise InvalidProblem(
            "it can't be read as .npy (another format under this name, or cut short?)"
        )
    version = tuple(opened.read(2))
    if version not in read:
        raise InvalidProblem(f"it can't be read as .npy: version {version} is not known")
    try:
        return read[version[0], version[1]](opened)
    except Exception as error:  # a header is a text that numpy parses: it may raise anything
        raise InvalidProblem(
            f"it can't be read as .npy: its header is damaged; {str(error)[:120]}"
        ) from error


def size_of(opened: BinaryIO) -> int:
    """Return how many bytes a file holds; it is at its start afterwards."""
    size = opened.seek(0, os.SEEK_END)
    opened.seek(0)
    return size


class Archive(Mapping[str, NDArray[Any]]):
    """The arrays of a .npz file by name; each is read when it is asked for.

    Parameters
    ----------
    opened : binary file

    Raises
    ------
    InvalidProblem
        Where it is no archive, holds too many members, or one that is no array of numbers.
    """

    def __init__(self, opened: BinaryIO) -> None:
        size = size_of(opened)
        if opened.read(6) == np.lib.format.MAGIC_PREFIX:
            raise InvalidProblem("it holds one array: its name should end in .npy")
        _small_directory(opened, size)
        opened.seek(0)
        try:
            self._zip = zipfile.ZipFile(opened)
        except Exception as error:  # whatever a damaged directory leads to
            raise InvalidProblem(
                "it can't be read as .npz (another format under this name, or cut short?); "
                f"{said(error)}"
            ) from error
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in self._zip.infolist():
            name = member.filename.removesuffix(".npy")
            if name in self._members:
                raise InvalidProblem(f"it holds two arrays called {name[:40]!r}")
            self._members[name] = member

    def __iter__(self) -> Any:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def fits(self, names: list[str]) -> None:
        """Refuse members that take too much memory together, by what they say of themselves."""
        total = sum(self._members[name].file_size for name in names)
        fits(total, f"unpacked, {names[0][:40]!r}" + (" and others" if len(names) > 1 else ""))

    def __getitem__(self, name: str) -> NDArray[Any]:
        member = self._members[name]
        if member.flag_bits & 1 or member.compress_type not in PACKED:
            raise InvalidProblem(f"its array {name[:40]!r} is encrypted, or packed in a rare way")
        fits(member.file_size, f"unpacked, its array {name[:40]!r}")
        try:
            # at most what the directory says is unpacked, however much the data would give
            with self._zip.open(member) as inside:
                data = inside.read(member.file_size + 1)
        except (
            OSError,
            EOFError,
            ValueError,
            zipfile.BadZipFile,
            zlib.error,
            RuntimeError,
        ) as error:
            raise InvalidProblem(
                f"its array {name[:40]!r} is damaged (cut short?); {said(error)}"
            ) from error
        if len(data) != member.file_size:
            raise InvalidProblem(
                f"its array {name[:40]!r} is cut short: {len(data)} of {member.file_size} bytes"
            )
        try:
            return array_of(io.BytesIO(data), len(data))
        except InvalidProblem as error:
            raise InvalidProblem(f"array {name[:40]!r}: {error}") from error


def _small_directory(opened: BinaryIO, size: int) -> None:
    """Refuse an archive whose directory is large: all of it is read at once, into objects."""
    tail = min(size, 22 + 2**16)  # the end record, and the longest comment behind it
    opened.seek(size - tail)
    data = opened.read(tail)
    at = data.rfind(END)
    if at < 0:
        return  # no archive; its reader says so
    length = int.from_bytes(data[at + 12 : at + 16], "little")
    if at >= 20 and data[at - 20 : at - 16] == PLACE_64:  # sizes of 64 bits stand elsewhere
        place = int.from_bytes(data[at - 12 : at - 4], "little")
        opened.seek(min(place, size))
        record = opened.read(56)
        if record[:4] == END_64:
            length = max(length % (2**32 - 1), int.from_bytes(record[40:48], "little"))
    if length > DIRECTORY:
        raise InvalidProblem(
            f"the directory of its members takes {length} bytes; at most {DIRECTORY} are read"
        )
