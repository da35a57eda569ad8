"""Layer after layer of a solver on an instance, both given as text: what claims look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench import catalog
from fwbench.errors import InvalidParameter
from fwbench.geometry.exact_hulls import holds
from fwbench.geometry.ownership import outside_own_cells
from fwbench.geometry.planar import corners
from fwbench.grammar import quoted
from fwbench.problem import QuadraticOverHull
from fwbench.runner import misfit
from fwbench.solver import SolverEntry

OPEN_LOOP = "open_loop(2)"  # the steps 2/(t + 2)


def instance(text: str) -> QuadraticOverHull:
    """Return the problem that a text such as ``token_cloud[name=four-one]`` names."""
    [choice] = catalog.choices("problems", text)
    return catalog.build_problem(choice)


def hardmax(
    step: str = OPEN_LOOP,
    *,
    keys: str = "moving",
    ties: str = "points",
    scores: str = "1",
    values: str = "none",
    arithmetic: str = "exact",
) -> str:
    """Return the text of a hardmax layer, for `walk`; without arguments that of Theorem 3.1.

    Examples
    --------
    >>> hardmax("constant(1/2)", scores="1 geometric(1,1/2)").split("arithmetic=")[1]
    'exact,values=none,scores="1 geometric(1,1/2)"]'
    """
    return (
        f"hardmax_attention[keys={keys},step={step},ties={ties},arithmetic={arithmetic},"
        f"values={quoted(values)},scores={quoted(scores)}]"
    )


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
    >>> [[str(x) for x in points[:, 0]] for _, points in walk(cloud, hardmax(), 2)]
    [['3', '-1'], ['-1', '3'], ['5/3', '1/3']]
    """
    method, model, state = _begun(problem, solver)
    points = getattr(state, "exact_points", state.points)
    yield 0, points()
    for t in range(steps):
        method.advance(model, state, 1)
        yield t + 1, points()


def stepped(problem: QuadraticOverHull, solver: str, points: NDArray[Any]) -> NDArray[Any]:
    """Return where the first step of an attention layer with fixed keys takes points (m, d).

    Starts are combinations of atoms with weights in doubles; here the points may be any.

    Examples
    --------
    >>> fixed = "hardmax_attention[keys=fixed,step=constant(1/2),arithmetic=exact]"
    >>> from fractions import Fraction
    >>> x = np.array([[Fraction(1, 3)]], dtype=object)
    >>> stepped(instance("token_cloud[name=three-one]"), fixed, x).tolist()
    [[Fraction(-1, 3)]]
    """
    somewhere = problem.starting_at(np.zeros(len(points), dtype=np.int64))
    method, model, state = _begun(somewhere, solver)
    state.x = (points - model.mean).astype(state.x.dtype)
    method.advance(model, state, 1)
    return np.asarray(getattr(state, "exact_points", state.points)())


def key_query(problem: QuadraticOverHull) -> NDArray[Any]:
    """Return B = −Q exactly, as a diagonal (d,) or a matrix (d, d).

    Examples
    --------
    >>> key_query(instance("token_cloud[name=own-cells]")).tolist()
    [Fraction(2, 1), Fraction(1, 1)]
    """
    return np.asarray(-exact_form(problem))


def extreme(points: NDArray[Any]) -> NDArray[np.int64]:
    """Return the keys of the extreme points of a cloud (n, d) of exact numbers, shape (k,).

    Of coinciding points the first one counts. In the plane they come in order, turning left.

    Examples
    --------
    >>> extreme(np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2], [1, 1, 0]])).tolist()
    [0, 1, 2, 3]
    """
    if points.shape[1] == 2:
        return corners(points)
    first = dict[tuple[Any, ...], int]()
    for key, point in enumerate(map(tuple, points)):
        first.setdefault(point, key)
    keys = np.array(list(first.values()))
    if len(keys) == 1:
        return keys
    inner = [holds(points[np.delete(keys, i)], points[key].tolist()) for i, key in enumerate(keys)]
    return np.asarray(keys[~np.array(inner)])


def outside_theorem_4_2(problem: QuadraticOverHull) -> str | None:
    """Return which assumption of Theorem 4.2 a cloud of tokens misses, or None; exactly.

    Examples
    --------
    >>> outside_theorem_4_2(instance("token_cloud[name=chained]"))
    'vertex 1 does not own its cell strictly'
    """
    x = problem.exact_atoms
    return outside_own_cells(x, extreme(x), key_query(problem))


def listed(points: NDArray[Any]) -> str:
    """Write exact points (n, d) so that they can be typed again; on the line without brackets.

    Examples
    --------
    >>> listed(np.array([[3], [0]])), listed(np.array([["1/2", "0"], ["1", "-1"]]))
    ('3, 0', '(1/2, 0), (1, -1)')
    """
    rows = [", ".join(map(str, point)) for point in points]
    return ", ".join(rows if points.shape[1] == 1 else [f"({row})" for row in rows])


def cloud_of(tokens: NDArray[Any], B: NDArray[Any]) -> QuadraticOverHull:
    """Return the problem of tokens (n, d) and B, (d,) or (d, d), rationals held exactly."""
    texts = np.vectorize(str, otypes=[str])
    return QuadraticOverHull(texts(tokens), texts(-B), start=np.arange(len(tokens)))


