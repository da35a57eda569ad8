"""The same question put to both sides of a gate by ``fwbench run``; no clock is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from fwbench.analysis.sides import Side
from fwbench.comparing import opened
from fwbench.disk import failing
from fwbench.errors import GateError, visible
from fwbench.execution.machine import cores
from fwbench.gating.code import Code

RAN = (0, 1)  # exit codes of ``fwbench run``; 1: some runs failed, and their rows are there
REFUSED = 2
LAST_LINES = 3  # of what a command said, where it failed
ENDING_SECONDS = 10.0  # for a command that is told to end
HASH_SEED = 0  # of both sides: what depends on it is a difference of the code
SIDES = {"base": "the base", "next": "the new side"}
# with what a text is asked about alone
BESIDE = {"-s": ("-p", "polygon[k=3]"), "-p": ("-s", "frank_wolfe")}

Named = tuple[str, str]  # -p or -s, and a text


class _Refused(GateError):
    """A side cannot put the question."""


@dataclass(frozen=True)
class Question:
    """What both sides are asked.

    Attributes
    ----------
    options : tuple of str
        A suite, a seed, budgets.
    named : tuple of (str, str)
        ``-p`` or ``-s``, and a text.
    """

    options: tuple[str, ...] = ()
    named: tuple[Named, ...] = ()

    @property
    def words(self) -> list[str]:
        """What follows ``fwbench run``."""
        return [*self.options, *(word for pair in self.named for word in pair)]

    def without(self, lacking: Iterable[Named]) -> Question | None:
        """Return what is left without some texts; None where a whole kind of them is gone."""
        gone = set(lacking)
        left = tuple(pair for pair in self.named if pair not in gone)
        kinds = [{option for option, _ in named} for named in (self.named, left)]
        return replace(self, named=left) if kinds[0] == kinds[1] else None


def results(base: Code, new: Code, question: Question, room: Path) -> tuple[Side, Side]:
    """Run both sides, at the same time where there are two cores, and read what they found.

    A side that lacks a solver or a problem runs the others; its notes say so.

    Parameters
    ----------
    base, new : Code
    question : Question
    room : Path
        A folder in which ``base/`` and ``next/`` become the run folders.

    Returns
    -------
    tuple of Side
        Named as the sides are.

    Raises
    ------
    GateError
        A side can run nothing of the question, or its command failed.
    RunFolderError
        What it wrote cannot be read.
    """
    sides = dict(zip(SIDES, (base, new), strict=True))
    questions = dict.fromkeys(SIDES, question)
    notes: dict[str, tuple[str, ...]] = dict.fromkeys(SIDES, ())
    try:
        _run(sides, questions, room)
    except _Refused:
        lacking = {name: _lacking(code, question, room) for name, code in sides.items()}
        left = {name: question.without(some) for name, some in lacking.items()}
        if None in left.values() or lacking["base"].keys() & lacking["next"].keys():
            raise
        if not any(lacking.values()):
            raise
        for name, some in lacking.items():
            questions[name] = left[name] or question
            notes[name] = tuple(f"{SIDES[name]} lacks {text}: {why}"
                                for (_, text), why in some.items())  # fmt: skip
            shutil.rmtree(room / name, ignore_errors=True)
        _run(sides, questions, room)
    read = {name: opened(room / name) for name in SIDES}
    found = [
        replace(side, name=sides[name].name, notes=(*side.notes, *notes[name]))
        for name, side in read.items()
    ]
    return found[0], found[1]


def _run(sides: Mapping[str, Code], questions: Mapping[str, Question], room: Path) -> None:
    """Run both sides; where one fails, the other one is ended."""
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        with failing(room, "written"):
            for name, code in sides.items():
                words = ["run", *questions[name].words, "--no-report", "--out", str(room / name)]
                running[name] = _started(code, words, room / f"{name}.log")
                if len(cores()) == 1:
                    running[name].wait()
        for name, process in running.items():
            if (ended := process.wait()) not in RAN:
                kind = _Refused if ended == REFUSED else GateError
                raise kind(_why(name, sides[name], ended, room))
    finally:
        _end(running.values())


def _lacking(code: Code, question: Question, room: Path) -> dict[Named, str]:
    """Return the texts that a side refuses, each asked about alone, with its last words."""
    found: dict[Named, str] = {}
    log = room / "asked.log"
    for option, text in question.named:
        words = ["run", option, text, *BESIDE[option], "--dry-run"]
        process = _started(code, words, log)
        try:
            if process.wait() != 0:
                with log.open("rb") as file:
                    found[option, text] = visible("; ".join(_tail(file)[-1:]))
        finally:
            _end([process])
    log.unlink(missing_ok=True)
    return found


def _started(code: Code, words: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as told:
        return subprocess.Popen(
            [str(code.python), "-m", "fwbench", *words],
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
    last = "; ".join(said) or f"it ended with {ended} and said nothing"
    return f"{SIDES[name]}, {code.name}, cannot run this: {visible(last)}"


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
