r"""scikit-learn's one-class SVM (libsvm), whose dual is this problem.

With a linear kernel and ν = 1/n it minimises ½‖Z'w‖² over 0 <= w <= 1, Σw = 1: the point of least
norm, by sequential minimal optimisation (a pairwise method). Kernel rows are in single precision.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from fwbench.foreign import Answer, aim, beyond, bounded, library, points_of_least_norm
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, Sampling, SolverEntry

FINEST = 1e-8  # of the scale: below, it looks for digits that single precision does not hold
FARTHEST = 10.0  # squared norm, in units, beyond which single precision loses too many digits
MEBIBYTES = 1000  # for kernel rows
RATE = 1e9  # multiply-adds a second, by which a limit of time becomes one of steps
MOST = 10**7


@dataclass(frozen=True, eq=False)
class Model:
    """Points whose hull's point of least norm is sought."""

    problem: QuadraticOverHull
    Z: NDArray[np.float64]


@dataclass(frozen=True)
class SklearnSvm:
    """Hand the problem to sklearn.svm.OneClassSVM."""

    tol: float = field(default=1e-8, init=False, repr=False)
    seconds: float = field(default=inf, init=False, repr=False)

    def within(self, tol: float, seconds: float) -> SklearnSvm:
        return bounded(self, tol, seconds)

    def refuses(self, problem: QuadraticOverHull) -> str | None:
        if problem.n == 1:
            return "libsvm needs two points, this convex problem has one: its intercept is infinite"
        if (reason := beyond(problem)) is not None:
            return reason
        largest = float((points_of_least_norm(problem) ** 2).sum(axis=1).max())
        if largest <= FARTHEST:
            return None
        return (
            f"libsvm keeps kernel rows in single precision, and the points are {largest:.0f} times "
            f"the scale from the origin (squared; at most {FARTHEST:g})"
        )

    def prepare(self, problem: QuadraticOverHull) -> Model:
        library("sklearn.svm")
        Z = points_of_least_norm(problem)
        if not Z.shape[1]:  # scikit-learn wants a coordinate
            Z = np.zeros((len(Z), 1))
        return Model(problem, np.ascontiguousarray(Z))

    def init(self, model: Model, start: Combinations) -> Answer:
        return Answer(model.problem, start.one(0))

    def advance(self, model: Model, state: Answer, steps: int) -> None:
        if steps == 0 or state.done:
            return
        import warnings

        n, r = model.Z.shape
        limit = int(min(MOST, max(100.0, self.seconds * RATE / (n * (r + 10)))))
        machine = library("sklearn.svm").OneClassSVM(
            kernel="linear",
            nu=1.0 / n,
            tol=max(aim(self.tol), FINEST),
            shrinking=False,
            cache_size=MEBIBYTES,
            max_iter=limit,
        )
        machine.random_state = 0  # it takes none when it is made, and would ask numpy for a seed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it ended early: the claim says it
            machine.fit(model.Z)
        weights = np.zeros(n)
        weights[machine.support_] = machine.dual_coef_[0]
        state.take(weights, ended=True, optimal=int(machine.n_iter_) < limit)


ENTRY = SolverEntry(
    name="sklearn_svm",
    make=SklearnSvm,
    label="one-class SVM (libsvm)",
    reference="Schölkopf et al. 2001; Chang and Lin 2011 (LIBSVM); Pedregosa et al. 2011",
    law="linear: pairwise steps of second order",
    kinds=frozenset({Kind.CONVEX}),
    queries=Queries.ANY,
    sampling=Sampling.ONCE,
    promise=1e-6,
    library="scikit-learn",
)
