r"""What solvers that call a foreign code share: the problem in units, the answer, the limits.

All of them get the problem in the centred coordinates of Q and in units of its scale, so that no
digit is lost to an offset and a code's absolute tolerances mean the same on every problem.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import MissingExtra, Refused
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Dense, Diagonal, Scalar, along, semidefinite_root
from fwbench.geometry.inputs import read_only
from fwbench.geometry.programs import LeastDistance, ahead, compact, homogeneous, shares
from fwbench.kernels.passes import centred_product, placed
from fwbench.problem import QuadraticOverHull

Array = NDArray[np.float64]
T = TypeVar("T")

AIM = 0.1  # of the tolerance: residuals of a code add up in the gap
TIGHTEST = 1e-14  # of the scale: below, a code would look for digits that doubles do not hold
ABSORBED = 1e-13  # of the scale: what may be left of an absorbed linear term
FARTHEST = 100.0  # points farther out, in units, lose more digits than a tolerance of 1e-12 leaves
BEYOND = (
    "the linear term of this convex problem is no shift of its points (Q is singular along it, or "
    "the shift is so long that digits are lost), so no point of least norm is sought"
)


@dataclass(frozen=True, eq=False)
class Unit:
    """Minimise ½‖Y'w‖² + ⟨linear, w⟩ over the simplex: a convex problem in units of its scale.

    Arrays of n rows are made when a form of the problem asks for them.

    Attributes
    ----------
    problem : QuadraticOverHull
    place : callable
        Returns the centred atoms in coordinates of Q, moved by a vector (None: not moved), and,
        where it is asked to, with a last column of ones; shape (n, p) or (n, p + 1). Norms are at
        most 1 before they are moved.
    shift : ndarray, shape (p,), or None
        With linear = coordinates @ shift, where there is such a vector.
    """

    problem: QuadraticOverHull
    place: Callable[[Array | None, bool], Array]
    shift: Array | None

    @cached_property
    def linear(self) -> Array:
        """Scores at the mean, shape (n,); at most 1."""
        return _linear(self.problem)

    @cached_property
    def Y(self) -> Array:
        """The coordinates, at most n of them, shape (n, r)."""
        return compact(self.place(None, False))

    @cached_property
    def shifted(self) -> Array | None:
        """Points Z, shape (n, r), with ½‖Z'w‖² the value up to a constant; None without a shift."""
        return None if self.shift is None else compact(self.place(self.shift, False))

    @cached_property
    def homogeneous(self) -> Array | None:
        """The shifted points with a column of ones, shape (n, r + 1); None without a shift."""
        if self.shift is None:
            return None
        if len(self.shift) <= self.problem.n:
            return self.place(self.shift, True)
        return homogeneous(compact(self.place(self.shift, False)))

    @cached_property
    def ahead(self) -> bool:
        """Whether the shifted points are plainly beyond a hyperplane: their mean is the shift."""
        if self.shift is None:
            return False
        size = float(self.shift @ self.shift)
        _, scores = self.problem.leaders_at_mean
        return ahead(size, size + float(scores.min()) / (self.problem.scale or 1.0))

    @cached_property
    def least_distance(self) -> LeastDistance | None:
        """The programme of which the shifted points' hull gives the solution; None without."""
        rows = self.shifted if self.ahead else self.homogeneous
        if self.shift is None or rows is None:
            return None
        return LeastDistance(rows, float(self.shift @ self.shift) + (not self.ahead))


def unit(problem: QuadraticOverHull) -> Unit:
    """Return a convex problem in its units; O(nd²), with a diagonal Q no pass at all."""
    form = problem.form
    if isinstance(form, Scalar | Diagonal) and np.min(form.q) >= 0:
        return _along_axes(problem, np.broadcast_to(form.q, (problem.d,)))
    return _mapped(problem)


def _along_axes(problem: QuadraticOverHull, q: Array) -> Unit:
    """Return the units of a problem with Q = diag(q), q >= 0."""
    scale, field, used = problem.scale or 1.0, problem.centred_c, q > 0
    factors = np.sqrt(q[used]) / np.sqrt(scale)

    def place(shift: Array | None, ones: bool) -> Array:
        atoms = problem.packed
        if not used.all():
            atoms = read_only(np.ascontiguousarray(atoms[:, used]))
        moved = np.zeros(len(factors)) if shift is None else shift
        points = np.empty((problem.n, len(factors) + ones))
        placed(atoms, problem.mean[used], factors, moved, points)
        return points

    if problem.scale == problem.quadratic_scale:
        return Unit(problem, place, np.zeros(len(factors)))
    shift = field[used] / np.sqrt(q[used]) / np.sqrt(scale)
    rest, left_over = np.where(used, 0.0, field), 0.0
    if rest.any():
        left_over = -min(problem.least_score(rest), problem.least_score(-rest)) / scale
    return Unit(problem, place, _near(shift, left_over))


def _mapped(problem: QuadraticOverHull) -> Unit:
    """Return the units of a problem with any Q."""
    scale = problem.scale or 1.0
    centred, field, form = problem.centred, problem.centred_c, problem.form
    if (root := semidefinite_root(form)) is not None:
        if len(root) > problem.d:
            root = np.asarray(np.linalg.qr(root, mode="r"))
        Y, shift = centred @ root.T, _preimage(root.T, field, orthogonal=isinstance(form, Dense))
    else:  # Q itself is not semidefinite, only along the hull (or but for rounding)
        left, _, signs = form.factors(centred)
        Y = along(left, signs)
        shift = _preimage(Y, _linear(problem) * scale)
    Y, shift = Y / np.sqrt(scale), shift / np.sqrt(scale)

    def place(shift: Array | None, ones: bool) -> Array:
        points = Y if shift is None else Y + shift
        return homogeneous(points) if ones else points

    linear = _linear(problem)
    if not linear.any():
        shift = np.zeros(Y.shape[1])
    return Unit(problem, place, _near(shift, float(np.abs(linear - Y @ shift).max())))


