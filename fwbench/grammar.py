"""The text that names solvers and problems: ``name[key=value,value,key=value]``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fwbench.errors import InvalidParameter

_PLAIN = re.compile(r'[^\s\[\]=,"()]+(\([^()\[\]="]*\))?')
_KEY = re.compile(r"\s*(\w+)\s*=(.*)", re.DOTALL)
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")


@dataclass(frozen=True)
class Spelled:
    """A name, or a path, and the values given for each key."""

    name: str
    values: dict[str, list[str]]


def _pieces(text: str, whole: str) -> list[str]:
    """Split at commas that stand in no quotes and no parentheses."""
    pieces, depth, quoted, start = [], 0, False, 0
    for i, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif not quoted:
            depth += (letter == "(") - (letter == ")")
            if letter == "," and depth == 0:
                pieces.append(text[start:i])
                start = i + 1
    if quoted or depth:
        raise InvalidParameter(f"{whole}: a {'quote' if quoted else 'parenthesis'} is not closed")
    return [*pieces, text[start:]]


def spelled(text: str) -> Spelled:
    """Read a name with parameters.

    A piece with ``=`` starts a key, others are further values of the last one (a grid);
    ``0..3`` is a range of integers; quotes may hold anything.

    Raises
    ------
    InvalidParameter
        Says where the text goes wrong.

    Examples
    --------
    >>> spelled('polygon[k=3,5,seed=0..2,norms="equal"]').values
    {'k': ['3', '5'], 'seed': ['0', '1', '2'], 'norms': ['equal']}
    """
    text = text.strip()
    bracket = text.find("[")
    if bracket < 0:
        return Spelled(text, {})
    if not text.endswith("]"):
        raise InvalidParameter(f"{text}: the bracket is not closed (quote it from the shell?)")
    name, inside = text[:bracket].strip(), text[bracket + 1 : -1]
    values: dict[str, list[str]] = {}
    key = ""
    for piece in _pieces(inside, text) if inside.strip() else []:
        match = _KEY.fullmatch(piece) if not piece.lstrip().startswith('"') else None
        if match:
            key, piece = match[1], match[2]
            if key in values:
                raise InvalidParameter(
                    f"{text}: {key} is given twice; write its values behind each other: {key}=a,b"
                )
            values[key] = []
        if not key:
            raise InvalidParameter(f"{text}: {piece.strip()!r} needs a key: key=value")
        values[key] += _expanded(piece.strip(), text)
    return Spelled(name, values)


def _expanded(value: str, whole: str) -> list[str]:
    if len(value) >= 2 and value[0] == value[-1] == '"' and '"' not in value[1:-1]:
        return [value[1:-1]]
    if between := _RANGE.fullmatch(value):
        first, last = int(between[1]), int(between[2])
        if last < first:
            raise InvalidParameter(f"{whole}: the range {value} is empty")
        return [str(i) for i in range(first, last + 1)]
    if not value:
        raise InvalidParameter(f'{whole}: a value is missing (empty text is "")')
    if not _PLAIN.fullmatch(value):
        raise InvalidParameter(f'{whole}: {value} needs quotes: "{value}"')
    return [value]


def quoted(value: str) -> str:
    """Return a value as the grammar reads it, with quotes where it needs them.

    Examples
    --------
    >>> quoted("open_loop(2)"), quoted("a b"), quoted("")
    ('open_loop(2)', '"a b"', '""')
    """
    return value if _PLAIN.fullmatch(value) and not _RANGE.fullmatch(value) else f'"{value}"'
