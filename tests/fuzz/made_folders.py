"""Run folders that another hand has edited: places of a document, odd values, edits by the dozen.

An edit that is not refused has to be looked at, which takes a report. So many are looked at in one
folder, each in a run of its own on an instance of its own; where that fails, halves tell which.
"""

import copy
import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from .made_hostile import FORBIDDEN

ODD = [
    None, True, 0, -1, 1.5, 1e308, -1e308, 5e-324, 10**30, 2**63 - 1, -(2**63), "", "x",
    "<script>", "\x1b[31m", "../../x", "a\nb", [], [1], ["a"], {}, {"a": 1}, float("nan"),
]  # fmt: skip
DELETED = "deleted"


def line(record):
    text = json.dumps(record, sort_keys=True)
    checksum = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f'{{"checksum": "{checksum}", "record": {text}}}\n'


def places(value, before=()) -> Iterator[tuple]:
    """Yield the way to each value inside of one."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in inside:
        yield (*before, key)
        if isinstance(entry, dict | list):
            yield from places(entry, (*before, key))


def ends(value) -> Iterator[tuple]:
    """Yield the way to each value inside of one; of lists the first and the last entry alone."""
    for way in places(value):
        inside, told = value, True
        for key in way:
            told &= not isinstance(inside, list) or key in (0, len(inside) - 1)
            inside = inside[key]
        if told:
            yield way


def put(document, way, what):
    """Return a document with something else at one place."""
    document = inside = copy.deepcopy(document)
    *before, last = way
    for key in before:
        inside = inside[key]
    if what == DELETED:
        del inside[last]
    else:
        inside[last] = what
    return document


def edits(document) -> Iterator[tuple[str, Any]]:
    """Yield what odd values make of a document, each with its name."""
    for way in ends(document):
        for odd in (*ODD, DELETED):
            yield f"{'.'.join(map(str, way))} = {odd!r}", put(document, way, odd)


def culprits(cases: Sequence[Any], tried: Callable[[Sequence[Any]], None]) -> list[str]:
    """Return the cases, each with what it raises, that cannot be tried together with others."""
    try:
        tried(cases)
        return []
    except Exception as error:
        if len(cases) == 1:
            return [f"{cases[0][0]}: {error!r:.200}"]
    half = len(cases) // 2
    return culprits(cases[:half], tried) + culprits(cases[half:], tried)


def all_culprits(cases: Sequence[Any], tried: Callable[[Sequence[Any]], None], size: int):
    """Try all cases, so many together at a time."""
    batches = (cases[at : at + size] for at in range(0, len(cases), size))
    return [one for batch in batches for one in culprits(batch, tried)]


def shown(*told: Any) -> None:
    """Print as on a terminal, where nothing may be obeyed."""
    file = io.StringIO()
    Console(file=file, width=140).print(*told)
    assert not FORBIDDEN & set(file.getvalue())


@dataclass
class Held:
    """What analysis asks of a run folder, held in memory."""

    manifest: dict[str, Any]
    held: list[dict[str, Any]]
    points: Callable[[str], Any] = lambda run_id: None
    claims: dict[str, Any] | None = None
    has_journal: bool = True
    path: Path = field(default_factory=lambda: Path("held"))

    def records(self):
        return copy.deepcopy(self.held)
