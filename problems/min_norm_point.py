r"""The point of least norm in the hull of Gaussian atoms: where the optimum lies decides the rate.

shift moves every coordinate: at 1 the origin is far outside and the optimum on a low face; at 0,
with n ≫ d, it is inside and f* = 0. face=k puts the origin on a face of dimension k, where line
search zig-zags. condition > 1 stretches Q = diag(1, …, 1/condition), geometrically spaced.

The minimiser is unique in x; in weights it need not be.
"""

from __future__ import annotations

import numpy as np

from fwbench.errors import InvalidParameter
from fwbench.problem import ProblemEntry, QuadraticOverHull


def min_norm_point(
    n: int = 100,
    d: int = 10,
    shift: float = 0.0,
    face: int = -1,
    condition: float = 1.0,
    seed: int = 0,
) -> QuadraticOverHull:
    """Draw the atoms.

    Parameters
    ----------
    n, d : int
        Atoms and dimension.
    shift : float
        Added to every coordinate.
    face : int
        Dimension of the face that holds the origin in its interior; −1 for none.
    condition : float
        Condition number of Q.
    seed : int

    Raises
    ------
    InvalidParameter
        For a face that does not fit into n, d and shift, or a condition below 1.
    """
    if n < 1 or d < 1 or not 1 <= condition < np.inf:
        raise InvalidParameter(
            "min_norm_point: n, d and condition must be at least 1, and finite; got "
            f"{n}, {d}, {condition}"
        )
    if face >= 0 and (shift != 0 or face >= d or face + 1 > n):
        raise InvalidParameter(
            f"min_norm_point: face={face} needs shift=0, face < d and face < n; got shift={shift}, "
            f"d={d}, n={n}"
        )
    atoms = np.random.default_rng(seed).standard_normal((n, d)) + shift
    if face >= 0:
        # all other atoms lie strictly on one side of the hyperplane of the face
        atoms[:, 0] = np.abs(atoms[:, 0])
        corner = atoms[: face + 1]
        corner[:, 0] = 0.0
        corner -= corner.mean(axis=0)
    Q = 1.0 if condition == 1 else np.geomspace(1.0, 1.0 / condition, d)
    return QuadraticOverHull(atoms, Q)


ENTRY = ProblemEntry(
    name="min_norm_point",
    make=min_norm_point,
    label="nearest point to the origin in a Gaussian hull",
    grid=({"shift": 1.0}, {}),
)
