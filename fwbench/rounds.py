"""The uninterrupted run again and again, for a clock of somebody else's.

The work on that clock is the work on fwbench's own: `advance`, from a fresh state, for exactly the
steps of the run that was judged. The state is made before; the garbage of a round is collected
between the rounds. A product of numpy is timed before each round: what slows it too is the machine.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.endings import Budget
from fwbench.geometry.combinations import Combinations
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Run
from fwbench.solver import Queries, Sampling, Solver, SolverEntry, each

MOST = 10_000  # of a run of microseconds; a file holds the time of each
STARTS = 3  # are timed, to know how many rounds fit


@dataclass(frozen=True, eq=False)
class Rounds:
    """A run that can be made again.

    Attributes
    ----------
    solver : Solver
        With tolerance and time filled in, lifted to all queries.
    model : object
        What it prepared; serves all rounds.
    start : Combinations
    asked : int
        The steps that `advance` is asked for.
    taken : int
        The steps that the judged run took.
    atoms : ndarray, shape (n, d), or None
        For the product that is timed beside; None where they lie in blocks.
    beside : list of float
        The seconds of that product before each round.
    """

    solver: Solver[Any, Any]
    model: Any
    start: Combinations
    asked: int
    taken: int
    atoms: NDArray[Any] | None
    beside: list[float] = field(default_factory=list)

    def fresh(self) -> tuple[tuple[Any, Any, int], dict[str, Any]]:
        """Return the arguments of `advance`, with a state before any step."""
        gc.collect()  # a few objects: what was there before is frozen
        state = self.solver.init(self.model, self.start)
        if self.atoms is not None:
            direction = np.ones(self.atoms.shape[1], dtype=self.atoms.dtype)
            begun = perf_counter_ns()
            self.atoms @ direction
            self.beside.append((perf_counter_ns() - begun) / 1e9)
        return (self.model, state, self.asked), {}

    def fitting(self, seconds: float, least: int, max_seconds: float) -> int:
        """Return how many rounds fit into some seconds, each with what is done before it.

        Parameters
        ----------
        seconds : float
            Of the run itself.
        least : int
            So many at least.
        max_seconds : float
        """
        starts = []
        for _ in range(STARTS):
            begun = perf_counter_ns()
            self.fresh()
            starts.append((perf_counter_ns() - begun) / 1e9)
        self.beside.clear()
        return enough(min(starts) + seconds, least, max_seconds)

    def refuse_other(self, state: Any) -> None:
        """Raise where a round did other work than the judged run.

        Raises
        ------
        AssertionError
            The solver keeps something between runs.
        """
        if state.steps != self.taken:
            raise AssertionError(
                f"a second run from the same start took {state.steps} steps, the judged one "
                f"{self.taken}: the solver keeps something between runs"
            )


def repeated(
    problem: QuadraticOverHull,
    solver: Solver[Any, Any],
    entry: SolverEntry,
    budget: Budget,
    run: Run,
) -> Rounds:
    """Prepare a judged run of one step at least to be made again, as the runner made it."""
    taken = int(run.row["steps"])
    method: Any = solver
    if (within := getattr(method, "within", None)) is not None:
        method = within(budget.tol, budget.max_seconds)
    starts = getattr(method, "start", None)
    start: Combinations = problem.start if starts is None else starts(problem)
    if entry.queries is Queries.ANY:
        start = start.one(0)
    if entry.queries is Queries.ONE and start.m > 1:
        method = each(method)
    # what another run has found out of the problem is no set-up of this one
    model = method.prepare(problem.unprepared())
    atoms = problem.packed if problem.in_memory else None
    return Rounds(method, model, start, _asked(entry, budget, taken), taken, atoms)


def _asked(entry: SolverEntry, budget: Budget, taken: int) -> int:
    """Return the limit that the last call of the judged run had."""
    if entry.sampling is not Sampling.RERUN:
        return taken
    doubled: int = 1 << (taken - 1).bit_length()  # a foreign code is asked for 1, 2, 4, … steps
    return min(doubled, budget.max_steps)


def enough(seconds: float, least: int, max_seconds: float) -> int:
    """Return how many rounds fit into some seconds: so many at least, `MOST` at most.

    Parameters
    ----------
    seconds : float
        Of one round.
    least : int
    max_seconds : float

    Examples
    --------
    >>> enough(0.01, 5, 1.0), enough(2.0, 5, 1.0), enough(1e-6, 5, 1.0)
    (100, 5, 10000)
    """
    fitting = MOST if seconds * MOST <= max_seconds else math.ceil(max_seconds / seconds)
    return max(least, min(fitting, MOST))


@contextmanager
def collected_outside() -> Iterator[None]:
    """Keep the garbage collector off inside, and what is there now out of its sight."""
    collector = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if collector:
            gc.enable()
