import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import fwbench as fw
from fwbench.cli.show import as_text
from fwbench.execution.tasks import Task
from fwbench.findings import build, write_views
from fwbench.journal import line_of
from fwbench.store import RunFolder

MISBEHAVING = str(Path(__file__).parents[1] / "made" / "misbehaving.py")

RUNS = """run_id, problem, instance, seed, n, d, kind, queries, solver, params, chosen, repetition,
    order, status, reason, traceback, signal, steps, seconds, seconds_from, setup_seconds, value,
    value_centred, gap, gap_relative, scale, reference_low, reference_high, suboptimality,
    feasibility, support, lmo, gradient, matvec, drop_steps, fixed_point, fixed_point_label,
    rate_class, rate, rate_low, rate_high, rate_from, rate_to, host, threads, load_before,
    load_after, noisy, steal, peak_memory, frequency_before, frequency_after, attempts, cache_key"""
TRACE = """run_id, k, seconds, value, value_centred, gap, gap_current, lower, support, lmo,
    gradient, matvec, feasibility, spread, value_median, gap_median"""
FIXED_POINTS = "run_id, query, class, label, certified, support, value, gap, stable"
TARGETS = """run_id, measure, target, k_low, k_high, seconds_low, seconds_high, lmo_high"""
TABLES = {"runs": RUNS, "trace": TRACE, "fixed_points": FIXED_POINTS, "targets": TARGETS}
MEASURED = ["steps", "seconds", "setup_seconds", "value", "value_centred", "gap", "gap_relative",
            "suboptimality", "feasibility", "support", "lmo", "gradient", "matvec", "drop_steps",
            "rate", "rate_from", "rate_to"]  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return fw.run(
        problems=[
            "min_norm_point[n=20,d=3,shift=1]",
            "polygon[queries=3]",
            "token_cloud[name=four-one]",
            "attention_head[file=\"\"]",
        ],
        solvers=[
            "cvxpy_reference",
            "away_steps[cache_mebibytes=1]",
            "hardmax_attention[keys=moving,fixed]",
            f"{MISBEHAVING}[mode=raise,nan,outside]",
            "projected_gradient[momentum=none]",
        ],
        out=tmp_path_factory.mktemp("run"),
        repeat=2,
        max_steps=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def runs(results):
    return results.runs


@pytest.fixture
def copied(results, tmp_path):
    for name in ("manifest.json", "journal.jsonl"):
        (tmp_path / name).write_bytes((results.folder / name).read_bytes())
    return RunFolder(tmp_path)


def of(runs, solver, problem, **columns):
    rows = runs[(runs["solver"] == solver) & (runs["problem"] == problem)]
    for name, value in columns.items():
        rows = rows[rows[name] == value]
    return rows.iloc[0]


# -- the files -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_the_columns_are_the_promised_ones(results, name):
    promised = [column.strip() for column in TABLES[name].split(",")]
    stored = pd.read_parquet(results.folder / f"{name}.parquet")
    assert set(promised) <= set(stored.columns)
    if name != "trace":  # which has a column more in between
        assert list(stored.columns[: len(promised)]) == promised
    assert_frame_equal(stored, getattr(results.findings, name))


def test_every_planned_run_has_one_row_in_the_order_of_the_plan(results, runs):
    plan = results.findings.manifest["plan"]
    assert len(plan) == len(runs) == 4 * 8 * 2
    assert sorted(runs["order"]) == list(range(len(plan)))
    assert runs["run_id"].tolist() == [Task.from_dict(task).run_id for task in plan]
    assert runs["run_id"].is_unique
    assert runs["run_id"].str.fullmatch("[0-9a-f]{16}").all()
    assert runs["instance"].tolist() == [task["instance"] for task in plan]
    assert runs["reason"].str.len().min() > 3


@pytest.mark.parametrize("name", ["trace", "targets", "fixed_points"])
def test_tables_follow_the_order_of_the_runs(results, runs, name):
    table = getattr(results.findings, name)
    order = {run_id: place for place, run_id in enumerate(runs["run_id"])}
    assert table["run_id"].map(order).is_monotonic_increasing
    if name == "trace":
        assert (table.groupby("run_id", sort=False)["k"].diff().dropna() > 0).all()


def test_the_same_journal_gives_the_same_findings(results):
    again = build(RunFolder(results.folder))
    for name in (*TABLES, "winners", "agreement"):
        assert_frame_equal(getattr(again, name), getattr(results.findings, name))


def test_views_are_written_again_alike(results, copied):
    for name in TABLES:
        assert not (copied.path / f"{name}.parquet").exists()
    write_views(copied, build(copied))
    for name in TABLES:
        stored = (copied.path / f"{name}.parquet").read_bytes()
        assert stored == (results.folder / f"{name}.parquet").read_bytes()


def test_the_order_of_the_journal_does_not_matter(results, copied):
    journal = copied.path / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[::-1]))
    again = build(copied)
    for name in TABLES:
        assert_frame_equal(getattr(again, name), getattr(results.findings, name))


