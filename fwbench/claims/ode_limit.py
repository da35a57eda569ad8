"""Small steps follow the differential equation, with an error of D/(2e) times the step.

By the closed forms a token's error at time kh is |(1 − γ)^k − e^(−kh)| times its distance D to its
vertex. For γ = h and for γ = h/(1 + h) that is (h/2) s e^(−s) at s = kh, up to O(h²), from above
and from below; s e^(−s) is at most 1/e.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.ownership import scores
from fwbench.problem import QuadraticOverHull
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
from fwbench.theory.walks import (
    hardmax,
    instance,
    integer_cloud,
    key_query,
    outside_theorem_4_2,
    walk,
)

TIME = 2
LENGTHS = ("1/10", "1/20", "1/40", "1/80")
LONGER = ("1/160", "1/320")
SCHEMES = {"h": lambda h: h, "h/(1 + h)": lambda h: h / (1 + h)}


def _case(name: str, problem: QuadraticOverHull, scheme: str) -> Case:
    return Case(f"{name}, γ = {scheme}", {"problem": problem, "scheme": scheme})


def _named(name: str, scheme: str) -> Case:
    name = f"token_cloud[name={name}]"
    return _case(name, instance(name), scheme)


def _cases(effort: Effort) -> Iterator[Case]:
    for scheme in SCHEMES:
        yield _named("own-cells", scheme)
        yield _named("relayed", scheme)
        yield _case(*integer_cloud(6, 2, seed=3), scheme)


def _refuses(case: Case) -> str | None:
    return outside_theorem_4_2(case["problem"])


def _error(problem: QuadraticOverHull, gamma: Fraction, h: float, goal: NDArray[np.int64]) -> float:
    """Return the largest distance to the solution e^(−t) x⁰ + (1 − e^(−t)) v on [0, TIME]."""
    start, worst = problem.atoms, 0.0
    step = hardmax(f"constant({gamma})", arithmetic="float")
    for k, x in walk(problem, step, round(TIME / h)):
        decay = np.exp(-k * h)
        away = x - decay * start - (1 - decay) * start[goal]
        worst = max(worst, float(np.linalg.norm(away, axis=1).max()))
    return worst


def _check(case: Case, effort: Effort) -> Outcome:
    """Ask that error/h is within h of its limit, relatively."""
    problem: QuadraticOverHull = case["problem"]
    exact = problem.exact_atoms
    goal = scores(exact, exact, key_query(problem)).argmax(axis=1)
    limit = float(np.linalg.norm(problem.atoms - problem.atoms[goal], axis=1).max()) / (2 * math.e)
    lengths = (*LENGTHS, *LONGER) if effort.long else LENGTHS
    found, broken = [], ""
    for length in lengths:
        h = Fraction(length)
        error = _error(problem, SCHEMES[case["scheme"]](h), float(h), goal) / float(h)
        found.append(error)
        if abs(error / limit - 1) > h and not broken:
            broken = f"h = {length}: error/h = {text(error)}, not {text(limit)}"
    h_s = np.array([float(Fraction(length)) for length in lengths])
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS, f"h down to {lengths[-1]}", broken,
        {f"error/h at h = {length}": f"{e:.4f}" for length, e in zip(lengths, found, strict=True)}
        | {"D/(2e)": f"{limit:.4f}"},
        Curves(
            f"Largest error on [0, {TIME}] over the step, {case.name}", "h", "error/h",
            (Line(f"γ = {case['scheme']}", h_s, np.array(found)),
             Line("limit D/(2e)", h_s, np.full(len(h_s), limit))),
            log_x=True,
            note="The limit is no bound: one scheme comes down to it, the other one comes up.",
        ),
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _named("relayed", "h"), Verdict.BROKEN,
        "a token follows a vertex that leaves, so it does not go straight",
    )  # fmt: skip


CLAIM = Claim(
    name="ode_limit",
    section=4,
    title="small steps follow the differential equation",
    statement="Under the assumptions of Theorem 4.2 the layers with γ = h or γ = h/(1 + h) follow "
    "the solution of the differential equation; the largest error, divided by h, tends to D/(2e), "
    "D the longest way of a token to its vertex.",
    formula="max_k ‖x_i^k − e^(−kh) x_i⁰ − (1 − e^(−kh)) v_σ(i)‖ = D h/(2e) + O(h²)",
    source="arXiv 2508.09628v1, section 4 (theorem on the differential equation); the constant: "
    "this project",
    standing=Standing.PROVED,
    hypotheses=("B ≻ 0", "every vertex owns its cell strictly", "every token lies in one cell",
                "the horizon is beyond time 1"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="error/h against D/(2e), within a relative h",
    horizon="times up to 2, h from 1/10 to 1/80; long: 1/320",
    arithmetic="floats: errors are far above rounding",
    expects=Verdict.HOLDS,
)  # fmt: skip
