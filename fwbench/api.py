"""The Python interface: solve one problem, or run many and compare."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwbench import catalog
from fwbench.cards import card, folded
from fwbench.choose import choose
from fwbench.errors import InvalidParameter, InvalidProblem, Refused
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.judge import Judge, Look
from fwbench.listed import Listed
from fwbench.problem import QuadraticOverHull
from fwbench.runner import misfit
from fwbench.solver import Queries, Sampling, each
from fwbench.trace import Columns, Status, Trace

if TYPE_CHECKING:
    from fwbench.results import Results

Array = NDArray[np.float64]

MOST_GIBIBYTES = 2**30
SHARE = 4  # a block of steps is this part of the steps before it: so much can be too many


@dataclass(frozen=True, eq=False)
class Solution:
    """What `solve` found; `gap` is certified from the weights.

    Attributes
    ----------
    x : ndarray, shape (d,), or (m, d) for m starts
        (d,) as well where the answer does not depend on the start.
    combinations : Combinations or None
        The weights, sparse.
    value, gap, gap_relative : float or None
        The worst query's; value is None for a field without a potential. `gap_relative` is of the
        problem's scale and, on a convex problem, against the best certified lower bound.
    status, reason : str
    steps : int
    seconds : float
        On the clock inside the solver, set-up included.
    solver : str
        What was chosen.
    trace : dict of lists or None
        Shows itself in a notebook.
    passes, bytes_read : int or None
        Of atoms in blocks: how often all were gone over meanwhile, for the scale and by the judge
        too, and what was read. (``problem.atoms.passes`` counts by purpose, from its making on.)
    """

    x: Array
    combinations: Combinations | None
    n: int
    value: float | None
    gap: float | None
    gap_relative: float | None
    status: Status
    reason: str
    steps: int
    seconds: float
    solver: str
    trace: Columns | None = field(repr=False, default=None)
    passes: int | None = None
    bytes_read: int | None = None

    @property
    def weights(self) -> Array | None:
        """The weights, shape (n,), or (m, n) for m starts."""
        if self.combinations is None:
            return None
        dense = self.combinations.dense(self.n)
        return np.asarray(dense[0] if self.x.ndim == 1 else dense)

    def _repr_html_(self) -> str:
        facts: dict[str, Any] = {
            "ended": f"{self.status}: {self.reason}",
            "steps": self.steps,
            "seconds": f"{self.seconds:.3g}",
            "value": None if self.value is None else f"{self.value:.10g}",
            "gap": None if self.gap is None else f"{self.gap:.3g}",
            "gap over scale": None if self.gap_relative is None else f"{self.gap_relative:.3g}",
            "x": f"shape {self.x.shape}",
        }
        if self.combinations is not None:
            facts["atoms in use"] = np.count_nonzero(self.combinations.data)
        if self.passes is not None:
            facts["passes over the atoms"] = self.passes
        if self.trace is None:
            return card(f"Solution by {self.solver}", facts)
        shown = folded(f"trace of {len(self.trace['k'])} rows", self.trace._repr_html_())
        return card(f"Solution by {self.solver}", facts, shown)


def solve(
    problem: QuadraticOverHull,
    solver: str = "auto",
    tol: float = 1e-8,
    start: Combinations | ArrayLike | None = None,
    trace: bool = False,
    *,
    max_steps: int = 1_000_000,
    max_seconds: float = 60.0,
) -> Solution:
    """Solve a problem, without the runner: no collector, threads or warm-up are touched.

    Parameters
    ----------
    problem : QuadraticOverHull
    solver : str
        "auto", or the text of a solver: ``"frank_wolfe[step=exact]"``.
    tol : float
        Relative to the problem's scale.
    start : Combinations or array_like of int, optional
        Where queries start; the problem's own start by default.
    trace : bool
        Keep the judged checkpoints.
    max_steps, max_seconds : optional
        Limits.

    Returns
    -------
    Solution

    Raises
    ------
    UnknownName, InvalidParameter
        For the text of the solver.
    Refused
        Where the solver cannot run on this problem.

    Examples
    --------
    >>> import fwbench as fw
    >>> solution = fw.solve(fw.QuadraticOverHull([[1, 2], [3, 1], [2, -1]]), tol=1e-10)
    >>> solution.x.round(6).tolist(), solution.status.value
    ([1.5, 0.5], 'converged')
    """
    if not isinstance(problem, QuadraticOverHull):
        kind = type(problem).__name__
        raise InvalidProblem(f"solve takes a QuadraticOverHull; got {kind} (wrap the atoms?)")
    if not isinstance(solver, str):
        raise InvalidParameter(
            f"solver must be a text; got {solver!r} (one name, its parameters in brackets)"
        )
    for name, limit in (("tol", tol), ("max_steps", max_steps), ("max_seconds", max_seconds)):
        if not isinstance(limit, int | float | np.number):
            raise InvalidParameter(f"{name} must be a number; got {limit!r}")
        if not limit > 0:
            raise InvalidParameter(f"{name} must be positive; got {limit}")
    if not max_steps < np.inf or max_steps != int(max_steps):
        raise InvalidParameter(f"max_steps must be a whole number; got {max_steps}")
    max_steps = int(max_steps)
    if start is not None:
        problem = problem.starting_at(start)
    passes, read = _traffic(problem)
    choice, method = _method(choose(problem) if solver == "auto" else solver)
    entry = choice.entry
    if (reason := misfit(entry, method, problem)) is not None:
        raise Refused(reason)
    if hasattr(method, "within"):
        method = method.within(tol, max_seconds)
    starts = method.start(problem) if hasattr(method, "start") else problem.start
    if entry.queries is Queries.ANY:
        starts = starts.one(0)
    moving = bool(getattr(method, "moving", False))
    judge, kept = Judge.of(problem, entry, method), Trace() if trace else None
    if entry.queries is Queries.ONE and starts.m > 1:
        method = each(method)
    begun = perf_counter_ns()
    model = method.prepare(problem)
    state = method.init(model, starts)
    clock = perf_counter_ns() - begun
    # a start that was given may be the answer
    look = _looked(judge, state, kept, clock) if trace or start is not None else None
    # a foreign method or a direct one is asked for its own answer, in one call
    blocks = entry.sampling is Sampling.ADVANCE
    while not (state.done or state.steps >= max_steps or clock > max_seconds * 1e9):
        if blocks and look is not None and (not look.finite or _met(judge, look, tol)):
            break
        left = max_steps - state.steps
        block = 1 + state.steps // SHARE if blocks else left
        begun = perf_counter_ns()
        method.advance(model, state, min(block, left))
        clock += perf_counter_ns() - begun
        own = getattr(state, "own_gap", None)
        worthwhile = own is None or not own > tol * problem.scale
        look = _looked(judge, state, kept, clock) if worthwhile or trace else None
    if look is None:
        look = _looked(judge, state, kept, clock)
    if look.finite and judge.inside and look.row.get("feasibility") is None:
        look = judge.look(state.points(), None, last=True)
    relative, convex = judge.certified(look), problem.kind is Kind.CONVEX
    violated = (look.row.get("feasibility") or 0.0) > judge.allowed(state.steps, tol)
    promised = max(tol, entry.promise)
    status, reason = Status.BUDGET, f"{max_steps} steps spent"
    if not look.finite:
        status, reason = Status.NONFINITE, "a coordinate was not finite"
    elif violated:
        outside = look.row["feasibility"]
        status, reason = Status.INFEASIBLE, f"{outside:.1e} of the radius outside the hull"
    elif relative is not None and state.claim == "optimal" and convex and relative > promised:
        status, reason = Status.WRONG, f"called itself optimal {relative:.1e} of the scale short"
    elif relative is not None and relative <= tol:
        status, reason = Status.CONVERGED, f"certified gap {relative:.1e} of the scale"
    elif clock > max_seconds * 1e9 and (entry.sampling is Sampling.ONCE or not state.done):
        status, reason = Status.TIMEOUT, f"{max_seconds:g} s spent"
    elif state.done:
        status, reason = Status.FINISHED, "the method ended by itself"
    x = look.offset + problem.mean
    weights = state.weights()
    return Solution(
        x=x[0] if starts.m == 1 else x,
        combinations=None if weights is None else weights.repaired(),
        n=problem.n,
        value=look.row.get("value"),
        gap=look.row.get("gap_current" if moving else "gap"),
        gap_relative=relative,
        status=status,
        reason=reason,
        steps=state.steps,
        seconds=clock / 1e9,
        solver=choice.label,
        trace=None if kept is None else kept.columns,
        passes=None if problem.in_memory else _traffic(problem)[0] - passes,
        bytes_read=None if problem.in_memory else _traffic(problem)[1] - read,
    )


def _traffic(problem: QuadraticOverHull) -> tuple[int, int]:
    """Return how many passes over atoms in blocks were made so far, and how much was read."""
    passes = problem.passes
    if isinstance(passes, Listed):
        return 0, 0
    return passes.source.passes.total(), passes.source.bytes_read


def _method(text: str) -> tuple[catalog.Choice, Any]:
    """Return the one solver that a text names, and the solver made."""
    return _made(text) if text.endswith(".py") or ".py[" in text else _known(text)


def _made(text: str) -> tuple[catalog.Choice, Any]:
    found = catalog.choices("solvers", text)
    if len(found) > 1 and "[" in text:
        raise InvalidParameter(f"solve takes one solver; {text} names {len(found)}")
    return found[0], catalog.build_solver(found[0])


# A solver is a value: one that is not read from a user's file need be made only once.
_known = cache(_made)


def _looked(judge: Judge, state: Any, kept: Trace | None, clock: int) -> Look:
    look = judge.look(state.points(), state.weights())
    if kept is not None:
        kept.add(k=state.steps, seconds=clock / 1e9, **look.row)
    return look


def _met(judge: Judge, look: Look, tol: float) -> bool:
    relative = judge.certified(look)
    return relative is not None and relative <= tol


def run(
    suite: str | None = None,
    *,
    solvers: str | Sequence[str] = (),
    problems: str | Sequence[str] = (),
    out: str | Path | None = None,
    seed: int | None = None,
    repeat: int = 1,
    jobs: int | None = 1,
    max_memory: float | None = None,
    resume: bool = False,
    fresh: bool = False,
    **limits: float,
) -> Results:
    """Run solvers on problems and return the findings.

    Parameters
    ----------
    suite : str, optional
        A suite's name or TOML file; `quick` where neither suite nor problems are given.
    solvers, problems : str or sequence of str
        Texts as on the command line; empty: all solvers, the suite's problems.
    out : path, optional
        Run folder; by default a temporary one, which stays.
    seed, repeat : int
    jobs : int or None
        How many runs at a time, each in a process of its own; with more than one their seconds are
        marked as shared. None: in this process, where a crash or a hang of a solver ends all.
    max_memory : float, optional
        GiB that a run may take; by default four fifths of what is free, shared among the jobs.
    resume, fresh : bool
        Take a folder `out` that exists: do what is missing or out of date there, or set its journal
        aside and start anew.
    **limits
        tol, max_steps, max_seconds.

    Returns
    -------
    Results

    Raises
    ------
    UnknownName, InvalidParameter, RunFolderError

    Examples
    --------
    >>> import fwbench as fw
    >>> results = fw.run(problems=["token_cloud[name=own-cells]"], solvers=["vertex_enumeration"])
    >>> results.runs.status.tolist()
    ['finished']
    """
    from fwbench.execution.here import Here
    from fwbench.execution.pool import Pool
    from fwbench.findings import build, write_views
    from fwbench.planning import Question, plan
    from fwbench.results import Results
    from fwbench.session import execute
    from fwbench.store import RunFolder

    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise InvalidParameter(f"jobs must be a whole number from 1 on, or None; got {jobs!r}")
    if max_memory is not None and not 0 < max_memory < MOST_GIBIBYTES:
        raise InvalidParameter(f"max_memory must be a positive number of GiB; got {max_memory!r}")
    for name in limits:
        if name not in ("tol", "max_steps", "max_seconds"):
            raise InvalidParameter(f"run has no limit {name!r}: tol, max_steps, max_seconds")
    if suite is not None and problems:
        raise InvalidParameter("run takes a suite or problems, not both")
    asked, posed = (
        (texts,) if isinstance(texts, str) else tuple(texts) for texts in (solvers, problems)
    )
    for text in (*asked, *posed):
        if not isinstance(text, str):
            raise InvalidParameter(
                f"run takes texts, as on the command line; got {type(text).__name__} (solve takes "
                "one problem; to run many solvers on it, save its arrays: file[path=...])"
            )
    question = Question(suite, asked, posed, seed, repeat, dict(limits))
    tasks, described = plan(question)
    path = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="fwbench-"))
    folder = RunFolder.create(path, resume=resume, fresh=fresh)
    memory = None if max_memory is None else int(max_memory * 2**30)
    executor = Here() if jobs is None else Pool(jobs, memory=memory)
    with folder.locked(wait=resume):
        command = "fwbench.run(...)"
        if not execute(
            folder, tasks, described, command, lambda task, row: None, executor=executor
        ):
            raise KeyboardInterrupt(
                f"what was done is saved; run(..., out={str(path)!r}, resume=True)"
            )
        findings = build(folder)
        write_views(folder, findings)
    return Results(path, findings)
