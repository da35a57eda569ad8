import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SMALL = "min_norm_point[n=10,d=2,shift=1]"
DONE, FAILED, WRONG_USE = 0, 1, 2
EXACT = ["steps", "value", "value_centred", "gap", "gap_relative", "scale", "reference_low",
         "reference_high", "suboptimality", "feasibility", "support", "lmo", "gradient", "matvec",
         "drop_steps", "status", "fixed_point", "fixed_point_label", "kind", "n", "d"]  # fmt: skip


def table(folder, name="runs"):
    return pd.read_parquet(Path(folder) / f"{name}.parquet")


# -- the main job ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_comparison_certifies_who_is_optimal_and_repeats_itself(fwbench):
    done = fwbench(
        "run", "-p", "min_norm_point[n=200,d=20,shift=1]",
        "-s", "frank_wolfe[step=open_loop,exact]", "-s", "away_steps",
        "-s", "hardmax_attention", "-s", "projected_gradient",
        "-s", "cvxpy_reference", "--max-steps", "2000", "--out", "r1", "--no-report",
    )  # fmt: skip
    assert done.code == DONE, done.err
    assert done.out == ""
    assert "Who won where" in done.err
    assert "No run failed." in done.err
    runs = table("r1").set_index("solver_label")
    for solver in ("away_steps", "projected_gradient", "cvxpy_reference"):
        assert runs.loc[solver, "gap_relative"] <= 1e-8
    trace = table("r1", "trace").set_index(["run_id", "k"])["value"]
    fw, attention = (trace[runs.loc[s, "run_id"]] for s in ("frank_wolfe", "hardmax_attention"))
    both = fw.index.intersection(attention.index)
    assert len(both) > 50
    scale = runs["scale"].iloc[0]
    np.testing.assert_allclose(fw[both], attention[both], rtol=0, atol=1e-12 * scale)

    shown = fwbench("show", "r1", "--json")
    assert shown.code == DONE
    assert [row["run_id"] for row in shown.json["runs"]] == runs["run_id"].tolist()
    assert set(shown.json["runs"][0]) == set(table("r1").columns)
    assert shown.json["manifest"]["command"].startswith("fwbench run -p 'min_norm_point[")

    assert fwbench("run", "--from", "r1", "--out", "r1b", "--no-report").code == DONE
    pd.testing.assert_frame_equal(table("r1")[EXACT], table("r1b")[EXACT])
    columns = ["run_id", "k", "value", "gap", "lower", "support"]
    pd.testing.assert_frame_equal(table("r1", "trace")[columns], table("r1b", "trace")[columns])


def test_moving_keys_lose_the_origin(fwbench):
    done = fwbench(
        "run", "-p", "token_cloud[name=four-one]",
        "-s", "hardmax_attention[keys=moving,step=open_loop]",
        "-s", "hardmax_attention[keys=fixed,step=open_loop]", "--max-steps", "1000", "--out", "r2",
        "--no-report", "--in-process",
    )  # fmt: skip
    assert done.code == DONE
    runs = table("r2").set_index("params")
    moving, fixed = (
        runs[runs.index.str.contains(f"keys={keys}")].iloc[0] for keys in ("moving", "fixed")
    )
    with np.load(f"r2/points/{moving['run_id']}.npz") as kept:
        np.testing.assert_allclose(kept["points"], 2 / 3, atol=1e-4)
    with np.load(f"r2/points/{fixed['run_id']}.npz") as kept:
        assert np.abs(kept["points"]).max() <= 0.01
    assert (moving["fixed_point"], fixed["fixed_point"]) == ("consensus", "moving")
    assert fixed["steps"] == 1000


@pytest.mark.slow
def test_real_data_is_shipped(fwbench):
    done = fwbench(
        "run",
        "-p",
        "attention_head",
        "-p",
        "digits",
        "--max-steps",
        "60",
        "--out",
        "r3",
        "--no-report",
    )
    assert done.code == DONE, done.err
    runs = table("r3")
    assert set(runs["problem"]) == {"attention_head", "digits"}
    assert set(runs["status"]) <= {"converged", "finished", "budget", "stalled", "skipped"}


def test_points_of_ones_own(fwbench):
    np.savetxt("points.csv", np.random.default_rng(3).normal(size=(50, 3)) + 1, delimiter=",")
    done = fwbench("run", "-p", "points.csv", "-s", "away_steps", "--out", "r4")
    assert done.code == DONE
    [row] = table("r4").to_dict("records")
    assert (row["problem"], row["n"], row["d"]) == ("file", 50, 3)
    for name in ("report.html", "summary.md", "manifest.json", "journal.jsonl", "targets.parquet"):
        assert Path("r4", name).stat().st_size > 100
    assert list(Path("r4/figures").iterdir())
    assert re.search(r"Run folder: r4\nReport: +r4/report.html", done.err)


