"""The solver protocol: a method is a value, what changes is its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.laws import Law
from fwbench.lowering import Lowered, lowered
from fwbench.problem import QuadraticOverHull

__all__ = [
    "Law", "Lowered", "Queries", "Sampling", "Solver", "SolverEntry", "State", "autonomous",
    "counted", "each", "inside", "lowered",
]  # fmt: skip

M = TypeVar("M")
S = TypeVar("S", bound="State")

ALL_KINDS = frozenset(Kind)
POTENTIAL = frozenset({Kind.CONVEX, Kind.CONCAVE, Kind.INDEFINITE})


class Queries(StrEnum):
    """How many points a solver moves."""

    ONE = "one"  # one; `each` lifts it to m
    MANY = "many"  # all m at once
    ANY = "any"  # the answer does not depend on the start: solved once, counted once


class Sampling(StrEnum):
    """How a trace is made."""

    ADVANCE = "advance"  # one run, stopped at each checkpoint
    RERUN = "rerun"  # a foreign solver, from scratch with limit k = 1, 2, 4, …
    ONCE = "once"  # a direct method: rows k = 0 and 1


class State(Protocol):
    """What moves: plain data that can be copied and pickled."""

    steps: int
    done: bool
    claim: str | None  # "optimal": what a foreign code says of itself

    def points(self) -> NDArray[np.float64]:
        """Return the points, shape (m, d), float64."""

    def weights(self) -> Combinations | None:
        """Return the points as combinations of atoms, or None if they are not known."""


class Solver(Protocol[M, S]):
    """A frozen dataclass of parameters with three methods.

    Optional: ``refuses(problem)`` returns why it cannot run there, or None;
    ``start(problem)`` returns other starts than the problem's own; ``within(tol, seconds)`` returns
    the solver with the tolerance and the time of a run filled in, for foreign codes that must know
    them: called before `prepare`, it changes neither parameters nor canonical text;
    ``leaves_hull`` is true where these parameters carry points out of the hull by design;
    ``scheduled``, where a layer depends on its number by more than the length of the step, or on
    chance; ``autonomous``, where the step does not depend on its number (by default, what the rule
    `step` says).
    """

    def prepare(self, problem: QuadraticOverHull) -> M:
        """Lower, factorise, build a model; serves every query and repetition."""

    def init(self, model: M, start: Combinations) -> S:
        """Return the state before any step."""

    def advance(self, model: M, state: S, steps: int) -> None:
        """Move the state on, in place; by a, then by b, gives the same bits as by a + b."""


@dataclass(frozen=True)
class SolverEntry:
    """What a solver file says of itself; the last line of the file.

    Attributes
    ----------
    name : str
        The file's name.
    make : callable
        The dataclass; its fields are the solver's parameters.
    label : str
        A few words for people.
    reference : str
        Where the method comes from.
    law : str
        The rate that theory promises, with its conditions, in words.
    laws : tuple of Law
        The same as data, the most particular first: what a report compares runs with.
    kinds : frozenset of Kind
        The problem kinds that it runs on; on others it is skipped.
    queries : Queries
    sampling : Sampling
    promise : float
        The relative gap that it claims by default.
    needs : frozenset of str
        What the runner must know: "leaves the hull" for models that do so by design, whatever
        their parameters; their runs have no gap and are never infeasible.
    grid : tuple of mappings
        Parameters of the runs that the bare catalogue makes.
    library : str or None
        Of a foreign code: the package that does the work.
    """

    name: str
    make: Callable[..., Solver[Any, Any]]
    label: str
    reference: str
    law: str
    kinds: frozenset[Kind] = ALL_KINDS
    queries: Queries = Queries.ONE
    sampling: Sampling = Sampling.ADVANCE
    promise: float = 1e-8
    needs: frozenset[str] = frozenset()
    grid: tuple[Mapping[str, Any], ...] = ({},)
    library: str | None = None
    laws: tuple[Law, ...] = ()


@dataclass(frozen=True)
class Auto:
    """Stands for whichever solver suits a problem: whoever runs it puts that one in its place."""


AUTO = SolverEntry(
    name="auto",
    make=cast("Callable[..., Solver[Any, Any]]", Auto),  # it never runs itself
    label="whichever solver suits the problem",
    reference="chosen by kind, n, rank and where the mean lies; a run's row names the choice",
    law="that of the solver chosen",
)


def inside(entry: SolverEntry, solver: Any) -> bool:
    """Say whether a solver's points are to stay in the hull; those that leave it have no gap."""
    return "leaves the hull" not in entry.needs and not getattr(solver, "leaves_hull", False)


def autonomous(solver: Any) -> bool:
    """Say whether a solver's steps do not depend on their numbers: it says so, or its rule does."""
    own = getattr(solver, "autonomous", None)
    return bool(getattr(getattr(solver, "step", None), "autonomous", False) if own is None else own)


def counted(state: Any) -> dict[str, int]:
    """Return the counters that a state keeps."""
    counters = getattr(state, "counters", None) or {}
    return {name: int(count) for name, count in counters.items() if count is not None}


@dataclass(eq=False)
class EachState:
    """The states of m queries over one model."""

    states: tuple[Any, ...]
    steps: int = 0
    done: bool = False
    claim: str | None = None

    @property
    def counters(self) -> dict[str, int] | None:
        """The sums of the queries' counters."""
        kept = [c for s in self.states if (c := getattr(s, "counters", None)) is not None]
        if len(kept) < len(self.states):
            return None
        return {name: sum(counters[name] for counters in kept) for name in kept[0]}

    @property
    def own_gap(self) -> float | None:
        """The worst query's own gap."""
        gaps = [g for s in self.states if (g := getattr(s, "own_gap", None)) is not None]
        return max(gaps) if len(gaps) == len(self.states) else None

    def points(self) -> NDArray[np.float64]:
        """Return the points of all queries, shape (m, d)."""
        return np.vstack([state.points() for state in self.states])

    def exact_points(self) -> NDArray[Any]:
        """Return the points of all queries in the arithmetic of the run, shape (m, d)."""
        return np.vstack([state.exact_points() for state in self.states])

    def weights(self) -> Combinations | None:
        """Return the weights of all queries."""
        each = [state.weights() for state in self.states]
        if any(weights is None for weights in each):
            return None
        return Combinations.joined(each)


@dataclass(frozen=True)
class Each:
    """A solver of one query, lifted to m: a tuple of states over one model."""

    solver: Solver[Any, Any]

    def prepare(self, problem: QuadraticOverHull) -> Any:
        """Prepare once for all queries."""
        return self.solver.prepare(problem)

    def init(self, model: Any, start: Combinations) -> EachState:
        """Start every query."""
        return EachState(tuple(self.solver.init(model, start.one(q)) for q in range(start.m)))

    def advance(self, model: Any, state: EachState, steps: int) -> None:
        """Move every query on."""
        for one in state.states:
            if not one.done:
                self.solver.advance(model, one, steps)
        state.steps += steps
        state.done = all(one.done for one in state.states)
        claims = {one.claim for one in state.states}
        state.claim = claims.pop() if len(claims) == 1 else None


def each(solver: Solver[Any, Any]) -> Each:
    """Lift a solver of one query to m queries."""
    return Each(solver)
