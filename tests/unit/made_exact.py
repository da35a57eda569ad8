"""Small problems solved in rationals: nothing here shares code with what it checks."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwbench.problem import QuadraticOverHull


def rational(values: ArrayLike) -> NDArray[Any]:
    """Return doubles as the rationals that they are."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(values, dtype=float))


def matrix(problem: QuadraticOverHull) -> NDArray[Any]:
    """Return Q in rationals, expanded, shape (d, d)."""
    Q = rational(np.eye(problem.d))
    for link in problem.exact_chain:
        Q = np.dot(link, Q) if link.ndim == 2 else (np.diag(link).dot(Q) if link.ndim else link * Q)
    return Q


def field(problem: QuadraticOverHull, x: NDArray[Any]) -> NDArray[Any]:
    return matrix(problem) @ x + problem.exact_c


def value(problem: QuadraticOverHull, x: NDArray[Any]) -> Fraction:
    return x @ (matrix(problem) @ x) / 2 + problem.exact_c @ x


def centred(problem: QuadraticOverHull, total: Fraction) -> float:
    """Return a value of f less f at the doubles of the problem's mean."""
    return float(total - value(problem, rational(problem.mean)))


def point(problem: QuadraticOverHull, weights: ArrayLike) -> NDArray[Any]:
    """Return the point of weights, which are normalised exactly."""
    w = rational(weights)
    return (w / sum(w)) @ problem.exact_atoms


def gap(problem: QuadraticOverHull, weights: ArrayLike) -> Fraction:
    """Return max over the atoms y of ⟨F(x), x − y⟩ at the point of the weights."""
    x = point(problem, weights)
    F = field(problem, x)
    return F @ x - min(problem.exact_atoms @ F)


def solved(A: list[list[Fraction]], b: list[Fraction]) -> list[Fraction] | None:
    """Solve a square system by elimination; None if it is singular."""
    rows = [[*row, right] for row, right in zip(A, b, strict=True)]
    for i in range(len(rows)):
        pivot = next((r for r in range(i, len(rows)) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(len(rows)):
            if r != i and rows[r][i]:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def least(problem: QuadraticOverHull) -> tuple[Fraction, dict[int, Fraction]]:
    """Return the least value over the hull and weights that take it, for any symmetric Q.

    A minimiser of least support is the only stationary point in its face with that support: where
    its system is singular, f is constant along a line, on which a weight can be driven to 0.
    """
    V, one = problem.exact_atoms, Fraction(1)
    gram, linear = V @ matrix(problem) @ V.T, V @ problem.exact_c
    best: tuple[Fraction, dict[int, Fraction]] | None = None
    for size in range(1, min(problem.n, problem.d + 1) + 1):
        for support in combinations(range(problem.n), size):
            A = [[*(gram[i, j] for j in support), one] for i in support] + [
                [one] * size + [0 * one]
            ]
            found = solved(A, [-linear[i] for i in support] + [one])
            if found is None or min(w := found[:size]) < 0:
                continue
            total = _value(gram, linear, support, w)
            if best is None or total < best[0]:
                best = total, dict(zip(support, w, strict=True))
    assert best is not None  # a vertex is stationary in its own face
    return best


def _value(
    gram: NDArray[Any], linear: NDArray[Any], support: Sequence[int], w: Sequence[Fraction]
) -> Fraction:
    terms = zip(support, w, strict=True)
    return sum(
        (a * (linear[i] + sum(b * gram[i, j] for j, b in zip(support, w, strict=True)) / 2)
         for i, a in terms),
        Fraction(0),
    )  # fmt: skip
