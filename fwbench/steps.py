r"""Step rules as small objects: a solver's ``step`` parameter.

Open-loop rules know every step length in advance (``lengths``, exactly as rationals too); rules
that search the line carry the code by which a kernel knows them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fwbench.calls import called, shortest
from fwbench.errors import InvalidParameter
from fwbench.geometry.forms import Kind
from fwbench.kernels import line


class StepRule(Protocol):
    """How far to go; `text` is its canonical name."""

    code: ClassVar[int]
    autonomous: ClassVar[bool]  # the step does not depend on the step number

    @property
    def text(self) -> str: ...

    def lengths(self, first: int, count: int) -> NDArray[np.float64]:
        """Return the lengths of steps first, …, first + count − 1; shape (count,)."""

    def exact_lengths(self, first: int, count: int) -> NDArray[Any]:
        """Return the same as Fractions.

        Raises
        ------
        InvalidParameter
            Where the lengths are not rational or known only along the way.
        """


@dataclass(frozen=True)
class OpenLoop:
    """γ_t = l/(t + l); l = 2 is the classical rule, γ_0 = 1."""

    l: Fraction = Fraction(2)  # noqa: E741 - the literature's letter
    code: ClassVar[int] = line.GIVEN
    autonomous: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.l <= 0:
            raise InvalidParameter(f"open_loop(l): l must be positive; got {shortest(self.l)}")

    @property
    def text(self) -> str:
        return f"open_loop({shortest(self.l)})"

    def lengths(self, first: int, count: int) -> NDArray[np.float64]:
        shift = float(self.l)
        return np.asarray(shift / (np.arange(first, first + count) + shift), dtype=np.float64)

    def exact_lengths(self, first: int, count: int) -> NDArray[Any]:
        return np.array([self.l / (t + self.l) for t in range(first, first + count)], dtype=object)


@dataclass(frozen=True)
class LogAdaptive:
    """γ_t = l_t/(t + l_t) with l_t = 2 + log(t + 1): any growing l, no choice to make."""

    code: ClassVar[int] = line.GIVEN
    autonomous: ClassVar[bool] = False
    text: ClassVar[str] = "log_adaptive"

    def lengths(self, first: int, count: int) -> NDArray[np.float64]:
        t = np.arange(first, first + count)
        shift = 2.0 + np.log(t + 1.0)
        return np.asarray(shift / (t + shift), dtype=np.float64)

    def exact_lengths(self, first: int, count: int) -> NDArray[Any]:
        raise InvalidParameter("step=log_adaptive has no rational lengths; use open_loop")


@dataclass(frozen=True)
class Constant:
    """γ_t = γ in (0, 1]."""

    gamma: Fraction = Fraction(1, 2)
    code: ClassVar[int] = line.GIVEN
    autonomous: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.gamma <= 1:
            raise InvalidParameter(f"constant(γ): γ must lie in (0, 1]; got {shortest(self.gamma)}")

    @property
    def text(self) -> str:
        return f"constant({shortest(self.gamma)})"

    def lengths(self, first: int, count: int) -> NDArray[np.float64]:
        return np.full(count, float(self.gamma))

    def exact_lengths(self, first: int, count: int) -> NDArray[Any]:
        return np.full(count, self.gamma, dtype=object)


@dataclass(frozen=True)
class Harmonic:
    """γ_t = a/(t + b), 0 < a <= b; 2/(t + 3) belongs to values V = 2/(t + 1) I."""

    a: Fraction = Fraction(2)
    b: Fraction = Fraction(3)
    code: ClassVar[int] = line.GIVEN
    autonomous: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.a <= self.b:
            raise InvalidParameter(
                f"harmonic(a, b): 0 < a <= b keeps a/(t + b) in (0, 1]; got {shortest(self.a)} "
                f"and {shortest(self.b)}"
            )

    @property
    def text(self) -> str:
        return f"harmonic({shortest(self.a)},{shortest(self.b)})"

    def lengths(self, first: int, count: int) -> NDArray[np.float64]:
        t = np.arange(first, first + count)
        return np.asarray(float(self.a) / (t + float(self.b)), dtype=np.float64)

    def exact_lengths(self, first: int, count: int) -> NDArray[Any]:
        return np.array([self.a / (t + self.b) for t in range(first, first + count)], dtype=object)


@dataclass(frozen=True)
class Geometric:
    """γ_t = a·r^t with a and r in (0, 1]; for r < 1 the sum is finite, and points stop short."""

    a: Fraction = Fraction(1, 2)
    r: Fraction = Fraction(1, 2)
    code: ClassVar[int] = line.GIVEN
    autonomous: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not (0 < self.a <= 1 and 0 < self.r <= 1):
            raise InvalidParameter(
                f"geometric(a, r): a and r must lie in (0, 1]; got {shortest(self.a)} and "
                f"{shortest(self.r)}"
            )

    @property
    def text(self) -> str:
        return f"geometric({shortest(self.a)},{shortest(self.r)})"

    def lengths(self, first: int, count: int) -> NDArray[np.float64]:
        t = np.arange(first, first + count)
        return np.asarray(float(self.a) * float(self.r) ** t, dtype=np.float64)

    def exact_lengths(self, first: int, count: int) -> NDArray[Any]:
        return np.array([self.a * self.r**t for t in range(first, first + count)], dtype=object)


@dataclass(frozen=True)
class Rising:
    """γ_t = 1 − a/(t + b), 0 < a < b: to 1, so that distances shrink faster than any power."""

    a: Fraction = Fraction(2)
    b: Fraction = Fraction(3)
    code: ClassVar[int] = line.GIVEN
    autonomous: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.a < self.b:
            raise InvalidParameter(
                f"rising(a, b): 0 < a < b keeps 1 - a/(t + b) in (0, 1); got {shortest(self.a)} "
                f"and {shortest(self.b)}"
            )

    @property
    def text(self) -> str:
        return f"rising({shortest(self.a)},{shortest(self.b)})"

    def lengths(self, first: int, count: int) -> NDArray[np.float64]:
        t = np.arange(first, first + count)
        above = t + float(self.b)
        return np.asarray((t + float(self.b - self.a)) / above, dtype=np.float64)

    def exact_lengths(self, first: int, count: int) -> NDArray[Any]:
        return np.array(
            [1 - self.a / (t + self.b) for t in range(first, first + count)], dtype=object
        )


@dataclass(frozen=True)
class Saturating:
    """γ_t = 1 − e^(−a(t + 1)), a > 0: distances shrink like e^(−a t²/2)."""

    a: Fraction = Fraction(1)
    code: ClassVar[int] = line.GIVEN
    autonomous: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.a > 0:
            raise InvalidParameter(f"saturating(a): a must be positive; got {shortest(self.a)}")

    @property
    def text(self) -> str:
        return f"saturating({shortest(self.a)})"

    def lengths(self, first: int, count: int) -> NDArray[np.float64]:
        t = np.arange(first, first + count)
        return np.asarray(-np.expm1(-float(self.a) * (t + 1.0)), dtype=np.float64)

    def exact_lengths(self, first: int, count: int) -> NDArray[Any]:
        raise InvalidParameter(f"step={self.text} has no rational lengths; rising(a,b) goes to 1")


class _Searched:
    """What the rules that search a line share: no lengths in advance."""

    autonomous: ClassVar[bool] = True
    text: ClassVar[str]

    def lengths(self, first: int, count: int) -> NDArray[np.float64]:
        return np.empty(0)

    def exact_lengths(self, first: int, count: int) -> NDArray[Any]:
        raise InvalidParameter(
            f"step={self.text} searches a line; exactly, its denominators double in length each "
            "step: use open_loop or constant with arithmetic=exact"
        )


@dataclass(frozen=True)
class Exact(_Searched):
    """Minimise f on the segment."""

    code: ClassVar[int] = line.EXACT
    text: ClassVar[str] = "exact"


@dataclass(frozen=True)
class Short(_Searched):
    """Minimise the quadratic bound with the Lipschitz constant of the gradient."""

    code: ClassVar[int] = line.SHORT
    text: ClassVar[str] = "short"


@dataclass(frozen=True)
class Backtracking(_Searched):
    """Minimise the quadratic bound with an estimated constant (Pedregosa et al. 2020)."""

    code: ClassVar[int] = line.BACKTRACKING
    text: ClassVar[str] = "backtracking"


RULES: dict[str, Callable[..., StepRule]] = {
    "open_loop": OpenLoop,
    "log_adaptive": LogAdaptive,
    "constant": Constant,
    "harmonic": Harmonic,
    "geometric": Geometric,
    "rising": Rising,
    "saturating": Saturating,
    "exact": Exact,
    "short": Short,
    "backtracking": Backtracking,
}


def step_rule(text: str) -> StepRule:
    """Read a step rule from text.

    Raises
    ------
    InvalidParameter
        Unknown rule, or arguments that it does not take.

    Examples
    --------
    >>> step_rule("open_loop").text, step_rule("open_loop( 4 )").text
    ('open_loop(2)', 'open_loop(4)')
    """
    return called(text, RULES, "step", "step rule")


def unfit(rule: StepRule, kind: Kind, *, exact: bool = False) -> str | None:
    """Return why a rule cannot be used on problems of a kind, or in exact arithmetic, or None."""
    if rule.code != line.GIVEN and not kind.has_potential:
        return f"step={rule.text} searches along f, and a {kind} field has no f"
    if rule.code != line.GIVEN and exact:
        return f"step={rule.text} searches a line, which exact arithmetic cannot afford"
    if exact:
        try:
            rule.exact_lengths(0, 1)
        except InvalidParameter as error:
            return str(error)
    return None
