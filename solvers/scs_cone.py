r"""SCS, an operator-splitting code for cones, on the dual whose multipliers are the weights.

minimise ½‖y‖² − t over (y, t) subject to t − ⟨Y_i, y⟩ <= linear_i: r + 1 variables, n rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

from fwbench.foreign import Answer, aim, bounded, library, unit
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.geometry.programs import dual
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, Sampling, SolverEntry

SOLVED, OUT = 1, 2  # SCS's exit flags; the other one also for a limit that was reached
NEVER = 1e-30  # of this programme no certificate of infeasibility is true


@dataclass(frozen=True, eq=False)
class Model:
    """The programme as SCS takes it."""

    problem: QuadraticOverHull
    data: dict[str, Any]


@dataclass(frozen=True)
class ScsCone:
    """Hand the dual of the problem to SCS; a step is one of its iterations."""

    tol: float = field(default=1e-8, init=False, repr=False)
    seconds: float = field(default=inf, init=False, repr=False)

    def within(self, tol: float, seconds: float) -> ScsCone:
        return bounded(self, tol, seconds)

    def prepare(self, problem: QuadraticOverHull) -> Model:
        from scipy import sparse

        library("scs")
        posed = unit(problem)
        # With its dense factorisation 3 to 4 times faster than with the sparse one (1000 × 50);
        # least distance takes 0.8 to 6 times as long, (w, y) 5 to 8 times.
        squares, slope, rows, bound = dual(posed.Y, posed.linear)
        P, A = sparse.csc_matrix(sparse.diags_array(squares)), sparse.csc_matrix(rows)
        return Model(problem, {"P": P, "A": A, "b": bound, "c": slope})

    def init(self, model: Model, start: Combinations) -> Answer:
        return Answer(model.problem, start.one(0))

    def advance(self, model: Model, state: Answer, steps: int) -> None:
        if steps == 0 or state.done:
            return
        scs = library("scs")
        # The limit is a part of the set-up, so on the clock: a fifth more, where it is long.
        workspace = scs.SCS(
            model.data,
            {"l": model.problem.n},
            linear_solver="cpu_dense",
            max_iters=state.steps + steps,
            time_limit_secs=self.seconds if self.seconds < inf else 0.0,
            eps_abs=aim(self.tol),
            eps_rel=0.0,
            eps_infeas=NEVER,
            normalize=False,  # the problem is in its units
            verbose=False,
        )
        answer = workspace.solve()
        info = answer["info"]
        if info["status_val"] not in (SOLVED, OUT):
            raise RuntimeError(f"SCS ended with {info['status']!r}")
        solved = info["status_val"] == SOLVED
        state.take_multipliers(answer["y"], ended=solved, optimal=solved, steps=info["iter"])


ENTRY = SolverEntry(
    name="scs_cone",
    make=ScsCone,
    label="SCS on the dual",
    reference="O'Donoghue 2021 (SCS)",
    law="linear in the end: Douglas-Rachford splitting with Anderson acceleration",
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    sampling=Sampling.RERUN,
    library="scs",
)
