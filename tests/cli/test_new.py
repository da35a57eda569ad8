import subprocess
import sys
from pathlib import Path

import pytest

from fwbench import names
from fwbench.cli.new import TEMPLATES

DONE, FAILED, WRONG_USE = 0, 1, 2
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("what", ["solver", "problem"])
def test_a_new_file_passes_check_at_once(fwbench, what):
    done = fwbench("new", what, "my_own")
    assert done.code == DONE
    commands = [line.split()[:2] for line in done.out.splitlines() if line.startswith("  ")]
    assert commands == [["fwbench", "check"], ["fwbench", "run"]]
    checked = fwbench("check", "my_own.py", "--json")
    found = checked.json
    assert checked.code == DONE, found
    assert (found["group"], found["name"], found["passed"]) == (f"{what}s", "my_own", True)
    standings = {rule["rule"]: rule["standing"] for rule in found["rules"]}
    assert set(standings.values()) <= {"ok", "skipped"}
    skipped = {rule for rule, standing in standings.items() if standing == "skipped"}
    assert skipped == ({"claims", "refuses"} if what == "solver" else set())
    assert [path.name for path in Path().iterdir()] == ["my_own.py"]  # nothing is left behind
    # shown again, for what is typed next
    assert "my_own" in fwbench("describe", "my_own.py").out


def test_new_files_run_together(fwbench):
    fwbench("new", "solver", "my_solver")
    fwbench("new", "problem", "my_problem", "--out", "box.py")
    words = ("-s", "my_solver.py", "-p", "box.py", "--max-steps", "300", "--json", "--no-report")
    rows = fwbench("run", *words, "--out", "r").json["runs"]
    assert [(row["solver_label"], row["instance_label"]) for row in rows] == [
        ("my_solver", "my_problem"),
        ("my_solver", "my_problem[far=0]"),
    ]
    assert all(row["status"] in ("budget", "converged") for row in rows)
    assert all(row["gap_relative"] < 0.02 for row in rows)


@pytest.mark.parametrize("what", ["solver", "problem"])
def test_a_new_file_is_as_tidy_as_the_rest(fwbench, what):
    fwbench("new", what, "a_name_of_some_length")
    path = Path("a_name_of_some_length.py")
    # in a checkout fwbench is the project's own name, which decides the order of imports
    for words in (
        ("check", "--config", 'lint.isort.known-first-party=["fwbench"]'),
        ("format", "--check"),
    ):
        tidy = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--config", str(ROOT / "pyproject.toml"), path],
            capture_output=True, text=True,
        )  # fmt: skip
        assert tidy.returncode == 0, tidy.stdout + tidy.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("class", "a keyword of Python"),
        ("1a", "no name of a Python module"),
        ("a-b", "no name of a Python module"),
        ("../up", "no name of a Python module"),
        ("a.py", "no name of a Python module"),
        ("ärger", "no name of a Python module"),
        ("", "no name of a Python module"),
        ("_own", "start with _"),
        ("away_steps", "one of the solvers already"),
        ("polygon", "one of the problems already"),
        ("auto", "already"),
        ("json", "would be imported in its place"),
        ("numpy", "would be imported in its place"),
        ("weights", "called Weights in its file, which stands for something else"),
        ("combinations", "called Combinations in its file"),
        ("solver_entry", "called SolverEntry in its file"),
        ("none", "called None in its file"),
        ("a" * 61, "at most 60 letters; got 61"),
        ("a" * 300, "at most 60 letters; got 300"),
    ],
)
def test_a_name_that_would_not_be_found_is_refused(fwbench, name, said):
    done = fwbench("new", "solver", name)
    assert done.code == WRONG_USE
    assert said in done.err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", ["np", "float", "QuadraticOverHull", "InvalidParameter", "ENTRY"])
def test_a_problem_is_not_called_as_what_its_file_uses(fwbench, name):
    done = fwbench("new", "problem", name)
    assert done.code == WRONG_USE
    assert f"would be called {name} in its file" in done.err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", ["CLASSY", "MYCLASS", "MYNAME"])
def test_a_name_may_hold_the_words_of_the_template(fwbench, name):
    assert fwbench("new", "solver", name).code == DONE
    text = Path(f"{name}.py").read_text()
    assert f"class {name}:" in text
    assert f'name="{name}",' in text
    assert f"make={name}," in text


def test_a_path_that_is_too_long_is_a_sentence(fwbench):
    done = fwbench("new", "solver", "mine", "--out", "a" * 300 + ".py")
    assert done.code == WRONG_USE
    assert "cannot be written: File name too long" in done.err


def test_every_name_of_the_catalogue_is_taken(fwbench):
    for group in ("solvers", "problems"):
        for name in names.names(group):
            assert fwbench("new", "problem", name).code == WRONG_USE


def test_no_file_is_written_over(fwbench):
    Path("mine.py").write_text("precious")
    Path("link.py").symlink_to("nowhere.py")
    for words in (("mine",), ("link",), ("other", "--out", "mine.py")):
        done = fwbench("new", "solver", *words)
        assert done.code == WRONG_USE
        assert "exists already; nothing was written" in done.err
    assert Path("mine.py").read_text() == "precious"
    assert not Path("nowhere.py").exists()


def test_out_is_a_file_or_a_folder(fwbench):
    Path("folder").mkdir()
    assert fwbench("new", "solver", "mine", "--out", "folder").code == DONE
    assert Path("folder/mine.py").is_file()
    assert "fwbench check 'a b.py'" in fwbench("new", "solver", "mine", "--out", "a b.py").out
    for out, said in (("nowhere/mine.py", "No such file"), ("mine.txt", "end with .py")):
        done = fwbench("new", "solver", "mine", "--out", out)
        assert done.code == WRONG_USE
        assert said in done.err
        assert not Path(out).exists()


def test_templates_leave_room_for_a_name():
    for path in TEMPLATES.iterdir():
        text = path.read_text(encoding="utf-8")
        for word in ("NAME", "ENTRY = ", "Raises" if "problem" in path.name else "CLASS"):
            assert word in text
        named = [line for line in text.splitlines() if "NAME" in line or "CLASS" in line]
        assert max(map(len, named)) <= 80, "a name may be longer than NAME"
