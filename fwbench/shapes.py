"""What plain data that was read back must look like; the first thing that does not is said.

A shape is a function: it takes a value and returns what is wrong with it, "" where nothing is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fwbench.errors import brief

Shape = Callable[[Any], str]

LARGEST = 2**63 - 1  # integers of the tables
SHORTEST, LONGEST = 1e-12, 1e12  # what is timed; a ratio of such is a number too


def text(value: Any) -> str:
    """Ask for a text.

    Examples
    --------
    >>> text("a"), text(1)
    ('', 'must be a text; got 1')
    """
    return "" if isinstance(value, str) else f"must be a text; got {brief(value)}"


def integer(value: Any) -> str:
    """Ask for an integer of 64 bits."""
    right = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
    return "" if right else f"must be an integer of 64 bits; got {brief(value)}"


def number(value: Any) -> str:
    """Ask for a finite number."""
    right = isinstance(value, int | float) and not isinstance(value, bool)
    right = right and (integer(value) == "" if isinstance(value, int) else math.isfinite(value))
    return "" if right else f"must be a finite number; got {brief(value)}"


def duration(value: Any) -> str:
    """Ask for what a clock can show: 0, or a number from 10⁻¹² to 10¹².

    Examples
    --------
    >>> duration(0.5), duration(-1)
    ('', 'must be 0 or a number from 1e-12 to 1e+12; got -1')
    """
    if (wrong := number(value)) or value == 0 or SHORTEST <= value <= LONGEST:
        return wrong
    return f"must be 0 or a number from {SHORTEST:g} to {LONGEST:g}; got {brief(value)}"


def truth(value: Any) -> str:
    """Ask for true or false."""
    return "" if isinstance(value, bool) else f"must be true or false; got {brief(value)}"


def scalar(value: Any) -> str:
    """Ask for a text, a number, or true or false."""
    if isinstance(value, str | bool):
        return ""
    return "must be a text, a number or a truth value" if number(value) else ""


def either(*options: str) -> Shape:
    """Ask for one of some texts."""

    def shape(value: Any) -> str:
        right = isinstance(value, str) and value in options
        return "" if right else f"must be one of {', '.join(options)}; got {brief(value)}"

    return shape


def maybe(inside: Shape) -> Shape:
    """Ask for null, or what `inside` says.

    Examples
    --------
    >>> maybe(integer)(None), maybe(integer)(1.5)
    ('', 'must be an integer of 64 bits; got 1.5')
    """
    return lambda value: "" if value is None else inside(value)


def listed(inside: Shape, least: int = 0) -> Shape:
    """Ask for a list of what `inside` says, of so many entries at least."""

    def shape(value: Any) -> str:
        if not isinstance(value, list) or len(value) < least:
            return f"must be a list of at least {least} entries; got {brief(value)}"
        wrong = ((place, inside(entry)) for place, entry in enumerate(value))
        return next((f"[{place}] {said}" for place, said in wrong if said), "")

    return shape


def mapped(inside: Shape) -> Shape:
    """Ask for a table of any names, each of what `inside` says."""

    def shape(value: Any) -> str:
        if not isinstance(value, dict):
            return f"must be a table; got {brief(value)}"
        return _first((name, inside(entry)) for name, entry in value.items())

    return shape


def table(needed: Mapping[str, Shape], known: Mapping[str, Shape] | None = None) -> Shape:
    """Ask for a table with what is needed; what is known besides is looked at where it is there.

    Examples
    --------
    >>> point = table({"x": number}, {"label": text})
    >>> point({"x": 1}), point({"x": 1, "label": 2}), point({})
    ('', 'label must be a text; got 2', 'holds no x')
    """
    also = known or {}

    def shape(value: Any) -> str:
        if not isinstance(value, dict):
            return f"must be a table; got {brief(value)}"
        for name in needed:
            if name not in value:
                return f"holds no {name}"
        shapes = {**needed, **also}
        return _first((name, shapes[name](value[name])) for name in shapes if name in value)

    return shape


def columns(needed: Mapping[str, Shape], known: Mapping[str, Shape] | None = None) -> Shape:
    """Ask for a table of lists that are equally long and not empty, of what is said for each.

    Examples
    --------
    >>> columns({"k": integer, "gap": maybe(number)})({"k": [0, 1], "gap": [None]})
    'holds lists of unlike lengths'
    """
    lists = {name: listed(inside, 1) for name, inside in needed.items()}
    also = {name: listed(inside, 1) for name, inside in (known or {}).items()}
    inside = table(lists, also)

    def shape(value: Any) -> str:
        if wrong := inside(value):
            return wrong
        lengths = {len(value[name]) for name in (*lists, *also) if name in value}
        return "holds lists of unlike lengths" if len(lengths) > 1 else ""

    return shape


def _first(named: Iterable[tuple[str, str]]) -> str:
    for name, wrong in named:
        if wrong:
            link = "" if wrong.startswith("[") else "." if _goes_deeper(wrong) else " "
            return f"{name}{link}{wrong}"
    return ""


def _goes_deeper(wrong: str) -> bool:
    return not wrong.startswith(("must ", "holds "))
