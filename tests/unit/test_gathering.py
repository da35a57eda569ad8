"""Several run folders side by side: what is one in both, what is told apart, what stays."""

import json
import os
import shutil
from copy import deepcopy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from fwbench.analysis.growth import sizes
from fwbench.errors import RunFolderError
from fwbench.execution.here import Here
from fwbench.execution.tasks import Task
from fwbench.findings import SHAPES, build, write_views
from fwbench.gathering import _claims, families, gathered, names, together
from fwbench.planning import Question, plan
from fwbench.session import execute
from fwbench.store import RunFolder

# what hangs on the runs of other folders, or says which folder it is
SHARED = ["run_id", "solver_label", "folder", "reference_low", "reference_high", "suboptimality"]
TABLES = ("runs", "trace", "targets", "fixed_points")


def made(path, solvers, problems=("min_norm_point[n=8,d=2,shift=1]",), **limits):
    tasks, _ = plan(Question(problems=problems, solvers=solvers, limits={"max_steps": 40} | limits))
    folder = RunFolder.create(path)
    assert execute(folder, tasks, None, "test", lambda task, row: None, executor=Here())
    return folder


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    return made(tmp_path_factory.mktemp("a") / "before", ("frank_wolfe", "away_steps"))


@pytest.fixture(scope="module")
def after(tmp_path_factory):
    folder = tmp_path_factory.mktemp("b") / "after"
    return made(folder, ("away_steps", "pairwise"), max_steps=400)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    problems = ("polygon[queries=3]", "min_norm_point[n=12,d=3,shift=1]")
    return made(tmp_path_factory.mktemp("c") / "elsewhere", ("frank_wolfe", "away_steps"), problems)


def edited(folder, path, change):
    """Copy a folder whose records, or manifest, are changed in memory."""
    shutil.copytree(folder.path, path)
    copy = RunFolder(path)
    records, manifest = copy.records(), copy.manifest
    change(records, manifest)

    class Edited(RunFolder):
        def records(self):
            return json.loads(json.dumps(records))

        @property
        def manifest(self):
            return json.loads(json.dumps(manifest))

    return Edited(path)


@pytest.fixture(scope="module")
def alone(before, after, elsewhere):
    return {folder.path.name: build(folder) for folder in (before, after, elsewhere)}


@pytest.fixture(scope="module")
def both(before, after):
    return build(before, after)


@pytest.fixture(scope="module")
def apart(before, elsewhere):
    return build(before, elsewhere)


# -- what holds of all folders ---------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_folders_that_share_no_instance_are_put_one_after_the_other(alone, apart, name):
    found = getattr(apart, name).drop(columns="folder", errors="ignore")
    parts = [getattr(alone[folder], name) for folder in ("before", "elsewhere")]
    assert_frame_equal(found, pd.concat(parts, ignore_index=True))


def test_the_order_of_the_folders_changes_the_order_alone(before, after, both):
    one, other = both, build(after, before)
    for name in (*TABLES, "winners", "rates", "rests", "standings"):
        a, b = (getattr(found, name).astype(str) for found in (one, other))
        keys = [*a.columns]
        assert_frame_equal(
            a.sort_values(keys, ignore_index=True), b[keys].sort_values(keys, ignore_index=True)
        )


class Part:
    """A run folder of which some runs are there."""

    def __init__(self, folder, path, kept):
        self.path, self.claims, self.points = path, None, folder.points
        whole = folder.manifest
        plan = [task for i, task in enumerate(whole["plan"]) if i in kept]
        self.manifest = whole | {"plan": plan}
        ids = {Task.from_dict(task).run_id for task in plan}
        self._records = [one for one in folder.records() if one["row"]["run_id"] in ids]

    def records(self):
        return deepcopy(self._records)


subsets = st.sets(st.integers(0, 5), min_size=1)


@settings(max_examples=15, deadline=None)
@given(subsets, subsets)
def test_runs_of_a_folder_stay_what_they_are_beside_any_other(elsewhere, first, second):
    parts = [Part(elsewhere, Path(name), kept) for name, kept in (("a", first), ("b", second))]
    found = together(parts, SHAPES)
    ids = [record["row"]["run_id"] for record in found.records]
    assert len(set(ids)) == len(ids)
    assert found.limits.keys() == set(ids)
    place = {}
    for record in found.records:
        place.setdefault((record["row"]["instance"], record["row"]["solver_label"]), set()).add(
            record["row"]["folder"]
        )
    assert all(len(folders) == 1 for folders in place.values())
    for part in parts:
        mine = [record for record in found.records if record["row"]["folder"] == part.path.name]
        before = gathered(part, SHAPES).records
        for now, then in zip(mine, before, strict=True):
            row, was = now["row"], then["row"]
            assert row["run_id"] in (was["run_id"], f"{was['run_id']} · {part.path.name}")
            label = was["solver_label"]
            assert row["solver_label"] in (label, f"{label} · {part.path.name}")
            assert {**now, "row": None} == {**then, "row": None}
            kept = row.keys() - {"run_id", "solver_label", "folder"}
            assert {name: row[name] for name in kept} == {name: was[name] for name in kept}
            points, old = found.points(row["run_id"]), part.points(was["run_id"])
            assert (points is None) is (old is None)
            assert points is None or all(np.array_equal(points[k], old[k]) for k in old)


