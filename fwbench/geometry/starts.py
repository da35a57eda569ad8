"""Where queries start: keys of atoms or convex combinations, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fwbench.errors import InvalidProblem
from fwbench.geometry.combinations import Combinations


def checked_start(start: Combinations | ArrayLike, n: int) -> Combinations:
    """Return starts as convex combinations of n atoms.

    Raises
    ------
    InvalidProblem
        For keys that name no atom, and weights that are not convex.
    """
    combinations = start if isinstance(start, Combinations) else None
    if combinations is None:
        keys = np.atleast_1d(np.asarray(start))
        if keys.dtype.kind not in "iu" or keys.ndim != 1:
            raise InvalidProblem(
                f"start must be keys of atoms or Combinations; got {keys.dtype} {keys.shape}"
            )
        combinations = Combinations.vertices(keys)
    keys = combinations.keys
    if combinations.m == 0 or (keys.size and not 0 <= keys.min() <= keys.max() < n):
        raise InvalidProblem(f"start must name atoms by keys 0 to {n - 1}; got {keys}")
    if combinations.data.dtype.kind != "f":
        raise InvalidProblem(f"start: weights must be floats; got {combinations.data.dtype}")
    sums = combinations.sums()
    if (combinations.data < 0).any() or not np.allclose(sums, 1, rtol=0, atol=1e-12):
        raise InvalidProblem("start must be convex combinations: weights >= 0 that sum to 1")
    return combinations
