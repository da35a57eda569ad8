"""The machine that a run is timed on: who else uses it, how fast it is, what a run may take."""

from __future__ import annotations

import os
import platform
import re
import resource
import sys
from functools import cache
from time import perf_counter
from typing import Any

import psutil

# A run that waited for its core for so much of its time, or had it stolen, is noisy; shorter ones
# are judged as if they had taken so long. What is stolen is counted in hundredths of a second.
DISTURBED = 0.01
SHORTEST_WAIT, SHORTEST_THEFT = 0.1, 1.0
PROCESS = "/proc/self/"
STEAL = 8  # place of the stolen time in the first line of /proc/stat
LONGEST = 65536  # bytes that are read of a file of /proc
SCHEMA = 1  # of a run folder


def load() -> float | None:
    """Return the load average over a minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def frequency() -> float | None:
    """Return the frequency in MHz of a core that this process may use, None if not known."""
    if sys.platform != "linux":
        found = psutil.cpu_freq()
        return float(found.current) if found is not None and found.current else None
    if kilohertz := _read(f"/sys/devices/system/cpu/cpu{cores()[0]}/cpufreq/scaling_cur_freq"):
        return int(kilohertz) / 1e3
    named = re.search(r"cpu MHz\s*:\s*([\d.]+)", _read("/proc/cpuinfo", 2048))  # of the first
    return float(named[1]) if named and float(named[1]) else None


def _read(path: str, most: int = LONGEST) -> str:
    """Return the beginning of a file; "" where there is none. Run for run, so it is quick."""
    descriptor = _opened(path, os.getpid())
    if descriptor is None:
        return ""
    try:
        return os.pread(descriptor, most, 0).decode(errors="replace")
    except OSError:
        return ""


@cache  # files of the system, a few
def _opened(path: str, process: int) -> int | None:
    """Return a descriptor that stays open, or None; in a fork "self" would still be its parent."""
    try:
        return os.open(path, os.O_RDONLY)
    except OSError:
        return None


def stolen() -> float:
    """Return the seconds that the host of a virtual machine has taken so far, over all cores."""
    if sys.platform != "linux":
        return 0.0
    first = _read("/proc/stat").partition("\n")[0].split()
    return int(first[STEAL]) / os.sysconf("SC_CLK_TCK") if len(first) > STEAL else 0.0


def waited() -> float:
    """Return the seconds that this process was ready to run and did not; 0 where not known."""
    try:
        return int(_read(f"{PROCESS}schedstat").split()[1]) / 1e9
    except (ValueError, IndexError):
        return 0.0


def cores() -> list[int]:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def pin(place: int, threads: int = 1) -> None:
    """Keep this process on `threads` cores of its own, counted from the last one."""
    if not hasattr(os, "sched_setaffinity"):
        return
    usable = cores()
    if threads < len(usable):
        first = place * threads
        os.sched_setaffinity(0, {usable[-1 - (first + i) % len(usable)] for i in range(threads)})


def _kibibytes(name: str) -> int | None:
    """Return an entry of /proc/self/status in bytes."""
    try:
        return int(_read(f"{PROCESS}status").partition(f"\n{name}:")[2].split(maxsplit=1)[0]) * 1024
    except (IndexError, ValueError):
        return None


def forget_peak() -> None:
    """Let the peak of this process's memory start anew, where the system can."""
    try:
        descriptor = os.open(f"{PROCESS}clear_refs", os.O_WRONLY)
    except OSError:
        return
    try:
        os.write(descriptor, b"5")
    except OSError:
        return
    finally:
        os.close(descriptor)


def peak() -> int:
    """Return the most memory that this process had since `forget_peak`, bytes."""
    return _kibibytes("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def allow(more: int | None) -> None:
    """Let this process have so many bytes more than it has; None: as many as it wants.

    Beyond, an allocation fails: numpy and Python raise MemoryError.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    used = _kibibytes("VmData")
    wanted = hard if more is None or used is None else used + more
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard) if wanted != resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def affordable(jobs: int) -> int:
    """Return the bytes that each of `jobs` runs may take: four fifths of what is free, shared."""
    return int(psutil.virtual_memory().available * 0.8 / jobs)


def conditions(
    threads: int, library: str | None, *, shared: bool, host: str | None = None
) -> dict[str, Any]:
    """Return what a result depends on beside solver, problem and budget, for its cache key.

    Parameters
    ----------
    threads : int
    library : str or None
        Of a foreign code.
    shared : bool
        Whether other runs go on meanwhile: their seconds are others.
    host : str, optional
        This machine by default.
    """
    return {
        "threads": threads,
        "shared": shared,
        "host": host or platform.node(),
        "library": library,
        "schema": SCHEMA,
    }


class Around:
    """What is recorded before and after a run; made before it.

    Parameters
    ----------
    threads : int
        Of BLAS and numba.
    shared : bool
        Whether other runs go on meanwhile.
    """

    def __init__(self, threads: int, *, shared: bool) -> None:
        self.threads, self.shared = threads, shared
        self.load, self.frequency = load(), frequency()
        self.begins()

    def begins(self) -> None:
        """Count from here on: the problem is there, whoever built it."""
        self.stolen, self.waited, self.begun = stolen(), waited(), perf_counter()
        forget_peak()

    def columns(self) -> dict[str, Any]:
        """Return the columns of a run's row."""
        after, taken, waiting = load(), stolen() - self.stolen, waited() - self.waited
        busy = max(self.load or 0.0, after or 0.0) > (os.cpu_count() or 1)
        wall = perf_counter() - self.begun
        every = os.cpu_count() or 1  # what is stolen is that of all cores
        disturbed = taken > DISTURBED * max(wall, SHORTEST_THEFT) * every
        disturbed |= waiting > DISTURBED * max(wall, SHORTEST_WAIT)
        return {
            "host": platform.node(),
            "threads": self.threads,
            "shared": self.shared,
            "load_before": self.load,
            "load_after": after,
            "noisy": busy or disturbed,
            "steal": taken,
            "peak_memory": peak(),
            "frequency_before": self.frequency,
            "frequency_after": frequency(),
        }
