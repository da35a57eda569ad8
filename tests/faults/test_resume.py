"""`--resume` does again what would come out otherwise by now, and nothing else."""

import importlib.metadata
import json
import shutil
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fwbench.cli import main
from fwbench.execution import sources

SOLVER = '''
"""Steps to the mean."""
from dataclasses import dataclass, field
from typing import Any
import numpy as np
from fwbench.geometry.combinations import Combinations
from fwbench.solver import SolverEntry
import near_NAME

@dataclass
class Point:
    x: np.ndarray
    steps: int = 0
    done: bool = False
    claim: str | None = None
    counters: dict[str, Any] = field(default_factory=dict)

    def points(self):
        return self.x[None]

    def weights(self):
        return None

@dataclass(frozen=True)
class Mean:
    rate: float = 0.5

    def prepare(self, problem):
        return problem

    def init(self, model, start):
        return Point(model.rows(start.keys)[0].astype(float))

    def advance(self, model, state, steps):
        from late_NAME import part
        for _ in range(steps):
            state.x = state.x + part * self.rate * (model.mean - state.x)
        state.steps += steps

ENTRY = SolverEntry("NAME", Mean, "mean", "here", "linear")
'''

PROBLEM = '''
"""Points of a file; leaves a mark whenever it is built."""
from pathlib import Path
import numpy as np
from fwbench.problem import ProblemEntry, QuadraticOverHull
from points_of import points_of

def make(size: float = 1.0):
    here = Path(__file__).parent
    with open(here / "built", "a") as mark:
        print("NAME", file=mark)
    return QuadraticOverHull(size * points_of(here / "NAME.csv"))

ENTRY = ProblemEntry("NAME", make, "made")
'''

PLAN = ("-p", "red.py", "-p", "blue.py", "-s", "one.py", "-s", "two.py", "-s", "away_steps")
ALL = Counter(
    (problem, solver) for problem in ("red", "blue") for solver in ("one", "two", "away_steps")
)


def made(folder):
    """Write two solvers and two problems, with what they import and read."""
    texts = {
        "points_of.py": "import numpy as np\n"
        "def points_of(path):\n"
        "    return np.loadtxt(path, delimiter=',')\n",
        "unrelated.py": "x = 1",
        "unrelated.csv": "1",
    }
    for name in ("one", "two"):
        texts[f"{name}.py"] = SOLVER.replace("NAME", name)
        texts[f"near_{name}.py"] = f"import far_{name}"
        texts[f"far_{name}.py"] = "x = 1"
        texts[f"late_{name}.py"] = "part = 1.0"
    for number, name in enumerate(("red", "blue")):
        texts[f"{name}.py"] = PROBLEM.replace("NAME", name)
        texts[f"{name}.csv"] = points(number)
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)


def points(seed):
    rows = np.random.default_rng(seed).normal(size=(6, 2)) + 1
    return "".join(f"{x!r},{y!r}\n" for x, y in rows.tolist())


def here(words):
    """Run a command line in this process; return its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["fwbench", *words])
        with pytest.raises(SystemExit) as end:
            main()
    return end.value.code


def apart(words):
    """Run a command line in a process of its own, which sees fwbench as it is now."""
    done = subprocess.run(
        [sys.executable, "-m", "fwbench", *words], capture_output=True, text=True, timeout=300
    )
    assert "Traceback" not in done.stderr
    return done.returncode


def run_in(folder, *words, code=0, command=here):
    """Run a command line; return what it ran anew and which problems it built."""
    seen, built = len(lines(folder)), folder / "built"
    built.write_text("")
    assert command(["run", *words, "--out", str(folder / "r"), "--no-report"]) == code
    rows = [json.loads(line)["record"]["row"] for line in lines(folder)[seen:]]
    ran = Counter((row["instance_label"], row["solver_label"]) for row in rows)
    return ran, set(built.read_text().split())


def lines(folder):
    journal = folder / "r" / "journal.jsonl"
    return journal.read_text().splitlines() if journal.exists() else []


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Return the folder of work, and a copy of it as it is when all runs have been made."""
    work = tmp_path_factory.mktemp("resume") / "work"
    made(work)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(work)
        assert run_in(work, *PLAN, "--max-steps", "20", "--in-process") == (ALL, {"red", "blue"})
    return work, shutil.copytree(work, work.with_name("kept"))


@pytest.fixture
def folder(places, monkeypatch):
    """Return the folder of work as it was; a problem's note holds the path of its data."""
    work, kept = places
    shutil.rmtree(work)
    shutil.copytree(kept, work)
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def finished(folder):
    """Return what runs a command line there."""
    return partial(run_in, folder)


def of_solver(name):
    return Counter(key for key in ALL if key[1] == name)


def of_problem(name):
    return Counter(key for key in ALL if key[0] == name)


# -- nothing to do ---------------------------------------------------------------------------


