"""One process at a time writes a run folder.

The lock is on the open file ``.lock``, not the file itself: the system releases it when the process
ends, however it ends. What the file says is for people, and nothing else depends on it.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fwbench.disk import failing
from fwbench.errors import RunFolderError

LOCK = ".lock"


@dataclass(frozen=True)
class Held:
    """A lock that this process holds.

    Attributes
    ----------
    path : Path
        Of the lock file.
    descriptor : int
        Of the same file, open.
    """

    path: Path
    descriptor: int

    @property
    def lost(self) -> bool:
        """Whether another lock file stands in its place: the folder is in other hands."""
        try:
            there = os.stat(self.path)
        except FileNotFoundError:
            return False  # nobody else can have locked what is not there
        return not os.path.samestat(there, os.fstat(self.descriptor))


@contextmanager
def locked(folder: Path, *, wait: bool, told: Callable[[str], None]) -> Iterator[Held]:
    """Hold the lock of a folder; child processes that are spawned do not inherit it.

    Parameters
    ----------
    folder : Path
        It exists.
    wait : bool
        Whether to wait for another process to end, or to refuse.
    told : callable
        Called once with a sentence before a wait.

    Raises
    ------
    RunFolderError
        Another process holds it and `wait` is false; this process holds it; or the file system
        knows no locks.
    """
    descriptor = _taken(folder, wait, told)
    try:
        yield Held(folder / LOCK, descriptor)
    finally:
        with suppress(OSError):
            _unlock(descriptor)  # a forked child may have the file open still
        os.close(descriptor)


def _taken(folder: Path, wait: bool, told: Callable[[str], None]) -> int:
    path = folder / LOCK
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    while True:
        with failing(folder, "locked"):
            descriptor = os.open(path, flags, 0o666)
        try:
            if not _lock(folder, descriptor, block=False):
                _await(folder, descriptor, wait, told)
                told = _silent
            if not Held(path, descriptor).lost and path.exists():
                _describe(descriptor)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the file was deleted meanwhile: lock the one that is there now


def _silent(sentence: str) -> None:
    pass


def _await(folder: Path, descriptor: int, wait: bool, told: Callable[[str], None]) -> None:
    holder = _holder(folder / LOCK)
    if holder and (holder["pid"], holder["host"]) == (os.getpid(), _host()):
        raise RunFolderError(f"{folder} is being written by this very process already")
    who = "{pid} on {host} since {since}".format_map(holder) if holder else "unknown"
    if not wait:
        raise RunFolderError(
            f"{folder} is being written by another process ({who}); --resume waits for it, or "
            "choose another --out"
        )
    told(f"{folder} is being written by another process ({who}); waiting until it has ended")
    _lock(folder, descriptor, block=True)


def _host() -> str:
    return re.sub(r"[^\w.-]", "_", socket.gethostname())


def _describe(descriptor: int) -> None:
    since = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
    text = json.dumps({"pid": os.getpid(), "host": _host(), "since": since}) + "\n"
    with suppress(OSError):  # a full disk: the lock holds without a word
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, text.encode())


def _holder(path: Path) -> dict[str, Any] | None:
    """Return who wrote the file last, or None where it does not say so in so many words."""
    try:
        with path.open("rb") as file:
            holder = json.loads(file.read(4096))
        pid, host, since = holder["pid"], holder["host"], holder["since"]
        sane = isinstance(pid, int) and re.fullmatch(r"[\w.-]{1,255}", host, re.A)
        sane = sane and re.fullmatch(r"[\d :+-]{1,40}", since, re.A)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return {"pid": pid, "host": host, "since": since} if sane else None


if sys.platform == "win32":  # pragma: no cover
    import msvcrt
    import time

    _FAR = 2**30  # bytes are locked against reading too: one that nobody reads

    def _lock(folder: Path, descriptor: int, *, block: bool) -> bool:
        while True:
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except PermissionError:
                if not block:
                    return False
                time.sleep(0.2)
            except OSError as error:
                raise _unlockable(folder, error) from error
            else:
                return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(folder: Path, descriptor: int, *, block: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if block else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError as error:
            raise _unlockable(folder, error) from error
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _unlockable(folder: Path, error: OSError) -> RunFolderError:
    return RunFolderError(
        f"{folder} cannot be locked: {error.strerror or error}; its file system may know no "
        "locks: choose an --out on a local disk"
    )
