"""Layer after layer of a solver on an instance, both given as text: what claims look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench import catalog
from fwbench.errors import InvalidParameter
from fwbench.problem import QuadraticOverHull
from fwbench.runner import misfit


def instance(text: str) -> QuadraticOverHull:
    """Return the problem that a text such as ``token_cloud[name=four-one]`` names."""
    [choice] = catalog.choices("problems", text)
    return catalog.build_problem(choice)


def walk(problem: QuadraticOverHull, solver: str, steps: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield t and the points x^t, shape (m, d), for t = 0, 1, …, steps.

    Parameters
    ----------
    problem : QuadraticOverHull
    solver : str
        Such as ``hardmax_attention[keys=moving,ties=points,arithmetic=exact]``; exact runs give
        Fractions, others doubles.
    steps : int

    Raises
    ------
    InvalidParameter
        If the solver does not run on the problem.

    Examples
    --------
    >>> cloud = instance("token_cloud[name=three-one]")
    >>> moving = "hardmax_attention[keys=moving,ties=points,arithmetic=exact]"
    >>> [[str(x) for x in points[:, 0]] for _, points in walk(cloud, moving, 2)]
    [['3', '-1'], ['-1', '3'], ['5/3', '1/3']]
    """
    [choice] = catalog.choices("solvers", solver)
    method: Any = catalog.build_solver(choice)
    if (reason := misfit(choice.entry, method, problem)) is not None:
        raise InvalidParameter(f"{solver}: {reason}")
    model = method.prepare(problem)
    starts = getattr(method, "start", None)
    state = method.init(model, starts(problem) if starts is not None else problem.start)
    points = getattr(state, "exact_points", state.points)
    yield 0, points()
    for t in range(steps):
        method.advance(model, state, 1)
        yield t + 1, points()


def squared_diameter(points: NDArray[Any]) -> Any:
    """Return the largest squared distance of two rows of a cloud (m, d), in its own arithmetic.

    Examples
    --------
    >>> squared_diameter(np.array([[Fraction(4)], [Fraction(-1)]]))
    Fraction(25, 1)
    """
    return max(((points - row) ** 2).sum(axis=1).max() for row in points)


def energies(points: NDArray[Any], Q: NDArray[Any]) -> NDArray[Any]:
    """Return J(x) = ½⟨x, Qx⟩ of each row of a cloud (m, d); Q (d,) or (d, d); shape (m,)."""
    image = points * Q if Q.ndim == 1 else points @ Q.T
    return np.asarray((image * points).sum(axis=1) / 2)
