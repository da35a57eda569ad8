"""Run tasks in this process, one after the other."""

from __future__ import annotations

import gc
import hashlib
import platform
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from fwbench import catalog
from fwbench.catalog import Choice
from fwbench.choose import resolved
from fwbench.errors import MissingExtra, said
from fwbench.execution import sources
from fwbench.execution.machine import Around, conditions
from fwbench.execution.tasks import Assignment, Done, Task, TooLarge
from fwbench.geometry.diameters import diameter_squared
from fwbench.geometry.forms import Kind
from fwbench.heads import head, is_cloud
from fwbench.observing import Observer, Stage, Unobserved
from fwbench.plain import plain
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Run, run
from fwbench.stretches import stretches
from fwbench.trace import Status, Trace
from fwbench.warm import compiling_alone, limited_threads
from fwbench.yardsticks import yardsticks

WORK = 1e9  # products that the diameter may cost, some tenths of a second; and its most atoms
MOST_ATOMS = 2000


def _facts(problem: QuadraticOverHull) -> dict[str, Any]:
    """Return what a row says of its problem, and of the machine at work on it."""
    return yardsticks(problem) | {
        "n": problem.n,
        "d": problem.d,
        "kind": str(problem.kind),
        "radius": problem.radius,
        "scale": problem.scale,
        "queries": problem.start.m,
        "diameter_squared": _diameter_squared(problem),
    }


def _diameter_squared(problem: QuadraticOverHull) -> float | None:
    """Return D², on which the bounds of theory rest; None where it is dear or none rests on it."""
    cheap = problem.n <= MOST_ATOMS and problem.n**2 * problem.d <= WORK
    if not cheap or not problem.in_memory or problem.kind is not Kind.CONVEX:
        return None
    return diameter_squared(problem.centred, problem.form.apply(problem.centred))


def _laws(choice: Choice, problem: QuadraticOverHull) -> list[dict[str, Any]]:
    """Return what the solver promises with these parameters on problems of this kind."""
    texts = {name: catalog.written(value) for name, value in choice.arguments.items()}
    return [law.plain() for law in choice.entry.laws if law.concerns(problem.kind, texts)]


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


def _inputs(problem: QuadraticOverHull) -> str:
    """Hash what solvers are handed and must not change; O(nd)."""
    digest = hashlib.sha256()
    start = (problem.start.indptr, problem.start.keys, problem.start.data)
    for array in (problem.atoms, *problem.form.chain(), problem.c, problem.mean, *start):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


LONGEST_TRACEBACK = 20_000  # letters


class _Known:
    """A problem with all that is known of it."""

    def __init__(self, text: str) -> None:
        [choice] = catalog.choices("problems", text)
        with sources.Opened() as opened:
            self.problem = catalog.build_problem(choice)
        self.text = text
        self.facts, self.head = _facts(self.problem), _head(self.problem)
        self.inputs = _inputs(self.problem)
        self.fingerprint = self.problem.fingerprint
        self.origin = {
            "built_from": sources.built_from(choice, opened.files),
            "files": opened.files,
            "fingerprint": self.fingerprint,
        }


