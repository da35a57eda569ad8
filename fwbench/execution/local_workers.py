"""A Dask scheduler and workers of this machine's own, as long as a run needs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType

from fwbench.errors import ClusterError
from fwbench.execution.machine import cores

START_SECONDS = 60.0
# Whoever starts it holds the other end of stdin: however that process ends, this one ends as well.
CODE = """
import os, shutil, sys, threading
sys.path[:] = {path!r}
def end():
    sys.stdin.buffer.read()
    shutil.rmtree({folder!r}, ignore_errors=True)
    os._exit(0)
threading.Thread(target=end, daemon=True).start()
from distributed.cli.dask_{role} import main
main()
"""
LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")


class LocalWorkers:
    """A scheduler and one worker a core, on loopback; a context manager that gives its address.

    Parameters
    ----------
    count : int, optional
        Workers; by default as many as there are usable cores.

    Attributes
    ----------
    count : int

    Raises
    ------
    ClusterError
        Where the scheduler does not start.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = count or len(cores())
        self._processes: list[subprocess.Popen[bytes]] = []
        self._opened = ExitStack()

    def __enter__(self) -> str:
        with ExitStack() as opened:
            folder = opened.enter_context(
                tempfile.TemporaryDirectory(prefix="fwbench-dask-", ignore_cleanup_errors=True)
            )
            opened.callback(self._end)
            file = Path(folder, "scheduler.json")
            self._start(folder, "scheduler", "--port", "0", "--scheduler-file", str(file))
            address = self._address(file)
            for _ in range(self.count):
                self._start(
                    folder, "worker", address, "--nthreads", "1", "--no-nanny",
                    "--memory-limit", "0", "--death-timeout", "30", "--local-directory", folder,
                )  # fmt: skip
            self._opened = opened.pop_all()
        return address

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.close()

    def _start(self, folder: str, role: str, *words: str) -> None:
        # what solvers print is let through to stderr, what Dask logs is not
        silent = {"DASK_LOGGING__DISTRIBUTED": "critical"}
        code = CODE.format(path=sys.path, folder=folder, role=role)
        self._processes.append(
            subprocess.Popen(
                [sys.executable, "-c", code, *words, *LOOPBACK],
                stdin=subprocess.PIPE,
                stdout=2,
                env=os.environ | silent,
                start_new_session=True,  # a Ctrl-C is for the process that started it
            )
        )

    def _address(self, file: Path) -> str:
        """Wait until the scheduler has written down where it is."""
        until, [scheduler] = monotonic() + START_SECONDS, self._processes
        while monotonic() < until and scheduler.poll() is None:
            with suppress(OSError, ValueError, KeyError):
                return str(json.loads(file.read_text(encoding="utf-8"))["address"])
            sleep(0.02)
        code = scheduler.poll()
        how = f"exit code {code}" if code is not None else f"silent for {START_SECONDS:g} s"
        raise ClusterError(f"--dask local: the Dask scheduler does not start here: {how}")

    def _end(self) -> None:
        for process in reversed(self._processes):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        self._processes.clear()