def test_a_solver_of_ones_own(fwbench, misbehaving):
    source = (
        Path(misbehaving).read_text().replace('SolverEntry("misbehaving"', 'SolverEntry("mine"')
    )
    Path("mine.py").write_text(source)
    done = fwbench(
        "run", "-p", SMALL, "-s", "mine.py", "--max-steps", "5", "--out", "r", "--no-report"
    )
    assert done.code == DONE
    assert table("r")["solver"].tolist() == ["mine"]


# -- failures --------------------------------------------------------------------------------


def test_a_failed_run_is_said_and_sets_the_exit_code(fwbench, misbehaving):
    solvers = ("-s", f"{misbehaving}[mode=raise]", "-s", "away_steps")
    done = fwbench("run", "-p", SMALL, *solvers, "--out", "r", "--no-report")
    assert done.code == FAILED
    assert "What failed" in done.err
    assert f"misbehaving[mode=raise] on {SMALL}: ValueError: no such step" in done.err
    assert table("r")["status"].tolist() == ["error", "converged"]


def test_a_budget_that_is_spent_is_no_failure(fwbench):
    done = fwbench(
        "run",
        "-p",
        SMALL,
        "-s",
        "frank_wolfe",
        "--max-steps",
        "3",
        "--out",
        "r",
        "--no-report",
        "--in-process",
    )
    assert done.code == DONE
    assert set(table("r")["status"]) == {"budget"}


def test_a_problem_that_cannot_be_built_leaves_a_row_a_solver(fwbench):
    Path("nan.csv").write_text("1,2\n3,nan\n")
    done = fwbench(
        "run", "-p", "nan.csv", "-s", "away_steps", "-s", "cvxpy_reference", "--out", "r"
    )
    assert done.code == FAILED
    runs = table("r")
    assert runs["status"].tolist() == ["error", "error"]
    assert runs["reason"].str.contains(r"nan\.csv.*line 2").all()
    assert runs["n"].isna().all()
    assert "InvalidProblem" in Path("r/report.html").read_text()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", "", "empty"),
        ("text.csv", "1,2\nthree,4\n", "'three' in line 2"),
        ("ragged.csv", "1,2\n3\n", "line 2 has 1 value"),
        ("torn.npy", "\x93NUMPY", "can't be read as .npy"),
        ("torn.npz", "PK", "can't be read as .npz"),
        ("torn.parquet", "PAR1", "can't be read as .parquet"),
    ],
)  # fmt: skip
def test_a_file_that_holds_no_points_is_named(fwbench, name, content, said):
    Path(name).write_text(content)
    done = fwbench(
        "run", "-p", name, "-s", "away_steps", "--out", "r", "--no-report", "--in-process"
    )
    assert done.code == FAILED
    [reason] = table("r")["reason"]
    assert name in reason
    assert said in reason


# -- --json ----------------------------------------------------------------------------------


def test_json_stands_alone_on_stdout(fwbench, misbehaving):
    short = ("--max-steps", "3", "--out", "r", "--no-report")
    done = fwbench("run", "-p", SMALL, "-s", f"{misbehaving}[mode=print]", *short, "--json")
    assert done.code == DONE
    assert done.err.count("hello") >= 2  # from Python and from below
    [row] = done.json["runs"]
    assert row["status"] == "budget"
    assert row["suboptimality"] is not None
    assert row["fixed_point_label"] is not None
    assert row["lmo"] is None
    shown = fwbench("show", "r", "--json")
    assert shown.json == done.json


def test_a_plan_is_json_too(fwbench):
    done = fwbench("run", "-p", SMALL, "-s", "frank_wolfe", "--dry-run", "--json")
    assert [task["solver_label"] for task in done.json] == [
        "frank_wolfe",
        "frank_wolfe[step=exact]",
    ]
    assert all(re.fullmatch("[0-9a-f]{16}", task["run_id"]) for task in done.json)


# -- plans and folders -----------------------------------------------------------------------


def test_a_dry_run_writes_nothing(fwbench):
    done = fwbench("run", "--dry-run")
    assert done.code == DONE
    *plan, last = done.out.splitlines()
    assert last == f"{len(plan)} runs, each at most 10 s on the clock"
    assert not list(Path().iterdir())


