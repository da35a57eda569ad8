"""A run as plain data: what is asked, and the record that comes back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

from fwbench.endings import Budget
from fwbench.errors import RunFolderError
from fwbench.solver import Sampling
from fwbench.trace import Status


@dataclass(frozen=True)
class Task:
    """One planned run; names instead of objects, so that it can be sent anywhere.

    Attributes
    ----------
    problem, solver : str
        Texts by which the catalogue finds them again.
    instance, solver_text : str
        Canonical texts: all parameters.
    instance_label, solver_label : str
        For people.
    seed : int or None
        The instance's, where it has one.
    repetition, order : int
        Which repetition; place in the plan.
    budget : Budget
    """

    problem: str
    solver: str
    instance: str
    solver_text: str
    instance_label: str
    solver_label: str
    seed: int | None
    repetition: int
    order: int
    budget: Budget

    @cached_property
    def run_id(self) -> str:
        """16 hex digits over instance, solver, repetition, tolerance and budget."""
        facts = [self.instance, self.solver_text, self.repetition, asdict(self.budget)]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]

    def columns(self) -> dict[str, Any]:
        """Return what a row of the results says of the task itself."""
        return {
            "run_id": self.run_id,
            "problem": self.instance.partition("[")[0],
            "instance": self.instance,
            "instance_label": self.instance_label,
            "seed": self.seed,
            "solver": self.solver_text.partition("[")[0],
            "solver_label": self.solver_label,
            "params": self.solver_text.partition("[")[2][:-1],
            "repetition": self.repetition,
            "order": self.order,
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the task for a manifest."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Task:
        """Read a task from a manifest."""
        try:
            return cls(**(data | {"budget": Budget(**data["budget"])}))
        except (TypeError, KeyError) as error:
            raise RunFolderError(f"the plan of a manifest.json is damaged: {error!r}") from error


OUT_OF_TIME = "ran out of"  # how the reason begins of a run that was not worth a try


class Assignment(NamedTuple):
    """A task to be run, unless what is known of it still holds.

    Attributes
    ----------
    task : Task
    known : str or None
        The ``cache_key`` of a result that need not be made again if its key would be the same now.
    """

    task: Task
    known: str | None = None


class Done(NamedTuple):
    """A task that has ended.

    Attributes
    ----------
    task : Task
    record : dict or None
        For the journal; None where what was known still holds.
    arrays : dict of ndarray
        Kept beside it.
    """

    task: Task
    record: dict[str, Any] | None
    arrays: dict[str, Any]


class TooLarge(NamedTuple):
    """An instance on which a foreign code ran out of time."""

    solver_text: str
    instance_label: str
    n: int
    d: int
    tol: float
    max_seconds: float

    @classmethod
    def of(cls, task: Task, row: dict[str, Any]) -> TooLarge | None:
        """Return what a row, of now or of before, says of larger instances, or None."""
        foreign = row.get("sampling") in (Sampling.ONCE, Sampling.RERUN)
        if not foreign or row["status"] != Status.TIMEOUT or row.get("n") is None:
            return None
        budget = task.budget
        return cls(
            task.solver_text, task.instance_label, int(row["n"]), int(row["d"]), budget.tol,
            budget.max_seconds,
        )  # fmt: skip

    def hopeless(self, task: Task, n: int, d: int) -> str | None:
        """Return why a run with n atoms in d dimensions would only spend its time, or None."""
        larger = n >= self.n and d >= self.d and n * d > self.n * self.d
        same = self.solver_text == task.solver_text and self.tol >= task.budget.tol
        if not (larger and same and self.max_seconds >= task.budget.max_seconds):
            return None
        return (
            f"{OUT_OF_TIME} {self.max_seconds:g} s on {self.instance_label} already, with {self.n} "
            f"atoms in {self.d} dimensions"
        )
