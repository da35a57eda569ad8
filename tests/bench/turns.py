"""What the ratio table is made with: timing in turns, instances, calls of solvers."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import fwbench as fw
from fwbench import catalog
from fwbench.judge import Judge
from fwbench.problem import QuadraticOverHull
from fwbench.runner import misfit
from fwbench.warm import warm

EXACT = 1e-12
OURS = ("auto", "working_set", "min_norm_point")  # the exact ones; `auto` may choose another
TOLERANCES = (1e-8, 1e-10, 1e-12, 1e-14)  # a foreign code has the quickest that is certified
LIMIT = 60.0  # seconds that one foreign code may take
TINY = {"n": 60, "d": 6, "face": 3}  # no parameter is larger, where all is only tried

QUICK = 0.05  # seconds

Call = Callable[[], Any]


@dataclass
class Turns:
    """How often calls are timed, each in its turn.

    Attributes
    ----------
    rounds : int
    seconds : float
        A call that took so long in all is not timed again.
    """

    rounds: int = 15
    seconds: float = 6.0

    def medians(self, calls: Mapping[str, Call], rounds: int | None = None) -> dict[str, float]:
        """Return the median seconds of each call, the collector off as in every run.

        A quick call is made once more before it is timed: else it would find the caches as the
        long call before it left them, and code that no processor has in hand any more.
        """
        times: dict[str, list[float]] = {name: [] for name in calls}
        gc.collect()
        gc.disable()
        try:
            for _ in range(rounds or self.rounds):
                for name, call in calls.items():
                    if sum(times[name]) < self.seconds:
                        if times[name] and times[name][-1] < QUICK:
                            call()
                        times[name].append(seconds(call))
        finally:
            gc.enable()
        return {name: median(taken) for name, taken in times.items()}


def seconds(call: Call) -> float:
    """Return the seconds of one call; what it returns is freed outside of the clock."""
    begun = perf_counter()
    kept = call()
    taken = perf_counter() - begun
    del kept
    return taken


def in_a_row(call: Call, times: int) -> None:
    """Make a call so many times: but for the first, what it reads lies in the caches already."""
    for _ in range(times):
        call()


def quickest(times: Mapping[str, float], some: Mapping[str, Any]) -> str:
    """Return the name with the least time, of some."""
    return min(some, key=lambda name: times[name])


def shown(taken: float) -> str:
    """Return seconds for people."""
    return f"{taken * 1e3:.3g} ms" if taken >= 1e-3 else f"{taken * 1e6:.3g} µs"


class Instances:
    """Problems by their texts, each built once; with `quick` all are tiny."""

    def __init__(self, *, quick: bool) -> None:
        self.quick = quick
        self._built: dict[str, QuadraticOverHull] = {}

    def __call__(self, text: str) -> QuadraticOverHull:
        if text not in self._built:
            [choice] = catalog.choices("problems", text)
            tiny = TINY if self.quick else {}
            kept = {key: min(v, tiny.get(key, v)) for key, v in choice.arguments.items()}
            self._built[text] = choice.entry.make(**kept)
        return self._built[text]


def afresh(problem: QuadraticOverHull) -> QuadraticOverHull:
    """Return the problem built anew from its arrays: nothing that was found of it is known."""
    return QuadraticOverHull(problem.atoms, problem.form, problem.c)


def solved(
    problem: QuadraticOverHull, text: str, tol: float, max_seconds: float = LIMIT
) -> fw.Solution:
    """Build and solve a problem: ours, end to end."""
    return fw.solve(afresh(problem), text, tol, max_seconds=max_seconds)


def ours(problem: QuadraticOverHull, tol: float) -> dict[str, Call]:
    """Return the calls of our exact solvers that certify a gap; each was called once."""
    calls = {text: partial(solved, problem, text, tol) for text in OURS}
    return {text: call for text, call in calls.items() if call().gap_relative <= tol}


def solver(text: str, tol: float, limit: float = LIMIT) -> tuple[Any, Any]:
    """Return the entry of a solver, and the solver set to a tolerance."""
    [choice, *_] = catalog.choices("solvers", text)
    made: Any = catalog.build_solver(choice)
    return choice.entry, made.within(tol, limit) if hasattr(made, "within") else made


def stepped(made: Any, model: Any, problem: QuadraticOverHull, steps: int) -> Any:
    """Return the state after so many steps in one call."""
    state = made.init(model, problem.start.one(0))
    made.advance(model, state, steps)
    return state


def answered(made: Any, problem: QuadraticOverHull) -> Any:
    """Return the state of a foreign code at its own end: from arrays to its answer."""
    problem = afresh(problem)
    return stepped(made, made.prepare(problem), problem, 1_000_000)


def certified(problem: QuadraticOverHull, state: Any) -> float:
    """Return the certified gap of a state, of the scale; infinite outside of the hull."""
    judge = Judge(problem)
    look = judge.look(state.points(), state.weights(), last=True)
    gap, violation = judge.certified(look), look.row.get("feasibility")
    if gap is None or violation is None or violation > max(gap, 1e-9):
        return float("inf")
    return gap


def foreign(
    text: str, problem: QuadraticOverHull, target: float | None
) -> tuple[Call, float] | None:
    """Return the quickest call of a foreign code that comes to a gap, and the gap it comes to.

    With no target, the call at the code's own accuracy: tolerance 1e-8.
    """
    found: list[tuple[float, Call, float]] = []
    for tol in (1e-8,) if target is None else TOLERANCES:
        entry, made = solver(text, tol)
        if misfit(entry, made, problem) is not None:
            return None
        warm(problem, made, entry, problem.start)
        call = partial(answered, made, problem)
        begun = perf_counter()
        try:
            state = call()
        except Exception as error:  # a foreign code may raise anything
            print(f"{text} at {tol:g}: {error!r}", file=sys.stderr)
            continue
        taken, gap = perf_counter() - begun, certified(problem, state)
        if target is None or gap <= target:
            found.append((taken, call, gap))
        if taken > LIMIT:
            break
    if not found:
        return None
    return min(found, key=lambda one: one[0])[1:]
