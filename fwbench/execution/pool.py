"""Run tasks in processes of their own, so that each can cost no more than its own run."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait

from fwbench.execution.isolated import APART_SECONDS, Isolated
from fwbench.execution.machine import affordable
from fwbench.execution.tasks import Assignment, Done, Task, TooLarge

LOOK_SECONDS = 0.1  # how often runs in flight are looked at


class Pool:
    """A few processes, each making one run at a time.

    Parameters
    ----------
    jobs : int
        How many at a time; more than one share the machine, and their rows say so.
    threads : int
        For BLAS and numba, in each.
    memory : int or None
        Bytes that a run may take; by default four fifths of what is free, shared among the jobs.
    apart_seconds : float
        Bound of whatever is not on the clock of a run.
    """

    def __init__(
        self,
        jobs: int = 1,
        threads: int = 1,
        *,
        memory: int | None = None,
        apart_seconds: float = APART_SECONDS,
    ) -> None:
        self.jobs, self.threads, self.shared = jobs, threads, jobs > 1
        self._asked = memory
        self._memory = affordable(jobs) if memory is None else memory
        self._apart_seconds = apart_seconds
        self._too_large: list[TooLarge] = []

    @property
    def hosts(self) -> dict[str, bool]:
        """The name of this machine, and whether runs share it."""
        return {platform.node(): self.shared}

    @property
    def described(self) -> dict[str, object]:
        """What a manifest says of it."""
        return {"jobs": self.jobs, "memory": self._asked}

    def note(self, task: Task, row: dict[str, object]) -> None:
        """Remember a foreign code that ran out of time, from a row of now or of before."""
        if (found := TooLarge.of(task, row)) is not None:
            self._too_large.append(found)

    def run(
        self, assignments: Iterable[Assignment], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[Done]:
        """Yield each task with its record and arrays as it ends, whatever becomes of it.

        Parameters
        ----------
        assignments : iterable of Assignment
            The next is asked for when a process is free.
        stopped : callable
            Once it is true, no further task is begun, and those in flight are ended.
        """
        left, processes = iter(assignments), list[Isolated]()
        try:
            while True:
                self._fill(left, processes, stopped)
                flying = [process for process in processes if process.busy]
                if not flying:
                    return
                wait([process.connection for process in flying], LOOK_SECONDS)
                for process in flying:
                    done = process.interrupt() if stopped() else process.seen()
                    if done is None:
                        continue
                    if done.record is not None:
                        self.note(done.task, done.record["row"])
                    yield done
        finally:
            for process in processes:
                process.close()

    def _fill(
        self,
        left: Iterator[Assignment],
        processes: list[Isolated],
        stopped: Callable[[], bool],
    ) -> None:
        """Give each free process a task; start processes as they are needed."""
        while not stopped():
            free = [process for process in processes if not process.busy]
            if not free and len(processes) == self.jobs:
                return
            if (assignment := next(left, None)) is None:
                return
            if not free:
                process = Isolated(
                    len(processes), self.threads, shared=self.shared, memory=self._memory,
                    apart_seconds=self._apart_seconds,
                )  # fmt: skip
                processes.append(process)
                free = [process]
            free[0].ask(assignment, list(self._too_large))
