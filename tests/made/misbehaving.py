"""A solver that does what no solver should; `mode` says what."""

import os
import signal
import sys
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fwbench.geometry.combinations import Combinations
from fwbench.problem import QuadraticOverHull
from fwbench.solver import SolverEntry


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no message")


@dataclass
class Point:
    x: np.ndarray
    steps: int = 0
    done: bool = False
    claim: str | None = None
    counters: dict[str, Any] = field(default_factory=dict)

    def points(self) -> np.ndarray:
        return self.x[None]

    def weights(self) -> Combinations | None:
        return None


@dataclass(frozen=True)
class Misbehaving:
    mode: Literal[
        "none", "raise", "exit", "interrupt", "memory", "unreadable", "stuck", "nan", "outside",
        "claim", "count", "print", "wait",
    ] = "none"  # fmt: skip

    def prepare(self, problem: QuadraticOverHull) -> QuadraticOverHull:
        return problem

    def init(self, model: QuadraticOverHull, start: Combinations) -> Point:
        return Point(model.rows(start.keys)[0].astype(float))

    def advance(self, model: QuadraticOverHull, state: Point, steps: int) -> None:
        match self.mode:
            case "raise":
                raise ValueError("no such step")
            case "exit":
                sys.exit(0)
            case "interrupt":
                raise KeyboardInterrupt
            case "memory":
                raise MemoryError
            case "unreadable":
                raise Unreadable
            case "stuck":
                return
            case "nan":
                state.x = state.x * np.nan
            case "outside":
                state.x = state.x - 10 * (model.mean + model.radius)
            case "claim":
                state.claim, state.done = "optimal", True
            case "count":
                state.counters = {"lmo": object()}
            case "print":
                print("hello")
                os.write(1, b"hello\n")
            case "wait" if "FWBENCH_TEST_WAIT" in os.environ:
                signal.pause()  # for the signal that a test sends
        state.steps += steps


ENTRY = SolverEntry("misbehaving", Misbehaving, "misbehaving", "nowhere", "none")
