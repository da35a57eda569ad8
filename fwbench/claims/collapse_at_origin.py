r"""Softmax tokens collapse at the origin: the abstract of the first version. False.

Each step moves tokens to averages of tokens, so hulls are nested: once the origin lies outside one
of them, no token can come back to it. In the plane that is soon the case unless symmetry holds it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

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
from fwbench.theory.walks import instance, squared_diameter, walk

SOFTMAX = "softmax_attention[keys=moving,beta={beta},step=constant({gamma})]"
STEPS = 3000
SMALL = 1e-6
OUTSIDE = 1e-9  # residual of the origin as a combination of tokens, of the first radius


def _case(cloud: str, beta: str, gamma: str) -> Case:
    given = {"cloud": cloud, "solver": SOFTMAX.format(beta=beta, gamma=gamma), "gamma": gamma}
    return Case(f"{cloud} · {given['solver']}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    yield _case("token_cloud[name=triangle-inner]", "4", "0.5")
    yield _case("token_cloud[name=triangle-inner]", "4", "0.05")  # small steps do not help
    yield _case("token_cloud[n=12,d=3,q=-1.0,seed=1]", "0.5", "0.5")
    yield _case("token_cloud[n=4,d=2,q=-1.0,seed=6]", "1", "0.5")  # refused


def _distance(tokens: NDArray[np.float64]) -> float:
    """Return how far the origin is from their hull, up to the residual of a least-squares fit."""
    from scipy.optimize import nnls

    lifted = np.vstack([tokens.T, np.full(len(tokens), np.sqrt((tokens**2).sum(axis=1).max()))])
    return float(nnls(lifted, np.append(np.zeros(tokens.shape[1]), lifted[-1, 0]))[1])


def _refuses(case: Case) -> str | None:
    if not 0 < float(case["gamma"]) < 1:
        return "the step is not in (0, 1)"
    atoms = instance(case["cloud"]).atoms
    inside = _distance(atoms) <= OUTSIDE * np.abs(atoms).max()
    return None if inside else "the origin lies outside the first hull"


def _check(case: Case, effort: Effort) -> Outcome:
    """Look for the first step after which the origin is outside, and for the common limit."""
    problem = instance(case["cloud"])
    radius, lost = np.abs(problem.atoms).max(), None
    for t, x in walk(problem, case["solver"], STEPS):
        if lost is None and _distance(x) > OUTSIDE * radius:
            lost = t
        if squared_diameter(x) < SMALL**2:
            break
    limit = x.mean(axis=0)
    away = float(np.sqrt(limit @ limit))
    numbers = {"limit": " ".join(map(text, limit)), "steps to 1e-6": text(t)}
    numbers |= {} if lost is None else {"origin lost at t": text(lost)}
    if squared_diameter(x) >= SMALL**2:
        return Outcome(Verdict.INCONCLUSIVE, counted(t, "step"), "", numbers)
    far = lost is not None and away > SMALL  # both: the hull has lost it, and all are off it
    where = ", ".join(f"{z:.3f}" for z in limit)
    return Outcome(
        Verdict.BROKEN if far else Verdict.HOLDS,
        counted(t, "step"),
        f"the limit is ({where}), the origin is outside from t = {lost}" if far else "",
        numbers,
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("token_cloud[n=6,d=2,q=-1.0,seed=0,mirrored=true]", "1", "0.5"), Verdict.HOLDS,
        "a cloud that is its own mirror image keeps the origin in its hull",
    )  # fmt: skip


CLAIM = Claim(
    name="collapse_at_origin",
    section=5,
    title="softmax tokens collapse at the origin",
    statement="Softmax tokens whose hull holds the origin converge to the origin.",
    formula="x_i^t → 0",
    source="arXiv 2508.09628v1, abstract",
    standing=Standing.FALSE,
    remark="The statement in section 5 says a point of the hull, the abstract of the conference "
    "version too; only that of the first version names the origin.",
    hypotheses=("keys are the current tokens", "the origin lies in the first hull",
                "γ in (0, 1)"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="the common limit; the first step after which the origin is outside the hull",
    horizon="until the diameter is 1e-6",
    arithmetic="float64; a residual of 1e-9 radii counts as inside",
    expects=Verdict.BROKEN,
    expects_witness="token_cloud[name=triangle-inner] · softmax_attention[keys=moving,beta=4,"
    "step=constant(0.5)]: the limit is (0.128, -0.030), the origin is outside from t = 19",
)  # fmt: skip
