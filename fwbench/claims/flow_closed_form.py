"""The flow goes straight to the vertices: e^(−t) x⁰ + (1 − e^(−t)) v solves the equation.

Proof: on that segment the vertex leads all the time (Theorem 4.2's assumptions), so the right-hand
side is v − x, of which this is the solution. Checked against a numerical integrator that looks for
changes of leaders.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.geometry.ownership import scores
from fwbench.problem import QuadraticOverHull
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.walks import instance, integer_cloud, key_query, outside_theorem_4_2, walk

FLOW = "attention_flow[h=0.25,keys=moving,method=integrate]"
H = 0.25
CLOSE = 1e-10  # of the radius: the tolerance of the integrator
STEPS = (12, 60)
DRAWS = (12, 60)


def _named(name: str) -> Case:
    name = f"token_cloud[name={name}]"
    return Case(name, {"problem": instance(name)})


def _cases(effort: Effort) -> Iterator[Case]:
    yield _named("own-cells")
    yield _named("unit-triangle")
    yield _named("triangle-inner")
    yield _named("relayed")
    for seed in range(effort.seed, effort.seed + effort.of(*DRAWS)):
        name, problem = integer_cloud(5, 2 + seed % 2, seed)
        yield Case(name, {"problem": problem})


def _refuses(case: Case) -> str | None:
    return outside_theorem_4_2(case["problem"])


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare the integrated points with the formula at multiples of H."""
    problem: QuadraticOverHull = case["problem"]
    exact, start, steps = problem.exact_atoms, problem.atoms, effort.of(*STEPS)
    goal = start[scores(exact, exact, key_query(problem)).argmax(axis=1)]
    worst, broken = 0.0, ""
    for k, x in walk(problem, FLOW, steps):
        decay = np.exp(-k * H)
        apart = np.linalg.norm(x - decay * start - (1 - decay) * goal, axis=1) / problem.radius
        worst = max(worst, float(apart.max()))
        if apart.max() > CLOSE and not broken:
            i = int(apart.argmax())
            broken = f"time {k * H:g}: token {i} is off by {text(apart[i])} of the radius"
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS, f"times up to {steps * H:g}", broken,
        {"largest error, of the radius": f"{worst:.1e}"},
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _named("relayed"), Verdict.BROKEN,
        "a token follows a vertex that leaves, so it does not go straight",
    )  # fmt: skip


CLAIM = Claim(
    name="flow_closed_form",
    section=4,
    title="the flow goes straight to the vertices",
    statement="Under the assumptions of Theorem 4.2 the differential equation x' = leader(x) − x "
    "has the solution in which each token goes straight to the vertex of its cell.",
    formula="x_i(t) = e^(−t) x_i⁰ + (1 − e^(−t)) v_σ(i)",
    source="arXiv 2508.09628v1, section 4 (theorem on the differential equation)",
    standing=Standing.CHECKED,
    hypotheses=("B ≻ 0", "every vertex owns its cell strictly", "every token lies in one cell"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="points of a numerical integrator against the formula, 1e-10 of the radius allowed",
    horizon="times up to 3; long: 15",
    arithmetic="floats; assumptions exactly",
    expects=Verdict.HOLDS,
    telling="largest error, of the radius",
)
