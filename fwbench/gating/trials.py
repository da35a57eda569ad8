"""Trials of the gate on this machine: the same code on both sides, and slowdowns put in.

In a trial the gate judges one cell of the same code on both sides, as it would judge two versions.
In some nothing is different: what is called slower or faster there is a false alarm. In others the
new side does busy work inside its step: both sides advance in the same chunks of steps, and after
each chunk the new side turns an empty loop, so often that it takes a stated part of the chunk's
time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from statistics import median
from time import monotonic
from typing import Any

import numpy as np

from fwbench import catalog
from fwbench.analysis.changes import Timing
from fwbench.analysis.sides import Run
from fwbench.execution.machine import cores
from fwbench.gating.decisions import Busy, Cell, Task
from fwbench.gating.power import Table, Trial
from fwbench.gating.timekeeper import Timekeeper
from fwbench.gating.turns import PLACES, measured
from fwbench.gating.version import Code
from fwbench.solver import Sampling

PROBLEM, SOLVER = "min_norm_point[n=1000,d=50]", "frank_wolfe[step=exact]"
STEPS = 100
LIMIT = 1 << 14  # of a foreign code, which ends by itself
TOL, MAX_SECONDS = 1e-8, 10.0
TRIALS, SLOWED = 150, 40
SLOWDOWNS = (0.03, 0.05, 0.10, 0.15, 0.25)
SECONDS = 20.0  # a trial has no more
CHUNKS = 10  # of a call
TURN_SECONDS = 1e-8  # about: of an empty loop, to begin with
READINGS = 30
PATIENCE = 120.0


def _silent(said: str) -> None:
    """Say nothing."""


def cell(problem: str = PROBLEM, solver: str = SOLVER, steps: int = STEPS) -> Cell:
    """Return the cell of a solver on a problem, to be tried.

    Parameters
    ----------
    problem, solver : str
        As ``fwbench run`` takes them; of a grid the first.
    steps : int
        Of one call; a foreign code, or a direct method, ends by itself.

    Raises
    ------
    UnknownName, InvalidParameter
    """
    instance, *more_instances = catalog.choices("problems", problem)
    method, *more_methods = catalog.choices("solvers", solver)
    sampling = method.entry.sampling
    steps = {Sampling.ONCE: 1, Sampling.RERUN: LIMIT}.get(sampling, steps)
    row = {
        "instance": instance.text,
        "instance_label": instance.label,
        "solver": method.name,
        "solver_label": method.label,
        "params": method.params,
        "tol": TOL,
        "repetition": 0,
    }
    task = Task(
        problem=instance.again if more_instances else problem,
        solver=method.again if more_methods else solver,
        steps=steps,
        tol=TOL,
        max_seconds=MAX_SECONDS,
    )
    return Cell(Run(row), task, task, "seconds")


def aa(
    base: Code,
    new: Code,
    cell: Cell,
    trials: int,
    rng: np.random.Generator,
    *,
    slowed: int = SLOWED,
    slowdowns: Sequence[float] = SLOWDOWNS,
    seconds: float = SECONDS,
    told: Callable[[str], None] = _silent,
) -> Table:
    """Try the gate on this machine.

    Parameters
    ----------
    base, new : Code
        The same code twice.
    cell : Cell
    trials : int
        Of the same code.
    rng : Generator
    slowed : int
        Trials of each slowdown.
    slowdowns : sequence of float
        0.1 is 10 %.
    seconds : float
        The budget of a trial.
    told : callable
        Is called with a sentence after each trial.

    Returns
    -------
    Table
        Trials stand in the order in which they were made, which is random: so what disturbs the
        machine for a while disturbs all kinds alike.
    """
    chunk = max(1, math.ceil(cell.base.steps / CHUNKS))
    turns = [_turns(code, cell, chunk, rng) for code in (base, new)][-1]  # both compile here
    todo = [0.0] * trials + [one for one in slowdowns for _ in range(slowed)]
    made: list[Trial] = []
    for place in rng.permutation(len(todo)):
        slowdown = todo[place]
        sides = [
            replace(task, busy=Busy(chunk, round(turns * share)))
            for task, share in ((cell.base, 0.0), (cell.new, slowdown))
        ]
        begun = monotonic()
        [found] = measured(base, new, [replace(cell, base=sides[0], new=sides[1])], seconds, rng)
        made.append(_trial(slowdown, found, monotonic() - begun))
        told(f"{len(made)} of {len(todo)}: {_sentence(made[-1])}")
    return Table(cell.base.problem, cell.base.solver, cell.base.steps, tuple(made))


def _trial(slowdown: float, found: Timing, seconds: float) -> Trial:
    return Trial(slowdown, found.pace, found.ratio, found.pairs, found.reason, seconds)


def _sentence(trial: Trial) -> str:
    done = f"slower by {100 * trial.slowdown:g} %" if trial.slowdown else "the same code"
    ratio = "" if trial.ratio is None else f" ({trial.ratio:.3f})"
    return f"{done} is called {trial.pace}{ratio} after {trial.pairs} pairs, {trial.seconds:.1f} s"


def _turns(code: Code, cell: Cell, chunk: int, rng: np.random.Generator) -> float:
    """Return how many turns of an empty loop after each chunk take as long as all the chunks do.

    The loop is timed where it will stand: calls with and without it take turns.
    """
    some = replace(cell.base, busy=Busy(chunk, 0))
    with Timekeeper(code, "the code", int(rng.integers(10**8, 10**9))) as keeper:

        def asked(do: str, **words: object) -> dict[str, Any]:
            keeper.ask(do, **words)
            return keeper.answer(PATIENCE)

        call: float = asked("load", cell=0, what=cell.what, **asdict(some))["seconds"]
        many = max(1, round(call / CHUNKS / TURN_SECONDS))
        busy = replace(some, busy=Busy(chunk, many))
        asked("load", cell=1, what=cell.what, **asdict(busy))
        asked("begin", core=cores()[-1])
        times: list[list[float]] = [[], []]
        for _ in range(READINGS):
            for which in rng.permutation(2):
                placed = int(rng.integers(PLACES))
                found = asked("time", cell=int(which), calls=3, placed=placed)
                times[which].append(found["seconds"])
    without, slowed = (float(median(one)) for one in times)
    return many * without / max(slowed - without, 1e-3 * without)
