"""Texts such as ``open_loop(4)``: a name and rational arguments that make a small object."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import TypeVar

from fwbench.errors import InvalidParameter, nearest

T = TypeVar("T")

LARGEST, LEAST = Fraction(sys.float_info.max), Fraction(5e-324)


def fits(value: Fraction) -> bool:
    """Say whether a number is 0 or lies between the least and the largest positive double.

    Examples
    --------
    >>> fits(Fraction(0)), fits(Fraction(10) ** 400), fits(Fraction(10) ** -400)
    (True, False, False)
    """
    return value == 0 or LEAST <= abs(value) <= LARGEST


def shortest(value: Fraction) -> str:
    """Return the shortest text that reads back as this number.

    Examples
    --------
    >>> shortest(Fraction(1, 2)), shortest(Fraction(1, 3)), shortest(Fraction(4))
    ('0.5', '1/3', '4')
    """
    if value.denominator == 1:
        return str(value.numerator)
    try:
        decimal = repr(float(value))
    except OverflowError:
        return f"{value.numerator}/{value.denominator}"
    return decimal if Fraction(decimal) == value else f"{value.numerator}/{value.denominator}"


def rational(text: str) -> Fraction:
    """Read a number, exactly.

    Raises
    ------
    ValueError, ZeroDivisionError
        Where it is none.

    Examples
    --------
    >>> rational(" 1/3 "), rational("0.1")
    (Fraction(1, 3), Fraction(1, 10))
    """
    if re.search(r"e[-+]?[\d_]{4}", text, re.IGNORECASE):
        raise ValueError("an exponent beyond all doubles")  # would fill the memory exactly
    return Fraction(text.strip())


def called(text: str, known: Mapping[str, Callable[..., T]], word: str, what: str) -> T:
    """Make the object that a text names.

    Parameters
    ----------
    text : str
    known : mapping
        Dataclasses by name; their fields are the arguments.
    word : str
        The parameter's name, for messages.
    what : str
        What the object is, for messages.

    Raises
    ------
    InvalidParameter
        Unknown name, or arguments that it does not take.
    """
    match = re.fullmatch(r"(\w+)\s*(?:\(([^()]*)\))?", text.strip())
    if match is None or match[1] not in known:
        raise InvalidParameter(f"no {what} {text!r}; {nearest(match[1] if match else text, known)}")
    make = known[match[1]]
    try:
        arguments = [rational(part) for part in match[2].split(",")] if match[2] else []
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidParameter(f"{word}={text}: arguments must be numbers; {error}") from error
    if not all(map(fits, arguments)):
        raise InvalidParameter(f"{word}={text}: an argument is beyond all doubles")
    takes = len(fields(make))  # type: ignore[arg-type]
    if len(arguments) > takes:
        raise InvalidParameter(f"{word}={text}: {match[1]} takes {takes} arguments")
    return make(*arguments)
