import json
import math
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwbench.errors import RunFolderError
from fwbench.store import SCHEMA, RunFolder, plain, write_whole

NUMBERS = st.floats() | st.integers(-(2**63), 2**63)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


def record(run_id, **row):
    return {"row": {"run_id": run_id, **row}, "trace": {}, "rest": None}


@pytest.fixture
def folder(tmp_path):
    made = RunFolder.create(tmp_path / "run")
    made.write_manifest({"plan": []})
    for run_id in "abc":
        made.append(record(run_id, value=0.1), {"points": np.eye(2)})
    return made


@pytest.fixture
def journal(folder):
    return folder.path / "journal.jsonl"


def ids(folder):
    return [found["row"]["run_id"] for found in folder.records()]


# -- what is written reads back --------------------------------------------------------------


@given(VALUES)
def test_what_is_written_reads_back(tmp_path_factory, value):
    folder = RunFolder.create(tmp_path_factory.mktemp("run"))
    folder.append(record("a", value=value), {})
    [found] = folder.records()
    assert found["row"]["value"] == plain(value)


@pytest.mark.parametrize("number", [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 2.0**-46])
def test_numbers_read_back_equal(folder, number):
    folder.append(record("d", value=number, again=np.float64(number)), {})
    row = folder.records()[-1]["row"]
    assert math.copysign(1, row["value"]) == math.copysign(1, number)
    assert row["value"] == row["again"] == number


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_what_is_not_finite_is_null(folder, journal, number):
    folder.append(record("d", value=number, many=[1.0, number], array=np.array([number, 2])), {})
    row = folder.records()[-1]["row"]
    assert row["value"] is None
    assert row["many"] == [1.0, None]
    assert row["array"] == [None, 2]
    text = journal.read_text()
    assert "NaN" not in text
    assert "Infinity" not in text


def test_the_newest_row_of_a_run_counts(folder):
    folder.append(record("b", value=2.0), {})
    assert ids(folder) == ["a", "b", "c"]
    assert folder.records()[1]["row"]["value"] == 2.0


def test_a_line_is_a_run(journal):
    lines = journal.read_text().splitlines()
    assert [json.loads(line)["record"]["row"]["run_id"] for line in lines] == ["a", "b", "c"]
    assert all(len(json.loads(line)["checksum"]) == 16 for line in lines)


def test_points_are_kept(folder):
    np.testing.assert_array_equal(folder.points("a")["points"], np.eye(2))
    assert folder.points("d") is None


def test_points_of_an_earlier_try_are_gone(folder):
    folder.append(record("a", status="error"), {})
    assert folder.points("a") is None


def test_damaged_points_are_left_out(folder):
    (folder.path / "points" / "a.npz").write_bytes(b"PK torn")
    with pytest.warns(UserWarning, match=r"a\.npz is damaged and left out"):
        assert folder.points("a") is None


def test_a_name_that_is_no_unicode_is_written(folder):
    folder.append(record("d", instance="p\udcff.csv"), {})
    assert folder.records()[-1]["row"]["instance"] == "p\\udcff.csv"


# -- damage ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_a_torn_tail_is_left_out_and_cut_before_more_is_written(folder, journal, cut):
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-cut])
    with pytest.warns(UserWarning, match="a torn last one"):
        assert ids(folder) == ["a", "b"]
    assert journal.read_bytes() == whole[:-cut]  # to read is not to write
    folder.mend()
    folder.append(record("d"), {})
    assert ids(folder) == ["a", "b", "d"]


def test_a_damaged_line_is_set_aside(folder, journal):
    lines = journal.read_text().splitlines(keepends=True)
    lines[1] = lines[1].replace("0.1", "0.2")
    journal.write_text("".join(lines))
    with pytest.warns(UserWarning, match="1 damaged lines are left out"):
        assert ids(folder) == ["a", "c"]
    folder.mend()
    assert ids(folder) == ["a", "c"]
    assert (folder.path / "set_aside.jsonl").read_text() == lines[1]
    journal.write_bytes(b"\xff\xfe garbage\n" + journal.read_bytes())
    folder.mend()
    assert (folder.path / "set_aside.jsonl").read_bytes().endswith(b"\xff\xfe garbage\n")
    assert (folder.path / "set_aside.jsonl").read_bytes().startswith(lines[1].encode())


@pytest.mark.parametrize(
    "line",
    ["", "{}", "[]", "null", "3", '{"record": {}}', '{"record": NaN, "checksum": ""}', "[" * 9999],
)
def test_no_line_breaks_the_reader(folder, journal, line):
    with journal.open("a") as file:
        file.write(line + "\n")
    with pytest.warns(UserWarning, match="1 damaged lines"):
        assert ids(folder) == ["a", "b", "c"]


def test_an_undamaged_journal_is_not_touched(folder, journal):
    before = journal.stat().st_ino, journal.read_bytes()
    folder.mend()
    assert (journal.stat().st_ino, journal.read_bytes()) == before
    assert not (folder.path / "set_aside.jsonl").exists()


