r"""Theorem 5.4 as printed: clusters of any size stay for times of order e^{β c_0/2}. False.

The left side does not change when space is scaled, (K, ε, β) → (sK, sε, β/s²); the right side has
ε/γ in it, a length. So a large polytope breaks it: three picks in a row of one other vertex take a
token further than ε = 2γ d(K), at a price of 3βc_0, while the theorem asks for βc_0 d(K).
A small polytope breaks it too when a token starts where its gap is c_0/2 only. Nothing is
simulated: the probability of that one path, all others staying, is a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.geometry.dominance import diameter, narrowest, own_gap, regular_polygon
from fwbench.kernels.escapes import distance
from fwbench.theory.chains import exponent, straying
from fwbench.theory.claim import (
    Case,
    Claim,
    Control,
    Curves,
    Effort,
    Line,
    Outcome,
    Standing,
    Verdict,
    text,
)

PICKS = 3  # in a row of one target: T_2 < 4


def _case(radius: float, gamma: float, beta: float, *, edge: bool = False) -> Case:
    """Build tokens at the vertices; with `edge` one more at τ from the first, towards the second.

    τ is c_0/(2d), as far as the theorem lets tokens start.
    """
    vertices = regular_polygon(3, radius)
    gap, size = float(own_gap(vertices)), diameter(vertices)
    inner = vertices[0] + gap / (2 * size**2) * (vertices[1] - vertices[0])
    name = f"triangle of circumradius {radius:g}, step {gamma:g}, beta c_0 = {beta * gap:g}"
    return Case(
        name + (", a token on an edge" if edge else ""),
        {
            "vertices": vertices, "gamma": gamma, "beta": beta, "gap": gap, "size": size,
            "tokens": np.vstack([vertices, inner]) if edge else vertices,
            "token": 3 if edge else 0,
            "group": np.vstack([vertices[0], inner]) if edge else vertices[:1],
        },
    )  # fmt: skip


def _cases(effort: Effort) -> Iterator[Case]:
    for score in (5, 10, 20, 40):
        yield _case(10, 0.01, score / 150)
    for beta in (60, 100):
        yield _case(1, 0.001, beta, edge=True)
    yield _case(10, 1.5, 1 / 30)  # refused


def _refuses(case: Case) -> str | None:
    vertices = case["vertices"]
    norms = (vertices**2).sum(axis=1)
    if not 0 < case["gamma"] < 1:
        return "the step is not in (0, 1)"
    if narrowest(vertices) <= 0 or np.ptp(norms) > 1e-12 * norms.max() or case["gap"] <= 0:
        return "the vertices do not own acute cones at one distance from the origin"
    within = case["tokens"][case["token"]] - vertices[0]
    near = case["gap"] / (2 * case["size"]) * (1 + 1e-12)
    return None if np.sqrt(within @ within) <= near else "a token starts further than τ away"


def _logarithms(case: Case, beta: float) -> tuple[float, float, float]:
    """Return log P of the path, what the theorem allows at t = 4, and how far the path leads."""
    n, k = len(case["tokens"]), 2 * case["size"]
    path, end = straying(case["tokens"], beta, case["gamma"], case["token"], 1, PICKS)
    away = distance(case["group"], len(case["group"]), end[case["token"]])
    return path, exponent(PICKS + 1, n, beta, case["gap"], k), float(away)


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare log P(T_2 < 4), from below, with the exponent; ε = 2γ d(K)."""
    path, allowed, away = _logarithms(case, case["beta"])
    leaves = away > 2 * case["gamma"] * case["size"]
    broken = leaves and allowed < 0 and path > allowed
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS if allowed < 0 else Verdict.VACUOUS,
        "three steps",
        f"log P(T_2 < 4) ≥ {path:.1f} > {allowed:.1f}" if broken else "",
        {
            "log P(T_2 < 4) at least": text(path),
            "claimed at most": text(allowed),
            "distance after three picks, in ε": text(away / (2 * case["gamma"] * case["size"])),
        },
        _curves(case) if case["size"] > 10 and case["beta"] * case["gap"] < 6 else None,
    )


def _curves(case: Case) -> Curves:
    grid = np.linspace(2, 40, 20)
    lines = np.array([_logarithms(case, score / case["gap"])[:2] for score in grid])
    return Curves(
        f"Leaving within three steps, {case.name.partition(', beta')[0]}", "β c_0",
        "log P(T_2 < 4)",
        (Line("one path of three picks", grid, lines[:, 0]),
         Line("at most, by the theorem", grid, np.minimum(lines[:, 1], 0), bound=True)),
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case(0.5, 0.01, 120), Verdict.HOLDS,
        "a triangle of diameter below 1: the path is no more likely than the theorem allows",
    )  # fmt: skip


CLAIM = Claim(
    name="metastability_scaled",
    section=5,
    title="metastability at every scale",
    statement="Tokens within τ of the vertices of a polytope with acute cones, equal norms and gap "
    "c_0 stay within ε ≥ 2γ d(K) of their group's first hull for a time t with the probability "
    "below, whatever the size of the polytope.",
    formula="P(T_2 < t) ≤ exp((1 + ε/γ)(log(γt/ε) + log n) − (βc_0/2)(ε/γ))",
    source="arXiv 2508.09628v1, Theorem 5.4",
    standing=Standing.FALSE,
    remark="The excess grows with β and hardly depends on γ, so no ε_* or β_* saves it. See the "
    "amended statement with ε/(γ d(K)), which is what the drift per bad step supports.",
    hypotheses=("acute cones, equal norms, c_0 > 0", "tokens within τ = c_0/(2d) of a vertex",
                "ε = 2γ d(K), γ in (0, 1)"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="log P(T_2 < 4) from below, by one path, against the exponent",
    horizon="three steps",
    arithmetic="float64; the two sides differ by more than 10",
    expects=Verdict.BROKEN,
    expects_witness="triangle of circumradius 10, step 0.01, beta c_0 = 5: "
    "log P(T_2 < 4) ≥ -14.7 > -124.4",
)  # fmt: skip
