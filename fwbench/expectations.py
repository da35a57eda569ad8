"""One run held against what a test expects of it: how it ended, its gap, where it rests."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwbench.analysis import fixed_points
from fwbench.analysis.moves import APART
from fwbench.endings import Budget
from fwbench.errors import InvalidParameter, brief, nearest
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Run
from fwbench.shapes import integer, number
from fwbench.trace import Columns, Status

Array = NDArray[np.float64]

# ends that do not depend on the pace of the machine, and are no failures
ENDED = frozenset({Status.CONVERGED, Status.FINISHED, Status.BUDGET, Status.STALLED})


@dataclass(frozen=True, eq=False)
class Expected:
    """What a test asks of a run.

    Attributes
    ----------
    tol : float
        Relative to the problem's scale: the certified gap at which the run stops.
    gap : float or None
        The largest certified gap at the end, of the scale; None: the tolerance. Not below it;
        ``math.inf`` asks for none.
    max_steps : int
    max_seconds : float
    fixed_point : str or None
        Where all queries are to rest: a class, or a class with its label as reports print it
        (``"vertex"``, ``"vertex, atom 3"``, ``"face, dimension 2"``).
    at : array_like, shape (d,) or (m, d), or None
        Where the queries are to end, all at one point or each at its own, within 10⁻³ of the
        problem's radius.

    Raises
    ------
    InvalidParameter
        Names the argument.

    Examples
    --------
    >>> Expected(gap=1e-3).asked, Expected(tol=1e-6).asked
    (0.001, 1e-06)
    """

    tol: float = Budget.tol
    gap: float | None = None
    max_steps: int = Budget.max_steps
    max_seconds: float = Budget.max_seconds
    fixed_point: str | None = None
    at: ArrayLike | None = None

    def __post_init__(self) -> None:
        limits = {"tol": self.tol, "max_seconds": self.max_seconds, "max_steps": self.max_steps}
        if self.gap is not None and self.gap != math.inf:
            limits["gap"] = self.gap
        for name, limit in limits.items():
            wrong = integer(limit) if name == "max_steps" else number(limit)
            if wrong := wrong or ("" if limit > 0 else f"must be positive; got {limit}"):
                raise InvalidParameter(f"{name} {wrong}")
        if self.asked < self.tol:
            raise InvalidParameter(
                f"gap must not be below tol, at which the run stops; got gap={self.gap:g} and "
                f"tol={self.tol:g} (tol={self.gap:g}?)"
            )
        if self.fixed_point is not None:
            _refuse_unknown(self.fixed_point)
        if self.at is not None:
            _points(self.at)

    @property
    def asked(self) -> float:
        """The largest certified gap, of the scale."""
        return self.tol if self.gap is None else self.gap

    @property
    def budget(self) -> Budget:
        """What the run may use."""
        return Budget(tol=self.tol, max_steps=self.max_steps, max_seconds=self.max_seconds)

    def hold(self, run: Run, problem: QuadraticOverHull, *, moving: bool, name: str) -> Certified:
        """Return a run that is as expected.

        Parameters
        ----------
        run : Run
        problem : QuadraticOverHull
        moving : bool
            Whether the keys are the current tokens: then the gap is that to these.
        name : str
            Of the solver on the problem, for the sentences.

        Raises
        ------
        AssertionError
            With a sentence that says what is not.
        InvalidParameter
            There is nothing to be run, or `at` does not fit the queries.
        """
        if run.status not in ENDED:
            raise AssertionError(f"{name} ended with the status {run.status}: {run.reason}")
        if not run.row["steps"]:
            raise InvalidParameter(
                f"{name} takes no step, the start is the answer already: there is nothing to be "
                "timed; give the problem another start (start=…) or the run a smaller tol"
            )
        gap = certified_gap(run, problem, moving=moving)
        if gap is None and self.asked != math.inf:
            raise AssertionError(
                f"{name}: nothing certifies a gap, the points may leave the hull "
                "(gap=math.inf asks for none)"
            )
        if gap is not None and not gap <= self.asked:
            raise AssertionError(
                f"{name}: certified gap {gap:.3g} of the scale, at most {self.asked:g} was asked "
                f"for ({run.status}: {run.reason})"
            )
        kind, label = fixed_points.common(places(run, problem)) if run.rest else (None, "")
        rests = f"{kind}, {label}" if label else f"{kind}"
        if self.fixed_point is not None and not f"{rests}, ".startswith(f"{self.fixed_point}, "):
            raise AssertionError(f"{name} rests at: {rests}; expected: {self.fixed_point}")
        if self.at is not None:
            _near(run, problem, _points(self.at), name)
        return Certified(
            status=run.status,
            reason=run.reason,
            steps=run.row["steps"],
            value=run.row.get("value"),
            gap=None if gap is None else gap * problem.scale,
            gap_relative=gap,
            points=np.asarray(run.points),
            fixed_point=None if kind is None else str(kind),
            fixed_point_label=label,
            trace=run.trace.columns,
        )


@dataclass(frozen=True, eq=False)
class Certified:
    """A run that is as a test expects it.

    Attributes
    ----------
    status : Status
    reason : str
        Why it ended, in words.
    steps : int
    value, gap : float or None
        The worst query's, in units of f; None where there is no potential, no certificate.
    gap_relative : float or None
        Of the problem's scale: what was held against the largest gap that was asked for.
    points : ndarray, shape (m, d)
        Where the queries ended.
    fixed_point, fixed_point_label : str
        As in the tables.
    trace : dict of lists
        The judged checkpoints.
    """

    status: Status
    reason: str
    steps: int
    value: float | None
    gap: float | None
    gap_relative: float | None
    points: Array = field(repr=False)
    fixed_point: str | None
    fixed_point_label: str
    trace: Columns = field(repr=False)

    @property
    def x(self) -> Array:
        """The point of the one query, shape (d,); of several the points, (m, d)."""
        return np.asarray(self.points[0]) if len(self.points) == 1 else self.points


def certified_gap(run: Run, problem: QuadraticOverHull, *, moving: bool) -> float | None:
    """Return the gap of the last point, of the scale: what a run stops on; None without one."""
    if not moving:
        found: float | None = run.row.get("gap_relative")
        return found
    last = run.trace.last("gap_current")
    return None if last is None else float(last) / (problem.scale or 1.0)


def places(run: Run, problem: QuadraticOverHull) -> list[fixed_points.FixedPoint]:
    """Name the place where each query of a run rests; [] where that is not known."""
    if not run.rest:
        return []
    return fixed_points.places({"rest": run.rest, "row": {"kind": str(problem.kind)}})


def _refuse_unknown(place: Any) -> None:
    if not isinstance(place, str):
        raise InvalidParameter(
            f"fixed_point must be a text; got {brief(place)} (at=… takes points)"
        )
    kind = place.partition(",")[0]
    known = [str(one) for one in fixed_points.Class]
    if kind not in known:
        raise InvalidParameter(f"fixed_point={place!r} is no class; {nearest(kind, known)}")


def _points(at: ArrayLike) -> Array:
    try:
        points = np.asarray(at, dtype=float)
    except (TypeError, ValueError):
        raise InvalidParameter(f"at must hold numbers; got {brief(at)}") from None
    if not np.isfinite(points).all():
        raise InvalidParameter("at must hold finite numbers; got some that are not")
    return points


def _near(run: Run, problem: QuadraticOverHull, expected: Array, name: str) -> None:
    """Raise where a query did not end at its point."""
    points = np.asarray(run.points)
    if expected.shape not in (points.shape, points.shape[1:]):
        m, d = points.shape
        raise InvalidParameter(
            f"at must have shape (d,) = ({d},), one point for all queries, or (m, d) = ({m}, {d}), "
            f"one for each; got {expected.shape}"
        )
    away = np.linalg.norm(points - expected, axis=1) / (problem.radius or 1.0)
    worst = int(away.argmax())
    if away[worst] > APART:
        which = f", query {worst} of {len(away)}" if len(away) > 1 else ""
        raise AssertionError(
            f"{name} ended {away[worst]:.3g} of the radius from the expected point{which}; "
            f"{APART:g} is allowed"
        )
