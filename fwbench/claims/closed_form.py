"""Theorem 4.2's closed form: where vertices own their cells, each token goes straight to its own.

Checked as equality of rationals, step by step, together with what it implies: vertices stay, so
the hull does, and no token changes its cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from fwbench.geometry.ownership import labels, scores
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
from fwbench.theory.walks import (
    extreme,
    instance,
    integer_cloud,
    key_query,
    outside_theorem_4_2,
    walk,
)

SOLVER = "hardmax_attention[keys={keys},ties={ties},step={step},arithmetic=exact]"
RISING = "rising(2,3)"  # (t + 1)/(t + 3)
STEPS = (RISING, "harmonic(2,3)", "constant(1/3)", "geometric(1/2,1/2)")
OTHERS = (("fixed", "points"), ("moving", "indices"), ("moving", "lowest"))
HORIZON = (25, 100)
# of twelve draws a few have vertices that all own their cells
DRAWS = (12, 60)


def _case(name: str, problem: QuadraticOverHull, step: str, keys: str, ties: str) -> Case:
    given = {"problem": problem, "step": step, "keys": keys, "ties": ties}
    return Case(f"{name}, step {step}, keys {keys}, ties {ties}", given)


def _named(name: str, step: str = RISING, keys: str = "moving", ties: str = "points") -> Case:
    name = f"token_cloud[name={name}]"
    return _case(name, instance(name), step, keys, ties)


def _cases(effort: Effort) -> Iterator[Case]:
    for step in STEPS:
        yield _named("own-cells", step)
    for keys, ties in OTHERS:
        yield _named("own-cells", keys=keys, ties=ties)
    yield _named("chained")
    for seed in range(effort.seed, effort.seed + effort.of(*DRAWS)):
        name, problem = integer_cloud(6, 2 + seed % 2, seed)
        yield _case(name, problem, RISING, "moving", "points")


def _refuses(case: Case) -> str | None:
    return outside_theorem_4_2(case["problem"])


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare all points with the formula, all labels and all vertices with those of the start."""
    problem, steps = case["problem"], effort.of(*HORIZON)
    start, B = problem.exact_atoms, key_query(problem)
    vertices = extreme(start)
    seen = vertices[scores(start, start[vertices], B).argmax(axis=1)]
    gamma = step_rule(case["step"]).exact_lengths(0, steps)
    left, first = Fraction(1), dict[str, tuple[int, str]]()
    solver = SOLVER.format(step=case["step"], keys=case["keys"], ties=case["ties"])
    for t, x in walk(problem, solver, steps):
        expected = left * start + (1 - left) * start[seen]
        if (wrong := (x != expected).any(axis=1)).any():
            i = int(wrong.argmax())
            first.setdefault(
                "formula", (t, f"token {i} at {_point(x[i])}, not {_point(expected[i])}")
            )
        if (moved := (x[vertices] != start[vertices]).any(axis=1)).any():
            i = int(vertices[moved.argmax()])
            first.setdefault(
                "vertex", (t, f"vertex {i} leaves {_point(start[i])} for {_point(x[i])}")
            )
        if (new := vertices[labels(x, x[vertices], B)] != seen).any():
            first.setdefault("label", (t, f"token {int(new.argmax())} leaves its cell"))
        if t < steps:
            left *= 1 - gamma[t]
    earliest = min(first.values(), default=None)
    return Outcome(
        Verdict.BROKEN if first else Verdict.HOLDS,
        counted(steps, "step"),
        f"t = {earliest[0]}: {earliest[1]}" if earliest else "",
        {"part of the way left": text(float(left)), "cells in use": text(len(set(seen)))}
        | {f"{what} fails at t": text(t) for what, (t, _) in first.items()},
    )


def _point(x: NDArray[Any]) -> str:
    return f"({', '.join(map(text, x))})"


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _named("chained"), Verdict.BROKEN,
        "the second vertex does not own its cell, and leaves",
    )  # fmt: skip
    yield Control(
        _named("relayed"), Verdict.BROKEN,
        "a token follows a vertex that leaves: the formula fails as well",
    )  # fmt: skip


CLAIM = Claim(
    name="closed_form",
    section=4,
    title="each token goes straight to the vertex whose cell it is in",
    statement="If B is positive definite, every vertex of the first hull owns its cell strictly "
    "and every token lies in exactly one cell, then each token stays on the segment to its vertex; "
    "vertices and hull stay, and no token changes its cell.",
    formula="x_i^t = p_t x_i⁰ + (1 − p_t) v_σ(i),  p_t = ∏_{τ<t} (1 − γ_τ)",
    source="arXiv 2508.09628v1, Theorem 4.2",
    standing=Standing.CHECKED,
    remark="True for any steps in (0, 1) and any rule for ties. What the theorem says of the rate "
    "is another matter: see rate_as_printed.",
    hypotheses=("B ≻ 0", "every vertex owns its cell strictly", "every token lies in one cell"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="every coordinate of every token against the formula: equality",
    horizon="25 steps; long: 100",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
)
