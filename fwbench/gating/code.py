"""Versions of the code side by side: a git revision, a wheel, an interpreter."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fwbench.disk import failing
from fwbench.gating import places, revisions
from fwbench.gating.commands import Commands
from fwbench.gating.making import Maker
from fwbench.gating.version import Code
from fwbench.interruption import Interruption

__all__ = ["Code", "both", "inside", "twice"]


@contextmanager
def both(ref: str, here: Path, words: Sequence[str] = ()) -> Iterator[tuple[Code, Code]]:
    """Make the two sides of a gate, for as long as the ``with`` block lasts.

    Parameters
    ----------
    ref : str
        The base: a wheel; an interpreter, or a virtual environment; a git revision of the
        repository around `here`. The other side is the working tree of that repository, or else
        the interpreter that runs this, as it is.
    here : Path
        The folder of the user.
    words : sequence of str
        Texts of solvers and problems. Files that they name, and that git ignores, are taken along.

    Yields
    ------
    tuple of Code
        Base and new. What was built for them is gone afterwards.

    Raises
    ------
    GateError
        A side cannot be built, or cannot import fwbench.
    UnknownName
        `ref` is nothing of all that.
    InvalidParameter
        One of `words` cannot be read.
    RunFolderError
        The disk is full.
    KeyboardInterrupt
        At a Ctrl-C or SIGTERM; nothing that was begun stays.
    """
    with _made(lambda maker: maker.both(ref), here.resolve(), words) as sides:
        yield sides


@contextmanager
def twice(here: Path, words: Sequence[str] = ()) -> Iterator[tuple[Code, Code]]:
    """Make the code around a folder twice, as `both` does: what differs is the machine's doing.

    Parameters
    ----------
    here : Path
        In a git repository its working tree is taken, else the interpreter that runs this.
    words : sequence of str
        As of `both`.

    Yields
    ------
    tuple of Code

    Raises
    ------
    GateError, InvalidParameter, RunFolderError, KeyboardInterrupt
        As `both` does.
    """
    with _made(lambda maker: maker.twice(), here.resolve(), words) as sides:
        yield sides


def inside(words: Sequence[str], here: Path) -> list[str]:
    """Return texts of solvers and problems that mean on each side what they mean here.

    Paths inside the repository become relative, since each side has its own files; those of files
    elsewhere become absolute.

    Parameters
    ----------
    words : sequence of str
    here : Path
        The folder in which they were typed.

    Raises
    ------
    GateError
        Git cannot read the repository.
    InvalidParameter
        A text cannot be read.
    """
    here = here.resolve()
    with Commands() as commands:
        repository = revisions.found(here, commands) if shutil.which("git") else None
    top = here if repository is None else repository.top
    return [places.moved(text, here, top) for text in words]


@contextmanager
def _made(
    making: Callable[[Maker], tuple[Code, Code]], here: Path, words: Sequence[str]
) -> Iterator[tuple[Code, Code]]:
    with failing(Path(os.environ.get("TMPDIR") or "/tmp"), "written"):
        made = tempfile.TemporaryDirectory(prefix="fwbench-gate-", ignore_cleanup_errors=True)
    with made as room:
        with Interruption(raises=True), Commands() as commands:
            maker = Maker(here, tuple(words), Path(room).resolve(), commands)
            base, new = _evened(*making(maker))
        yield base, new


def _evened(base: Code, new: Code) -> tuple[Code, Code]:
    """Make the environments of two sides equally long."""
    lengths = [
        sum(len(os.fsencode(part)) for pair in code.environment(0).items() for part in pair)
        for code in (base, new)
    ]
    longest = max(lengths)
    return (
        replace(base, padding=longest - lengths[0]),
        replace(new, padding=longest - lengths[1]),
    )
