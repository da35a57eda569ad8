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
from fwbench.geometry.programs import compact, shares
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

    Attributes
    ----------
    problem : QuadraticOverHull
    coordinates : ndarray, shape (n, p)
        Centred atoms in coordinates of Q; norms at most 1.
    linear : ndarray, shape (n,)
        Scores at the mean; at most 1.
    shift : ndarray, shape (p,), or None
        With linear = coordinates @ shift, where there is such a vector.
    """

    problem: QuadraticOverHull
    coordinates: Array
    linear: Array
    shift: Array | None

    @cached_property
    def Y(self) -> Array:
        """The coordinates, at most n of them, shape (n, r)."""
        return compact(self.coordinates)

    @cached_property
    def shifted(self) -> Array | None:
        """Points Z, shape (n, r), with ½‖Z'w‖² the value up to a constant; None without a shift."""
        return None if self.shift is None else compact(self.coordinates + self.shift)


def unit(problem: QuadraticOverHull) -> Unit:
    """Return a convex problem in its units; O(nd²)."""
    scale = problem.scale or 1.0
    centred, field, form = problem.centred, problem.centred_c, problem.form
    linear = centred @ field / scale
    if isinstance(form, Scalar | Diagonal) and np.min(form.q) >= 0:
        Y, _, _ = form.factors(centred)
        q = np.broadcast_to(form.q, field.shape)
        shift = field[q > 0] / np.sqrt(q[q > 0])
    elif (root := semidefinite_root(form)) is not None:
        if len(root) > problem.d:
            root = np.asarray(np.linalg.qr(root, mode="r"))
        Y, shift = centred @ root.T, _preimage(root.T, field, orthogonal=isinstance(form, Dense))
    else:  # Q itself is not semidefinite, only along the hull (or but for rounding)
        left, _, signs = form.factors(centred)
        Y = along(left, signs)
        shift = _preimage(Y, linear * scale)
    Y, shift = Y / np.sqrt(scale), shift / np.sqrt(scale)
    if not linear.any():
        shift = np.zeros(Y.shape[1])
    away = float(np.linalg.norm(shift))
    left_over = float(np.abs(linear - Y @ shift).max())
    near = away <= FARTHEST and left_over <= ABSORBED * max(away, 1.0)
    return Unit(problem, Y, linear, shift if near else None)


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
        """Take what a code returned: None where it has no answer yet."""
        if weights is not None:
            self.combination = Combinations.from_dense(weights[None, :])
        self.steps, self.done = steps, ended
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
    """The model of a code whose workspaces are used once."""

    problem: QuadraticOverHull
    fresh: Fresh

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
