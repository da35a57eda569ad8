"""Run tasks in this process, one after the other."""

from __future__ import annotations

import gc
import hashlib
import inspect
import os
import platform
import resource
import sys
import traceback
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
import psutil

import fwbench
from fwbench import catalog
from fwbench.catalog import Choice
from fwbench.choose import resolved
from fwbench.errors import MissingExtra, said
from fwbench.execution.tasks import Task
from fwbench.heads import head, is_cloud
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Run, run
from fwbench.solver import Sampling
from fwbench.stretches import stretches
from fwbench.trace import Status
from fwbench.warm import limited_threads
from fwbench.yardsticks import yardsticks

STOLEN = 0.01  # a run from which the host took more of the time than this is noisy


def _load() -> float | None:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def _frequency() -> float | None:
    frequency = psutil.cpu_freq()
    return float(frequency.current) if frequency is not None and frequency.current else None


def _stolen() -> float:
    return float(getattr(psutil.cpu_times(), "steal", 0.0))


def _cache_key(task: Task, problem: QuadraticOverHull, solver: Any) -> str:
    """Hash what a result depends on: the solver's source, the problem's bytes, the libraries."""
    try:
        source = inspect.getsource(sys.modules[type(solver).__module__])
    except (OSError, KeyError, TypeError):
        source = repr(solver)
    facts = (
        task.run_id, problem.fingerprint, source, fwbench.__version__, np.__version__,
        numba.__version__, platform.node(),
    )  # fmt: skip
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:16]


def _facts(problem: QuadraticOverHull) -> dict[str, Any]:
    """Return what a row says of its problem, and of the machine at work on it."""
    return yardsticks(problem) | {
        "n": problem.n,
        "d": problem.d,
        "kind": str(problem.kind),
        "radius": problem.radius,
        "scale": problem.scale,
        "queries": problem.start.m,
    }


def _head(problem: QuadraticOverHull) -> dict[str, Any] | None:
    """Return how far a cloud of tokens is from what theory covers; None of anything else."""
    return {**head(problem), "stretches": stretches(problem)} if is_cloud(problem) else None


def _plane(problem: QuadraticOverHull) -> dict[str, Any]:
    """Return what a picture of an instance in the plane is drawn from."""
    return {
        "atoms": problem.atoms.astype(float),
        "Q": problem.form.apply(np.eye(2)).T,
        "c": problem.centred_c,
        "mean": problem.mean,
    }


