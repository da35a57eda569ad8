"""What the harness costs a run beside the run itself: ``python -m tests.bench.overhead``.

A tiny run (10 atoms in the plane, 16 steps of Frank-Wolfe) is made again and again by a whole
session, from the plan to the journal. Of the wall time from the end of one run to the end of the
next, what is no cost of the harness is taken away:

* the clock and `setup_seconds`, with the repeats that these times are medians of: the stages
  ADVANCE, PREPARING and REPEATING, as an observer sees them. A process of its own has no such
  observer, so there the median of the same stages in this process is taken away;
* fsync, which depends on the disk alone: here it does nothing, and the run folder lies in memory
  where the system has a place for that.

What is left, the harness, is judging, digests, the facts about the machine, and writing the row
down. Printed is the median over the runs, with a limit that must not be passed on a quiet machine;
beside it how long ``fwbench --help`` takes, of ``python -c 'import click'``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from fwbench.execution.here import Here
from fwbench.execution.pool import Pool
from fwbench.observing import Stage
from fwbench.planning import Question, plan
from fwbench.session import Executor, execute
from fwbench.store import RunFolder

RUNS = 200
LIMITS = {"isolated": 8.0, "in process": 2.0}  # milliseconds
LIMIT_OF_HELP = 1.7
STARTS = 20
MEMORY = "/dev/shm"
NOT_THE_HARNESS = {Stage.ADVANCE, Stage.PREPARING, Stage.REPEATING}


class Spent:
    """Adds up the seconds of the stages that are no cost of the harness; an `Observer`."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._stage, self._since = Stage.WAITING, perf_counter()

    def enters(self, stage: Stage, clock: int = 0) -> None:
        now = perf_counter()
        if self._stage in NOT_THE_HARNESS:
            self.seconds += now - self._since
        self._stage, self._since = stage, now

    def looked(self, row: object) -> None:
        pass


def session(executor: Executor, spent: Spent) -> NDArray[np.float64]:
    """Return wall time and what `spent` saw, in seconds, of each run of a session."""
    tasks, _ = plan(
        Question(
            problems=("min_norm_point[n=10,d=2,shift=1]",),
            solvers=("frank_wolfe[step=open_loop(2)]",),
            repeat=RUNS,
            limits={"max_steps": 16},
        )
    )
    ends = [(perf_counter(), 0.0)]

    def told(task: object, row: dict[str, object] | None) -> None:
        if row is not None:
            assert row["status"] == "budget", row["reason"]
            ends.append((perf_counter(), spent.seconds))

    with tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as folder:
        execute(RunFolder.create(Path(folder)), tasks, None, "bench", told, executor=executor)
    return np.diff(np.array(ends), axis=0)[RUNS // 10 :]  # the first ones import and compile


def overheads() -> dict[str, float]:
    """Return the milliseconds of harness of a tiny run, by where it is made."""
    fsync, os.fsync = os.fsync, lambda descriptor: None
    try:
        spent = Spent()
        here = session(Here(observer=spent), spent)
        isolated = session(Pool(), Spent())
    finally:
        os.fsync = fsync
    apart = np.median(here[:, 1])
    return {
        "isolated": 1e3 * float(np.median(isolated[:, 0]) - apart),
        "in process": 1e3 * float(np.median(here[:, 0] - here[:, 1])),
    }


def help_ratio() -> float:
    """Return how much longer ``fwbench --help`` takes than the import of click: least times."""
    commands = ([sys.executable, "-c", "import click"], [sys.executable, "-m", "fwbench", "--help"])
    times: list[list[float]] = [[], []]
    for _ in range(STARTS):
        for command, seconds in zip(commands, times, strict=True):
            begun = perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            seconds.append(perf_counter() - begun)
    return min(times[1]) / min(times[0])


def main() -> None:
    """Print what was measured."""
    for where, found in overheads().items():
        print(f"harness of a tiny run, {where}: {found:.2f} ms (at most {LIMITS[where]:g})")
    print(f"fwbench --help: {help_ratio():.2f} x import click (at most {LIMIT_OF_HELP})")


if __name__ == "__main__":
    main()
