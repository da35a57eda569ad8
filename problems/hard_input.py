r"""Small inputs on which solvers of this problem are known to have failed, one name each.

Most come from the public trackers of Frank-Wolfe, nearest-point, optimal-transport and QP codes:
an endless loop, a division by zero, a wrong answer called optimal. A solver that is right on all of
them ends every run with a status, weights that are weights, and the certified value.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fwbench.errors import InvalidParameter, nearest
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored
from fwbench.problem import ProblemEntry, QuadraticOverHull

TRIANGLE = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, -1.0]])  # nearest to the origin: (3/2, 1/2)
SPOT = (0.1, 0.7, -0.3)  # no double is
SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
FAR = 1e8
TINY, HUGE = 2.0**-70, 2.0**57  # 8e-22 and 1e17, without rounding
CLOSE = 2.0**-27  # 7e-9
WEIGHT = 2.0**-20  # 1e-6
BENT = np.array([-1.1288727436149466, -0.989133492364185])
GRADIENTS = np.array([[1.1, 0.3], [-0.4, 0.9], [0.2, 1.7]])


class Hard(NamedTuple):
    """A problem, what went wrong on it and where, and its least value where it is known.

    Attributes
    ----------
    symptom : str
    build : callable
    optimum : Fraction or None
        Exact for the numbers as written; where Q or the atoms are rounded, up to that rounding.
    """

    symptom: str
    build: Callable[[], QuadraticOverHull]
    optimum: Fraction | None


def _of(atoms: Any, Q: Any = 1.0, c: Any = None, start: Any = None) -> Callable[[], Any]:
    return lambda: QuadraticOverHull(atoms, Q, c, start=start)


def _weighted(*weights: float) -> Combinations:
    return Combinations.from_dense([weights])


def _enclosing_ball(points: Any, start: Combinations | None = None) -> Callable[[], Any]:
    """Return the least ball around points p: v = (p, ‖p‖²), f = ‖x‖² − height, f* = −r²."""
    flat = np.array(points, dtype=float)
    atoms = np.column_stack([flat, (flat**2).sum(axis=1)])
    d = flat.shape[1]
    return _of(atoms, [2.0] * d + [0.0], [0.0] * d + [-1.0], start)


def _gram() -> QuadraticOverHull:
    A = np.random.default_rng(0).standard_normal((200, 200))
    return QuadraticOverHull(np.eye(200), A @ A.T / 200)


def _single() -> QuadraticOverHull:
    atoms = np.random.default_rng(0).standard_normal((50, 5)) + 1.0
    return QuadraticOverHull(np.asfortranarray(atoms, dtype=np.float32))


def _ill_conditioned() -> QuadraticOverHull:
    Q = 2.0 ** -np.array([0, 13, 26, 40])
    inside = np.array([0.25, 0.25, 0.25, 0.125])
    return QuadraticOverHull(np.vstack([np.eye(4), -np.eye(4)]), Q, -Q * inside)


HARD = {
    # -- the first step, and the last one
    "vertex-at-origin": Hard(
        "starts at its answer: no direction to go, a cost of 0 to divide by (POT)",
        _of([[0, 0], [1, 0], [0, 1]], start=[0]),
        Fraction(0),
    ),
    "enclosing-ball-step": Hard(
        "an exact step that divides by the size of the point, not of the direction, is five times "
        "too long (a textbook's code)",
        _enclosing_ball([[50, 20], [10, 0], [3, 9]], _weighted(0.2, 0.3, 0.5)),
        Fraction(-1165, 2),
    ),
    "small-weight": Hard(
        "an away step may only be as long as a weight of 1e-6 lasts, else the weight turns "
        "negative (FrankWolfe.jl)",
        _of(TRIANGLE, start=_weighted(0.5, WEIGHT, 0.5 - WEIGHT)),
        Fraction(5, 4),
    ),
    "interval": Hard(
        "in one dimension the exact step has a closed form; searches took the first trial or the "
        "wrong sign (FrankWolfe.jl)",
        _of([[-1], [2], [5]], 3.0, [-4]),
        Fraction(-8, 3),
    ),
    "beyond": Hard(
        "along the line the minimum lies beyond the hull: steps above 1, negative weights (POT)",
        _of([[-1], [2]], 1.0, [-10], start=[0]),
        Fraction(-18),
    ),
    # -- degenerate hulls
    "one-atom": Hard(
        "no direction, no scale, an away step of length 1/0",
        _of([[3, -4]]),
        Fraction(25, 2),
    ),
    "all-equal": Hard(
        "one point, five times: no scale, and the centred Gram matrix is 0 (POT)",
        _of([SPOT] * 5, start=_weighted(0.5, 0.0, 0.25, 0.0, 0.25)),
        sum((Fraction(x) ** 2 for x in SPOT), Fraction(0)) / 2,
    ),
    "collinear": Hard(
        "a flat simplex: 0/0, then NaN in an endless loop; weights are not unique (sch-core, fcl, "
        "libccd)",
        _of([[-1, 1], [0, 1], [1, 1], [2, 1], [3, 1]]),
        Fraction(1, 2),
    ),
    "slivers": Hard(
        "needles 2e6 long and 1e-6 wide: interior points end with insufficient progress (Clarabel)",
        _of([[1, 1e6], [1, -1e6], [1 + 1e-6, 0]]),
        Fraction(1, 2),
    ),
    "wide": Hard(
        "more dimensions than atoms",
        _of(np.eye(3, 40)),
        Fraction(1, 6),
    ),
    "duplicates": Hard(
        "each atom four times: a new vertex equals one in use, affine systems are singular",
        _of(np.tile(TRIANGLE, (4, 1))),
        Fraction(5, 4),
    ),
    "near-duplicates": Hard(
        "atoms 7e-9 apart: nearly singular systems, steps as short as that",
        _of(np.vstack([TRIANGLE, *(TRIANGLE + CLOSE * np.eye(2)[:, None])])),
        Fraction(5, 4),
    ),
    # -- size and place
    "far-origin": Hard(
        "all atoms 1e8 away: scores lose all digits but the eight that they share",
        _of(TRIANGLE + FAR),
        Fraction(10**8 + 2) ** 2 / 2 + Fraction(10**8 - 1) ** 2 / 2,
    ),
    "far-cloud": Hard(
        "the same cloud 1e8 away with c moved along: nothing but rounding differs from home",
        _of(TRIANGLE + FAR, [[2.0, 1.0], [1.0, 2.0]], [-3 * FAR, -3 * FAR]),
        Fraction(75, 28) - 3 * Fraction(10**16),
    ),
    "tiny": Hard(
        "entries of 1e-21 fall below absolute thresholds: the answer 0 (scipy's NNLS)",
        _of(TRIANGLE * TINY),
        Fraction(5, 4) * Fraction(TINY) ** 2,
    ),
    "huge": Hard(
        "entries of 1e17: a projection onto the simplex that is not shifted crashes (copt)",
        _of(TRIANGLE * HUGE),
        Fraction(5, 4) * Fraction(HUGE) ** 2,
    ),
    "single": Hard(
        "float32 in Fortran order, refused or read as transposed (scipy)",
        _single,
        None,
    ),
    # -- special Q
    "enclosing-ball": Hard(
        "the least ball around three points, Q singular; the answer is r², taken for r (miniball)",
        _enclosing_ball([[-6, -4, 5], [0, -2, 0], [-2, -6, -1]]),
        Fraction(-637, 38),
    ),
    "gradients": Hard(
        "the Gram matrix of three gradients in the plane: singular but for rounding, an endless "
        "loop (quadprog)",
        _of(np.eye(3), GRADIENTS @ GRADIENTS.T),
        Fraction(1, 2) * Fraction("1.11") ** 2 / Fraction("2.61"),
    ),
    "gram-200": Hard(
        "a definite Gram matrix that a convexity check by ARPACK calls indefinite (cvxpy)",
        _gram,
        None,
    ),
    "flat-direction": Hard(
        "Q = aa': along one edge the curvature is rounding, and steps follow it to 1e22 "
        "(LineSearches.jl)",
        _of([[BENT[1], -BENT[0]], [-BENT[1], BENT[0]], BENT], np.outer(BENT, BENT), start=[2]),
        Fraction(0),
    ),
    "difference": Hard(
        "Q = F'DF with a minus sign in D, convex all the same: by its factors alone, another Q",
        _of(TRIANGLE, Factored(np.array([[2.0, 0], [1, 0], [0, 1]]), np.array([1.0, -1, 1]))),
        Fraction(25, 8),
    ),
    "ill-conditioned": Hard(
        "condition 1e12: the value is right long before the point is",
        _ill_conditioned,
        -(1 + Fraction(1, 2**13) + Fraction(1, 2**26)) / 32 - Fraction(1, 2**47),
    ),
    "simplex-projection": Hard(
        "nearest point of the simplex: wrong by one in a sorted sum, or for negative entries "
        "(tensorly, fair_flearn)",
        _of(np.eye(4), 1.0, ["-2/5", "-3/10", "2/5", "-1/2"]),
        Fraction(-73, 300),
    ),
    "linear": Hard(
        "Q = 0: no curvature to divide by",
        _of(SQUARE, 0.0, [1, 2]),
        Fraction(-3),
    ),
    "constant": Hard(
        "Q = 0, c = 0: no scale, every point is optimal",
        _of(SQUARE, 0.0),
        Fraction(0),
    ),
    # -- ties, and kinds that are not convex
    "ties": Hard(
        "every atom leads at the centre: rounding decides unless a rule does (POT)",
        _of(SQUARE),
        Fraction(0),
    ),
    "equal-vertices": Hard(
        "concave, and all vertices are optimal",
        _of(SQUARE, -1.0),
        Fraction(-1),
    ),
    "saddle": Hard(
        "one direction bends down: of a segment both ends must be tried",
        _of(SQUARE, [1.0, -1.0]),
        Fraction(-1, 2),
    ),
    "rotation": Hard(
        "a field that turns about the origin: leaders take turns for ever",
        _of(SQUARE, [[0.0, 1.0], [-1.0, 0.0]]),
        None,
    ),
}


def hard_input(name: str) -> QuadraticOverHull:
    """Return a hard input.

    Parameters
    ----------
    name : str

    Raises
    ------
    InvalidParameter
        For a name that does not exist.

    Examples
    --------
    >>> hard_input("collinear").atoms.tolist()[0], HARD["collinear"].optimum
    ([-1.0, 1.0], Fraction(1, 2))
    """
    if name not in HARD:
        raise InvalidParameter(f"hard_input: no instance {name!r}; {nearest(name, HARD)}")
    return HARD[name].build()


ENTRY = ProblemEntry(
    name="hard_input",
    make=hard_input,
    label="inputs on which solvers have failed",
    grid=tuple({"name": name} for name in HARD),
)
