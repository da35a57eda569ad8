r"""PIQP, a proximal interior-point code, on a programme whose multipliers are the weights.

Where the hull lies beyond a hyperplane: minimise ½‖z‖² subject to Zz >= 1. Else the dual in (y, t).
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
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, Sampling, SolverEntry

STEPS = 100  # it ends in tens, or does not end
FINE = 1e-10  # where less is asked for, least distance stalls short of it
WORK = 2e10  # multiply-adds of a factorisation: above, it takes minutes and has no limit of time


@dataclass(frozen=True)
class PiqpInterior:
    """Hand a dual of the problem to PIQP."""

    tol: float = field(default=1e-8, init=False, repr=False)
    seconds: float = field(default=inf, init=False, repr=False)

    def within(self, tol: float, seconds: float) -> PiqpInterior:
        return bounded(self, tol, seconds)

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        r = min(problem.n, problem.d) + 1
        if (work := problem.n * r * r) <= WORK:
            return None
        return (
            f"PIQP has no limit of time, and one of its some 20 factorisations takes {work:.0e} "
            f"multiply-adds here (at most {WORK:.0e})"
        )

    def prepare(self, problem: QuadraticOverHull) -> Foreign:
        piqp, posed = library("piqp"), unit(problem)
        if posed.ahead and self.tol >= FINE and (near := posed.least_distance) is not None:
            # 1.6 times faster than (y, t) at 10⁴ × 100 outside
            r, fine = near.rows.shape[1], aim(self.tol, near.reach)
            squares, slope, rows, bound = np.ones(r), np.zeros(r), -near.rows, -np.ones(problem.n)
        else:
            squares, slope, rows, bound = dual(posed.Y, posed.linear)
            fine = aim(self.tol)
        P, G = np.asfortranarray(np.diag(squares)), np.asfortranarray(rows)

        def workspace() -> Any:
            made = piqp.DenseSolver()
            settings = made.settings
            settings.eps_abs = settings.eps_duality_gap_abs = fine
            settings.eps_rel = settings.eps_duality_gap_rel = 0.0
            settings.max_iter = STEPS
            made.setup(P, slope, None, None, G, None, bound, None, None)
            return made

        return Foreign(problem, Fresh(workspace))

    def init(self, model: Foreign, start: Combinations) -> Answer:
        return model.begin(start)

    def advance(self, model: Foreign, state: Answer, steps: int) -> None:
        if steps == 0 or state.done:
            return
        workspace = model.fresh.take()
        status = workspace.solve().name
        if status not in ("PIQP_SOLVED", "PIQP_MAX_ITER_REACHED", "PIQP_NUMERICS"):
            raise RuntimeError(f"PIQP ended with {status}")
        multipliers = np.array(workspace.result.z_u)
        state.take_multipliers(multipliers, ended=True, optimal=status == "PIQP_SOLVED")


ENTRY = SolverEntry(
    name="piqp_interior",
    make=PiqpInterior,
    label="PIQP on the dual",
    reference="Schwan, Jiang, Kuhn and Jones 2023 (PIQP)",
    law="finite: a proximal interior-point method, some tens of factorisations",
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    sampling=Sampling.ONCE,
    library="piqp",
)
