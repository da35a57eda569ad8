"""The text that names solvers and problems: ``name[key=value,value,key=value]``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fwbench.errors import InvalidParameter

_PLAIN = re.compile(r'[^\s\[\]=,"()]+(\([^()\[\]="]*\))?')
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_KEY = re.compile(r"\s*(\w+)\s*=(.*)", re.DOTALL)
_RANGE = re.compile(r"(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})")

LONGEST_RANGE = 10_000


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
    ``0..3`` is a range of integers; quotes may hold anything (a quote is written twice), and a
    path with brackets stands in quotes as well.

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
    quoted_name = _QUOTED.match(text)
    bracket = text.find("[", quoted_name.end() if quoted_name else 0)
    name = (text if bracket < 0 else text[:bracket]).strip()
    if quoted_name:
        if name != quoted_name[0]:
            raise InvalidParameter(f"{text}: a name in quotes must be followed by [ or nothing")
        name = _unquoted(name)
    if bracket < 0:
        return Spelled(name, {})
    if not text.endswith("]"):
        raise InvalidParameter(
            f"{text}: the text must end with the bracket that closes the first one (quote it from "
            "the shell? a path with brackets stands in double quotes)"
        )
    inside = text[bracket + 1 : -1]
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
    if _QUOTED.fullmatch(value):
        return [_unquoted(value)]
    if between := _RANGE.fullmatch(value):
        first, last = int(between[1]), int(between[2])
        if last < first:
            raise InvalidParameter(f"{whole}: the range {value} is empty")
        if last - first >= LONGEST_RANGE:
            raise InvalidParameter(
                f"{whole}: the range {value} holds {last - first + 1} integers; at most "
                f"{LONGEST_RANGE} are allowed"
            )
        return [str(i) for i in range(first, last + 1)]
    if not value:
        raise InvalidParameter(f'{whole}: a value is missing (empty text is "")')
    if not _PLAIN.fullmatch(value):
        raise InvalidParameter(f"{whole}: {value} needs quotes: {quoted(value)}")
    return [value]


def _unquoted(value: str) -> str:
    return value[1:-1].replace('""', '"')


def quoted(value: str) -> str:
    """Return a value as the grammar reads it, with quotes where it needs them.

    Examples
    --------
    >>> quoted("open_loop(2)"), quoted("a b"), quoted("")
    ('open_loop(2)', '"a b"', '""')
    """
    if _PLAIN.fullmatch(value) and not _RANGE.fullmatch(value):
        return value
    return '"' + value.replace('"', '""') + '"'
