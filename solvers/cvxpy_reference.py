r"""An exact reference by an interior-point code: cvxpy with Clarabel.

minimise ½‖y‖² + ⟨linear, w⟩ over w ≥ 0, Σw = 1, y = Y'w, in the centred coordinates Y of Q and in
units of the problem's scale: the product Y Y' is never formed, and no digit is lost to an offset.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

import numpy as np

from fwbench.foreign import Answer, aim, bounded, unit
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, Sampling, SolverEntry

TIGHT = 1e-13  # as tight as double precision lets an interior-point code go; the judge says how far
TOLERANCES = ("tol_gap_abs", "tol_gap_rel", "tol_feas")


@dataclass(frozen=True)
class CvxpyReference:
    """Hand the problem to Clarabel through cvxpy.

    Parameters
    ----------
    accuracy : str
        ``tight``: as near as doubles allow, whatever tolerance a run asks for, for it is the
        reference. ``tol``: what the run asks for.
    """

    accuracy: Literal["tight", "tol"] = "tight"
    tol: float = field(default=1e-8, init=False, repr=False)
    seconds: float = field(default=inf, init=False, repr=False)

    def within(self, tol: float, seconds: float) -> CvxpyReference:
        return bounded(self, tol, seconds)

    def prepare(self, problem: QuadraticOverHull) -> tuple[QuadraticOverHull, Any, Any]:
        import cvxpy

        posed = unit(problem)
        r = posed.Y.shape[1]
        w, y = cvxpy.Variable(problem.n, nonneg=True), cvxpy.Variable(r or 1)
        objective = posed.linear @ w
        constraints = [cvxpy.sum(w) == 1]
        if r:
            objective = objective + 0.5 * cvxpy.sum_squares(y)
            constraints.append(posed.Y.T @ w == y)
        program = cvxpy.Problem(cvxpy.Minimize(objective), constraints)
        program.get_problem_data(cvxpy.CLARABEL)  # cvxpy keeps what it makes of the problem
        return problem, program, w

    def init(self, model: tuple[QuadraticOverHull, Any, Any], start: Combinations) -> Answer:
        return Answer(model[0], start.one(0))

    def advance(self, model: tuple[QuadraticOverHull, Any, Any], state: Answer, steps: int) -> None:
        if steps == 0 or state.done:
            return
        import warnings

        import cvxpy

        _, program, w = model
        fine = TIGHT if self.accuracy == "tight" else aim(self.tol)
        limits = dict.fromkeys(TOLERANCES, fine)
        if self.seconds < inf:
            limits["time_limit"] = self.seconds
        with warnings.catch_warnings():
            # "solution may be inaccurate": the judge certifies what was returned
            warnings.simplefilter("ignore", UserWarning)
            program.solve(solver=cvxpy.CLARABEL, warm_start=False, max_threads=1, **limits)
        weights = None if w.value is None else np.asarray(w.value)
        status = program.status
        state.take(weights, ended=status != cvxpy.USER_LIMIT, optimal=status == cvxpy.OPTIMAL)


ENTRY = SolverEntry(
    name="cvxpy_reference",
    make=CvxpyReference,
    label="cvxpy with Clarabel",
    reference="Goulart and Chen 2024 (Clarabel); Diamond and Boyd 2016 (cvxpy)",
    law="finite: an interior-point method, some tens of factorisations",
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    sampling=Sampling.ONCE,
    library="cvxpy",
)
