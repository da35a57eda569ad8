r"""Step rules as small objects: a solver's ``step`` parameter.

Open-loop rules know every step length in advance (``lengths``, exactly as rationals too); rules
that search the line carry the code by which a kernel knows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidParameter, nearest
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


def shortest(value: Fraction) -> str:
    """Return the shortest text that reads back as this number.

    Examples
    --------
    >>> shortest(Fraction(1, 2)), shortest(Fraction(1, 3)), shortest(Fraction(4))
    ('0.5', '1/3', '4')
    """
    if value.denominator == 1:
        return str(value.numerator)
    decimal = repr(float(value))
    return decimal if Fraction(decimal) == value else f"{value.numerator}/{value.denominator}"


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
    match = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*", text)
    if match is None or match[1] not in RULES:
        raise InvalidParameter(
            f"no step rule {text!r}; {nearest(match[1] if match else text, RULES)}"
        )
    rule = RULES[match[1]]
    try:
        if re.search(r"e[-+]?\d{4}", match[2] or "", re.IGNORECASE):
            raise ValueError("an exponent beyond all doubles")  # would fill the memory exactly
        arguments = [Fraction(part.strip()) for part in match[2].split(",")] if match[2] else []
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidParameter(f"step={text}: arguments must be numbers; {error}") from error
    takes = len(fields(rule))  # type: ignore[arg-type]
    if len(arguments) > takes:
        raise InvalidParameter(f"step={text}: {match[1]} takes {takes} arguments")
    return rule(*arguments)


def unfit(rule: StepRule, kind: Kind, *, exact: bool = False) -> str | None:
    """Return why a rule cannot be used on problems of a kind, or in exact arithmetic, or None."""
    if rule.code != line.GIVEN and not kind.has_potential:
        return f"step={rule.text} searches along f, and a {kind} field has no f"
    if rule.code != line.GIVEN and exact:
        return f"step={rule.text} searches a line, which exact arithmetic cannot afford"
    return None
