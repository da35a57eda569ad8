"""Which solver `auto` means: by the kind of the problem, and by n, the rank of Q and the hull.

Convex problems have two exact methods. A working set does best unless it has to grow large: where
the atoms' mean is nearly optimal most atoms that the rank allows share the weight, and dense
algebra on a face, found by gradient steps, overtakes an active set that changes atom by atom. The
bounds were measured on Gaussian hulls, 100 to 10 000 atoms in 50 to 1000 coordinates.
"""

from __future__ import annotations

import numpy as np

from fwbench import catalog
from fwbench.catalog import Choice
from fwbench.corral import root_of
from fwbench.geometry.forms import Factored, Kind
from fwbench.problem import QuadraticOverHull
from fwbench.solver import AUTO

_BY_KIND = {
    Kind.CONCAVE: "vertex_enumeration",
    Kind.INDEFINITE: "away_steps",
    Kind.MONOTONE: "extragradient",
    Kind.GENERAL: "projected_gradient[momentum=none]",
}
# Of atoms in blocks, those that make do with passes over them.
_IN_BLOCKS = {
    Kind.CONCAVE: "away_steps",
    Kind.INDEFINITE: "away_steps",
    Kind.MONOTONE: "frank_wolfe",
    Kind.GENERAL: "frank_wolfe",
}

# A linear part of the scale so small leaves the optimum near the mean, and where there are hardly
# more atoms than coordinates a larger one leaves many atoms in use.
CENTRAL, WIDE = 0.03, 0.05
LARGE = 150  # coordinates from which on a full support is a large one
MOST = 10_000  # atoms, of which a face may hold many
# Around twice as many atoms as coordinates the mean of a random hull is hardly inside, if at all
# (Wendel 1962): gradient steps crawl, faces change. With very many a pass is what counts.
FEW, MANY, TOO_MANY = 1.7, 2.3, 10.0


def choose(problem: QuadraticOverHull) -> str:
    """Return the text of the solver that suits a problem.

    Examples
    --------
    >>> choose(QuadraticOverHull([[1.0, 0.0], [0.0, 1.0]]))
    'working_set'
    """
    if problem.kind is not Kind.CONVEX:
        return (_BY_KIND if problem.in_memory else _IN_BLOCKS)[problem.kind]
    if not problem.in_memory:
        factored = root_of(problem.form, problem.d) is not None
        return "working_set" if factored else "away_steps"
    rank = len(problem.form.F) if isinstance(problem.form, Factored) else problem.d
    quadratic = problem.quadratic_scale
    wide = problem.n <= FEW * rank
    central = problem.scale - quadratic <= (WIDE if wide else CENTRAL) * quadratic
    shape = wide or MANY * rank <= problem.n <= TOO_MANY * rank
    # single precision is enough for working sets, which read it in double, not for Newton's method
    double = problem.dtype == np.float64
    dense = central and rank >= LARGE and problem.n <= MOST and shape and double
    return "projected_newton" if dense else "working_set"


def resolved(choice: Choice, problem: QuadraticOverHull) -> Choice:
    """Return a choice as it is, or in place of `auto` the solver that suits the problem."""
    if choice.entry is not AUTO:
        return choice
    return catalog.choices("solvers", choose(problem))[0]