def test_tables_of_a_folder_stay_but_for_what_hangs_on_the_reference(alone, both):
    for folder in ("before", "after"):
        mine = both.runs[both.runs["folder"] == folder].reset_index(drop=True)
        rated = [name for name in mine if name.startswith("rate")]
        drop = [*SHARED, *rated]
        assert_frame_equal(
            mine.drop(columns=drop), alone[folder].runs.drop(columns=drop, errors="ignore")
        )
        trace = both.trace[both.trace["run_id"].isin(mine["run_id"])].reset_index(drop=True)
        assert_frame_equal(
            trace.drop(columns=["run_id", "suboptimality"]),
            alone[folder].trace.drop(columns=["run_id", "suboptimality"]),
        )


# -- what is told apart ----------------------------------------------------------------------------


def test_labels_that_occur_twice_are_told_apart_and_others_are_not(alone, both):
    labels = [set(alone[folder].runs["solver_label"]) for folder in ("before", "after")]
    twice = labels[0] & labels[1]
    assert "away_steps" in twice
    assert not {"frank_wolfe", "pairwise"} & twice
    assert set(both.runs["solver_label"]) == {
        *(labels[0] ^ labels[1]),
        *(f"{label} · {folder}" for label in twice for folder in ("before", "after")),
    }
    assert both.runs["instance_label"].nunique() == 1
    assert not both.runs["solver"].str.contains("·").any()


def test_a_default_is_one_of_each_folder(elsewhere, tmp_path):
    again = Path(shutil.copytree(elsewhere.path, tmp_path / "again"))
    found = build(elsewhere, RunFolder(again))
    told = families(found.runs)
    assert {"frank_wolfe · elsewhere", "frank_wolfe · again"} <= set(told)
    assert set(told) == set(found.runs["solver"] + " · " + found.runs["folder"])
    assert set(found.profiles.efforts["solver"]) <= set(told)
    assert found.runs["run_id"].is_unique
    [picture] = found.pictures
    paths = dict(picture.paths)
    for solver in ("frank_wolfe", "away_steps"):
        assert np.array_equal(paths[f"{solver} · elsewhere"], paths[f"{solver} · again"])
    assert len(found.meetings)


def test_the_reference_is_the_best_of_all_folders(alone, both):
    parts = [alone[folder].runs for folder in ("before", "after")]
    found = both.runs.dropna(subset=["reference_low"])
    assert found["reference_low"].iloc[0] == max(r["reference_low"].max() for r in parts)
    assert found["reference_high"].iloc[0] == min(r["reference_high"].min() for r in parts)
    assert parts[0]["reference_low"].max() != parts[1]["reference_low"].max()
    assert found["reference_low"].nunique() == found["reference_high"].nunique() == 1


def test_one_text_that_is_two_problems_is_told_apart(before, after, alone, tmp_path):
    def other_bytes(records, manifest):
        for record in records:
            record["origin"]["fingerprint"] = "0" * 16

    odd = edited(after, tmp_path / "odd", other_bytes)
    found = build(before, odd)
    assert set(found.runs["instance_label"].str.partition(" · ")[2]) == {"before", "odd"}
    mine = found.runs[found.runs["folder"] == "before"]
    low = alone["before"].runs["reference_low"]
    assert mine["reference_low"].tolist() == low.tolist()
    assert not mine["solver_label"].str.contains("·").any()


def together_of(*folders):
    return together(folders, SHAPES)


def of_rows(found, name):
    return [record["row"].get(name) for record in found.records]


def test_defaults_that_have_changed_are_two_solvers(before, elsewhere, tmp_path):
    def other_params(records, manifest):
        for record in records:
            record["row"]["params"] += ",more=1"

    odd = edited(elsewhere, tmp_path / "odd", other_params)
    assert "frank_wolfe · odd" in of_rows(together_of(before, odd), "solver_label")
    assert "frank_wolfe" in of_rows(together_of(before, elsewhere), "solver_label")


def test_seconds_of_unlike_machines_or_threads_never_meet(before, after, both, tmp_path):
    def other_machine(records, manifest):
        manifest["machine"]["cpu"] = "another"

    def more_threads(records, manifest):
        for record in records:
            record["row"]["threads"] = 7

    host = before.manifest["machine"]["host"]
    found = together_of(before, edited(after, tmp_path / "m", other_machine))
    assert set(of_rows(found, "host")) == {f"{host} · before", f"{host} · m"}
    found = build(before, edited(after, tmp_path / "t", more_threads))
    places = set(found.winners["timed_on"])
    assert f"{host}, 7 threads" in places
    assert len(places) == 2
    assert both.winners["timed_on"].isna().all()


