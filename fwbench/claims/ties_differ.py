"""Where keys tie, softmax tends to the mean over indices: coinciding keys count each.

Proof: weights of keys that do not tie vanish, the others are equal. The paper's rule is the mean
over distinct points. Both agree, as does the lowest index, where one key leads. Let a and b be the
two points that tie, p and q keys at them, p ≠ q: (pa + qb)/(p + q) is neither (a + b)/2 nor a nor
b, so these are three different layers. With p = q the two means agree; with three points they may.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.ownership import scores
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.walks import cloud_of, hardmax, walk

SOFT = "softmax_attention[keys=moving,step=constant(1),beta={beta}]"
BETAS = (10, 100, 1000)
CLOSE = 1e-13  # rounding of a mean of numbers of size 1
ONE = np.array([1, 1])
RULES = ("points", "indices", "lowest")
# The query that ties comes last.
CLOUDS: dict[str, list[list[str]]] = {
    "(1, 1) twice, (1, -1), (1/2, 0)": [["1", "1"], ["1", "1"], ["1", "-1"], ["1/2", "0"]],
    "(1, 1), (1, -1) three times, (1/2, 0)":
        [["1", "1"], ["1", "-1"], ["1", "-1"], ["1", "-1"], ["1/2", "0"]],
    "(2, 1) twice, (-1, 1), (0, 1/2)": [["2", "1"], ["2", "1"], ["-1", "1"], ["0", "1/2"]],
    "(2, 0), (0, 1), (1/2, 1/4)": [["2", "0"], ["0", "1"], ["1/2", "1/4"]],
    "(1, 1) twice, (1, -1) twice, (1/2, 0)":
        [["1", "1"], ["1", "1"], ["1", "-1"], ["1", "-1"], ["1/2", "0"]],
    "(1, 1), (1, 0) twice, (1, -1), (1/2, 0)":
        [["1", "1"], ["1", "0"], ["1", "0"], ["1", "-1"], ["1/2", "0"]],
}  # fmt: skip


def _case(name: str, rule: str = "indices") -> Case:
    tokens = np.array([[Fraction(v) for v in row] for row in CLOUDS[name]], dtype=object)
    return Case(f"tokens {name}, ties={rule}", {"tokens": tokens, "rule": rule})


def _cases(effort: Effort) -> Iterator[Case]:
    for name in CLOUDS:
        yield _case(name)


def _refuses(case: Case) -> str | None:
    row = scores(case["tokens"][-1:], case["tokens"], ONE)[0]
    times = Counter(map(tuple, case["tokens"][row == row.max()]))
    if len(times) != 2:
        return "the keys that tie are not at two points"
    return "as many keys at one point as at the other" if len(set(times.values())) == 1 else None


def _landed(tokens: NDArray[Any], solver: str) -> NDArray[Any]:
    """Return where one step of length 1 takes the last token, shape (d,)."""
    *_, (_, x) = walk(cloud_of(tokens, ONE), solver, 1)
    return np.asarray(x[-1])


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare softmax at growing β with a rule for ties, and the three rules with each other."""
    tokens = case["tokens"]
    by_rule = {rule: _landed(tokens, hardmax("constant(1)", ties=rule)) for rule in RULES}
    goal = by_rule[case["rule"]].astype(float)
    soft = [_landed(tokens, SOFT.format(beta=beta)) for beta in BETAS]
    errors = [float(np.abs(x - goal).max()) for x in soft]
    places = {rule: f"({', '.join(map(text, place))})" for rule, place in by_rule.items()}
    broken = ""
    if errors[-1] > CLOSE:
        broken = f"β = {BETAS[-1]}: softmax is off {places[case['rule']]} by {text(errors[-1])}"
    elif len(set(places.values())) < len(RULES):
        broken = f"two rules agree: {places}"
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS, f"β up to {BETAS[-1]}", broken,
        places | {f"error at β = {b}": text(e) for b, e in zip(BETAS, errors, strict=True)},
    )  # fmt: skip


def _controls(effort: Effort) -> Iterator[Control]:
    name = next(iter(CLOUDS))
    for rule in ("points", "lowest"):
        yield Control(_case(name, rule), Verdict.BROKEN, f"softmax does not tend to ties={rule}")


CLAIM = Claim(
    name="ties_differ",
    section=2,
    title="softmax tends to the mean over tied indices",
    statement="Where several keys tie, softmax tends to the mean over all tied indices as β grows. "
    "If they are at two points, more of them at one than at the other, that is neither the mean "
    "of the two points nor one of them.",
    formula="lim_{β→∞} Σ_j a_ij x_j = mean over {j : ⟨Bx_i, x_j⟩ is largest}",
    source="this project; arXiv 2508.09628v1, equation (3) takes the mean over distinct points",
    standing=Standing.PROVED,
    remark="So the limit β → ∞ in the paper is meant for tokens that do not coincide.",
    hypotheses=("the keys that tie are at two points, more of them at one than at the other",),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="where one step of length 1 takes the token that ties",
    horizon="β = 10, 100, 1000",
    arithmetic="rules exactly (fractions); softmax in floats, to 1e-13",
    expects=Verdict.HOLDS,
)
