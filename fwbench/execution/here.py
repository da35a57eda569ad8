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
from fwbench.errors import MissingExtra, said
from fwbench.execution.tasks import Task
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Run, run
from fwbench.trace import Status
from fwbench.warm import limited_threads

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
    """Return what a row says of its problem."""
    return {
        "n": problem.n,
        "d": problem.d,
        "kind": str(problem.kind),
        "radius": problem.radius,
        "scale": problem.scale,
        "queries": problem.start.m,
    }


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
    return {"row": row, "trace": trace, "rest": done.rest}, arrays


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

    def _built(self, text: str) -> QuadraticOverHull:
        if self._problem is None or self._problem[0] != text:
            [choice] = catalog.choices("problems", text)
            self._problem = (text, catalog.build_problem(choice))
        return self._problem[1]

    def key(self, task: Task) -> str | None:
        """Return the ``cache_key`` of a run started now, None where problem or solver fail."""
        try:
            problem = self._built(task.problem)
            [choice] = catalog.choices("solvers", task.solver)
            return _cache_key(task, problem, catalog.build_solver(choice))
        except BaseException:  # whatever a user's file raises, its run says it
            return None

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        """Yield each task with its record and arrays as it ends."""
        try:
            with limited_threads(self.threads):
                for task in tasks:
                    yield Done(task, *self._one(task))
        finally:
            gc.unfreeze()  # the runner froze what was alive

    def _one(self, task: Task) -> tuple[dict[str, Any], dict[str, Any]]:
        before, stolen = _load(), _stolen()
        frequency = _frequency()
        problem = key = None
        facts: dict[str, Any] = {}
        try:
            problem = self._built(task.problem)
            facts = _facts(problem)
            [choice] = catalog.choices("solvers", task.solver)
            solver = catalog.build_solver(choice)
            key = _cache_key(task, problem, solver)
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
        return _record(task, problem, facts, done, around)