def test_runs_that_never_started_have_a_row(results, copied):
    journal = copied.path / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:5]))
    found = build(copied).runs
    assert found["run_id"].tolist() == results.runs["run_id"].tolist()
    done = {json.loads(line)["record"]["row"]["run_id"] for line in lines[:5]}
    left = found[~found["run_id"].isin(done)]
    assert len(left) == len(found) - 5
    assert set(left["status"]) == {"interrupted"}
    assert left[MEASURED].isna().all(axis=None)
    assert left["solver_label"].notna().all()


def test_counts_are_kept_to_the_last_digit_beside_nulls(results, copied):
    folder = RunFolder(results.folder)
    records = folder.records()
    records[0]["row"]["lmo"] = 2**63 - 1
    (copied.path / "journal.jsonl").write_bytes(b"".join(map(line_of, records)))
    counts = build(copied).runs.set_index("run_id")["lmo"]
    assert counts[records[0]["row"]["run_id"]] == 2**63 - 1
    assert counts.isna().any()


def test_an_empty_journal_has_findings(copied):
    (copied.path / "journal.jsonl").write_text("")
    found = build(copied)
    assert set(found.runs["status"]) == {"interrupted"}
    assert found.trace.empty
    assert found.winners.empty
    assert found.pictures == ()


TEXTS = """run_id, problem, instance, kind, solver, params, chosen, status, reason, traceback,
    signal, seconds_from, fixed_point, fixed_point_label, rate_class, host, cache_key, solver_label,
    instance_label, rate_signal, rate_reason, library, measure, class, label"""
TYPES = {name.strip(): "string" for name in TEXTS.split(",")} | {
    "noisy": "boolean",
    "shared": "boolean",
    "certified": "boolean",
    "stable": "boolean",
}


@pytest.mark.parametrize("lines", [None, 5, 0])
def test_types_do_not_depend_on_what_is_missing(results, copied, lines):
    journal = copied.path / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:lines]))
    found = build(copied)
    write_views(copied, found)
    for name in TABLES:
        table = getattr(found, name)
        stored = pd.read_parquet(copied.path / f"{name}.parquet")
        assert_frame_equal(stored, table)
        for column, kind in table.dtypes.astype(str).items():
            number = "Int64" if kind == "Int64" else "float64"
            assert kind == TYPES.get(column, number), f"{name}.{column}"
        assert table.dtypes.equals(getattr(results.findings, name).dtypes)
    assert found.runs["noisy"].isna().sum() == (0 if lines is None else 64 - lines)
    assert as_text(found).count("NaN") == as_text(found).count("<NA>") == 0
    shown = json.loads(as_text(found))["runs"]
    assert [type(row["noisy"]) for row in shown].count(bool) == (64 if lines is None else lines)
    empty = [row for row in shown if row["host"] is None]
    assert len(empty) == (0 if lines is None else 64 - lines)
    assert all(row[c] is None for row in empty for c in ("noisy", "traceback", "chosen", "gap"))


# -- null, never 0 ---------------------------------------------------------------------------


def test_what_did_not_run_has_no_numbers(runs):
    idle = runs[runs["status"].isin(["skipped", "error"])]
    assert set(idle["status"]) == {"skipped", "error"}
    steps = idle["steps"].dropna()
    assert (steps == 0).all()  # one that raised at its first step was seen at its start
    assert idle[[name for name in MEASURED if name != "steps"]].isna().all(axis=None)
    assert idle[["fixed_point", "rate_class"]].isna().all(axis=None)
    assert idle[["n", "d", "kind", "scale", "host", "threads"]].notna().all(axis=None)


