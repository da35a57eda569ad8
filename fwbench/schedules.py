r"""Schedules as small objects: numbers that change with the layer.

Layers count t = 0, 1, 2, …. The inverse temperature β(t), the factors of the scores, the slack of
localmax. A plain number is a schedule that never changes. All are positive, or zero for ever.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fwbench.calls import called, fits, rational, shortest
from fwbench.errors import InvalidParameter

LARGEST = sys.float_info.max


class Schedule(Protocol):
    """A number for each layer; `text` is its canonical name."""

    @property
    def text(self) -> str: ...

    @property
    def steady(self) -> bool:
        """Whether it is one number for ever."""

    @property
    def rational(self) -> bool:
        """Whether all its numbers are rational."""

    def at(self, t: int) -> float:
        """Return the number of layer t; what exceeds all doubles is the largest of them."""

    def exactly(self, t: int) -> Fraction:
        """Return the same as a Fraction.

        Raises
        ------
        InvalidParameter
            Where it is not rational.
        """


def _checked(name: str, **arguments: Fraction) -> None:
    for letter, value in arguments.items():
        if value < 0:
            raise InvalidParameter(f"{name}: {letter} must not be negative; got {shortest(value)}")
        if not fits(value):
            raise InvalidParameter(f"{name}: {letter} is beyond all doubles")


def _product(a: Fraction, base: float, exponent: float) -> float:
    """Return a·base^exponent, at most LARGEST, where the power alone may be no double."""
    try:
        power = math.pow(base, exponent)
    except OverflowError:
        power = math.inf
    if sys.float_info.min <= power < math.inf:
        return min(float(a) * power, LARGEST)
    along = math.log(a) + exponent * math.log(base)
    return math.exp(along) if along < math.log(LARGEST) else LARGEST


@dataclass(frozen=True)
class Steady:
    """The number a in every layer.

    Examples
    --------
    >>> Steady(Fraction(10)).text, Steady(Fraction(10)).at(3)
    ('10', 10.0)
    """

    a: Fraction = Fraction(1)
    steady = True
    rational = True

    def __post_init__(self) -> None:
        _checked("constant(a)", a=self.a)

    @property
    def text(self) -> str:
        return shortest(self.a)

    def at(self, t: int) -> float:
        return float(self.a)

    def exactly(self, t: int) -> Fraction:
        return self.a


@dataclass(frozen=True)
class Geometric:
    """a·r^t.

    Examples
    --------
    >>> Geometric(Fraction(1), Fraction(1, 2)).at(3)
    0.125
    """

    a: Fraction = Fraction(1)
    r: Fraction = Fraction(1, 2)
    rational = True

    def __post_init__(self) -> None:
        _checked("geometric(a, r)", a=self.a, r=self.r)
        if not (self.a and self.r):
            raise InvalidParameter("geometric(a, r): a and r must be positive; constant(0) is zero")

    @property
    def text(self) -> str:
        return f"geometric({shortest(self.a)},{shortest(self.r)})"

    @property
    def steady(self) -> bool:
        return self.r == 1

    def at(self, t: int) -> float:
        return _product(self.a, float(self.r), t)

    def exactly(self, t: int) -> Fraction:
        return self.a * self.r**t


@dataclass(frozen=True)
class Power:
    """a·(t + 1)^p.

    Examples
    --------
    >>> Power(Fraction(2), Fraction(-1)).exactly(2)
    Fraction(2, 3)
    """

    a: Fraction = Fraction(1)
    p: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        _checked("power(a, p)", a=self.a)
        if not self.a:
            raise InvalidParameter("power(a, p): a must be positive; constant(0) is zero")
        if abs(self.p) > 1000:
            raise InvalidParameter(f"power(a, p): p must lie in [-1000, 1000]; got {self.p}")

    @property
    def text(self) -> str:
        return f"power({shortest(self.a)},{shortest(self.p)})"

    @property
    def steady(self) -> bool:
        return self.p == 0

    @property
    def rational(self) -> bool:
        return self.p.denominator == 1

    def at(self, t: int) -> float:
        return _product(self.a, t + 1, float(self.p))

    def exactly(self, t: int) -> Fraction:
        if not self.rational:
            raise InvalidParameter(f"{self.text} has no rational values; p must be an integer")
        return self.a * Fraction(t + 1) ** int(self.p)


@dataclass(frozen=True)
class Linear:
    """a + b·t.

    Examples
    --------
    >>> Linear(Fraction(1), Fraction(1, 2)).at(4)
    3.0
    """

    a: Fraction = Fraction(1)
    b: Fraction = Fraction(1)
    rational = True

    def __post_init__(self) -> None:
        _checked("linear(a, b)", a=self.a, b=self.b)
        if not self.a:
            raise InvalidParameter("linear(a, b): a must be positive; constant(0) is zero")

    @property
    def text(self) -> str:
        return f"linear({shortest(self.a)},{shortest(self.b)})"

    @property
    def steady(self) -> bool:
        return self.b == 0

    def at(self, t: int) -> float:
        return min(float(self.a) + float(self.b) * t, LARGEST)

    def exactly(self, t: int) -> Fraction:
        return self.a + self.b * t


SCHEDULES: dict[str, Callable[..., Schedule]] = {
    "constant": Steady,
    "geometric": Geometric,
    "power": Power,
    "linear": Linear,
}


def schedule(text: str) -> Schedule:
    """Read a schedule from text.

    Raises
    ------
    InvalidParameter
        Unknown schedule, or arguments that it does not take.

    Examples
    --------
    >>> schedule("10").text, schedule("geometric(1, 1/3)").text
    ('10', 'geometric(1,1/3)')
    """
    try:
        return Steady(rational(text))
    except (ValueError, ZeroDivisionError) as error:
        if isinstance(error, InvalidParameter):
            raise
    return called(text, SCHEDULES, "schedule", "schedule")


@dataclass(frozen=True)
class Factors:
    """A diagonal D_t: one schedule for all coordinates, or one for each.

    Examples
    --------
    >>> factors("geometric(1,1/2) 3").at(1).tolist()
    [0.5, 3.0]
    """

    parts: tuple[Schedule, ...] = (Steady(),)

    def __post_init__(self) -> None:
        if not all(part.at(0) > 0 for part in self.parts):
            raise InvalidParameter(f"scores={self.text}: every factor must be positive")

    @property
    def text(self) -> str:
        """The canonical text."""
        return " ".join(part.text for part in self.parts)

    @property
    def steady(self) -> bool:
        """Whether they never change."""
        return all(part.steady for part in self.parts)

    @property
    def ones(self) -> bool:
        """Whether all are 1 for ever."""
        return all(part.steady and part.at(0) == 1 for part in self.parts)

    @property
    def rational(self) -> bool:
        """Whether all are rational."""
        return all(part.rational for part in self.parts)

    def at(self, t: int) -> NDArray[np.float64]:
        """Return the factors of layer t, shape (1,) or (d,)."""
        return np.array([part.at(t) for part in self.parts])

    def exactly(self, t: int) -> NDArray[Any]:
        """Return the same as Fractions."""
        return np.array([part.exactly(t) for part in self.parts], dtype=object)

    def misfit(self, d: int) -> str | None:
        """Return why there are too few or too many of them in dimension d, or None."""
        if len(self.parts) in (1, d):
            return None
        return f"scores has {len(self.parts)} factors; one for all coordinates or {d} are needed"


def factors(text: str) -> Factors:
    """Read factors from text: schedules with blanks between them.

    Raises
    ------
    InvalidParameter
        Where one of them is no schedule.
    """
    parts = re.findall(r"[^\s()]+\s*(?:\([^()]*\))?|[()]", text)
    return Factors(tuple(schedule(part) for part in parts or [text]))
