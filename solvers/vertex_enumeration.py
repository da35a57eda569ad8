r"""The exact minimum of a concave quadratic: the best vertex, min_i f(v_i).

A concave function is least at an extreme point, and extreme points are atoms: one pass, O(nd²).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.laws import Law
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, Sampling, SolverEntry


@dataclass(eq=False)
class Vertex:
    """One combination: the start, then the best vertex."""

    problem: QuadraticOverHull
    combination: Combinations
    lmo: int = 0
    steps: int = 0
    done: bool = False
    claim: str | None = None

    @property
    def counters(self) -> dict[str, int]:
        """One pass over the atoms."""
        return {"lmo": self.lmo, "gradient": self.lmo, "matvec": self.lmo}

    def points(self) -> NDArray[np.float64]:
        """Return the point, shape (1, d)."""
        rows = self.problem.rows(self.combination.keys).astype(np.float64)
        return np.asarray(self.combination.averages(rows))

    def weights(self) -> Combinations:
        """Return all weight on that vertex."""
        return self.combination


@dataclass(frozen=True)
class VertexEnumeration:
    """Try every atom."""

    def prepare(self, problem: QuadraticOverHull) -> QuadraticOverHull:
        return problem

    def init(self, model: QuadraticOverHull, start: Combinations) -> Vertex:
        return Vertex(model, start.one(0))

    def advance(self, model: QuadraticOverHull, state: Vertex, steps: int) -> None:
        if steps == 0 or state.done:
            return
        best = int(np.argmin(model.centred_value(model.centred)))
        state.combination = Combinations.vertices([best])
        state.lmo, state.steps, state.done, state.claim = 1, 1, True, "optimal"


ENTRY = SolverEntry(
    name="vertex_enumeration",
    make=VertexEnumeration,
    label="enumeration of the vertices",
    reference="Rockafellar 1970, section 32",
    law="finite: one pass over the atoms",
    laws=(Law("finite", kinds=frozenset({Kind.CONCAVE})),),
    kinds=frozenset({Kind.CONCAVE}),
    queries=Queries.ANY,
    sampling=Sampling.ONCE,
    promise=1e-12,
)
