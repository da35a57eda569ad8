"""What is installed, what the machine is, and whether it is quiet enough to time on.

Only the standard library is imported until it is known what is there: a doctor must be able to
say what is missing.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from time import get_clock_info, perf_counter_ns
from typing import Any

import fwbench

NEEDED_NOW = ("numpy", "scipy", "numba", "psutil", "threadpoolctl")  # what the doctor itself uses
LITTLE_MEMORY, LITTLE_SPACE = 2**30, 2**30  # bytes
COARSE = 1000  # nanoseconds: a clock no finer than this cannot time a short run
CALLS = 20_000  # of the clock
GIBI = 2**30
SECONDS = 2.0  # that the machine is watched
_REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:>=\s*([\w.]+))?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w-]+)['\"]")


class State(StrEnum):
    """What a fact means for whoever runs fwbench here."""

    OK = "ok"
    NOTE = "note"  # works, but something is lost
    BROKEN = "broken"  # something that is needed does not work


@dataclass(frozen=True)
class Fact:
    """One thing that was looked at.

    Attributes
    ----------
    group, name : str
    value : plain data
        For JSON; units stand in the name.
    text : str
        For people.
    state : State
    cure : str
        What to do, where it is not well.
    """

    group: str
    name: str
    value: Any
    text: str
    state: State = State.OK
    cure: str = ""


def examine(seconds: float) -> Iterator[Fact]:
    """Yield what is found, in order; the last part measures for about `seconds`.

    Where a needed library is missing, nothing behind the versions can be looked at.
    """
    found = list(versions())
    yield from found
    if any(fact.state is State.BROKEN for fact in found):
        return
    yield from processor()
    yield from libraries()
    yield from clock()
    yield from places()
    yield from quiet(seconds)


# -- versions --------------------------------------------------------------------------------


def requirements() -> dict[str, list[tuple[str, str]]]:
    """Return what fwbench needs, by extra ("" for what it always needs): names, least versions."""
    try:
        lines = importlib.metadata.requires("fwbench") or []
    except importlib.metadata.PackageNotFoundError:
        lines = list(NEEDED_NOW)
    found: dict[str, list[tuple[str, str]]] = {"": []}
    for line in lines:
        wanted, _, condition = line.partition(";")
        extra = _EXTRA.search(condition)
        match = _REQUIREMENT.match(wanted.replace("==", ">="))
        if match and match[1] != "fwbench" and (extra is None or extra[1] != "dev"):
            found.setdefault(extra[1] if extra else "", []).append((match[1], match[2] or ""))
    return found


def installed(name: str) -> str | None:
    """Return the version of a package, None if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def older(version: str, least: str) -> bool:
    """Say whether a version is older than another one, by the numbers that both have.

    Examples
    --------
    >>> older("2.9.1", "2.10"), older("3", "2.10"), older("2.10.0rc1", "2.10")
    (True, False, False)
    """
    numbers = [[int(part) for part in re.findall(r"\d+", text)] for text in (version, least)]
    return numbers[0][: len(numbers[1])] < numbers[1]


def versions() -> Iterator[Fact]:
    """Yield versions of fwbench, Python and all libraries, and what each extra lacks."""
    group = "versions"
    yield Fact(group, "fwbench", fwbench.__version__, fwbench.__version__)
    python = platform.python_version()
    yield Fact(group, "python", python, f"{python}, {sys.executable}")
    needed = requirements()
    for name, least in needed.pop(""):
        yield _version(group, name, least)
    for extra, packages in needed.items():
        lacking = [name for name, _ in packages if installed(name) is None]
        known = {name: installed(name) for name, _ in packages}
        text = ", ".join(f"{name} {known[name]}" for name in known if known[name])
        if not lacking:
            yield Fact(group, f"extra {extra}", known, text)
            continue
        text = f"{', '.join(lacking)} not installed" + (f"; {text}" if text else "")
        cure = f"if you want it: pip install 'fwbench[{extra}]'"
        yield Fact(group, f"extra {extra}", known, text, State.NOTE, cure)


def _version(group: str, name: str, least: str) -> Fact:
    version = installed(name)
    if version is None:
        cure = f"pip install '{name}{'>=' + least if least else ''}'"
        return Fact(group, name, None, "not installed", State.BROKEN, cure)
    if least and older(version, least):
        text = f"{version}, older than {least}"
        return Fact(group, name, version, text, State.BROKEN, f"pip install '{name}>={least}'")
    if name in NEEDED_NOW:
        try:
            importlib.import_module(name)
        except Exception as error:  # a broken installation may raise anything
            text = f"{version}, but cannot be imported: {type(error).__name__}: {error}"
            cure = f"pip install --force-reinstall '{name}=={version}'"
            return Fact(group, name, version, text, State.BROKEN, cure)
    return Fact(group, name, version, version)


