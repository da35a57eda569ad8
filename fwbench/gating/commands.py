"""Commands of other programs, which end with whoever waits for them."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import psutil

from fwbench.errors import LONGEST_SAID, GateError, visible

LAST_LINES = 3  # of what a command said that failed
SHOWN_END = "[end of output]"  # pip repeats what a build said, and says much behind it
# What a user has set for Python that does not change what is measured; the rest may steer, slow
# down or break a process that another interpreter, or another version, runs in.
KEPT = frozenset({"PYTHONIOENCODING", "PYTHONNOUSERSITE", "PYTHONUSERBASE", "PYTHONUTF8"})
STEERING = ("PYTEST_", "COV")  # of tests, and of what measures their coverage
# A hook that calls the gate is told by these which repository is meant; here the folder says it.
POINTING = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX"})


def surroundings() -> dict[str, str]:
    """Return the environment without what steers Python, pytest, coverage or git.

    Examples
    --------
    >>> "PYTHONPATH" in surroundings()
    False
    """
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(STEERING)
        and name not in POINTING
        and (name in KEPT or not name.startswith("PYTHON") or name.startswith("PYTHON_"))
    }


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes
    ----------
    code : int
        0 where it went well.
    out, err : str
        What it said.
    """

    code: int
    out: str
    err: str

    def last(self) -> str:
        r"""Return the last lines that say something, of a build those of the build.

        Examples
        --------
        >>> Ended(1, "", "error: no compiler\n[end of output]\nnote: not pip's fault").last()
        'error: no compiler'
        """
        text = self.err if self.err.strip() else self.out
        lines = [line.strip(" │╰─>×") for line in text.partition(SHOWN_END)[0].splitlines()]
        lines = [visible(line[:LONGEST_SAID]) for line in lines if line]
        return "; ".join(lines[-LAST_LINES:]) or f"it ended with {self.code} and said nothing"


class Commands:
    r"""Runs commands, from several threads too; none of them outlives the ``with`` block.

    Examples
    --------
    >>> import sys
    >>> with Commands() as commands:
    ...     commands.run([sys.executable, "-c", "print(2 + 2)"], Path.cwd()).out
    '4\n'
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def __enter__(self) -> Commands:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(
        self,
        words: Sequence[str | Path],
        folder: Path,
        environment: Mapping[str, str] | None = None,
    ) -> Ended:
        """Run a command to its end.

        Parameters
        ----------
        words : sequence of str or Path
            The program and its arguments; no shell reads them.
        folder : Path
            Where it runs.
        environment : mapping, optional
            By default that of `surroundings`.

        Raises
        ------
        GateError
            It cannot be started, or `close` was called.
        """
        process = self._started(words, folder, environment)
        out, err = process.communicate()  # after a Ctrl-C here, `close` ends it
        with self._lock:
            self._running.discard(process)
        if self._closed:
            raise GateError(f"{words[0]} was ended, for something else had failed")
        return Ended(process.returncode, os.fsdecode(out), os.fsdecode(err))

    def _started(
        self, words: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None
    ) -> subprocess.Popen[bytes]:
        with self._lock:  # nothing is started behind the back of `close`
            if self._closed:
                raise GateError(f"{words[0]} was not started, for something else had failed")
            try:
                process = subprocess.Popen(
                    words,
                    cwd=folder,
                    env=surroundings() if environment is None else environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,  # what it starts ends with it; a Ctrl-C is for us
                )
            except FileNotFoundError as error:
                raise GateError(
                    f"there is no program {words[0]}, and the gate needs it; is it installed, and "
                    "on the PATH?"
                ) from error
            except OSError as error:
                reason = error.strerror or error
                raise GateError(f"{words[0]} cannot be started: {reason}") from error
            self._running.add(process)
            return process

    def close(self) -> None:
        """End what still runs, and start nothing any more."""
        with self._lock:
            self._closed = True
            left = list(self._running)
        for process in left:
            _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and what it has started, in sessions of their own too."""
    if process.returncode is not None:  # its number may be another process's by now
        return
    started: list[psutil.Process] = []
    with suppress(psutil.Error):
        started = psutil.Process(process.pid).children(recursive=True)
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    for each in started:
        with suppress(psutil.Error):
            each.kill()