def test_a_suite_of_ones_own_and_its_folder(fwbench):
    Path("mine.toml").write_text(
        'name = "mine"\n[[block]]\nsolvers = ["frank_wolfe[step=exact]"]\nmax_steps = 5\n'
        f'problems = ["{SMALL}"]\n'
    )
    done = fwbench("run", "mine.toml", "--no-report")
    assert done.code == DONE
    [folder] = Path("reports").iterdir()
    assert re.fullmatch(r"mine-\d{8}-\d{6}", folder.name)
    runs = table(folder)
    assert runs["solver"].tolist() == ["frank_wolfe", "cvxpy_reference"]  # the planner adds it
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["suite"], len(manifest["suite_digest"])) == ("mine@1", 16)


def test_an_existing_folder_needs_a_word(fwbench):
    few = ("run", "-p", SMALL, "-s", "away_steps", "--out", "r", "--no-report", "--in-process")
    assert fwbench(*few).code == DONE
    first = Path("r/journal.jsonl").read_bytes()
    refused = fwbench(*few)
    assert refused.code == WRONG_USE
    assert "--resume does what is missing there, --fresh starts anew" in refused.err
    assert fwbench("run", "--resume", "--out", "r", "--no-report", "--in-process").code == DONE
    assert Path("r/journal.jsonl").read_bytes() == first
    other = fwbench(
        "run", "-p", "polygon", "-s", "vertex_enumeration", "--out", "r", "--resume", "--in-process"
    )
    assert other.code == WRONG_USE
    assert "made by another question" in other.err
    assert fwbench(*few, "--fresh").code == DONE
    assert Path("r/journal.1.jsonl").read_bytes() == first
    assert len(table("r")) == 1


def test_seeds_and_repetitions(fwbench):
    question = ("-p", "min_norm_point[n=10,d=2]", "-s", "away_steps", "--seed", "7")
    done = fwbench("run", *question, "--repeat", "2", "--out", "r", "--no-report", "--in-process")
    assert done.code == DONE
    runs = table("r")
    assert runs["seed"].tolist() == [7, 7]
    assert runs["repetition"].tolist() == [0, 1]
    assert json.loads(Path("r/manifest.json").read_text())["seeds"] == [7]


@pytest.mark.parametrize("out", ["a folder", "ü", "a[1]", "q'u\"o", "deep/er"])
def test_odd_folders_are_fine(fwbench, out):
    assert (
        fwbench(
            "run", "-p", SMALL, "-s", "away_steps", "--out", out, "--no-report", "--in-process"
        ).code
        == DONE
    )
    assert fwbench("show", out).code == DONE


