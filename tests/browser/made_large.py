"""A large run folder: 500 runs with 200 checkpoints each, written down without being run."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fwbench.execution.here import Here
from fwbench.execution.tasks import Assignment, Done, Task
from fwbench.planning import Question, plan
from fwbench.session import execute
from fwbench.store import RunFolder
from fwbench.trace import COLUMNS

INSTANCES, SOLVERS, ROWS = 25, 20, 200
LAST_STEP = 10_000
SHIFT = 3.0  # the value at the mean of the atoms


class Imagined(Here):
    """Gives each task a record as of a run, of laws that differ by solver and instance."""

    def run(
        self, assignments: Iterable[Assignment], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[Done]:
        """Yield a record a task, without running anything."""
        for assignment in assignments:
            yield Done(assignment.task, record(assignment.task), {})


def record(task: Task) -> dict[str, Any]:
    """Return what a run might have given: a power law with noise, and a bound below it."""
    rng = np.random.default_rng([task.order, task.seed or 0])
    ks = np.unique(np.geomspace(1, LAST_STEP, 400).round().astype(int))
    ks = np.concatenate([[0], ks[np.linspace(0, len(ks) - 1, ROWS - 1).astype(int)]])
    power = 0.8 + 0.1 * (task.order % SOLVERS)
    excess = 0.4 * (1.0 + ks) ** -power * np.exp(0.1 * rng.normal(size=ROWS))
    gaps = 3 * excess * np.exp(0.3 * rng.normal(size=ROWS))
    value = excess - SHIFT
    lower = np.maximum.accumulate(value - gaps)
    nothing = [None] * ROWS
    trace = dict.fromkeys(COLUMNS, nothing) | {
        "k": ks.tolist(),
        "seconds": (ks * 4e-6 * power).tolist(),
        "value": (value + SHIFT).tolist(),
        "value_centred": value.tolist(),
        "gap": gaps.tolist(),
        "lower": (lower + SHIFT).tolist(),
        "lower_centred": lower.tolist(),
        "support": np.minimum(ks + 1, 20).tolist(),
        **dict.fromkeys(("lmo", "gradient", "matvec"), ks.tolist()),
        "feasibility": [0.0] * ROWS,
    }
    last = {name: trace[name][-1] for name in ("value", "value_centred", "gap", "support", "lmo")}
    row = task.columns() | last
    row |= {"n": 200, "d": 20, "kind": "convex", "queries": 1, "scale": 7.0, "radius": 2.0}
    row |= {"status": "budget", "reason": f"{LAST_STEP} steps spent", "steps": LAST_STEP}
    row |= {"seconds": trace["seconds"][-1], "seconds_from": "run", "setup_seconds": 2e-4}
    row |= {"gap_relative": float(gaps[-1]) / 7.0, "feasibility": 0.0, "sampling": "advance"}
    row |= {"host": "made", "threads": 1, "shared": False, "attempts": 1, "noisy": False}
    return {"row": row, "trace": trace, "rest": None, "head": None, "origin": None, "laws": []}


def large_folder(path: Path, instances: int = INSTANCES, solvers: int = SOLVERS) -> RunFolder:
    """Write a run folder of so many instances and solvers.

    Returns
    -------
    RunFolder
    """
    tasks, described = plan(
        Question(
            problems=(f"min_norm_point[n=200,d=20,shift=1,seed=0..{instances - 1}]",),
            solvers=tuple(f"frank_wolfe[step=open_loop({a})]" for a in range(1, solvers + 1)),
            limits={"max_steps": LAST_STEP},
        )
    )
    folder = RunFolder.create(path)
    done = execute(folder, tasks, described, "made", lambda task, row: None, executor=Imagined())
    assert done, "interrupted"
    return folder
