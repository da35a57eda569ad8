"""One process for runs, seen from outside: what it is asked, what it answers, how it ends.

It is a plain child process with a connection, not one of `multiprocessing`: scripts without a main
guard can start it, so can daemons, and its end is seen at once, with the exit code, be it 0.
"""

from __future__ import annotations

import os
import platform
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

import psutil

from fwbench.errors import said
from fwbench.execution.flight import Flight, shared_file
from fwbench.execution.tasks import Assignment, Done, TooLarge
from fwbench.execution.worker import CUT_OFF, FULL, Asked, Terms
from fwbench.observing import Stage
from fwbench.trace import Status

CODE = (
    "import sys; sys.path[:] = {path!r}; from fwbench.execution.worker import main; "
    "main({descriptor}, {parent})"
)
GRACE_SECONDS = 0.5  # beyond the limit of the clock: a run may still end by itself
APART_SECONDS = 120.0  # for each of all that is not on the clock
STEPPING_SECONDS = 10.0  # for the steps of the warm-up, which may import a library
START_SECONDS = 120.0  # until a process is ready: imports of fwbench itself
LAST_WORDS_SECONDS = 0.2  # for writing down where a process hangs
ENDING_SECONDS = 1.0  # from the end of its connection to that of a process
MARK = "FWBENCH_PROCESS"  # in the environment of all that a run starts
STARTS = 3  # so often a process may end before it is ready


