"""What is compared: the runs of one side as plain data, and how alike two machines are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwbench.trace import Status, failed

Array = NDArray[np.float64]
Row = Mapping[str, Any]
Columns = Mapping[str, list[Any]]
Source = Literal["run folder", "pytest-benchmark", "baseline"]

# a result's bits may depend on these
NUMERICAL = ("python", "numpy", "scipy", "numba", "cvxpy", "clarabel")
ENDED_WELL = frozenset({Status.CONVERGED, Status.FINISHED})


def _nowhere() -> Array | None:
    return None


class Bracket(NamedTuple):
    """What a target took: not met at `low`, met at `high`; `high` is None where it was not met.

    ``low`` is None where there was no look before. Oracle calls are null where nobody counts.
    """

    low: int | None
    high: int | None
    calls_low: int | None
    calls_high: int | None


class Key(NamedTuple):
    """What makes two runs comparable, but for the repetition."""

    instance: str
    solver: str
    params: str
    tol: float | None


@dataclass(frozen=True, eq=False)
class Run:
    """One run of one side.

    Attributes
    ----------
    row : mapping
        Columns of ``runs``, ``max_steps``, ``max_seconds`` of its budget, and ``planned_problem``,
        ``planned_solver`` as the plan spells them; null is None. Of a baseline also ``passes``: its
        seconds in pricing passes.
    trace : mapping
        Columns of ``trace``; empty where there is none.
    graded : bool
        Whether it has an accuracy that could reach a target.
    once : bool
        A direct method: its start is none of its answers.
    brackets : mapping or None
        Of a baseline: what each target took. Else it is read off the trace.
    rests : tuple of mappings
        Rows of ``fixed_points``, a query each.
    points : callable
        Returns where the queries ended, (m, d), or None.
    radius : float or None
        Of the instance.
    """

    row: Row
    trace: Columns = field(default_factory=dict)
    graded: bool = False
    once: bool = False
    brackets: Mapping[float, Bracket] | None = None
    rests: tuple[Row, ...] = ()
    points: Callable[[], Array | None] = _nowhere
    radius: float | None = None

    @property
    def key(self) -> Key:
        """What it is matched by."""
        row = self.row
        return Key(row["instance"], row["solver"], row.get("params") or "", row.get("tol"))

    @property
    def ended_well(self) -> bool:
        """Whether it converged, or ended by itself."""
        return self.row.get("status") in ENDED_WELL

    @property
    def failed(self) -> bool:
        """Whether it makes `fwbench run` end with 1."""
        status = self.row.get("status")
        return status is not None and failed(status, self.row.get("signal"))

    @property
    def moving(self) -> bool:
        """Whether its keys are the current tokens."""
        return any(gap is not None for gap in self.trace.get("gap_current", ()))

    def last(self, column: str) -> Any:
        """Return the newest entry of a column of its trace, None without one."""
        values = self.trace.get(column) or [None]
        return values[-1]


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a comparison.

    Attributes
    ----------
    name : str
        What the user called it.
    source : {"run folder", "pytest-benchmark", "baseline"}
    runs : tuple of Run
        In any order.
    facts : mapping
        ``created``, ``revision``, ``dirty``, ``suite``, ``suite_digest``, ``cpu``, ``blas`` and
        ``versions`` (by name, Python's among them), each null where unknown.
    notes : tuple of str
        What a reader of the comparison has to know.
    references : mapping
        Of a baseline: the reference interval of each instance, centred.
    """

    name: str
    source: Source
    runs: tuple[Run, ...]
    facts: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    references: Mapping[str, tuple[float, float]] = field(default_factory=dict)


class Likeness(StrEnum):
    """How sharply the exact quantities of two runs may be compared."""

    BITS = "one machine and the same versions"
    DIGITS = "machines, versions or threads differ, or are not known"


def one_machine(base: Side, new: Side, a: Run, b: Run) -> bool:
    """Say whether two runs were made on one machine; what is not known makes it another one.

    A host alone does not tell: machines that are set up alike often have one name.
    """
    if "baseline" in (base.source, new.source):
        return False
    hosts = a.row.get("host"), b.row.get("host")
    cpus = base.facts.get("cpu"), new.facts.get("cpu")
    return None not in (*hosts, *cpus) and hosts[0] == hosts[1] and cpus[0] == cpus[1]


def likeness(base: Side, new: Side, a: Run, b: Run) -> Likeness:
    """Return how sharply two runs may be compared.

    Examples
    --------
    >>> facts = {"cpu": "fast", "blas": "openblas", "versions": {"numpy": "2.0"}}
    >>> run = Run({"host": "one", "threads": 1})
    >>> old = Side("a", "run folder", (run,), facts)
    >>> new = Side("b", "run folder", (run,), facts | {"versions": {"numpy": "2.1"}})
    >>> likeness(old, old, run, run).name, likeness(old, new, run, run).name
    ('BITS', 'DIGITS')
    """
    if not one_machine(base, new, a, b):
        return Likeness.DIGITS
    versions = [
        {name: (side.facts.get("versions") or {}).get(name) for name in NUMERICAL}
        for side in (base, new)
    ]
    same = versions[0] == versions[1] and a.row.get("threads") == b.row.get("threads")
    same = same and base.facts.get("blas") == new.facts.get("blas")
    return Likeness.BITS if same else Likeness.DIGITS