def test_errors_have_their_traceback(runs):
    errors = runs["status"] == "error"
    assert runs.loc[errors, "traceback"].str.contains("no such step").all()
    assert runs.loc[~errors, "traceback"].isna().all()


def test_a_field_without_potential_has_no_value(results, runs):
    heads = runs[(runs["problem"] == "attention_head") & runs["steps"].notna()]
    assert len(heads) > 4
    nothing = ["value", "value_centred", "reference_low", "reference_high", "suboptimality"]
    assert heads[nothing].isna().all(axis=None)
    trace = results.trace[results.trace["run_id"].isin(heads["run_id"])]
    assert trace[["value", "value_centred", "lower", "suboptimality"]].isna().all(axis=None)
    places = results.fixed_points().table
    assert places.loc[places["run_id"].isin(heads["run_id"]), "value"].isna().all()


def test_counters_that_nobody_keeps_are_null(results, runs):
    row = of(runs, "cvxpy_reference", "min_norm_point")
    assert row[["lmo", "gradient", "matvec", "drop_steps"]].isna().all()
    trace = results.trace[results.trace["run_id"] == row["run_id"]]
    assert trace[["lmo", "gradient", "matvec", "gap_current", "spread"]].isna().all(axis=None)
    assert of(runs, "away_steps", "min_norm_point")["drop_steps"] >= 0
    assert pd.isna(of(runs, "hardmax_attention", "polygon")["drop_steps"])


def test_moving_keys_have_no_suboptimality(results, runs):
    for problem in ("min_norm_point", "polygon", "token_cloud"):
        rows = runs[(runs["problem"] == problem) & runs["params"].str.contains("keys=moving")]
        assert rows["suboptimality"].isna().all()
        trace = results.trace[results.trace["run_id"].isin(rows["run_id"])]
        assert trace["suboptimality"].isna().all()
        assert trace["gap_current"].notna().all()
        targets = results.findings.targets
        assert set(targets.loc[targets["run_id"].isin(rows["run_id"]), "measure"]) == {
            "gap_current"
        }


