"""Claims by name, each with its verdict; several at a time in processes of their own."""

from __future__ import annotations

import importlib
import inspect
import multiprocessing
import os
import signal
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from fwbench import catalog
from fwbench.errors import InvalidParameter, UnknownName, nearest
from fwbench.names import files, registered
from fwbench.theory.claim import Claim, Effort
from fwbench.theory.trials import checked, verified
from fwbench.theory.verdicts import Record, name_fault, record
from fwbench.warm import limited_threads

FEW = 6  # claims that one process has tried before a second one has imported what it needs


def claims(names: tuple[str, ...] = ()) -> list[Claim]:
    """Return the claims of these names, all without any; in the order of the paper's sections.

    Parameters
    ----------
    names : tuple of str
        Files of ``fwbench/claims/``, registered entry points, or paths of Python files.

    Raises
    ------
    UnknownName
        With the nearest names.
    InvalidParameter
        If a file does not end with a claim of its own name.
    """
    return [found.claim for found in written(names)]


class Written(NamedTuple):
    """A claim, and where it is written.

    Attributes
    ----------
    claim : Claim
    asked : str
        The name or path that finds it again.
    file : str
        A path as it was given, or one below the folder of its package.
    about : str
        The file's docstring: the statement in short and, where there is one, its proof.
    """

    claim: Claim
    asked: str
    file: str
    about: str


def written(names: tuple[str, ...] = ()) -> list[Written]:
    """Return the claims that `claims` returns, each with its file; one asked twice is one."""
    known = [*files("claims"), *registered("claims")]
    return sorted((_written(name, known) for name in dict.fromkeys(names or known)), key=_place)


def _place(found: Written) -> tuple[Any, ...]:
    claim = found.claim
    return claim.section, claim.source, claim.name


def _written(asked: str, known: list[str]) -> Written:
    if asked.endswith(".py"):
        if not os.path.isfile(asked):
            raise UnknownName(f"no file {asked}")
        if wrong := name_fault(Path(asked).stem):
            raise InvalidParameter(f"{asked}: the name of a claim, which is its file's, {wrong}")
        module = catalog.loaded(Path(asked))
        claim = checked(getattr(module, "CLAIM", None), Path(asked).stem)
        return Written(claim, asked, asked, _doc(module))
    if asked in files("claims"):
        module = importlib.import_module(f"fwbench.claims.{asked}")
        claim = checked(getattr(module, "CLAIM", None), asked)
    elif asked in (points := registered("claims")):
        claim = checked(points[asked].load(), asked)
        module = importlib.import_module(points[asked].module)
    else:
        raise UnknownName(f"no claim is called {asked!r}; {nearest(asked, known)}")
    return Written(claim, asked, f"{module.__name__.replace('.', '/')}.py", _doc(module))


def _doc(module: ModuleType) -> str:
    return inspect.cleandoc(module.__doc__ or "")


def verify(names: tuple[str, ...], effort: Effort, jobs: int = 1) -> Generator[Record]:
    """Yield the record of each claim, in the order of `claims`, as soon as it is known.

    Parameters
    ----------
    names : tuple of str
        All without any.
    effort : Effort
    jobs : int
        Processes; with more than one, a script that calls this must be importable
        (``if __name__ == "__main__"``), because each begins by importing it.

    Raises
    ------
    UnknownName
        Before anything is tried.
    """
    sources = [found.asked for found in written(names)]
    if jobs > 1 and len(sources) > FEW:
        yield from _beside(sources, effort, jobs)
        return
    for source in sources:
        yield _verdict(source, effort)


def _verdict(source: str, effort: Effort) -> Record:
    [(claim, asked, file, about)] = written((source,))
    with limited_threads():
        return record(verified(claim, effort), asked=asked, file=file, about=about)


@contextmanager
def _deaf() -> Generator[None]:
    """Start processes that leave a Ctrl-C to this one, for which it is only put off."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _beside(sources: list[str], effort: Effort, jobs: int) -> Generator[Record]:
    others = set(multiprocessing.active_children())
    spawn = multiprocessing.get_context("spawn")  # forking copies the locks of numba's threads
    pool = ProcessPoolExecutor(min(jobs, len(sources)), spawn)
    done = 0
    try:
        with _deaf():
            asked = [pool.submit(_verdict, source, effort) for source in sources]
        for told in asked:
            yield told.result()
            done += 1
    except BrokenProcessPool:  # killed, for want of memory as a rule: one at a time needs less
        for source in sources[done:]:
            yield _verdict(source, effort)
    finally:
        if done < len(sources):  # Ctrl-C, or the reader has seen enough: nobody waits for the rest
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()
        pool.shutdown(cancel_futures=True)
