"""Sentences in parts: names are untrusted, so each stands apart from the text around it.

Whoever prints a sentence writes names as code, or with their colours, and text as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fwbench.report.words import count

SOLVER, INSTANCE = "solver", "instance"


class Part(NamedTuple):
    """A piece of a sentence.

    Attributes
    ----------
    text : str
    role : {"", "solver", "instance"}
        Whose name it is; empty for plain text.
    """

    text: str
    role: str = ""


Said = list[Part]


def solvers(labels: Iterable[str], link: str = " and ") -> Said:
    """Return names of solvers, the last two joined by `link`.

    Examples
    --------
    >>> plain(solvers(["a", "b", "c"]))
    'a, b and c'
    """
    names = [*labels]
    said: Said = []
    for i, label in enumerate(names):
        if i:
            said.append(Part(link if i == len(names) - 1 else ", "))
        said.append(Part(str(label), SOLVER))
    return said


def tallied(pairs: Iterable[tuple[str, str]], most: int, what: str = "solver") -> Said:
    """Return names of solvers, each with what is said of it, and how many more there are.

    Examples
    --------
    >>> plain(tallied([("a", "3"), ("b", "2"), ("c", "1")], most=2))
    'a 3, b 2 and 1 solver more'
    """
    listed = [*pairs]
    said: Said = []
    for i, (name, text) in enumerate(listed[:most]):
        said += [Part(", ")] if i else []
        said += [Part(str(name), SOLVER), Part(f" {text}")]
    if len(listed) > most:
        said.append(Part(f" and {many(len(listed) - most, what)} more"))
    return said


def many(n: int, what: str) -> str:
    """Count things.

    Examples
    --------
    >>> many(1, "race"), many(2, "race")
    ('1 race', '2 races')
    """
    return f"{count(n)} {what}" if n == 1 else f"{count(n)} {what}s"


def plain(said: Said) -> str:
    """Return a sentence as text, names as they are."""
    return "".join(part.text for part in said)
