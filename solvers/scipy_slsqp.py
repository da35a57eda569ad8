r"""scipy's SLSQP, sequential least squares, on a dual whose multipliers are the weights.

Where the linear term is a shift of the points: minimise ½‖z‖² subject to (Z, 1)z >= 1. Its first
quadratic model is the problem itself. Else the dual in (y, t).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.foreign import Answer, aim, bounded, unit
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.geometry.programs import Dual, dual
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, Sampling, SolverEntry

WORK = 2e10  # multiply-adds of one of its some five steps, which no limit of time cuts short
STEPS = 500
SOLVED, STOPPED = 0, 99


@dataclass(frozen=True, eq=False)
class Model:
    """Minimise ½ Σ squares x² + ⟨slope, x⟩ subject to rows x <= bound."""

    problem: QuadraticOverHull
    stated: Dual


@dataclass(frozen=True)
class ScipySlsqp:
    """Hand a dual of the problem to scipy.optimize.minimize with method SLSQP."""

    tol: float = field(default=1e-8, init=False, repr=False)
    seconds: float = field(default=inf, init=False, repr=False)

    def within(self, tol: float, seconds: float) -> ScipySlsqp:
        return bounded(self, tol, seconds)

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        r = min(problem.n, problem.d) + 1
        if (work := problem.n * r * r) <= WORK:
            return None
        return (
            f"a step of SLSQP takes some {work:.0e} multiply-adds here (at most {WORK:.0e}), and "
            "its time is looked at between steps"
        )

    def prepare(self, problem: QuadraticOverHull) -> Model:
        posed = unit(problem)
        if (rows := posed.homogeneous) is None:
            return Model(problem, dual(posed.Y, posed.linear))
        # In w, with n variables, each of 15 to 500 steps takes 150 to 420 ms at 1000 × 50; so, all
        # of them take 4 to 28 ms.
        n, r = rows.shape
        return Model(problem, Dual(np.ones(r), np.zeros(r), -rows, -np.ones(n)))

    def init(self, model: Model, start: Combinations) -> Answer:
        return Answer(model.problem, start.one(0))

    def advance(self, model: Model, state: Answer, steps: int) -> None:
        if steps == 0 or state.done:
            return
        from scipy.optimize import minimize

        squares, slope, rows, bound = model.stated
        begun = perf_counter()

        def value_and_gradient(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            return float(x @ (0.5 * squares * x + slope)), squares * x + slope

        def in_time(intermediate_result: Any) -> None:
            if perf_counter() - begun > self.seconds:
                raise StopIteration

        inside: Any = {
            "type": "ineq",
            "fun": lambda x: bound - rows @ x,
            "jac": lambda x: -rows,
        }
        answer = minimize(
            value_and_gradient,
            np.zeros(rows.shape[1]),
            jac=True,
            method="SLSQP",
            constraints=inside,
            callback=in_time,
            options={"ftol": aim(self.tol), "maxiter": STEPS},
        )
        ended, solved = answer.status != STOPPED, answer.status == SOLVED
        state.take_multipliers(answer.multipliers, ended=ended, optimal=solved)


ENTRY = SolverEntry(
    name="scipy_slsqp",
    make=ScipySlsqp,
    label="SLSQP (scipy) on the dual",
    reference="Kraft 1988; Virtanen et al. 2020 (SciPy)",
    law="superlinear; on a problem of least distance its first model is exact",
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    sampling=Sampling.ONCE,
    library="scipy",
)