class Isolated:
    """A child process that makes one run at a time.

    Parameters
    ----------
    place : int
        Which of the machine's cores are its own.
    threads : int
    shared : bool
        Whether runs go on in other processes meanwhile.
    memory : int or None
        Bytes that a run may take.
    apart_seconds : float
        Bound of each of building, warming up, setting up, judging, timing again.
    path : list of str, optional
        Where the process looks for modules; by default as this one does.

    Raises
    ------
    OSError
        Where no process can be started.
    """

    def __init__(
        self,
        place: int = 0,
        threads: int = 1,
        *,
        shared: bool = False,
        memory: int | None = None,
        apart_seconds: float = APART_SECONDS,
        path: list[str] | None = None,
    ) -> None:
        self._path = path
        self._mark = f"{os.getpid()}-{uuid4().hex}"
        self._place, self._threads, self._shared = place, threads, shared
        self._memory, self._apart_seconds = memory, apart_seconds
        self._files = [shared_file() for _ in range(3)]
        self._flight = Flight(self._files[0], self._files[1])
        self._ready, self._unready = False, 0
        self._assignment: Assignment | None = None
        self._facts: dict[str, Any] = {}
        self._base = 0
        self._code: int | None = None  # with which the process has ended
        self._start()

    # -- the process -------------------------------------------------------------------------

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        heart, rows, crash = self._files
        path = self._path or sys.path
        code = CODE.format(path=path, descriptor=theirs.fileno(), parent=os.getpid())
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                pass_fds=[theirs.fileno(), *self._files],
                stdin=subprocess.DEVNULL,
                stdout=2,  # whatever a solver prints: stdout is for results
                env=os.environ | {MARK: self._mark},
                start_new_session=True,  # a Ctrl-C is for the parent; what a solver starts ends too
            )
        self.connection = Connection(ours.detach())
        self._ready, self._started, self._code = False, monotonic(), None
        self._seen = psutil.Process(self._process.pid)
        terms = Terms(heart, rows, crash, self._place, self._threads, self._shared, self._memory)
        with suppress(OSError):  # it has ended already: seen when its answer is read
            self.connection.send(terms)

    def close(self) -> None:
        """End the process, and what it has started."""
        self._kill()
        self.connection.close()
        self._flight.close()
        for file in self._files:
            os.close(file)

    def _kill(self) -> int:
        """Kill the process and what it has started; return its exit code, −signal if killed."""
        if self._code is not None:  # its number may be another process's by now
            return self._code
        started: list[psutil.Process] = []
        with suppress(psutil.Error):
            started = self._seen.children(recursive=True)  # in sessions of their own too
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for process in started:
            with suppress(psutil.Error):
                process.kill()
        self._code = self._process.wait()
        _end_marked(self._mark)
        return self._code

    def _anew(self) -> None:
        self.connection.close()
        self._start()

    # -- a run -------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a run is in flight."""
        return self._assignment is not None

    def ask(self, assignment: Assignment, too_large: list[TooLarge]) -> None:
        """Begin a run."""
        self._assignment, self._facts, self._started = assignment, {}, monotonic()
        self._too_large = too_large
        self._flight.begins()
        os.ftruncate(self._files[2], 0)
        os.lseek(self._files[2], 0, os.SEEK_SET)
        if self._ready:
            self._send()

    def _send(self) -> None:
        assert self._assignment is not None
        self._base = self._memory_now()
        with suppress(OSError):  # it has ended: seen when its answer is read
            self.connection.send(Asked(self._assignment, self._too_large))

    def seen(self) -> Done | None:
        """Return the run that was asked for if it has ended, by itself or by force, else None."""
        assert self._assignment is not None
        gone = self._process.poll() is not None  # what it has started may hold the connection
        try:
            while self.connection.poll():
                if (done := self._received(self.connection.recv())) is not None:
                    return done
        except (EOFError, OSError):
            return self._ended()
        except Exception as error:  # a solver may have written where its process answers
            code = self._kill()
            return self._broken(Status.CRASHED, f"its answer cannot be read: {said(error)}", code)
        return self._ended() if gone else self._overdue()

    def _received(self, message: Any) -> Done | None:
        if message is None:
            self._ready, self._unready = True, 0
            self._send()
        elif isinstance(message, dict):
            self._facts = message
        elif isinstance(message, Done):
            self._assignment, self._ready = None, False
            if message.record is not None and message.record["row"]["status"] == Status.MEMORY:
                self._kill()  # what it still holds is not the next run's
                self._anew()
            return message
        return None

    def _ended(self) -> Done | None:
        """Say how the process ended, and start another one."""
        cut_off = False
        try:
            self._process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            cut_off = True
        code = self._kill()
        if not self._ready:
            self._unready += 1
            if self._unready < STARTS:
                self._anew()
                return None
            reason = f"its process ended {STARTS} times before it was ready, with exit code {code}"
        elif code == FULL and self._memory is not None:
            reason = f"needs more than the {self._memory / 2**30:.2g} GiB that are allowed"
            return self._broken(Status.MEMORY, reason, code)
        elif cut_off or code == CUT_OFF:
            reason = "closed the connection on which its process answers"
        elif code < 0:
            reason = f"killed by {_signal(code)}"
            if code == -signal.SIGKILL:
                reason += ", not by fwbench: by itself, or by the system, short of memory?"
        else:
            reason = f"ended its process with exit code {code}"
        return self._broken(Status.CRASHED, reason, code)

    def _overdue(self) -> Done | None:
        """End a run that takes too long or too much memory, and say why; else return None."""
        assert self._assignment is not None
        budget, beat = self._assignment.task.budget, self._flight.beat()
        if not self._ready:
            late, stage = monotonic() - self._started > START_SECONDS, Stage.WAITING
        else:
            late, stage = beat.seconds > self._apart_seconds, beat.stage
        if stage is Stage.ADVANCE:
            late = beat.clock + beat.seconds > budget.max_seconds + GRACE_SECONDS
        elif stage is Stage.STEPPING:
            late = beat.seconds > max(budget.max_seconds, STEPPING_SECONDS) + GRACE_SECONDS
        if late:
            trace = self._flight.trace()  # asking where it is may wake it
            where = self._last_words()
            bound = self._apart_seconds if self._ready else START_SECONDS
            if stage is Stage.STEPPING:
                bound = max(budget.max_seconds, STEPPING_SECONDS)
            spent = f"{bound:g} s spent on {stage.words}"
            if stage is Stage.ADVANCE:
                spent = f"{budget.max_seconds:g} s on the clock spent inside one call of advance"
            code = self._kill()
            return self._broken(Status.TIMEOUT, f"{spent}; killed", code, where, trace=trace)
        if self._memory is not None and self._ready:
            taken = self._memory_now() - self._base
            if taken > self._memory:
                where = self._last_words()
                reason = f"took {taken / 2**30:.2g} GiB, {self._memory / 2**30:.2g} are allowed"
                return self._broken(Status.MEMORY, f"{reason}; killed", self._kill(), where)
        return None

    def interrupt(self) -> Done:
        """End the run in flight because the user wants it."""
        code = self._kill()
        return self._broken(
            Status.INTERRUPTED, "from the keyboard, or by SIGTERM", code, anew=False
        )

    def _memory_now(self) -> int:
        try:
            return int(self._seen.memory_info().rss)
        except psutil.Error:
            return 0

    def _last_words(self) -> str | None:
        """Ask the process for its Python stack."""
        if not self._ready:
            return None
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGUSR1)
            until, before = monotonic() + LAST_WORDS_SECONDS, -1
            while (size := os.fstat(self._files[2]).st_size) != before or not size:
                if monotonic() > until:
                    break
                before = size
                self.connection.poll(LAST_WORDS_SECONDS / 10)
        return self._stack()

    def _stack(self) -> str | None:
        """Return what the process wrote down of its Python stack."""
        size = os.fstat(self._files[2]).st_size
        return os.pread(self._files[2], size, 0).decode(errors="replace").strip() or None

    def _broken(
        self,
        status: Status,
        reason: str,
        code: int,
        where: str | None = None,
        *,
        trace: dict[str, list[Any]] | None = None,
        anew: bool = True,
    ) -> Done:
        """Return the record of a run that did not come to its end, and start another process."""
        assert self._assignment is not None
        task, trace = self._assignment.task, self._flight.trace() if trace is None else trace
        self._assignment = None
        row = {
            **task.columns(),
            "cache_key": None,
            "attempts": 1,
            **self._facts,
            "status": str(status),
            "reason": reason,
            "traceback": where or self._stack(),
            "signal": _signal(code) if code < 0 else None,
            "steps": trace["k"][-1] if trace else None,
            "host": platform.node(),
            "threads": self._threads,
            "shared": self._shared,
        }
        if anew:
            self._anew()
        record = {"row": row, "trace": trace, "rest": None, "head": None, "origin": None}
        return Done(task, record, {})


def _end_marked(mark: str) -> None:
    """End what a run has started and its process did not live to end; Linux alone."""
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in entry.read_bytes():
                os.kill(int(entry.parent.name), signal.SIGKILL)


def _signal(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
