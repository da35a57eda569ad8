"""Performance profiles of two solvers alone, on the instances of a contest.

A third solver can reverse the order of two in the profile of all; here there is none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwbench.analysis import shares
from fwbench.analysis.contests import Contest, arrays_of, entrants

Array = NDArray[np.float64]


class Duel(NamedTuple):
    """Two solvers of a contest, by their places, to one target.

    Attributes
    ----------
    a, b : int
    target : float
    low, high : ndarray, shape (p, 2)
        Sorted thresholds of the optimistic and of the pessimistic profile; infinite: never passed.
    """

    a: int
    b: int
    target: float
    low: Array
    high: Array


def duels(contest: Contest, efforts: pd.DataFrame) -> Iterator[Duel]:
    """Yield each two solvers of a contest at each target.

    Parameters
    ----------
    contest : Contest
    efforts : DataFrame
        Of `fwbench.analysis.profiles.Profiles`.
    """
    chosen = contest.solvers if contest.variant == "chosen" else ()
    table = entrants(efforts, contest.variant, chosen)
    for target, arrays in arrays_of(contest, table):
        for a, b in itertools.combinations(range(len(contest.solvers)), 2):
            low, high = (arrays[name][:, [a, b]] for name in ("low", "high"))
            yield Duel(a, b, target, *shares.band(low, high))
