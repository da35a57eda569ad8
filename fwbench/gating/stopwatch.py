"""The program that times on one side of a gate, run by its path with that side's interpreter.

It takes a request a line (JSON) from its standard input, and answers each with a line. It imports
the fwbench of its side, which may be older or newer than this file: so it relies on the protocol
(names and texts of the catalogue, `within`, `prepare`, `init`, `advance`) and on nothing else.

==========  ====================================================================================
request     answer
==========  ====================================================================================
``load``    ``seconds`` of one call of a cell, and what stands ``aside`` of the clock when it is
            timed: its problem is built, its solver is warm
``begin``   none: from now on this process has one core, and garbage is collected off the clock
``time``    ``seconds``, the tenth percentile of so many calls
==========  ====================================================================================

What fails is answered by ``failed``, a sentence. Whatever becomes of this process costs what it was
asked last; its parent sees how it ended.
"""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import repeat
from time import perf_counter_ns
from typing import Any

WARM_SECONDS = 0.5  # a first call that took longer is no slower for being the first
LOW = 0.1  # what disturbs a call only makes it longer
# Where arrays come to lie changes the seconds of some loops by a seventh. So models are made among
# pieces of memory of random sizes, and beside a random number of those that were made before.
BLOCKERS, LARGEST_BLOCKER = 16, 14  # how many, and the power of two that their bytes stay below
KEPT = 5  # models of a cell
KEPT_BYTES, LARGER = (
    2**28,
    4,
)  # for the models of all cells; how much larger than the atoms they are
PARENT_DEATH = 1  # PR_SET_PDEATHSIG of prctl(2)


Request = Mapping[str, Any]
Answer = Mapping[str, float]


def spin(count: int) -> None:
    """Keep the processor busy for so many turns of a loop."""
    for _ in repeat(None, count):
        pass


