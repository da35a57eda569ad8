"""Print the peak memory of a solve, and of one look of the judge, in units of the atoms.

    python peak.py SOLVER PROBLEM

Measured by the kernel of the machine (Linux): what numba and BLAS allocate counts too.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fwbench as fw
from fwbench import catalog
from fwbench.judge import Judge
from fwbench.warm import limited_threads

STEPS = 10_000


def resident(key: str) -> int:
    """Return a figure of /proc/self/status in bytes: VmRSS now, VmHWM at most so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))


def peak(call: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a call returns, and by how much memory rose meanwhile at most."""
    Path("/proc/self/clear_refs").write_text("5")  # the most so far is now
    before = resident("VmRSS")
    kept = call()
    return kept, resident("VmHWM") - before


def main(text: str, where: str) -> None:
    """Measure one solver on one problem, after a tiny one that compiles and imports."""
    [choice] = catalog.choices("problems", where)
    [found] = catalog.choices("solvers", text)
    method: Any = catalog.build_solver(found)
    tiny = fw.QuadraticOverHull(np.random.default_rng(0).standard_normal((50, 3)) + 1)
    fw.solve(tiny, text)
    atoms = catalog.build_problem(choice).atoms.copy()

    def solve() -> tuple[fw.QuadraticOverHull, Any]:
        problem = fw.QuadraticOverHull(atoms)
        model = method.prepare(problem)
        state = method.init(model, problem.start.one(0))
        while not state.done and state.steps < STEPS and state.own_gap > 1e-12 * problem.scale:
            method.advance(model, state, 1)
        return problem, state

    (problem, state), solving = peak(solve)
    points, weights = state.points(), state.weights()
    _, judging = peak(lambda: Judge(problem).look(points, weights))
    print(solving / atoms.nbytes, judging / atoms.nbytes)


if __name__ == "__main__":
    with limited_threads(1):
        main(*sys.argv[1:])
