"""One set of fixed points for all first-order methods: attention, Frank-Wolfe, projected gradient.

Proof: x is in the hull of its leaders iff it attains max ⟨Bx, y⟩ itself iff the gap is 0; and that
is the variational inequality ⟨Bx, y − x⟩ ≤ 0 which says that x is the projection of x + ηBx.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.ascent import gaps
from fwbench.geometry.ownership import images, scores
from fwbench.geometry.planar import contains, corners, nearest, ring_of
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.walks import cloud_of, hardmax, integer_cloud, key_query, stepped

ETAS = (Fraction(1, 10), Fraction(1), Fraction(7))
DRAWS = (8, 80)
HALF = Fraction(1, 2)


def _case(name: str, tokens: NDArray[Any], B: NDArray[Any], rule: str = "any") -> Case:
    exact = np.vectorize(Fraction, otypes=[object])
    return Case(name, {"tokens": exact(tokens), "B": exact(B), "rule": rule})


def _cases(effort: Effort) -> Iterator[Case]:
    yield _triangle("any")
    square = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]])
    for sign in (1, -1):
        yield _case(f"square, B = {sign}", square, np.array([sign, sign]))
    yield _case("square, B = diag(1, -1)", square, np.array([1, -1]))
    for seed in range(effort.seed, effort.seed + effort.of(*DRAWS)):
        name, problem = integer_cloud(6, 2, seed)
        turn = (1, -1)[seed % 2]
        tokens, B = problem.exact_atoms, key_query(problem)
        yield _case(f"{name}, times {turn}", tokens, turn * B)
    yield _case("points on a line", np.array([[0, 0], [1, 1], [2, 2]]), np.array([1, 1]))


def _triangle(rule: str) -> Case:
    return _case("tokens (2, 0) (0, 1) (-1, -1), B = 1", np.array([[2, 0], [0, 1], [-1, -1]]),
                 np.array([1, 1]), rule)  # fmt: skip


def _refuses(case: Case) -> str | None:
    B, tokens = case["B"], case["tokens"]
    if tokens.shape[1] != 2:
        return "not in the plane"
    if B.ndim == 2 and (B != B.T).any():
        return "B is not symmetric"
    return "no polygon" if len(corners(tokens)) < 3 else None


def _queries(ring: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """Return corners, middles and feet of edges, the centre, and 0 if it is inside; (m, 2)."""
    ends = np.roll(ring[:-1], -1, axis=0)
    found = [*ring[:-1], *(HALF * (ring[:-1] + ends)), ring[:-1].sum(axis=0) / (len(ring) - 1)]
    for a, b in zip(ring[:-1], ends, strict=True):
        # on the edge with ⟨Bx, b − a⟩ = 0: both ends have the same score
        along = images((b - a)[None], B)[0]
        if (slope := along @ (b - a)) != 0 and 0 <= (share := -(along @ a) / slope) <= 1:
            found.append(a + share * (b - a))
    zero = np.array([Fraction(0), Fraction(0)])
    return np.array([*found, zero] if contains(ring, zero) else found)


def _check(case: Case, effort: Effort) -> Outcome:
    tokens, B = case["tokens"], case["B"]
    ring, problem = ring_of(tokens), cloud_of(tokens, B)
    x = _queries(ring, B)
    gap = gaps(x, tokens, B)
    table = scores(x, tokens, B)
    rule = "points" if case["rule"] == "points" else "lowest"
    after = stepped(problem, hardmax("constant(1/3)", keys="fixed", ties=rule), x)
    rests, broken = 0, ""
    for i, point in enumerate(x):
        led = contains(ring_of(tokens[table[i] == table[i].max()]), point)
        stays = bool((after[i] == point).all())
        field = images(point[None], B)[0]
        still = [bool((nearest(ring, point + eta * field) == point).all()) for eta in ETAS]
        zero = gap[i] == 0
        rests += zero
        attention = stays if case["rule"] == "points" else led
        if not (attention == zero == all(still) == any(still)) or (stays and not zero):
            broken = broken or (
                f"({', '.join(map(text, point))}): gap {text(gap[i])}, rests under attention: "
                f"{attention}, under projected gradient: {still}"
            )
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS, f"{len(x)} points", broken,
        {"points at rest": f"{rests} of {len(x)}"},
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _triangle("points"), Verdict.BROKEN,
        "a rule that averages ties moves the foot of an edge, which has no gap",
    )  # fmt: skip


CLAIM = Claim(
    name="fixed_points_shared",
    section=4,
    title="attention, Frank-Wolfe and projected gradient rest at the same points",
    statement="Over a hull that stays, a point is fixed by a hardmax step for some choice among "
    "tied leaders if and only if its Frank-Wolfe gap is 0, if and only if projected gradient "
    "leaves it, for one step length or for every one.",
    formula="x ∈ conv argmax_y ⟨Bx, y⟩  ⟺  max_y ⟨Bx, y − x⟩ = 0  ⟺  x = Π_K(x + ηBx)",
    source="this project; proof: the variational inequality",
    standing=Standing.PROVED,
    remark="The set is shared, the basins are not: never compare limits of different methods where "
    "the problem is concave.",
    hypotheses=("B = B'", "the hull stays", "d = 2, where projections are exact"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="corners, middles and feet of edges, centre and origin: rest by each of the three",
    horizon="12 polygons, projected gradient with steps 1/10, 1, 7; long: 84",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
)