def test_what_is_done_is_not_done_again_and_builds_no_problem(finished, folder, monkeypatch):
    before = (folder / "r" / "journal.jsonl").read_bytes()
    assert finished("--resume") == (Counter(), set())
    again = ("--max-steps", "20", "--resume", "--in-process")
    assert finished(*PLAN, *again) == (Counter(), set())
    reordered = [word for name in ("away_steps", "two.py", "one.py") for word in ("-s", name)]
    assert finished("-p", "blue.py", "-p", "red.py", *reordered, *again) == (Counter(), set())
    absolute = [str(folder / word) if word.endswith(".py") else word for word in PLAN]
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert finished(*absolute, *again) == (Counter(), set())
    assert finished("--resume") == (Counter(), set())
    assert (folder / "r" / "journal.jsonl").read_bytes() == before


def test_what_nobody_imports_or_reads_may_change(finished):
    Path("unrelated.py").write_text("x = 2")
    Path("unrelated.csv").write_text("2")
    Path("new.py").write_text("import one")
    assert finished("--resume") == (Counter(), set())


# -- exactly what depends on it --------------------------------------------------------------


@pytest.mark.parametrize("edited", ["one.py", "near_one.py", "far_one.py"])
def test_an_edit_of_a_solver_or_of_what_it_imports_repeats_its_runs(finished, edited):
    path = Path(edited)
    path.write_text(path.read_text() + "\n# edited\n")
    assert finished("--resume")[0] == of_solver("one")
    assert finished("--resume") == (Counter(), set())


def test_an_edit_of_what_a_solver_imports_late_changes_its_numbers(finished, folder):
    def values():
        rows = [json.loads(line)["record"]["row"] for line in lines(folder)]
        return {row["instance_label"]: row["value"] for row in rows if row["solver"] == "two"}

    before = values()
    Path("late_two.py").write_text("part = 0.1")
    assert finished("--resume")[0] == of_solver("two")
    after = values()
    assert all(after[name] != before[name] for name in ("red", "blue"))


def test_an_edit_of_a_data_file_repeats_the_runs_on_its_problem(finished):
    Path("blue.csv").write_text(points(7))
    assert finished("--resume") == (of_problem("blue"), {"blue"})
    assert finished("--resume") == (Counter(), set())


def test_a_comment_in_a_problem_builds_it_again_and_repeats_nothing(finished):
    path = Path("red.py")
    path.write_text(path.read_text() + "\n# the same bytes come out\n")
    assert finished("--resume") == (Counter(), {"red"})


def test_an_edit_of_what_problems_import_repeats_what_comes_out_otherwise(finished):
    path = Path("points_of.py")
    path.write_text(path.read_text() + "# a comment\n")
    assert finished("--resume") == (Counter(), {"red", "blue"})
    path.write_text(
        "import numpy as np\n"
        "def points_of(path):\n"
        "    return np.loadtxt(path, delimiter=',') + (path.stem == 'red')\n"
    )
    assert finished("--resume") == (of_problem("red"), {"red", "blue"})


def test_a_data_file_that_is_gone_fails_its_runs_until_it_is_back(finished):
    kept = Path("red.csv").read_bytes()
    Path("red.csv").unlink()
    assert finished("--resume", code=1)[0] == of_problem("red")
    Path("red.csv").write_bytes(kept)
    assert finished("--resume")[0] == of_problem("red")
    assert finished("--resume") == (Counter(), set())


def test_points_that_have_changed_are_another_instance(folder):
    shutil.rmtree("r")
    run = partial(run_in, folder)
    run("-p", "red.csv", "-s", "one.py", "-p", "blue.csv", "--max-steps", "20", "--in-process")
    assert run("--resume")[0] == Counter()
    Path("red.csv").write_text("1,2\n3,4\n")
    [(key, count)] = run("--resume", code=1)[0].items()
    assert count == 1
    assert key[0].startswith("file[path=red.csv")
    assert "its content has changed" in lines(folder)[-1]


def test_another_version_of_a_numerical_library_repeats_all(finished, monkeypatch):
    versions = importlib.metadata.version

    def forget():
        for remembered in (sources._version, sources.numerics):
            remembered.cache_clear()

    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "0" if name == "llvmlite" else versions(name)
    )
    forget()
    try:
        assert finished("--resume")[0] == ALL
    finally:
        monkeypatch.undo()
        forget()


def test_another_budget_is_another_run(finished):
    more = ("-p", "red.py", "-p", "blue.py", "-s", "one.py", "--max-steps", "21", "--resume")
    assert finished(*more, "--in-process", code=2)[0] == Counter()  # of another question


# -- in processes of their own ---------------------------------------------------------------


@pytest.mark.slow
def test_runs_in_other_processes_resume_likewise(folder):
    shutil.rmtree("r")
    run = partial(run_in, folder, command=apart)
    plan = ("-p", "red.py", "-p", "blue.py", "-s", "one.py", "-s", "two.py", "--max-steps", "20")
    assert run(*plan)[0] == of_solver("one") + of_solver("two")
    assert run("--resume") == (Counter(), set())
    Path("far_one.py").write_text("x = 2")
    assert run("--resume")[0] == of_solver("one")
