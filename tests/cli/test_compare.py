"""``fwbench compare`` and ``fwbench history``: exit codes, outputs, regressions run for real."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fwbench as fw

from .made_regressions import (
    AWAY,
    ELSEWHERE,
    FORGETS_TO_CAP,
    NEVER_DROPS,
    TWICE_THE_CALLS,
    WALK,
    edited,
)

WELL, WORSE, WRONG_USE, INCONCLUSIVE = 0, 1, 2, 3
PROBLEMS = ("min_norm_point[n=30,d=4,shift=1]", "polygon[k=5,norms=vary]")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a run folder of two runs; nobody writes into it."""
    folder = tmp_path_factory.mktemp("compare") / "a"
    solvers = ["away_steps", "frank_wolfe[step=exact]"]
    fw.run(
        problems=["min_norm_point[n=30,d=4,shift=1]"],
        solvers=solvers,
        out=folder,
        max_steps=200,
        jobs=None,
    )
    return folder


@pytest.fixture
def pair(fwbench, made):
    """Put two copies, a and b, into the working folder."""
    for name in "ab":
        shutil.copytree(made, name)
    return Path("a"), Path("b")


def edit(folder, change):
    path = Path(folder) / "runs.parquet"
    table = pd.read_parquet(path)
    changed = change(table)
    (table if changed is None else changed).to_parquet(path)


def tenfold(table):
    table.loc[table.solver == "away_steps", ["gap", "gap_relative", "steps"]] *= 10


def slower(table):
    table["seconds"] *= 2
    table["noisy"] = False


# -- verdicts and exit codes -------------------------------------------------------------------


def test_a_copy_is_the_same(fwbench, pair):
    done = fwbench("compare", "a", "b")
    assert done.code == WELL, done
    assert "The same: 2 comparisons, all exact quantities equal" in done.out
    content = fwbench("compare", "a", "b", "--json").json
    assert content["outcome"] == "same"
    assert content["exit"] == 0
    assert content["changes"] == []
    assert {timing["reason"] for timing in content["timings"]} == {"the same measurements"}


def test_an_edited_table_is_compared_as_it_stands(fwbench, pair):
    edit("b", tenfold)
    done = fwbench("compare", "a", "b")
    assert done.code == WORSE
    assert "away_steps" in done.out
    content = fwbench("compare", "a", "b", "--json").json
    named = {(change["solver"], change["quantity"]) for change in content["changes"]}
    assert ("away_steps", "steps until certified") in named
    assert all(solver == "away_steps" for solver, _ in named)
    assert fwbench("compare", "b", "a").code == WELL  # the other way round it is better


def test_one_timing_tells_nothing_and_exact_quantities_need_none(fwbench, pair):
    edit("b", slower)
    done = fwbench("compare", "a", "b")
    assert done.code == INCONCLUSIVE
    assert "8 needed" in done.out or "not quiet" in done.out
    done = fwbench("compare", "a", "b", "--only", "exact", "--json")
    assert done.code == WELL
    assert done.json["timings"] is None


def test_repetitions_tell_slower(fwbench, made):
    """Twelve made repetitions, 30 % slower, in tables alone."""
    rng = np.random.default_rng(0)
    for name, factor in (("a", 1.0), ("b", 1.3)):
        shutil.copytree(made, name)
        (Path(name) / "journal.jsonl").unlink()
        table = pd.read_parquet(f"{name}/runs.parquet").iloc[[0] * 12].reset_index(drop=True)
        table["repetition"] = range(12)
        table["run_id"] = [f"r{i}" for i in range(12)]
        table["seconds"] = 1e-3 * factor * np.exp(np.abs(rng.normal(0, 0.01, 12)))
        table["setup_seconds"] = None
        table[["noisy", "shared"]] = False
        table.to_parquet(f"{name}/runs.parquet")
    done = fwbench("compare", "a", "b")
    assert done.code == WORSE
    assert "Timings: 1 slower, 0 faster" in done.out
    assert fwbench("compare", "b", "a").code == WELL


def test_what_is_missing_is_inconclusive(fwbench, pair):
    edit("b", lambda table: table.iloc[:1])
    (Path("b") / "journal.jsonl").unlink()
    done = fwbench("compare", "a", "b", "--only", "exact")
    assert done.code == INCONCLUSIVE
    assert "Missing: 1" in done.out
    done = fwbench("compare", "b", "a", "--only", "exact")
    assert done.code == WELL
    assert "New: 1" in done.out


