"""From a plan to results: execution, journal, verdicts. Alone knows them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from time import perf_counter
from typing import Any, Protocol

from fwbench import catalog
from fwbench.errors import said
from fwbench.execution import sources
from fwbench.execution.here import Here
from fwbench.execution.machine import conditions
from fwbench.execution.tasks import OUT_OF_TIME, Assignment, Done, Task
from fwbench.findings import SHAPES
from fwbench.interruption import Interruption
from fwbench.manifest import manifest
from fwbench.planning import resumable
from fwbench.reading import record_fault, sound
from fwbench.store import RunFolder
from fwbench.theory.claim import Effort
from fwbench.theory.verdicts import Record, document
from fwbench.trace import Status, failed
from fwbench.verify import verify

# What fwbench itself says of a run, whatever its solver does.
PLAIN = (
    "run_id", "problem", "instance", "instance_label", "seed", "solver", "solver_label", "params",
    "repetition", "order", "n", "d", "kind", "queries", "scale", "radius", "host", "threads",
    "shared", "attempts", "library", "chosen", "signal", "traceback", "cache_key",
)  # fmt: skip


class Executor(Protocol):
    """Where runs are made."""

    threads: int

    @property
    def hosts(self) -> Mapping[str, bool]:
        """The machines at work now, by name, and whether several runs at a time share each."""

    @property
    def described(self) -> dict[str, Any]:
        """What a manifest says of it."""

    def note(self, task: Task, row: dict[str, Any]) -> None:
        """Take a row of before into account."""

    def run(
        self, assignments: Iterable[Assignment], stopped: Callable[[], bool] = ...
    ) -> Iterator[Done]:
        """Yield each task as it ends."""


def execute(
    folder: RunFolder,
    tasks: list[Task],
    described: dict[str, Any] | None,
    command: str,
    told: Callable[[Task, dict[str, Any] | None], None],
    claimed: Callable[[str, Record | None], None] = lambda name, record: None,
    executor: Executor | None = None,
    *,
    kept: Callable[[Task], None] = lambda task: None,
) -> bool:
    """Run what is missing or out of date in a folder; every planned run leaves a row.

    Then the claims of the suite are verified, always anew.

    Parameters
    ----------
    folder : RunFolder
    tasks : list of Task
    described : dict or None
        The suite, for the manifest.
    command : str
    told : callable
        Called with a task before it runs (None) and with its row afterwards.
    claimed : callable
        Called with a claim's name before it is tried (None) and with its record afterwards.
    executor : Executor, optional
        This process by default.
    kept : callable
        Called with each task whose result was there and still holds.

    Returns
    -------
    bool
        False if a Ctrl-C ended it; what was done is saved.
    """
    executor = executor or Here()
    known: dict[str, dict[str, Any]] = {}
    if folder.has_journal:
        resumable(folder, tasks)
        folder.mend()
        records = sound(folder.records(), SHAPES, str(folder.path))
        damaged = folder.damaged(records)
        known = {i: r for r in records if (i := r["row"]["run_id"]) not in damaged}
    folder.write_manifest(
        manifest(command, executor.threads)
        | (described or {"suite": None, "suite_digest": None, "claims": [], "diagrams": False})
        | {"seeds": sorted({t.seed for t in tasks if t.seed is not None})}
        | {"budgets": [asdict(b) for b in dict.fromkeys(t.budget for t in tasks)]}
        | {"execution": executor.described}
        | {"plan": [task.as_dict() for task in tasks]}
    )
    interruption = Interruption(raises=isinstance(executor, Here))

    def unchanged(record: dict[str, Any], task: Task) -> bool:
        try:
            return _unchanged(record, task, executor)
        except BaseException:  # whatever a user's file raises, its run says it
            if interruption.is_set():
                raise
            return False

    def assignments() -> Iterator[Assignment]:
        for task in sorted(tasks, key=lambda task: task.order):
            record = known.get(task.run_id)
            holds = None if record is None else _holds(record["row"])
            if record is not None and holds and unchanged(record, task):
                executor.note(task, record["row"])
                kept(task)
                continue
            told(task, None)
            yield Assignment(task, holds)

    with interruption:
        try:
            for task, record, arrays in executor.run(assignments(), interruption.is_set):
                if record is None:
                    executor.note(task, known[task.run_id]["row"])
                    kept(task)
                    continue
                row = record["row"]
                if row["status"] == Status.INTERRUPTED and not interruption.is_set():
                    reason = "KeyboardInterrupt, raised by the solver itself"
                    row |= {"status": str(Status.ERROR), "reason": reason}
                with interruption.deferred():
                    row = _kept(folder, record, arrays)
                told(task, row)
                if interruption.is_set() and isinstance(executor, Here):
                    return False
            if not interruption.is_set():
                with interruption.raising():
                    _verify_all(folder, (described or {}).get("claims") or [], claimed)
        except KeyboardInterrupt:
            if interruption.twice:
                raise
            return False
    return not interruption.is_set()


def _kept(folder: RunFolder, record: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Write down what a run gave, or that it gave what nobody can read again; return its row."""
    wrong = record_fault(record, SHAPES)
    try:
        if not wrong:
            folder.append(record, arrays)
            return dict(record["row"])
    except TypeError as error:  # points or weights that are no numbers
        wrong = said(error)
    known = {name: record["row"].get(name) for name in PLAIN}
    reason = f"what the run gave cannot be written down: {wrong}"
    row = known | {"status": str(Status.ERROR), "reason": reason}
    folder.append({"row": row, "trace": {}, "rest": None, "head": None, "origin": None}, {})
    return row


def _holds(row: dict[str, Any]) -> str | None:
    """Return the key under which a row counts as done; None if its run is to be tried again."""
    hopeless = row["status"] == Status.SKIPPED and row["reason"].startswith(OUT_OF_TIME)
    again = failed(row["status"], row.get("signal")) or row["status"] == Status.INTERRUPTED
    again = again or hopeless  # it rests on a run that may have been tried again
    return None if again else row.get("cache_key")


def _unchanged(record: dict[str, Any], task: Task, executor: Executor) -> bool:
    """Say whether a result would be the same now, without building its problem.

    False also where that cannot be told so; whatever a user's file raises is not caught.
    """
    origin, row, hosts = record.get("origin"), record["row"], executor.hosts
    if not origin or (host := row.get("host")) not in hosts:
        return False
    [problem] = catalog.choices("problems", task.problem)
    [solver] = catalog.choices("solvers", task.solver)
    if not sources.still_built_from(problem, origin["files"], origin["built_from"]):
        return False
    now = sources.cache_key(
        task.run_id, sources.solver_digest(solver.source), origin["fingerprint"],
        conditions(executor.threads, row["library"], shared=hosts[host], host=host),
    )  # fmt: skip
    return bool(now == row["cache_key"])


def _verify_all(
    folder: RunFolder, names: list[str], claimed: Callable[[str, Record | None], None]
) -> None:
    """Verify claims; after each of them the folder holds what is known so far."""
    begun, records = perf_counter(), list[Record]()
    for name in names:
        claimed(name, None)
        records += verify((name,), Effort())
        seconds, missing = perf_counter() - begun, len(records) < len(names)
        folder.write_claims(document(records, long=False, seconds=seconds, interrupted=missing))
        claimed(name, records[-1])
