r"""The energy of the tokens, layer after layer, beside a bound that falls: what several claims ask.

A bound speaks of J^t(x^{t+1}): the energy carries the layer's index t, the point the next one. The
keyword `scores` is the diagonal D_t of the solver: B_*(t) = D_t Q D_t, J^t(x) = ½⟨D_t x, Q D_t x⟩.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwbench.geometry.exact_hulls import holds, least_energy
from fwbench.problem import QuadraticOverHull
from fwbench.schedules import factors
from fwbench.steps import step_rule
from fwbench.theory.claim import Line, Outcome, Verdict, counted, text
from fwbench.theory.walks import energies, exact_form, squared_diameter

POINTS = 1000  # of a line
Layers = Iterable[tuple[int, NDArray[Any]]]


def size(problem: QuadraticOverHull, scores: str = "1") -> Any:
    """Return λ_max(B_*(0)) d(K⁰)² exactly; Q must be diagonal and not negative.

    Examples
    --------
    >>> from fwbench.theory.walks import instance
    >>> str(size(instance("token_cloud[name=four-one]")))
    '25'
    """
    largest = (exact_form(problem) * factors(scores).exactly(0) ** 2).max()
    return largest * squared_diameter(problem.exact_atoms)


def outside(problem: QuadraticOverHull, scores: str = "1", steps: int = 0) -> str | None:
    """Return which hypothesis of Theorem 3.1 but that on the steps a run does not meet, or None.

    Parameters
    ----------
    problem : QuadraticOverHull
    scores : str
        The factors D_t; to be nonincreasing over `steps` layers.
    """
    Q = exact_form(problem)
    if Q.ndim == 2 or Q.min() < 0:
        return "B_* is no diagonal without negative entries"
    if np.any(problem.c):
        return "the objective has a linear term"
    parts = factors(scores)
    if not parts.steady and any(
        (parts.exactly(t + 1) > parts.exactly(t)).any() for t in range(steps)
    ):
        return "B_*(t) increases"
    return None if holds(problem.exact_atoms) else "the origin lies outside the first hull"


@dataclass(frozen=True, eq=False)
class Compared:
    """Energies beside a bound.

    Attributes
    ----------
    ratios : list
        For t = 0, 1, …: (max_i J^t(x_i^{t+1}) − least)/bound(t).
    first : tuple (t, energy, bound) or None
        Where the energy first exceeds the bound, strictly.
    last : energy
        The largest one of the last layer.
    """

    ratios: list[Any]
    first: tuple[int, Any, Any] | None
    last: Any

    def outcome(self, horizon: str = "") -> Outcome:
        """Return the verdict with its numbers, where it broke before all; vacuous of no layer."""
        if not self.ratios:
            return Outcome(Verdict.VACUOUS, horizon or "0 steps")
        numbers, witness = dict[str, str](), ""
        if self.first is not None:
            t, energy, bound = self.first
            witness = f"t = {t}: {text(energy)} > {text(bound)}"
            numbers = {"t": text(t), "J": text(energy), "bound": text(bound)}
        worst = max(self.ratios)
        numbers |= {"ratio at t = 0": text(self.ratios[0]), "largest ratio": text(float(worst))}
        numbers |= {"largest at t": str(self.ratios.index(worst))}
        return Outcome(
            Verdict.BROKEN if witness else Verdict.HOLDS,
            horizon or counted(len(self.ratios), "step"),
            witness,
            numbers,
        )

    def line(self, label: str) -> Line:
        """Return the ratios as a line over t + 1, thinned for a logarithmic axis."""
        count = len(self.ratios)
        shown = np.unique(np.geomspace(1, count, POINTS).astype(int))
        return Line(label, shown.astype(float), np.array(self.ratios, dtype=float)[shown - 1])

    @property
    def level(self) -> Line:
        """The bound itself, as a line beside the ratios."""
        return Line("the bound", np.array([1.0, len(self.ratios)]), np.ones(2), bound=True)


def compared(
    layers: Layers,
    Q: NDArray[Any],
    bound: Callable[[int], Any],
    *,
    scores: str = "1",
    least: Any = 0,
) -> Compared:
    """Compare the largest energy of each layer, less `least`, with a bound.

    Parameters
    ----------
    layers : iterable of (t, points)
        From t = 0 on.
    Q : ndarray, shape (d,) or (d, d)
    bound : callable
        Of the layer's index t.
    scores : str
    least : number
    """
    parts, ratios, first, energy = factors(scores), list[Any](), None, None
    for t, x in layers:
        if t == 0:
            continue
        seen = x if parts.ones else x * parts.exactly(t - 1)
        energy, most = energies(seen, Q).max() - least, bound(t - 1)
        nothing = inf if energy > 0 else 0 * energy  # of a bound 0: Q = 0, or one point
        ratios.append(energy / most if most else nothing)
        if energy > most and first is None:
            first = (t - 1, energy, most)
    return Compared(ratios, first, energy)


def while_inside(layers: Layers) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield layers up to the first whose hull lacks the origin, that one included.

    Examples
    --------
    >>> from fwbench.theory.walks import hardmax, instance, walk
    >>> layers = walk(instance("token_cloud[name=four-one]"), hardmax(), 9)
    >>> [t for t, _ in while_inside(layers)]  # 2 is the loss time
    [0, 1, 2]
    """
    for t, x in layers:
        yield t, x
        if not holds(x):
            return


class Receded(NamedTuple):
    """How far the hull has moved away from the origin, and what is said of it; squares.

    Attributes
    ----------
    t : int
    distance : Fraction
        From the origin to the hull K^t, squared.
    allowed : Fraction
        (γ_s d(K^s))², s the last index whose hull has the origin.
    """

    t: int
    distance: Any
    allowed: Any


def receding(layers: Layers, step: str) -> Iterator[Receded]:
    """Yield the layers without the origin, d ≤ 2; none if the hull keeps it.

    Examples
    --------
    >>> from fwbench.theory.walks import hardmax, instance, walk
    >>> layers = walk(instance("token_cloud[name=four-one]"), hardmax(), 3)
    >>> [tuple(map(str, row)) for row in receding(layers, "open_loop(2)")]
    [('2', '4/9', '100/9'), ('3', '4/9', '100/9')]
    """
    rule, allowed, before = step_rule(step), None, None
    for t, x in layers:
        if allowed is None and not holds(x):
            if before is None:
                return
            [gamma] = rule.exact_lengths(t - 1, 1)
            allowed = gamma * gamma * squared_diameter(before)
        if allowed is not None:
            unit = np.full(x.shape[1], Fraction(1), dtype=object)
            yield Receded(t, 2 * least_energy(x, unit), allowed)
        before = x
