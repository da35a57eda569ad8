"""Claims by name, each with its verdict; several at a time in processes of their own."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fwbench import catalog
from fwbench.errors import UnknownName, nearest
from fwbench.names import files, registered
from fwbench.theory.claim import Claim, Effort, checked, verified
from fwbench.theory.verdicts import Record, record
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
    return list(_sources(names).values())


def _sources(names: tuple[str, ...]) -> dict[str, Claim]:
    """Return the claims by the name or path that finds each again; one asked twice is one."""
    known = [*files("claims"), *registered("claims")]
    found = {source: _claim(source, known) for source in names or known}
    return dict(sorted(found.items(), key=lambda item: _place(item[1])))


def _place(claim: Claim) -> tuple[Any, ...]:
    return claim.section, claim.source, claim.name


def _claim(source: str, known: list[str]) -> Claim:
    if source.endswith(".py"):
        if not os.path.isfile(source):
            raise UnknownName(f"no file {source}")
        path = Path(source)
        return checked(getattr(catalog.loaded(path), "CLAIM", None), path.stem)
    if source in files("claims"):
        module = importlib.import_module(f"fwbench.claims.{source}")
        return checked(getattr(module, "CLAIM", None), source)
    if source in (points := registered("claims")):
        return checked(points[source].load(), source)
    raise UnknownName(f"no claim is called {source!r}; {nearest(source, known)}")


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
    sources = list(_sources(names))
    if jobs > 1 and len(sources) > FEW:
        yield from _beside(sources, effort, jobs)
        return
    for source in sources:
        yield _verdict(source, effort)


def _verdict(source: str, effort: Effort) -> Record:
    [claim] = claims((source,))
    with limited_threads():
        return record(verified(claim, effort))


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
