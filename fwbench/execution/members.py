"""Who takes part of a Dask cluster: connected to, compared with this machine, kept, let go."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import threading
import uuid
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic, sleep
from types import TracebackType
from typing import Any

from fwbench.errors import ClusterError, MissingExtra, said
from fwbench.execution import guest, shipping, sources
from fwbench.execution.local_workers import LocalWorkers

LOCAL = "local"
ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx)://)?(\[[0-9a-fA-F:.]+\]|[^\s\[\]:/]+):(\d{1,5})/?")
CONNECT_SECONDS = 10.0
WORKERS_SECONDS = 30.0  # for which a cluster may have no worker
ANSWER_SECONDS = 30.0  # for the scheduler
LEASE_SECONDS, RENEW_SECONDS = 60.0, 10.0
LOOK_SECONDS = 0.5  # how often the scheduler is asked who is there
PIECE = 2**24  # bytes of a file sent at a time


@dataclass
class Member:
    """A worker that takes part.

    Attributes
    ----------
    address, host : str
    folder : str
        Where its files are.
    place : int
        Which of its host's cores are its own.
    sent : dict
        Path of a file that it has → what changes when that file does.
    rests_until : float
        On the monotonic clock: it failed, and the scheduler may not know yet that it is gone.
    """

    address: str
    host: str
    folder: str
    place: int
    sent: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    rests_until: float = 0.0


class Members:
    """The workers of a scheduler that take part in a session; a context manager.

    Parameters
    ----------
    asked : str
        Address of the scheduler; ``local`` starts one.

    Attributes
    ----------
    there : dict of str to Member
        By address.
    client : distributed.Client
        Of the scheduler.
    token : str
        By which the workers know the session.

    Raises
    ------
    MissingExtra
        Where Dask is not installed.
    ClusterError
        Where nobody answers, no worker is there, or one of them holds other versions.
    """

    client: Any

    def __init__(self, asked: str) -> None:
        self.there: dict[str, Member] = {}
        self.token = f"fwbench-{uuid.uuid4().hex}"
        self._asked, self._path = asked, shipping.search_path()
        self._unlike: set[str] = set()
        self._looked = 0.0
        self._opened = ExitStack()

    def __enter__(self) -> Members:
        _needs_dask()
        with ExitStack() as opened:
            opened.enter_context(_without_noise())
            address, wanted = self._asked, 1
            if address == LOCAL:
                local = LocalWorkers()
                address, wanted = opened.enter_context(local), local.count
            self.client = _connected(address)
            opened.callback(self.client.close, timeout=CONNECT_SECONDS)
            opened.callback(self._leave)
            self._gather(wanted)
            over = threading.Event()
            renewing = threading.Thread(target=self._renew, args=(over,), daemon=True)
            renewing.start()
            opened.callback(renewing.join, ANSWER_SECONDS)
            opened.callback(over.set)
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.close()

    @property
    def scheduler(self) -> str:
        """The address of the scheduler."""
        return str(self.client.scheduler.address)

    @property
    def hosts(self) -> dict[str, bool]:
        """The machines that take part, and whether several workers share each."""
        return {member.host: self.beside(member.host) > 1 for member in self.there.values()}

    def beside(self, host: str) -> int:
        """Return how many workers a machine has."""
        return sum(member.host == host for member in self.there.values())

    def _gather(self, wanted: int) -> None:
        """Wait for workers, at least for one; every worker that is there must fit."""
        until = monotonic() + WORKERS_SECONDS
        while True:
            if unlike := self.look(anew=True):
                raise ClusterError(unlike[0])
            if len(self.there) >= wanted or (self.there and monotonic() > until):
                return
            if monotonic() > until:
                raise ClusterError(
                    f"--dask {self._asked}: no worker within {WORKERS_SECONDS:g} s; start one "
                    f"with: dask worker {self.scheduler}"
                )
            sleep(LOOK_SECONDS / 5)

    def look(self, *, anew: bool = False) -> list[str]:
        """Ask who is there, and take in who is new; return why others cannot take part.

        Raises
        ------
        ClusterError
            Where the scheduler is gone.
        """
        if not anew and monotonic() < self._looked + LOOK_SECONDS:
            return []
        try:
            asked = self.client.scheduler.ncores
            there = set(self.client.sync(asked, callback_timeout=ANSWER_SECONDS))
        except Exception as error:  # whatever a broken connection raises
            raise ClusterError(
                f"the Dask scheduler at {self.scheduler} does not answer any more "
                f"({said(error)}); what was done is saved, --resume does the rest"
            ) from error
        self._looked = monotonic()
        for address in self.there.keys() - there:
            del self.there[address]
        self._unlike &= there
        new = sorted(there - self.there.keys() - self._unlike)
        answers = self.ask(guest.enrol, self._path, LEASE_SECONDS, workers=new) if new else {}
        found = (self._taken_in(address, facts) for address, facts in answers.items())
        return [why for why in found if why is not None]

    def _taken_in(self, address: str, facts: Any) -> str | None:
        """Let a worker take part, or return why it cannot."""
        if isinstance(facts, OSError):  # it is about to go
            return None
        if not isinstance(facts, guest.Facts):
            self._unlike.add(address)
            return f"fwbench cannot be used on the Dask worker at {address}: {said(facts)}"
        if (why := _unlike(facts)) is not None:
            self._unlike.add(address)
            self.ask(guest.leave, workers=[address])
            return f"the Dask worker on {facts.host} does not fit: {why}; install the same there"
        place = self._free_place(facts.host)
        self.there[address] = Member(address, facts.host, facts.folder, place)
        return None

    def _free_place(self, host: str) -> int:
        taken = {member.place for member in self.there.values() if member.host == host}
        return next(place for place in range(len(taken) + 1) if place not in taken)

    def ask(self, what: Any, *words: Any, workers: list[str]) -> dict[str, Any]:
        """Have something done on workers, beside their tasks; errors are among the answers."""
        answers: dict[str, Any] = self.client.run(
            what, self.token, *words, workers=workers, on_error="return"
        )
        return answers

    def cancel(self, futures: list[Any]) -> None:
        """Forget runs that are in flight."""
        if futures:
            with suppress(Exception):  # the scheduler has gone, and they with it
                self.client.cancel(futures, force=True)

    def _renew(self, over: threading.Event) -> None:
        """Tell the workers that somebody is there, until it is over."""
        while not over.wait(RENEW_SECONDS):
            with suppress(Exception):  # the connection is lost: seen by whoever runs
                self.ask(guest.renew, workers=list(self.there))

    def _leave(self) -> None:
        if self.there:
            with suppress(Exception):  # else they leave when their lease is over
                self.ask(guest.leave, workers=list(self.there))

    def ship(self, path: str, member: Member) -> None:
        """Send a file to a worker, unless it has it.

        Raises
        ------
        Exception
            What the worker, or the connection to it, raises.
        """
        with open(path, "rb") as file:
            stat = shipping.stamped(file)
            if member.sent.get(path) == stat:
                return
            offset, piece = 0, file.read(PIECE)
            while piece or offset == 0:  # an empty file has one piece too
                [answer] = self.ask(
                    guest.receive, path, offset, piece, workers=[member.address]
                ).values()
                if isinstance(answer, Exception):
                    raise answer
                if not piece:
                    break
                offset, piece = offset + len(piece), file.read(PIECE)
        member.sent[path] = stat


def _unlike(facts: guest.Facts) -> str | None:
    """Return what a worker has other than this machine, None if nothing."""
    own = sources.numerics()
    for name in sorted(own.keys() | facts.versions.keys()):
        here, there = own.get(name, "missing"), facts.versions.get(name, "missing")
        if here != there:
            return f"{name} is {there} there and {here} here"
    return None if facts.code == guest.own_code() else "the code of fwbench is another there"


def _needs_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "--dask needs dask and distributed: pip install 'fwbench[dask]'"
        ) from error


def _connected(address: str) -> Any:
    """Return a client of a scheduler."""
    _needs_dask()
    found = ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found[2]) < 2**16:
        raise ClusterError(
            f"--dask takes local or the address of a scheduler, as tcp://127.0.0.1:8786; got "
            f"{address!r}"
        )
    from distributed import Client

    try:
        # refused at once, where Dask would go on trying
        with socket.create_connection((found[1].strip("[]"), int(found[2])), CONNECT_SECONDS):
            pass
        if (kind := asyncio.run(_kind(address))) != "Scheduler":
            raise ValueError(f"a Dask {kind} stands there")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions: what matters is compared below
            connect: Any = Client  # has no types
            return connect(address, timeout=CONNECT_SECONDS, set_as_default=False, name="fwbench")
    except Exception as error:  # whatever stands there may say anything
        raise ClusterError(
            f"--dask {address}: no Dask scheduler answers within {CONNECT_SECONDS:g} s "
            f"({said(error)}); start one with: dask scheduler, or say --dask local"
        ) from error


async def _kind(address: str) -> str:
    """Ask what stands at an address; a client of Dask would wait for ever if it is not Dask."""
    from distributed.core import rpc
    from distributed.security import Security

    reach: Any = rpc  # these have no types
    security: Any = Security

    async def asked() -> str:
        keys = security().get_connection_args("client")
        async with reach(address, timeout=CONNECT_SECONDS, connection_args=keys) as there:
            return str((await there.identity())["type"])

    return await asyncio.wait_for(asked(), CONNECT_SECONDS)


@contextmanager
def _without_noise() -> Iterator[None]:
    """Keep what Dask logs off the terminal: what matters is raised, or in a row."""
    logger = logging.getLogger("distributed")
    with suppress(ImportError):
        import distributed  # noqa: F401  # sets its loggers up when it is first imported
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    loggers = [logger, *map(logging.getLogger, names)]
    before = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for one, level in zip(loggers, before, strict=True):
            one.setLevel(level)
