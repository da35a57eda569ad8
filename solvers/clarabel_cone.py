r"""Clarabel, an interior-point code for cones, on the dual whose multipliers are the weights.

minimise ½‖y‖² − t over (y, t) subject to t − ⟨Y_i, y⟩ <= linear_i: r + 1 variables, n rows.
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

LOST = ("PrimalInfeasible", "DualInfeasible")  # never true of this programme


@dataclass(frozen=True)
class ClarabelCone:
    """Hand the dual of the problem to Clarabel."""

    tol: float = field(default=1e-8, init=False, repr=False)
    seconds: float = field(default=inf, init=False, repr=False)

    def within(self, tol: float, seconds: float) -> ClarabelCone:
        return bounded(self, tol, seconds)

    def prepare(self, problem: QuadraticOverHull) -> Foreign:
        from scipy import sparse

        clarabel, posed = library("clarabel"), unit(problem)
        # 0.4 to 0.6 of the time of (w, y) with y = Y'w at 1000 × 50, and the same at 10⁴ × 100.
        squares, slope, rows, bound = dual(posed.Y, posed.linear)
        stated = (
            sparse.csc_matrix(sparse.diags_array(squares)),
            slope,
            sparse.csc_matrix(rows),
            bound,
        )
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = aim(self.tol)
        settings.time_limit = self.seconds

        def workspace() -> Any:
            cones = [clarabel.NonnegativeConeT(problem.n)]
            return clarabel.DefaultSolver(*stated, cones, settings)

        return Foreign(problem, Fresh(workspace))

    def init(self, model: Foreign, start: Combinations) -> Answer:
        return model.begin(start)

    def advance(self, model: Foreign, state: Answer, steps: int) -> None:
        if steps == 0 or state.done:
            return
        answer = model.fresh.take().solve()
        status = str(answer.status)
        if status.removeprefix("Almost") in LOST:
            raise RuntimeError(f"Clarabel ended with {status}")
        ended = status != "MaxTime"
        state.take_multipliers(np.array(answer.z), ended=ended, optimal=status == "Solved")


ENTRY = SolverEntry(
    name="clarabel_cone",
    make=ClarabelCone,
    label="Clarabel on the dual",
    reference="Goulart and Chen 2024 (Clarabel)",
    law="finite: an interior-point method, some tens of factorisations",
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    sampling=Sampling.ONCE,
    library="clarabel",
)
