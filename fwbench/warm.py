"""What happens before any clock runs: compilation, imports, and one thread a library."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np

from fwbench.geometry.combinations import Combinations
from fwbench.kernels import CACHE_DIR
from fwbench.observing import Observer, Stage, Unobserved
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Sampling, SolverEntry

PATIENCE_SECONDS = 30.0  # for others that compile; then this process compiles for itself
LOOK_SECONDS = 0.02

_WARM: set[tuple[Any, ...]] = set()
_INSIDE: list[tuple[int, ExitStack]] = []  # limits of threads, the innermost last


def warm(
    problem: QuadraticOverHull,
    solver: Any,
    entry: SolverEntry,
    start: Combinations,
    observer: Observer | None = None,
) -> bool:
    """Compile and import before any clock runs: two steps on a tiny problem of the same types.

    Once per process and (solver, types); a direct method takes one step. Returns whether there was
    anything to do.
    """
    signature = (repr(solver), problem.kind, problem.dtype, type(problem.form), start.m > 1)
    if signature in _WARM:
        return False
    # a user's solver may hang here, and nobody is to wait for it
    ours = getattr(entry.make, "__module__", "").partition(".")[0] == "fwbench"
    with compiling_alone() if ours else nullcontext():
        whole = _took_steps(problem, solver, entry, start, observer or Unobserved())
    if whole:
        _WARM.add(signature)
    return whole


def _took_steps(
    problem: QuadraticOverHull,
    solver: Any,
    entry: SolverEntry,
    start: Combinations,
    observer: Observer,
) -> bool:
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
        with _compiling_apart(observer):
            solver.advance(model, state, 1)
            if entry.sampling is Sampling.ADVANCE:
                solver.advance(model, state, 1)
    except Exception:
        # what is wrong with a solver shows in its run, under its own name
        return False
    finally:
        _limit_newcomers()
    return True


@contextmanager
def _compiling_apart(observer: Observer) -> Iterator[None]:
    """Tell what is stepping from what is compiling: steps that hang need not be waited for."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc] # numba has no types
        depth = 0

        def on_start(self, _: Any) -> None:
            self.depth += 1
            observer.enters(Stage.WARMING)

        def on_end(self, _: Any) -> None:
            self.depth -= 1
            if not self.depth:
                observer.enters(Stage.STEPPING)

    observer.enters(Stage.STEPPING)
    with event.install_listener("numba:compiler_lock", Listener()):
        yield
    observer.enters(Stage.WARMING)


@contextmanager
def compiling_alone(
    folder: Path = Path(CACHE_DIR), patience: float = PATIENCE_SECONDS
) -> Iterator[bool]:
    """Let one process at a time compile; the others find its kernels on the disk.

    Parameters
    ----------
    folder : Path
        Where compiled kernels lie; the lock is on the file ``.compiling`` in it.
    patience : float
        Seconds to wait for others; then, and where nothing can be locked, it goes on without.

    Yields
    ------
    bool
        Whether this process is alone.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / ".compiling", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # nothing can be kept there, so nobody waits for it
        yield False
        return
    try:
        until, alone = monotonic() + patience, _lock(descriptor)
        while not alone and monotonic() < until:
            sleep(LOOK_SECONDS)
            alone = _lock(descriptor)
        yield alone
    finally:
        _unlock(descriptor)  # a process that a solver has forked may have the file open still
        with suppress(OSError):  # a solver may close what it did not open
            os.close(descriptor)


if sys.platform == "win32":  # pragma: no cover

    def _lock(descriptor: int) -> bool:
        return True

    def _unlock(descriptor: int) -> None:
        pass

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True

    def _unlock(descriptor: int) -> None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)


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
