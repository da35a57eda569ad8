import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import fwbench as fw
from fwbench import names
from fwbench.suite import suites

SMALL = "min_norm_point[n=10,d=2,shift=1]"
MAIN = "from fwbench.cli import main; main()"
DONE, WRONG_USE = 0, 2


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "r"
    solvers = ("away_steps", "hardmax_attention[keys=moving]")
    fw.run(problems=SMALL, solvers=solvers, out=folder, max_steps=50, jobs=None).report()
    return folder


@pytest.fixture
def ran(fwbench, made):
    return Path(shutil.copytree(made, "r"))


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


# -- show ------------------------------------------------------------------------------------


def test_show_prints_each_run_and_who_won(fwbench, ran):
    done = fwbench("show", "r")
    assert done.code == DONE
    assert "hardmax_attention[keys=moving]" in done.out
    assert "Who won where" in done.out
    assert done.err == ""


def test_show_json_has_null_for_what_is_missing(fwbench, ran):
    content = fwbench("show", "r", "--json").json
    away, moving = content["runs"]
    assert moving["suboptimality"] is None
    assert away["suboptimality"] >= 0
    assert away["traceback"] is away["chosen"] is away["signal"] is None
    assert isinstance(away["steps"], int)
    assert {row["run_id"] for row in content["fixed_points"]} == {away["run_id"], moving["run_id"]}
    assert content["winners"][0]["instance_label"] == SMALL
    assert "plan" not in content["manifest"]


def test_to_show_is_not_to_write(fwbench, ran):
    before = contents(ran)
    fwbench("show", "r")
    fwbench("show", "r", "--json")
    assert contents(ran) == before


def test_show_leaves_out_what_is_damaged(fwbench, ran):
    journal = ran / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-30])
    with pytest.warns(UserWarning, match="torn"):
        content = fwbench("show", "r", "--json").json
    assert [row["status"] for row in content["runs"]][1] == "interrupted"


@pytest.mark.parametrize("command", ["show", "report"])
def test_what_is_no_run_folder_is_named(fwbench, command):
    Path("file").touch()
    Path("empty").mkdir()
    for name in ("nowhere", "file", "empty"):
        done = fwbench(command, name)
        assert done.code == WRONG_USE
        assert done.err == f"fwbench: {name} holds no journal.jsonl: not a run folder?\n"


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ('{"schema": 99, "plan": []}', "newer fwbench (schema 99 > 1)"),
        ("{", "manifest.json is damaged"),
        ('{"schema": 1, "plan": [{}]}', "manifest.json is damaged: plan[0] holds no problem"),
    ],
)
def test_a_manifest_that_does_not_read_is_named(fwbench, ran, manifest, said):
    (ran / "manifest.json").write_text(manifest)
    for command in (("show", "r"), ("report", "r"), ("run", "--from", "r", "--out", "again")):
        done = fwbench(*command)
        assert done.code == WRONG_USE
        assert said in done.err


# -- report ----------------------------------------------------------------------------------


KEPT = ("manifest.json", "journal.jsonl", ".lock")  # all else is a view


def test_a_report_is_written_again_alike(fwbench, ran):
    before = contents(ran)
    for path in before:
        if path.name not in KEPT and path.parts[0] != "points":
            (ran / path).unlink()
    done = fwbench("report", "r")
    assert done.code == DONE
    assert "r/report.html" in done.out.splitlines()
    assert contents(ran) == before


def test_a_report_has_the_formats_asked_for(fwbench, ran):
    for path in ("report.html", "summary.md"):
        (ran / path).unlink()
    assert fwbench("report", "r", "--format", "md").out.split() == ["r/summary.md"]
    assert not (ran / "report.html").exists()
    for wrong in ("latx", "", "md,,html"):
        done = fwbench("report", "r", "--format", wrong)
        assert done.code == WRONG_USE
        assert "no report format" in done.err


# -- list and describe -----------------------------------------------------------------------


@pytest.mark.parametrize("group", ["solvers", "problems", "suites", "claims"])
def test_list_names_everything(fwbench, group):
    known = suites() if group == "suites" else names.names(group)
    assert set(fwbench("list", group, "--json").json) == set(known)
    lines = fwbench("list", group).out.splitlines()
    assert sorted(line.split()[0] for line in lines) == sorted(known)
    assert all(len(line.split()) > 2 for line in lines)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("away_steps", ["Lacoste-Julien", "cache_mebibytes = 64", "convex"]),
        ("frank_wolfe[step=exact]", ["step = open_loop(2)"]),
        ("polygon", ["queries = 12    (int)"]),
        ("file", ["path = must be given"]),
        ("quick", ["quick@1", "problems:"]),
        ("MISBEHAVING", ["A solver that does what no solver should"]),
        ("made.py", ["A made problem.", "size = 1    (float)"]),
        ("mine.toml", ["mine@2: by hand", "solvers:  all", "limits:   tol=0.001"]),
    ],
)
def test_describe_says_what_it_is(fwbench, misbehaving, name, said):
    Path("made.py").write_text(
        '"""A made problem."""\nfrom fwbench.problem import ProblemEntry\n'
        'def make(size: float = 1.0): ...\nENTRY = ProblemEntry("made", make, "x")\n'
    )
    Path("mine.toml").write_text(
        'name = "mine"\nversion = 2\ndescription = "by hand"\n'
        '[[block]]\nproblems = ["polygon"]\ntol = 1e-3'
    )
    done = fwbench("describe", misbehaving if name == "MISBEHAVING" else name)
    assert done.code == DONE, done.err
    for words in said:
        assert words in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["describe", "away_step"], "did you mean away_steps"),
        (["describe", "nowhere.py"], "no file nowhere.py"),
        (["describe", "nowhere.toml"], "no suite nowhere.toml"),
        (["describe", ""], "nothing is called ''"),
        (["describe"], "Missing argument"),
        (["list", "solver"], "is not one of"),
        (["list"], "Missing argument"),
        (["shwo", "r"], "No such command"),
        (["show", "a", "b"], "unexpected extra argument"),
    ],
)
def test_wrong_use_is_a_sentence_and_exit_code_2(fwbench, words, said):
    done = fwbench(*words)
    assert done.code == WRONG_USE
    assert said in done.err


def test_help_and_version(fwbench):
    for words in (["--help"], ["-h"], ["--version"], ["run", "--help"], ["show", "-h"]):
        done = fwbench(*words)
        assert done.code == DONE
        assert done.out


# -- in a process of its own -----------------------------------------------------------------


def test_help_and_lists_import_nothing_heavy(tmp_path):
    code = f"""import sys
for words in (["--help"], ["run", "--help"], ["verify", "--help"], ["list", "solvers"],
              ["list", "problems"], ["list", "claims"]):
    sys.argv = ["fwbench", *words]
    try:
        {MAIN}
    except SystemExit as end:
        assert not end.code, end.code
print(sorted({{"numpy", "numba", "rich", "scipy", "pandas", "cvxpy"}} & set(sys.modules)))"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_a_terminal_without_greek_letters_costs_no_run(tmp_path):
    words = ["run", "-p", SMALL, "-s", "frank_wolfe", "--json", "--out", "ü", "--no-report"]
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *words, "--max-steps", "5"],
        capture_output=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == DONE, done.stderr
    assert len(json.loads(done.stdout)["runs"]) == 2
    assert len(pd.read_parquet(tmp_path / "ü" / "runs.parquet")) == 2