def _linear(problem: QuadraticOverHull) -> Array:
    """Return the scores at the mean in units of the scale, shape (n,); one pass."""
    scores = np.empty(problem.n)
    field = problem.centred_c / (problem.scale or 1.0)
    centred_product(problem.packed, problem.mean, field, 0, problem.n, scores)
    return scores


def _near(shift: Array, left_over: float) -> Array | None:
    """Return a shift, or None if it is too long or leaves some of the linear term over."""
    away = float(np.linalg.norm(shift))
    near = away <= FARTHEST and left_over <= ABSORBED * max(away, 1.0)
    return shift if near else None


def _preimage(matrix: Array, image: Array, *, orthogonal: bool = False) -> Array:
    """Return p with matrix p = image, or nearly so where there is none."""
    if orthogonal:
        return np.asarray(image @ matrix / (matrix**2).sum(axis=0))
    from scipy.linalg import lstsq

    return np.asarray(lstsq(matrix, image, lapack_driver="gelsy", check_finite=False)[0])


def points_of_least_norm(problem: QuadraticOverHull) -> Array:
    """Return points (n, r) of which conv's point of least norm has the weights that are sought.

    Raises
    ------
    Refused
        Where there are none.
    """
    if (shifted := unit(problem).shifted) is None:
        raise Refused(BEYOND)
    return shifted


def beyond(problem: QuadraticOverHull) -> str | None:
    """Return why a problem is not one of least norm, or None."""
    return BEYOND if unit(problem).shift is None else None


@dataclass(eq=False)
class Answer:
    """The start, then what a code answered: weights as it returned them.

    `done` says that the code ended by itself; `claim`, that it called its answer optimal.
    """

    problem: QuadraticOverHull
    combination: Combinations
    steps: int = 0
    done: bool = False
    claim: str | None = None
    counters: None = field(default=None)

    def points(self) -> Array:
        """Return the point of the weights, shape (1, d)."""
        offsets = self.problem.offsets(self.combination.keys)
        return np.asarray(self.problem.mean + self.combination.averages(offsets))

    def weights(self) -> Combinations:
        """Return the weights as the code gave them, negative ones included."""
        return self.combination

    def take(self, weights: Array | None, *, ended: bool, optimal: bool, steps: int = 1) -> None:
        """Take what a code returned: None where it has no answer, so nothing to call optimal."""
        self.steps, self.done, self.claim = steps, ended, None
        if weights is not None:
            self.combination = Combinations.from_dense(weights[None, :])
            self.claim = "optimal" if optimal else None

    def take_multipliers(
        self, multipliers: Array, *, ended: bool, optimal: bool, steps: int = 1
    ) -> None:
        """Take multipliers of a dual programme: divided by their sum they are the weights."""
        self.take(shares(multipliers), ended=ended, optimal=optimal, steps=steps)


class Fresh:
    """Workspaces of a code that remembers its last run: each is used once.

    Parameters
    ----------
    make : callable
        Sets a workspace up; called at once, then by `renew`.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._ready = [make()]

    def renew(self) -> None:
        """See that a workspace is ready: for `init`, which no curve counts."""
        if not self._ready:
            self._ready.append(self._make())

    def take(self) -> Any:
        """Return a workspace that has never run."""
        return self._ready.pop() if self._ready else self._make()


@dataclass(frozen=True, eq=False)
class Foreign:
    """The model of a code whose workspaces are used once.

    `sign` is that of the code's multipliers, where they are weights.
    """

    problem: QuadraticOverHull
    fresh: Fresh
    sign: float = 1.0

    def begin(self, start: Combinations) -> Answer:
        """Return the state before the code runs, and have a workspace ready for it."""
        self.fresh.renew()
        return Answer(self.problem, start.one(0))


def library(name: str) -> Any:
    """Import a library of the extra `peers`.

    Raises
    ------
    MissingExtra
        With the install command.

    Examples
    --------
    >>> library("no_such_code")
    Traceback (most recent call last):
    ...
    fwbench.errors.MissingExtra: no_such_code is not installed: pip install 'fwbench[peers]'
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = {"sklearn": "scikit-learn"}.get(name.partition(".")[0], name)
        raise MissingExtra(f"{package} is not installed: pip install 'fwbench[peers]'") from error


def bounded(solver: T, tol: float, seconds: float) -> T:
    """Return a solver with its fields `tol` and `seconds` filled in."""
    other = copy.copy(solver)
    for name, value in (("tol", tol), ("seconds", seconds)):
        object.__setattr__(other, name, float(value))
    return other


def aim(tol: float, reach: float = 1.0) -> float:
    """Return the absolute tolerance of a code from the relative gap that is wanted.

    Examples
    --------
    >>> aim(1e-8), aim(1e-8, reach=10.0), aim(1e-30)
    (1e-09, 1e-10, 1e-14)
    """
    return max(AIM * tol / max(reach, 1.0), TIGHTEST)
