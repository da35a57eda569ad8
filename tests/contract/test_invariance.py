"""What is a function of the hull does not change when the same hull is given in another way."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from fwbench import catalog
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, misfit, run
from fwbench.trace import Status

pytestmark = pytest.mark.usefixtures("untimed")

RNG = np.random.default_rng(30)
N, D = 12, 3
# few bits each, so that a move by 1e8 is exact
ATOMS = np.round(RNG.standard_normal((N, D)) * 2**10) / 2**10 + 1.0
DEFINITE = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, -1.0], [0.0, -1.0, 4.0]])
SINGULAR = np.outer([1.0, 2.0, -1.0], [1.0, 2.0, -1.0])
LINEAR = np.array([-4.0, 1.0, 2.0])
BASES = {
    "definite": (ATOMS, DEFINITE, LINEAR),
    "inside": (ATOMS - 1.0, DEFINITE, np.zeros(D)),
    "singular": (ATOMS, SINGULAR, np.zeros(D)),
    "concave": (ATOMS, -DEFINITE, LINEAR),
}
ORDER = RNG.permutation(N)
COPIES = RNG.integers(1, 4, N)
FAR = np.array([1e8, -3e7, 5e7])
TURN = np.linalg.qr(RNG.standard_normal((D, D)))[0]
BRIEF, LONG = Budget(max_steps=30), Budget(tol=1e-12, max_steps=2000)
SIZES = (1e-12, 1e12)


@dataclass(frozen=True)
class Change:
    """Another way to give a problem.

    Attributes
    ----------
    of : callable
        (V, Q, c) to the new (V, Q, c).
    point : callable
        Where points go.
    unit : float
        What values are multiplied by.
    first : int
        Where the first atom went.
    """

    of: Callable
    point: Callable = lambda x: x
    unit: float = 1.0
    first: int = 0


CHANGES = {
    "permuted": Change(lambda V, Q, c: (V[ORDER], Q, c), first=int(np.argsort(ORDER)[0])),
    "repeated": Change(lambda V, Q, c: (np.repeat(V, COPIES, axis=0), Q, c)),
    "moved": Change(lambda V, Q, c: (V + FAR, Q, c - Q @ FAR), lambda x: x + FAR),
    "rotated": Change(
        lambda V, Q, c: (V @ TURN.T, TURN @ Q @ TURN.T, TURN @ c), lambda x: TURN @ x
    ),
}
for size in SIZES:
    CHANGES[f"V times {size:g}"] = Change(
        lambda V, Q, c, s=size: (s * V, Q, s * c), lambda x, s=size: s * x, size**2
    )
    CHANGES[f"Q times {size:g}"] = Change(lambda V, Q, c, s=size: (V, s * Q, s * c), unit=size)


@cache
def problem(base, change):
    V, Q, c = CHANGES[change].of(*BASES[base]) if change else BASES[base]
    # rotating leaves Q symmetric but for rounding
    return QuadraticOverHull(V, (Q + Q.T) / 2, c)


@cache
def chosen(name):
    return catalog.choices("solvers", name)[0]


@cache
def judged(choice, base, change, budget):
    """Return (lower, value, point), values from the first atom's on and in the base's unit."""
    made = problem(base, change)
    solver = catalog.build_solver(choice)
    if (reason := misfit(choice.entry, solver, made)) is not None:
        pytest.skip(reason)
    done = run(made, solver, choice.entry, budget)
    assert not done.status.is_failure, done.reason
    unit, first = (CHANGES[change].unit, CHANGES[change].first) if change else (1.0, 0)
    level = made.centred_value(made.centred[first])
    lower, value = (
        None if (end := done.trace.last(name)) is None else (end - level) / unit
        for name in ("lower_centred", "value_centred")
    )
    return lower, value, done.points[0], done.status


MOVING = ("hardmax_attention[keys=moving]", "softmax_attention[keys=moving]")
CHOICES = [
    choice
    for text in (*catalog.names("solvers"), *MOVING)
    for choice in catalog.choices("solvers", text)
]
CONVEX = ("definite", "inside", "singular")
EXACT = [("cvxpy_reference", base) for base in CONVEX]
EXACT += [("away_steps", base) for base in CONVEX]
EXACT += [("vertex_enumeration", "concave")]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.label)
def test_certified_intervals_overlap(choice, change):
    for base in ("definite", "singular"):
        intervals = [judged(choice, base, given, BRIEF)[:2] for given in (None, change)]
        allowed = 1e-12 * problem(base, None).scale
        assert max(low for low, _ in intervals) <= min(high for _, high in intervals) + allowed


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("name", "base"), EXACT)
def test_exact_methods_find_the_same_value_and_point(name, base, change):
    choice = chosen(name)
    _, before, x, _ = judged(choice, base, None, LONG)
    _, after, y, status = judged(choice, base, change, LONG)
    assert status in (Status.CONVERGED, Status.FINISHED)
    assert after == pytest.approx(before, abs=1e-9 * problem(base, None).scale)
    if base != "singular":
        apart = np.linalg.norm(y - CHANGES[change].point(x))
        assert apart <= 1e-6 * problem(base, change).radius


def test_the_scale_follows_the_unit():
    for base in BASES:
        for name, change in CHANGES.items():
            ratio = problem(base, name).scale / (change.unit * problem(base, None).scale)
            assert ratio == pytest.approx(1.0, rel=0.5 if name == "repeated" else 1e-8)
