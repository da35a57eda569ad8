r"""Leaders that are known for good, so that later layers need no scores.

Keys are fixed, steps are scalar and at most 1, the lowest index leads in a tie. Let key j be the
sure leader of a query at x, and own its cell: be the sure leader of a query at :math:`y_j`. *Then j
leads the query for ever.* The field is affine, so along the segment from x to :math:`y_j` every
difference of scores :math:`⟨F(·), y_k - y_j⟩` is affine too; at both ends it exceeds 3/2 of the
tolerance for k < j, and is at least −½ of it for k > j; so it does and is in between, where
rounding (far below ½ of the tolerance) can't make another key lead. There the query stays: its next
point lies between x and its leader.

What then remains of T layers is one affine recursion per query, O(md) each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNKNOWN, OWNS, ASTRAY = 0, 1, 2  # whether a key leads itself
CHEAP = 4  # keys are asked at once where this times as many queries are asked anyway

# Points (k, d) -> their leaders (k,), and which of them are sure.
Leaders = Callable[[NDArray[Any]], tuple[NDArray[np.int64], NDArray[np.bool_]]]


@dataclass(eq=False)
class Labels:
    """Who led each query last, and for which of them that stays so.

    Attributes
    ----------
    lead : ndarray of int, shape (m,)
    settled : ndarray of bool, shape (m,)
    owner : ndarray of int8, shape (n,)
    open : ndarray of int
        The queries that aren't settled.
    """

    lead: NDArray[np.int64]
    settled: NDArray[np.bool_]
    owner: NDArray[np.int8]
    open: NDArray[np.int64]

    @classmethod
    def none(cls, m: int, n: int) -> Labels:
        """Return those before the first layer."""
        unled = np.full(m, -1, dtype=np.int64)
        return cls(unled, np.zeros(m, np.bool_), np.zeros(n, np.int8), np.arange(m))

    def look(self, x: NDArray[Any], keys: NDArray[Any], leaders: Leaders) -> None:
        """Find the leaders of points x (m, d) among keys (n, d): of those that aren't settled.

        Whether a key owns its cell is asked once, and only where that is cheap beside the queries,
        or where it led a query before: on convex problems hardly any key does.
        """
        if len(self.open) == len(x):
            lead, sure = leaders(x)
            before, self.lead = self.lead, lead
        else:
            lead, sure = leaders(x[self.open])
            before = self.lead[self.open]
            self.lead[self.open] = lead
        asked = sure & (self.owner[lead] == UNKNOWN)
        again = lead == before
        if len(lead) < CHEAP:
            asked &= again
        if asked.any():
            unknown = np.unique(lead[asked])
            if CHEAP * len(unknown) > len(lead):
                unknown = np.unique(lead[asked & again])
            if len(unknown):
                own, certain = leaders(keys[unknown])
                self.owner[unknown] = np.where(certain & (own == unknown), OWNS, ASTRAY)
        owned = sure & (self.owner[lead] == OWNS)
        if owned.any():
            self.settled[self.open[owned]] = True
            self.open = self.open[~owned]
