r"""Softmax tokens collapse: the diameter falls below (1 − γc)^t · 2R, to one point of the hull.

Proof with c = e^{−2|β|R²}/n, machine-checked: scores lie in [−|β|R², |β|R²], so that every
attention weight is at least c, and with it every token takes part of every other. Without n, in
this project: two rows of weights have at least n·c = e^{−2|β|R²} in common, so that their averages
differ by at most (1 − nc) times the diameter; γ of each step does, and diameters shrink by
1 − γ e^{−2|β|R²}. Each hull lies in the one before. The time that it takes grows like e^{β c_0}.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

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
    counted,
    text,
)
from fwbench.theory.walks import instance, squared_diameter, walk

SOFTMAX = "softmax_attention[keys=moving,beta={beta},step=constant({gamma})]"
HARDMAX = "hardmax_attention[keys=moving,step=constant({gamma})]"
TRIANGLE = "token_cloud[name=triangle-inner]"
OTHERS = (  # instance, β, γ: dimension 3, B = −I, small steps, γ = 1
    ("token_cloud[n=8,d=3,q=-1.0,seed=1]", "0.1", "0.5"),
    ("token_cloud[n=6,d=2,q=1.0,seed=2]", "0.2", "0.3"),
    ("token_cloud[name=unit-triangle]", "1", "0.05"),
    ("token_cloud[n=5,d=4,q=-1.0,seed=3]", "0.05", "1"),
)
SMALL = 1e-6
OUTSIDE = 1e-9  # residual of the weights of a point of a hull
ROUNDING = 1e-12  # of a diameter that sums of rounded weights move


def _case(cloud: str, beta: str, gamma: str, steps: int, *, solver: str = SOFTMAX) -> Case:
    name = f"{cloud} · {solver.format(beta=beta, gamma=gamma)}"
    given = {"cloud": cloud, "beta": beta, "gamma": gamma, "steps": steps, "power": 2}
    return Case(name, given | {"solver": name.split(" · ")[1]})


def _cases(effort: Effort) -> Iterator[Case]:
    for whole in range(4, effort.of(9, 10)):
        yield _case(TRIANGLE, str(whole), "0.5", 12000)
    for cloud, beta, gamma in OTHERS:
        yield _case(cloud, beta, gamma, 2000)
    yield _case("token_cloud[name=own-cells]", "1", "0.5", 10)  # refused


def _refuses(case: Case) -> str | None:
    if not 0 < float(case["gamma"]) <= 1:
        return "the step is not in (0, 1]"
    problem = instance(case["cloud"])
    image, unit = problem.form.apply(np.eye(problem.d)), np.eye(problem.d)
    return None if (image == unit).all() or (image == -unit).all() else "B is not ±I"


def _in_hull(point: NDArray[np.float64], atoms: NDArray[np.float64]) -> bool:
    from scipy.optimize import nnls

    lifted = np.vstack([atoms.T, np.ones(len(atoms))])
    return bool(nnls(lifted, np.append(point, 1.0))[1] <= OUTSIDE)


def _check(case: Case, effort: Effort) -> Outcome:
    """Walk until the diameter is below 1e-6; the bound is that without n, the smaller one."""
    problem = instance(case["cloud"])
    radius = float(np.sqrt((problem.atoms**2).sum(axis=1)).max())
    overlap = np.exp(-case["power"] * float(case["beta"]) * radius**2)
    shrink = 1 - float(case["gamma"]) * overlap
    sizes, broken = [], ""
    for t, x in walk(problem, case["solver"], case["steps"]):
        sizes.append(float(np.sqrt(squared_diameter(x))))
        bound = shrink**t * 2 * radius
        if sizes[-1] > bound + ROUNDING * radius and not broken:
            broken = f"t = {t}: {text(sizes[-1])} > {text(bound)}"
        if sizes[-1] < SMALL:
            break
    numbers = {"c without n": text(overlap), "c": text(overlap / problem.n)}
    if sizes[-1] < SMALL:
        numbers |= {"steps to 1e-6": text(t), "limit": " ".join(map(text, x.mean(axis=0)))}
        if not _in_hull(x.mean(axis=0), problem.atoms):
            broken = broken or f"t = {t}: the limit {numbers['limit']} lies outside the first hull"
    every = np.unique(np.linspace(0, len(sizes) - 1, 1500).astype(int))
    bounds = np.exp(every * np.log1p(shrink - 1)) * 2 * radius
    curves = Curves(
        f"Diameter of the cloud, {case.name}", "t", "diameter",
        (Line("largest distance", every.astype(float), np.array(sizes)[every]),
         Line("the bound without n", every.astype(float), bounds, bound=True)),
        log_y=True,
        note="It stands for e^{c_0 β} steps, then falls at once; the bound knows no such plateau.",
    )  # fmt: skip
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        counted(len(sizes) - 1, "step"),
        broken,
        numbers,
        curves if case["cloud"] == TRIANGLE and case["beta"] == "7" else None,
    )


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("token_cloud[name=unit-triangle]", "1", "0.5", 50, solver=HARDMAX), Verdict.BROKEN,
        "hardmax tokens at vertices that own their cells stay",
    )  # fmt: skip
    slow = _case(TRIANGLE, "7", "0.5", 12000)
    yield Control(
        Case(slow.name + ", scores in [0, R²]", {**slow.given, "power": 1}), Verdict.BROKEN,
        "a rate that forgets that scores are negative as well is too fast",
    )  # fmt: skip


CLAIM = Claim(
    name="collapse",
    section=5,
    title="softmax tokens collapse to a point of the hull",
    statement="For any β and steps γ in (0, 1] all softmax tokens converge to one point of the "
    "first hull; their diameter after t steps is at most (1 − γc)^t times 2R, R the largest norm, "
    "with c = e^{−2|β|R²}/n, and even without the n.",
    formula="d^t ≤ (1 − γ e^{−2|β|R²})^t · 2R ≤ (1 − γ e^{−2|β|R²}/n)^t · 2R",
    source="arXiv 2508.09628v1, Proposition on the collapse of (SA_β)",
    standing=Standing.CHECKED,
    remark="The paper has it for small γ and without a rate; machine-checked is the bound with n, "
    "the one without is this project's. Steps until the diameter is 1e-6 grow like e^{c_0 β}.",
    hypotheses=("keys are the current tokens", "γ in (0, 1]", "B = ±I"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="largest distance of two tokens against the bound; the limit against the hull",
    horizon="until the diameter is 1e-6, at most 2000 steps (the triangle 12 000)",
    arithmetic="float64, tolerance 1e-12 R on the diameter",
    expects=Verdict.HOLDS,
)  # fmt: skip