def test_runs_with_nothing_in_common_are_inconclusive(fwbench, pair):
    fw.run(problems=["polygon[k=4]"], solvers=["frank_wolfe"], out="c", max_steps=5, jobs=None)
    done = fwbench("compare", "a", "c")
    assert done.code == INCONCLUSIVE
    assert "nothing in a and c can be matched" in done.out
    (Path("c") / "runs.parquet").unlink()
    done = fwbench("compare", "a", "c")
    assert "c: runs.parquet is missing; read from the journal" in done.out


def test_strict(fwbench, pair):
    edit("b", lambda table: table.__setitem__("rate_class", "undetermined"))
    assert fwbench("compare", "a", "b", "--only", "exact").code == WELL
    assert fwbench("compare", "a", "b", "--only", "exact", "--strict").code == WORSE


# -- outputs -----------------------------------------------------------------------------------


def test_markdown_is_printed_or_written(fwbench, pair):
    edit("b", tenfold)
    printed = fwbench("compare", "a", "b", "--markdown")
    assert printed.out.startswith("**fwbench: worse**")
    done = fwbench("compare", "a", "b", "--markdown", "c.md", "--html", "c.html")
    assert done.code == printed.code == WORSE
    assert Path("c.md").read_text() == printed.out
    assert "Worse:" in done.out
    assert "Comparison: worse" in Path("c.html").read_text()
    both = fwbench("compare", "a", "b", "--markdown", "c.md", "--json")
    assert both.json["exit"] == WORSE


def test_a_link_stays_what_it_is(fwbench, pair):
    Path("there.md").touch()
    Path("link.md").symlink_to("there.md")
    fwbench("compare", "a", "b", "--markdown", "link.md")
    assert Path("link.md").is_symlink()
    assert Path("there.md").read_text().startswith("**fwbench")
    Path("full").symlink_to("/dev/full")
    done = fwbench("compare", "a", "b", "--html", "full")
    assert done.code == WRONG_USE
    assert "the disk is full" in done.err
    assert Path("full").is_symlink()


def test_to_compare_is_not_to_write(fwbench, pair):
    def contents():
        return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}

    before = contents()
    fwbench("compare", "a", "b")
    assert contents() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a"], "two results, BASE and NEW; got 1"),
        (["a", "b", "c"], "got 3"),
        ([], "got 0"),
        (["a", "nowhere"], "there is no run folder or file nowhere"),
        (["a", "empty"], "holds no manifest.json"),
        (["a", "x.txt"], "holds no JSON"),
        (["--baseline", "a"], "ran no suite"),
        (["--baseline", "a", "b"], "one result, NEW; got 2"),
        (["a", "--write-baseline", "x.json"], "ran no suite"),
        (["a", "b", "--only", "time"], "'time' is not 'exact'"),
        (["a", "b", "--json", "--markdown"], "both print"),
        (["a", "b", "--html", "nowhere/x.html"], "cannot be written"),
        (["a", "bench.json"], "nothing in them can be matched"),
    ],
)
def test_wrong_use_is_a_sentence(fwbench, pair, words, said):
    Path("empty").mkdir()
    Path("x.txt").write_text("no JSON")
    stats = dict.fromkeys(("min", "max", "mean", "median"), 1.0)
    some = [{"name": "t", "fullname": "t", "stats": stats}]
    Path("bench.json").write_text(json.dumps({"benchmarks": some}))
    done = fwbench("compare", *words)
    assert done.code == WRONG_USE
    assert said in done.err


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "1e9"])
def test_the_seconds_of_a_gate_are_some(fwbench, seconds):
    assert fwbench("gate", "--base", "HEAD", "--seconds", seconds).code == WRONG_USE


def test_a_gate_without_a_base_says_how_to_give_one(fwbench):
    done = fwbench("gate", "main")
    assert done.code == WRONG_USE
    assert "got neither; 'main' stands for a suite, a revision is --base main" in done.err


# -- regressions of a user's solvers, run for real ---------------------------------------------


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """Return a run folder of both made solvers, as they should be."""
    return executed(tmp_path_factory.mktemp("usual"), AWAY, WALK)


def executed(folder, away, walk):
    folder.mkdir(exist_ok=True)
    (folder / "away.py").write_text(away)
    (folder / "walk.py").write_text(walk)
    files = [str(folder / name) for name in ("away.py", "walk.py")]
    fw.run(problems=PROBLEMS, solvers=files, out=folder / "run", max_steps=300)
    return folder / "run"


def planted(fwbench, usual, tmp_path, away, walk):
    """Return what compare finds, by solver: verdicts of quantities that are bad."""
    made = executed(tmp_path / "planted", away, walk)
    done = fwbench("compare", str(usual), str(made), "--only", "exact", "--json")
    bad: dict[str, dict[str, str]] = {}
    for change in done.json["changes"]:
        if change["alarm"]:
            bad.setdefault(change["solver"], {})[change["quantity"]] = change["verdict"]
    return done.code, bad


