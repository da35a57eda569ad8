r"""Theorem 5.2 with the largest distance in place of the least, and C = 1/(1 − γ).

Proof of the constant, this project's: with probability close to 1 all tokens follow the leaders of
their cells, as at β = ∞, and of the distances m_i the largest, m, has become (1 − γ)^{T_1} m after
T_1 steps. T_1 is rounded down, so that this is below τ/(1 − γ), but not below τ: no smaller C will
do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.geometry.dominance import (
    dominated,
    narrowest,
    own_gap,
    regular_polygon,
    regular_simplex,
)
from fwbench.theory.chains import clustered
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.intervals import at_least, binomial

INNER = 6  # tokens inside
DRAWS = 100  # rounds of drawing; none in all of them: the cones are empty
SIMPLICES = {"triangle": regular_polygon(3), "tetrahedron": regular_simplex(3)}
LARGE = 1e4  # what "β is large" means here
ROUNDING = 1e-12  # of τ, where a token is there exactly


def _starts(vertices: np.ndarray, beta: float, replicas: int, seed: int) -> np.ndarray | None:
    """Draw tokens uniformly from the eroded cones, shape (replicas, INNER, d); None: empty."""
    rng, found, count = np.random.default_rng(seed), [np.empty((0, vertices.shape[1]))], 0
    for _ in range(DRAWS):
        points = rng.dirichlet(np.ones(len(vertices)), size=4 * replicas * INNER) @ vertices
        found.append(points[dominated(vertices, points, beta**-0.125, beta**-0.25).any(axis=1)])
        count += len(found[-1])
        if count >= replicas * INNER:
            return np.concatenate(found)[: replicas * INNER].reshape(replicas, INNER, -1)
    return None


def _case(name: str, beta: float, gamma: float, effort: Effort, *, largest: bool = True) -> Case:
    replicas, vertices = effort.of(400, 4000), SIMPLICES.get(name, regular_polygon(4))
    simplex = name in SIMPLICES
    inner = _starts(vertices, beta, replicas, effort.seed) if simplex else None
    chosen = "" if largest else ", the least distance"
    return Case(
        f"{name}, {INNER} random inner tokens, beta = {beta:g}, step {gamma:g}, {replicas} "
        f"replicas, seed {effort.seed}{chosen}",
        {"vertices": vertices, "inner": inner, "beta": beta, "gamma": gamma, "largest": largest},
    )


def _near_and_far(effort: Effort) -> Case:
    """Two inner tokens of one cell, at distances 0.02 and 0.6: the eroded cone holds both."""
    vertices = SIMPLICES["triangle"]
    inner = vertices[0] - np.array([[0.02, 0.0], [0.6, 0.0]])
    given = {"vertices": vertices, "inner": np.repeat(inner[None], 400, axis=0)}
    return Case(
        "triangle, inner tokens at 0.02 and 0.6, beta = 1e+09, step 0.1, 400 replicas",
        given | {"beta": 1e9, "gamma": 0.1, "largest": True},
    )


def _cases(effort: Effort) -> Iterator[Case]:
    for name in SIMPLICES:
        for beta in (1e4, 1e6):
            yield _case(name, beta, 0.1, effort)
    yield _case("triangle", 1e6, 0.5, effort)
    yield _near_and_far(effort)
    yield _case("triangle", 100.0, 0.1, effort)  # refused
    yield _case("square", 1e6, 0.1, effort)  # refused


def _refuses(case: Case) -> str | None:
    vertices, beta = case["vertices"], case["beta"]
    norms = (vertices**2).sum(axis=1)
    if narrowest(vertices) <= 1e-12:
        return "two neighbours span 90° or more at a vertex"
    if np.ptp(norms) > 1e-12 or own_gap(vertices) <= 0:
        return "the vertices do not lead their cells at equal norms"
    if case["inner"] is None:
        return "the eroded dominance cones are empty"
    if beta < LARGE or not 0 < case["gamma"] < 1:
        return "β is below 10 000, or the step is not in (0, 1)"
    points = case["inner"].reshape(-1, vertices.shape[1])
    inside = dominated(vertices, points, beta**-0.125, beta**-0.25).any(axis=1).all()
    return None if inside else "a token starts outside the eroded dominance cones"


def _check(case: Case, effort: Effort) -> Outcome:
    """Count the replicas that are where the theorem says at T_1."""
    beta, gamma = case["beta"], case["gamma"]
    found = clustered(
        case["vertices"], case["inner"], beta=beta, gamma=gamma, largest=case["largest"],
        seed=effort.seed,
    )  # fmt: skip
    C = 1 / (1 - gamma)
    there = (found.at_vertices <= beta**-0.25) & (found.others <= C * (1 + ROUNDING))
    interval = binomial(int(there.sum()), len(there))
    promised = 1 - beta ** (-1 / 8)
    verdict = at_least(interval, promised)
    return Outcome(
        verdict,
        f"{len(there)} replicas, T_1 = {found.steps.min()} to {found.steps.max()}",
        f"probability in {interval.text}, below {text(promised)}"
        if verdict is Verdict.BROKEN else "",
        {
            "frequency": f"{there.sum()}/{len(there)}", "interval": interval.text,
            "promised": text(promised), "farthest, in tau": text(found.others.max()),
            "C": text(C),
        },
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("triangle", 1e4, 0.1, effort, largest=False), Verdict.BROKEN,
        "T_1 made of the least distance is too early for all others",
    )  # fmt: skip


CLAIM = Claim(
    name="clustering",
    section=5,
    title="tokens cluster at the vertices that lead them",
    statement="On a simplex with acute cones, equal norms and gap c_0, with tokens at the vertices "
    "and others in the eroded dominance cones, tokens of the chain are at the time T_1 within "
    "β^{−1/4} of their vertex (those that started there) or within τ/(1 − γ) of the vertex that "
    "leads them, with probability 1 − β^{−1/8} at least, if β is large. T_1 and τ are made of the "
    "largest distance from a vertex.",
    formula="P(‖x_i^{T_1} − v_σ(i)‖ ≤ τ/(1 − γ) for all i) ≥ 1 − β^{−1/8}, "
    "T_1 = ⌊log(τ/m)/log(1 − γ)⌋, m = max_j ‖x_j^0 − v_σ(j)‖",
    source="this project; after arXiv 2508.09628v1, Theorem 5.2",
    standing=Standing.AMENDED,
    remark="The theorem has the least distance instead of the largest, and leaves C > 1 open: see "
    "the claim as printed.",
    hypotheses=("a regular simplex: acute cones, equal norms, c_0 > 0",
                "starts at the vertices and in the eroded dominance cones",
                "β ≥ 10 000, γ in (0, 1)"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="frequency of replicas that are there at T_1, exact binomial interval at 99.9 %",
    horizon="T_1, 400 (long: 4000) replicas",
    arithmetic="float64, seeded",
    expects=Verdict.HOLDS,
    telling="farthest, in tau",
)  # fmt: skip
