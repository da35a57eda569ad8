"""On a worker of a Dask cluster: the process in which runs are made, and the files it was sent.

A worker takes part until it is told to leave, or nobody has asked for it for a while: whatever
becomes of the machine that asked, nothing of it goes on here.
"""

from __future__ import annotations

import asyncio
import pickle
import platform
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from fwbench.execution import sources
from fwbench.execution.isolated import Isolated
from fwbench.execution.machine import affordable
from fwbench.execution.tasks import Assignment, Done, TooLarge
from fwbench.solver import AUTO

LOOK_SECONDS = 0.1  # how often a run in flight is looked at


class Terms(NamedTuple):
    """What a process for runs depends on; with other terms there must be another one.

    Attributes
    ----------
    place : int
        Which of the machine's cores are its own.
    threads : int
    beside : int
        How many workers the machine has, this one included.
    memory : int or None
        Bytes that a run may take; None: its share of four fifths of what is free.
    """

    place: int
    threads: int
    beside: int
    memory: int | None


class Order(NamedTuple):
    """One run."""

    assignment: Assignment
    too_large: list[TooLarge]
    terms: Terms


class Facts(NamedTuple):
    """What a worker says of itself.

    Attributes
    ----------
    host : str
    folder : str
        Where its files are.
    versions : dict
        Of Python, fwbench and the numerical libraries.
    code : str
        A digest of the suite's own solvers and of what runs and judges them.
    """

    host: str
    folder: str
    versions: dict[str, str]
    code: str


def own_code() -> str:
    """Return a digest of the suite's own solvers and of what runs and judges them."""
    return sources.solver_digest(AUTO.name)


class Guest:
    """What is kept on a worker between runs.

    Parameters
    ----------
    worker : distributed.Worker
    token : str
        Of the session that it is kept for.
    path : pair of list of str
        Folders of modules, as they are called there: before the installed ones, and after.
    lease : float
        Seconds for which it stays without being asked.
    """

    def __init__(
        self, worker: Any, token: str, path: tuple[list[str], list[str]], lease: float
    ) -> None:
        # in Dask's own folder: a worker that was killed leaves it to the next one to clear
        made = tempfile.mkdtemp(prefix="fwbench-", dir=worker.local_directory)
        self.folder = Path(made).resolve()
        self._kept, self._token, self._lease = worker.extensions, token, lease
        self._path = tuple([f"{self.folder}{place}" for place in places] for places in path)
        self._isolated: Isolated | None = None
        self._terms: Terms | None = None
        self._stopping = False
        self._kept[token] = self
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.call_later(lease, self.leave)

    def renew(self) -> None:
        """Stay for another while."""
        self._end.cancel()
        self._end = self._loop.call_later(self._lease, self.leave)

    def interrupt(self) -> None:
        """Have the run in flight ended, and each one that may still be asked for."""
        self._stopping = True

    def leave(self) -> None:
        """Take part no longer."""
        self._kept.pop(self._token, None)
        self.close()

    def close(self) -> None:
        """End the process and remove all files; Dask calls it when the worker closes."""
        self._end.cancel()
        self._stopping = True
        self._drop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def take(self, name: str, offset: int, piece: bytes) -> None:
        """Write a piece of a file.

        Parameters
        ----------
        name : str
            Absolute path on the machine that it comes from.
        offset : int
            Bytes; at 0 an older file of this name ends.
        piece : bytes
        """
        place = self.folder / name.lstrip("/")
        if ".." in place.parts:
            raise ValueError(f"{name} leads out of the folder of this session")
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("r+b" if offset else "wb") as file:
            file.seek(offset)
            file.write(piece)

    async def made(self, order: Order) -> Done:
        """Make one run, whatever becomes of it."""
        isolated = self._process(order.terms)
        isolated.ask(order.assignment, order.too_large)
        while True:
            if self._isolated is not isolated:
                raise RuntimeError("its session is over")
            if self._stopping:
                done: Done | None = isolated.interrupt()
                self._drop()
            else:
                done = isolated.seen()
            if done is not None:
                return done
            await _stirs(isolated)

    def _process(self, terms: Terms) -> Isolated:
        busy = self._isolated is not None and self._isolated.busy
        if self._isolated is None or self._terms != terms or busy:
            self._drop()
            before, after = self._path
            memory = affordable(terms.beside) if terms.memory is None else terms.memory
            self._isolated = Isolated(
                terms.place, terms.threads, shared=terms.beside > 1, memory=memory,
                path=[*before, *sys.path, *after],
            )  # fmt: skip
            self._terms = terms
        return self._isolated

    def _drop(self) -> None:
        if self._isolated is not None:
            self._isolated.close()
            self._isolated = None


async def _stirs(isolated: Isolated) -> None:
    """Wait until a process says something, but not for long."""
    loop, stirred = asyncio.get_running_loop(), asyncio.Event()
    connection = isolated.connection.fileno()
    loop.add_reader(connection, stirred.set)
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(stirred.wait(), LOOK_SECONDS)
    finally:
        loop.remove_reader(connection)


# -- what a cluster asks of its workers; Dask fills in `dask_worker` -----------------------------


async def enrol(
    token: str, path: tuple[list[str], list[str]], lease: float, dask_worker: Any = None
) -> Facts:
    """Take part in a session."""
    guest = Guest(dask_worker, token, path, lease)
    return Facts(platform.node(), str(guest.folder), sources.numerics(), own_code())


async def renew(token: str, dask_worker: Any = None) -> None:
    """Stay for another while."""
    _guest(token, dask_worker).renew()


async def receive(
    token: str, name: str, offset: int, piece: bytes, dask_worker: Any = None
) -> None:
    """Write a piece of a file."""
    guest = _guest(token, dask_worker)
    guest.renew()
    guest.take(name, offset, piece)


async def interrupt(token: str, dask_worker: Any = None) -> None:
    """End the run in flight."""
    _guest(token, dask_worker).interrupt()


async def leave(token: str, dask_worker: Any = None) -> None:
    """End the session."""
    if (guest := dask_worker.extensions.get(token)) is not None:
        guest.leave()


async def made(token: str, order: bytes) -> Done:
    """Make one run: the task of Dask. The order is pickled, so that Dask reads nothing into it."""
    from distributed import get_worker

    guest = _guest(token, get_worker())
    guest.renew()
    return await guest.made(pickle.loads(order))


def _guest(token: str, worker: Any) -> Guest:
    found = worker.extensions.get(token)
    if not isinstance(found, Guest):
        raise LookupError("this worker takes no part in the session any more")
    return found
