"""From a question to a plan: which solver runs on which problem, how often, and when."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from fwbench import catalog, suite
from fwbench.catalog import LARGEST, Choice
from fwbench.endings import Budget
from fwbench.errors import InvalidParameter, RunFolderError, brief
from fwbench.execution.tasks import Task
from fwbench.geometry.forms import Kind
from fwbench.solver import Sampling
from fwbench.store import RunFolder

MOST_RUNS = 1_000_000  # of a plan: a manifest holds each
EXACT_REFERENCE = "cvxpy_reference"  # what the planner adds where a suite has no direct method


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
    group: catalog.Group, texts: tuple[str, ...], seed: int | None, origins: dict[Any, str]
) -> list[Choice]:
    """Return the choices of texts, equal ones once; `origins` notes where each name is from."""
    found: dict[str, Choice] = {}
    for text in texts:
        for choice in catalog.choices(group, text, seed):
            if group == "solvers":
                _buildable(choice)
            found.setdefault(choice.text, choice)
            before = origins.setdefault((group, choice.name), choice.source)
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


def plan(
    question: Question, before: Collection[Task] = ()
) -> tuple[list[Task], dict[str, Any] | None]:
    """Return the runs of a question, as it names them, and what is to be said of its suite.

    Each has its place in time in `order`: on one problem the solvers take turns, in each turn in a
    random order, so that what slows the machine for a while slows all of them alike.

    Parameters
    ----------
    question : Question
    before : collection of Task
        A plan that was made for the same folder: no problem of it is built to plan again.

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
    origins: dict[Any, str] = {}
    for block in blocks:
        solvers = question.solvers or block.solvers or _all_solvers()
        chosen_solvers = _unique("solvers", solvers, question.seed, origins)
        direct = any(choice.entry.sampling is Sampling.ONCE for choice in chosen_solvers)
        exact = None
        if chosen is not None and not question.solvers and not direct:
            [exact] = catalog.choices("solvers", EXACT_REFERENCE)
        budget = _budget({**block.limits, **given})
        problems = _unique("problems", block.problems, question.seed, origins)
        _countable(
            len(tasks), len(problems), len(chosen_solvers), max(question.repeat, block.repeat)
        )
        for problem in problems:
            extra = [exact] if exact is not None and _is_convex(problem, exact, before) else []
            for repetition in range(max(question.repeat, block.repeat)):
                for solver in [*chosen_solvers, *extra]:
                    task = _task(problem, solver, repetition, budget)
                    tasks.setdefault(task.run_id, task)
    described = None
    if chosen is not None:
        described = {
            "suite": chosen.label,
            "suite_digest": chosen.digest,
            "claims": list(chosen.claims),
            "diagrams": chosen.diagrams,
        }
    return _in_turns(list(tasks.values()), question.seed or 0), described


def _countable(before: int, problems: int, solvers: int, repeat: int) -> None:
    """Refuse a plan that nobody could wait for, before it fills the memory."""
    if before + problems * (solvers + 1) * repeat > MOST_RUNS:
        raise InvalidParameter(
            f"{problems} problems × {solvers} solvers × {repeat} repetitions are more than "
            f"{MOST_RUNS} runs; is a grid or --repeat too large?"
        )


def _in_turns(tasks: list[Task], seed: int) -> list[Task]:
    """Give each task its place in time; neither the order of solvers nor other problems matter."""
    order, first = dict[str, int](), 0
    turns = groupby(tasks, key=lambda task: (task.instance, task.repetition))
    for (instance, repetition), group in turns:
        turn = sorted(task.run_id for task in group)
        digest = hashlib.sha256(f"{instance} {repetition}".encode()).digest()
        rng = np.random.default_rng([seed, *digest])
        for place, i in enumerate(rng.permutation(len(turn))):
            order[turn[i]] = first + place
        first += len(turn)
    return [dataclasses.replace(task, order=order[task.run_id]) for task in tasks]


def _is_convex(problem: Choice, exact: Choice, before: Collection[Task]) -> bool:
    there = [task.solver_text for task in before if task.instance == problem.text]
    if there:  # planned then, planned now
        return exact.text in there
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
            raise InvalidParameter(f"{key} must be a positive {rule}; got {brief(value)}")
    # 1 and 1.0 are one budget: it is a part of the run_id
    typed: dict[str, Any] = {k: v if k == "max_steps" else float(v) for k, v in limits.items()}
    return Budget(**typed)


def _task(problem: Choice, solver: Choice, repetition: int, budget: Budget) -> Task:
    return Task(
        problem=problem.again,
        solver=solver.again,
        instance=problem.text,
        solver_text=solver.text,
        instance_label=problem.label,
        solver_label=solver.label,
        seed=problem.arguments.get("seed"),
        repetition=repetition,
        order=0,
        budget=budget,
    )


def planned_again(folder: RunFolder) -> tuple[list[Task], dict[str, Any] | None]:
    """Return the plan that a run folder was made by."""
    made = folder.manifest
    described = {name: made.get(name) for name in ("suite", "suite_digest", "claims", "diagrams")}
    tasks = [Task.from_dict(task) for task in made["plan"]]
    return tasks, described if described["suite"] else None


def made_by(folder: RunFolder) -> dict[str, Any]:
    """Return where the runs of a folder were made, as its manifest holds it."""
    found: dict[str, Any] = folder.manifest.get("execution") or {}
    return found


def resumable(folder: RunFolder, tasks: list[Task]) -> None:
    """Refuse to mix the runs of another question into a folder."""
    planned = {task.run_id for task in planned_again(folder)[0]}
    if left := planned - {task.run_id for task in tasks}:
        raise RunFolderError(
            f"{folder.path} was made by another question: {len(left)} of its {len(planned)} runs "
            "are not in this one; --resume with --out alone goes on with it, --fresh starts anew"
        )
