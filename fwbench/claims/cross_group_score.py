r"""Attention to other groups is at most n e^{−βc_0/2} where the own group leads by c_0/2.

Proof: the softmax weight of a token that scores c_0/2 below another one is at most e^{−βc_0/2},
and there are fewer than n of them. That tokens within τ = c_0/(2d) of their vertices have this lead
is not so: two tokens that have both gone τ towards each other along an edge of the triangle lead
by 3c_0/8 only.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.dominance import diameter, own_gap, regular_polygon, regular_simplex
from fwbench.theory.chains import attention
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text

POLYTOPES = {
    "triangle": regular_polygon(3),
    "square": regular_polygon(4),
    "tetrahedron": regular_simplex(3),
    "simplex of 6": regular_simplex(5),
}
ROUNDING = 1e-12  # of a weight


def _drawn(name: str, part: float, seed: int, beta: float) -> Case:
    """Draw two tokens near each vertex: within `part` of τ of it, in the hull."""
    vertices, rng = POLYTOPES[name], np.random.default_rng(seed)
    tau = own_gap(vertices) / (2 * diameter(vertices))
    tokens = np.repeat(vertices, 2, axis=0)
    to = rng.dirichlet(np.ones(len(vertices)), size=len(tokens)) @ vertices - tokens
    lengths = np.sqrt((to**2).sum(axis=1))
    tokens += to * np.minimum(1, part * tau * rng.uniform(size=len(to)) / lengths)[:, None]
    groups = np.repeat(np.arange(len(vertices)), 2)
    return Case(
        f"{name}, 2 tokens a vertex within {part:g} tau, seed {seed}, beta = {beta:g}",
        {"tokens": tokens, "groups": groups, "beta": beta, "gap": float(own_gap(vertices))},
    )


def _met(beta: float) -> Case:
    """Tokens at the vertices of the triangle and two that have gone τ towards each other."""
    vertices = POLYTOPES["triangle"]
    edge = (vertices[1] - vertices[0]) / 4  # τ / d = 1/4
    tokens = np.vstack([vertices, vertices[0] + edge, vertices[1] - edge])
    given = {"tokens": tokens, "groups": np.array([0, 1, 2, 0, 1]), "beta": beta, "gap": 1.5}
    return Case(f"triangle, two tokens at tau towards each other, beta = {beta:g}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    for name in POLYTOPES:
        for seed in range(effort.of(2, 30)):
            for beta in (1.0, 10.0, 100.0):
                yield _drawn(name, 0.5, seed, beta)
    yield _met(40.0)  # refused


def _lead(tokens: NDArray[np.float64], groups: NDArray[np.int64]) -> float:
    """Return the least lead of the best token of the own group over those of others."""
    scores = tokens @ tokens.T
    own = groups[:, None] == groups[None]
    best = np.where(own, scores, -np.inf).max(axis=1)
    return float((best[:, None] - np.where(own, -np.inf, scores)).min())


def _refuses(case: Case) -> str | None:
    lead = _lead(case["tokens"], case["groups"])
    need = case["gap"] / 2
    return None if lead >= need else f"a token leads by {text(lead)}, less than {text(need)}"


def _check(case: Case, effort: Effort) -> Outcome:
    """Sum the attention of each token to other groups."""
    tokens, groups, beta = case["tokens"], case["groups"], case["beta"]
    weights = attention(tokens, beta)
    others = np.where(groups[:, None] == groups[None], 0.0, weights).sum(axis=1)
    bound = len(tokens) * np.exp(-beta * case["gap"] / 2)
    i = int(others.argmax())
    broken = others[i] > bound * (1 + ROUNDING)
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS if bound < 1 else Verdict.VACUOUS,
        "one step",
        f"token {i + 1}: {text(others[i])} > {text(bound)}" if broken else "",
        {"most attention to other groups": text(others[i]), "bound": text(bound)},
    )


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _met(40.0), Verdict.BROKEN, "within τ, but the lead is 3c_0/8: less than the bound needs"
    )


CLAIM = Claim(
    name="cross_group_score",
    section=5,
    title="attention to other groups is at most n e^{−βc_0/2}",
    statement="Where the best token of its own group scores c_0/2 more for a token than all of "
    "other groups, its attention to other groups sums to at most n e^{−βc_0/2}.",
    formula="Σ_{j not in the group of i} a_ij ≤ n e^{−βc_0/2}",
    source="arXiv 2508.09628v1, Theorem 5.4, a step of the proof",
    standing=Standing.CHECKED,
    remark="Starts within τ of the vertices do not give that lead: it may be 3c_0/8 on the "
    "triangle, and the sum is then larger.",
    hypotheses=("each token's own group leads by c_0/2",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="largest sum of attention weights to other groups",
    horizon="one step, 2 (long: 30) draws a polytope at β = 1, 10, 100",
    arithmetic="float64, tolerance 1e-12 of the bound",
    expects=Verdict.HOLDS,
)