def test_the_same_code_again_is_the_same(fwbench, usual, tmp_path):
    assert planted(fwbench, usual, tmp_path, AWAY, WALK) == (WELL, {})


def test_a_wrong_drop_step_that_is_only_slow_is_named(fwbench, usual, tmp_path):
    code, bad = planted(fwbench, usual, tmp_path, edited(AWAY, *NEVER_DROPS), WALK)
    assert code == WORSE
    assert set(bad) == {"away"}
    assert {"status", "certified gap", "steps to 1e-08"} <= set(bad["away"])


def test_a_wrong_drop_step_that_leaves_the_hull_is_named(fwbench, usual, tmp_path):
    code, bad = planted(fwbench, usual, tmp_path, edited(AWAY, FORGETS_TO_CAP), WALK)
    assert (code, bad) == (WORSE, {"away": {"status": "worse"}})


def test_a_solver_that_rests_elsewhere_is_named(fwbench, usual, tmp_path):
    code, bad = planted(fwbench, usual, tmp_path, AWAY, edited(WALK, ELSEWHERE))
    assert code == WORSE
    assert set(bad) == {"walk"}
    assert bad["walk"]["fixed point"] == "worse"


def test_twice_the_oracle_calls_in_the_same_time_are_named(fwbench, usual, tmp_path):
    twice = [edited(source, TWICE_THE_CALLS) for source in (AWAY, WALK)]
    code, bad = planted(fwbench, usual, tmp_path, *twice)
    assert code == WORSE
    assert set(bad) == {"away", "walk"}
    assert all(name.startswith("oracle calls") for found in bad.values() for name in found)


# -- baseline and history ----------------------------------------------------------------------

SUITE = """
name = "small"
version = 3
description = "made"
[[block]]
problems = ["min_norm_point[n=20,d=3,shift=1]", "polygon[k=4]"]
solvers = ["away_steps", "vertex_enumeration"]
max_steps = 100
"""


def test_a_baseline_is_written_and_checked_against(fwbench, monkeypatch):
    Path("small.toml").write_text(SUITE)
    done = fwbench("run", "small.toml", "--in-process", "--no-report", "--out", "r")
    assert done.code == WELL, done
    done = fwbench("compare", "r", "--write-baseline", "shipped/small@3.json")
    assert (done.code, done.out) == (WELL, "shipped/small@3.json\n")
    assert fwbench("compare", "--baseline", "r").code == WRONG_USE
    monkeypatch.setattr("fwbench.comparing.PLACES", (Path("shipped"),))
    done = fwbench("compare", "--baseline", "r", "--only", "exact")
    assert done.code == WELL, done
    assert "baseline" in done.out
    assert fwbench("compare", "shipped/small@3.json", "r", "--only", "exact").code == WELL
    edit("r", tenfold)
    done = fwbench("compare", "--baseline", "r", "--only", "exact")
    assert done.code == WORSE
    assert "away_steps" in done.out


def test_a_history_is_drawn(fwbench, pair):
    Path("all").mkdir()
    for place, name in enumerate(("a", "b")):
        shutil.move(name, f"all/{name}")
        path = Path(f"all/{name}/manifest.json")
        manifest = json.loads(path.read_text()) | {"created": f"2026-01-0{place + 1}T00:00:00"}
        path.write_text(json.dumps(manifest))
    edit("all/b", tenfold)
    Path("all/c").mkdir()
    Path("all/c/manifest.json").write_text("{")
    done = fwbench("history", "all")
    assert done.code == WELL, done
    assert "2 run folders: 2 changes of exact quantities" in done.out
    assert "left out: all/c" in done.out
    assert done.out.splitlines()[-1] == "all/history/history.html"
    assert "away_steps" in Path("all/history/history.html").read_text()
    assert sorted(path.suffix for path in Path("all/history/figures").iterdir()) == [
        ".pdf", ".pdf", ".png", ".png"
    ]  # fmt: skip
    content = fwbench("history", "all", "--json").json
    assert {step["quantity"] for step in content["steps"]} == {"steps", "gap"}


def test_a_history_of_nothing_is_a_sentence(fwbench, pair):
    Path("none").mkdir()
    for words, said in (
        (["a"], "a is a run folder; history takes the folder that holds some"),
        (["none"], "holds no run folder that can be read"),
        (["nowhere"], "nowhere cannot be read"),
    ):
        done = fwbench("history", *words)
        assert done.code == WRONG_USE
        assert said in done.err
