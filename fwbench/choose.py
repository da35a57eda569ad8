"""Which solver `auto` means: by the kind of the problem."""

from __future__ import annotations

from fwbench.geometry.forms import Kind
from fwbench.problem import QuadraticOverHull

_CHOICE = {
    Kind.CONVEX: "away_steps",
    Kind.CONCAVE: "vertex_enumeration",
    Kind.INDEFINITE: "away_steps",
    Kind.MONOTONE: "projected_gradient[momentum=none]",
    Kind.GENERAL: "projected_gradient[momentum=none]",
}


def choose(problem: QuadraticOverHull) -> str:
    """Return the text of the solver that suits a problem.

    Examples
    --------
    >>> choose(QuadraticOverHull([[1.0, 0.0], [0.0, 1.0]]))
    'away_steps'
    """
    return _CHOICE[problem.kind]
