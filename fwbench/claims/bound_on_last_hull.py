"""Without any condition on the origin: energies come down to the least one of the last hull.

The hulls are nested; K^∞ is their intersection. Proof: as for Frank-Wolfe with any z ∈ K^∞ in place
of the minimiser, for z ∈ K^t: a_t ≤ (1 − γ_t) a_{t−1} + ½ γ_t² λ d², a_t = J(x^{t+1}) − J(z). Limit
points of a token lie in K^∞, so every token's energy tends to min J over K^∞.

K^∞ is known on the line (see the claim one_dimension). Elsewhere K^T takes its place, which asks
for more: what holds against min J over K^T holds. What fails against it is broken only if it fails
against the largest energy of K^T, which min J over K^∞ cannot exceed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from fwbench.geometry.exact_hulls import least_energy
from fwbench.problem import QuadraticOverHull
from fwbench.theory.bounds import compared, outside, size
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Standing, Verdict, text
from fwbench.theory.walks import OPEN_LOOP, energies, exact_form, hardmax, instance, walk

LIMITS = {"three-one": Fraction(1, 3), "four-one": Fraction(2, 3), "three-two": Fraction(1, 2)}
INSIDE = "the origin lies outside the first hull"


def _case(
    cloud: str,
    steps: int,
    *,
    limit: Fraction | None = None,
    step: str = OPEN_LOOP,
    ties: str = "points",
    singular: bool = False,
) -> Case:
    problem, name = instance(f"token_cloud[{cloud}]"), f"token_cloud[{cloud}], ties={ties}"
    if singular:
        problem = QuadraticOverHull(problem.atoms, [1, 0], start=problem.start)
        name += ", B_* = diag(1, 0)"
    if limit is not None:
        name += f", z = {limit}"
    given = {"problem": problem, "steps": steps, "limit": limit, "step": step, "ties": ties}
    return Case(name, given)


def _cases(effort: Effort) -> Iterator[Case]:
    for name, limit in LIMITS.items():
        yield _case(f"name={name}", effort.of(3000, 10_000), limit=limit)
    for name in ("triangle-16", "triangle-20", "receding"):
        yield _case(f"name={name}", effort.of(60, 1000))
    for seed in range(effort.of(4, 100)):
        for n, ties in ((3, "points"), (5, "indices"), (8, "lowest")):
            yield _case(f"n={n},d=2,integers=9,seed={seed}", effort.of(40, 100), ties=ties)
        singular = f"n=5,d=2,integers=9,seed={seed + 10}"
        yield _case(singular, effort.of(40, 100), singular=True)
    yield _case("name=own-cells", 40)


def _refuses(case: Case) -> str | None:
    if case["step"] != OPEN_LOOP:
        return "the steps are not 2/(t + 2)"
    reason = outside(case["problem"])
    return None if reason == INSIDE else reason  # it may lie anywhere


def _check(case: Case, effort: Effort) -> Outcome:
    """Compare J(x at t + 1) − min J over the last hull with 2 λ d²/(t + 2), exactly."""
    problem = case["problem"]
    most, Q = 2 * size(problem), exact_form(problem)
    layers = list(walk(problem, hardmax(case["step"], ties=case["ties"]), case["steps"]))
    known, last = case["limit"] is not None, energies(layers[-1][1], Q)
    least = case["limit"] ** 2 / 2 if known else least_energy(layers[-1][1], Q)

    def outcome(least: Fraction) -> Outcome:
        return compared(layers, Q, lambda t: most / Fraction(t + 2), least=least).outcome()

    found = outcome(least)
    if found.verdict is Verdict.BROKEN and not known:
        surely = outcome(last.max())
        open_ = replace(found, verdict=Verdict.INCONCLUSIVE, witness="")
        found = surely if surely.verdict is Verdict.BROKEN else open_
    numbers = {
        f"min J over K^{'∞' if known else 'T'}": text(least),
        "energies at the end differ by": text(float(last.max() - last.min())),
    }
    return replace(found, numbers={**found.numbers, **numbers})


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case("name=four-one", 300, limit=Fraction(0)), Verdict.BROKEN,
        "measured from the origin, as in Theorem 3.1, which is not in the last hull",
    )  # fmt: skip


CLAIM = Claim(
    name="bound_on_last_hull",
    section=3,
    title="energies come down to the least of the last hull",
    statement="For constant B_* ⪰ 0 and steps 2/(t + 2), wherever the origin is and whatever the "
    "tie rule, the energy of every token exceeds the least energy of the last hull by at most "
    "2/(t + 2) of λ_max times the squared diameter of the first hull; all energies tend to that "
    "value.",
    formula="J(x_i^{t+1}) − min over K^∞ of J ≤ 2/(t + 2) · λ_max(B_*) · d(K⁰)²,  K^∞ = ⋂ K^t",
    source="this project; proof: in the file of the claim",
    standing=Standing.AMENDED,
    remark="One-sided: the left side may be negative. The first ratio is the largest one on (3, "
    "−1), (4, −1) and (3, −2).",
    hypotheses=("steps 2/(t + 2), keys are the current tokens, any tie rule",
                "B_* ⪰ 0 constant (here diagonal)"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="max_i J(x_i^{t+1}) − min J over the last hull, against the bound",
    horizon="3000 steps where the last hull is known, else 40 to 60; long: 10 000, 100 to 1000",
    arithmetic="exact (fractions)",
    expects=Verdict.HOLDS,
    telling="largest ratio",
)  # fmt: skip
