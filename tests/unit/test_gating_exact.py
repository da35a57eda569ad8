"""Exact results of both sides: commands that fail, hang, or write nothing."""

import os
from pathlib import Path

import psutil
import pytest

import fwbench as fw
from fwbench.errors import GateError, RunFolderError
from fwbench.gating.code import Code
from fwbench.gating.exact import Question, results


@pytest.fixture
def room(tmp_path):
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


@pytest.fixture
def side(tmp_path, monkeypatch):
    """Return what makes a side whose interpreter is a shell script."""
    monkeypatch.setattr(Code, "environment", lambda code, hash_seed: dict(os.environ))

    def made(name: str, script: str) -> Code:
        python = tmp_path / f"python-{name}"
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
        return Code(name, python, None, tmp_path, tmp_path / "kernels")

    return made


def test_a_side_that_cannot_run_is_named_with_its_last_words(room, side):
    bad = side("old", "echo first; echo \"fwbench: no solver is called 'x'\" >&2; exit 2")
    with pytest.raises(GateError, match=r"the base, old, cannot run this: .*no solver is called"):
        results(bad, side("new", "exit 0"), Question(named=(("-s", "x"),)), room)
    silent = side("silent", "exit 3")
    with pytest.raises(GateError, match=r"the base, silent, .* ended with 3 and said nothing"):
        results(silent, silent, Question(), room)


def test_the_question_reaches_the_command(room, side):
    told = side("told", 'echo "$@"; exit 2')
    with pytest.raises(GateError, match="-m fwbench run quick --tol 1e-6 --no-report --out"):
        results(told, told, Question(("quick", "--tol", "1e-6")), room)


def test_where_one_side_fails_the_other_one_is_ended(room, side, tmp_path):
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    base = side("base", f"read pid < {begun}; echo $pid > {tmp_path}/pid; exit 2")
    hangs = side("hangs", f"echo $$ > {begun}; exec sleep 600")
    with pytest.raises(GateError, match="the base"):
        results(base, hangs, Question(), room)
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


# -- what one side alone has -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "run"
    fw.run(problems=["polygon[k=4]"], solvers=["frank_wolfe"], out=out, max_steps=5, jobs=None)
    return out


@pytest.fixture
def lacks(side, run_folder, tmp_path):
    """Return what makes a side that refuses a text, and else gives a run folder."""

    def made(name, text):
        return side(
            name,
            f'echo "$*" >> {tmp_path}/{name}.asked\n'
            f'case "$*" in *{text}*) echo no file {text} >&2; exit 2;; *--dry-run*) exit 0;; esac\n'
            f'for last; do :; done; cp -r {run_folder} "$last"',
        )

    return made


def test_a_solver_that_the_base_lacks_is_left_out_there(room, lacks, tmp_path):
    asked = Question(("--tol", "1e-6"), (("-s", "mine.py"), ("-s", "frank_wolfe")))
    base, new = results(lacks("old", "mine.py"), lacks("new", "nothing"), asked, room)
    assert base.notes == ("the base lacks mine.py: no file mine.py",)
    assert new.notes == ()
    last = {
        name: (tmp_path / f"{name}.asked").read_text().splitlines()[-1] for name in ("old", "new")
    }
    assert last["old"].startswith("-m fwbench run --tol 1e-6 -s frank_wolfe --no-report")
    assert last["new"].startswith("-m fwbench run --tol 1e-6 -s mine.py -s frank_wolfe --no-report")
    assert len(base.runs) == len(new.runs) > 0


def test_a_problem_that_the_new_side_lacks_is_left_out_there(room, lacks):
    asked = Question(named=(("-p", "gone.csv"), ("-p", "polygon"), ("-s", "frank_wolfe")))
    _, new = results(lacks("old", "nothing"), lacks("new", "gone.csv"), asked, room)
    assert new.notes == ("the new side lacks gone.csv: no file gone.csv",)


def test_what_both_sides_lack_is_a_slip(room, lacks):
    asked = Question(named=(("-s", "mien.py"), ("-s", "frank_wolfe")))
    with pytest.raises(GateError, match=r"the base, old, cannot run this: no file mien.py"):
        results(lacks("old", "mien.py"), lacks("new", "mien.py"), asked, room)


def test_a_side_with_nothing_left_to_run_cannot_be_gated(room, lacks):
    asked = Question(named=(("-s", "mine.py"), ("-p", "polygon")))
    with pytest.raises(GateError, match=r"the base, old, cannot run this: no file mine.py"):
        results(lacks("old", "mine.py"), lacks("new", "nothing"), asked, room)


# -- what goes wrong -------------------------------------------------------------------------------


def test_a_command_that_wrote_nothing_is_said(room, side):
    nothing = side("nothing", "exit 0")
    with pytest.raises(RunFolderError, match="base"):
        results(nothing, nothing, Question(), room)


def test_a_folder_that_is_gone_is_said(side):
    nothing = side("nothing", "exit 0")
    with pytest.raises(RunFolderError, match="cannot be written"):
        results(nothing, nothing, Question(), Path("/nowhere/at/all"))
