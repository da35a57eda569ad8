r"""The judge alone says how good a point is; it never asks the solver and never runs on the clock.

From the points and weights that a solver returned it recomputes everything in float64 and centred
coordinates: the gap as :math:`\sum_i w_i (s_i - \min s)`, which is never negative and keeps its
digits, the value from f(μ), and how far the weights are from being weights.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind, through, transposed
from fwbench.problem import QuadraticOverHull
from fwbench.solver import SolverEntry, inside

Array = NDArray[np.float64]

BUDGET = 4 * 10**9  # multiply-adds a run
LOOSE = 1e-9  # the least violation that makes a run infeasible
FLOAT32, FLOAT32_MOST = 1e-5, 1e-3  # the same where atoms are float32: it grows with the steps
FOUND = 32  # for so many queries the judge finds weights where a solver gives none
BLOCK = 2**22  # entries of a block of scores
EPSILON = float(np.finfo(np.float64).eps)


def _finite(numbers: Array) -> bool:
    """Say whether all numbers are finite; one product tells it but for numbers beyond 10¹⁵⁰."""
    square = np.vdot(numbers, numbers)  # no ufunc: it warns of nothing
    return math.isfinite(square) or bool(np.isfinite(numbers).all())


@dataclass(frozen=True, eq=False)
class Look:
    """One checkpoint, judged.

    Attributes
    ----------
    offset : ndarray, shape (m, d)
        The judged points from the mean: those of the repaired weights where there are weights.
    gaps : ndarray, shape (m,)
    values : ndarray, shape (m,) or None
        Centred; None without a potential.
    row : dict
        Columns of the trace.
    """

    offset: Array
    gaps: Array
    values: Array | None
    row: dict[str, Any]

    @property
    def finite(self) -> bool:
        """Whether every number is one."""
        return _finite(self.offset)


class Judge:
    """Looks at checkpoints of one run.

    Parameters
    ----------
    problem : QuadraticOverHull
    moving : bool
        Keys are the current tokens: the gap that counts is against their hull.
    inside : bool
        False for models that leave the hull by design: no gap, no feasibility.
    clouds : int
        Of how many separate clouds, one behind the other, the points are: keys that move are those
        of a point's own cloud.
    """

    def __init__(
        self,
        problem: QuadraticOverHull,
        *,
        moving: bool = False,
        inside: bool = True,
        clouds: int = 1,
    ) -> None:
        self.problem, self.moving, self.inside, self.clouds = problem, moving, inside, clouds
        self.lower = -np.inf  # the best certified bound so far, centred
        # what the coordinates of a point lose by being stored far from 0
        self.stored = 8 * EPSILON * (float(np.linalg.norm(problem.mean)) + problem.radius)
        self.sample: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, problem: QuadraticOverHull, entry: SolverEntry, solver: Any) -> Judge:
        """Return the judge of a solver's runs, as the solver describes itself."""
        return cls(
            problem,
            moving=bool(getattr(solver, "moving", False)),
            inside=inside(entry, solver),
            clouds=getattr(solver, "replicas", 1),
        )

    def every(self, m: int, looks: int) -> int:
        """Return how many checkpoints apart looks must be to stay in the budget of a run."""
        cost = m * self.problem.n * self.problem.d
        stride = 1
        while cost * looks / stride > BUDGET and looks / stride > 16:
            stride *= 2
        queries = int(BUDGET / max(self.problem.n * self.problem.d * looks / stride, 1))
        if queries < m:
            rng = np.random.default_rng(0)
            self.sample = np.sort(rng.choice(m, max(queries, 1), replace=False))
        return stride

    def quiet(self) -> AbstractContextManager[object]:
        """Return a context without warnings of overflow where points may leave the hull."""
        return nullcontext() if self.inside else np.errstate(over="ignore", invalid="ignore")

    def look(self, points: Array, weights: Combinations | None, *, last: bool = False) -> Look:
        """Judge points (m, d) and, where they are known, their weights.

        With `last`, weights are found (non-negative least squares) for at most 32 queries if the
        solver gave none; of more, a sample of 32 is asked whether it lies in the hull. O(mnd).
        """
        if self.inside:
            return self._look(points, weights, last=last)
        with self.quiet():
            look = self._look(points, weights, last=last)
        if all(n is None or math.isfinite(n) for n in look.row.values()):
            return look
        # it grew until scores overflow: who leads is not known any more
        nothing = np.full_like(look.offset, np.nan)
        return Look(nothing, np.full(len(nothing), np.nan), None, {})

    def _look(self, points: Array, weights: Combinations | None, *, last: bool) -> Look:
        problem = self.problem
        points = np.asarray(points, dtype=np.float64)
        if weights is not None and len(points) == 1 and self.inside and not self.moving:
            return self._look_at_one(points, weights)
        everyone = points - problem.mean
        if self.sample is not None:
            points = points[self.sample]
            weights = None if weights is None else _picked(weights, self.sample)
        offset, feasibility, support = points - problem.mean, None, None
        if not np.isfinite(offset).all():
            return Look(offset, np.full(len(offset), np.nan), None, {})
        if weights is None and last and self.inside:
            if len(points) <= FOUND:
                weights = self.found(offset)
            else:  # a fixed sample says whether the points lie in the hull at all
                some = np.random.default_rng(0).choice(len(points), FOUND, replace=False)
                feasibility = self.violation(offset[some], self.found(offset[some]))
        rows = None
        if weights is not None and np.isfinite(weights.data).all():
            rows = problem.offsets(weights.keys)
            feasibility = self.violation(offset, weights, rows)
            weights = weights.repaired()
            support = _support(weights)
            offset = weights.averages(rows)
            if self.sample is None:  # exact offsets: points far from 0 lost digits when stored
                everyone = offset
        elif weights is not None:
            return Look(np.full_like(offset, np.nan), np.full(len(offset), np.nan), None, {})
        field = problem.centred_field(offset)
        gaps = np.full(len(offset), np.nan)
        if self.inside:
            gaps = self._gaps(offset, field, weights, rows)
        if weights is not None:  # no weight at all is no point of the hull: it bounds nothing
            gaps[~(weights.sums() > 0)] = np.inf
        values = problem.centred_value(offset, field) if problem.kind.has_potential else None
        row: dict[str, Any] = {"support": support, "feasibility": feasibility}
        if self.inside:
            row |= {"gap": float(gaps.max()), "gap_median": _median(gaps)}
        if values is not None:
            worst = float(values.max())
            row |= {
                "value_centred": worst,
                "value": worst + problem.value_at_mean,
                "value_median": _median(values) + problem.value_at_mean,
            }
        if problem.kind is Kind.CONVEX and self.inside and values is not None:
            self.lower = max(self.lower, float((values - gaps).max()))
            row |= {"lower_centred": self.lower, "lower": self.lower + problem.value_at_mean}
        if len(everyone) > 1:
            row["spread"] = max(map(diameter, np.split(everyone, self.clouds)))
            row["energy"] = self.energy(everyone)
        if self.moving and self.inside:
            clouds = np.split(everyone, self.clouds)
            row["gap_current"] = max(float(self._current_gaps(cloud).max()) for cloud in clouds)
        return Look(offset, gaps, values, row)

    def _look_at_one(self, points: Array, weights: Combinations) -> Look:
        """Judge one point with weights: what `look` does, without loops over queries.

        A run of few steps is mostly this: so `dot` and `reduce`, which give the bits of `@` and
        `sum` in half the time.
        """
        problem, w = self.problem, np.asarray(weights.data)
        rows = problem.offsets(weights.keys)
        offset = points[0] - problem.mean
        if not (_finite(w) and _finite(offset)):
            return Look(np.full((1, problem.d), np.nan), np.full(1, np.nan), None, {})
        off = offset - w.dot(rows)
        apart = max(math.sqrt(off.dot(off)) - self.stored, 0.0) / (problem.radius or 1.0)
        total = float(np.add.reduce(w))
        least = float(w[w.argmin()]) if len(w) else 0.0
        violated = max(0.0, -least, abs(total - 1), apart)
        if least < 0:
            w = np.maximum(w, 0.0)
            total = float(np.add.reduce(w))
        if total > 0:
            w = w / total
        offset = w.dot(rows)
        field = problem.centred_field(offset)
        slack = rows.dot(field)
        slack -= problem.least_score(field)
        gap = float(w.dot(np.maximum(slack, 0.0))) if total > 0 else np.inf
        row: dict[str, Any] = {
            "support": int(np.count_nonzero(w)),
            "feasibility": violated,
            "gap": gap,
            "gap_median": gap,
        }
        values = None
        if problem.kind.has_potential:
            value = 0.5 * float(np.add.reduce((field + problem.centred_c) * offset))
            values = np.array([value])
            row["value_centred"] = value
            row["value"] = row["value_median"] = value + problem.value_at_mean
            if problem.kind is Kind.CONVEX:
                self.lower = max(self.lower, value - gap)
                row["lower_centred"] = self.lower
                row["lower"] = self.lower + problem.value_at_mean
        return Look(offset[None, :], np.array([gap]), values, row)

    def allowed(self, steps: int, tol: float) -> float:
        """Return the violation from which on a run of so many steps is infeasible."""
        if self.problem.dtype == np.float64:
            return max(LOOSE, tol)
        rounding = float(np.finfo(np.float32).eps) * steps
        return max(min(max(FLOAT32, rounding), FLOAT32_MOST), tol)

    def certified(self, look: Look) -> float | None:
        """Return what a tolerance is compared with, of the scale; None without a gap.

        The worst query's gap (keys moving: against the tokens' own hull), or, on a convex problem,
        its distance to the best lower bound so far.
        """
        if not self.inside or (look.values is None and not look.finite):
            return None
        if self.moving:
            gap = look.row["gap_current"]
        else:
            gap = look.row["gap"]
            if self.problem.kind is Kind.CONVEX and look.values is not None:
                gap = min(gap, look.row["value_centred"] - self.lower)
        return float(max(gap, 0.0) / self.problem.scale) if self.problem.scale else 0.0

    @cached_property
    def _slope(self) -> Array:
        """The gradient of ½⟨x, Qx⟩ + ⟨c, x⟩ at μ: half of Q is transposed there, shape (d,)."""
        problem, chain = self.problem, self.problem.form.chain()
        if problem.kind.has_potential:
            return problem.centred_c
        turned = through(transposed(chain), problem.mean) - through(chain, problem.mean)
        return np.asarray(problem.centred_c + turned / 2)

    def energy(self, offset: Array) -> float:
        """Return the mean of ½⟨x, Qx⟩ + ⟨c, x⟩ over points μ + offset (m, d), less that at μ.

        The mean value, where there is an f. Of a field it is no potential: ½(Q + Q') alone acts.
        """
        half = self.problem.form.apply(offset) / 2
        return float(((half + self._slope) * offset).sum(axis=1).mean())

    def _gaps(
        self, offset: Array, field: Array, weights: Combinations | None, rows: Array | None
    ) -> Array:
        """Return each query's gap against the hull, shape (m,).

        `field` is F at the points; `rows` are the offsets of the atoms that the weights name.
        """
        problem = self.problem
        if len(offset) > 1 and not problem.in_memory:  # a pass a query
            each = []
            for q in range(len(offset)):
                part = None if weights is None else slice(*weights.indptr[q : q + 2])
                one = None if weights is None else weights.one(q)
                few = None if rows is None or part is None else rows[part]
                each.append(self._gaps(offset[q : q + 1], field[q : q + 1], one, few))
            return np.concatenate(each)
        if len(offset) == 1:  # one pass over the atoms as they are, no array of their size
            best = problem.least_score(field[0])
            if weights is None or rows is None:
                return np.asarray(np.maximum(field @ offset[0] - best, 0.0))
            slack = rows @ field[0] - best
            return np.array([weights.data @ np.maximum(slack, 0.0)])
        gaps = np.empty(len(offset))
        room = max(1, BLOCK // problem.n)
        for first in range(0, len(offset), room):
            block = slice(first, first + room)
            scores = field[block] @ problem.centred.T
            least = scores.min(axis=1)
            if weights is None:  # rounding may leave it below 0
                own = (field[block] * offset[block]).sum(axis=1)
                gaps[block] = np.maximum(own - least, 0.0)
                continue
            for q in range(first, min(first + room, len(offset))):
                one = weights.one(q)
                slack = scores[q - first, one.keys] - least[q - first]
                gaps[q] = (one.data * slack).sum()
        return gaps

    def _current_gaps(self, cloud: Array) -> Array:
        """Return each token's gap against the hull of the tokens, shape (m,)."""
        centred = cloud - cloud.mean(axis=0)
        field = self.problem.centred_field(cloud)
        gaps = np.empty(len(cloud))
        rows = max(1, BLOCK // len(cloud))
        for first in range(0, len(cloud), rows):
            block = slice(first, first + rows)
            scores = field[block] @ centred.T
            own = (field[block] * centred[block]).sum(axis=1)
            gaps[block] = own - scores.min(axis=1)
        return np.maximum(gaps, 0.0)

    def violation(self, offset: Array, weights: Combinations, rows: Array | None = None) -> float:
        """Return how far weights, as returned, are from convex weights of the points.

        The largest of −min w, |Σw − 1| and ‖x − V'w‖/radius; what the coordinates of x lose by
        being stored far from 0 is no fault of the solver. `rows` are the offsets of the atoms
        that the weights name, where they are known already.
        """
        problem = self.problem
        rows = problem.offsets(weights.keys) if rows is None else rows
        off = offset - weights.averages(rows)
        away = np.sqrt((off * off).sum(axis=1))
        stored = self.stored
        apart = np.maximum(away - stored, 0.0).max() / (problem.radius or 1.0)
        negative = max(0.0, float(-weights.data.min(initial=0.0)))
        return float(max(negative, np.abs(weights.sums() - 1).max(), apart))

    def found(self, offset: Array) -> Combinations:
        """Find weights of points (m, d) by non-negative least squares on [V'/radius; 1'] w."""
        from scipy.optimize import nnls

        problem = self.problem
        radius = problem.radius or 1.0  # in its units entries of 1e-21 are not taken for 0
        A = np.vstack([problem.centred.T / radius, np.ones(problem.n)])
        each = [nnls(A, np.append(x / radius, 1.0), maxiter=30 * problem.n)[0] for x in offset]
        return Combinations.from_dense(np.vstack(each))


def _picked(weights: Combinations, sample: NDArray[np.int64]) -> Combinations:
    return Combinations.joined([weights.one(int(q)) for q in sample])


def _support(weights: Combinations) -> int:
    """Return the largest number of atoms with a positive weight."""
    positive = weights.data > 0
    if weights.m == 1:
        return int(np.count_nonzero(positive))
    return int(np.bincount(weights.query[positive], minlength=weights.m).max())


def _median(values: Array) -> float:
    return float(values[0] if len(values) == 1 else np.median(values))


def diameter(cloud: Array) -> float:
    """Return the largest distance between two rows of a cloud (m, d); O(m²d), in blocks.

    Examples
    --------
    >>> diameter(np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]]))
    5.0
    """
    largest = float(np.abs(cloud).max())
    if not 0 < largest < math.inf:
        return largest
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1)  # squares of huge or tiny numbers are none
    cloud = cloud / unit
    centred = cloud - cloud.mean(axis=0)  # so that what cancels below is of the cloud's own size
    squares = (centred**2).sum(axis=1)
    rows, best = max(1, BLOCK // len(cloud)), 0.0
    for i in range(0, len(cloud), rows):
        halves = squares[i : i + rows, None] / 2 + squares / 2 - centred[i : i + rows] @ centred.T
        p, q = np.unravel_index(halves.argmax(), halves.shape)
        best = max(best, float(np.linalg.norm(cloud[i + p] - cloud[q])))
    return best * unit
