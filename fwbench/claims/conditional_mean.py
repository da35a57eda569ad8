r"""Given the tokens, the mean of the chain's next step is the softmax layer.

At once from the law: Σ_j a_ij ((1 − γ)x_i + γx_j). It is so for one step only: the layer is not
linear, so the mean of two steps is not two layers. A mean of r replicas of a coordinate that lies
in an interval of length w is off by more than w √(log(2/α)/2r) with probability α at most
(Hoeffding): no normal approximation enters.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.intervals import CONFIDENCE
from fwbench.theory.walks import instance, walk

CHAIN = "markov_attention[keys=moving,beta={beta},step=constant({gamma}),replicas={r},seed={seed}]"
LAYER = "softmax_attention[keys=moving,beta={beta},step=constant({gamma})]"


def _case(cloud: str, beta: str, gamma: str, *, steps: int = 1) -> Case:
    after = "" if steps == 1 else f", {steps} steps"
    given = {"cloud": cloud, "beta": beta, "gamma": gamma, "steps": steps}
    return Case(f"{cloud}, beta = {beta}, step {gamma}{after}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    yield _case("token_cloud[name=triangle-inner]", "2", "0.5")
    yield _case("token_cloud[name=own-cells]", "0.3", "0.1")  # B = diag(2, 1)
    yield _case("token_cloud[n=6,d=3,q=-1.0,seed=1]", "0.5", "1")
    yield _case("token_cloud[n=5,d=2,q=1.0,seed=2]", "1", "0.5")  # B = −I
    yield _case("token_cloud[name=triangle-inner]", "2", "0.5", steps=2)  # refused


def _refuses(case: Case) -> str | None:
    return None if case["steps"] == 1 else "more than one step: the layer is not linear"


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare means of replicas with the layer, coordinate by coordinate."""
    problem, replicas, steps = instance(case["cloud"]), effort.of(20_000, 400_000), case["steps"]
    numbers = {"beta": case["beta"], "gamma": case["gamma"], "r": replicas, "seed": effort.seed}
    [*_, (_, drawn)] = walk(problem, CHAIN.format(**numbers), steps)
    [*_, (_, layer)] = walk(problem, LAYER.format(**numbers), steps)
    mean = drawn.reshape(replicas, problem.n, problem.d).mean(axis=0)
    # after s steps a token is its start and 1 − (1 − γ)^s of points of the hull
    moved = 1 - (1 - float(case["gamma"])) ** steps
    widths = np.ptp(problem.atoms, axis=0) * moved
    alpha = (1 - CONFIDENCE) / mean.size
    allowed = widths * np.sqrt(np.log(2 / alpha) / (2 * replicas))
    excess = np.abs(mean - layer) / allowed
    i, j = np.unravel_index(int(excess.argmax()), excess.shape)
    broken = excess[i, j] > 1
    witness = f"token {i + 1}, coordinate {j + 1}: mean {text(mean[i, j])}, layer "
    witness += f"{text(layer[i, j])}, allowed {text(allowed[j])}"
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        f"{replicas} replicas",
        witness if broken else "",
        {"largest deviation, of what is allowed": text(excess[i, j])},
    )


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("token_cloud[name=triangle-inner]", "3", "1", steps=2), Verdict.BROKEN,
        "the mean of two steps is not two layers",
    )  # fmt: skip


CLAIM = Claim(
    name="conditional_mean",
    section=5,
    title="the chain's mean step is the softmax layer",
    statement="Given the tokens, the mean of each token after one step of the chain is where the "
    "softmax layer puts it.",
    formula="E[x_i^{t+1} | x^t] = (1 − γ)x_i^t + γ Σ_j a_ij x_j^t",
    source="arXiv 2508.09628v1, equations (SA_β) and (SA_P)",
    standing=Standing.PROVED,
    remark="Over several steps the means part, for the layer is not linear.",
    hypotheses=("one step",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="mean of each coordinate against the layer, Hoeffding's intervals, 99.9 % for all",
    horizon="one step, 20 000 (long: 400 000) replicas",
    arithmetic="float64, seeded",
    expects=Verdict.HOLDS,
    telling="largest deviation, of what is allowed",
)
