"""Solvers that do what no solver should, in a file of their own, and processes that run them."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psutil

from fwbench.execution.pool import Pool
from fwbench.execution.tasks import Assignment, Task
from fwbench.planning import Question, plan

DEADLINE = 60.0  # seconds until what should have happened fails its test
SMALL = "min_norm_point[n=10,d=2,shift=1]"
AT = 5  # the step at which a solver does what it does: there are checkpoints before

SOURCE = '''
"""A solver that does what `kind` says when it takes step {at}."""

import ctypes
import json
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fwbench.solver import Sampling, SolverEntry

HERE = Path(__file__).parent
IN_WORKER = sys.argv[0] == "-c"  # the process that plans is `python -m fwbench` or pytest
INITS = []
{at_import}


@dataclass
class State:
    start: object
    x: np.ndarray
    kind: str
    steps: int = 0
    done: bool = False
    claim: str | None = None
    counters: dict = field(default_factory=dict)

    def points(self):
        if self.steps >= {at}:
            match self.kind:
                case "raise_in_points":
                    raise ValueError("no points")
                case "objects":
                    return np.array([[object(), object()]])
                case "slow_points":
                    time.sleep(0.4)
        return self.x

    def weights(self):
        if self.kind == "raise_in_weights" and self.steps >= {at}:
            raise ValueError("no weights")
        return self.start


@dataclass(frozen=True)
class Made:
    kind: str = "good"

    def prepare(self, problem):
        match self.kind:
            case "raise_in_prepare":
                raise ValueError("no model")
            case "hang_in_prepare":
                time.sleep(600)
            case "slow_prepare":
                time.sleep(0.4)
        return problem

    def init(self, model, start):
        if self.kind == "raise_in_init":
            raise ValueError("no state")
        INITS.append(self.kind)
        return State(start, model.rows(start.keys), self.kind)

    def advance(self, model, state, steps):
        for _ in range(steps):
            state.steps += 1
            if state.steps == {at} and len(INITS) > 1:  # not in the warm-up
                act(self.kind, state)


def spin():
    until = time.monotonic() + 60  # should nobody end it
    while time.monotonic() < until:
        pass


def act(kind, state):
    libc = ctypes.CDLL(None)
    match kind:
        case "raise":
            raise ValueError("no such step")
        case "exit":
            sys.exit(0)
        case "interrupt":
            raise KeyboardInterrupt
        case "os_exit":
            os._exit(3)
        case "os_exit_0":
            os._exit(0)
        case "segfault":
            ctypes.string_at(0)
        case "abort":
            libc.abort()
        case "kill" | "terminate":
            os.kill(os.getpid(), signal.SIGKILL if kind == "kill" else signal.SIGTERM)
        case "stop":
            told("began", time.monotonic())
            os.kill(os.getpid(), signal.SIGSTOP)
        case "spin":
            told("began", time.monotonic())
            spin()
        case "pause":
            told("began", time.monotonic())
            libc.sleep(60)
        case "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            spin()
        case "huge":
            np.ones(2**33)
        case "many":
            kept = []
            while True:
                kept.append(bytearray(b"x" * 2**20))
        case "count":
            state.counters = {{"lmo": object()}}
        case "count_strangely":
            state.counters = {{"lmo": Strange(3)}}
        case "steps":
            state.steps = lambda: 3
        case "float_steps":
            state.steps = float(state.steps)
        case "big_count":
            state.counters = {{"lmo": 2**70}}
        case "long_message":
            raise ValueError("x" * 10**7)
        case "done_at_once":
            state.steps, state.done = state.steps - 1, True
        case "chdir":
            os.chdir("/")
        case "print":
            print("from Python")
            sys.stdout.flush()
            libc.puts(b"from C")
            os.write(1, b"from below\\n")
        case "print_much":
            for _ in range(160):
                os.write(2, b"x" * 2**16)
        case "close" | "close_all":
            os.closerange(3, 64 if kind == "close" else 4096)
        case "write_anywhere":
            for descriptor in range(3, 4096):
                try:
                    os.write(descriptor, b"\\0\\0\\0\\3abc")
                except OSError:
                    pass
        case "fork":
            if not (child := os.fork()):
                os.setsid()
                time.sleep(600)
                os._exit(0)
            told("child", child)
        case "fork_and_return":
            if os.fork():
                time.sleep(0.2)
        case "thread":
            threading.Thread(target=spin).start()
        case "alarm":
            signal.setitimer(signal.ITIMER_REAL, 0.5)
        case "busy":
            until = time.monotonic() + 0.5
            while time.monotonic() < until:
                pass
        case "nap":
            time.sleep(0.5)
        case "facts":
            import gc
            import threadpoolctl
            told("facts", {{
                "pid": os.getpid(),
                "threads": [pool["num_threads"] for pool in threadpoolctl.threadpool_info()],
                "cores": sorted(os.sched_getaffinity(0)),
                "collects": gc.isenabled(),
                "beside": threading.active_count() - 1,
            }})
        case "wait":
            told("waits", os.getpid())
            while not (HERE / "go").exists():
                time.sleep(0.01)
        case "deaf_to_ctrl_c" | "deaf_to_two":
            told("waits", os.getpid())
            for left in range(1 if kind == "deaf_to_ctrl_c" else 2):
                try:
                    spin()
                except KeyboardInterrupt:
                    told(f"caught{{left}}", True)
            spin()
        case "meet_a" | "meet_b":
            mine, other = ("a", "b") if kind == "meet_a" else ("b", "a")
            told(mine, True)
            until = time.monotonic() + 30
            while not (HERE / f"{{other}}.json").exists() and time.monotonic() < until:
                time.sleep(0.01)
            if time.monotonic() >= until:
                raise TimeoutError("nobody else ran meanwhile")


class Strange(int):
    def __int__(self):
        raise RuntimeError("no number")


def told(name, what):
    """Write a file whole: whoever finds it can read it."""
    path = HERE / f"{{name}}.json"
    path.with_suffix(f".{{os.getpid()}}").write_text(json.dumps(what))
    path.with_suffix(f".{{os.getpid()}}").rename(path)


ENTRY = SolverEntry("{name}", Made, "made", "this file, 2026", "none", sampling=Sampling.{sampling})
'''


def solver_file(
    folder: Path,
    name: str = "made",
    *,
    sampling: str = "ADVANCE",
    at: int = AT,
    at_import: str = "",
) -> Path:
    """Write a solver file, whose `kind` says what it does."""
    path = folder / f"{name}.py"
    path.write_text(SOURCE.format(name=name, sampling=sampling, at=at, at_import=at_import))
    return path


def tasks(*solvers: str, problem: str = SMALL, repeat: int = 1, **limits: Any) -> list[Task]:
    """Plan runs, in the order in which they are named."""
    return plan(Question(problems=(problem,), solvers=solvers, repeat=repeat, limits=limits))[0]


def done_by(pool: Pool, planned: list[Task]) -> Iterator[dict[str, Any]]:
    """Yield the rows of runs as they end; those that hang for too long are ended."""
    late = monotonic() + DEADLINE
    for done in pool.run(map(Assignment, planned), lambda: monotonic() > late):
        assert done.record is not None
        yield done.record["row"]


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition."""
    late = monotonic() + DEADLINE
    while not condition():
        assert monotonic() < late, f"{what}: not within {DEADLINE:g} s"
        sleep(0.01)


def gone(pid: int) -> bool:
    """Say whether a process has ended, be it that nobody has asked how."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _hears_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # shells start what is in the background deaf


@contextmanager
def command(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Run a command line in a process; whatever becomes of the test, it ends."""
    with (folder / "stderr").open("a") as err, (folder / "stdout").open("w") as out:
        running = subprocess.Popen(
            [sys.executable, "-m", "fwbench", *words],
            cwd=folder, stdout=out, stderr=err, stdin=subprocess.DEVNULL, text=True,
            preexec_fn=_hears_ctrl_c, env=os.environ | {"COLUMNS": "200"},
        )  # fmt: skip
        try:
            yield running
        finally:
            if running.poll() is None:
                running.kill()
            running.wait(DEADLINE)


def ended(folder: Path, *words: str) -> int:
    """Run a command line to its end; return its exit code."""
    with command(folder, *words) as running:
        return running.wait(DEADLINE * 2)


def said(folder: Path) -> str:
    return (folder / "stderr").read_text(errors="replace")
