r"""DAQP, a dual active-set code, on the programme whose multipliers are the weights.

Where the linear term is a shift of the points: minimise ½‖z‖² subject to Zz >= 1, strictly convex,
in r or r + 1 variables. Else the dual in (y, t), whose Hessian is singular in t.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from fwbench.foreign import Answer, Foreign, Fresh, aim, bounded, library, unit
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.geometry.programs import dual
from fwbench.laws import Law
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, Sampling, SolverEntry

SOLVED, CYCLES, OUT_OF_STEPS, OUT_OF_TIME = 1, -2, -4, -7  # exit flags that come with an answer
NO_LIMIT = 1e30
STEPS = 10**6
PROXIMAL = 1e-3  # weight of the proximal steps where the Hessian is singular
ABOVE, BELOW = 1.0, -1.0  # sign of DAQP's multipliers of upper and of lower bounds


@dataclass(frozen=True)
class DaqpDual:
    """Hand a dual of the problem to DAQP."""

    tol: float = field(default=1e-8, init=False, repr=False)
    seconds: float = field(default=inf, init=False, repr=False)

    def within(self, tol: float, seconds: float) -> DaqpDual:
        return bounded(self, tol, seconds)

    def prepare(self, problem: QuadraticOverHull) -> Foreign:
        daqp, posed = library("daqp"), unit(problem)
        n, limits = problem.n, {"iter_limit": STEPS, "time_limit": min(self.seconds, NO_LIMIT)}
        if (near := posed.least_distance) is not None:
            # 1.1 to 3 times faster than (y, t) with proximal steps, which end up to 1e-8 short:
            # 1000 × 50 outside, inside, on a face. Where no column of ones is needed 1.2 times
            # faster than with it (10⁴ × 100).
            r, fine, sign = near.rows.shape[1], aim(self.tol, near.reach), BELOW
            stated = np.eye(r), np.zeros(r), near.rows, np.full(n, NO_LIMIT), np.ones(n)
        else:
            squares, slope, rows, bound = dual(posed.Y, posed.linear)
            fine, limits["eps_prox"], sign = aim(self.tol), PROXIMAL, ABOVE
            stated = np.diag(squares), slope, rows, bound, np.full(n, -NO_LIMIT)

        def workspace() -> Any:
            made = daqp.Model()
            made.settings = limits | {"primal_tol": fine, "dual_tol": fine}
            flag, _ = made.setup(*stated)
            if flag < 0:
                raise RuntimeError(f"DAQP could not set the problem up: exit flag {flag}")
            return made

        return Foreign(problem, Fresh(workspace), sign)

    def init(self, model: Foreign, start: Combinations) -> Answer:
        return model.begin(start)

    def advance(self, model: Foreign, state: Answer, steps: int) -> None:
        if steps == 0 or state.done:
            return
        _, _, flag, info = model.fresh.take().solve()
        if flag not in (SOLVED, CYCLES, OUT_OF_STEPS, OUT_OF_TIME):
            raise RuntimeError(f"DAQP ended with exit flag {flag}")
        ended = flag != OUT_OF_TIME
        multipliers = model.sign * np.asarray(info["lam"])
        state.take_multipliers(multipliers, ended=ended, optimal=flag == SOLVED)


ENTRY = SolverEntry(
    name="daqp_dual",
    make=DaqpDual,
    label="DAQP on the dual",
    reference="Arnström, Bemporad and Axehill 2022 (DAQP)",
    law="finite: a dual active-set method, about as many steps as atoms in use",
    laws=(Law("finite"),),
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    sampling=Sampling.ONCE,
    library="daqp",
)
