"""Both sides of the bound on the duality gap, over clouds drawn with a seed: for claims."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.ascent import gap_bound
from fwbench.geometry.ownership import semidefinite
from fwbench.schedules import schedule
from fwbench.steps import step_rule
from fwbench.theory.claim import Case, Curves, Line, Outcome, Verdict, text
from fwbench.theory.walks import integer_cloud, key_query, walk

# A positive factor of B changes no leader: β_t enters the bound, not the dynamics.
SOLVER = "hardmax_attention[keys=moving,ties=points,step={step},arithmetic=exact]"
PROPORTIONAL = "3 γ_t"


def temperatures(step: str, beta: str, clouds: int, seed: int) -> Case:
    """Return the case of steps and inverse temperatures; β_t "3 γ_t" is proportional to them.

    Two of three clouds have B ≻ 0, the third one B of rank 1; they are in 2 or 3 dimensions.
    """
    ranks = (1, None, None)
    drawn = [integer_cloud(5, 2 + k % 2, seed + k, rank=ranks[k % 3]) for k in range(clouds)]
    name = f"step {step}, β_t = {beta}, clouds from seed {seed}"
    return Case(name, {"step": step, "beta": beta, "clouds": drawn})


def indefinite(case: Case) -> str | None:
    """Return which cloud of a case has a B that is not positive semidefinite, or None."""
    bad = [name for name, cloud in case["clouds"] if not semidefinite(key_query(cloud))]
    return f"B is not positive semidefinite: {bad[0]}" if bad else None


def outside(gamma: NDArray[Any]) -> str | None:
    """Return that a step is not in (0, 1), if so."""
    return None if ((gamma > 0) & (gamma < 1)).all() else "a step is not in (0, 1)"


def ratio(case: Case, steps: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return γ_t and β_t exactly, for t = 0, …, steps."""
    gamma = step_rule(case["step"]).exact_lengths(0, steps + 1)
    if case["beta"] == PROPORTIONAL:
        return gamma, 3 * gamma
    beta = schedule(case["beta"])
    return gamma, np.array([beta.exactly(t) for t in range(steps + 1)], dtype=object)


def gap_outcome(case: Case, steps: int) -> Outcome:
    """Compare both sides for every token of every cloud at t = 1, …, steps."""
    gamma, beta = ratio(case, steps)
    broken, runs, worst, drawn = "", 0, 0.0, None
    for name, problem in case["clouds"]:
        path = np.array([x for _, x in walk(problem, SOLVER.format(step=case["step"]), steps)])
        least, bound = gap_bound(path, key_query(problem), gamma, beta)
        pairs = zip(least.ravel(), bound.ravel(), strict=True)
        worst = max([worst, *(float(left / right) for left, right in pairs if right > 0)])
        over = np.argwhere(least > bound)
        runs += len(over) > 0
        if drawn is None:
            drawn = _drawn(name, least, bound, int(over[0, 1]) if len(over) else 0)
        if len(over) and not broken:
            t, i = over[0]
            sides = f"{text(float(least[t, i]))} > {text(float(bound[t, i]))}"
            broken = f"{name}, t = {t + 1}, token {i}: {sides}"
    clouds = len(case["clouds"])
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        f"{clouds} clouds, {steps} steps",
        broken,
        {"runs that break it": f"{runs} of {clouds}", "largest ratio of the sides": text(worst)},
        drawn,
    )


def _drawn(name: str, least: NDArray[Any], bound: NDArray[Any], token: int) -> Curves:
    """Return the figure of one token of one cloud."""
    t = np.arange(1.0, len(least) + 1)
    return Curves(
        f"Duality gap of token {token}, {name}",
        "t",
        "gap",
        (
            Line("least gap so far", t, least[:, token].astype(float)),
            Line("bound", t, bound[:, token].astype(float), bound=True),
        ),
    )
