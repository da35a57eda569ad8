"""What tests of the gate share: made pairs of seconds, versions of the code, cells."""

import sys
from pathlib import Path

import numpy as np

from fwbench.gating.decisions import EACH, SITTINGS, Cell, Evidence, Task
from fwbench.gating.version import Code
from fwbench.kernels import CACHE_DIR

from .made_sides import run

INSTANCE = "min_norm_point[n=8,d=2,shift=1]"
SOLVER = '''
"""Counts its steps, and does what its parameter says."""

from dataclasses import dataclass
import os
from pathlib import Path
import time

from fwbench.solver import SolverEntry


class State:
    done, claim, steps = False, None, 0

    def __init__(self, problem, start):
        self.problem, self.start = problem, start

    def points(self):
        return self.start.points(self.problem.atoms)

    def weights(self):
        return self.start


@dataclass(frozen=True)
class Counting:
    act: str = "counts"

    def prepare(self, problem):
        return problem

    def init(self, model, start):
        return State(model, start)

    def advance(self, model, state, steps):
        print("anything", flush=True)
        new = Path("new").exists()
        if new and self.act == "raises":
            raise RuntimeError("no step for you")
        if new and self.act == "ends":
            os._exit(7)
        if new and self.act == "hangs":
            if Path("../steps").exists():
                Path("../steps").write_text("it hangs")
            time.sleep(1000)
        with open("../log", "a") as file:
            file.write(f"{self.act} {os.getpid()} {os.environ['PYTHONHASHSEED']}\\n")
        state.steps += steps
        if self.act == "stays":
            state.steps = 0


ENTRY = SolverEntry("counting", Counting, "counts", "", "")
'''


def codes(room: Path) -> tuple[Code, Code]:
    """Make two versions of the code, each with a solver ``counting.py`` of its own."""
    made = []
    for name in ("old", "new"):
        folder = room / name
        folder.mkdir()
        (folder / "counting.py").write_text(SOLVER)
        made.append(Code(name, Path(sys.executable), None, folder, Path(CACHE_DIR).parent))
    (room / "new" / "new").touch()
    return made[0], made[1]


def cell(act: str = "counts", steps: int = 20, max_seconds: float = 10.0) -> Cell:
    """Return a cell of the solver that does what it is told."""
    task = Task(INSTANCE, f"counting.py[act={act}]", steps, 1e-8, max_seconds)
    return Cell(run(solver="counting", params=f"act={act}"), task, task, "seconds")


def seconds(
    rng: np.random.Generator, factor: float = 1.0, process: float = 0.01, noise: float = 0.02
) -> np.ndarray:
    """Return a measurement, (2, sittings, pairs): levels of processes, noise that only adds."""
    levels = np.exp(rng.normal(0.0, process, (2, SITTINGS, 1)))
    shape = (2, SITTINGS, EACH)
    added = np.abs(rng.normal(0.0, noise, shape)) + (rng.random(shape) < 0.1) * 0.3
    made = 1e-3 * levels * np.exp(added)
    made[1] *= factor
    return made


def evidence(*measurements: np.ndarray) -> Evidence:
    """Return what is known after these measurements."""
    found = Evidence(cell())
    for one in measurements:
        found.add(one)
    return found