def test_nothing_that_is_not_finite_is_stored(results):
    for line in (results.folder / "journal.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=lambda text: pytest.fail(text))
    nan = of(results.runs, "misbehaving", "min_norm_point", status="nonfinite")
    assert nan[["value", "gap", "suboptimality", "fixed_point"]].isna().all()
    trace = results.trace[results.trace["run_id"] == nan["run_id"]]
    assert trace["value"].notna().tolist() == [True, False]


# -- what they say ---------------------------------------------------------------------------


def test_the_reference_interval_holds_the_optimum(results, runs):
    rows = runs[(runs["problem"] == "min_norm_point") & (runs["status"] != "skipped")]
    ended = rows[rows["value"].notna()]
    [low], [high] = ended["reference_low"].unique(), ended["reference_high"].unique()
    problem = "min_norm_point[n=20,d=3,shift=1]"
    [task] = {t["problem"] for t in results.findings.manifest["plan"] if "min_norm" in t["problem"]}
    assert task.startswith(problem[:15])
    best = ended.loc[ended["solver"] == "cvxpy_reference", "value"].iloc[0]
    assert low <= best + 1e-12
    assert best <= high + 1e-9
    assert high - low <= 1e-8 * ended["scale"].iloc[0]


def test_suboptimality_is_the_value_above_the_reference(runs):
    rows = runs[runs["suboptimality"].notna()]
    assert set(rows["kind"]) == {"convex", "concave"}
    expected = (rows["value"] - rows["reference_low"]).clip(lower=0)
    np.testing.assert_allclose(rows["suboptimality"], expected, rtol=1e-9, atol=1e-13)


def test_a_run_outside_the_hull_has_no_merit(results, runs):
    rows = runs[runs["status"] == "infeasible"]
    assert set(rows["problem"]) == {"min_norm_point", "token_cloud", "attention_head"}
    assert rows["suboptimality"].isna().all()
    assert rows["feasibility"].min() > 1
    targets = results.findings.targets
    assert targets.loc[targets["run_id"].isin(rows["run_id"]), "k_high"].isna().all()
    winners = results.findings.winners
    won = winners.loc[winners["instance"].str.startswith("min_norm"), "solver_label"].dropna()
    assert len(won)
    assert not won.str.startswith("misbehaving").any()


def test_a_row_a_query_is_summed_up_in_the_run(results, runs):
    places = results.fixed_points().table
    counts = places.groupby("run_id").size()
    rested = runs[runs["fixed_point"].notna()].set_index("run_id")
    judged = rested["judged_queries"].fillna(rested["queries"])
    assert counts.to_dict() == judged.loc[counts.index].to_dict()
    for run_id, group in places.groupby("run_id"):
        classes = set(group["class"])
        expected = classes.pop() if len(classes) == 1 else "mixed"
        assert rested.loc[run_id, "fixed_point"] == expected
    assert not places.loc[places["class"] == "moving", "certified"].any()


def test_consensus_is_found_where_the_theorem_fails(results, runs):
    moving = runs[runs["params"].str.contains("keys=moving") & (runs["problem"] == "token_cloud")]
    assert (moving["value"] > 0.2).all()  # the hull has lost the origin, the optimum


def test_only_solvers_at_rest_agree(results):
    agreement = results.findings.agreement
    assert (agreement["same"] <= agreement["starts"]).all()
    assert (agreement["solver_a"] != agreement["solver_b"]).all()
    convex = agreement[agreement["instance"].str.startswith("min_norm_point")]
    fixed = convex[~(convex["solver_a"] + convex["solver_b"]).str.contains("moving")]
    assert len(fixed[fixed["solver_a"] == "cvxpy_reference"]) >= 1
    assert (fixed["same"] == fixed["starts"]).all()
    assert not convex["solver_a"].str.contains("misbehaving").any()


def test_instances_in_the_plane_have_a_picture(results):
    [picture] = results.findings.pictures
    assert picture.instance.startswith("polygon[")
    assert picture.starts.shape == (3, 2)
    assert picture.hull.shape == (6, 2)
    labels = [label for label, _ in picture.paths]
    assert len(labels) == len(set(labels))
    assert all(path.shape[2] == 2 for _, path in picture.paths)


def test_winners_name_a_run(results, runs):
    winners = results.findings.winners
    won = winners[winners["solver_label"].notna()]
    labels = runs.set_index("run_id")["solver_label"]
    assert (labels.loc[won["run_id"]].to_numpy() == won["solver_label"].to_numpy()).all()
    assert (won["reached"] <= won["of"]).all()
    assert (winners.loc[winners["solver_label"].isna(), "reached"] == 0).all()


# -- several tolerances ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twice")
    block = """[[block]]
problems = ["min_norm_point[n=20,d=3,shift=1]"]
solvers = ["cvxpy_reference", "away_steps"]
tol = {}
"""
    (folder / "two.toml").write_text(block.format("1e-2") + block.format("1e-12"))
    return fw.run(str(folder / "two.toml"), out=folder / "run", jobs=None)


def test_each_run_says_its_tolerance(twice, runs):
    assert twice.runs["tol"].tolist() == [1e-2, 1e-2, 1e-12, 1e-12]
    assert (runs["tol"] == 1e-8).all()


def test_a_solver_stands_once_in_each_comparison(twice):
    assert len(twice.findings.agreement) == 1
    assert twice.findings.agreement["same"].tolist() == [1]
    assert set(twice.findings.winners["of"]) == {2}
    raced = twice.findings.races
    assert raced.groupby("target").size().to_dict() == {1e-4: 2, 1e-8: 2, 1e-12: 2}
    assert raced["seconds"].notna().all()


def test_a_folder_that_measured_no_pass_has_no_costs(copied):
    journal = copied.path / "journal.jsonl"
    records = [json.loads(line)["record"] for line in journal.read_text().splitlines()]
    journal.unlink()
    for record in records:
        record["row"] |= dict.fromkeys(("pass_seconds", "gemv_seconds", "gram_seconds"))
        copied.append(record, {})
    assert build(copied).costs.empty


def test_missing_points_cost_pictures_alone(copied):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = build(copied)
    assert found.pictures == ()
    assert found.agreement.empty
    assert len(found.runs) == 64
