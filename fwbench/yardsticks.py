"""What the machine needs for the simplest things on an instance: measured off every clock.

A step or a whole solve says more in units of one pass over the atoms than in seconds: that unit
does not depend on the machine, and no method that looks at all atoms can be done in less than one.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np

from fwbench.kernels.passes import block_minima
from fwbench.problem import QuadraticOverHull

SECONDS, FEWEST, MOST = 0.02, 3, 100  # a median of as many repeats as fit in here


def yardsticks(problem: QuadraticOverHull) -> dict[str, float | None]:
    """Return the seconds of a pricing pass, of numpy's product V g, and of the Gram matrix VV'.

    A pricing pass finds the leaders of blocks of atoms, and with them the least of all scores
    ⟨v − μ, g⟩, without storing these. The Gram matrix is made only where it is smaller than the
    atoms (n < d); else `gram_seconds` is None. Of atoms in blocks only the pass is known.

    Parameters
    ----------
    problem : QuadraticOverHull

    Returns
    -------
    dict
        ``pass_seconds``, ``gemv_seconds``, ``gram_seconds``: columns of a run's row.

    Examples
    --------
    >>> found = yardsticks(QuadraticOverHull(np.eye(3, 2)))
    >>> found["pass_seconds"] > 0, found["gram_seconds"]
    (True, None)
    """
    if not problem.in_memory:  # once: the atoms may take long to come
        begun = perf_counter_ns()
        problem.least_score(np.ones(problem.d))
        seconds = (perf_counter_ns() - begun) / 1e9
        return {"pass_seconds": seconds, "gemv_seconds": None, "gram_seconds": None}
    atoms = problem.packed
    direction = np.ones(problem.d, dtype=problem.dtype)
    wide = problem.n < problem.d
    return {
        "pass_seconds": min(
            _median(pricing_pass(problem)), _median(lambda: (atoms @ direction).argmin())
        ),
        "gemv_seconds": _median(lambda: atoms @ direction),
        "gram_seconds": _median(lambda: atoms @ atoms.T) if wide else None,
    }


def pricing_pass(problem: QuadraticOverHull) -> Callable[[], None]:
    """Return the pass itself, ready to be called: O(nd)."""
    direction = np.random.default_rng(0).standard_normal((problem.d,))
    values = np.empty(-(-problem.n // problem.block))
    keys = np.empty(len(values), dtype=np.int64)
    atoms, mean, block = problem.packed, problem.mean, problem.block
    return lambda: block_minima(atoms, mean, direction, keys, values, block)


def _median(measured: Callable[[], Any]) -> float:
    """Return the median of the seconds that a call takes, after one to warm up."""
    measured()
    times: list[float] = []
    while len(times) < FEWEST or (sum(times) < SECONDS and len(times) < MOST):
        begun = perf_counter_ns()
        measured()
        times.append((perf_counter_ns() - begun) / 1e9)
    return float(np.median(times))
