"""The same question put to both sides of a gate by ``fwbench run``; no clock is asked."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from fwbench.analysis.sides import Side
from fwbench.comparing import opened
from fwbench.disk import failing
from fwbench.errors import GateError, visible
from fwbench.execution.machine import cores
from fwbench.gating.code import Code

RAN = (
    0,
    1,
)  # exit codes of ``fwbench run``: 1 says that some runs failed, and their rows are there
LAST_LINES = 3  # of what a command said, where it failed
ENDING_SECONDS = 10.0  # for a command that is told to end
HASH_SEED = 0  # of both sides: what depends on it is a difference of the code


def results(base: Code, new: Code, words: Sequence[str], room: Path) -> tuple[Side, Side]:
    """Run both sides, at the same time where there are two cores, and read what they found.

    Parameters
    ----------
    base, new : Code
    words : sequence of str
        What follows ``fwbench run``: a suite, problems, solvers, budgets.
    room : Path
        A folder in which ``base/`` and ``next/`` become the run folders.

    Returns
    -------
    tuple of Side
        Named as the sides are.

    Raises
    ------
    GateError
        A side cannot put the question: it lacks a name, or its command failed.
    RunFolderError
        What it wrote cannot be read.
    """
    folders = {"base": room / "base", "next": room / "next"}
    sides = dict(zip(folders, (base, new), strict=True))
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        with failing(room, "written"):
            for name, code in sides.items():
                running[name] = _started(code, words, folders[name], room / f"{name}.log")
                if len(cores()) == 1:
                    running[name].wait()
        for name, process in running.items():
            if process.wait() not in RAN:
                raise GateError(_why(name, sides[name], process.returncode, room))
    finally:
        _end(running.values())
    read = [replace(opened(folders[name]), name=code.name) for name, code in sides.items()]
    return read[0], read[1]


def _started(code: Code, words: Sequence[str], out: Path, log: Path) -> subprocess.Popen[bytes]:
    command = [str(code.python), "-m", "fwbench", "run", *words, "--no-report", "--out", str(out)]
    with log.open("wb") as told:
        return subprocess.Popen(
            command,
            cwd=code.folder,
            env=code.environment(HASH_SEED),
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=subprocess.STDOUT,
        )


def _why(name: str, code: Code, ended: int, room: Path) -> str:
    """Say why a side has no results, by the last that it said."""
    with (room / f"{name}.log").open("rb") as file:
        said = _tail(file)
    side = {"base": "the base", "next": "the new side"}[name]
    last = "; ".join(said) or f"it ended with {ended} and said nothing"
    return f"{side}, {code.name}, cannot run this: {visible(last)}"


def _tail(file: IO[bytes]) -> list[str]:
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - 4000))
    lines = file.read().decode(errors="replace").splitlines()
    return [line.strip() for line in lines if line.strip()][-LAST_LINES:]


def _end(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    """End what still runs: the other side has failed, or a Ctrl-C came."""
    left = [one for one in processes if one.poll() is None]
    for process in left:
        process.terminate()  # fwbench ends its own processes then
    for process in left:
        with suppress(subprocess.TimeoutExpired):
            process.wait(ENDING_SECONDS)
            continue
        process.kill()
        process.wait()
