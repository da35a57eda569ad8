"""Exact results of both sides: commands that fail, hang, or write nothing."""

import os
from pathlib import Path

import psutil
import pytest

from fwbench.errors import GateError, RunFolderError
from fwbench.gating.code import Code
from fwbench.gating.exact import results


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
        results(bad, side("new", "exit 0"), ["-s", "x"], room)
    silent = side("silent", "exit 3")
    with pytest.raises(GateError, match=r"the base, silent, .* ended with 3 and said nothing"):
        results(silent, silent, [], room)


def test_the_question_reaches_the_command(room, side):
    told = side("told", 'echo "$@"; exit 2')
    with pytest.raises(GateError, match="-m fwbench run quick --tol 1e-6 --no-report --out"):
        results(told, told, ["quick", "--tol", "1e-6"], room)


def test_where_one_side_fails_the_other_one_is_ended(room, side, tmp_path):
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    base = side("base", f"read pid < {begun}; echo $pid > {tmp_path}/pid; exit 2")
    hangs = side("hangs", f"echo $$ > {begun}; exec sleep 600")
    with pytest.raises(GateError, match="the base"):
        results(base, hangs, [], room)
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_a_command_that_wrote_nothing_is_said(room, side):
    nothing = side("nothing", "exit 0")
    with pytest.raises(RunFolderError, match="base"):
        results(nothing, nothing, [], room)


def test_a_folder_that_is_gone_is_said(side):
    nothing = side("nothing", "exit 0")
    with pytest.raises(RunFolderError, match="cannot be written"):
        results(nothing, nothing, [], Path("/nowhere/at/all"))
