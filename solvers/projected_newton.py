r"""Projected gradient finds the face, Newton's method solves on it.

Steps are those of accelerated projected gradient, w ← P(u − F(u)/L). Now and then (after steps 8,
16 and each 32nd one, where it is cheap or the steps were slow) w ← argmin f over the hull of the
face {i: w_i > 0 or s_i < ⟨w, s⟩}: over its affine hull, atoms of negative weight leaving in blocks,
and where that does not make f fall, by an interior-point method. Since f falls, the gradient steps
make it converge as they do; once the face holds the solution one solve ends it, to rounding.

Bertsekas 1982; Moré and Toraldo 1991; Júdice and Pires 1994; Wright 1997.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fwbench.first_order import AllWeights, Gram, Steep, steep, weighted
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.faces import least_over_hull
from fwbench.geometry.forms import Kind
from fwbench.kernels.gradient import ANCHOR, anchored, projected_gradient, scores_at
from fwbench.problem import QuadraticOverHull
from fwbench.solver import SolverEntry

# 32 gradient steps that divide the gap by this are fast enough alone.
FAST = 100.0
# A multiplication of dense algebra takes this part of the time of one in a pass; a solve that costs
# less than 32 gradient steps is cheap.
DENSE = 0.2
LARGEST = 3000  # atoms of a face; its matrix has as many rows


@dataclass(frozen=True)
class ProjectedNewton:
    """Accelerated projected gradient, and minimisers over the faces that it finds.

    Parameters
    ----------
    gram : {"auto", "yes", "no"}
        Whether to build the n × n Gram matrix; auto does where n ≤ d and n ≤ 5000.
    """

    gram: Gram = "auto"

    def prepare(self, problem: QuadraticOverHull) -> Steep:
        return steep(problem, self.gram)

    def init(self, model: Steep, start: Combinations) -> AllWeights:
        w, s = weighted(model, start)
        ahead, anchor = (w.copy(), s.copy()), (w.copy(), s.copy())
        gap = np.array([np.inf])
        kept = (*ahead, *anchor, np.ones(1), np.array([model.lipschitz, 0.0]), gap)
        return AllWeights(model.hull, w, s, kept)

    def advance(self, model: Steep, state: AllWeights, steps: int) -> None:
        end = state.steps + steps
        while state.steps < end:
            first = state.steps + 1
            count = next(k for k in range(first, end + 1) if k == end or anchored(k)) - state.steps
            projected_gradient(
                *model.arrays, model.gram, model.unit, model.rounding, True,
                state.w, state.s, *state.kept[:-1], state.counts, state.steps, count,
            )  # fmt: skip
            state.steps += count
            if anchored(state.steps):
                solve_on_face(model, state)


def solve_on_face(model: Steep, state: AllWeights) -> None:
    """Move to the least point of the face in use, where gradient steps are slow and f falls."""
    hull, w, s = model.hull, state.w, state.s
    ahead, front, anchor, base, momentum, lipschitz, last = state.kept
    n, r = hull.left.shape
    face = np.flatnonzero((w > 0) | (s < w @ s))
    k = len(face)
    slow = state.steps % ANCHOR == 0 and state.own_gap * FAST > last[0]
    cheap = DENSE * k * k * (r + k) < ANCHOR * (n * n if len(model.gram) else 2 * n * r)
    if (slow or cheap) and k <= LARGEST and state.own_gap > model.rounding:
        Y, b = hull.left[face].astype(np.float64), hull.linear[face].astype(np.float64)
        G = Y @ Y.T if (hull.signs > 0).all() else Y * hull.signs @ Y.T
        least = least_over_hull(G, b, w[face].astype(np.float64), model.unit, surely=slow)
        if least is not None:
            w[:] = 0
            w[face] = least
            scores_at(*model.arrays, w, np.empty_like(hull.signs), s)
            ahead[:] = anchor[:] = w
            front[:] = base[:] = s
            momentum[0], lipschitz[1] = 1.0, 0.0
    if state.steps % ANCHOR == 0:
        last[0] = state.own_gap


ENTRY = SolverEntry(
    name="projected_newton",
    make=ProjectedNewton,
    label="projected gradient with solves on faces",
    reference="Bertsekas 1982; Moré and Toraldo 1991",
    law="as accelerated projected gradient; finite where the solution is strictly complementary",
    kinds=frozenset({Kind.CONVEX}),
    promise=1e-12,
)
