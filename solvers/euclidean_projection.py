r"""Projected gradient in space: x ← Π(x − F(x)/L), Π(z) the point of the hull nearest to z.

L = ‖Q‖, so on convex problems f(x_k) − f* ≤ L‖x_0 − x*‖²/2k and linearly for Q ≻ 0; on all problems
with an f every step lowers it. Π is found exactly, by Wolfe's method, in one call a step. Unlike a
step on the weights it depends on lengths in space, not on how many atoms say the same; unlike
Frank-Wolfe it is not affinely invariant, so where it comes to rest differs as well.

Goldstein 1964; Levitin and Polyak 1966; the projection is Wolfe 1976.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.corral import Rooted, corral
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import spectral_norm
from fwbench.kernels.working_set import major_cycles
from fwbench.laws import Law
from fwbench.problem import TIE, QuadraticOverHull
from fwbench.solver import POTENTIAL, SolverEntry

CYCLES = 100_000  # of one projection: it ends by itself
FAR = 1e3  # radii: no gradient step is longer, however flat the quadratic


@dataclass(frozen=True, eq=False)
class Nearest:
    """The hull for projections, and how steep the field is; depends on the problem alone.

    Attributes
    ----------
    problem : QuadraticOverHull
    hull : Rooted
        With Q = I; its linear term is filled in at each projection.
    lipschitz : float
    """

    problem: QuadraticOverHull
    hull: Rooted
    lipschitz: float

    def projected(self, z: NDArray[np.float64], start: Combinations) -> Combinations:
        """Return the weights of the point of the hull nearest to z (d,), from the mean."""
        scale = self.problem.radius * (self.problem.radius + float(np.linalg.norm(z)))
        tie = TIE[np.dtype(np.float64)] * scale
        hull = replace(self.hull, hull=(*self.hull.hull[:4], -z), scale=scale, tie=tie)
        found = corral(hull, start)
        major_cycles(
            hull.hull, found.arrays, found.kept, hull.block, hull.sizes, found.counts, 0, CYCLES
        )
        found.steps = 1
        return found.weights()


@dataclass(eq=False)
class Projected:
    """One point, from the mean, with its weights."""

    model: Nearest
    used: Combinations
    offset: NDArray[Any]
    steps: int = 0
    done: bool = False
    claim: str | None = None

    def weights(self) -> Combinations:
        """Return the weights."""
        return self.used

    def points(self) -> NDArray[np.float64]:
        """Return the point, shape (1, d)."""
        problem = self.model.problem
        return np.asarray(problem.mean + self.used.data @ problem.offsets(self.used.keys))[None, :]


@dataclass(frozen=True)
class EuclideanProjection:
    """Step against the gradient, then to the nearest point of the hull; no parameters."""

    def prepare(self, problem: QuadraticOverHull) -> Nearest:
        d, radius = problem.d, problem.radius
        flat = np.empty((0, d)), np.ones(d), np.zeros(d)
        hull = Rooted(
            hull=(problem.packed, problem.mean, *flat),
            atoms=problem.packed,
            mean=problem.mean,
            rank=d,
            at_mean=problem.leaders_at_mean,
            block=problem.block,
            shift=radius**2 or 1.0,
            scale=1.0,
            tie=0.0,
        )
        slope = float(np.linalg.norm(problem.centred_c)) / (FAR * radius) if radius else 0.0
        return Nearest(problem, hull, max(spectral_norm(problem.form, d), slope) or 1.0)

    def init(self, model: Nearest, start: Combinations) -> Projected:
        one = start.one(0)
        offset = one.data @ model.problem.offsets(one.keys)
        return Projected(model, one, np.asarray(offset, dtype=model.problem.dtype))

    def advance(self, model: Nearest, state: Projected, steps: int) -> None:
        problem = model.problem
        for _ in range(0 if state.done else steps):
            x = state.offset.astype(np.float64)
            z = x - problem.centred_field(x) / model.lipschitz
            state.steps += 1
            state.used = model.projected(z, state.used) if problem.radius else state.used
            before = state.offset
            state.offset = (state.used.data @ problem.offsets(state.used.keys)).astype(before.dtype)
            if (state.offset == before).all():  # for ever
                state.done = True
                return


ENTRY = SolverEntry(
    name="euclidean_projection",
    make=EuclideanProjection,
    label="projected gradient in space",
    reference="Goldstein 1964; Levitin and Polyak 1966",
    law="convex: f - f* <= L |x0 - x*|^2/(2 k); linear for definite Q",
    laws=(Law("sublinear", -1.0),),
    kinds=POTENTIAL,
)
