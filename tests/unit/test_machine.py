"""What is recorded of the machine, and what a process may take of it."""

import os
import platform
import subprocess
import sys

import pytest

from fwbench.execution import machine
from fwbench.execution.machine import Around, affordable, conditions, cores

MEBIBYTE = 2**20
COLUMNS = {
    "host", "threads", "shared", "load_before", "load_after", "noisy", "steal", "peak_memory",
    "frequency_before", "frequency_after",
}  # fmt: skip


@pytest.fixture
def quiet(monkeypatch):
    """A machine on which nothing happens but what a test says."""
    said = {"load": 0.5, "stolen": 3.0, "waited": 5.0, "frequency": 2500.0}
    for name in said:
        monkeypatch.setattr(machine, name, lambda name=name: said[name])
    monkeypatch.setattr(machine, "perf_counter", lambda: said.get("now", 0.0))
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 2)
    return said


def noisy(said, **after):
    around = Around(1, shared=False)
    said.update(after)
    return around.columns()["noisy"]


def test_all_columns_are_there():
    found = Around(2, shared=True).columns()
    assert set(found) == COLUMNS
    assert (found["threads"], found["shared"], found["host"]) == (2, True, platform.node())
    assert found["peak_memory"] > MEBIBYTE
    assert found["steal"] >= 0


def test_nothing_is_noisy_on_a_quiet_machine(quiet):
    assert noisy(quiet, now=2.0) is False


@pytest.mark.parametrize("when", ["before", "after"])
def test_more_work_than_cores_is_noisy(quiet, when):
    if when == "before":
        quiet["load"] = 2.5
        assert noisy(quiet, load=0.5)
    else:
        assert noisy(quiet, load=2.5)


def test_a_wait_for_the_core_is_noisy_from_a_hundredth_on(quiet):
    assert noisy(quiet, waited=5.03, now=2.0)
    quiet["waited"], quiet["now"] = 5.0, 0.0
    assert not noisy(quiet, waited=5.01, now=2.0)
    quiet["waited"], quiet["now"] = 5.0, 0.0
    assert not noisy(quiet, waited=5.0005, now=0.001)  # a short run is judged as a longer one
    quiet["waited"], quiet["now"] = 5.0, 0.0
    assert noisy(quiet, waited=5.002, now=0.001)


def test_stolen_time_is_noisy_from_a_hundredth_on(quiet):
    assert noisy(quiet, stolen=3.0 + 0.06 * 2, now=5.0)
    quiet["stolen"], quiet["now"] = 3.0, 0.0
    assert not noisy(quiet, stolen=3.0 + 0.04 * 2, now=5.0)  # of every core, all the time


def test_the_peak_of_a_run_is_not_that_of_the_run_before():
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("this system keeps no peak that can start anew")
    machine.forget_peak()
    before = machine.peak()
    taken = bytearray(b"x" * (200 * MEBIBYTE))
    high = machine.peak()
    del taken
    machine.forget_peak()
    assert high - before > 150 * MEBIBYTE
    assert machine.peak() < high - 100 * MEBIBYTE


def in_child(source):
    child = [sys.executable, "-c", "from fwbench.execution.machine import *\n" + source]
    done = subprocess.run(child, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no cores to choose from here")
def test_a_place_has_cores_of_its_own():
    source = "import os\npin({}, {})\nprint(*sorted(os.sched_getaffinity(0)))"
    usable = cores()
    if len(usable) < 2:
        pytest.skip("one core")
    places = [set(map(int, in_child(source.format(place, 1)))) for place in range(2)]
    assert [len(place) for place in places] == [1, 1]
    assert places[0] != places[1]
    assert set(map(int, in_child(source.format(0, len(usable))))) == set(usable)


def test_what_is_allowed_bounds_an_allocation_and_can_be_lifted():
    source = """
import numpy as np
allow(64 * 2**20)
try:
    np.ones(2**27)
except MemoryError:
    print("refused")
np.ones(2**20)
allow(None)
np.ones(2**24)
print("lifted")
"""
    assert in_child(source) == ["refused", "lifted"]


def test_jobs_share_what_is_free():
    assert 0 < affordable(4) < affordable(1)


def test_conditions_name_what_seconds_depend_on():
    here = conditions(1, None, shared=False)
    assert here["host"] == platform.node()
    changed = [
        conditions(2, None, shared=False),
        conditions(1, "quadprog", shared=False),
        conditions(1, None, shared=True),
        conditions(1, None, shared=False, host="another"),
    ]
    assert all(other != here for other in changed)
