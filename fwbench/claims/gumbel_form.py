r"""A pick of the chain is the largest of scores with Gumbel noise: it has the softmax law.

Proof: E_k e^{−s_k} with E_k standard exponential is exponential with rate e^{s_k}, and of clocks
with such rates number j rings first with probability e^{s_j}/Σ_k e^{s_k}; −log E_k is a Gumbel
variable. That the code draws so is checked pick by pick, with exact intervals for every pair.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwbench.theory.chains import first_picks, law
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.intervals import CONFIDENCE, binomial
from fwbench.theory.walks import instance


def _case(cloud: str, beta: float, *, law_at: float | None = None) -> Case:
    other = "" if law_at is None else f", law at beta = {law_at:g}"
    given = {"cloud": cloud, "beta": beta, "law": beta if law_at is None else law_at}
    return Case(f"{cloud}, beta = {beta:g}{other}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    yield _case("token_cloud[name=triangle-inner]", 2.0)
    yield _case("token_cloud[name=triangle-pairs]", 1.0)  # coinciding tokens
    yield _case("token_cloud[name=own-cells]", 0.3)  # B = diag(2, 1)
    yield _case("token_cloud[n=9,d=3,q=-1.0,seed=1]", 0.5)
    yield _case("token_cloud[n=5,d=2,q=1.0,seed=2]", 1.0)  # B = −I
    yield _case("token_cloud[n=5,d=2,q=1.0,seed=2]", 0.0)  # refused


def _refuses(case: Case) -> str | None:
    return None if case["beta"] > 0 else "β is not positive"


def _check(case: Case, effort: Effort) -> Outcome:
    """Count the picks of every pair; each has an interval, all together at 99.9 %."""
    problem, replicas = instance(case["cloud"]), effort.of(20_000, 400_000)
    picks = first_picks(problem, case["beta"], replicas=replicas, seed=effort.seed)
    expected, n = law(problem, case["law"]), problem.n
    confidence, broken, worst = 1 - (1 - CONFIDENCE) / n**2, "", 0.0
    for i in range(n):
        counts = np.bincount(picks[:, i], minlength=n)
        for j in range(n):
            p, count = expected[i, j], int(counts[j])
            interval = binomial(count, replicas, confidence)
            worst = max(worst, abs(count / replicas - p) / np.sqrt(p * (1 - p) / replicas))
            if not interval.low <= p <= interval.high and not broken:
                broken = f"token {i + 1} picks {j + 1}: {text(p)} not in {interval.text}"
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        f"{replicas} replicas of one step",
        broken,
        {"largest deviation, in standard deviations": f"{worst:.2f}", "pairs": text(n * n)},
    )


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("token_cloud[name=triangle-inner]", 2.0, law_at=2.1), Verdict.BROKEN,
        "the law at another temperature, 5 % off",
    )  # fmt: skip


CLAIM = Claim(
    name="gumbel_form",
    section=5,
    title="softmax picks are the largest of noisy scores",
    statement="The token with the largest score plus independent Gumbel noise is picked with its "
    "softmax probability.",
    formula="P(argmax_k (β⟨Bx_i, x_k⟩ + G_k) = j) = a_ij",
    source="arXiv 2508.09628v1, equation (SA_P); Gumbel 1954",
    standing=Standing.PROVED,
    hypotheses=("β > 0",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="frequency of each pick, exact binomial intervals, 99.9 % for all pairs together",
    horizon="one step, 20 000 (long: 400 000) replicas",
    arithmetic="float64, seeded",
    expects=Verdict.HOLDS,
    telling="largest deviation, in standard deviations",
)
