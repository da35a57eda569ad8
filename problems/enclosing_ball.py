r"""The least ball that encloses Gaussian points: Q is singular and c is not 0.

Points p are lifted to v = (p, ‖p‖²); with Q = diag(2, …, 2, 0) and c = (0, …, 0, −1),
f(Σ w v) = ‖Σ w p‖² − Σ w ‖p‖², so f* = −r², and the first d coordinates of the minimiser are the
centre. Weights are positive on points of the sphere alone, at most d + 1 of them.

Yıldırım 2008 (Frank-Wolfe for enclosing balls); Fischer, Gärtner and Kutz 2003.
"""

from __future__ import annotations

import numpy as np

from fwbench.errors import InvalidParameter
from fwbench.problem import ProblemEntry, QuadraticOverHull


def enclosing_ball(n: int = 100, d: int = 5, seed: int = 0) -> QuadraticOverHull:
    """Draw the points and lift them.

    Parameters
    ----------
    n, d : int
        Points and their dimension; atoms have one more.
    seed : int

    Raises
    ------
    InvalidParameter
        For n or d below 1.
    """
    if n < 1 or d < 1:
        raise InvalidParameter(f"enclosing_ball: n and d must be at least 1; got n={n}, d={d}")
    points = np.random.default_rng(seed).standard_normal((n, d))
    atoms = np.column_stack([points, (points**2).sum(axis=1)])
    return QuadraticOverHull(atoms, [2.0] * d + [0.0], [0.0] * d + [-1.0])


ENTRY = ProblemEntry(
    name="enclosing_ball",
    make=enclosing_ball,
    label="least enclosing ball of Gaussian points",
    grid=({}, {"n": 300, "d": 2}),
)