# -- wrong use -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-p", SMALL, "-s", "away_step"], "did you mean away_steps?"),
        (["-p", "poligon"], "did you mean polygon?"),
        (["quik"], "no suite 'quik'; did you mean quick"),
        (["quick", "-p", SMALL], "give a SUITE or -p, not both"),
        (["-p", SMALL, "--tol", "0"], "tol must be a positive number; got 0.0"),
        (["-p", SMALL, "--tol", "nan"], "tol must be a positive number; got nan"),
        (["-p", SMALL, "--tol", "inf"], "tol must be a positive number; got inf"),
        (["-p", SMALL, "--tol", "small"], "'small' is not a valid float"),
        (["-p", SMALL, "--max-steps", "0"], "max_steps must be a positive integer; got 0"),
        (["-p", SMALL, "--max-steps", "1e3"], "not a valid integer"),
        (["-p", SMALL, "--max-seconds", "-1"], "max_seconds must be a positive number"),
        (["-p", SMALL, "--repeat", "0"], "0 is not in the range"),
        (["-p", SMALL, "--seed", "-1"], "-1 is not in the range"),
        (["-p", SMALL, "--seed", "99999999999999999999"], "is not in the range"),
        (["-p", "min_norm_point[n=10"], "must end with the bracket"),
        (["-p", "min_norm_point[n=0..99999999999]"], "at most 10000"),
        (["-p", "min_norm_point[shift=nan]"], "shift must be a number; got 'nan'"),
        (["-p", "min_norm_point[m=3]"], "no parameter 'm'"),
        (["-p", "nowhere.csv"], "no file nowhere.csv"),
        (["-p", SMALL, "-s", "nowhere.py"], "no file nowhere.py"),
        (["-p", SMALL, "-s", "frank_wolfe[step=constant(0)]"], "γ must lie in (0, 1]"),
        (["-p", ""], "no problem is called ''"),
        (["nowhere.toml"], "no suite nowhere.toml"),
        (["--from", "nowhere"], "holds no manifest.json: not a run folder?"),
        (["--from", "r", "--tol", "1"], "give no other choice"),
        (["--from", "r", "--repeat", "2"], "give no other choice"),
        (["--resume"], "--resume goes with --out"),
        (["--resume", "--fresh", "--out", "r"], "--resume goes without --fresh"),
        (["--resume", "--out", "nowhere"], "not a run folder?"),
        (["--jbos", "3"], "No such option"),
    ],
)  # fmt: skip
def test_wrong_use_is_a_sentence_and_exit_code_2(fwbench, words, said):
    done = fwbench("run", *words)
    assert done.code == WRONG_USE
    assert said in done.err
    assert done.out == ""
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("raise RuntimeError('boom')", "mine.py cannot be imported: RuntimeError: boom (line 1)"),
        ("raise SystemExit(3)", "mine.py cannot be imported: SystemExit: 3 (line 1)"),
        ("def x(:", "mine.py cannot be imported: SyntaxError"),
        ("x = 1", "mine.py must end with ENTRY = SolverEntry(...); got None"),
    ],
)
def test_a_solver_file_that_does_not_import_is_named(fwbench, content, said):
    Path("mine.py").write_text(content)
    done = fwbench("run", "-p", SMALL, "-s", "mine.py", "--out", "r")
    assert done.code == WRONG_USE
    assert said in done.err
    assert not Path("r").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[[block]]\nproblems = ["polygon"]\ntolerance = 1', "no key 'tolerance'"),
        (
            '[[block]]\nproblems = ["polygon"]\nmax_steps = 1.5',
            "max_steps must be a positive integer",
        ),
        ('[[block]]\nproblems = ["polygon"]\nsolvers = ["nope"]', "no solver is called 'nope'"),
        ("block = [1, 2]", "a block is a table"),
        ("not toml", "not TOML"),
    ],
)
def test_a_suite_that_does_not_read_is_named(fwbench, content, said):
    Path("mine.toml").write_text(content)
    done = fwbench("run", "mine.toml", "--out", "r")
    assert done.code == WRONG_USE
    assert said in done.err


def test_a_folder_that_is_something_else_is_left_alone(fwbench):
    Path("thesis").mkdir()
    Path("thesis/thesis.tex").touch()
    for word in ("--fresh", "--resume"):
        done = fwbench("run", "-p", SMALL, "-s", "away_steps", "--out", "thesis", word)
        assert done.code == WRONG_USE
        assert "not empty and no run folder" in done.err
    Path("file").touch()
    assert "is a file" in fwbench("run", "-p", SMALL, "-s", "away_steps", "--out", "file").err


# -- what runs may take, and what is there already -------------------------------------------------


@pytest.mark.parametrize("gibibytes", ["nan", "inf", "0", "-1"])
def test_a_limit_of_memory_that_is_none_is_refused(fwbench, gibibytes):
    done = fwbench(
        "run", "-p", SMALL, "-s", "away_steps", f"--max-memory={gibibytes}", "--out", "r"
    )
    assert done.code == WRONG_USE
    assert "max_memory must be a positive number of GiB" in done.err
    assert not Path("r").exists()


def test_what_needs_more_memory_than_is_allowed_says_so(fwbench):
    done = fwbench("run", "-p", SMALL, "-s", "away_steps", "--max-memory", "0.01", "--out", "r",
                   "--no-report")  # fmt: skip
    assert done.code == FAILED
    [row] = table("r").to_dict("records")
    assert row["status"] == "memory"
    assert "run --resume" not in done.err


def test_a_resumed_folder_says_what_was_there(fwbench):
    run = ("run", "-p", SMALL, "-s", "away_steps", "--out", "r", "--no-report", "--in-process")
    assert fwbench(*run).code == DONE
    done = fwbench(*run, "-s", "vertex_enumeration", "--resume")
    assert "1 of 2 runs were there, and nothing has changed" in done.err
    assert "/2] vertex_enumeration on" in done.err
    assert fwbench("run", "--resume", "--out", "r", "--no-report", "--in-process").err.startswith(
        "2 of 2 runs"
    )


def test_a_folder_of_points_is_told_from_one_of_code(fwbench):
    Path("folder").mkdir()
    np.save("folder/part.npy", np.eye(3))
    done = fwbench("run", "-p", "folder", "-s", "away_steps", "--out", "r")
    assert done.code == WRONG_USE
    assert "blocks[path=folder]" in done.err
