"""Which files are opened while something is built.

An audit hook of the interpreter hears of every file, by whatever library it is opened, as long as
it is opened through Python. A hook can't be taken away again: there is one, set when it is first
needed, and it does nothing while nobody listens.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import get_ident
from types import TracebackType
from typing import Any

import fwbench
from fwbench.closure import is_installed

CODE = (".py", ".pyc", ".nbi", ".nbc")  # the last two: kernels that numba has compiled
PACKAGED = (".egg-info", ".dist-info")  # what a package says of itself
SYSTEM = ("/proc/", "/sys/", "/dev/")
GONE = ""  # in place of the digest of a file that can't be read
HEARD = ("open", "os.listdir", "os.scandir")
SEARCH = ("<frozen importlib", "<frozen zipimport")  # for modules: it looks into folders too


def content(name: str) -> str:
    """Return the first 16 hex digits of a file's SHA-256, `GONE` where it can't be read.

    Of a folder, whose name ends with a separator: that of the names in it.
    """
    try:
        if name.endswith(os.sep):
            names = "\0".join(sorted(n for n in os.listdir(name) if n != "__pycache__"))
            return hashlib.sha256(names.encode(errors="surrogateescape")).hexdigest()[:16]
        with open(name, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()[:16]
    except OSError:
        return GONE


class Opened:
    """Note the files that are opened for reading while this context is active.

    Those are seen that Python opens: ``open``, ``Path.read_text``, ``np.load``, ``np.memmap``,
    ``pandas.read_csv``, ``scipy.io.loadmat``. What a library opens by itself in another language,
    as pyarrow and HDF5 do when they are handed a path, is not; of the problem ``file`` the
    parameter `content` covers it.

    Left out are code, the Python installation, folders, pipes and devices. A file counts as it was
    when it was first opened.

    Attributes
    ----------
    files : dict
        Absolute path → the first 16 hex digits of the SHA-256.
    """

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def __enter__(self) -> Opened:
        _listen()
        _ACTIVE.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _ACTIVE.remove(self)

    def note(self, name: str) -> None:
        """Note a file that is about to be read, if it counts."""
        if name not in self.files and _counts(name):
            self.files[name] = content(name)


@contextmanager
def attributed(key: str, also: Mapping[str, str]) -> Iterator[None]:
    """Let those who listen hear, too, of files that were opened before under the same key.

    What is built twice in a process may have kept in a cache what it read the first time.

    Parameters
    ----------
    key : str
        Names what is built.
    also : mapping
        Files that it had read earlier still, as `Opened.files` holds them.
    """
    with Opened() as now:
        yield
    before = _before(key)
    for listener in _ACTIVE:
        listener.files |= {**also, **before, **now.files} | listener.files
    before |= now.files


@cache
def _before(key: str) -> dict[str, str]:
    """Return what was opened under a key so far in this process: one dictionary a key."""
    return {}


# What the hook looks at: who listens, and which threads read a file for a note of their own.
_ACTIVE: list[Opened] = []
_NOTING: set[int] = set()


@cache
def _listen() -> None:
    sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    """Tell those who listen of a file that is about to be opened, or of a folder to be listed."""
    if not _ACTIVE or event not in HEARD:  # at the very end of a process neither is there
        return
    listed = event != "open"
    if sys._getframe(1).f_code.co_filename.startswith(SEARCH):
        return
    path, mode, flags = (arguments[0], "r", 0) if listed else arguments
    if not isinstance(path, str | bytes | os.PathLike) or not _reads(mode, flags):
        return
    if (thread := get_ident()) in _NOTING:
        return
    _NOTING.add(thread)
    try:
        name = os.path.abspath(os.fsdecode(path)) + (os.sep if listed else "")
        for listener in tuple(_ACTIVE):
            listener.note(name)
    except (OSError, ValueError):  # no working folder, a name with a null character
        return
    finally:
        _NOTING.discard(thread)


def _reads(mode: str | None, flags: int) -> bool:
    if mode is not None:
        return not set(mode) & set("wax")
    return flags & (os.O_WRONLY | os.O_CREAT | os.O_TRUNC) == 0  # by os.open


def _counts(name: str) -> bool:
    if name.endswith(CODE) or name.startswith(SYSTEM):
        return False
    if os.path.dirname(name).endswith(PACKAGED):
        return False
    if is_installed(Path(name)) or name.startswith(tuple(_imported())):
        return False
    if name.endswith(os.sep):
        return os.path.isdir(name)
    try:
        return stat.S_ISREG(os.stat(name).st_mode)
    except FileNotFoundError:  # if it is there next time, that is another problem
        return name not in sys.path  # where modules are looked for


@cache
def _imported() -> list[str]:
    """Return fwbench's own folder: what its code looks up there is no data of a problem."""
    return [str(Path(fwbench.__file__).resolve().parent) + os.sep]
