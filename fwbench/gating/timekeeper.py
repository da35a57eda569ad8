"""A side's stopwatch, seen from the process that asks: it may fail, die or hang."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Self

from fwbench.errors import visible
from fwbench.gating.version import Code

PROGRAM = Path(__file__).with_name("stopwatch.py")
ENOUGH = 4096  # bytes: an answer is shorter
LAST_SAID = 200  # letters of what a process said before it ended


class Failed(Exception):
    """A side cannot do what it was asked; it goes on with the next request."""


class Lost(Exception):
    """A side's process has died, or was ended because it did not answer in time."""


class Timekeeper:
    """The process that times on one side; its end is that of the block it is entered for.

    Parameters
    ----------
    code : Code
    side : str
        What its failures name: ``the base``.
    hash_seed : int
    """

    def __init__(self, code: Code, side: str, hash_seed: int) -> None:
        self.code, self.side = code, side
        self._seed = hash_seed
        self._pending = b""

    def __enter__(self) -> Self:
        self._said = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [str(self.code.python), str(PROGRAM), str(os.getpid())],
            cwd=self.code.folder,
            env=self.code.environment(self._seed),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,  # so that what a solver starts ends with it
        )
        return self

    def __exit__(self, *raised: object) -> None:
        self._end()
        for file in (self._process.stdin, self._process.stdout, self._said):
            assert file is not None
            with suppress(BrokenPipeError):  # what it was asked and never read
                file.close()

    @property
    def process(self) -> int:
        """The number of its process."""
        return self._process.pid

    def ask(self, do: str, **asked: Any) -> None:
        """Send a request, which `answer` is to follow."""
        assert self._process.stdin is not None
        line = json.dumps({"do": do, **asked}).encode() + b"\n"
        with suppress(BrokenPipeError):  # `answer` says how it ended
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def answer(self, patience: float) -> dict[str, Any]:
        """Return the answer to the last request.

        Parameters
        ----------
        patience : float
            Seconds to wait; then the process is ended.

        Raises
        ------
        Failed
            It could not do that.
        Lost
            It died, or was not heard of in time.
        """
        assert self._process.stdout is not None
        descriptor, until = self._process.stdout.fileno(), monotonic() + patience
        while b"\n" not in self._pending:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, until - monotonic()))
            if not ready:
                self._end()
                raise Lost(f"{self.side} did not answer within {patience:.0f} s")
            more = os.read(descriptor, ENOUGH)
            if not more:
                raise Lost(self._how_it_ended())
            self._pending += more
        line, _, self._pending = self._pending.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        if "failed" in found:
            raise Failed(f"{self.side}: {visible(str(found['failed']))}")
        return found

    def _how_it_ended(self) -> str:
        self._end()
        code = self._process.returncode
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, self._said.tell() - LAST_SAID))
        lines = self._said.read().decode(errors="replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        last = f", after {visible(said)}" if said else ""
        return f"the process of {self.side} ended with {how}{last}"

    def _end(self) -> None:
        """End the process with all that it started; one that has ended holds its group's number."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
