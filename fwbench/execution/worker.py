"""The process in which runs are made: it takes tasks from a connection and answers with records.

Whatever becomes of it costs the run in flight alone; who started it sees how it ended.
"""

from __future__ import annotations

import faulthandler
import fcntl
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

import numba
import numpy as np
from threadpoolctl import ThreadpoolController

from fwbench.execution.flight import Flight
from fwbench.execution.here import Here
from fwbench.execution.machine import allow, pin
from fwbench.execution.tasks import Assignment, TooLarge

PARENT_DEATH, SUBREAPER = 1, 36  # PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of prctl(2)
CUT_OFF, FULL = 86, 87  # exit codes: it could not answer any more; its memory was full
THREADS = Path("/proc/self/task")
FAR = 512  # beyond the descriptors that a solver closes, or writes to, by mistake


@dataclass(frozen=True)
class Terms:
    """What a process for runs is told when it starts.

    Attributes
    ----------
    heart, rows, crash : int
        Descriptors of the files that it shares with whoever started it.
    place : int
        Which of the machine's cores are its own.
    threads : int
    shared : bool
        Whether runs go on in other processes meanwhile.
    memory : int or None
        Bytes that a run may take beyond what the process has before.
    """

    heart: int
    rows: int
    crash: int
    place: int
    threads: int
    shared: bool
    memory: int | None


@dataclass(frozen=True)
class Asked:
    """One run, and what makes larger runs hopeless."""

    assignment: Assignment
    too_large: list[TooLarge]


def _dies_with(parent: int) -> None:
    """End this process with the one that started it, however that ends; Linux alone."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PARENT_DEATH, signal.SIGKILL)
        ctypes.CDLL(None).prctl(SUBREAPER, 1)  # so that `_children` finds grandchildren too
    if os.getppid() != parent:  # it has ended before this was asked
        os._exit(1)


def _stacks(crash: IO[bytes]) -> None:
    """Have the Python stack written down at a fatal signal, and whenever SIGUSR1 asks for it."""
    faulthandler.enable(crash, all_threads=False)
    faulthandler.register(signal.SIGUSR1, crash, all_threads=False)


def _far(descriptor: int) -> int:
    """Move a descriptor out of the way, where the system allows so many."""
    try:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FAR)
    except OSError:
        return descriptor
    os.close(descriptor)
    return moved


def _children() -> list[int]:
    """Return the processes that a run has started and left; Linux alone."""
    found: list[int] = []
    with suppress(OSError, ValueError):  # a system that does not list them
        for thread in THREADS.iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def _settings() -> tuple[Any, ...]:
    """Return what a solver may change of its process and the next run would have to live with.

    Not the environment: libraries write there when they are imported.
    """
    folder = None
    with suppress(OSError):  # it was deleted
        folder = os.getcwd()
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    umask = os.umask(0o77)
    os.umask(umask)
    return folder, umask, os.nice(0), cores, np.geterr(), numba.get_num_threads()


@cache
def _pools(modules: int) -> list[Any]:
    """Return the libraries with threads of their own, once for so many imported modules."""
    return list(ThreadpoolController().lib_controllers)


def _greedy(threads: int) -> bool:
    """Say whether a library uses more threads than it may."""
    return any(pool.num_threads > threads for pool in _pools(len(sys.modules)))


def _leaves_something() -> bool:
    """Say whether a run has left what goes on beside the next one; end what can be ended."""
    children = _children()
    for child in children:
        with suppress(OSError):
            os.kill(child, signal.SIGKILL)
    timers = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
    ticking = any(any(signal.getitimer(timer)) for timer in timers)
    return bool(children) or ticking or threading.active_count() > 1


def main(descriptor: int, parent: int) -> None:
    """Make the runs that are asked for until nobody asks any more.

    Parameters
    ----------
    descriptor : int
        Of the connection.
    parent : int
        The process that started this one.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what a Ctrl-C ends
    _dies_with(parent)
    with Connection(_far(descriptor)) as connection:
        terms: Terms = connection.recv()
        crash = os.fdopen(_far(terms.crash), "wb", buffering=0)
        _stacks(crash)
        pin(terms.place, terms.threads)
        flight = Flight(terms.heart, _far(terms.rows))
        os.close(terms.heart)  # it is mapped: so nobody writes there by mistake
        here = Here(terms.threads, shared=terms.shared, observer=flight, told=connection.send)
        try:
            _serve(connection, here, terms)
        except MemoryError:  # not even the record of a run fits into what it may take
            os._exit(FULL)


def _serve(connection: Connection, here: Here, terms: Terms) -> None:
    """Answer with a record to each run that is asked for."""
    process, before = os.getpid(), list[Any]()
    for done in here.run(_asked(connection, here, terms, before)):
        allow(None)
        if os.getpid() != process:  # a copy that a solver made and did not end
            os._exit(0)
        try:
            connection.send(done)
        except OSError:  # a solver may close what it did not open
            os._exit(CUT_OFF)
        if _leaves_something() or _settings() != before[-1] or _greedy(terms.threads):
            os._exit(0)  # the next run gets a process without it


def _asked(
    connection: Connection, here: Here, terms: Terms, before: list[Any]
) -> Iterator[Assignment]:
    """Yield what is asked for, after saying that it may be; note the settings `before` it."""
    while True:
        connection.send(None)
        try:
            asked: Asked = connection.recv()
        except EOFError:
            return
        here.too_large = asked.too_large
        before[:] = [_settings()]
        allow(terms.memory)
        yield asked.assignment
