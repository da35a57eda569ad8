"""A real Dask scheduler with two real workers on loopback, and solvers that need a strong one."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar

Found = TypeVar("Found")
DEADLINE = 60  # seconds until what does not happen fails its test

# It needs a module and a number that lie beside it; its crash and its wait are real.
SOLVER = '''
"""Steps to the first atom, after what `mode` says."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep
from typing import Literal

import beside_it
from fwbench.geometry.combinations import Combinations
from fwbench.solver import SolverEntry


@dataclass
class State:
    x: object
    steps: int = 0
    done: bool = False
    claim: str | None = None
    counters: dict = field(default_factory=dict)

    def points(self):
        return self.x[None]

    def weights(self):
        return None


@dataclass(frozen=True)
class Shipped:
    mode: Literal["none", "crash", "wait", "raise"] = "none"
    gate: str = "."

    def prepare(self, problem):
        return problem

    def init(self, model, start):
        return State(model.rows(start.keys)[0].astype(float))

    def advance(self, model, state, steps):
        if self.mode == "crash":
            beside_it.crash()
        if self.mode == "raise":
            raise ValueError(f"as {Path(__file__).with_name('number.txt').read_text()} says")
        if self.mode == "wait":
            gate = Path(self.gate)
            started = gate.with_name(f"started-{os.getpid()}.part")
            started.write_text(json.dumps({"run": os.getpid(), "worker": os.getppid()}))
            started.rename(started.with_suffix(".json"))
            while not gate.exists():
                sleep(0.01)
        state.steps += steps


ENTRY = SolverEntry("shipped", Shipped, "shipped", "this file, 2025", "none")
'''
BESIDE = """
import faulthandler
import os
import signal


def crash():
    faulthandler.disable()
    os.kill(os.getpid(), signal.SIGSEGV)
"""
PROBLEM = '''
"""A square, from a file that lies beside this one."""

from pathlib import Path

import numpy as np

from fwbench.problem import ProblemEntry, QuadraticOverHull


def square(shift: float = 0.0) -> QuadraticOverHull:
    return QuadraticOverHull(np.load(Path(__file__).with_name("square.npy")) + shift)


ENTRY = ProblemEntry(name="square", make=square, label="a square")
'''


def until(condition: Callable[[], Found | None], what: str) -> Found:
    """Wait for something to be there."""
    end = monotonic() + DEADLINE
    while monotonic() < end:
        if (found := condition()) is not None:
            return found
        sleep(0.02)
    raise AssertionError(f"after {DEADLINE} s there is no {what}")


def alive(pid: int) -> bool:
    """Say whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(*pids: int) -> None:
    """Wait until processes have ended."""
    until(lambda: None if any(map(alive, pids)) else True, f"end of {pids}")


def started(
    folder: Path, but: tuple[int, ...] = (), session: subprocess.Popen[bytes] | None = None
) -> dict[str, int]:
    """Wait for a run that waits for its gate; return its process, and that of its worker."""

    def found() -> dict[str, int] | None:
        assert session is None or session.poll() is None, "the session has ended"
        for path in folder.glob("started-*.json"):
            process: dict[str, int] = json.loads(path.read_text())
            if process["run"] not in but:
                return process
        return None

    return until(found, "run that has started")


@dataclass
class Running:
    """A scheduler, its workers and where they write."""

    address: str
    folder: Path
    processes: list[subprocess.Popen[bytes]]

    def worker_folders(self) -> list[str]:
        """Return what sessions have left on the workers."""
        return [str(path) for path in self.folder.rglob("fwbench-*")]


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Running]:
    """Start a scheduler and workers; whatever becomes of the test, they end with it."""
    processes: list[subprocess.Popen[bytes]] = []
    address = folder / "scheduler.json"
    quiet = os.environ | {"DASK_LOGGING__DISTRIBUTED": "error"}

    def start(role: str, *words: str) -> None:
        command = [sys.executable, "-m", "distributed.cli.dask_" + role, *words]
        command += ["--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        with (folder / f"{role}-{len(processes)}.log").open("wb") as log:
            processes.append(
                subprocess.Popen(
                    command, stdout=log, stderr=log, env=quiet, cwd=folder, start_new_session=True
                )
            )

    def listening() -> str | None:
        with suppress(OSError, ValueError):
            return str(json.loads(address.read_text())["address"])
        return None

    try:
        start("scheduler", "--port", "0", "--scheduler-file", str(address))
        found = until(listening, "scheduler")
        for number in range(workers):
            # the first has a nanny, which starts it anew; the others have none
            nanny = "--nanny" if number == 0 else "--no-nanny"
            start("worker", found, nanny, "--nthreads", "1", "--local-directory", str(folder))
        yield Running(found, folder, processes)
    finally:
        for process in reversed(processes):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(DEADLINE)
