"""One leader each, if coinciding tokens count each: false on an open set of starts.

On the line with B = −1 and γ = ½ any tokens a > 0 > b both land on (a + b)/2; from then on each has
two leaders. Why the proof of the lemma on single leaders does not hold as printed.

One start says nothing of almost all of them: a tie counts if starts all around have it as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.problem import QuadraticOverHull
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict
from fwbench.theory.walks import cloud_of, exact_form, hardmax, instance, key_query, leaders, walk

STEPS = 12
AROUND = 4


def _case(cloud: str, step: str = "constant(0.5)") -> Case:
    given = {"problem": instance(f"token_cloud[{cloud}]"), "step": step}
    return Case(f"token_cloud[{cloud}], step={step}", given)


def _cases(effort: Effort) -> Iterator[Case]:
    yield _case("name=three-one")
    for seed in range(effort.of(10, 200)):
        yield _case(f"n=2,d=1,integers=1000000,seed={seed}")
    yield _case("name=three-one-origin")


def _refuses(case: Case) -> str | None:
    Q, x = exact_form(case["problem"]), case["problem"].exact_atoms
    if Q.ndim == 2 or (Q == 0).any():
        return "B is no invertible diagonal"
    tied = max(leaders(x, Q, distinct=False)) > 1
    return "the start is not generic: tokens coincide or tie" if tied else None


def _check(case: Case, effort: Effort) -> Outcome:
    """Look for a time at which tokens tie, from the start and from starts around it."""
    Q, first = exact_form(case["problem"]), None
    for problem in _around(case["problem"]):
        if (tie := _first_tie(problem, Q, case["step"])) is None:
            return Outcome(Verdict.HOLDS, f"{STEPS} steps")
        first = first or f"t = {tie[0]}: a token has {tie[1]} leaders"
    witness = f"{first}, and one has from each of {AROUND} starts around it"
    return Outcome(Verdict.BROKEN, f"{STEPS} steps", witness)


def _around(problem: QuadraticOverHull) -> Iterator[QuadraticOverHull]:
    """Yield the cloud, and clouds with each entry moved by less than 1/10."""
    yield problem
    rng, x = np.random.default_rng(0), problem.exact_atoms
    for _ in range(AROUND):
        moved = x + rng.integers(-999, 1000, x.shape).astype(object) * Fraction(1, 10_000)
        yield cloud_of(moved, key_query(problem))


def _first_tie(problem: QuadraticOverHull, Q: NDArray[Any], step: str) -> tuple[int, int] | None:
    """Return when a token has several leaders, and how many; None if never."""
    for t, x in walk(problem, hardmax(step), STEPS):
        if (most := max(leaders(x, Q, distinct=False))) > 1:
            return t, most
    return None


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("name=own-cells"), Verdict.HOLDS, "B positive, vertices stay: no two tokens meet"
    )
    yield Control(
        _case("name=two-one", "constant(1/3)"), Verdict.HOLDS,
        "a token reaches the origin exactly and ties, but not so from starts around this one",
    )  # fmt: skip


CLAIM = Claim(
    name="single_leader_by_index",
    section=2,
    title="each token has one leader, tokens counted each",
    statement="If B is invertible, then from almost every start each token has exactly one token "
    "as its leader at each time.",
    formula="#{j : ⟨B x_i^t, x_j^t⟩ maximal} = 1 for all i, t",
    source="arXiv 2508.09628v1, section 2, the lemma on single leaders, read with indices",
    standing=Standing.FALSE,
    remark="Found by a Lean formalisation of the paper. It makes tie rules differ: see "
    "docs/mathematics.md.",
    hypotheses=("B invertible (here diagonal)", "a start whose tokens neither coincide nor tie"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="number of tokens that lead each token at each t, from a start and four around it",
    horizon=f"{STEPS} steps",
    arithmetic="exact (fractions)",
    expects=Verdict.BROKEN,
    expects_witness="token_cloud[name=three-one], step=constant(0.5): t = 1: a token has 2 leaders"
    ", and one has from each of 4 starts around it",
)  # fmt: skip