class Here:
    """Runs tasks in this process; problems are built when they are first needed.

    Parameters
    ----------
    threads : int
        For BLAS and numba.
    shared : bool
        Whether other runs go on meanwhile, in other processes.
    observer : Observer, optional
    told : callable, optional
        Called with the facts of a problem before a run on it begins.
    """

    def __init__(
        self,
        threads: int = 1,
        *,
        shared: bool = False,
        observer: Observer | None = None,
        told: Callable[[dict[str, Any]], None] = lambda facts: None,
    ) -> None:
        self.threads, self.shared, self.told = threads, shared, told
        self.observer = observer or Unobserved()
        self.too_large: list[TooLarge] = []
        self._known: _Known | None = None
        self._compiled = False
        self._found: dict[str, tuple[Choice, str]] = {}

    @property
    def hosts(self) -> dict[str, bool]:
        """The name of this machine, and whether runs share it."""
        return {platform.node(): self.shared}

    @property
    def described(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {"in_process": True}

    def run(
        self, assignments: Iterable[Assignment], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[Done]:
        """Yield each task with its record and arrays as it ends.

        Parameters
        ----------
        assignments : iterable of Assignment
            The next is asked for when the last has ended.
        stopped : callable
            Once it is true, no further task is begun.
        """
        try:
            with limited_threads(self.threads):
                for assignment in assignments:
                    if stopped():
                        return
                    done = self.one(assignment)
                    if done.record is not None:
                        self.note(assignment.task, done.record["row"])
                    yield done
        finally:
            gc.unfreeze()  # the runner froze what was alive

    def note(self, task: Task, row: dict[str, Any]) -> None:
        """Remember a foreign code that ran out of time, from a row of now or of before."""
        if (found := TooLarge.of(task, row)) is not None:
            self.too_large.append(found)

    def one(self, assignment: Assignment) -> Done:
        """Run one task; whatever its files raise becomes its record."""
        task = assignment.task
        around = Around(self.threads, shared=self.shared)
        known: _Known | None = None
        trace = Trace()  # what is known of a run that is interrupted
        facts: dict[str, Any] = {"cache_key": None, "host": platform.node()}
        laws: list[dict[str, Any]] = []
        try:
            self.observer.enters(Stage.BUILDING)
            known = self._built(task.problem)
            asked, digest = self._asked(task.solver)
            choice = resolved(asked, known.problem)
            entry = choice.entry
            facts |= known.facts | {"library": entry.library, "sampling": str(entry.sampling)}
            laws = _laws(choice, known.problem)
            if choice.text != task.solver_text:
                facts["chosen"] = choice.label
            facts["cache_key"] = sources.cache_key(
                task.run_id, digest, known.fingerprint,
                conditions(self.threads, choice.entry.library, shared=self.shared),
            )  # fmt: skip
            if assignment.known == facts["cache_key"]:
                return Done(task, None, {})
            self.told(facts)
            around.begins()
            done = self._ran(task, choice, known, trace)
        except KeyboardInterrupt:
            reason = "interrupted from the keyboard, or by the solver"
            steps = {"steps": trace.last("k")} if len(trace) else {}
            done = Run(Status.INTERRUPTED, reason, steps, trace, traceback=traceback.format_exc())
        except MissingExtra as error:
            done = Run(Status.SKIPPED, str(error))
        except MemoryError as error:
            done = Run(Status.MEMORY, said(error), traceback=traceback.format_exc())
        except BaseException as error:  # a user's file may raise anything while it is imported
            done = Run(Status.ERROR, said(error), traceback=traceback.format_exc())
        facts |= around.columns()
        try:
            return _done(task, known, facts, laws, done)
        except Exception as error:  # what a solver keeps may be no number at all
            reason = f"what the run gave cannot be written down: {said(error)}"
            failed = Run(Status.ERROR, reason, traceback=traceback.format_exc())
            return _done(task, known, facts, laws, failed)

    def _asked(self, text: str) -> tuple[Choice, str]:
        """Return a solver and the digest of its code; only files of users' are read again."""
        if text in self._found:
            return self._found[text]
        [choice] = catalog.choices("solvers", text)
        found = choice, sources.solver_digest(choice.source)
        if not choice.source.endswith(".py"):
            self._found[text] = found
        return found

    def _built(self, text: str) -> _Known:
        if not self._compiled:
            with compiling_alone():
                _facts(QuadraticOverHull(np.eye(4, 3)))  # kernels that every problem needs
            self._compiled = True
        if self._known is None or self._known.text != text:
            self._known = None  # its memory first
            self._known = _Known(text)
        return self._known

    def _ran(self, task: Task, choice: Choice, known: _Known, trace: Trace) -> Run:
        problem = known.problem
        for before in self.too_large:
            if (reason := before.hopeless(task, problem.n, problem.d)) is not None:
                return Run(Status.SKIPPED, reason)
        solver = catalog.build_solver(choice)
        try:
            done = run(problem, solver, choice.entry, task.budget, self.observer, trace)
        finally:
            self.observer.enters(Stage.JUDGING)
            unchanged = _inputs(problem) == known.inputs
            if not unchanged:
                self._known = None  # the next run gets its problem anew
        if unchanged:
            return done
        reason = "the solver changed what it was given (atoms, Q, c, mean or start); work on a copy"
        return Run(Status.ERROR, reason, done.row, done.trace, traceback=done.traceback)


def _cut(text: str | None) -> str | None:
    """Return a traceback, its middle left out where it is long."""
    if text is None or len(text) <= LONGEST_TRACEBACK:
        return text
    half = LONGEST_TRACEBACK // 2
    return f"{text[:half]}\n…\n{text[-half:]}"


def _done(
    task: Task,
    known: _Known | None,
    facts: dict[str, Any],
    laws: list[dict[str, Any]],
    done: Run,
) -> Done:
    """Return a task with the journal's record of its run and the arrays kept beside it."""
    row: dict[str, Any] = {
        **task.columns(),
        "chosen": None,
        "status": str(done.status),
        "reason": done.reason,
        "traceback": _cut(done.traceback),
        "signal": None,
        "attempts": 1,
        **facts,
        **done.row,
    }
    arrays: dict[str, Any] = {}
    if known is not None and done.path is not None:
        arrays |= _plane(known.problem) | {"path": done.path}
    if done.points is not None:
        arrays["points"] = done.points
    if done.weights is not None:
        kept = done.weights
        arrays |= {"indptr": kept.indptr, "keys": kept.keys, "data": kept.data}
    record = {
        "row": row,
        "trace": done.trace.columns if len(done.trace) else {},
        "rest": done.rest,
        "head": None if known is None else known.head,
        "laws": laws,
        "origin": None if known is None else known.origin,
    }
    return Done(task, plain(record), arrays)
