r"""OSQP, an operator-splitting code, on the dual whose multipliers are the weights.

minimise ½‖y‖² − t over (y, t) subject to t − ⟨Y_i, y⟩ <= linear_i: r + 1 variables, n rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from fwbench.foreign import Answer, Foreign, Fresh, aim, bounded, library, unit
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.geometry.programs import dual
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, Sampling, SolverEntry

NEVER = 1e-30  # of this programme no certificate of infeasibility is true
LIMITED = ("maximum iterations reached", "run time limit reached")


@dataclass(frozen=True)
class OsqpAdmm:
    """Hand the dual of the problem to OSQP; a step is one of its iterations."""

    tol: float = field(default=1e-8, init=False, repr=False)
    seconds: float = field(default=inf, init=False, repr=False)

    def within(self, tol: float, seconds: float) -> OsqpAdmm:
        return bounded(self, tol, seconds)

    def prepare(self, problem: QuadraticOverHull) -> Foreign:
        from scipy import sparse

        osqp, posed = library("osqp"), unit(problem)
        # 1.1 to 2 times faster than least distance (1000 × 50, 10⁴ × 100); in (w, y) it does not
        # end. Polishing takes 0.8 to 2.5 of the time.
        squares, slope, rows, bound = dual(posed.Y, posed.linear)
        below = np.full(problem.n, -np.inf)
        stated = (
            sparse.csc_matrix(sparse.diags_array(squares)),
            slope,
            sparse.csc_matrix(rows),
            below,
            bound,
        )
        chosen = {
            "eps_abs": aim(self.tol),
            "eps_rel": 0.0,
            "eps_prim_inf": NEVER,
            "eps_dual_inf": NEVER,
            "scaling": 0,  # the problem is in its units
            "verbose": False,
        }

        def workspace() -> Any:
            made, begun = osqp.OSQP(algebra="builtin"), perf_counter()
            made.setup(*stated, **chosen)
            if self.seconds < inf:  # its limit includes the set-up
                made.update_settings(time_limit=self.seconds + perf_counter() - begun)
            return made

        return Foreign(problem, Fresh(workspace))

    def init(self, model: Foreign, start: Combinations) -> Answer:
        return model.begin(start)

    def advance(self, model: Foreign, state: Answer, steps: int) -> None:
        if steps == 0 or state.done:
            return
        workspace, limit = model.fresh.take(), state.steps + steps
        workspace.update_settings(max_iter=limit)
        answer = workspace.solve(raise_error=False)
        status = answer.info.status
        if not status.startswith("solved") and status not in LIMITED:
            raise RuntimeError(f"OSQP ended with {status!r}")
        state.take_multipliers(
            answer.y,
            ended=status not in LIMITED,
            optimal=status == "solved",
            steps=answer.info.iter,
        )


ENTRY = SolverEntry(
    name="osqp_admm",
    make=OsqpAdmm,
    label="OSQP on the dual",
    reference="Stellato, Banjac, Goulart, Bemporad and Boyd 2020 (OSQP)",
    law="linear in the end: the alternating direction method of multipliers",
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    sampling=Sampling.RERUN,
    library="osqp",
)
