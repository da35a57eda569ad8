"""``fwbench report``: one folder again, several side by side, and where either is written."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

import fwbench as fw

SMALL = "min_norm_point[n=10,d=2,shift=1]"
DONE, WRONG_USE = 0, 2


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    for name, solver in (("before", "away_steps"), ("after", "pairwise")):
        solvers = (solver, "frank_wolfe[step=exact]")
        fw.run(problems=SMALL, solvers=solvers, out=folder / name, max_steps=20, jobs=None)
    return folder


@pytest.fixture
def ran(fwbench, made):
    for name in ("before", "after"):
        shutil.copytree(made / name, name)


def contents(folder):
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_several_folders_become_one_report(fwbench, ran):
    inputs = contents("before") | contents("after")
    done = fwbench("report", "before", "after", "--out", "both", "--format", "html,md,latex")
    assert done.code == DONE, done.err
    assert done.out.splitlines()[:3] == ["both/report.html", "both/summary.md", "both/report.tex"]
    for name in ("report.html", "summary.md", "report.tex"):
        text = (Path("both") / name).read_text()
        assert "before beside after" in text
        assert "pairwise" in text
    assert r"exact{]} $\cdot$ after}" in Path("both/report.tex").read_text()
    assert "frank_wolfe[step=exact] · after" in Path("both/summary.md").read_text()
    runs = pd.read_parquet("both/runs.parquet")
    assert set(runs["folder"]) == {"before", "after"}
    assert "frank_wolfe[step=exact] · after" in set(runs["solver_label"])
    told = json.loads(Path("both/folders.json").read_text())
    assert [folder["name"] for folder in told["folders"]] == ["before", "after"]
    assert told["folders"][1]["command"] == json.loads(
        Path("after/manifest.json").read_text()
    )["command"]  # fmt: skip
    assert contents("before") | contents("after") == inputs


def test_without_a_place_it_stands_beside_the_first(fwbench, ran):
    Path("sub").mkdir()
    Path("before").rename("sub/before")
    for number in (1, 2):
        done = fwbench("report", "sub/before", "after", "--format", "md")
        assert done.code == DONE, done.err
        assert len(list(Path("sub").glob("compared-*/summary.md"))) == number


def test_a_report_that_stands_there_is_written_over_only_when_asked_for(fwbench, ran):
    words = ("report", "before", "after", "--out", "both", "--format", "md")
    assert fwbench(*words).code == DONE
    before = contents("both")
    refused = fwbench(*words)
    assert refused.code == WRONG_USE
    assert refused.err == "fwbench: both exists; --fresh writes a new report over it\n"
    assert fwbench(*words, "--fresh").code == DONE
    assert contents("both") == before


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("before", "is a run folder with a report of its own"),
        ("after", "is a run folder with a report of its own"),
        ("full", "is not empty and holds no report on run folders"),
        ("file", "is a file, not a folder for a report"),
        ("file/sub", "cannot be"),
    ],
)
def test_no_other_folder_is_written_into(fwbench, ran, out, said):
    Path("full").mkdir()
    Path("full/mine.txt").write_text("mine")
    Path("file").write_text("mine")
    before = contents(".")
    for fresh in ((), ("--fresh",)):
        done = fwbench("report", "before", "after", "--out", out, *fresh)
        assert done.code == WRONG_USE
        assert said in done.err
    assert contents(".") == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["before", "before"], "before is the folder before, given twice"),
        (["before", "./before/"], "given twice"),
        (["before", "nowhere"], "nowhere holds no journal.jsonl: not a run folder?"),
        (["before", "--fresh"], "--fresh goes with --out"),
        (["before", "after", "--format", "tex"], "did you mean latex"),
        ([], "Missing argument"),
    ],
)
def test_wrong_use_is_a_sentence_and_writes_nothing(fwbench, ran, words, said):
    before = contents(".")
    done = fwbench("report", *words)
    assert done.code == WRONG_USE
    assert said in done.err
    assert contents(".") == before


def test_one_folder_may_have_its_report_elsewhere(fwbench, ran):
    inputs = contents("before")
    assert fwbench("report", "before", "--out", "sent", "--format", "md").code == DONE
    assert contents("before") == inputs
    assert fwbench("report", "before", "--format", "md").out == "before/summary.md\n"
    assert Path("sent/summary.md").read_bytes() == Path("before/summary.md").read_bytes()
    assert "plan" not in json.loads(Path("sent/folders.json").read_text())
    shown = fwbench("show", "sent")
    assert shown.code == WRONG_USE
    assert "holds a report on run folders, no runs" in shown.err


def test_runs_still_to_be_made_are_counted(fwbench, ran):
    journal = Path("after/journal.jsonl")
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:1]))
    done = fwbench("report", "before", "after", "--out", "both", "--format", "md")
    assert done.code == DONE
    left = f"{len(lines) - 1} of {len(lines)} runs are still to be made"
    assert done.err == f"after: {left}\n"


def test_help_says_what_several_folders_do(fwbench):
    done = fwbench("report", "--help")
    assert done.code == DONE
    for word in ("--out", "--fresh", "latex", "side by side", "compared-DATE-TIME"):
        assert word in done.out