def integer_cloud(
    n: int, d: int, seed: int, *, reach: int = 9, rank: int | None = None
) -> tuple[str, QuadraticOverHull]:
    """Draw n integer tokens in [−reach, reach]^d and B = LL', L integer (d, rank); name it too.

    With full rank, which is the default, 1 is added: B ≻ 0.

    Examples
    --------
    >>> name, problem = integer_cloud(3, 2, seed=1)
    >>> name, problem.exact_atoms.astype(int).tolist()
    ("3 integer tokens in [-9, 9]^2, B = LL' + 1, seed 1", [[-1, 0], [5, 9], [-9, -7]])
    """
    rng = np.random.default_rng(seed)
    tokens = rng.integers(-reach, reach + 1, (n, d))
    L = rng.integers(-2, 3, (d, d if rank is None else rank))
    B = L @ L.T + (np.eye(d, dtype=int) if rank is None else 0)
    whole = "LL' + 1" if rank is None else f"LL' of rank {rank}"
    return f"{n} integer tokens in [-{reach}, {reach}]^{d}, B = {whole}, seed {seed}", cloud_of(
        tokens, B
    )


def after(problem: QuadraticOverHull, solver: str, steps: int) -> NDArray[Any]:
    """Return the points x^t, shape (m, d), at t = steps, without looking at those before.

    Raises
    ------
    InvalidParameter
        If the solver does not run on the problem.

    Examples
    --------
    >>> after(instance("token_cloud[name=three-one]"), hardmax(), 1).tolist()
    [[Fraction(-1, 1)], [Fraction(3, 1)]]
    """
    method, model, state = _begun(problem, solver)
    method.advance(model, state, steps)
    return np.asarray(getattr(state, "exact_points", state.points)())


def _begun(problem: QuadraticOverHull, solver: str) -> tuple[Any, Any, Any]:
    """Return the solver, its model and its state at t = 0."""
    entry, method = _built(solver)
    if (reason := misfit(entry, method, problem)) is not None:
        raise InvalidParameter(f"{solver}: {reason}")
    model = method.prepare(problem)
    starts = getattr(method, "start", None)
    return method, model, method.init(model, starts(problem) if starts else problem.start)


@cache
def _built(solver: str) -> tuple[SolverEntry, Any]:
    """Return the entry and the solver of a text: claims walk hundreds of instances with one."""
    [choice] = catalog.choices("solvers", solver)
    return choice.entry, catalog.build_solver(choice)


def first_exit(layers: Iterable[tuple[int, NDArray[Any]]]) -> tuple[int, NDArray[Any]] | None:
    """Return t and a token x^{t+1}, shape (d,), that lies outside the hull of x^t; exactly.

    Examples
    --------
    >>> first_exit([(0, np.array([[0], [2]])), (1, np.array([[1], [3]]))])
    (0, array([3]))
    """
    for (t, before), (_, x) in pairwise(layers):
        for row in x:
            if not holds(before, row.tolist()):
                return t, row
    return None


def leaders(x: NDArray[Any], Q: NDArray[Any], *, distinct: bool) -> list[int]:
    """Return how many of the points x (n, d) lead each of them, coinciding ones once or each.

    The leaders of x_i minimise ⟨Qx_i, y⟩; Q (d,) or (d, d), exact numbers.

    Examples
    --------
    >>> x, Q = np.array([[1], [1], [0]]), np.array([1])
    >>> leaders(x, Q, distinct=True), leaders(x, -Q, distinct=False)
    ([1, 1, 2], [2, 2, 3])
    """
    scores = (x * Q if Q.ndim == 1 else x @ Q.T) @ x.T
    leading = [np.flatnonzero(row == row.min()) for row in scores]
    if distinct:
        return [len({tuple(x[j]) for j in tied}) for tied in leading]
    return [len(tied) for tied in leading]


def squared_diameter(points: NDArray[Any]) -> Any:
    """Return the largest squared distance of two rows of a cloud (m, d), in its own arithmetic.

    Examples
    --------
    >>> from fractions import Fraction
    >>> squared_diameter(np.array([[Fraction(4)], [Fraction(-1)]]))
    Fraction(25, 1)
    """
    return max(((points - row) ** 2).sum(axis=1).max() for row in points)


def exact_form(problem: QuadraticOverHull) -> NDArray[Any]:
    """Return Q exactly, shape (d,) if it is diagonal, else (d, d).

    Raises
    ------
    InvalidParameter
        If Q is given by factors.

    Examples
    --------
    >>> exact_form(instance("token_cloud[n=3,d=2,q=2]")).tolist()
    [Fraction(2, 1), Fraction(2, 1)]
    """
    if len(problem.exact_chain) != 1:
        raise InvalidParameter("claims look at Q as a number, a diagonal or a matrix, not factors")
    Q = problem.exact_chain[0]
    return Q if Q.ndim == 2 else np.broadcast_to(Q, (problem.d,))


def energies(points: NDArray[Any], Q: NDArray[Any]) -> NDArray[Any]:
    """Return J(x) = ½⟨x, Qx⟩ of each row of a cloud (m, d); Q (d,) or (d, d); shape (m,)."""
    image = points * Q if Q.ndim == 1 else points @ Q.T
    return np.asarray((image * points).sum(axis=1) / 2)
