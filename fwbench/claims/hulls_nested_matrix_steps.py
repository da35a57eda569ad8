"""With matrix steps P = (I + V)⁻¹V hulls are not nested: P (y − x) need not point along y − x.

V = diag(3/2, 7/3) gives P = diag(3/5, 7/10). Of the tokens 0, e₁, e₂ let e₂ lead e₁: e₁ goes to
(2/5, 7/10), whose coordinates add up to 11/10.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fwbench.problem import QuadraticOverHull
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.walks import first_exit, hardmax, walk

TRIANGLE = [[0, 0], [1, 0], [0, 1]]
SWAP = [[0, -1], [-1, 0]]  # Q = −B: e₂ leads e₁, and e₁ leads e₂
STEPS = 10


def _case(values: str, Q: list[list[int]] = SWAP) -> Case:
    problem = QuadraticOverHull(TRIANGLE, Q, start=range(3))
    return Case(f"tokens 0, e1, e2, B = −{Q}, V = diag({values})", {"p": problem, "V": values})


def _cases(effort: Effort) -> Iterator[Case]:
    yield _case("3/2 7/3")
    yield _case("1 2")
    yield _case("3 1/9", [[0, 1], [-2, 0]])  # B not symmetric
    yield _case("3/2")
    yield _case("-1/2 1")


def _refuses(case: Case) -> str | None:
    diagonal = [Fraction(entry) for entry in case["V"].split()]
    if len(set(diagonal)) == 1:
        return "V = hI: the step is the number h/(1 + h)"
    return None if min(diagonal) > 0 else "V has an eigenvalue that is not positive"


def _check(case: Case, effort: Effort) -> Outcome:
    left = first_exit(walk(case["p"], hardmax(values=case["V"]), STEPS))
    if left is None:
        return Outcome(Verdict.HOLDS, f"{STEPS} steps")
    t, x = left
    witness = f"t = {t}: ({text(x[0])}, {text(x[1])}) outside"
    numbers = {"coordinates add up to": text(x[0] + x[1])}
    return Outcome(Verdict.BROKEN, f"{STEPS} steps", witness, numbers)


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(_case("3/2"), Verdict.HOLDS, "V = hI is a scalar step")


CLAIM = Claim(
    name="hulls_nested_matrix_steps",
    section=2,
    title="hulls are nested with matrix steps",
    statement="With a step matrix P = (I + V)⁻¹V, V with positive eigenvalues, the hull of the "
    "tokens never grows.",
    formula="x_i ← x_i + P (y_i − x_i):  K^{t+1} ⊆ K^t",
    source="arXiv 2508.09628v1, section 2, remark after the lemma: not so; the counterexample "
    "is the paper's",
    standing=Standing.FALSE,
    remark="Why the theory asks for V = hI. Models with such V have no gap and no feasibility "
    "here.",
    hypotheses=("V (here diagonal) is no multiple of the identity", "its entries are positive"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="membership of each x_i^{t+1} in K^t",
    horizon=f"{STEPS} steps",
    arithmetic="exact (fractions)",
    expects=Verdict.BROKEN,
    expects_witness="tokens 0, e1, e2, B = −[[0, -1], [-1, 0]], V = diag(3/2 7/3): t = 0: "
    "(2/5, 7/10) outside",
)  # fmt: skip
