"""From a question to findings: plan, execution, journal, analysis. Alone knows them all."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

from fwbench import catalog, suite
from fwbench.catalog import LARGEST, Choice
from fwbench.errors import InvalidParameter, RunFolderError
from fwbench.execution.here import Here
from fwbench.execution.tasks import Task
from fwbench.geometry.forms import Kind
from fwbench.manifest import manifest
from fwbench.runner import Budget
from fwbench.solver import Sampling
from fwbench.store import RunFolder
from fwbench.theory.claim import Effort
from fwbench.theory.verdicts import Record, document
from fwbench.trace import Status
from fwbench.verify import verify

EXACT_REFERENCE = "cvxpy_reference"  # what the planner adds where a suite has no direct method
UNDONE = frozenset({Status.ERROR, Status.CRASHED, Status.MEMORY, Status.INTERRUPTED})


@dataclass(frozen=True)
class Question:
    """What a user asks for.

    Attributes
    ----------
    suite : str or None
    solvers, problems : tuple of str
        Texts; empty: all solvers, the problems of the suite.
    seed : int or None
        For every ``seed`` parameter not given.
    repeat : int
    limits : dict
        tol, max_steps, max_seconds where the user gave them: they outweigh the suite's.
    """

    suite: str | None = None
    solvers: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    seed: int | None = None
    repeat: int = 1
    limits: dict[str, Any] | None = None


def _all_solvers() -> tuple[str, ...]:
    return tuple(catalog.names("solvers"))


def _unique(
    group: catalog.Group, texts: tuple[str, ...], seed: int | None, sources: dict[Any, str]
) -> list[Choice]:
    """Return the choices of texts, equal ones once; `sources` notes where each name is from."""
    found: dict[str, Choice] = {}
    for text in texts:
        for choice in catalog.choices(group, text, seed):
            if group == "solvers":
                _buildable(choice)
            found.setdefault(choice.text, choice)
            before = sources.setdefault((group, choice.name), choice.source)
            if before != choice.source:
                raise InvalidParameter(
                    f"{before} and {choice.source} are both called {choice.name}, so their "
                    "results could not be told apart; give one another name in its ENTRY"
                )
    return list(found.values())


def _buildable(choice: Choice) -> None:
    """Refuse parameters that a solver refuses; whatever else its file raises, its runs say it."""
    try:
        catalog.build_solver(choice)
    except (InvalidParameter, KeyboardInterrupt):
        raise
    except BaseException:
        return


def plan(question: Question) -> tuple[list[Task], dict[str, Any] | None]:
    """Return the runs of a question, in order, and what is to be said of its suite.

    Raises
    ------
    UnknownName, InvalidParameter
        Before anything runs.
    """
    given = question.limits or {}
    if question.repeat < 1:
        raise InvalidParameter(f"repeat must be at least 1; got {question.repeat}")
    name = question.suite or (None if question.problems else "quick")
    chosen = suite.load(name) if name else None
    blocks = (
        [suite.Block(question.problems, question.solvers or None, {})]
        if question.problems or chosen is None
        else chosen.blocks
    )
    tasks: dict[str, Task] = {}
    sources: dict[Any, str] = {}
    for block in blocks:
        solvers = question.solvers or block.solvers or _all_solvers()
        chosen_solvers = _unique("solvers", solvers, question.seed, sources)
        direct = any(choice.entry.sampling is Sampling.ONCE for choice in chosen_solvers)
        exact = None
        if chosen is not None and not question.solvers and not direct:
            [exact] = catalog.choices("solvers", EXACT_REFERENCE)
        budget = _budget({**block.limits, **given})
        for problem in _unique("problems", block.problems, question.seed, sources):
            extra = [exact] if exact is not None and _is_convex(problem) else []
            # in turns: what slows the machine for a while slows all solvers
            for repetition in range(max(question.repeat, block.repeat)):
                for solver in [*chosen_solvers, *extra]:
                    task = _task(problem, solver, repetition, len(tasks), budget)
                    tasks.setdefault(task.run_id, task)
    described = None
    if chosen is not None:
        described = {
            "suite": chosen.label,
            "suite_digest": chosen.digest,
            "claims": list(chosen.claims),
            "diagrams": chosen.diagrams,
        }
    return list(tasks.values()), described


def _is_convex(problem: Choice) -> bool:
    try:
        return catalog.build_problem(problem).kind is Kind.CONVEX
    except KeyboardInterrupt:
        raise
    except BaseException:  # whatever a user's file raises, its runs say it
        return False


def _budget(limits: dict[str, Any]) -> Budget:
    for key, value in limits.items():
        kinds = int if key == "max_steps" else int | float
        if not isinstance(value, kinds) or isinstance(value, bool) or not 0 < value < LARGEST:
            rule = "integer" if key == "max_steps" else "number"
            raise InvalidParameter(f"{key} must be a positive {rule}; got {value!r}")
    # 1 and 1.0 are one budget: it is a part of the run_id
    typed: dict[str, Any] = {k: v if k == "max_steps" else float(v) for k, v in limits.items()}
    return Budget(**typed)


def _task(problem: Choice, solver: Choice, repetition: int, order: int, budget: Budget) -> Task:
    return Task(
        problem=problem.again,
        solver=solver.again,
        instance=problem.text,
        solver_text=solver.text,
        instance_label=problem.label,
        solver_label=solver.label,
        seed=problem.arguments.get("seed"),
        repetition=repetition,
        order=order,
        budget=budget,
    )


def planned_again(folder: RunFolder) -> tuple[list[Task], dict[str, Any] | None]:
    """Return the plan that a run folder was made by."""
    made = folder.manifest
    described = {name: made.get(name) for name in ("suite", "suite_digest", "claims", "diagrams")}
    tasks = [Task.from_dict(task) for task in made["plan"]]
    return tasks, described if described["suite"] else None


def _resumable(folder: RunFolder, tasks: list[Task]) -> None:
    """Refuse to mix the runs of another question into a folder."""
    planned = {task.run_id for task in planned_again(folder)[0]}
    if left := planned - {task.run_id for task in tasks}:
        raise RunFolderError(
            f"{folder.path} was made by another question: {len(left)} of its {len(planned)} runs "
            "are not in this one; --resume with --out alone goes on with it, --fresh starts anew"
        )


@contextmanager
def _interruptible(asked: threading.Event) -> Iterator[None]:
    """Note a Ctrl-C before it is raised: a solver may raise KeyboardInterrupt of its own."""

    def note(number: int, frame: Any) -> None:
        asked.set()
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def execute(
    folder: RunFolder,
    tasks: list[Task],
    described: dict[str, Any] | None,
    command: str,
    told: Callable[[Task, dict[str, Any] | None], None],
    claimed: Callable[[str, Record | None], None] = lambda name, record: None,
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

    Returns
    -------
    bool
        False if a Ctrl-C ended it; what was done is saved.
    """
    executor, keys = Here(), dict[str, str | None]()
    rows: dict[str, dict[str, Any]] = {}
    if folder.has_journal:
        _resumable(folder, tasks)
        folder.mend()
        rows = {record["row"]["run_id"]: record["row"] for record in folder.records()}
        keys = {i: row["cache_key"] for i, row in rows.items() if row["status"] not in UNDONE}
    folder.write_manifest(
        manifest(command, executor.threads)
        | (described or {"suite": None, "suite_digest": None, "claims": [], "diagrams": False})
        | {"seeds": sorted({t.seed for t in tasks if t.seed is not None})}
        | {"budgets": [asdict(b) for b in dict.fromkeys(t.budget for t in tasks)]}
        | {"plan": [task.as_dict() for task in tasks]}
    )
    asked = threading.Event()

    def announced() -> Iterator[Task]:
        for task in tasks:
            if task.run_id in keys:
                # a result counts only while solver, problem and libraries are what gave it
                now = executor.key(task)
                if asked.is_set():  # a Ctrl-C that the building of a problem has swallowed
                    return
                if now is not None and now == keys[task.run_id]:
                    executor.note(task, rows[task.run_id])
                    continue
            told(task, None)
            yield task

    with _interruptible(asked):
        try:
            for task, record, arrays in executor.run(announced()):
                if record["row"]["status"] == Status.INTERRUPTED and not asked.is_set():
                    reason = "KeyboardInterrupt, raised by the solver itself"
                    record["row"] |= {"status": str(Status.ERROR), "reason": reason}
                folder.append(record, arrays)
                told(task, record["row"])
                if asked.is_set():
                    return False
            _verify_all(folder, (described or {}).get("claims") or [], claimed)
        except KeyboardInterrupt:
            return False
    return not asked.is_set()


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
