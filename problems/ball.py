r"""Atoms all through a flattened ball whose broad side faces the origin.

Uniform in the ball of radius 1, the first axis squeezed to `flat`, then moved so that the centre
is `away` from the origin along that axis and a little beside it. The side next to the origin is
smooth and dense: of a million atoms in three dimensions 4421 are vertices, and at the optimum the
scores of 46 of them are within 1e-3 of the scale of the least, of 425 within 1e-2. (A Gaussian
cloud of that size far from the origin is trivial: its nearest atom is optimal.)
"""

from __future__ import annotations

import numpy as np

from fwbench.errors import InvalidParameter
from fwbench.problem import ProblemEntry, QuadraticOverHull

BESIDE = (0.05, 0.02)  # off the axis, so that no symmetry picks the minimiser


def ball(
    n: int = 1000, d: int = 3, flat: float = 0.3, away: float = 0.5, seed: int = 0
) -> QuadraticOverHull:
    """Draw the atoms.

    Parameters
    ----------
    n, d : int
        Atoms and dimension.
    flat : float
        Half the thickness of the ball along the first axis, in (0, 1].
    away : float
        Distance of its centre along that axis; above `flat` the origin is outside.
    seed : int

    Raises
    ------
    InvalidParameter
        For n or d below 1, or a thickness outside (0, 1].
    """
    if n < 1 or d < 1 or not 0 < flat <= 1:
        raise InvalidParameter(
            f"ball: n and d must be at least 1 and flat in (0, 1]; got n={n}, d={d}, flat={flat}"
        )
    rng = np.random.default_rng(seed)
    atoms = rng.standard_normal((n, d))
    atoms *= (rng.random(n) ** (1 / d) / np.linalg.norm(atoms, axis=1))[:, None]
    atoms[:, 0] = atoms[:, 0] * flat + away
    for axis, step in enumerate(BESIDE[: d - 1], 1):
        atoms[:, axis] += step
    return QuadraticOverHull(atoms)


ENTRY = ProblemEntry(
    name="ball",
    make=ball,
    label="nearest point of a smooth dense hull",
    grid=({}, {"n": 300, "d": 8}),
)
