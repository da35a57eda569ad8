"""Whether a machine is quiet enough to time on: one small kernel, many times, on one core.

On a quiet machine the same work takes the same time. A kernel of fwbench is timed in samples of
about a millisecond, pinned to one core, and four things are asked of the samples, three of the
machine. `LIMITS` says what is still quiet; beyond, times of methods that are within that factor of
each other say nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import perf_counter, perf_counter_ns
from typing import Any

import numpy as np

from fwbench.execution.machine import cores, load, pin, stolen, waited
from fwbench.kernels.passes import least

SAMPLE = 1e-3  # seconds of a sample
ATOMS, COORDINATES = 4096, 8  # 256 KiB: what is measured is the core, not the memory
SLOW = 1.5  # times the median: a sample that something came between
PARTS = 10  # of the samples, in order: their medians drift apart where the clock rate does

# The most that is quiet, and what to do about more.
LIMITS = {
    "spread": 1.10,
    "slow": 0.01,
    "drift": 1.10,
    "load": 0.5,
    "stolen": 0.01,
    "waited": 0.01,
}
SHARES = ("slow", "stolen", "waited")  # of the time or the samples
CURES = {
    "spread": "close what else runs; fix the frequency of the processor (governor performance)",
    "slow": "close what else runs; keep other work off one core (taskset, isolcpus)",
    "drift": "fix the frequency of the processor, and let a laptop run on mains",
    "load": "wait until other work has ended, or use more cores than it does",
    "stolen": "use a machine of your own, or one with cores that are not shared",
    "waited": "other work runs on the same core; let it end, or keep it on other cores",
}


@dataclass(frozen=True)
class Quietness:
    """What was measured.

    Attributes
    ----------
    samples : int
    median : float
        Seconds of a sample.
    spread : float
        95th percentile of the samples over their median.
    slow : float
        Share of samples above 1.5 times the median.
    drift : float
        Of ten parts of the time, the slowest one's median over the fastest one's.
    load : float or None
        Load average over a minute, before, for each usable core.
    stolen, waited : float
        Shares of the time that the host took, and that this process waited for its core.
    """

    samples: int
    median: float
    spread: float
    slow: float
    drift: float
    load: float | None
    stolen: float
    waited: float

    @property
    def beyond(self) -> list[str]:
        """What exceeds its limit."""
        return [name for name, most in LIMITS.items() if (getattr(self, name) or 0.0) > most]

    @property
    def quiet(self) -> bool:
        """Whether the machine is quiet enough to time on."""
        return not self.beyond

    def reason(self, name: str) -> str:
        """Return in words what exceeds its limit, with the limit."""
        said = {
            "spread": f"one sample in 20 takes {self.spread:.2f} times the median or more",
            "slow": f"{self.slow:.1%} of the samples take more than {SLOW:g} times the median",
            "drift": f"the pace drifts by a factor of {self.drift:.2f}",
            "load": f"the load is {self.load or 0.0:.2f} for each core",
            "stolen": f"the host takes {self.stolen:.1%} of the time",
            "waited": f"this process waits {self.waited:.1%} of the time for its core",
        }
        most = f"{LIMITS[name]:.0%}" if name in SHARES else f"{LIMITS[name]:g}"
        return f"{said[name]}; quiet is at most {most}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"verdict": "quiet" if self.quiet else "noisy", **asdict(self)}


def measure(seconds: float) -> Quietness:
    """Time a small kernel over and over on one core, for so many seconds."""
    busy = load()
    with _one_core():
        work, calls = _work()
        taken, waiting, begun = stolen(), waited(), perf_counter()
        samples: list[float] = []
        while perf_counter() - begun < seconds or len(samples) < PARTS:
            start = perf_counter_ns()
            for _ in range(calls):
                work()
            samples.append((perf_counter_ns() - start) / 1e9)
        wall = perf_counter() - begun
        taken, waiting = stolen() - taken, waited() - waiting
    return judged(
        np.array(samples),
        None if busy is None else busy / len(cores()),
        taken / (wall * (os.cpu_count() or 1)),
        waiting / wall,
    )


def judged(
    samples: np.ndarray[Any, np.dtype[np.float64]],
    load: float | None,
    stolen: float,
    waited: float,
) -> Quietness:
    """Return what samples of seconds, in order, say of a machine; at least ten."""
    median = float(np.median(samples))
    parts = [float(np.median(part)) for part in np.array_split(samples, PARTS)]
    return Quietness(
        samples=len(samples),
        median=median,
        spread=float(np.quantile(samples, 0.95)) / median,
        slow=float((samples > SLOW * median).mean()),
        drift=max(parts) / min(parts),
        load=load,
        stolen=stolen,
        waited=waited,
    )


def _work() -> tuple[Any, int]:
    """Return a kernel's call, compiled, and how often it is made in a sample."""
    atoms = np.random.default_rng(0).standard_normal((ATOMS, COORDINATES))
    mean, field = np.zeros(COORDINATES), np.ones(COORDINATES)

    def work() -> Any:
        return least(atoms, mean, field)

    work()
    begun = perf_counter()
    for _ in range(50):
        work()
    pace = (perf_counter() - begun) / 50
    return work, max(1, round(SAMPLE / pace))


@contextmanager
def _one_core() -> Iterator[None]:
    """Stay on one core inside, where the system lets a process choose."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    pin(0)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
