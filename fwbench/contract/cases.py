"""What a contract is tried on: small problems of every kind, and a solver as a runner holds it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from fwbench import catalog
from fwbench.catalog import Choice, Group
from fwbench.contract.rule import Inapplicable, Violation
from fwbench.errors import InvalidParameter
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored, LowRank
from fwbench.grammar import spelled
from fwbench.kernels.frank_wolfe import REFRESH
from fwbench.problem import ProblemEntry, QuadraticOverHull
from fwbench.runner import misfit
from fwbench.solver import Queries, SolverEntry, each

SECONDS = 0.3  # that one run of a check may take: a slow solver is checked on fewer steps
FEWEST = 20  # steps of a run, however slow

GAUSS = np.random.default_rng(20).standard_normal((9, 3))
SQUARE = np.random.default_rng(21).standard_normal((3, 3))
LINEAR = np.array([0.3, -0.2, 0.5])
MIXED = np.random.default_rng(22).dirichlet(np.ones(9), size=3)
TURN = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 2.0], [0.0, -2.0, 0.0]])
for _array in (GAUSS, SQUARE, LINEAR, MIXED, TURN):
    _array.setflags(write=False)  # what a careless solver writes into is made anew each time


def loose() -> Combinations:
    """Return three starts inside the hull of nine atoms."""
    return Combinations.from_dense(MIXED)


Make = Callable[[], QuadraticOverHull]

PROBLEMS: dict[str, Make] = {
    "convex": lambda: QuadraticOverHull(GAUSS + 0.5, SQUARE @ SQUARE.T, LINEAR),
    "convex, 3 queries": lambda: QuadraticOverHull(GAUSS, start=loose()),
    "flat": lambda: QuadraticOverHull(GAUSS + 2.0, Factored(SQUARE[:1])),
    "linear": lambda: QuadraticOverHull(GAUSS, 0.0, LINEAR),
    "repeated atoms": lambda: QuadraticOverHull(np.tile(GAUSS[:4], (3, 1)) + 1.0),
    "two tokens": lambda: QuadraticOverHull([[4], [-1]], start=[0, 1]),
    "one atom": lambda: QuadraticOverHull([[3.0, 4.0]]),
    "convex along the hull": lambda: QuadraticOverHull(
        np.outer(GAUSS[:, 0], [2.0, 1.0]), [1.0, -1.0], [1.0, 0.3], kind="convex"
    ),
    "concave": lambda: QuadraticOverHull(GAUSS, [-1.0, -3.0, -0.5], LINEAR),
    "concave, 3 queries": lambda: QuadraticOverHull(GAUSS, -1.0, start=loose()),
    "indefinite": lambda: QuadraticOverHull(GAUSS, [1.0, -2.0, 0.5], LINEAR),
    "monotone": lambda: QuadraticOverHull(GAUSS, np.eye(3) + TURN, LINEAR),
    "general": lambda: QuadraticOverHull(
        GAUSS, LowRank(SQUARE[:, :2], SQUARE[:, 1:]), start=loose()
    ),
    "float32": lambda: QuadraticOverHull((GAUSS + 0.5).astype(np.float32), 1.0, LINEAR),
}

# One problem each of what a first version of a solver trips over.
HARD: dict[str, Make] = {
    "n = 1": lambda: QuadraticOverHull([[3.0, 4.0]], 1.0, [1.0, 0.0]),
    "d = 1": lambda: QuadraticOverHull([[4.0], [-1.0], [2.0]]),
    "all atoms equal": lambda: QuadraticOverHull(np.ones((5, 3))),
    "each atom three times": lambda: QuadraticOverHull(np.tile(GAUSS[:4], (3, 1)) + 1.0),
    "Q = 0": lambda: QuadraticOverHull(GAUSS, 0.0, LINEAR),
    "Q = 0 and c = 0": lambda: QuadraticOverHull(GAUSS, 0.0),
    "c = 0, the start is optimal": lambda: QuadraticOverHull([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
    "10⁸ from the origin": lambda: QuadraticOverHull(GAUSS + 1e8),
    "atoms of size 10⁻⁸": lambda: QuadraticOverHull(1e-8 * (GAUSS + 0.5)),
    "atoms of size 10⁸": lambda: QuadraticOverHull(1e8 * (GAUSS + 0.5), 1.0, LINEAR),
    "float32": lambda: QuadraticOverHull((GAUSS + 0.5).astype(np.float32), 1.0, LINEAR),
    "concave, float32": lambda: QuadraticOverHull(GAUSS.astype(np.float32), -1.0, LINEAR),
    "concave, n = 1": lambda: QuadraticOverHull([[3.0, 4.0]], -1.0),
    "field, d = 2": lambda: QuadraticOverHull(GAUSS[:, :2], [[0.0, 1.0], [-1.0, 0.0]]),
}


@dataclass(frozen=True)
class Case:
    """A solver on a problem, lifted to its queries as the runner does it."""

    choice: Choice
    problem: QuadraticOverHull
    name: str = ""  # of the problem, for people

    @property
    def called(self) -> str:
        """Variant and problem, for people."""
        return f"{self.choice.label} on {self.name}"

    @property
    def entry(self) -> SolverEntry:
        """What the solver's file says of it."""
        found: SolverEntry = self.choice.entry
        return found

    @property
    def one(self) -> Any:
        """The solver, made anew."""
        return catalog.build_solver(self.choice)

    @property
    def misfit(self) -> str | None:
        """Why the solver cannot run on the problem, or None."""
        return misfit(self.entry, self.one, self.problem)

    @property
    def exact(self) -> bool:
        """Whether it runs on fractions."""
        return bool(self.choice.arguments.get("arithmetic") == "exact")

    @property
    def rounding(self) -> float:
        """What points may be off: an integrator is as exact as it is asked to be."""
        return max(1e-12, 100 * float(self.choice.arguments.get("rtol", 0.0)))

    @property
    def long(self) -> int:
        """Steps that reach past the refresh of what kernels keep."""
        if self.exact:
            return 15
        return 40 if self.entry.queries is Queries.MANY else REFRESH + 40

    @property
    def start(self) -> Combinations:
        """Where the queries start."""
        starts = getattr(self.one, "start", None)
        start: Combinations = self.problem.start if starts is None else starts(self.problem)
        return start.one(0) if self.entry.queries is Queries.ANY else start

    @property
    def solver(self) -> Any:
        """The solver, lifted to the queries where it takes one."""
        return self.lifted(self.one)

    def lifted(self, one: Any) -> Any:
        """Return a solver, made before, as it takes the queries of this problem."""
        return each(one) if self.entry.queries is Queries.ONE and self.start.m > 1 else one

    def begun(self) -> tuple[Any, Any, Any]:
        """Return solver, model and state before any step."""
        solver = self.solver
        model = solver.prepare(self.problem)
        return solver, model, solver.init(model, self.start)


