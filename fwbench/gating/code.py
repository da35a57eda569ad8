"""A version of the code that can be run beside another: a git revision, a wheel, an interpreter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Code:
    """One version of the code, ready to run.

    Attributes
    ----------
    name : str
        What a reader calls it: ``main~2 (1a2b3c4d5e6f)``, ``the working tree``, the name of a wheel.
    python : Path
        The interpreter.
    overlay : Path or None
        A folder with packages that goes before those of the interpreter.
    folder : Path
        Where its commands run: files of users that are named relatively are this version's.
    kernels : Path
        Where its compiled kernels lie; nobody else's.
    """

    name: str
    python: Path
    overlay: Path | None
    folder: Path
    kernels: Path

    def environment(self, hash_seed: int) -> dict[str, str]:
        """Return the environment of its processes, equally long for both sides of a gate."""
        raise NotImplementedError
