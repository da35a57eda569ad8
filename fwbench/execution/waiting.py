"""Which run comes next on which machine of a cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from fwbench.execution.tasks import Assignment, Task


@dataclass
class Waiting:
    """A run that waits for a worker.

    Attributes
    ----------
    assignment : Assignment
    failures : list of tuple of str
        Each worker that was lost with this run in flight, and how.
    """

    assignment: Assignment
    failures: list[tuple[str, str]] = field(default_factory=list)


class Line:
    """Runs in the order in which they are asked for, but those on one instance on one machine.

    Seconds of unlike machines are never compared, so an instance whose runs were scattered over
    several would compare nobody. It stays where its first run was made, as long as that machine
    takes part.

    Parameters
    ----------
    assignments : iterable of Assignment
        The next is asked for when a worker is free for it.
    homes : dict of str to str
        Instance → machine; shared with the caller.
    """

    def __init__(self, assignments: Iterable[Assignment], homes: dict[str, str]) -> None:
        self._left: Iterator[Assignment] = iter(assignments)
        self._homes, self._waiting = homes, list[Waiting]()
        self._ended = False

    def again(self, waiting: Waiting) -> None:
        """Put a run first."""
        self._waiting.insert(0, waiting)

    def next(self, worker: str, host: str, workers: dict[str, str]) -> Waiting | None:
        """Return the next run for a worker, or None: there may be others, for other machines.

        Parameters
        ----------
        worker, host : str
        workers : dict of str to str
            All that take part → their hosts.
        """
        for place, waiting in enumerate(self._waiting):
            if self._fits(waiting, worker, host, workers):
                return self._waiting.pop(place)
        for assignment in self._left:
            waiting = Waiting(assignment)
            if self._fits(waiting, worker, host, workers):
                return waiting
            self._waiting.append(waiting)
        self._ended = True
        return None

    @property
    def over(self) -> bool:
        """Whether every run has been given to a worker."""
        return self._ended and not self._waiting

    def _fits(self, waiting: Waiting, worker: str, host: str, workers: dict[str, str]) -> bool:
        if waiting.failures:  # anywhere but where it was lost, if there is anywhere else
            lost = {name for name, _ in waiting.failures}
            return worker not in lost or not workers.keys() - lost
        return self.home(waiting.assignment.task, host, workers.values()) == host

    def home(self, task: Task, host: str, hosts: Collection[str]) -> str:
        """Return the machine of an instance; `host` if it has none."""
        if self._homes.get(task.instance) not in hosts:
            self._homes[task.instance] = host
        return self._homes[task.instance]
