r"""Gaussian atoms in bunches that nearly coincide, and the point of their hull nearest to 0.

Every atom stands `copies` times, `apart` times Gaussian noise from itself. Systems of active
vertices are nearly singular, steps between twins are as short as `apart`, and a method that asks
whether a vertex is new by its coordinates is told the wrong thing.
"""

from __future__ import annotations

import numpy as np

from fwbench.errors import InvalidParameter
from fwbench.problem import ProblemEntry, QuadraticOverHull


def near_duplicates(
    n: int = 100,
    d: int = 10,
    copies: int = 5,
    apart: float = 1e-8,
    shift: float = 0.6,
    seed: int = 0,
) -> QuadraticOverHull:
    """Draw the atoms.

    Parameters
    ----------
    n, d : int
        Atoms, all copies counted, and dimension.
    copies : int
        Atoms in a bunch; the last bunch may be smaller.
    apart : float
        Standard deviation of the noise in every coordinate; 0 for equal atoms.
    shift : float
        Added to every coordinate.
    seed : int

    Raises
    ------
    InvalidParameter
        For n, d or copies below 1, or a negative distance.
    """
    if n < 1 or d < 1 or copies < 1 or apart < 0:
        raise InvalidParameter(
            "near_duplicates: n, d and copies must be at least 1 and apart at least 0; got "
            f"n={n}, d={d}, copies={copies}, apart={apart}"
        )
    rng = np.random.default_rng(seed)
    bunches = rng.standard_normal((-(-n // copies), d)) + shift
    atoms = np.repeat(bunches, copies, axis=0)[:n]
    return QuadraticOverHull(atoms + apart * rng.standard_normal((n, d)))


ENTRY = ProblemEntry(
    name="near_duplicates",
    make=near_duplicates,
    label="nearest point of a hull of nearly equal atoms",
    grid=({}, {"copies": 2, "apart": 0.0}),
)
