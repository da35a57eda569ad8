"""Run tasks on the workers of a Dask cluster; what becomes of a worker costs an attempt, no run.

Each worker makes one run at a time, in a process that it keeps for that (`guest`): hard limits and
crashes are handled there as they are by a pool here. A run whose worker is lost is made on another.
"""

from __future__ import annotations

import pickle
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic
from types import TracebackType
from typing import Any

from fwbench.errors import ClusterError, said
from fwbench.execution import guest, shipping
from fwbench.execution.members import ANSWER_SECONDS, LOOK_SECONDS, WORKERS_SECONDS, Member, Members
from fwbench.execution.tasks import Assignment, Done, Task, TooLarge
from fwbench.execution.waiting import Line, Waiting
from fwbench.trace import Status

REST_SECONDS = 1.0  # for a worker that failed: by then the scheduler knows if it is gone
INTERRUPT_SECONDS = 5.0
ATTEMPTS = 3
THREADS = 1


@dataclass
class _Flight:
    """A run in flight."""

    waiting: Waiting
    needed: shipping.Needed
    member: Member
    future: Any  # distributed.Future
    shared: bool


class Cluster:
    """The workers of a Dask scheduler; a context manager.

    Parameters
    ----------
    address : str
        Of the scheduler, as ``tcp://127.0.0.1:8786``; ``local`` starts one, with a worker a core.
    memory : int, optional
        Bytes that a run may take; by default four fifths of what is free on its machine, shared
        among the workers there.

    Raises
    ------
    MissingExtra
        Where Dask is not installed.
    ClusterError
        Where nobody answers, no worker is there, or a worker holds other versions.
    """

    threads = THREADS

    def __init__(self, address: str, memory: int | None = None) -> None:
        self._asked, self._memory = address, memory
        self._members = Members(address)
        self._homes: dict[str, str] = {}
        self._too_large: list[TooLarge] = []

    def __enter__(self) -> Cluster:
        self._members.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._members.__exit__(kind, error, trace)

    @property
    def described(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {"dask": self._asked, "memory": self._memory}

    @property
    def hosts(self) -> dict[str, bool]:
        """The machines that take part, and whether several workers share each."""
        return self._members.hosts

    def note(self, task: Task, row: dict[str, Any]) -> None:
        """Remember a foreign code that ran out of time, and where an instance's runs were made."""
        if (found := TooLarge.of(task, row)) is not None:
            self._too_large.append(found)
        if (host := row.get("host")) in self.hosts:
            self._homes.setdefault(task.instance, host)

    def run(
        self, assignments: Iterable[Assignment], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[Done]:
        """Yield each task with its record and arrays as it ends, whatever becomes of it.

        Parameters
        ----------
        assignments : iterable of Assignment
            The next is asked for when a worker is free for it.
        stopped : callable
            Once it is true, no further task is begun, and those in flight are ended.

        Raises
        ------
        ClusterError
            Where the scheduler is gone, or all workers for half a minute.
        """
        line, ended = Line(assignments, self._homes), SimpleQueue[str]()
        flying: dict[str, _Flight] = {}
        seen = monotonic()
        try:
            while not stopped():
                for why in self._members.look():
                    warnings.warn(f"{why}; it is left out", RuntimeWarning, stacklevel=2)
                yield from self._lost(flying, line)
                yield from self._fill(flying, line, ended, stopped)
                if not flying and line.over:
                    return
                if self._members.there:
                    seen = monotonic()
                elif monotonic() > seen + WORKERS_SECONDS:
                    raise ClusterError(
                        f"for {WORKERS_SECONDS:g} s the Dask scheduler at "
                        f"{self._members.scheduler} has no worker any more; what was done "
                        "is saved, --resume does the rest"
                    )
                yield from self._arrived(flying, line, ended, LOOK_SECONDS)
            yield from self._interrupted(flying, ended)
        finally:
            self._members.cancel([flight.future for flight in flying.values()])

    def _fill(
        self,
        flying: dict[str, _Flight],
        line: Line,
        ended: SimpleQueue[str],
        stopped: Callable[[], bool],
    ) -> Iterator[Done]:
        """Give each free worker a run."""
        for member in list(self._members.there.values()):
            busy = any(flight.member is member for flight in flying.values())
            while not busy and not stopped() and monotonic() > member.rests_until:
                workers = {one.address: one.host for one in self._members.there.values()}
                waiting = line.next(member.address, member.host, workers)
                if waiting is None:
                    break
                task = waiting.assignment.task
                try:
                    needed = shipping.needed(task)
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # a user's file may raise anything
                    yield _without_result(task, Status.ERROR, said(error), 1)
                    continue
                try:
                    flight = self._sent(waiting, needed, member, ended)
                except Exception as error:  # the worker is gone, its disk is full
                    yield from self._failed(waiting, member, said(error), line)
                    break
                flying[flight.future.key] = flight
                busy = True

    def _sent(
        self,
        waiting: Waiting,
        needed: shipping.Needed,
        member: Member,
        ended: SimpleQueue[str],
    ) -> _Flight:
        """Send a run with the files that it needs to a worker."""
        for path in needed.paths:
            self._members.ship(path, member)
        assignment, beside = waiting.assignment, self._members.beside(member.host)
        order = guest.Order(
            Assignment(needed.there(member.folder), assignment.known),
            list(self._too_large),
            guest.Terms(member.place, THREADS, beside, self._memory),
        )
        task = assignment.task
        future = self._members.client.submit(
            guest.made,
            self._members.token,
            pickle.dumps(order),
            key=f"{self._members.token}-{task.run_id}-{len(waiting.failures)}-{uuid.uuid4().hex[:8]}",
            workers=[member.address],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )
        future.add_done_callback(lambda future: ended.put(future.key))
        return _Flight(waiting, needed, member, future, beside > 1)

    def _arrived(
        self, flying: dict[str, _Flight], line: Line, ended: SimpleQueue[str], seconds: float
    ) -> Iterator[Done]:
        """Wait for a run to end, and yield all that have."""
        wait: float | None = seconds
        while True:
            try:
                key = ended.get(wait is not None, wait)
            except Empty:
                return
            wait = None
            if (flight := flying.get(key)) is None:
                continue
            try:
                done = flight.future.result(timeout=ANSWER_SECONDS)
            except Exception as error:  # the worker or the connection is lost, Dask failed
                del flying[key]
                yield from self._failed(flight.waiting, flight.member, said(error), line)
                continue
            del flying[key]
            flight.future.release()
            yield self._taken(done, flight)

    def _taken(self, done: Done, flight: _Flight) -> Done:
        """Return a run as if it had been made here."""
        task = flight.waiting.assignment.task
        done = shipping.back(done, flight.needed, task, flight.member.folder)
        if done.record is not None:
            row = done.record["row"]
            row["attempts"] = len(flight.waiting.failures) + 1
            if not flight.shared and self._members.beside(flight.member.host) > 1:
                # another worker has joined meanwhile; no later run has such a key
                row |= {"shared": True, "cache_key": None}
            self.note(task, row)
        return done

    def _lost(self, flying: dict[str, _Flight], line: Line) -> Iterator[Done]:
        """Take the runs whose workers are gone back into the line."""
        for key, flight in list(flying.items()):
            if flight.member.address not in self._members.there:
                del flying[key]
                self._members.cancel([flight.future])
                yield from self._failed(flight.waiting, flight.member, "lost", line)

    def _failed(self, waiting: Waiting, member: Member, why: str, line: Line) -> Iterator[Done]:
        """Have a run made again, or give it up."""
        waiting.failures.append((member.address, why))
        member.rests_until = monotonic() + REST_SECONDS
        if len(waiting.failures) < ATTEMPTS:
            line.again(waiting)
            return
        told = ", ".join(f"{address} ({how})" for address, how in waiting.failures)
        reason = f"its Dask worker failed {ATTEMPTS} times: {told}"
        task = waiting.assignment.task
        yield _without_result(task, Status.CRASHED, reason, ATTEMPTS, member.host)

    def _interrupted(self, flying: dict[str, _Flight], ended: SimpleQueue[str]) -> Iterator[Done]:
        """End the runs in flight, as the user wants; yield what there is of each."""
        line = Line((), {})
        if flying:
            self._members.ask(guest.interrupt, workers=[f.member.address for f in flying.values()])
        until = monotonic() + INTERRUPT_SECONDS
        while flying and (left := until - monotonic()) > 0:
            yield from self._arrived(flying, line, ended, left)
        for flight in flying.values():
            task, attempts = flight.waiting.assignment.task, len(flight.waiting.failures) + 1
            reason = "interrupted from the keyboard"
            yield _without_result(task, Status.INTERRUPTED, reason, attempts, flight.member.host)


def _without_result(
    task: Task, status: Status, reason: str, attempts: int, host: str | None = None
) -> Done:
    """Return the record of a run that no worker has made."""
    row = {
        **task.columns(),
        "cache_key": None,
        "attempts": attempts,
        "status": str(status),
        "reason": reason,
        "traceback": None,
        "signal": None,
        "steps": None,
        "host": host,
        "threads": THREADS,
    }
    return Done(task, {"row": row, "trace": {}, "rest": None, "head": None, "origin": None}, {})
