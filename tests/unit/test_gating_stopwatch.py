"""The program that times on a side: in this process, and run by its path."""

import json
import os
import signal
import subprocess
import sys

import psutil
import pytest

from fwbench import catalog
from fwbench.gating import stopwatch
from fwbench.gating.stopwatch import Loaded
from fwbench.gating.timekeeper import PROGRAM, Failed, Lost, Timekeeper

from .made_gating import INSTANCE, SOLVER, codes

SECONDS = 60.0  # no process of a test takes as long


def asked(solver, **words):
    usual = {"steps": 20, "tol": 1e-8, "max_seconds": 10.0, "what": "seconds", "busy": None}
    return usual | {"solver": solver} | words


def loaded(solver, **words):
    [choice] = catalog.choices("problems", INSTANCE)
    return Loaded(catalog.build_problem(choice), asked(solver, **words))


@pytest.fixture
def pair(tmp_path):
    return codes(tmp_path)


def loads(keeper, act, **words):
    keeper.ask("load", cell=0, problem=INSTANCE, **asked(f"counting.py[act={act}]", **words))
    return keeper.answer(SECONDS)


# -- what a call is ------------------------------------------------------------------------------


def test_busy_work_follows_each_chunk_and_changes_no_bit(monkeypatch):
    """By the semigroup law chunks end where one call does."""
    turns, ends = [], []
    monkeypatch.setattr(stopwatch, "spin", turns.append)
    for busy in (None, {"chunk": 6, "spins": 321}):
        found = loaded("frank_wolfe[step=exact]", busy=busy)
        model = found.solver.prepare(found.problem.unprepared())
        state = found.solver.init(model, found.start)
        (found._in_one_go if busy is None else found._in_chunks)(model, state)
        ends.append((state.steps, state.points().tobytes()))
    assert ends[0] == ends[1]
    assert ends[0][0] == 20
    assert turns == [321] * 4


def test_a_foreign_code_is_given_a_limit_that_it_does_not_reach():
    assert loaded("osqp_admm", steps=8).steps == 16
    assert loaded("frank_wolfe[step=exact]", steps=8).steps == 8


def test_a_direct_method_and_a_set_up_are_timed():
    assert loaded("cvxpy_reference", steps=1).time(1, 0) > 0
    assert loaded("frank_wolfe[step=exact]", what="set-up").time(3, 0) > 0


def test_several_queries_are_lifted():
    [choice] = catalog.choices("problems", "token_cloud[n=5,d=2]")
    found = Loaded(catalog.build_problem(choice), asked("frank_wolfe[step=exact]"))
    state = found.solver.init(found.solver.prepare(found.problem), found.start)
    assert state.points().shape == (5, 2)
    assert found.time(1, 0) > 0


def test_models_that_are_kept_are_few():
    found = loaded("frank_wolfe[step=exact]")
    for place in range(20):
        found.time(1, place)
        assert 1 <= len(found._kept) <= stopwatch.KEPT
    [choice] = catalog.choices("problems", INSTANCE)
    full = Loaded(catalog.build_problem(choice), asked("frank_wolfe[step=exact]"), room=0)
    full.time(1, 0)
    assert full._kept == []


# -- the program ---------------------------------------------------------------------------------


def test_it_answers_whatever_a_solver_prints(pair):
    with Timekeeper(pair[1], "the new side", 1) as keeper:
        assert loads(keeper, "counts")["seconds"] > 0
        keeper.ask("begin", core=None)
        assert keeper.answer(SECONDS) == {}
        keeper.ask("time", cell=0, calls=2, placed=3)
        assert keeper.answer(SECONDS)["seconds"] > 0
        with pytest.raises(Failed, match="the new side: RuntimeError: no step for you"):
            loads(keeper, "raises")
        with pytest.raises(Failed, match=r"advance\(20\) left state.steps at 0"):
            loads(keeper, "stays")
        with pytest.raises(Failed, match="no parameter"):
            loads(keeper, "counts,odd=1")
        with pytest.raises(Lost, match="the process of the new side ended with exit code 7"):
            loads(keeper, "ends")


def test_one_that_hangs_is_ended(pair):
    with Timekeeper(pair[1], "the new side", 1) as keeper:
        loads(keeper, "counts")
        keeper.ask("load", cell=1, problem=INSTANCE, **asked("counting.py[act=hangs]"))
        with pytest.raises(Lost, match="the new side did not answer within 1 s"):
            keeper.answer(1.0)
        assert not psutil.pid_exists(keeper.process)


def test_it_ends_with_the_block_whatever_ends_that(pair):
    keeper = Timekeeper(pair[0], "the base", 1)

    def interrupted():
        with keeper:
            keeper.ask("load", cell=0, problem=INSTANCE, **asked("counting.py[act=hangs]"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not psutil.pid_exists(keeper.process)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends it with its parent")
def test_it_ends_in_the_middle_of_a_step_with_a_parent_that_is_killed(pair, tmp_path):
    os.mkfifo(tmp_path / "steps")
    line = {"do": "load", "cell": 0, "problem": INSTANCE, **asked("counting.py[act=hangs]")}
    parent = (
        "import os, subprocess, sys\n"
        f"p = subprocess.Popen([sys.executable, {str(PROGRAM)!r}, str(os.getpid())],\n"
        "    stdin=subprocess.PIPE)\n"
        f"p.stdin.write({json.dumps(line).encode()!r} + b'\\n'); p.stdin.flush()\n"
        "print(p.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", parent],
        cwd=tmp_path / "new", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        child = psutil.Process(int(process.stdout.readline()))
        assert (tmp_path / "steps").read_text() == "it hangs"  # as soon as it does
        os.kill(process.pid, signal.SIGKILL)
        child.wait(SECONDS)
    finally:
        process.kill()
        process.communicate()


def test_the_folder_of_the_program_hides_no_module(tmp_path):
    """It holds a file `code.py`, as the standard library does."""
    imports = "import os\nimport code\nassert code.interact\n"
    (tmp_path / "reading.py").write_text(SOLVER.replace("import os\n", imports))
    line = {"do": "load", "cell": 0, "problem": INSTANCE, **asked("reading.py")}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(os.getpid())],
        input=json.dumps(line).encode() + b"\n", cwd=tmp_path,
        env={**os.environ, "PYTHONHASHSEED": "1"}, capture_output=True, timeout=SECONDS,
    )  # fmt: skip
    assert set(json.loads(done.stdout)) == {"seconds", "aside"}, done.stdout
