r"""quadprog, the dual active-set method of Goldfarb and Idnani, on a dual of the problem.

Where the linear term is a shift of the points: minimise ½‖z‖² subject to Zz >= 1, strictly convex,
in r or r + 1 variables. Else the dual in (y, t), made strictly convex by a small multiple of t².
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from fwbench.foreign import Answer, bounded, library, unit
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.geometry.programs import dual
from fwbench.laws import Law
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, Sampling, SolverEntry

RIDGE = 1e-7  # of t²: costs up to 2e-9 of the scale; of 1e-9, rounding costs more
WORK = 6e10  # multiply-adds: above, it takes a minute and has no limit of time


@dataclass(frozen=True, eq=False)
class Model:
    """The programme as quadprog takes it: minimise ½x'Gx − a'x subject to C'x >= b.

    `inverse` is the inverse of the Cholesky factor of G.
    """

    problem: QuadraticOverHull
    inverse: NDArray[np.float64]
    a: NDArray[np.float64]
    C: NDArray[np.float64]
    b: NDArray[np.float64]


@dataclass(frozen=True)
class QuadprogDual:
    """Hand a dual of the problem to quadprog."""

    tol: float = field(default=1e-8, init=False, repr=False)
    seconds: float = field(default=inf, init=False, repr=False)

    def within(self, tol: float, seconds: float) -> QuadprogDual:
        return bounded(self, tol, seconds)

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        r = min(problem.n, problem.d) + 1
        if (work := r * r * (problem.n + 3 * r)) <= WORK:
            return None
        return (
            f"quadprog has no limit of time, and {r} steps take some {work:.0e} multiply-adds here "
            f"(at most {WORK:.0e})"
        )

    def prepare(self, problem: QuadraticOverHull) -> Model:
        library("quadprog")
        posed = unit(problem)
        if (near := posed.least_distance) is not None:
            # Exact; (y, t) with its ridge takes 0.8 to 1.3 times as long (1000 × 50, 10⁴ × 100), 11
            # times with the origin inside 10⁴ × 100, and is up to 2e-9 short.
            r = near.rows.shape[1]
            return Model(problem, np.eye(r), np.zeros(r), near.rows.T, np.ones(problem.n))
        squares, slope, rows, bound = dual(posed.Y, posed.linear)
        roots = np.sqrt(np.where(squares > 0, squares, RIDGE))
        return Model(problem, np.diag(1 / roots), -slope, -rows.T, -bound)

    def init(self, model: Model, start: Combinations) -> Answer:
        return Answer(model.problem, start.one(0))

    def advance(self, model: Model, state: Answer, steps: int) -> None:
        if steps == 0 or state.done:
            return
        solved = library("quadprog").solve_qp(
            model.inverse, model.a, model.C, model.b, factorized=True
        )
        # it returns or raises: what it returns it calls optimal
        state.take_multipliers(solved[4], ended=True, optimal=True)


ENTRY = SolverEntry(
    name="quadprog_dual",
    make=QuadprogDual,
    label="quadprog on the dual",
    reference="Goldfarb and Idnani 1983; Turlach 1997 (quadprog)",
    law="finite: a dual active-set method, about as many steps as atoms in use",
    laws=(Law("finite"),),
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    sampling=Sampling.ONCE,
    library="quadprog",
)
