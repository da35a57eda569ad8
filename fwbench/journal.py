"""The journal of a run folder: a line a run, a checksum and what the run gave.

Reading leaves out a torn tail (the process was killed while writing) and damaged lines, with a
warning; before more runs are written, the tail is cut and such lines are set aside.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from fwbench.disk import append_whole, cut, failing, open_plain, pieces_of, write_whole
from fwbench.errors import RunFolderError
from fwbench.plain import plain
from fwbench.trace import Status

STATUSES = frozenset(Status)
LONGEST = 2**28  # bytes of a line: a record takes some kB, so nothing longer was ours
SAFE = "; what was done before is safe, --resume does the rest"


@dataclass(frozen=True)
class Line:
    """Where a line stands in the journal, in bytes, and its record; None if it is damaged."""

    start: int
    end: int
    record: dict[str, Any] | None


class Journal:
    """Reads and writes one journal; one process at a time writes.

    Parameters
    ----------
    path : Path
    aside : Path
        File of damaged lines.

    Raises
    ------
    RunFolderError
        Where a file cannot be read or written.
    """

    def __init__(self, path: Path, aside: Path) -> None:
        self.path, self.aside = path, aside

    def append(self, line: bytes, *, create: bool) -> None:
        """Write a line; when this returns it is on the disk, when this raises nothing of it is.

        Parameters
        ----------
        line : bytes
            As `line_of` made it.
        create : bool
            Whether a missing journal is begun.
        """
        with failing(self.path, "written", SAFE):
            append_whole(self.path, [line], create=create)

    def records(self) -> list[dict[str, Any]]:
        """Return all records, the newest of each run, in the order in which runs were first done.

        Warns of what is damaged; changes nothing.
        """
        lines, torn = self._scan()
        bad = sum(line.record is None for line in lines)
        if bad or torn:
            last = " and a torn last one" if torn else ""
            warnings.warn(
                f"{self.path}: {_counted(bad)}{last} left out; --resume does these runs again",
                stacklevel=3,
            )
        good = (line.record for line in lines if line.record is not None)
        return list({record["row"]["run_id"]: record for record in good}.values())

    def mend(self) -> None:
        """Cut a torn tail and set damaged lines aside, with a warning, so that more can be written.

        Killed in between, it may set a line aside twice, and loses none.
        """
        lines, torn = self._scan()
        bad = [(line.start, line.end) for line in lines if line.record is None]
        good = [(line.start, line.end) for line in lines if line.record is not None]
        if bad:
            with failing(self.aside, "written"):
                append_whole(self.aside, pieces_of(self.path, bad), create=True)
            write_whole(self.path, pieces_of(self.path, good))
            warnings.warn(
                f"{self.path}: {_counted(len(bad))} set aside in {self.aside.name}; --resume does "
                "these runs again",
                stacklevel=3,
            )
        elif torn:
            with failing(self.path, "mended"):
                cut(self.path, lines[-1].end if lines else 0)

    def _scan(self) -> tuple[list[Line], bool]:
        """Return the journal's lines, and whether a torn one follows."""
        with failing(self.path, "read"), open_plain(self.path) as file:
            lines = [Line(start, end, record_of(text)) for start, end, text in _texts(file)]
            end = lines[-1].end if lines else 0
            return lines, file.tell() > end


def _texts(file: IO[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """Yield start, end and bytes of each line that has an end; no bytes of one that is too long."""
    start = 0
    while text := file.readline(LONGEST):
        piece = text
        while piece and not piece.endswith(b"\n"):
            text, piece = b"", file.readline(LONGEST)
        if not piece:
            return
        end = file.tell()
        yield start, end, text
        start = end


def _counted(lines: int) -> str:
    return f"{lines} damaged {'line' if lines == 1 else 'lines'}"


def line_of(record: dict[str, Any]) -> bytes:
    """Return the line of a record.

    Raises
    ------
    RunFolderError
        The record is of a shape that would not be read again.
    """
    try:
        made = plain(record)
        wrong = _misshapen(made)
    except TypeError as error:
        wrong = str(error)
    if wrong is not None:
        raise RunFolderError(f"a run gave a record that the journal cannot keep: {wrong}")
    line = _framed(made)
    if len(line) > LONGEST:
        raise RunFolderError(
            f"run {made['row']['run_id']} gave {len(line)} bytes to keep; a line of the journal "
            f"has at most {LONGEST}"
        )
    return line


def record_of(line: bytes) -> dict[str, Any] | None:
    """Return what a line holds, or None if it is damaged or of a wrong shape."""
    try:
        record: dict[str, Any] = json.loads(line)["record"]
        # a byte more or less is damage, even where JSON reads the same from it
        whole = _framed(record) == line
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return record if whole and _misshapen(record) is None else None


def _framed(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, allow_nan=False, sort_keys=True)
    checksum = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f'{{"checksum": "{checksum}", "record": {text}}}\n'.encode()


def _misshapen(record: Any) -> str | None:
    """Return what keeps a record from being read, in words."""
    row = record.get("row") if isinstance(record, dict) else None
    if not isinstance(row, dict):
        return "it has no row"
    run_id, status, size = row.get("run_id"), row.get("status"), record.get("points")
    if not isinstance(run_id, str) or not re.fullmatch(r"[\w-]{1,64}", run_id, re.ASCII):
        return f"its run_id is {run_id!r:.80}"  # it names a file
    if not isinstance(status, str) or status not in STATUSES:
        return f"its status is {status!r:.80}"
    trace = record.get("trace")
    if not isinstance(trace, dict) or not all(isinstance(c, list) for c in trace.values()):
        return "its trace has no lists as columns"
    if len({len(column) for column in trace.values()}) > 1:
        return "the columns of its trace are of unlike lengths"
    if not all(isinstance(record.get(name), dict | None) for name in ("rest", "head")):
        return "its rest or head is no table"
    if size is not None and (not isinstance(size, int) or isinstance(size, bool)):
        return f"its points have the size {size!r:.80}"
    return None
