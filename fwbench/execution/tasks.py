"""A run as plain data: what is asked, and the record that comes back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from fwbench.errors import RunFolderError
from fwbench.runner import Budget


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

    @property
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
