"""Arrays that are kept beside the journal, one .npz file a run."""

from __future__ import annotations

import io
import warnings
from functools import lru_cache
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np

from fwbench.disk import open_plain


def packed(arrays: dict[str, Any]) -> bytes:
    """Return the bytes of a file with these arrays; none without any."""
    if not arrays:
        return b""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:  # as np.savez, in half the time where arrays are small
        for name, array in arrays.items():
            made = np.asarray(array, order="C")
            if made.dtype.hasobject:
                raise TypeError(f"{name} holds objects, not numbers")
            archive.writestr(
                ZipInfo(f"{name}.npy"), _header(made.dtype, made.shape) + made.tobytes()
            )
    return buffer.getvalue()


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