def test_an_empty_journal_holds_no_runs(folder, journal):
    journal.write_bytes(b"")
    assert folder.records() == []


# -- making, resuming, starting anew ---------------------------------------------------------


def test_an_existing_folder_needs_a_word(folder):
    with pytest.raises(
        RunFolderError, match="--resume does what is missing there, --fresh starts anew"
    ):
        RunFolder.create(folder.path)


def test_resuming_keeps_what_is_there(folder):
    assert ids(RunFolder.create(folder.path, resume=True)) == ["a", "b", "c"]


def test_starting_anew_sets_aside_what_is_there(folder, journal):
    first = journal.read_bytes()
    again = RunFolder.create(folder.path, fresh=True)
    assert not again.has_journal
    assert again.points("a") is None
    assert (folder.path / "journal.1.jsonl").read_bytes() == first
    assert (folder.path / "points.1" / "a.npz").exists()
    again.append(record("z"), {})
    RunFolder.create(folder.path, fresh=True)
    assert (folder.path / "journal.1.jsonl").read_bytes() == first
    assert (folder.path / "journal.2.jsonl").exists()


@pytest.mark.parametrize("fresh", [False, True])
def test_a_folder_of_something_else_is_never_taken(tmp_path, fresh):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(RunFolderError, match="not empty and no run folder"):
        RunFolder.create(tmp_path, resume=not fresh, fresh=fresh)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_an_empty_folder_is_taken(tmp_path):
    assert RunFolder.create(tmp_path).path == tmp_path


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match="is a file, not a folder"):
        RunFolder.create(tmp_path / "file")
    with pytest.raises(RunFolderError, match="cannot be made: Not a directory"):
        RunFolder.create(tmp_path / "file" / "run")


# -- folders that cannot be read or written --------------------------------------------------


def test_what_is_no_run_folder_is_named(tmp_path):
    for folder in (RunFolder(tmp_path), RunFolder(tmp_path / "nowhere")):
        with pytest.raises(RunFolderError, match=r"holds no journal\.jsonl: not a run folder"):
            folder.records()
        with pytest.raises(RunFolderError, match=r"holds no manifest\.json: not a run folder"):
            _ = folder.manifest


def test_a_folder_that_vanished_is_named(folder):
    for path in sorted(folder.path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.path.rmdir()
    for points in ({}, {"points": np.eye(2)}):
        with pytest.raises(RunFolderError, match="cannot be written: No such file"):
            folder.append(record("d"), points)
    with pytest.raises(RunFolderError, match=r"runs\.parquet cannot be written"):
        folder.write_table("runs", pd.DataFrame({"a": [1]}))
    assert not folder.path.exists()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_read_only_folder_is_named(folder):  # pragma: no cover
    (folder.path / "points").chmod(0o555)
    folder.path.chmod(0o555)
    with pytest.raises(RunFolderError, match="cannot be written"):
        folder.append(record("d"), {"points": np.eye(2)})
    assert ids(folder) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["journal.jsonl", "manifest.json"])
def test_a_folder_in_place_of_a_file_is_named(tmp_path, name):
    (tmp_path / name).mkdir()
    folder = RunFolder(tmp_path)
    with pytest.raises(RunFolderError, match="cannot be"):
        _ = folder.records() if name == "journal.jsonl" else folder.manifest
    with pytest.raises(RunFolderError, match="cannot be written"):
        folder.append(record("d"), {}) if name == "journal.jsonl" else folder.write_manifest({})


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "view"
    write_whole(path, "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunFolderError, match="view cannot be written: No space left on device"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["view"]


def test_a_view_is_replaced_whole(folder):
    folder.write_table("runs", pd.DataFrame({"a": [1, None]}))
    before = (folder.path / "runs.parquet").open("rb")
    folder.write_table("runs", pd.DataFrame({"a": [2.0]}))
    with before:  # whoever reads the old one, reads all of it
        assert len(pd.read_parquet(before)) == 2
    assert pd.read_parquet(folder.path / "runs.parquet")["a"].tolist() == [2.0]
    assert not list(folder.path.glob(".*"))


# -- the manifest ----------------------------------------------------------------------------


def test_the_manifest_reads_back(folder):
    folder.write_manifest({"plan": [{"a": 1}], "load": [math.nan]})
    assert folder.manifest == {"schema": SCHEMA, "plan": [{"a": 1}], "load": [None]}


def test_a_newer_schema_is_refused(folder):
    manifest = json.dumps({"schema": SCHEMA + 1, "plan": []})
    (folder.path / "manifest.json").write_text(manifest)
    with pytest.raises(RunFolderError, match=rf"newer fwbench \(schema {SCHEMA + 1} > {SCHEMA}\)"):
        _ = folder.manifest


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "{}", '{"schema": 1}', '{"schema": "x", "plan": []}', "\ud800"]
)
def test_a_damaged_manifest_is_named(folder, text):
    (folder.path / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(RunFolderError, match=r"manifest\.json is damaged"):
        _ = folder.manifest