# -- the machine -----------------------------------------------------------------------------


def processor() -> Iterator[Fact]:
    """Yield cores, frequency, load, time stolen and memory."""
    import psutil

    from fwbench.execution import machine
    from fwbench.manifest import machine as described

    group, about, usable = "machine", described(), machine.cores()
    yield Fact(group, "processor", about["cpu"], about["cpu"])
    yield Fact(group, "system", about["system"], about["system"])
    listed = ", ".join(map(str, usable[:8])) + (", …" if len(usable) > 8 else "")
    text = f"{len(usable)} of {about['cores']} usable ({listed})"
    yield Fact(group, "cores", {"all": about["cores"], "usable": usable}, text)
    if (quota := _quota()) is not None:
        text = f"{quota:g} cores' worth of time, by the container"
        cure = "beyond it all processes are halted: time on a machine without such a limit"
        few = quota < len(usable)
        yield Fact(group, "quota", quota, text, State.NOTE if few else State.OK, cure * few)
    governor, rate = _governor(), machine.frequency()
    text = "not known here" if rate is None else f"{rate:.0f} MHz now"
    text += f", governor {governor}" if governor else ""
    slow = governor in ("powersave", "conservative", "ondemand")
    cure = "sudo cpupower frequency-set -g performance" if slow else ""
    state = State.NOTE if slow else State.OK
    yield Fact(group, "frequency", {"mhz": rate, "governor": governor}, text, state, cure)
    loads = os.getloadavg() if hasattr(os, "getloadavg") else None
    text = "not known here" if loads is None else " ".join(f"{load:.2f}" for load in loads)
    yield Fact(group, "load", loads, f"{text} (1, 5, 15 minutes)" if loads else text)
    up = sum(psutil.cpu_times()) or 1.0
    share = machine.stolen() / up
    yield Fact(group, "stolen", share, f"{share:.2%} of the time since the machine started")
    memory = psutil.virtual_memory()
    text = f"{memory.available / GIBI:.1f} of {memory.total / GIBI:.1f} GiB available"
    low = memory.available < LITTLE_MEMORY
    cure = "close what holds it, or runs may end as memory" if low else ""
    value = {"available_bytes": memory.available, "total_bytes": memory.total}
    yield Fact(group, "memory", value, text, State.NOTE if low else State.OK, cure)


def _governor() -> str | None:
    """Return who sets the frequency of the first core, where Linux says."""
    try:
        path = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None


def _quota() -> float | None:
    """Return how many cores' time a container grants, None where it does not limit it."""
    try:
        most, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return int(most) / int(period)
    except (OSError, ValueError):  # no such file, or "max"
        return None


def libraries() -> Iterator[Fact]:
    """Yield BLAS with its kernel and threads, numba's threads, and whether a kernel is right."""
    import numba
    import scipy.linalg  # it brings a BLAS of its own
    from threadpoolctl import threadpool_info

    assert scipy.linalg is not None
    group = "libraries"
    for pool in threadpool_info():
        if pool.get("user_api") != "blas":
            continue
        owner = Path(pool["filepath"]).parent.name.removesuffix(".libs")
        kernel = pool.get("architecture") or "unknown"
        text = f"{pool['internal_api']} {pool.get('version')}, kernel {kernel}, "
        text += f"{pool['num_threads']} threads now; runs use one"
        keys = ("internal_api", "version", "architecture", "threading_layer", "num_threads")
        yield Fact(group, f"BLAS of {owner}", {key: pool.get(key) for key in keys}, text)
    threads = numba.get_num_threads()
    layer = numba.config.THREADING_LAYER
    text = f"{threads} threads of layer {layer}; kernels use one"
    yield Fact(group, "numba", {"threads": threads, "layer": layer}, text)
    yield _kernel(group)


