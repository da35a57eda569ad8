"""Who leads each query, and what it attends to: without an (m, n) array of scores.

Scores are made a tile at a time, by one matrix product that stays in the fast caches, and are
looked at before the next one. In few dimensions most keys lie deep in the hull and lead nobody;
boxes around the others are looked through.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.boxes import Boxes, boxes
from fwbench.geometry.extremes import LARGEST, extremes
from fwbench.kernels.attention import (
    first_below,
    lead_among_few,
    lead_in_boxes,
    lead_rows,
    lead_tile,
)
from fwbench.kernels.soft_attention import soften

TILE = 2**18  # scores of a tile: at 512 × 512, both products run at their full speed
ROWS = 512
MANY = 512  # keys that are worth boxes
# Keys deeper in the hull are left out, in units of the extents; the finer, the more tie for a field
# that is next to nothing.
FINE, COARSE = 2.0**-34, 2.0**-10
FEW = 64  # keys that are looked at one by one
GRIDDED, CELLS = 2**14, 2**8  # queries that are worth a grid, and its cells then
STACK = 128  # boxes that wait to be opened: eight on each of at most sixteen levels
LOG2_E = 1.4426950408889634

Leads = tuple[NDArray[np.int64], NDArray[np.bool_]]


def tiles(m: int, n: int) -> Iterator[tuple[slice, list[slice]]]:
    """Yield blocks of queries and, for each, the blocks of keys that make tiles with it.

    Examples
    --------
    >>> [(rows.stop, len(columns)) for rows, columns in tiles(600, 2000)]
    [(512, 4), (600, 1)]
    """
    for first in range(0, m, ROWS):
        rows = slice(first, min(m, first + ROWS))
        width = TILE // (rows.stop - first)
        yield rows, [slice(j, min(n, j + width)) for j in range(0, n, width)]


@dataclass(frozen=True, eq=False)
class Search:
    """Looks for leaders among keys (n, d) that stay where they are; what helps is made once.

    Attributes
    ----------
    keys : ndarray, shape (n, d)
        float64 or float32.
    sure : bool
        False where nobody asks which leaders are sure: then fewer are said to be.
    """

    keys: NDArray[Any]
    sure: bool = True
    _outer: dict[float, Boxes] = field(default_factory=dict)

    @cached_property
    def boxed(self) -> bool:
        """Whether boxes around keys are quicker than products."""
        n, d = self.keys.shape
        return d <= LARGEST and n > MANY and bool(np.isfinite(self.keys).all())

    @cached_property
    def extents(self) -> NDArray[np.float64]:
        """The extent of the keys along each coordinate."""
        extents = np.ptp(np.ascontiguousarray(self.keys.T), axis=1)
        return np.asarray(extents, dtype=np.float64)

    @cached_property
    def depths(self) -> tuple[float, ...]:
        """How deep in the hull, in units of the extents, keys are left out: one after another."""
        return (FINE, COARSE) if self.keys.dtype == np.float64 else (COARSE,)

    def outer(self, depth: float) -> Boxes:
        """Return boxes around the keys that aren't that deep in the hull."""
        if depth not in self._outer:
            kept = extremes(self.keys, depth)
            all_of_them = len(kept) == len(self.keys)
            self._outer[depth] = self.whole if all_of_them else boxes(self.keys[kept], kept)
        return self._outer[depth]

    @cached_property
    def whole(self) -> Boxes:
        """Boxes around all keys."""
        return boxes(self.keys, np.arange(len(self.keys)))

    def leaders(self, fields: NDArray[Any], tie: float) -> Leads:
        """Return the leader of each query by its field (m, d), and whether rounding can't matter.

        The leader is the lowest index whose score ⟨g, y⟩ is within `tie` of the least. Memory
        O(m + n) and a tile; time O(mnd), in few dimensions O(m log n) as a rule.
        """
        lead = np.zeros(len(fields), dtype=np.int64)
        sure = np.zeros(len(fields), dtype=np.bool_)
        if self.boxed:
            self._boxed(fields, float(tie), lead, sure)
        else:
            self._tiled(fields, float(tie), lead, sure)
        return lead, sure

    def _boxed(self, fields: NDArray[Any], tie: float, lead: Any, sure: Any) -> None:
        """Look through boxes around the outer keys; where all keys may tie, around more of them."""
        rest = np.arange(len(fields))
        for depth in (*self.depths, None):
            found = self.whole if depth is None else self.outer(depth)
            # half of what depth is worth is left to rounding
            faint = -1.0 if depth is None else (8.0 * tie / depth) ** 2
            some = fields if len(rest) == len(fields) else fields[rest]
            lead[rest], sure[rest] = self._grid(some, found, tie, faint)
            rest = np.flatnonzero(lead < 0)
            if not len(rest):
                return
        lead[rest] = 0  # a field that is no number

    def _grid(self, fields: NDArray[Any], among: Boxes, tie: float, faint: float) -> Leads:
        """Look for leaders on a grid of fields: what leads all corners of a cell leads inside.

        Sure, the same key leads at the corners; so it does at fields between, since differences of
        scores are linear in the field.
        """
        m, d = fields.shape
        few = len(among.points) <= FEW
        if few or m < GRIDDED or not np.isfinite(fields).all():
            return self._each(fields, among, tie, faint)
        cells = int((m / GRIDDED * CELLS) ** (1 / d))
        columns = np.ascontiguousarray(fields.T)  # along which numpy is quick
        low, high = columns.min(axis=1), columns.max(axis=1)
        edges = [np.linspace(low[k], high[k], cells + 1, dtype=fields.dtype) for k in range(d)]
        corners = np.stack([axis.ravel() for axis in np.meshgrid(*edges, indexing="ij")], axis=1)
        lead, sure = (
            part.reshape((cells + 1,) * d) for part in self._each(corners, among, tie, faint)
        )
        for k in range(d):
            here = np.moveaxis(lead, k, 0), np.moveaxis(sure, k, 0)
            same = here[1][1:] & here[1][:-1] & (here[0][1:] == here[0][:-1])
            lead, sure = np.moveaxis(here[0][:-1], 0, k), np.moveaxis(same, 0, k)
        place = np.zeros(m, dtype=np.int64)
        for k in range(d):
            wide = float(high[k] - low[k])
            at = (columns[k] - low[k]) * (cells / wide) if wide else np.zeros(m)
            place = place * cells + np.minimum(at.astype(np.int64), cells - 1)
        found, certain = lead.ravel()[place], sure.ravel()[place]
        rest = np.flatnonzero(~certain)
        found[rest], certain[rest] = self._each(fields[rest], among, tie, faint, sure=self.sure)
        return found, certain

    def _each(
        self, fields: NDArray[Any], among: Boxes, tie: float, faint: float, *, sure: bool = True
    ) -> Leads:
        """Look for the leader of each query; −1 where its field is too faint for `among`."""
        lead, certain = np.empty(len(fields), np.int64), np.empty(len(fields), np.bool_)
        if len(among.points) > FEW:
            stack, ends = np.empty(STACK, dtype=np.int64), np.empty(STACK)
            wide = 2 * tie if sure else tie
            lead_in_boxes(fields, among, tie, wide, self.extents, faint, stack, ends, lead, certain)
            return lead, certain
        order = np.argsort(among.names)
        columns, room = np.ascontiguousarray(fields.T), np.empty((4, ROWS), fields.dtype)
        lead_among_few(columns, among.points[order], tie, self.extents, faint, room, lead, certain)
        return np.where(lead < 0, -1, among.names[order][lead]), certain

    def _tiled(self, fields: NDArray[Any], tie: float, lead: Any, sure: Any) -> None:
        """Look at tiles of scores, as they come out of the product."""
        m, n = len(fields), len(self.keys)
        if m <= ROWS and m * n <= TILE:
            lead_rows(fields @ self.keys.T, tie, lead, sure)
            return
        least = np.full(m, np.inf, dtype=fields.dtype)
        score, behind = least.copy(), np.zeros(m, dtype=np.bool_)
        room = np.empty(min(TILE, m * n), dtype=fields.dtype)
        for rows, blocks in tiles(m, n):
            block, found = fields[rows], (least[rows], score[rows], lead[rows], behind[rows])
            for columns in blocks:
                keys = self.keys[columns]
                scores = room[: len(block) * len(keys)].reshape(len(block), len(keys))
                np.matmul(block, keys.T, out=scores)
                lead_tile(scores, columns.start, 2 * tie, *found)
        behind |= score > least + tie
        np.less_equal(score, least + tie / 2, out=sure)
        sure &= ~behind
        for q in np.flatnonzero(behind):
            lead[q] = first_below(fields[q], self.keys, least[q] + tie, lead[q])


