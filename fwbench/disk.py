"""What is written is on the disk and whole, or it is not there, and a sentence says why."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import psutil

from fwbench.errors import RunFolderError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would write \r\n
# what `write_whole` writes before it renames: .NAME.PID
_BESIDE = re.compile(r"\..+\.(?:json|jsonl|npz|parquet|html|md|png|pdf|svg)\.(\d{1,10})")


@contextmanager
def failing(path: Path, verb: str, after: str = "") -> Iterator[None]:
    """Say in one sentence what could not be done with a path.

    Parameters
    ----------
    path : Path
    verb : str
        What was to be done, as in "cannot be written".
    after : str
        Ends the sentence.

    Raises
    ------
    RunFolderError
        In place of any OSError.
    """
    try:
        yield
    except RunFolderError:
        raise
    except OSError as error:
        full = error.errno in _FULL
        reason = "the disk is full, free some space" if full else error.strerror or str(error)
        raise RunFolderError(f"{path} cannot be {verb}: {reason}{after}") from error


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to the disk: a new or renamed file may be lost without it."""
    if os.name == "nt":  # pragma: no cover - Windows opens no folders
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # a folder that may be entered, not listed: nothing can be done
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # the file system cannot, and has no need to
            raise
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: str | bytes | Iterable[bytes], after: str = "") -> None:
    """Write a file so that a reader sees the old content or the new one, never half of it.

    Parameters
    ----------
    path : Path
        Its folder exists.
    content : str, bytes or iterable of bytes
    after : str
        Ends the sentence of an error.

    Raises
    ------
    RunFolderError
        The old content stays, and nothing beside it.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    if isinstance(content, str):
        content = content.encode()
    pieces = [content] if isinstance(content, bytes) else content
    with failing(path, "written", after):
        try:
            with beside.open("wb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            with suppress(OSError):
                beside.unlink()
            raise
        sync_folder(path.parent)


def append_whole(path: Path, pieces: Iterable[bytes], *, create: bool) -> None:
    """Add lines to a file: all of them are on the disk when this returns, or none of them stays.

    A last line without an end, which a killed process has left, is ended first, so that it spoils
    no other one. Whoever calls is the only one that writes to the file.

    Parameters
    ----------
    path : Path
    pieces : iterable of bytes
    create : bool
        Whether a missing file is made.

    Raises
    ------
    OSError
        The file has its old length again, unless the disk refuses that too: then the line that it
        ends with is torn.
    """
    flags = os.O_RDWR | os.O_APPEND | _BINARY | (os.O_CREAT if create else 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        _refuse_special(descriptor)
        before = os.fstat(descriptor).st_size
        try:
            if before and _last_byte(descriptor) != b"\n":
                _write(descriptor, b"\n")
            for piece in pieces:
                _write(descriptor, piece)
            os.fsync(descriptor)
        except BaseException:  # a Ctrl-C leaves no half of a line either
            with suppress(OSError):
                os.ftruncate(descriptor, before)
                os.fsync(descriptor)
            raise
    finally:
        os.close(descriptor)
    if create:
        sync_folder(path.parent)


def cut(path: Path, length: int) -> None:
    """Cut a file to a length in bytes, on the disk too; needs no free space."""
    with path.open("r+b") as file:
        file.truncate(length)
        os.fsync(file.fileno())


def pieces_of(path: Path, ranges: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    """Yield what stands in a file from each start to its end, at most 1 MiB at a time."""
    with path.open("rb") as file:
        for start, end in ranges:
            file.seek(start)
            while start < end and (piece := file.read(min(end - start, 2**20))):
                start += len(piece)
                yield piece


def open_plain(path: Path) -> IO[bytes]:
    """Open a file to be read; a pipe or a device, which may never end, is refused.

    Raises
    ------
    OSError
    """
    # without O_NONBLOCK, to open a pipe waits for its writer
    descriptor = os.open(path, os.O_RDONLY | _BINARY | getattr(os, "O_NONBLOCK", 0))
    try:
        _refuse_special(descriptor)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def sweep(folder: Path) -> None:
    """Remove files that killed processes were writing beside their place.

    Those of processes that still run stay: a report may be written at the same time.
    """
    if not folder.is_dir():
        return
    with failing(folder, "tidied"):
        for path in folder.iterdir():
            named = _BESIDE.fullmatch(path.name)
            if named and not psutil.pid_exists(int(named[1])):
                path.unlink(missing_ok=True)


def is_leftover(path: Path) -> bool:
    """Whether a file's name is that of one being written beside its place."""
    return _BESIDE.fullmatch(path.name) is not None


def _refuse_special(descriptor: int) -> None:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, no file")


def _last_byte(descriptor: int) -> bytes:
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:  # a disk that is nearly full takes a part
        rest = rest[os.write(descriptor, rest) :]