def _record(
    task: Task,
    problem: QuadraticOverHull | None,
    facts: dict[str, Any],
    told: dict[str, Any] | None,
    done: Run,
    around: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the journal's record of a run and the arrays that are kept beside it."""
    row: dict[str, Any] = {
        **task.columns(),
        "chosen": None,
        "status": str(done.status),
        "reason": done.reason,
        "traceback": done.traceback,
        "signal": None,
        "attempts": 1,
        **facts,
        **done.row,
        **around,
    }
    arrays: dict[str, Any] = {}
    if problem is not None and done.path is not None:
        arrays |= _plane(problem) | {"path": done.path}
    if done.points is not None:
        arrays["points"] = done.points
    if done.weights is not None:
        kept = done.weights
        arrays |= {"indptr": kept.indptr, "keys": kept.keys, "data": kept.data}
    trace = done.trace.columns if len(done.trace) else {}
    return {"row": row, "trace": trace, "rest": done.rest, "head": told}, arrays


class Done(NamedTuple):
    """A task that has ended: the journal's record, and the arrays kept beside it."""

    task: Task
    record: dict[str, Any]
    arrays: dict[str, Any]


class Here:
    """Runs tasks in this process; problems are built when they are first needed.

    Parameters
    ----------
    threads : int
        For BLAS and numba.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._problem: tuple[str, QuadraticOverHull] | None = None
        self._known: tuple[QuadraticOverHull, dict[str, Any], dict[str, Any] | None] | None = None
        self._too_large: list[tuple[Task, int, int]] = []  # foreign codes ran out of time there

    def _built(self, text: str) -> QuadraticOverHull:
        if self._problem is None or self._problem[0] != text:
            [choice] = catalog.choices("problems", text)
            self._problem = (text, catalog.build_problem(choice))
        return self._problem[1]

    def _said_of(self, problem: QuadraticOverHull) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return the facts of a problem, and those of an attention head where it is a cloud."""
        if self._known is None or self._known[0] is not problem:
            self._known = problem, _facts(problem), _head(problem)
        return dict(self._known[1]), self._known[2]

    def key(self, task: Task) -> str | None:
        """Return the ``cache_key`` of a run started now, None where problem or solver fail."""
        try:
            problem = self._built(task.problem)
            choice = self._chosen(task, problem)
            return _cache_key(task, problem, catalog.build_solver(choice))
        except BaseException:  # whatever a user's file raises, its run says it
            return None

    def _chosen(self, task: Task, problem: QuadraticOverHull) -> Choice:
        """Return the solver of a task, for `auto` the one that suits its problem."""
        [choice] = catalog.choices("solvers", task.solver)
        return resolved(choice, problem)

    def note(self, task: Task, row: dict[str, Any]) -> None:
        """Remember a foreign code that ran out of time, from a row of now or of before."""
        foreign = row.get("sampling") in (Sampling.ONCE, Sampling.RERUN)
        if foreign and row["status"] == Status.TIMEOUT:
            self._too_large.append((task, int(row["n"]), int(row["d"])))

    def _hopeless(self, task: Task, n: int, d: int) -> str | None:
        """Return why a run would only spend its time: a smaller one has."""
        for before, n0, d0 in self._too_large:
            larger = n >= n0 and d >= d0 and n * d > n0 * d0
            same = before.solver_text == task.solver_text and before.budget.tol >= task.budget.tol
            if larger and same and before.budget.max_seconds >= task.budget.max_seconds:
                return (
                    f"ran out of {before.budget.max_seconds:g} s on {before.instance_label} "
                    f"already, with {n0} atoms in {d0} dimensions"
                )
        return None

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        """Yield each task with its record and arrays as it ends."""
        try:
            with limited_threads(self.threads):
                for task in tasks:
                    record, arrays = self._one(task)
                    self.note(task, record["row"])
                    yield Done(task, record, arrays)
        finally:
            gc.unfreeze()  # the runner froze what was alive

    def _one(self, task: Task) -> tuple[dict[str, Any], dict[str, Any]]:
        before, stolen = _load(), _stolen()
        frequency = _frequency()
        problem = key = None
        facts: dict[str, Any] = {}
        told: dict[str, Any] | None = None
        try:
            problem = self._built(task.problem)
            facts, told = self._said_of(problem)
            choice = self._chosen(task, problem)
            if choice.text != task.solver_text:
                facts["chosen"] = choice.label
            facts["library"] = choice.entry.library
            solver = catalog.build_solver(choice)
            key = _cache_key(task, problem, solver)
            if (reason := self._hopeless(task, problem.n, problem.d)) is not None:
                done = Run(Status.SKIPPED, reason)
            else:
                done = run(problem, solver, choice.entry, task.budget)
        except KeyboardInterrupt:
            reason = "interrupted from the keyboard, or by the solver"
            done = Run(Status.INTERRUPTED, reason, traceback=traceback.format_exc())
        except MissingExtra as error:
            done = Run(Status.SKIPPED, str(error))
        except MemoryError as error:
            done = Run(Status.MEMORY, said(error), traceback=traceback.format_exc())
        except BaseException as error:  # a user's file may raise anything while it is imported
            done = Run(Status.ERROR, said(error), traceback=traceback.format_exc())
        taken = _stolen() - stolen
        seconds = done.trace.columns["seconds"][-1] if len(done.trace) else 0.0
        after = _load()
        cores = os.cpu_count() or 1
        busy = max(before or 0.0, after or 0.0) > cores
        around = {
            "host": platform.node(),
            "threads": self.threads,
            "load_before": before,
            "load_after": after,
            "noisy": bool(busy or taken > STOLEN * max(seconds, 1.0)),
            "steal": taken,
            "peak_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "frequency_before": frequency,
            "frequency_after": _frequency(),
            "cache_key": key,
        }
        return _record(task, problem, facts, told, done, around)