def bits(state: Any) -> tuple[Any, ...]:
    """Return all that a run shows of its state, to the last bit."""
    weights = state.weights()
    exact = hasattr(getattr(state, "states", (state,))[0], "exact_points")
    return (
        state.steps,
        state.done,
        state.claim,
        getattr(state, "counters", None),
        state.points().tobytes(),
        [str(x) for x in state.exact_points().ravel()] if exact else None,
        None if weights is None else (weights.keys.tobytes(), weights.data.tobytes()),
    )


class Subject:
    """What is checked: a solver or a problem, under the text that names it.

    Parameters
    ----------
    text : str
        A name, a name with parameters, or a file.
    group : {"solvers", "problems"}, optional
        Where a name is looked for; by default what a file holds, or the group that has the name.

    Raises
    ------
    FwbenchError
        Where there is no such solver or problem, or its file cannot be imported.
    """

    def __init__(self, text: str, group: Group | None = None) -> None:
        self.text, self.at = text, ""
        self.name = text if os.path.isfile(text) else spelled(text).name
        self.group: Group = group or ("solvers" if _is_solver(self.name) else "problems")
        self.entry = catalog.entry(self.group, self.name)
        self._long: dict[str, int] = {}

    @cached_property
    def choices(self) -> list[Choice]:
        """The variants that are checked: those that the text stands for."""
        declared = catalog.parameters(self.entry.make)
        missing = {key for key, (_, default) in declared.items() if default is Parameter.empty}
        grid = [] if self.text != self.name else list(self.entry.grid)
        if lacking := sorted(missing.difference(*grid)) if grid else []:
            given = ",".join(f"{key}=…" for key in lacking)
            raise Inapplicable(f"{', '.join(lacking)} must be given: check {self.name}[{given}]")
        try:
            return catalog.choices(self.group, self.text)
        except InvalidParameter as error:
            raise Violation("every variant of the grid to be made", str(error)) from error

    @cached_property
    def file(self) -> Path | None:
        """The file that its author writes, if it is one."""
        found = getattr(sys.modules.get(self.entry.make.__module__), "__file__", None)
        return None if found is None else Path(found)

    def cases(self, problems: Mapping[str, Make] = PROBLEMS) -> Iterator[Case]:
        """Yield the solver's variants on the problems that they run on, and say where one is.

        Each has a problem of its own: what one run writes into it no other one sees.
        """
        for choice in self.choices:
            for name, make in problems.items():
                case = Case(choice, make(), name)
                self.at = case.called
                if case.misfit is None:
                    yield case
        self.at = ""

    def steps(self, case: Case) -> int:
        """Return how many steps of a case a check can afford."""
        if case.choice.text not in self._long:
            solver, model, state = case.begun()
            solver.advance(model, state, 1)  # compiles
            begun = perf_counter()
            solver.advance(model, state, FEWEST)
            pace = (perf_counter() - begun) / FEWEST
            self._long[case.choice.text] = max(FEWEST, int(SECONDS / max(pace, 1e-9)))
        return min(case.long, self._long[case.choice.text])


def _is_solver(name: str) -> bool:
    """Say whether a name or a file is a solver's."""
    if not name.endswith(".py"):
        return name in catalog.names("solvers")
    # what is neither is told what a solver needs
    return not isinstance(getattr(catalog.loaded(Path(name)), "ENTRY", None), ProblemEntry)
