"""What happens before any clock runs: compilation, imports, and one thread a library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from fwbench.geometry.combinations import Combinations
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Sampling, SolverEntry

_WARM: set[tuple[Any, ...]] = set()
_INSIDE: list[tuple[int, ExitStack]] = []  # limits of threads, the innermost last


def warm(problem: QuadraticOverHull, solver: Any, entry: SolverEntry, start: Combinations) -> None:
    """Compile and import before any clock runs: two steps on a tiny problem of the same types.

    Once per process and (solver, types); a direct method takes one step.
    """
    signature = (repr(solver), problem.kind, problem.dtype, type(problem.form), start.m > 1)
    if signature in _WARM:
        return
    n = min(problem.n, 6)
    tiny = QuadraticOverHull(
        problem.atoms[:n], problem.form, problem.c, start=np.zeros(min(start.m, 2), dtype=int)
    )
    tiny.kind = problem.kind  # a declared kind holds for part of the atoms too
    starts = getattr(solver, "start", None)
    first = tiny.start if starts is None else starts(tiny)
    try:
        model = solver.prepare(tiny)
        state = solver.init(model, first)
        solver.advance(model, state, 1)
        if entry.sampling is Sampling.ADVANCE:
            solver.advance(model, state, 1)
    except Exception:
        # what is wrong with a solver shows in its run, under its own name
        return
    finally:
        _limit_newcomers()
    _WARM.add(signature)


@contextmanager
def limited_threads(threads: int = 1) -> Iterator[None]:
    """Let BLAS and numba use so many threads inside; never entered by `fw.solve`."""
    import numba
    from threadpoolctl import ThreadpoolController

    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    try:
        with ExitStack() as limits:
            limits.enter_context(ThreadpoolController().limit(limits=threads))
            _INSIDE.append((threads, limits))
            try:
                yield
            finally:
                _INSIDE.pop()
    finally:
        numba.set_num_threads(before)


def _limit_newcomers() -> None:
    """Limit the threads of libraries that a warm-up has loaded."""
    from threadpoolctl import ThreadpoolController

    if _INSIDE:
        threads, limits = _INSIDE[-1]
        limits.enter_context(ThreadpoolController().limit(limits=threads))
