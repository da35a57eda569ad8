"""Hardmax attention is Frank-Wolfe: its leader solves the linear problem over the hull.

A linear form is largest at a vertex, and vertices are tokens. With keys that stay, all iterates are
those of Frank-Wolfe, as rationals; with keys that move, each step is one over the hull of the
moment. The leader is read off the step: x + (x⁺ − x)/γ.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.ownership import scores
from fwbench.problem import QuadraticOverHull
from fwbench.steps import step_rule
from fwbench.theory.claim import (
    Case,
    Claim,
    Control,
    Effort,
    Outcome,
    Standing,
    Verdict,
    counted,
    text,
)
from fwbench.theory.walks import hardmax, instance, integer_cloud, key_query, walk

FRANK_WOLFE = "frank_wolfe[step={step},arithmetic=exact]"
STEP = "open_loop(2)"
TRIANGLE = "token_cloud[name=triangle-20]"
GAMMA = "harmonic(2,3)"  # never 1: a leader can be read off the step
CLOSE = 1e-12  # of the scale of the scores: the linear programme is solved in floats
STEPS = (12, 40)
LAYERS = (2, 6)
DRAWS = (5, 20)


def _case(name: str, kind: str, keys: str, problem: QuadraticOverHull | None = None) -> Case:
    given = {"problem": problem or instance(name), "kind": kind, "keys": keys}
    return Case(f"{name}, {kind}, keys {keys}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    for cloud in ("own-cells", "chained", "four-one", "three-one", "triangle-20"):
        yield _case(f"token_cloud[name={cloud}]", "iterates", "fixed")
    for k in range(effort.of(*DRAWS)):
        name, problem = integer_cloud(7, 2 + k % 3, effort.seed + k)
        yield _case(name, "iterates", "fixed", problem)
        yield _case(name, "linear programme", "moving", problem)
    yield _case(TRIANGLE, "linear programme", "moving")
    yield _case(TRIANGLE, "iterates", "moving")


def _refuses(case: Case) -> str | None:
    if case["kind"] == "iterates" and case["keys"] == "moving":
        return "keys move, so the feasible set does"
    return None


def _check(case: Case, effort: Effort) -> Outcome:
    if case["kind"] == "iterates":
        return _iterates(case["problem"], case["keys"], effort.of(*STEPS))
    return _programmes(case["problem"], effort.of(*LAYERS), case["kind"])


def _iterates(problem: QuadraticOverHull, keys: str, steps: int) -> Outcome:
    """Compare every token with Frank-Wolfe from the same start, exactly."""
    ours = [x for _, x in walk(problem, hardmax(STEP, keys=keys, ties="lowest"), steps)]
    broken = ""
    for i in range(problem.start.m):
        alone = problem.starting_at(problem.start.one(i))
        for t, theirs in walk(alone, FRANK_WOLFE.format(step=STEP), steps):
            if (ours[t][i] != theirs[0]).any() and not broken:
                broken = f"t = {t}: token {i} at {_point(ours[t][i])}, not {_point(theirs[0])}"
    return Outcome(Verdict.BROKEN if broken else Verdict.HOLDS, counted(steps, "step"), broken)


def _programmes(problem: QuadraticOverHull, layers: int, kind: str) -> Outcome:
    """Compare the value at each leader with that of a linear programme over the hull."""
    B, gamma = key_query(problem), step_rule(GAMMA).exact_lengths(0, layers)
    path = [x for _, x in walk(problem, hardmax(GAMMA), layers)]
    worst, count, broken = 0.0, 0, ""
    for t in range(layers):
        x, target = path[t], path[t] + (path[t + 1] - path[t]) / gamma[t]
        if kind.endswith("halfway"):
            target = (x + target) / 2
        values = np.array([scores(x[i : i + 1], target[i : i + 1], B)[0, 0] for i in range(len(x))])
        table = scores(x, x, B).astype(float)
        size = np.abs(table).max()
        for i in range(len(x)):
            best = _linear_programme(table[i], x.astype(float))
            apart = abs(float(values[i]) - best) / size
            worst, count = max(worst, apart), count + 1
            if apart > CLOSE and not broken:
                broken = f"t = {t}, token {i}: {text(values[i])} against {text(best)}"
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS, f"{count} linear programmes", broken,
        {"largest difference, relative": text(worst)},
    )  # fmt: skip


def _linear_programme(row: NDArray[np.float64], x: NDArray[np.float64]) -> float:
    """Return max ⟨row, w⟩ over w ≥ 0, Σw = 1, the point Σ w_j x_j written out as variables too."""
    from scipy.optimize import linprog

    n, d = x.shape
    equal: NDArray[Any] = np.block(
        [[x.T, -np.eye(d)], [np.ones((1, n)), np.zeros((1, d))]]
    )  # Σ w_j x_j = y, Σ w_j = 1
    bounds = [(0, None)] * n + [(None, None)] * d
    costs = np.append(-row, np.zeros(d))
    found = linprog(costs, A_eq=equal, b_eq=np.append(np.zeros(d), 1.0), bounds=bounds)
    return float(row @ np.asarray(found.x)[:n])


def _point(x: NDArray[Any]) -> str:
    return f"({', '.join(map(text, x))})"


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case(TRIANGLE, "iterates", "moving"), Verdict.BROKEN,
        "with moving keys it is no Frank-Wolfe method on the first hull",
    )  # fmt: skip
    yield Control(
        _case(TRIANGLE, "linear programme, halfway", "moving"), Verdict.BROKEN,
        "the point halfway to the leader does not attain the maximum",
    )  # fmt: skip


CLAIM = Claim(
    name="attention_is_frank_wolfe",
    section=2,
    title="hardmax attention takes Frank-Wolfe steps",
    statement="The most attended token attains the maximum of ⟨Bx, y⟩ over the hull of the tokens. "
    "So with fixed keys hardmax attention is Frank-Wolfe, iterate by iterate; with moving keys it "
    "is a Frank-Wolfe step over the hull of each layer.",
    formula="max_j ⟨Bx_i, x_j⟩ = max_{y∈K} ⟨Bx_i, y⟩",
    source="arXiv 2508.09628v1, equation (4)",
    standing=Standing.PROVED,
    remark="By definition, so what is checked is the code: the layer against a linear programme "
    "and against another solver.",
    hypotheses=("iterates are compared for fixed keys",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="values at leaders and of linear programmes; tokens and iterates of frank_wolfe",
    horizon="2 layers of linear programmes, 12 steps; long: 6, 40",
    arithmetic="iterates exact (fractions); linear programmes in floats, 1e-12 of the scale",
    expects=Verdict.HOLDS,
    telling="largest difference, relative",
)