def soft_average(
    fields: NDArray[Any], seen: NDArray[Any], beta: float, rows: NDArray[Any]
) -> NDArray[Any]:
    """Return the softmax averages Σ_j a_ij r_j of rows (n, d), a_i = softmax_j(−β⟨g_i, y_j⟩).

    Parameters
    ----------
    fields : ndarray, shape (m, d)
    seen : ndarray, shape (n, d)
        The keys y that scores are made of.
    beta : float
    rows : ndarray, shape (n, d)
        What is averaged.

    Returns
    -------
    ndarray, shape (m, d)
        Memory O(md) and a tile; time O(mnd). What weighs less than 2⁻¹⁰²² of the leader (float32:
        2⁻¹²⁶) weighs nothing.

    Examples
    --------
    >>> keys = np.array([[0.0], [1.0]])
    >>> soft_average(np.array([[np.log(3.0)]]), keys, 1.0, keys).round(12).tolist()
    [[0.25]]
    """
    m, cast = len(fields), fields.dtype
    largest = np.finfo(cast).max
    sharpness = cast.type(min(beta * LOG2_E, float(largest)))
    average = np.zeros((m, rows.shape[1]), dtype=cast)
    least, mass, kept = np.full(m, largest), np.zeros(m, dtype=cast), np.empty(m, dtype=cast)
    room = np.empty(min(TILE, m * len(seen)), dtype=cast)
    for block, blocks in tiles(m, len(seen)):
        queries, sums, shrunk = fields[block], average[block], kept[block]
        part = np.empty_like(sums)
        for columns in blocks:
            keys = seen[columns]
            scores = room[: len(queries) * len(keys)].reshape(len(queries), len(keys))
            np.matmul(queries, keys.T, out=scores)
            soften(scores, sharpness, least[block], mass[block], shrunk)
            np.matmul(scores, rows[columns], out=part)
            sums *= shrunk[:, None]
            sums += part
        sums /= mass[block][:, None]
    return average
