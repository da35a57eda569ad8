r"""Theorem 5.2 as printed, with the least distance of a token from its vertex. False.

T_1 is the time after which the nearest token is at τ. A token that starts M/m times as far is then
(1 − γ)^{T_1} M ≥ τ M/m away, for it goes straight to its vertex with probability close to 1, and
M/m has no bound: no C is universal. With the largest distance the theorem is as it should be.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.geometry.dominance import dominated, regular_polygon
from fwbench.theory.chains import clustered
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
from fwbench.theory.intervals import at_least, binomial

TRIANGLE = regular_polygon(3)
FAR, GAMMA = 0.6, 0.1
# C, distance of the near token, and a β at which its eroded cone holds it
CONSTANTS = ((10.0, 0.02, 1e9), (100.0, 0.002, 1e13), (1000.0, 0.0002, 1e17))


def _case(C: float, near: float, beta: float, *, largest: bool = False) -> Case:
    chosen = ", the largest distance" if largest else ""
    return Case(
        f"triangle, tokens at {near:g} and {FAR:g} of a vertex, beta = {beta:g}, C = {C:g}{chosen}",
        {"C": C, "near": near, "beta": beta, "largest": largest},
    )


def _cases(effort: Effort) -> Iterator[Case]:
    for constant in CONSTANTS:
        yield _case(*constant)
    yield _case(10.0, 0.02, 1e6)  # refused


def _inner(near: float) -> np.ndarray:
    return np.asarray(TRIANGLE[0] - np.array([[near, 0.0], [FAR, 0.0]]))


def _refuses(case: Case) -> str | None:
    beta = case["beta"]
    inside = dominated(TRIANGLE, _inner(case["near"]), beta**-0.125, beta**-0.25)[:, 0].all()
    return None if inside else "a token starts outside the eroded dominance cone"


def _check(case: Case, effort: Effort) -> Outcome:
    """Count the replicas in which both tokens are within Cτ of their vertex at T_1."""
    replicas, beta = effort.of(400, 4000), case["beta"]
    found = clustered(
        TRIANGLE, np.repeat(_inner(case["near"])[None], replicas, axis=0), beta=beta, gamma=GAMMA,
        largest=case["largest"], seed=effort.seed,
    )  # fmt: skip
    there = (found.at_vertices <= beta**-0.25) & (found.others <= case["C"])
    interval, promised = binomial(int(there.sum()), replicas), 1 - beta ** (-1 / 8)
    verdict, away = at_least(interval, promised), float(found.others.max())
    return Outcome(
        verdict,
        f"T_1 = {found.steps[0]}, {replicas} replicas",
        f"the far token is at {away:.3g} tau; within C tau in {there.sum()} of {replicas} replicas"
        if verdict is Verdict.BROKEN else "",
        {
            "farthest, in tau": f"{away:.4g}", "frequency": f"{there.sum()}/{replicas}",
            "promised": text(promised),
        },
        _curves(effort) if case["near"] == CONSTANTS[0][1] and not case["largest"] else None,
    )  # fmt: skip


def _curves(effort: Effort) -> Curves:
    near = np.geomspace(0.0002, 0.5, 20)
    away = {
        largest: np.array([
            clustered(TRIANGLE, _inner(m)[None], beta=1e17, gamma=GAMMA, largest=largest).others[0]
            for m in near
        ])
        for largest in (False, True)
    }  # fmt: skip
    return Curves(
        "The far token at T_1, which is made of one of the distances", "near token's distance",
        "far token's distance / τ",
        (Line("least distance, as printed", near, away[False]),
         Line("largest distance", near, away[True]),
         Line("1/(1 − γ)", near, np.full(len(near), 1 / (1 - GAMMA)), bound=True)),
        log_x=True, log_y=True,
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case(10.0, 0.02, 1e9, largest=True),
        Verdict.HOLDS,
        "T_1 of the largest distance is late enough",
    )


CLAIM = Claim(
    name="clustering_as_printed",
    section=5,
    title="Theorem 5.2 with the least distance",
    statement="There is a universal C such that tokens of the chain which start in the eroded "
    "dominance cones are within Cτ of the vertex that leads them at the time T_1, with probability "
    "1 − β^{−1/8} at least if β is large; T_1 and τ are made of the least distance from a vertex.",
    formula="P(‖x_i^{T_1} − v_σ(i)‖ ≤ Cτ for all i) ≥ 1 − β^{−1/8}, "
    "T_1 = ⌊log(τ/m)/log(1 − γ)⌋, m = min_j ‖x_j^0 − v_σ(j)‖",
    source="arXiv 2508.09628v1, Theorem 5.2",
    standing=Standing.FALSE,
    remark="Found by this project. Tokens that all start at one distance do not show it.",
    hypotheses=("a regular simplex", "starts in the eroded dominance cones"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="frequency of replicas within Cτ at T_1, exact binomial interval at 99.9 %",
    horizon="T_1, 400 (long: 4000) replicas, C = 10, 100, 1000",
    arithmetic="float64, seeded",
    expects=Verdict.BROKEN,
    expects_witness="triangle, tokens at 0.02 and 0.6 of a vertex, beta = 1e+09, C = 10: "
    "the far token is at 30 tau",
)
