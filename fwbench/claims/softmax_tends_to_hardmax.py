"""Softmax tends to hardmax, exponentially in β times the gap of the two best scores.

Proof: a key other than the leader has weight at most e^(−βΔ), there are n − 1 of them, and none is
farther from the leader than the diameter.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

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
from fwbench.theory.walks import cloud_of, instance, key_query, squared_diameter, walk

SOFT = "softmax_attention[keys=moving,step=constant(1),beta={beta}]"
BETAS = (1, 10, 100, 1000)
DRAWS = (8, 60)
ROUNDING = 1e-13  # of the diameter: at β = 1000 nothing else is left


def _case(name: str, problem: QuadraticOverHull, factor: int = 1) -> Case:
    return Case(name, {"problem": problem, "factor": factor})


def _cases(effort: Effort) -> Iterator[Case]:
    for cloud in ("own-cells", "chained", "relayed"):
        name = f"token_cloud[name={cloud}]"
        yield _case(name, instance(name))
    for seed in range(effort.seed, effort.seed + effort.of(*DRAWS)):
        name = f"token_cloud[n=12,d={2 + seed % 4},q=-1,seed={seed}]"
        yield _case(name, instance(name))
    cross = np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [0, 0]])
    yield _case("square and its middle, B = 1", cloud_of(cross, np.array([1, 1])))


def _margins(problem: QuadraticOverHull) -> np.ndarray:
    """Return Δ, by how much the best score exceeds the second best, exactly; shape (n,)."""
    x = problem.exact_atoms
    ranked = np.sort(scores(x, x, key_query(problem)), axis=1)
    return np.asarray(ranked[:, -1] - ranked[:, -2])


def _refuses(case: Case) -> str | None:
    margins = _margins(case["problem"])
    tied = margins == 0
    return f"two keys tie at token {int(tied.argmax())}" if tied.any() else None


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare how far the softmax mean is from the leader with the bound, at each β."""
    problem: QuadraticOverHull = case["problem"]
    exact = problem.exact_atoms
    lead = scores(exact, exact, key_query(problem)).argmax(axis=1)
    margins = _margins(problem).astype(float)
    diameter = float(squared_diameter(problem.atoms)) ** 0.5
    numbers, errors, bounds, broken = {}, [], [], ""
    for beta in BETAS:
        *_, (_, x) = walk(problem, SOFT.format(beta=beta), 1)
        error = np.linalg.norm(x - problem.atoms[lead], axis=1)
        bound = (problem.n - 1) * diameter * np.exp(-case["factor"] * beta * margins)
        over = error > bound + ROUNDING * diameter
        if over.any() and not broken:
            i = int(over.argmax())
            broken = f"β = {beta}: token {i}: {text(error[i])} > {text(bound[i])}"
        errors.append(error.max())
        bounds.append(bound.max())
        numbers[f"largest error at β = {beta}"] = text(error.max())
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS, f"β up to {BETAS[-1]}", broken, numbers,
        Curves(
            f"Distance of the softmax mean to the leader, {case.name}", "β", "distance",
            (Line("largest", np.array(BETAS, float), _seen(errors)),
             Line("bound", np.array(BETAS, float), _seen(bounds), bound=True)),
            log_x=True, log_y=True,
        ),
    )  # fmt: skip


def _seen(values: list[float]) -> np.ndarray:
    """Return values for a logarithmic axis: what has underflowed is not shown."""
    found = np.array(values)
    return np.where(found > 1e-300, found, np.nan)


def _controls(effort: Effort) -> Iterator[Control]:
    name = "token_cloud[name=own-cells]"
    yield Control(
        _case(f"{name}, twice the exponent", instance(name), factor=2), Verdict.BROKEN,
        "with 2βΔ in place of βΔ: too good to be true",
    )  # fmt: skip


CLAIM = Claim(
    name="softmax_tends_to_hardmax",
    section=2,
    title="softmax tends to hardmax",
    statement="Where one key leads by Δ, the softmax mean is within (n − 1) times the diameter "
    "times e^(−βΔ) of it.",
    formula="‖Σ_j a_ij x_j − leader(x_i)‖ ≤ (n − 1) d(K) e^(−βΔ_i)",
    source="arXiv 2508.09628v1, equation (3) (the limit β → ∞); the bound: this project",
    standing=Standing.PROVED,
    remark="Where keys tie the limit is their mean, each index counted: see ties_differ.",
    hypotheses=("one key leads at every token",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="where a softmax step of length 1 lands, against the leader",
    horizon="β = 1, 10, 100, 1000",
    arithmetic="floats, 1e-13 of the diameter allowed; leaders and Δ exactly",
    expects=Verdict.HOLDS,
    telling="largest error at β = 1000",
)
