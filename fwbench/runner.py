"""The solve loop: one run of one solver on one problem, with a fair clock and a judge.

The clock is read inside no solver; the judge works while it stands still. Whatever a solver
raises, `SystemExit` included, costs only its own run.
"""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.endings import Budget, Referee
from fwbench.errors import MissingExtra, said
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.judge import Judge, Look
from fwbench.observing import Observer, Stage, Unobserved
from fwbench.problem import QuadraticOverHull
from fwbench.reductions import BLOCKWISE
from fwbench.rest import STILL, cycles, drift, facts, onward, resting
from fwbench.solver import Queries, Sampling, Solver, SolverEntry, autonomous, counted, each
from fwbench.stability import stable
from fwbench.timing import OWN_SUM_SECONDS, asked, prepared, uninterrupted
from fwbench.trace import Status, Trace, checkpoints
from fwbench.warm import warm

__all__ = ["Budget", "Run", "misfit", "run"]

APART = 1e-6  # of the radius: two runs from one start that end farther apart are two methods


@dataclass(eq=False)
class Run:
    """What one run gave: columns of its row, its trace, where it came to rest."""

    status: Status
    reason: str
    row: dict[str, Any] = field(default_factory=dict)
    trace: Trace = field(default_factory=Trace)
    rest: dict[str, list[Any]] | None = None
    points: NDArray[np.float64] | None = None
    weights: Combinations | None = None
    path: NDArray[np.float64] | None = None
    traceback: str | None = None


def misfit(entry: SolverEntry, solver: Any, problem: QuadraticOverHull) -> str | None:
    """Return why a solver cannot run on a problem, or None."""
    if problem.kind not in entry.kinds:
        kinds = ", ".join(sorted(entry.kinds))
        return f"{entry.name} runs on {kinds} problems; this one is {problem.kind}"
    if not (problem.in_memory or getattr(solver, "blockwise", False)):
        able = ", ".join(BLOCKWISE)
        return f"{entry.name} needs the atoms in memory; where they lie in blocks, {able} run"
    refuses: Callable[[QuadraticOverHull], str | None] | None = getattr(solver, "refuses", None)
    return refuses(problem) if refuses is not None else None


def run(
    problem: QuadraticOverHull,
    solver: Solver[Any, Any],
    entry: SolverEntry,
    budget: Budget,
    observer: Observer | None = None,
    trace: Trace | None = None,
) -> Run:
    """Run a solver on a problem.

    Parameters
    ----------
    problem : QuadraticOverHull
    solver : Solver
    entry : SolverEntry
        What its file says of it.
    budget : Budget
    observer : Observer, optional
        Is told what the run is about to do, and each checkpoint.
    trace : Trace, optional
        An empty one, to be filled: what is known of a run that is interrupted.

    Returns
    -------
    Run
        With exactly one status and a reason in words; nothing is raised but KeyboardInterrupt.
    """
    trace = Trace() if trace is None else trace  # what a run that raises had shown by then
    try:
        if (within := getattr(solver, "within", None)) is not None:
            solver = within(budget.tol, budget.max_seconds)
        if (reason := misfit(entry, solver, problem)) is not None:
            return Run(Status.SKIPPED, reason)
        watched = observer or Unobserved()
        return _Session(problem, solver, entry, budget, trace, watched).run()
    except MissingExtra as error:
        return Run(Status.SKIPPED, str(error))
    except MemoryError as error:
        return _failed(Status.MEMORY, error, trace)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a solver may raise anything, SystemExit and its kin included
        return _failed(Status.ERROR, error, trace)


def _failed(status: Status, error: BaseException, trace: Trace) -> Run:
    row = {"steps": trace.last("k") if len(trace) else None}
    return Run(status, said(error), row, trace, traceback=traceback.format_exc())


