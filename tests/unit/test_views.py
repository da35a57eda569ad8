"""The tables of a run folder as one side: taken as they stand, or a word why not."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

import fwbench as fw
from fwbench import views
from fwbench.analysis.comparison import compared
from fwbench.errors import RunFolderError
from fwbench.findings import build, write_views
from fwbench.store import RunFolder

PROBLEMS = ["min_norm_point[n=12,d=3,shift=1]", "polygon[k=4]", "token_cloud[name=four-one]"]
SOLVERS = ["away_steps", "frank_wolfe[step=exact]", "hardmax_attention[keys=moving]",
           "vertex_enumeration"]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a run folder with every kind of run; nobody writes into it."""
    folder = tmp_path_factory.mktemp("views") / "run"
    fw.run(problems=PROBLEMS, solvers=SOLVERS, out=folder, max_steps=60, jobs=None)
    return folder


@pytest.fixture
def copied(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copy")


@pytest.fixture(scope="module")
def built(made):
    return build(RunFolder(made))


@pytest.fixture
def quickly(monkeypatch, built):
    """Let what is read from the journal be known already: to find it takes most of a second."""
    monkeypatch.setattr(views, "build", lambda folder: built)


def edited(folder, name, change):
    path = folder / f"{name}.parquet"
    table = pd.read_parquet(path)
    changed = change(table)
    (table if changed is None else changed).to_parquet(path)


def differ(a, b):
    comparison = compared(a, b, exact_only=True)
    return comparison.missing or comparison.added or comparison.changes


def test_the_journal_and_the_tables_say_the_same(made, copied):
    whole = views.read(made)
    assert whole.notes == ()
    for name in ("runs", "trace", "targets", "fixed_points"):
        (copied / f"{name}.parquet").unlink()
    anew = views.read(copied)
    assert "runs.parquet is missing; read from the journal" in anew.notes[0]
    assert not differ(whole, anew)
    assert all((a.row == b.row) for a, b in zip(whole.runs, anew.runs, strict=True))
    assert not (copied / "runs.parquet").exists()  # reading writes nothing


def test_a_run_has_what_the_folder_holds(made):
    runs = {(run.row["problem"], run.row["solver"]): run for run in views.read(made).runs}
    away = runs["min_norm_point", "away_steps"]
    assert away.graded
    assert not away.once
    assert not away.moving
    assert away.trace["k"][0] == 0
    assert away.row["max_steps"] == 60
    assert away.radius > 0
    assert away.points().shape == (1, 3)
    direct = runs["polygon", "vertex_enumeration"]
    assert direct.once
    assert runs["token_cloud", "hardmax_attention"].moving
    skipped = runs["polygon", "away_steps"]
    assert skipped.row["status"] in ("converged", "skipped", "budget")


def test_tables_that_were_edited_are_taken_as_they_stand(copied):
    def worse(table):
        table.loc[table.solver == "away_steps", "gap_relative"] *= 1e6

    edited(copied, "runs", worse)
    assert views.read(copied).notes == ()


def test_tables_are_old_where_the_journal_holds_other_runs(copied, quickly):
    edited(copied, "runs", lambda table: table.iloc[:-1])
    [note] = views.read(copied).notes
    assert "older than the journal: 1 runs" in note
    edited(copied, "runs", lambda table: table.iloc[:-1])
    assert len(views.read(copied).runs) == len(PROBLEMS) * len(SOLVERS)


def test_tables_of_another_making_are_old(copied):
    journal = copied / "journal.jsonl"
    folder = RunFolder(copied)
    records = folder.records()
    records[0]["row"]["load_before"] = 77.0
    journal.unlink()
    fresh = RunFolder(copied)
    fresh._begun = False
    for record in records:
        fresh.append(record, {})
    assert "older than the journal" in views.read(copied).notes[0]
    write_views(fresh, build(fresh))
    assert views.read(copied).notes == ()


def test_tables_hold_runs_that_the_journal_lacks(copied, quickly):
    journal = copied / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    assert "that the journal lacks" in views.read(copied).notes[0]


def test_tables_are_enough_without_a_journal(made, copied):
    (copied / "journal.jsonl").unlink()
    shutil.rmtree(copied / "points")
    alone = views.read(copied)
    assert alone.notes == ()
    assert not differ(views.read(made), alone)
    (copied / "trace.parquet").unlink()
    with pytest.raises(RunFolderError, match=r"trace\.parquet is missing, and there is no journal"):
        views.read(copied)


def test_a_count_that_is_infinite_is_not_known(copied):
    edited(copied, "runs", lambda table: table.assign(steps=np.inf))
    side = views.read(copied)
    assert side.notes == ()
    assert {run.row["steps"] for run in side.runs} == {None}


@pytest.mark.parametrize("damage", [b"", "half", "folder"])
def test_a_damaged_table_is_read_from_the_journal(copied, quickly, damage):
    path = copied / "trace.parquet"
    data = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    else:
        path.write_bytes(data[: len(data) // 2] if damage == "half" else damage)
    [note] = views.read(copied).notes
    assert "trace.parquet is damaged" in note
    assert "read from the journal" in note


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.assign(steps="many"),
        lambda table: table.assign(status="fine"),
        lambda table: table.drop(columns="solver"),
        lambda table: table.assign(run_id=table.run_id.iloc[0]),
        lambda table: table.assign(instance=None),
        lambda table: table.assign(instance=7),
        lambda table: table.assign(steps=1.5),
        lambda table: table.assign(steps="12"),
        lambda table: table.assign(lmo=2.0**63),
        lambda table: table.assign(gap_relative=True),
        lambda table: table.assign(seconds=-1.0),
        lambda table: table.assign(gemv_seconds=1e308),
    ],
)
def test_rows_that_no_run_gives_are_not_believed(copied, quickly, change):
    edited(copied, "runs", change)
    assert "read from the journal" in views.read(copied).notes[0]


def test_a_table_of_an_older_version_lacks_columns(copied):
    def older(table):
        return table.drop(columns=["rate_class", "gemv_seconds", "diameter_squared"])

    edited(copied, "runs", older)
    edited(copied, "trace", lambda table: table.drop(columns="energy"))
    side = views.read(copied)
    assert side.notes == ()
    assert all(run.row["rate_class"] is None for run in side.runs)


def test_what_is_not_finite_is_not_known(copied):
    edited(copied, "runs", lambda table: table.assign(gap_relative=np.inf))
    assert all(run.row["gap_relative"] is None for run in views.read(copied).runs)


def test_a_folder_without_a_manifest_or_of_a_newer_version_is_refused(copied):
    manifest = json.loads((copied / "manifest.json").read_text())
    (copied / "manifest.json").write_text(json.dumps(manifest | {"schema": 99}))
    with pytest.raises(RunFolderError, match="newer fwbench"):
        views.read(copied)
    (copied / "manifest.json").unlink()
    with pytest.raises(RunFolderError, match="holds no manifest"):
        views.read(copied)
