"""One process at a time compiles the kernels."""

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from contextlib import nullcontext
from time import monotonic
from types import SimpleNamespace

import pytest

from fwbench import warm
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Sampling
from fwbench.warm import compiling_alone

DEADLINE = 60
HOLDS = """
import sys, time
from pathlib import Path
from fwbench.warm import compiling_alone
with compiling_alone(Path(sys.argv[1])) as alone:
    print(alone, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """A process that compiles until it is told to end."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with child:
        try:
            assert child.stdout.readline() == "True\n"
            yield child
        finally:
            child.kill()


def test_another_process_waits_no_longer_than_its_patience(tmp_path, holder):
    begun = monotonic()
    with compiling_alone(tmp_path, patience=0.2) as alone:
        assert not alone
    assert monotonic() - begun >= 0.2


def test_it_goes_on_as_soon_as_the_other_has_ended(tmp_path, holder):
    holder.stdin.write("\n")
    holder.stdin.flush()
    with compiling_alone(tmp_path, patience=DEADLINE) as alone:
        assert alone


def test_a_killed_process_holds_nothing(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    with compiling_alone(tmp_path, patience=DEADLINE) as alone:
        assert alone


def fails(folder):
    with compiling_alone(folder, patience=0.0) as alone:
        assert alone
        raise ZeroDivisionError


def test_the_lock_is_given_back_after_an_error(tmp_path):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fails(tmp_path)


def test_where_nothing_can_be_locked_it_goes_on_without(tmp_path):
    (tmp_path / "file").touch()
    with compiling_alone(tmp_path / "file" / "folder") as alone:
        assert not alone


@pytest.mark.parametrize("module", ["fwbench.solvers.puppet", "mine"])
def test_nobody_waits_for_the_solver_of_a_user(monkeypatch, module):
    taken = []
    monkeypatch.setattr(warm, "compiling_alone", lambda: nullcontext(taken.append(True)))
    problem = QuadraticOverHull([[1.0, 2.0], [3.0, 1.0]])
    entry = SimpleNamespace(make=SimpleNamespace(__module__=module), sampling=Sampling.ADVANCE)
    warm.warm(problem, object(), entry, problem.start)
    assert taken == ([] if module == "mine" else [True])


@pytest.mark.slow
def test_two_processes_compile_no_kernel_twice(tmp_path):
    words = ["run", "-p", "min_norm_point[n=30,d=3,shift=1]", "-s", "away_steps", "-s", "pairwise"]
    done = subprocess.run(
        [sys.executable, "-m", "fwbench", *words, "--max-steps", "50", "--jobs", "2", "--out", "r",
         "--no-report"],
        cwd=tmp_path, capture_output=True, text=True, timeout=10 * DEADLINE,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DEBUG_CACHE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    saved = Counter(re.findall(r"data saved to '(.*)'", done.stderr))
    assert len(saved) > 10
    assert max(saved.values()) == 1, saved.most_common(5)
