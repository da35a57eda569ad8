"""Why a run ends, and how: exactly one status, with a reason in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fwbench.geometry.forms import Kind
from fwbench.judge import Judge, Look
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Sampling, SolverEntry
from fwbench.trace import Status, Trace

ROUNDING = 1e-14  # of the scale: a value that falls by less than this stands still


@dataclass(frozen=True)
class Budget:
    """What a run may use."""

    tol: float = 1e-8
    max_steps: int = 10_000
    max_seconds: float = 10.0


@dataclass(frozen=True, eq=False)
class Referee:
    """Knows the rules of one run; what its points are worth it has from the judge.

    Attributes
    ----------
    problem : QuadraticOverHull
    entry : SolverEntry
    budget : Budget
    judge : Judge
    trace : Trace
    steady : bool
        Steps do not depend on their numbers beyond their length: a halt of all progress is one.
    """

    problem: QuadraticOverHull
    entry: SolverEntry
    budget: Budget
    judge: Judge
    trace: Trace
    steady: bool

    @property
    def foreign(self) -> bool:
        """Whether the method is asked for its own answer."""
        return self.entry.sampling is not Sampling.ADVANCE

    def late(self, clock: int) -> bool:
        """Say whether so many nanoseconds are more than a run may use."""
        return clock > self.budget.max_seconds * 1e9

    def certified(self, look: Look) -> str:
        """Return what is certified of a point, for a reason."""
        reached = self.judge.certified(look)
        return "" if reached is None else f", certified gap {reached:.1e} of the scale"

    def feasible(self, look: Look, state: Any) -> bool:
        """Say whether weights are convex ones of the point, as far as is known."""
        violated = look.row.get("feasibility")
        return violated is None or violated <= self.judge.allowed(state.steps, self.budget.tol)

    def stop(self, look: Look, state: Any, clock: int) -> tuple[Status, str] | None:
        """Return why a run stops at a checkpoint, or None; `clock` in nanoseconds."""
        budget, certified = self.budget, self.certified(look) if self.foreign else ""
        if not look.finite:
            return Status.NONFINITE, f"coordinates or scores not finite after {state.steps} steps"
        reached = self.judge.certified(look)
        own = not self.foreign or state.done or state.steps >= budget.max_steps
        direct = self.entry.sampling is Sampling.ONCE
        if own and not direct and reached is not None and reached <= budget.tol:
            gap = "gap to the current keys" if self.judge.moving else "gap"
            return Status.CONVERGED, f"certified {gap} {reached:.1e} of the scale <= {budget.tol:g}"
        late = self.late(clock)
        if state.done and not (self.foreign and late):
            after = "" if direct else f" after {state.steps} steps"
            return Status.FINISHED, f"the method ended by itself{after}{certified}"
        if late:
            return Status.TIMEOUT, f"{budget.max_seconds:g} s on the clock spent{certified}"
        if direct and state.steps:
            if 2 * clock > budget.max_seconds * 1e9:  # a code's own clock may be ahead
                return Status.TIMEOUT, f"stopped within {budget.max_seconds:g} s{certified}"
            return Status.ERROR, "the method did not end by itself although it is a direct one"
        if state.steps >= budget.max_steps:
            return Status.BUDGET, f"{budget.max_steps} steps spent"
        if not (self.judge.inside and self.steady) or self.foreign:
            return None
        convex, rounding = self.problem.kind is Kind.CONVEX, ROUNDING * self.problem.scale
        if self.trace.stalled(convex=convex, rounding=rounding):
            return Status.STALLED, f"no gain from step {state.steps // 2} to {state.steps}"
        return None

    def verdict(
        self, look: Look, state: Any, stop: tuple[Status, str] | None
    ) -> tuple[Status, str]:
        """Give the run its one status; a claim and a violation outweigh the reason to stop."""
        if stop is not None and stop[0] is Status.NONFINITE:
            return stop
        reached = self.judge.certified(look)
        cut = self.foreign and stop is not None and stop[0] is Status.TIMEOUT
        if not (cut or self.feasible(look, state)):
            violated = look.row["feasibility"]
            return Status.INFEASIBLE, f"weights are {violated:.1e} from convex weights of the point"
        promised = max(self.budget.tol, self.entry.promise)
        above = self._above_best_vertex(look)
        short = above if above is not None else reached
        if state.claim == "optimal" and short is not None and short > promised:
            return Status.WRONG, (
                f"called itself optimal {short:.1e} of the scale short; {promised:g} was promised"
            )
        if stop is not None:
            return stop
        return Status.ERROR, "the method did not end"  # no list of steps ends without a reason

    def best_vertex(self) -> float | None:
        """Return the least centred value of an atom: the minimum of a concave problem."""
        if self.problem.kind is not Kind.CONCAVE:
            return None
        return self.problem.least_vertex_value

    def _above_best_vertex(self, look: Look) -> float | None:
        """Return (value − best vertex)/scale on a concave problem."""
        best = self.best_vertex()
        if best is None or look.values is None:
            return None
        return max(0.0, float(look.values.max()) - best) / (self.problem.scale or 1.0)
