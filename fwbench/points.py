"""Arrays that are kept beside the journal, one .npz file a run."""

from __future__ import annotations

import io
import warnings
from binascii import crc32
from functools import lru_cache
from pathlib import Path
from struct import Struct
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np

from fwbench.disk import open_plain

LONG = 2**30  # bytes: archives beyond have fields of 64 bits
# What stands in an archive before each file, in its directory, and behind that; then what
# `zipfile` writes into it: version 2.0, the first day of 1980, Unix, read and written by its owner.
FILE, ENTRY, END = Struct("<4s2B4H3L2H"), Struct("<4s4B4H3L5H2L"), Struct("<4s4H2LH")
VERSION, DATE, SYSTEM, MODE = 20, 1 << 5 | 1, 3, 0o600 << 16


def packed(arrays: dict[str, Any]) -> bytes:
    """Return the bytes of a file with these arrays; none without any."""
    members: dict[str, bytes] = {}
    for name, array in arrays.items():
        made = np.asarray(array, order="C")
        if made.dtype.hasobject:
            raise TypeError(f"{name} holds objects, not numbers")
        members[f"{name}.npy"] = _header(made.dtype, made.shape) + made.tobytes()
    if not members:
        return b""
    short = sum(map(len, members.values())) < LONG
    return _archive(members) if short else _long_archive(members)


def _long_archive(members: dict[str, bytes]) -> bytes:
    """Return the bytes of an uncompressed archive, however large."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(ZipInfo(name), data)
    return buffer.getvalue()


def _archive(members: dict[str, bytes]) -> bytes:
    """Return the same bytes in a tenth of the time, where members are small and names are ASCII."""
    files, directory, begin = [], [], 0
    for name, data in members.items():
        named, size = name.encode("ascii"), len(data)
        shared = (VERSION, 0, 0, 0, 0, DATE, crc32(data), size, size, len(named), 0)
        files += [FILE.pack(b"PK\3\4", *shared), named, data]
        entry = ENTRY.pack(b"PK\1\2", VERSION, SYSTEM, *shared, 0, 0, 0, MODE, begin)
        directory += [entry, named]
        begin += FILE.size + len(named) + size
    length, count = sum(map(len, directory)), len(members)
    end = END.pack(b"PK\5\6", 0, 0, count, count, length, begin, 0)
    return b"".join([*files, *directory, end])


@lru_cache(maxsize=1024)
def _header(kind: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return what numpy writes before the numbers of an array."""
    buffer = io.BytesIO()
    described = {
        "descr": np.lib.format.dtype_to_descr(kind),
        "fortran_order": False,
        "shape": shape,
    }
    np.lib.format.write_array_header_1_0(buffer, described)
    return buffer.getvalue()


def unpacked(path: Path) -> dict[str, Any] | None:
    """Return the arrays of a file; None where there is none or, with a warning, a damaged one."""
    try:
        with open_plain(path) as opened:
            _look(opened)
            opened.seek(0)
            with np.load(opened) as file:
                return {name: file[name] for name in file.files}
    except FileNotFoundError:
        return None
    except Exception as error:
        # of a damaged file zipfile and numpy raise a dozen kinds, none of them documented
        warnings.warn(f"{path} is damaged and left out: {error}", stacklevel=3)
        return None


def is_whole(path: Path, size: int) -> bool:
    """Whether a file has its length in bytes and the directory of an archive at its end."""
    try:
        with open_plain(path) as file:
            if file.seek(0, io.SEEK_END) != size:
                return False
            _look(file)
    except Exception:  # as above
        return False
    return True


def _look(file: IO[bytes]) -> None:
    """Refuse what was not written here, by its directory: no array is larger than its file."""
    length = file.seek(0, io.SEEK_END)
    with ZipFile(file) as archive:
        members = archive.infolist()
    if not members or any(member.file_size > length for member in members):
        raise BadZipFile("its directory is not one of arrays")