def _kernel(group: str) -> Fact:
    """Compile a kernel, or take it from the cache, and compare it with numpy."""
    import numpy as np

    cure = "remove the folder of compiled kernels (below) and try again"
    try:
        from fwbench.kernels.passes import least

        atoms = np.arange(12.0).reshape(4, 3)
        mean, field = np.ones(3), np.array([1.0, -2.0, 0.5])
        came, expected = float(least(atoms, mean, field)), float(((atoms - mean) @ field).min())
    except Exception as error:  # numba raises many things
        text = f"cannot be compiled: {type(error).__name__}: {str(error).splitlines()[0]}"
        return Fact(group, "kernels", None, text, State.BROKEN, cure)
    if abs(came - expected) > 1e-12:
        text = f"wrong: {came!r} instead of {expected!r}"
        return Fact(group, "kernels", False, text, State.BROKEN, cure)
    how = "compiled" if hasattr(least, "stats") else "not compiled (NUMBA_DISABLE_JIT)"
    return Fact(group, "kernels", True, f"{how}, and right on an example")


def clock() -> Iterator[Fact]:
    """Yield how fine the clock of the runs is, and how long it takes to read it."""
    reads = [perf_counter_ns() for _ in range(CALLS)]
    steps = sorted(b - a for a, b in pairwise(reads))
    ticks = [step for step in steps if step > 0]
    finest, cost = ticks[0] if ticks else 0, (reads[-1] - reads[0]) / (CALLS - 1)
    about = get_clock_info("perf_counter")
    text = f"steps of {finest} ns, {cost:.0f} ns a look ({about.implementation})"
    coarse = finest > COARSE
    cure = "short runs are timed in repeats alone: trust no single one" if coarse else ""
    value = {"step_ns": finest, "look_ns": cost, "implementation": about.implementation}
    yield Fact("clock", "timer", value, text, State.NOTE if coarse else State.OK, cure)


# -- folders ---------------------------------------------------------------------------------


def places() -> Iterator[Fact]:
    """Yield the folders that are written to: compiled kernels, temporary files, reports."""
    from fwbench.kernels.passes import least

    compiled: Any = least
    if hasattr(compiled, "stats"):
        cure = (
            "kernels are compiled anew in every process; set NUMBA_CACHE_DIR to a folder of yours"
        )
        yield _place("kernels", Path(compiled.stats.cache_path), State.NOTE, cure)
    else:  # numba hands out the Python function
        text, cure = "nothing is compiled: NUMBA_DISABLE_JIT is set", "unset NUMBA_DISABLE_JIT"
        yield Fact("folders", "kernels", None, text, State.NOTE, cure)
    cure = "set TMPDIR to a folder with room"
    try:
        folder = Path(tempfile.gettempdir())
    except OSError as error:
        yield Fact("folders", "temporary", None, str(error), State.BROKEN, cure)
        return
    yield _place("temporary", folder, State.BROKEN, cure)
    cure = "run folders go elsewhere by --out"
    try:
        here = Path.cwd()
    except OSError as error:  # it was removed
        text = f"the working folder cannot be found: {error.strerror}"
        yield Fact("folders", "here", None, text, State.NOTE, cure)
        return
    yield _place("here", here, State.NOTE, cure)


def _place(name: str, path: Path, unwritable: State, cure: str) -> Fact:
    try:
        free = shutil.disk_usage(path).free
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        text = f"{path} cannot be written: {error.strerror}"
        value = {"path": str(path), "writable": False, "free_bytes": None}
        return Fact("folders", name, value, text, unwritable, cure)
    value = {"path": str(path), "writable": True, "free_bytes": free}
    text = f"{path}, {free / GIBI:.1f} GiB free"
    if free < LITTLE_SPACE:
        return Fact("folders", name, value, text, State.NOTE, "free space before a long run")
    return Fact("folders", name, value, text)


# -- quiet -----------------------------------------------------------------------------------


def quiet(seconds: float) -> Iterator[Fact]:
    """Yield whether the machine is quiet enough to time on, as measured now."""
    from fwbench.quietness import CURES, measure

    found = measure(seconds)
    numbers = (
        f"95 % within {found.spread:.3f} times the median, {found.slow:.2%} slow, "
        f"drift {found.drift:.3f}, {found.samples} samples of {found.median * 1e3:.2f} ms"
    )
    verdict = "quiet" if found.quiet else "noisy"
    text = f"{'quiet enough to time on' if found.quiet else 'too noisy to time on'}: {numbers}"
    state = State.OK if found.quiet else State.NOTE
    yield Fact("timing", verdict, found.as_dict(), text, state)
    for name in found.beyond:
        value = getattr(found, name)
        yield Fact("timing", name, value, found.reason(name), State.NOTE, CURES[name])
