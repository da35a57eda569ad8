"""How long a run takes: set-up and uninterrupted calls, repeated where they are short."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Solver
from fwbench.trace import Trace

# a time is the median of as many repeats as fit in here; of tiny runs the starts take longer
REPEATS_SECONDS, REPEATS = 0.02, 100
SETUPS = 9  # set-ups are repeated less often: each may take memory of the problem's size
OWN_SUM_SECONDS = 1.0  # a traced run longer than this is not repeated


def prepared(
    solver: Solver[Any, Any], problem: QuadraticOverHull, start: Combinations
) -> tuple[Any, Any, float]:
    """Set a run up; return the model, the state before any step, and the median seconds.

    On the clock is all that the solver uses of the problem: mean, scale and a pass at the mean too.
    """
    times: list[float] = []
    left = REPEATS_SECONDS
    while not times or (len(times) < SETUPS and left > times[-1]):
        # whether another run has found out the mean, the scale, a factor of Q must not show
        bare = problem.unprepared()
        begun = perf_counter_ns()
        model = solver.prepare(bare)
        state = solver.init(model, start)
        times.append((perf_counter_ns() - begun) / 1e9)
        left -= times[-1]
    return model, state, float(np.median(times))


def uninterrupted(
    solver: Solver[Any, Any], model: Any, start: Combinations, trace: Trace
) -> tuple[float, Any]:
    """Return the seconds of one call that takes all steps of a trace, and the state it ends in.

    The trace's own seconds are mended.

    Between the checkpoints of a traced run the judge takes a pass over the atoms, which empties
    the caches, and one hiccup of the machine would bend a curve for good. So the stretches between
    checkpoints are timed again with nothing in between: their medians count, or, of two, the
    smaller.
    """
    k, clock = trace.columns["k"], trace.columns["seconds"]
    whole: list[float] = []
    stretches = [np.diff(clock)]
    left = REPEATS_SECONDS
    while not whole or (len(whole) < REPEATS and left > whole[-1]):
        seconds, fresh = _timed(solver, model, start, [0, k[-1]])
        whole.append(float(seconds.sum()))
        stretches.append(_timed(solver, model, start, k)[0])
        left -= whole[-1]
    typical = np.median(stretches[1:], axis=0) if len(whole) > 2 else np.min(stretches, axis=0)
    clock[:] = np.concatenate([[0.0], np.cumsum(typical)]).tolist()
    return float(np.median(whole)), fresh


def asked(
    solver: Solver[Any, Any], model: Any, start: Combinations, limit: int, trace: Trace
) -> float:
    """Return the seconds of a foreign method's last call, also in the trace's last row."""
    whole: list[float] = []
    left = REPEATS_SECONDS
    while not whole or (len(whole) < REPEATS and left > whole[-1]):
        whole.append(float(_timed(solver, model, start, [0, limit])[0].sum()))
        left -= whole[-1]
    trace.replace_last(seconds=float(np.median(whole)))
    return float(np.median(whole))


def _timed(
    solver: Solver[Any, Any], model: Any, start: Combinations, steps: list[int]
) -> tuple[NDArray[np.float64], Any]:
    """Time the stretches between steps from a fresh start; return the last state as well."""
    fresh, stretches = solver.init(model, start), []
    for last, step in pairwise(steps):
        begun = perf_counter_ns()
        solver.advance(model, fresh, step - last)
        stretches.append((perf_counter_ns() - begun) / 1e9)
    return np.array(stretches), fresh
