"""Every solver of the catalogue, in every variant, on small problems of every kind."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fwbench import catalog
from fwbench.catalog import Choice
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored, LowRank
from fwbench.kernels.frank_wolfe import REFRESH
from fwbench.problem import QuadraticOverHull
from fwbench.runner import misfit
from fwbench.solver import Queries, SolverEntry, each

# What the grids of the solver files leave out; a new solver needs no line here.
VARIANTS = (
    "frank_wolfe[step=open_loop(4),log_adaptive,constant(1/3),constant(1),short,backtracking]",
    "frank_wolfe[step=harmonic(2,3),geometric(1/2,1/2),rising(2,3),saturating(1)]",
    "frank_wolfe[cache_mebibytes=0]",
    "frank_wolfe[arithmetic=exact]",
    "away_steps[step=short,backtracking]",
    "away_steps[cache_mebibytes=0]",
    "pairwise[step=short,backtracking]",
    "pairwise[cache_mebibytes=0]",
    "blended_pairwise[step=short,backtracking]",
    "blended_pairwise[lazy=yes,cache_mebibytes=0,64]",
    "pair_descent[cache_mebibytes=0]",
    "decomposition_invariant[lengths=exact]",
    "hardmax_attention[step=log_adaptive,constant(1/3),exact,short,backtracking]",
    "hardmax_attention[ties=points,indices]",
    "hardmax_attention[arithmetic=exact,ties=lowest,points]",
    "hardmax_attention[keys=moving,ties=lowest,points,indices]",
    "hardmax_attention[keys=moving,step=constant(1/3),exact,short,backtracking]",
    "hardmax_attention[keys=moving,arithmetic=exact,ties=indices]",
    "hardmax_attention[keys=moving,step=harmonic,geometric,rising,saturating]",
    'hardmax_attention[values="3/2 7/3 1",keys=fixed,moving]',
    'hardmax_attention[values="0 1 0; -1 0 0; 0 0 1",keys=fixed,moving,arithmetic=exact]',
    'hardmax_attention[scores="geometric(1,1/2) 1 2",keys=fixed,moving]',
    "hardmax_attention[values=1/2,keys=moving]",
    "softmax_attention[keys=moving]",
    "softmax_attention[beta=geometric(10,999/1000),power(1,1/3),linear(1,1/100)]",
    'softmax_attention[values="3/2 7/3 1",keys=fixed,moving]',
    "softmax_attention[values=1/10,normalised=false,keys=fixed,moving]",
    'softmax_attention[scores="geometric(1,1/2) 1 2",keys=fixed,moving]',
    "softmax_attention[step=open_loop,exact,short,backtracking,beta=1]",
    "softmax_attention[keys=moving,step=exact,backtracking,beta=1]",
    "localmax_attention[keys=moving,slack=0,1/10]",
    "localmax_attention[slack=geometric(1,1/2),step=exact]",
    "markov_attention[keys=moving,beta=1]",
    "markov_attention[keys=fixed,moving,replicas=3,seed=5,beta=linear(1,1/10)]",
    "attention_flow[keys=fixed,moving,h=0.5]",
    "attention_flow[method=closed_form,h=2]",
    "projected_gradient[momentum=restart,none,gram=yes]",
    "projected_newton[gram=yes]",
    "mirror_descent[mixing=1]",
)

GAUSS = np.random.default_rng(20).standard_normal((9, 3))
SQUARE = np.random.default_rng(21).standard_normal((3, 3))
LINEAR = np.array([0.3, -0.2, 0.5])
LOOSE = Combinations.from_dense(np.random.default_rng(22).dirichlet(np.ones(9), size=3))
TURN = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 2.0], [0.0, -2.0, 0.0]])

PROBLEMS: dict[str, Callable[[], QuadraticOverHull]] = {
    "convex": lambda: QuadraticOverHull(GAUSS + 0.5, SQUARE @ SQUARE.T, LINEAR),
    "convex, 3 queries": lambda: QuadraticOverHull(GAUSS, start=LOOSE),
    "flat": lambda: QuadraticOverHull(GAUSS + 2.0, Factored(SQUARE[:1])),
    "linear": lambda: QuadraticOverHull(GAUSS, 0.0, LINEAR),
    "repeated atoms": lambda: QuadraticOverHull(np.tile(GAUSS[:4], (3, 1)) + 1.0),
    "two tokens": lambda: QuadraticOverHull([[4], [-1]], start=[0, 1]),
    "one atom": lambda: QuadraticOverHull([[3.0, 4.0]]),
    "convex along the hull": lambda: QuadraticOverHull(
        np.outer(GAUSS[:, 0], [2.0, 1.0]), [1.0, -1.0], [1.0, 0.3], kind="convex"
    ),
    "concave": lambda: QuadraticOverHull(GAUSS, [-1.0, -3.0, -0.5], LINEAR),
    "concave, 3 queries": lambda: QuadraticOverHull(GAUSS, -1.0, start=LOOSE),
    "indefinite": lambda: QuadraticOverHull(GAUSS, [1.0, -2.0, 0.5], LINEAR),
    "monotone": lambda: QuadraticOverHull(GAUSS, np.eye(3) + TURN, LINEAR),
    "general": lambda: QuadraticOverHull(GAUSS, LowRank(SQUARE[:, :2], SQUARE[:, 1:]), start=LOOSE),
    "float32": lambda: QuadraticOverHull((GAUSS + 0.5).astype(np.float32), 1.0, LINEAR),
}


# On these the variants are tried too; the grids are tried on all.
FEW = (
    "convex", "convex, 3 queries", "repeated atoms", "concave, 3 queries", "indefinite", "general",
    "float32",
)  # fmt: skip


@cache
def problem(name: str) -> QuadraticOverHull:
    """Return one of the problems; all tests share it, none may write into it."""
    return PROBLEMS[name]()


def choices(texts: Iterable[str]) -> list[Choice]:
    """Return every solver that some texts name, each once."""
    found = {c.text: c for text in texts for c in catalog.choices("solvers", text)}
    return list(found.values())


GRIDS = choices(catalog.names("solvers"))
ALL = choices([*catalog.names("solvers"), *VARIANTS])
CASES = [(choice, name) for choice in GRIDS for name in PROBLEMS]
CASES += [(choice, name) for choice in ALL[len(GRIDS) :] for name in FEW]


@dataclass(frozen=True)
class Case:
    """A solver on a problem, lifted to its queries as the runner does it."""

    choice: Choice
    problem: QuadraticOverHull

    @property
    def entry(self) -> SolverEntry:
        return self.choice.entry

    @property
    def one(self) -> Any:
        return catalog.build_solver(self.choice)

    @property
    def misfit(self) -> str | None:
        return misfit(self.entry, self.one, self.problem)

    @property
    def exact(self) -> bool:
        return self.choice.arguments.get("arithmetic") == "exact"

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
        starts = getattr(self.one, "start", None)
        start = self.problem.start if starts is None else starts(self.problem)
        return start.one(0) if self.entry.queries is Queries.ANY else start

    @property
    def solver(self) -> Any:
        lift = self.entry.queries is Queries.ONE and self.start.m > 1
        return each(self.one) if lift else self.one

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