class Loaded:
    """A cell of this side: what one call does, ready to be timed.

    Parameters
    ----------
    problem : QuadraticOverHull
    asked : mapping
        ``solver``, ``steps``, ``tol``, ``max_seconds``, ``what``, ``busy``: None or ``chunk`` and
        ``spins`` of work that is put in: after each `chunk` steps, so many turns of a loop. Both
        sides take the same chunks, which by the semigroup law end where one call does.
    room : int
        Bytes that models may take which are kept.
    """

    def __init__(self, problem: Any, asked: Request, room: int = KEPT_BYTES) -> None:
        from fwbench import catalog
        from fwbench.solver import Queries, Sampling, each

        [choice] = catalog.choices("solvers", asked["solver"])
        solver: Any = catalog.build_solver(choice)
        if (within := getattr(solver, "within", None)) is not None:
            solver = within(asked["tol"], asked["max_seconds"])
        refuses = getattr(solver, "refuses", None)
        if refuses is not None and (reason := refuses(problem)) is not None:
            raise ValueError(reason)
        starts = getattr(solver, "start", None)
        self.start = starts(problem) if starts is not None else problem.start
        if choice.entry.queries is Queries.ANY:
            self.start = self.start.one(0)
        elif choice.entry.queries is Queries.ONE and self.start.m > 1:
            solver = each(solver)
        self.problem, self.solver, self.entry = problem, solver, choice.entry
        self.whole = choice.entry.sampling is Sampling.ADVANCE
        # a foreign code is given a limit that it does not reach, as when its row was made
        rerun = choice.entry.sampling is Sampling.RERUN
        self.steps: int = 1 << asked["steps"].bit_length() if rerun else asked["steps"]
        self.due: int | None = asked["steps"] if self.whole else None
        self.busy: dict[str, int] | None = asked["busy"]
        self._kept: list[Any] = []
        size = LARGER * problem.n * problem.d * 8
        self._keep = min(KEPT, room // size)
        self.holds = self._keep * size
        self._call = self._set_up if asked["what"] == "set-up" else self._stepping

    def first(self) -> dict[str, float]:
        """Return what a call takes when all is compiled and imported, and what stands aside."""
        with suppress(ImportError, TypeError):  # of a version that warms up in another way
            from fwbench.warm import warm

            warm(self.problem, self.solver, self.entry, self.start)
        begun, calls = perf_counter_ns(), 1
        seconds, _ = self._call(calls)
        if seconds < WARM_SECONDS:
            begun, calls = perf_counter_ns(), 3
            seconds, _ = self._call(calls)
        whole = (perf_counter_ns() - begun) / 1e9
        return {"seconds": seconds, "aside": max(0.0, whole - calls * seconds)}

    def time(self, calls: int, placed: int) -> float:
        """Return the tenth percentile of the seconds of so many calls, placed as a seed says."""
        drawn = random.Random(placed)
        blockers = [bytearray(drawn.randrange(1 << drawn.randrange(5, LARGEST_BLOCKER)))
                    for _ in range(BLOCKERS)]  # fmt: skip
        gc.collect()
        gc.disable()
        try:
            seconds, model = self._call(calls)
        finally:
            gc.enable()
        if self._keep:
            self._kept.append((model, blockers))
            del self._kept[: -drawn.randint(1, self._keep)]
        return seconds

    def _set_up(self, calls: int) -> tuple[float, Any]:
        """Time `prepare` and `init`, each on a problem of which nothing is known yet."""
        times, made = [], None
        for _ in range(calls):
            bare = self.problem.unprepared()
            made = None  # what was made before is freed off the clock
            begun = perf_counter_ns()
            model = self.solver.prepare(bare)
            state = self.solver.init(model, self.start)
            times.append(perf_counter_ns() - begun)
            made, model, state = (model, state), None, None
        return _low(times), made

    def _stepping(self, calls: int) -> tuple[float, Any]:
        """Time `advance` from a fresh start each time, on a model made for it."""
        model = self.solver.prepare(self.problem.unprepared())
        run = self._in_one_go if self.busy is None else self._in_chunks
        times = []
        for _ in range(calls):
            state = self.solver.init(model, self.start)
            begun = perf_counter_ns()
            run(model, state)
            times.append(perf_counter_ns() - begun)
        if self.due is not None and state.steps != self.due and not state.done:
            raise RuntimeError(f"advance({self.due}) left state.steps at {state.steps}")
        return _low(times), model

    def _in_one_go(self, model: Any, state: Any) -> None:
        self.solver.advance(model, state, self.steps)

    def _in_chunks(self, model: Any, state: Any) -> None:
        assert self.busy is not None
        left, chunk, spins = self.steps, self.busy["chunk"], self.busy["spins"]
        while left > 0 and not state.done:
            self.solver.advance(model, state, min(chunk, left))
            left -= chunk
            spin(spins)


class Stopwatch:
    """The cells of one side, and what may be asked of them."""

    def __init__(self) -> None:
        self.problems: dict[str, Any] = {}
        self.cells: dict[int, Loaded] = {}

    def load(self, asked: Request) -> Answer:
        """Build a cell; a problem that several share is built once."""
        from fwbench import catalog

        text = asked["problem"]
        if text not in self.problems:
            [choice] = catalog.choices("problems", text)
            self.problems[text] = catalog.build_problem(choice)
        held = sum(cell.holds for cell in self.cells.values())
        loaded = Loaded(self.problems[text], asked, KEPT_BYTES - held)
        first = loaded.first()
        self.cells[asked["cell"]] = loaded
        return first

    def begin(self, asked: Request) -> Answer:
        """Go to one core, with one thread for every library, and freeze what is there."""
        with suppress(ImportError):
            from threadpoolctl import ThreadpoolController

            ThreadpoolController().limit(limits=1)
        if (numba := sys.modules.get("numba")) is not None:
            numba.set_num_threads(1)
        if hasattr(os, "sched_setaffinity") and asked["core"] is not None:
            os.sched_setaffinity(0, {asked["core"]})
        gc.collect()
        gc.freeze()  # else each collection walks through all that the libraries hold
        return {}

    def time(self, asked: Request) -> Answer:
        """Time a cell."""
        return {"seconds": self.cells[asked["cell"]].time(asked["calls"], asked["placed"])}


def _low(nanoseconds: list[int]) -> float:
    """Return the tenth percentile, in seconds."""
    return sorted(nanoseconds)[int(LOW * (len(nanoseconds) - 1))] / 1e9


def _said(error: BaseException) -> str:
    """Return what was raised, as one short line."""
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _answer(act: Callable[[Request], Answer], asked: Request) -> dict[str, Any]:
    try:
        return dict(act(asked))
    except BaseException as error:  # a solver may raise anything, SystemExit included
        return {"failed": _said(error)}


def main() -> None:
    """Answer until nobody asks any more."""
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != own]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what a Ctrl-C ends
    _end_with(int(sys.argv[1]))
    requests, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):  # what a solver prints or reads is not on the wire
        os.dup2(nowhere, descriptor)
    watch = Stopwatch()
    acts = {"load": watch.load, "begin": watch.begin, "time": watch.time}
    process = os.getpid()
    for line in requests:
        asked = json.loads(line)
        answer = _answer(acts[asked["do"]], asked)
        if os.getpid() != process:  # a copy that a solver made and did not end
            os._exit(0)
        os.write(answers, json.dumps(answer).encode() + b"\n")


def _end_with(parent: int) -> None:
    """End with the process that started this one, however that ends; Linux alone."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PARENT_DEATH, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before this was asked
        os._exit(1)


if __name__ == "__main__":
    main()