class _Session:
    """One run in the making."""

    def __init__(
        self,
        problem: QuadraticOverHull,
        solver: Solver[Any, Any],
        entry: SolverEntry,
        budget: Budget,
        trace: Trace,
        observer: Observer,
    ) -> None:
        self.problem, self.entry, self.budget, self.trace = problem, entry, budget, trace
        self.observer = observer
        starts = getattr(solver, "start", None)
        self.start: Combinations = starts(problem) if starts is not None else problem.start
        if entry.queries is Queries.ANY:
            self.start = self.start.one(0)
        lift = entry.queries is Queries.ONE and self.start.m > 1
        self.solver: Solver[Any, Any] = each(solver) if lift else solver
        self.moving = bool(getattr(solver, "moving", False))
        self.scheduled = bool(getattr(solver, "scheduled", False))
        self.autonomous = autonomous(solver) and not self.scheduled
        self.judge = Judge.of(problem, entry, solver)
        steady = not (self.moving or self.scheduled)
        self.referee = Referee(problem, entry, budget, self.judge, trace, steady)
        self.foreign = self.referee.foreign
        self.clock = 0  # nanoseconds inside advance
        self.limit = 1  # of the steps of the last call of a foreign method
        self.recent: list[tuple[int, NDArray[np.float64]]] = []
        self.path: list[NDArray[np.float64]] = []
        self.first: Look | None = None

    def run(self) -> Run:
        self.observer.enters(Stage.WARMING)
        anew = warm(self.problem, self.solver, self.entry, self.start, self.observer)
        collector = gc.isenabled()
        gc.collect()
        if anew:  # libraries stay, and need not be walked through before every run; solvers go
            gc.freeze()
        gc.disable()
        try:
            return self._run()
        finally:
            if collector:
                gc.enable()

    def _run(self) -> Run:
        self.observer.enters(Stage.PREPARING)
        model, state, setup = prepared(self.solver, self.problem, self.start)
        self.observer.enters(Stage.JUDGING)
        at = self._checkpoints()
        look = self.first = self._look(state, 0)
        stop, state, look = (self._ask if self.foreign else self._walk)(model, state, look, at)
        if look.finite and self.judge.inside and look.row["feasibility"] is None:
            look = self._found(state)
        status, reason = self.referee.verdict(look, state, stop)
        row = self._row(state, look) | {"setup_seconds": setup}
        seconds, apart = self._seconds(model, state, status)
        if apart is not None and not status.is_failure:
            status, reason = Status.ERROR, apart
        done = Run(status, reason, row | seconds, self.trace)
        if look.finite:
            with self.judge.quiet():
                self._settle(done, model, state, look)
        return done

    # -- the walk ----------------------------------------------------------------------------

    def _checkpoints(self) -> list[int]:
        """Return the steps to look at, as many as the judge can afford; k = 0 is one more."""
        most = self.budget.max_steps
        if self.entry.sampling is Sampling.ONCE:
            at = [1]
        elif self.entry.sampling is Sampling.RERUN:
            at = [*(2**i for i in range((most - 1).bit_length())), most]
        else:
            at = checkpoints(most)[1:]
        stride = self.judge.every(self.start.m, len(at) + 1)
        return [k for i, k in enumerate(at, 1) if i % stride == 0 or k == at[-1]]

    def _walk(
        self, model: Any, state: Any, look: Look, at: list[int]
    ) -> tuple[tuple[Status, str] | None, Any, Look]:
        """Advance from checkpoint to checkpoint until there is a reason to stop."""
        stop = self.referee.stop(look, state, self.clock)
        for k in at:
            if stop is not None:
                break
            while state.steps < k and not state.done:
                self._advance(model, state, self._stretch(state, k))
                if self.referee.late(self.clock):
                    break
            last = state.done or state.steps >= self.budget.max_steps
            look = self._look(state, state.steps, last=last)
            stop = self.referee.stop(look, state, self.clock)
            certified = stop is not None and stop[0] is Status.CONVERGED
            if certified and look.row["feasibility"] is None:
                look = self._found(state)  # a gap proves nothing of a point outside the hull
                stop = stop if self.referee.feasible(look, state) else None
        return stop, state, look

    def _ask(
        self, model: Any, state: Any, look: Look, at: list[int]
    ) -> tuple[tuple[Status, str] | None, Any, Look]:
        """Ask a foreign method for its answer within each limit, until it ends by itself."""
        stop = None if look.finite else self.referee.stop(look, state, self.clock)
        for limit in at:
            if stop is not None:
                break
            if state.steps:
                state = self.solver.init(model, self.start)
            self.clock, self.limit = 0, limit
            self._advance(model, state, limit)
            look = self._look(state, state.steps, last=True)
            stop = self.referee.stop(look, state, self.clock)
            if stop is None and state.steps < limit:  # by a limit of time of its own
                certified = self.referee.certified(look)
                stop = Status.TIMEOUT, f"stopped short of {limit} steps{certified}"
        return stop, state, look

    def _stretch(self, state: Any, k: int) -> int:
        """Return how many steps to take at once: to k, less where the clock would not let it."""
        ahead: int = k - state.steps
        if self.clock and state.steps:
            pace = self.clock / state.steps
            left = self.budget.max_seconds * 1e9 - self.clock
            ahead = min(ahead, max(1, int(left / pace) + 1))
        return ahead

    def _advance(self, model: Any, state: Any, steps: int) -> None:
        before = state.steps
        self.observer.enters(Stage.ADVANCE, self.clock)
        begun = perf_counter_ns()
        self.solver.advance(model, state, steps)
        self.clock += perf_counter_ns() - begun
        self.observer.enters(Stage.JUDGING, self.clock)
        if state.steps <= before and not state.done and not self.referee.late(self.clock):
            raise RuntimeError(f"advance({steps}) left state.steps at {state.steps}")

    def _look(self, state: Any, k: int, *, last: bool = False) -> Look:
        look = self.judge.look(state.points(), state.weights(), last=last)
        counters = counted(state)
        row = {"k": k, "seconds": self.clock / 1e9, **look.row}
        for name in ("lmo", "gradient", "matvec"):
            row[name] = counters.get(name)
        self.trace.cut(k)
        self.trace.add(**row)
        self.observer.looked(row)
        while self.recent and self.recent[-1][0] >= k:  # an answer of as many steps takes its place
            self.recent.pop()
        self.recent.append((k, look.offset))
        if self.problem.d == 2 and self.problem.in_memory:  # a picture shows all atoms
            self.path.append(look.offset + self.problem.mean)
        return look

    def _found(self, state: Any) -> Look:
        """Judge the last point again, with weights that the judge finds."""
        look = self.judge.look(state.points(), None, last=True)
        self.trace.replace_last(**look.row)
        self.recent[-1] = (state.steps, look.offset)
        return look

    # -- what is kept ------------------------------------------------------------------------

    def _row(self, state: Any, look: Look) -> dict[str, Any]:
        counters = counted(state)
        scale, row = self.problem.scale, look.row
        gap = row.get("gap")
        if gap is not None and "lower_centred" in row:
            gap = max(min(gap, row["value_centred"] - row["lower_centred"]), 0.0)
        relative = None if gap is None else (gap / scale if scale else 0.0)
        return {
            "steps": state.steps,
            "queries": self.start.m,
            "value": row.get("value"),
            "value_centred": row.get("value_centred"),
            "gap": row.get("gap"),
            "gap_relative": relative,
            "scale": scale,
            "feasibility": row.get("feasibility"),
            "support": row.get("support"),
            "lmo": counters.get("lmo"),
            "gradient": counters.get("gradient"),
            "matvec": counters.get("matvec"),
            "drop_steps": counters.get("drop"),
            "sampling": str(self.entry.sampling),
            "best_vertex_centred": self.referee.best_vertex(),
            "judged_queries": None if self.judge.sample is None else len(self.judge.sample),
        }

    def _seconds(self, model: Any, state: Any, status: Status) -> tuple[dict[str, Any], str | None]:
        """Time one call from a fresh start to the last step: the median of a few repeats.

        Returns columns of the row and, where that call ended elsewhere, what must be wrong.
        """
        own, apart = self.clock / 1e9, None
        if own > OWN_SUM_SECONDS or status is Status.NONFINITE or state.steps == 0:
            return {"seconds": own, "seconds_from": "trace"}, None
        self.observer.enters(Stage.REPEATING)
        if self.foreign:
            whole = asked(self.solver, model, self.start, self.limit, self.trace)
        else:
            whole, again = uninterrupted(self.solver, model, self.start, self.trace)
            apart = self._apart(state.points(), again.points())
        self.observer.enters(Stage.JUDGING)
        return {"seconds": whole, "seconds_from": "run"}, apart

    def _apart(self, points: NDArray[np.float64], again: NDArray[np.float64]) -> str | None:
        """Return what is wrong with a method that does not come to the same points twice."""
        if np.array_equal(points, again):
            return None
        away = float(np.abs(points - again).max()) / (self.problem.radius or 1.0)
        if away <= APART:
            return None
        return (
            f"a second run from the same start ended {away:.1e} of the radius elsewhere: the "
            "solver keeps something between runs, or advance(a), then advance(b), is not "
            "advance(a + b)"
        )

    def _pushable(self, status: Status) -> bool:
        """Say whether a push can tell of a rest: where rest is no optimum by its certificate."""
        restarts = self.entry.sampling is Sampling.ADVANCE and self.entry.queries is not Queries.ANY
        itself = not (self.moving or self.scheduled) and self.judge.inside
        known = self.problem.in_memory and self.problem.kind is not Kind.CONVEX
        return restarts and itself and known and not status.is_failure

    def _settle(self, done: Run, model: Any, state: Any, look: Look) -> None:
        """Measure where the run came to rest, and keep its last points."""
        steps = self.trace.last("k")
        recent = [offset for k, offset in self.recent if k >= 0.9 * steps]
        m = len(look.offset)
        stopped = done.status is Status.CONVERGED and self.entry.sampling is Sampling.ADVANCE
        if stopped and not state.done and drift(recent).max() > STILL * self.problem.radius:
            some = slice(None) if self.judge.sample is None else self.judge.sample
            path = onward(self.solver, model, state)
            recent = [points[some] - self.problem.mean for points in path]
        period: list[int | None] = [None] * m
        restless = self.autonomous and self.entry.sampling is Sampling.ADVANCE
        if restless and not state.done:
            found = cycles(self.solver, model, state, self.problem.radius)
            sample = self.judge.sample
            period = found if sample is None else [found[int(q)] for q in sample]
        weights = state.weights()
        if weights is not None:
            weights = weights.repaired()
            if self.judge.sample is not None:
                weights = Combinations.joined([weights.one(int(q)) for q in self.judge.sample])
        certified = look.gaps
        if self.problem.kind is Kind.CONVEX and look.values is not None:
            certified = np.clip(look.values - self.judge.lower, 0.0, look.gaps)
        done.rest = facts(self.problem, look.offset, certified, recent, weights, period)
        done.rest["gap"] = look.gaps.tolist()
        if weights is not None and self._pushable(done.status):
            pace = self.clock / 1e9 / max(1, steps * self.start.m)
            done.rest["stable"] = stable(
                self.problem, self.solver, self.entry, model, look.offset, weights,
                resting(done.rest), steps, pace,
            )  # fmt: skip
        if self.moving and self.judge.inside and self.first is not None:  # hulls are nested
            cloud = self.first.offset - self.first.offset.mean(axis=0)
            first_radius = float(np.linalg.norm(cloud, axis=1).max())
            spread = self.trace.last("spread") or 0.0
            done.rest["shrunk"] = [spread / first_radius if first_radius else 0.0] * m
        done.points, done.weights = look.offset + self.problem.mean, weights
        done.path = np.stack(self.path) if self.path else None
