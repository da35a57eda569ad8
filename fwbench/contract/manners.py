"""What a solver leaves alone: its inputs, generators that all share, the clock, stdout."""

from __future__ import annotations

import hashlib
import os
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.contract.cases import Case, Subject
from fwbench.contract.printed import written_to_stdout
from fwbench.contract.rule import Inapplicable, Rule, Violation
from fwbench.problem import QuadraticOverHull

STEPS = 30
SEED = 20_231_107  # of the global generators: one that nobody else takes
CLOCKS = (
    "time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns",
    "process_time", "process_time_ns", "thread_time",
)  # fmt: skip


def _walk(case: Case, steps: int = STEPS) -> None:
    solver, model, state = case.begun()
    solver.advance(model, state, steps)
    state.points(), state.weights()


# -- inputs ----------------------------------------------------------------------------------


def _arrays(problem: QuadraticOverHull) -> dict[str, NDArray[Any]]:
    """Return every array that solvers share, by the name under which they reach it."""
    start = problem.start
    shared = {
        "problem.atoms": problem.atoms,
        "problem.c": problem.c,
        "problem.mean": problem.mean,
        "problem.centred": problem.centred,
        "problem.centred_c": problem.centred_c,
        "start.indptr": start.indptr,
        "start.keys": start.keys,
        "start.data": start.data,
    }
    links = problem.form.chain()
    return shared | {f"problem.form (array {i})": link for i, link in enumerate(links, 1)}


def _writeable(problem: QuadraticOverHull) -> None:
    """Let whoever wants to write into a problem that no one else uses."""
    problem.atoms = np.array(problem.atoms)
    problem.c = np.array(problem.c)
    for array in _arrays(problem).values():
        try:
            array.flags.writeable = True
        except ValueError:  # a view of what was made read-only: nobody can write into it
            continue


def inputs_are_left_alone(subject: Subject) -> None:
    """Ask that inputs have the same bits after a run, even where they can be written into."""
    for case in subject.cases():
        _writeable(case.problem)
        before = {key: array.copy() for key, array in _arrays(case.problem).items()}
        _walk(case)
        for key, array in _arrays(case.problem).items():
            if array.tobytes() != before[key].tobytes():
                _written(key, before[key], array)


def _written(key: str, before: NDArray[Any], after: NDArray[Any]) -> None:
    changed = np.argwhere(before != after)
    place = tuple(int(i) for i in changed[0]) if len(changed) else ()
    numbers = f"first {before[place]} → {after[place]} at {list(place)}"
    slip = "x = problem.centred[j] is a view: x += … writes into the problem; copy it before"
    if key.startswith("start"):
        slip = "init took the arrays of start as its own: start.data.copy()"
    raise Violation(
        f"{key} as it was before the run",
        f"{len(changed)} of {before.size} numbers changed, {numbers}",
        slip,
    )


# -- what all share --------------------------------------------------------------------------


def _shared() -> dict[str, str]:
    """Return a digest of each thing of the process that a run must leave as it is."""
    state = np.random.get_state(legacy=False)  # noqa: NPY002 - nothing is drawn from it
    return {
        "numpy's global generator": hashlib.sha256(repr(state).encode()).hexdigest(),
        "Python's global generator": hashlib.sha256(repr(random.getstate()).encode()).hexdigest(),
        "np.geterr()": repr(np.geterr()),
        "the working directory": os.getcwd(),
    }


@contextmanager
def _known() -> Iterator[None]:
    """Set what all share to values that no run sets, so that a second time shows; restore it."""
    drawn, numbers = np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002
    here = os.open(os.curdir, os.O_RDONLY)  # a folder that was removed has no name
    try:
        with tempfile.TemporaryDirectory() as folder, np.errstate(all="warn", under="ignore"):
            os.chdir(folder)
            np.random.seed(SEED)  # noqa: NPY002
            random.seed(SEED)
            try:
                yield
            finally:
                os.fchdir(here)
    finally:
        os.close(here)
        np.random.set_state(drawn)  # noqa: NPY002
        random.setstate(numbers)


def globals_are_left_alone(subject: Subject) -> None:
    """Ask that global generators, numpy's error handling and the working directory stay."""
    for case in subject.cases():
        with _known():
            _walk(case, 1)  # a library that is imported now may draw, once
        with _known():
            before = _shared()
            _walk(case)
            after = _shared()
        if moved := [key for key, found in after.items() if found != before[key]]:
            raise Violation(
                f"{' and '.join(moved)} as before the run",
                "another state",
                "np.random.… and random.… draw from generators that all share; use "
                "np.random.default_rng((seed, step)) for the draw of a step",
            )


def the_clock_is_not_read(subject: Subject) -> None:
    """Ask that no line of the solver's file reads a clock: a path must not depend on the time."""
    if subject.file is None:
        raise Inapplicable("it has no file")
    if hasattr(subject.choices[0].entry.make, "within"):
        raise Inapplicable("it asks for the time of a run, so it may look at the clock")
    for case in subject.cases():
        with _watched(subject.file, type(case.one).__module__) as read:
            _walk(case, 5)
        if read:
            raise Violation(
                "no look at the clock",
                f"time.{read[0]}() was called",
                "the runner alone keeps the time; results that depend on it cannot be repeated",
            )


@contextmanager
def _watched(file: Path, module: str) -> Iterator[list[str]]:
    """Note which clocks are read from a file, however it has imported them."""
    read: list[str] = []
    homes = [vars(time), vars(sys.modules[module])]
    kept: list[tuple[dict[str, Any], str, Any]] = []
    for name in CLOCKS:
        clock = getattr(time, name)

        def noting(clock: Any = clock, name: str = name) -> Any:
            if Path(sys._getframe(1).f_code.co_filename) == file:
                read.append(name)
            return clock()

        for home in homes:
            for key, value in list(home.items()):
                if value is clock:
                    kept.append((home, key, clock))
                    home[key] = noting
    try:
        yield read
    finally:
        for home, key, clock in kept:
            home[key] = clock


def nothing_is_printed(subject: Subject) -> None:
    """Ask that a run prints nothing on stdout, from C either, and warns of nothing."""
    for case in subject.cases():
        with warnings.catch_warnings(record=True) as heard, written_to_stdout() as printed:
            warnings.simplefilter("always")
            _walk(case)
        if printed:
            raise Violation(
                "nothing on stdout, which is for results",
                f"{len(printed[0])} characters, {printed[0].strip()[:40]!r}",
                "a print, or the verbose option of a library",
                grave=False,
            )
        if heard:
            first = heard[0]
            raise Violation(
                "no warning",
                f"{len(heard)}, {first.category.__name__}: {str(first.message)[:80]} "
                f"({Path(first.filename).name} line {first.lineno})",
                "np.errstate, where what is warned of is meant",
                grave=False,
            )


RULES = (
    Rule("inputs", "it writes into none of its inputs", inputs_are_left_alone),
    Rule("generators", "what all share is left as it was", globals_are_left_alone),
    Rule("clock", "the time is not asked for", the_clock_is_not_read),
    Rule("quiet", "nothing is printed, nothing warned of", nothing_is_printed),
)
