"""The run in flight, as a process writes it and another one reads it while that one hangs or dies.

Two files without a name, shared by both processes: a heartbeat (what the run is doing, since when,
and how long it was on the clock before), and the checkpoints that it has made.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Mapping
from itertools import takewhile
from struct import Struct, error
from tempfile import TemporaryFile
from time import monotonic_ns
from typing import Any, NamedTuple
from zlib import crc32

from fwbench.observing import Stage
from fwbench.trace import COLUMNS

HEART = Struct("qqq")  # since when, nanoseconds; clock before, nanoseconds; stage
ROW = Struct(f"{len(COLUMNS)}d")
CHECK = Struct("Q")  # behind each row: a solver may write where it should not
WHOLE = frozenset({"k", "support", "lmo", "gradient", "matvec"})  # columns of integers


class Beat(NamedTuple):
    """What a run is doing.

    Attributes
    ----------
    stage : Stage
    seconds : float
        Spent in this stage so far.
    clock : float
        Seconds on the clock before it.
    """

    stage: Stage
    seconds: float
    clock: float


def shared_file() -> int:
    """Return a descriptor of a new file without a name; whoever inherits it shares the file."""
    if hasattr(os, "memfd_create"):  # no disk that could be full, and faster
        return os.memfd_create("fwbench")
    with TemporaryFile() as file:
        return os.dup(file.fileno())


class Flight:
    """Writes down a run in flight; an `Observer`.

    Parameters
    ----------
    heart, rows : int
        Descriptors of shared files; the first has the length of `HEART`.
    """

    def __init__(self, heart: int, rows: int) -> None:
        os.ftruncate(heart, HEART.size)
        self._heart, self._rows = mmap.mmap(heart, HEART.size), rows

    def close(self) -> None:
        """Let go of the heartbeat; the descriptors stay the caller's."""
        self._heart.close()

    def begins(self) -> None:
        """Forget the checkpoints of the run before."""
        self.enters(Stage.WAITING)
        os.ftruncate(self._rows, 0)
        os.lseek(self._rows, 0, os.SEEK_SET)

    def enters(self, stage: Stage, clock: int = 0) -> None:
        """Note what begins, and since when."""
        # in one piece: `pack_into` would write zeros first, and be read so
        self._heart[:] = HEART.pack(monotonic_ns(), clock, stage)

    def looked(self, row: Mapping[str, Any]) -> None:
        """Keep a checkpoint, should the process end before its run does."""
        numbers = [row.get(name) for name in COLUMNS]
        try:
            packed = ROW.pack(*(math.nan if n is None else n for n in numbers))
            os.write(self._rows, packed + CHECK.pack(crc32(packed)))
        except (OSError, error, TypeError):  # a full disk, or no number: the run itself will say so
            return

    # -- the other side ----------------------------------------------------------------------

    def beat(self) -> Beat:
        """Return what the run is doing now."""
        # the other process may be writing: what is read twice alike was written to its end, or
        # stands between two stages, where it says no more than that a stage has just begun
        read = HEART.unpack_from(self._heart, 0)
        while (again := HEART.unpack_from(self._heart, 0)) != read:
            read = again
        since, clock, stage = read
        since = since or monotonic_ns()  # nothing was written yet
        return Beat(Stage(stage), (monotonic_ns() - since) / 1e9, clock / 1e9)

    def trace(self) -> dict[str, list[Any]]:
        """Return the checkpoints that the run has made, column by column; {} if none."""
        written = os.pread(self._rows, os.fstat(self._rows).st_size, 0)
        size = ROW.size + CHECK.size
        pieces = (written[at : at + size] for at in range(0, len(written) - size + 1, size))
        rows = [ROW.unpack(piece[: ROW.size]) for piece in takewhile(_whole, pieces)]
        if not rows:
            return {}
        return {
            name: [_number(name, n) for n in column]
            for name, column in zip(COLUMNS, zip(*rows, strict=True), strict=True)
        }


def _whole(piece: bytes) -> bool:
    return piece[ROW.size :] == CHECK.pack(crc32(piece[: ROW.size]))


def _number(name: str, number: float) -> float | int | None:
    if not math.isfinite(number):
        return None
    return int(number) if name in WHOLE else number
