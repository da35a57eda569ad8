r"""After k bad steps every token is within kγ d(K) of the first hull of its group.

A step is bad for a group if a token of it picks one of another group. Proof: let D be the largest
distance of the group's tokens from its first hull H. A pick inside the group leaves the token
within (1 − γ)D + γD of H, by convexity of the distance; any other within (1 − γ)D + γ d(K), for all
stay in K. A token's own bad steps are not enough: it follows those of its group that strayed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.geometry.dominance import diameter, regular_polygon, regular_simplex
from fwbench.theory.chains import drift
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text

ROUNDING = 1e-12  # of the diameter: a sum of rounded steps
STEPS = 300


def _case(name: str, beta: float, gamma: float, *, alone: bool = False, part: float = 1.0) -> Case:
    """Build three tokens at each corner of a triangle or tetrahedron, those of a triangle spread.

    `part` scales what a bad step may add.
    """
    vertices = regular_polygon(3) if name == "triangle" else regular_simplex(3)
    tokens = np.repeat(vertices, 3, axis=0)
    if name == "triangle":
        tokens += np.random.default_rng(0).normal(scale=0.05, size=tokens.shape)
    counted = "own bad steps" if alone else "bad steps of the group"
    allowed = "" if part == 1 else f", {part:g} of the allowance"
    return Case(
        f"{name}, 3 tokens a vertex, beta = {beta:g}, step {gamma:g}, {counted}{allowed}",
        {
            "tokens": tokens, "groups": np.repeat(np.arange(len(vertices)), 3), "beta": beta,
            "gamma": gamma, "alone": alone, "part": part,
        },
    )  # fmt: skip


def _cases(effort: Effort) -> Iterator[Case]:
    for name in ("triangle", "tetrahedron"):
        for beta in (1.0, 2.0, 4.0):
            for gamma in (0.01, 0.1, 0.5):
                yield _case(name, beta, gamma)
    yield _case("triangle", 2.0, 1.5)  # refused


def _refuses(case: Case) -> str | None:
    return None if 0 < case["gamma"] <= 1 else "the step is not in (0, 1]"


def _check(case: Case, effort: Effort) -> Outcome:
    """Follow each replica, and compare each distance with its number of bad steps."""
    size = diameter(case["tokens"])
    most = case["part"] * case["gamma"] * size
    replicas = effort.of(40, 1000)
    excess, bad = drift(
        case["tokens"], case["groups"], beta=case["beta"], gamma=case["gamma"], replicas=replicas,
        steps=STEPS, most=most, alone=case["alone"], seed=effort.seed,
    )  # fmt: skip
    worst = int(excess.argmax())
    broken = excess[worst] > ROUNDING * size
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS if bad.any() else Verdict.VACUOUS,
        f"{replicas} replicas of {STEPS} steps",
        f"replica {worst}: {text(excess[worst] / most)} bad steps further than allowed"
        if broken else "",
        {"bad steps of a token, mean": text(bad.mean())},
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("triangle", 2.0, 0.5, alone=True), Verdict.BROKEN,
        "a token that never strays itself follows those that did",
    )  # fmt: skip
    yield Control(
        _case("tetrahedron", 2.0, 0.1, part=0.9), Verdict.BROKEN,
        "the first bad step from a corner goes γ d(K) far",
    )  # fmt: skip


CLAIM = Claim(
    name="drift_by_bad_steps",
    section=5,
    title="k bad steps drift kγ d(K) at most",
    statement="After k steps in which a token of the group picked one of another group, every "
    "token of the group is within kγ d(K) of the group's first hull, on every path of the chain.",
    formula="dist(x_i^t, conv{x_j^0: j in the group of i}) ≤ k γ d(K)",
    source="arXiv 2508.09628v1, Theorem 5.4, a step of the proof",
    standing=Standing.CHECKED,
    remark="This is why ε/(γ d(K)) belongs into the theorem in place of ε/γ.",
    hypotheses=("γ in (0, 1]",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="distance from the group's first hull less kγ d(K), all tokens and steps",
    horizon=f"40 (long: 1000) replicas of {STEPS} steps",
    arithmetic="float64, tolerance 1e-12 d(K)",
    expects=Verdict.HOLDS,
    telling="bad steps of a token, mean",
)
