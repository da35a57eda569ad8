"""What a run tells whoever watches it: where it is, how long it was on the clock, what it saw.

A run may hang in foreign code, or end with its process. So it says what it is about to do before
it does it, and hands on every checkpoint as it is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Protocol


class Stage(IntEnum):
    """What a run is doing; only `ADVANCE` is on its clock, all else is bounded apart."""

    WAITING = 0
    BUILDING = 1  # files of the problem and the solver, and what is known of them
    WARMING = 2  # imports and compilation
    PREPARING = 3
    ADVANCE = 4
    JUDGING = 5
    REPEATING = 6  # timed again from a fresh start
    STEPPING = 7  # the first steps, in the warm-up, but for what is compiled in them

    @property
    def words(self) -> str:
        """What a reason calls it."""
        return _WORDS[self]


_WORDS = {
    Stage.WAITING: "starting its process",
    Stage.BUILDING: "importing its files and building the problem",
    Stage.WARMING: "the warm-up (imports, compilation, two steps on a few atoms)",
    Stage.PREPARING: "setting up",
    Stage.ADVANCE: "taking steps",
    Stage.JUDGING: "being judged",
    Stage.REPEATING: "being timed again",
    Stage.STEPPING: "the first two steps, before any clock",
}


class Observer(Protocol):
    """Watches one run."""

    def enters(self, stage: Stage, clock: int = 0) -> None:
        """Note what begins; `clock` is what was spent inside `advance` so far, nanoseconds."""

    def looked(self, row: Mapping[str, Any]) -> None:
        """Note a checkpoint of the trace."""


class Unobserved:
    """Nobody watches."""

    def enters(self, stage: Stage, clock: int = 0) -> None:
        """Do nothing."""

    def looked(self, row: Mapping[str, Any]) -> None:
        """Do nothing."""