def test_exponents_against_a_parameter_of_the_solver_are_of_one_folder():
    runs = pd.DataFrame(
        {
            "instance": "ball", "instance_label": "ball", "host": "h", "library": None,
            "solver_label": [f"soft[beta={b}] · a" for b in (1, 2, 4, 8)],
            "params": [f"beta={b}" for b in (1, 2, 4, 8)], "status": "converged",
            "seconds": 1.0, "setup_seconds": 0.0, "steps": 1, "gap_relative": 0.0, "tol": 1e-8,
        }
    )  # fmt: skip
    assert set(sizes(runs)["solver_label"]) == {"soft · a"}


# -- what is no folder, or twice the same ----------------------------------------------------------


def test_one_folder_twice_is_refused(before, tmp_path):
    os.symlink(before.path, tmp_path / "link")
    for other in (before.path, tmp_path / "link"):
        with pytest.raises(RunFolderError, match="given twice"):
            build(before, RunFolder(other))


def test_what_is_no_run_folder_or_newer_is_named(before, tmp_path):
    with pytest.raises(RunFolderError, match="nowhere holds no journal"):
        build(before, RunFolder(tmp_path / "nowhere"))
    copy = Path(shutil.copytree(before.path, tmp_path / "newer"))
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(manifest | {"schema": 99}))
    with pytest.raises(RunFolderError, match="newer fwbench"):
        build(before, RunFolder(copy))


def test_a_manifest_that_speaks_of_several_folders_is_of_one(before, tmp_path):
    def strange(records, manifest):
        manifest["folders"] = [None]

    found = gathered(edited(before, tmp_path / "odd", strange), SHAPES)
    assert "folders" not in found.manifest


def test_an_unfinished_folder_is_counted(before, after, tmp_path):
    copy = Path(shutil.copytree(after.path, tmp_path / "cut"))
    lines = (copy / "journal.jsonl").read_text().splitlines(keepends=True)
    (copy / "journal.jsonl").write_text("".join(lines[:1]))
    found = together_of(before, RunFolder(copy))
    whole, cut = found.manifest["folders"]
    assert (whole["name"], whole["unfinished"]) == ("before", 0)
    assert (cut["name"], cut["unfinished"], cut["runs"]) == ("cut", len(lines) - 1, len(lines))


def test_names_tell_folders_apart():
    assert names([Path("a/x"), Path("b/x"), Path("b/y")]) == ["a/x", "b/x", "y"]
    assert names([Path("x"), Path("a/x")])[1] == "a/x"
    assert names([Path("p · q")]) == ["p - q"]
    odd = names([Path("/t/x\u200b"), Path("/t/x\\u200b"), Path("/t/·"), Path("/t/-")])
    assert len(set(odd)) == 4


def test_the_manifest_says_what_is_common_and_the_rest_by_folder(before, after, tmp_path):
    def older(records, manifest):
        manifest["versions"]["numpy"] = "1.0"

    found = together_of(before, edited(after, tmp_path / "old", older)).manifest
    assert "numpy" not in found["versions"]
    assert found["versions"]["fwbench"] == before.manifest["versions"]["fwbench"]
    assert [folder["versions"]["numpy"] == "1.0" for folder in found["folders"]] == [False, True]
    assert found["command"] == f"fwbench report {before.path} {tmp_path / 'old'}"


def test_of_a_claim_in_several_folders_the_surprise_is_shown():
    class Made:
        def __init__(self, created, *found):
            self.manifest = {"created": created}
            claims = [{"name": n, "as_expected": good, "remark": ""} for n, good in found]
            self.claims = {"seconds": 1.0, "interrupted": False, "claims": claims}

    old, new = Made("1", ("x", False), ("y", True)), Made("2", ("x", True), ("y", True))
    for parts in ({"old": old, "new": new}, {"new": new, "old": old}):
        found = {claim["name"]: claim for claim in _claims(parts)["claims"]}
        assert not found["x"]["as_expected"]
        assert found["x"]["remark"].endswith("the folder old.")
        assert found["y"]["remark"].endswith("the folder new.")


def test_tables_of_several_folders_are_written_and_stale_ones_deleted(both, tmp_path):
    folder = RunFolder.for_report(tmp_path / "both")
    folder.write_folders(both.manifest)
    (folder.path / "heads.parquet").write_bytes(b"of an earlier report")
    write_views(folder, both)
    stored = pd.read_parquet(folder.path / "runs.parquet")
    assert set(stored["folder"]) == {"before", "after"}
    assert not (folder.path / "heads.parquet").exists()
