"""Frank-Wolfe with a slip; `slip` says which. Without one it keeps the whole contract."""

import os
import signal
import sys
import time
import warnings
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fwbench.geometry.combinations import Combinations
from fwbench.kernels.pricing import leader
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Queries, SolverEntry

KEPT: list[int] = []  # what outlives a run
FATAL = 3  # atoms of the hard problems on which it kills its process


@dataclass(eq=False)
class Weights:
    problem: QuadraticOverHull
    w: np.ndarray
    slip: str
    steps: int = 0
    done: bool = False
    claim: str | None = None
    momentum: Any = None
    counters: dict[str, Any] = field(default_factory=lambda: {"lmo": 0})

    def points(self) -> np.ndarray:
        x = (self.problem.mean + self.w @ self.problem.centred)[None, :]
        match self.slip:
            case "flat points":
                return x[0]
            case "single points":
                return x.astype(np.float32)
            case "infinite points" if self.steps > 5:
                return x * np.inf
            case "points elsewhere" if self.steps:
                return x + 2 * self.problem.radius
            case "points apart" if self.steps:
                return x + 1e-6 * self.problem.radius
        return x

    def weights(self) -> Combinations | None:
        if self.slip == "points elsewhere":
            return None
        return Combinations.from_dense(self.w)


@dataclass(frozen=True)
class Slipping:
    """Move towards the leading atom.

    Parameters
    ----------
    slip : str
        What goes wrong.
    """

    slip: Literal[
        "none", "writes atoms", "writes start", "keeps a list", "keeps itself", "writes the model",
        "too long", "points elsewhere", "points apart", "claims", "starts anew", "unseeded",
        "global draws", "clock", "prints", "warns", "flat points", "single points",
        "infinite points", "starts elsewhere", "counts nothing", "begins done", "no data",
        "counts back", "counts text", "exits", "interrupts", "divides", "says yes", "stays away",
        "segfault", "exit code", "exit code always", "hang", "raises", "moves all alike",
    ] = "none"  # fmt: skip

    def refuses(self, problem: QuadraticOverHull) -> Any:
        match self.slip:
            case "says yes":
                return True
            case "stays away" if problem.kind == "concave":
                return "it does not like concave problems"
        return None

    def prepare(self, problem: QuadraticOverHull) -> list[Any]:
        return [problem, 0]

    def init(self, model: list[Any], start: Combinations) -> Weights:
        problem = model[0]
        w = start.dense(problem.n)[0]
        if self.slip == "starts elsewhere":
            w = np.eye(problem.n)[-1]
        if self.slip == "writes start":
            data = start.data
            data *= 0.5
        state = Weights(problem, w, self.slip)
        state.done = self.slip == "begins done"
        state.momentum = (lambda: 0) if self.slip == "no data" else None
        return state

    def advance(self, model: list[Any], state: Weights, steps: int) -> None:
        problem = model[0]
        self._slip(model, state)
        first = 0 if self.slip == "starts anew" else state.steps
        for t in range(first, first + steps):
            field = problem.centred_field(state.w @ problem.centred)
            j = leader(problem.centred @ field, problem.tie)
            step = self._step(t, model)
            state.w *= 1 - step
            state.w[j] += step
        state.counters["lmo"] += -steps if self.slip == "counts back" else steps
        if self.slip == "counts text":
            state.counters["lmo"] = "many"
        if self.slip == "claims" and state.steps > 3:
            state.claim, state.done = "optimal", True
        if self.slip == "counts nothing" and state.steps >= 3:
            return
        state.steps += steps

    def _step(self, t: int, model: list[Any]) -> float:
        late = 0
        match self.slip:
            case "too long":
                return 1.25 if t == 2 else 2 / (t + 2)
            case "keeps a list":
                KEPT.append(t)
                late = len(KEPT)
            case "keeps itself":
                object.__setattr__(self, "slip", "none")
            case "writes the model":
                model[1] += 1
                late = model[1]
            case "unseeded":
                return float(np.random.default_rng().random())
            case "global draws":
                np.random.seed(t)  # noqa: NPY002 - the slip
                return float(np.random.random())  # noqa: NPY002 - the slip
        return 2 / (t + 2 + late)

    def _slip(self, model: list[Any], state: Weights) -> None:
        problem, fatal = model[0], model[0].n == FATAL
        match self.slip:
            case "writes atoms":
                corner = problem.centred[0]
                corner += 1e-9
            case "clock":
                time.perf_counter()
            case "prints":
                os.write(1, b"step\n")
            case "warns":
                warnings.warn("a step", RuntimeWarning, stacklevel=1)
            case "exits":
                sys.exit("no more")
            case "interrupts":
                raise KeyboardInterrupt
            case "raises" if state.steps:
                raise ValueError("no such step")
            case "divides":
                _ = 1 / int(problem.n > 1)
            case "segfault" if fatal:
                os.kill(os.getpid(), signal.SIGSEGV)
            case "exit code" | "exit code always" if fatal or self.slip.endswith("always"):
                os._exit(3)
            case "hang" if fatal:
                while True:
                    pass


ENTRY = SolverEntry(
    name="slipping",
    make=Slipping,
    label="Frank-Wolfe with a slip",
    reference="this file, 2025",
    law="none",
    queries=Queries.ONE,
)
