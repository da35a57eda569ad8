r"""scipy's non-negative least squares, by homogenisation.

u = argmin ‖Z'u‖² + (Σu − 1)² over u >= 0, then w = u/Σu: the best multiple of a ray depends on
‖Z'w‖ alone and is monotone in it, so w is the answer, not an approximation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import Refused
from fwbench.foreign import BEYOND, Answer, beyond, bounded, unit
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.laws import Law
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, Sampling, SolverEntry

WORK = 6e10  # multiply-adds: above, it takes a minute and has no limit of time


@dataclass(frozen=True, eq=False)
class Model:
    """Minimise ‖matrix u − target‖ over u >= 0."""

    problem: QuadraticOverHull
    matrix: NDArray[np.float64]
    target: NDArray[np.float64]


@dataclass(frozen=True)
class ScipyNnls:
    """Hand the problem to scipy.optimize.nnls, whose tolerance is its own."""

    tol: float = field(default=1e-8, init=False, repr=False)
    seconds: float = field(default=inf, init=False, repr=False)

    def within(self, tol: float, seconds: float) -> ScipyNnls:
        return bounded(self, tol, seconds)

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        r = min(problem.n, problem.d) + 1
        if (work := problem.n * r * r) > WORK:
            return (
                f"scipy's nnls has no limit of time, and {r} steps take some {work:.0e} "
                f"multiply-adds here (at most {WORK:.0e})"
            )
        return beyond(problem)

    def prepare(self, problem: QuadraticOverHull) -> Model:
        if (rows := unit(problem).homogeneous) is None:
            raise Refused(BEYOND)
        return Model(problem, rows.T, np.eye(rows.shape[1])[-1])

    def init(self, model: Model, start: Combinations) -> Answer:
        return Answer(model.problem, start.one(0))

    def advance(self, model: Model, state: Answer, steps: int) -> None:
        if steps == 0 or state.done:
            return
        from scipy.optimize import nnls

        u, _ = nnls(model.matrix, model.target, maxiter=30 * model.problem.n)
        # it returns or raises: what it returns it calls optimal
        state.take_multipliers(u, ended=True, optimal=True)


ENTRY = SolverEntry(
    name="scipy_nnls",
    make=ScipyNnls,
    label="NNLS (scipy)",
    reference="Lawson and Hanson 1974; Virtanen et al. 2020 (SciPy)",
    law="finite: a primal active-set method, about as many steps as atoms in use",
    laws=(Law("finite"),),
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    sampling=Sampling.ONCE,
    library="scipy",
)
