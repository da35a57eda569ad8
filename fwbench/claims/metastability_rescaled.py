r"""Theorem 5.4 with k = ε/(γ d(K)) in place of ε/γ: true at every scale.

Proof for an integer k ≥ 1, this project's. Let ρ bound how far a token within ε of its group's
first hull is from its vertex, and let 2ρR + ρd + 2ρ² ≤ c_0/2, R the norm of the vertices. Then as
long as nobody has left every token scores c_0/2 more for itself than for tokens of other groups, so
that a step is bad (some token picks another group) with probability n · n e^{−a} at most,
a = βc_0/2. Bad steps drift γ d(K) each, others not at all: who leaves has seen k + 1. So
P(T_2 < t) ≤ C(t, k + 1)(n² e^{−a})^{k+1} ≤ (tn/k)^{k+1} e^{−ak}, the last one if
a ≥ (k + 1) log(nk) − log (k + 1)!.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lgamma

import numpy as np

from fwbench.geometry.dominance import diameter, own_gap, regular_polygon, regular_simplex
from fwbench.theory.chains import Until, events, exponent, straying
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.intervals import at_least, binomial

SPREAD = 0.1  # of the radius: how far inner tokens are from their vertices


def _case(
    name: str, radius: float, score: float, t: int, *, k: int = 2, gamma: float = 0.01,
    inner: bool = False, printed: bool = False,
) -> Case:  # fmt: skip
    """Build a token at each vertex, and one at SPREAD from each, towards the next; βc_0 = score.

    `printed` takes ε/γ, a length, in the exponent.
    """
    vertices = regular_polygon(3, radius) if name == "triangle" else regular_simplex(3, radius)
    groups = np.arange(len(vertices))
    to = np.roll(vertices, -1, axis=0) - vertices
    near = vertices + SPREAD * radius * to / diameter(vertices)
    told = f"{name} of circumradius {radius:g}, step {gamma:g}, epsilon = {k} gamma d(K), "
    told += f"beta c_0 = {score:g}, t = {t}" + ", inner tokens" * inner
    return Case(
        told + ", epsilon/gamma as printed" * printed,
        {
            "tokens": np.vstack([vertices, near]) if inner else vertices, "vertices": vertices,
            "groups": np.tile(groups, 2) if inner else groups, "radius": radius, "k": k,
            "score": score, "t": t, "gamma": gamma, "spread": SPREAD * radius * inner,
            "printed": printed,
        },
    )  # fmt: skip


def _cases(effort: Effort) -> Iterator[Case]:
    for radius in (0.1, 1.0, 10.0):
        yield _case("triangle", radius, 9, 4)
        yield _case("triangle", radius, 23, 500)
        yield _case("triangle", radius, 22.5, 200, inner=True)
    yield _case("tetrahedron", 10.0, 24, 500)
    yield _case("triangle", 10.0, 18, 500, k=3)
    yield _case("triangle", 10.0, 5, 4)  # refused
    yield _case("triangle", 1.0, 24, 500, gamma=0.2)  # refused


def _refuses(case: Case) -> str | None:
    vertices, k, n = case["vertices"], case["k"], len(case["tokens"])
    gap, size = float(own_gap(vertices)), diameter(vertices)
    if k != int(k) or k < 1:
        return "k is not a positive integer"
    if not 0 < case["gamma"] <= 1:
        return "the step is not in (0, 1]"
    if case["score"] / 2 < (k + 1) * np.log(n * k) - lgamma(k + 2):
        return "β is too small"
    rho = case["spread"] + k * case["gamma"] * size
    lost = 2 * rho * case["radius"] + rho * size + 2 * rho**2
    return None if lost <= gap / 2 else "within ε of its group a token may score too little"


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare the frequency of T_2 ≥ t, and the path of k + 1 picks of one vertex in a row."""
    tokens, t, k, gamma = case["tokens"], case["t"], case["k"], case["gamma"]
    size, gap = diameter(case["vertices"]), float(own_gap(case["vertices"]))
    beta, epsilon = case["score"] / gap, k * gamma * size
    allowed = exponent(t, len(tokens), beta, gap, epsilon / gamma if case["printed"] else k)
    found = events(
        tokens, case["groups"], beta=beta, gamma=gamma, replicas=400, steps=t - 1,
        until=Until.LEFT, epsilon=epsilon, seed=effort.seed,
    )  # fmt: skip
    interval = binomial(int((found.left >= t).sum()), 400)
    verdict = at_least(interval, -np.expm1(allowed))
    numbers = {"P(T_2 >= t)": interval.text, "promised": text(-np.expm1(allowed))}
    witness = f"P(T_2 ≥ {t}) in {interval.text}, below {numbers['promised']}"
    if t >= k + 2 and not case["spread"]:  # one token at each vertex: k + 1 picks lead out
        path, end = straying(tokens, beta, gamma, 0, 1, k + 1)
        away = np.sqrt(((end[0] - tokens[0]) ** 2).sum())
        numbers |= {"log P(T_2 < t) at least": text(path), "at most": text(allowed)}
        if away > epsilon and path > allowed and allowed < 0:
            verdict, witness = Verdict.BROKEN, f"log P(T_2 < {t}) ≥ {path:.1f} > {allowed:.1f}"
    broken = verdict is Verdict.BROKEN
    return Outcome(verdict, f"400 replicas, t = {t}", witness if broken else "", numbers)


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("triangle", 10.0, 9, 4, printed=True), Verdict.BROKEN,
        "ε/γ is a length: the printed bound is far too small at this scale",
    )  # fmt: skip


CLAIM = Claim(
    name="metastability_rescaled",
    section=5,
    title="metastability, in steps of γ d(K)",
    statement="Tokens near the vertices of a polytope with equal norms and gap c_0 stay within "
    "ε = kγ d(K) of their group's first hull for a time t, at least with the probability below.",
    formula="P(T_2 ≥ t) ≥ 1 − exp((1 + k)(log(t/k) + log n) − kβc_0/2),  k = ε/(γ d(K))",
    source="this project; after arXiv 2508.09628v1, Theorem 5.4",
    standing=Standing.AMENDED,
    remark="The printed exponent has the length ε/γ in place of k. Both sides of this one stay "
    "when space is scaled and β with it.",
    hypotheses=("k a positive integer, γ in (0, 1]", "βc_0/2 ≥ (k + 1) log(nk) − log (k + 1)!",
                "within ε of its group's first hull every token leads by c_0/2"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="frequency of T_2 ≥ t, exact binomial interval at 99.9 %; probability of one path",
    horizon="t = 4 to 500, 400 replicas",
    arithmetic="float64, seeded",
    expects=Verdict.HOLDS,
    telling="promised",
)  # fmt: skip
