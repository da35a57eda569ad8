"""Random vertices own their cells if the dimension is high: probability to 1 as d grows.

κ fixed, v_i independent standard Gaussian, B_d with spectral bounds that do not depend on d: then
⟨Bv_i, v_i⟩ grows like d, ⟨Bv_i, v_j⟩ like √d. Counted: draws in which all κ points own their cells
strictly; a point that is no vertex counts against.
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
)
from fwbench.theory.intervals import Interval, binomial

DIMENSIONS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
DRAWS = (1000, 10_000)
BATCH = 100
FACTOR = 10  # by which the ends of a bounded spectrum may move from d = 1 to the last
ALMOST = 0.98  # what the lower end of the last interval must exceed to speak of 1
SPECTRA = {
    "1": lambda d: np.ones(d),
    "1, 2, 1, 2, …": lambda d: 1.0 + np.arange(d) % 2,
    "1, 1/4, 1/9, …": lambda d: 1.0 / (1.0 + np.arange(d)) ** 2,
    "1, 2, 4, …": lambda d: 2.0 ** np.arange(d),
}


def _case(kappa: int, spectrum: str) -> Case:
    return Case(
        f"κ = {kappa}, eigenvalues {spectrum}", {"kappa": kappa, "spectrum": SPECTRA[spectrum]}
    )


def _cases(effort: Effort) -> Iterator[Case]:
    for kappa in (3, 10, 50):
        yield _case(kappa, "1")
    yield _case(10, "1, 2, 1, 2, …")
    yield _case(10, "1, 1/4, 1/9, …")
    yield _case(10, "1, 2, 4, …")


def _refuses(case: Case) -> str | None:
    first, last = (case["spectrum"](d) for d in (DIMENSIONS[0], DIMENSIONS[-1]))
    if last.min() < first.min() / FACTOR:
        return "no spectral bound from below"
    return "no spectral bound from above" if last.max() > FACTOR * first.max() else None


def _owned(kappa: int, B: NDArray[np.float64], draws: int, seed: int) -> int:
    """Return in how many draws all points own their cells strictly."""
    rng, owned, d = np.random.default_rng([seed, kappa, len(B)]), 0, len(B)
    for first in range(0, draws, BATCH):
        v = rng.standard_normal((min(BATCH, draws - first), kappa, d))
        scores = (v * B) @ v.transpose(0, 2, 1)
        own = np.einsum("ijj->ij", scores).copy()
        np.einsum("ijj->ij", scores)[:] = -np.inf
        owned += int((own > scores.max(axis=2)).all(axis=1).sum())
    return owned


def _check(case: Case, effort: Effort) -> Outcome:
    draws = effort.of(*DRAWS)
    counts = [_owned(case["kappa"], case["spectrum"](d), draws, effort.seed) for d in DIMENSIONS]
    found = [binomial(count, draws) for count in counts]
    verdict, broken = _verdict(found)
    d, shares = np.array(DIMENSIONS, dtype=float), np.array(counts) / draws
    return Outcome(
        verdict,
        f"{draws} draws of each dimension",
        broken,
        {f"d = {n}": f"{share:.3f} {interval.text}"
         for n, share, interval in zip(DIMENSIONS, shares, found, strict=True)},
        Curves(
            f"Draws in which all {case['kappa']} points own their cells", "d", "share",
            (Line("share", d, shares),
             Line("interval, low", d, np.array([interval.low for interval in found])),
             Line("interval, high", d, np.array([interval.high for interval in found]))),
            log_x=True,
        ),
    )  # fmt: skip


def _verdict(found: list[Interval]) -> tuple[Verdict, str]:
    """Say whether intervals can be those of probabilities that increase to 1."""
    best = 0
    for k, interval in enumerate(found):
        if interval.high < found[best].low:
            return Verdict.BROKEN, (
                f"d = {DIMENSIONS[k]}: {interval.text} below {found[best].text} at "
                f"d = {DIMENSIONS[best]}"
            )
        if interval.low > found[best].low:
            best = k
    last = found[-1]
    if last.high < ALMOST:
        return Verdict.BROKEN, f"d = {DIMENSIONS[-1]}: {last.text} below {ALMOST}"
    return (Verdict.HOLDS if last.low > ALMOST else Verdict.INCONCLUSIVE), ""


def _controls(effort: Effort) -> Iterator[Control]:
    yield Control(
        _case(10, "1, 1/4, 1/9, …"), Verdict.BROKEN,
        "eigenvalues fall off: few dimensions count, however many there are",
    )  # fmt: skip


CLAIM = Claim(
    name="gaussian_vertices_own_cells",
    section=4,
    title="in high dimensions random vertices own their cells",
    statement="For a fixed number of independent Gaussian points and B with spectral bounds that "
    "do not depend on d, the probability that every point owns its cell strictly tends to 1.",
    formula="P(⟨Bv_i, v_i⟩ > ⟨Bv_i, v_j⟩ for all i ≠ j) → 1 as d → ∞",
    source="arXiv 2508.09628v1, section 4 (remark on high dimensions)",
    standing=Standing.CHECKED,
    remark="How high depends on the number of points: 50 of them do so in three of four draws "
    "at d = 20.",
    hypotheses=("the number of points is fixed", "the spectra of all B_d are in one [a, b], a > 0",
                "at least 400 draws"),
    refuses=_refuses,
    cases=_cases,
    check=_check,
    controls=_controls,
    quantity="share of draws, with exact binomial intervals (99.9 %)",
    horizon="1000 draws of each of 9 dimensions up to 200; long: 10 000",
    arithmetic="floats: equal scores have probability 0",
    expects=Verdict.HOLDS,
)  # fmt: skip
