import hashlib
import json
import math
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fwbench import journal as journals
from fwbench.disk import append_whole, write_whole
from fwbench.errors import RunFolderError
from fwbench.journal import line_of, record_of
from fwbench.plain import plain
from fwbench.store import SCHEMA, RunFolder

NUMBERS = st.floats() | st.integers(-(2**63), 2**63)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


def record(run_id, **row):
    return {"row": {"run_id": run_id, "status": "budget", **row}, "trace": {}, "rest": None}


def after(number, call, error=KeyboardInterrupt):
    """Return a function that does as another one, and ends the process instead at a call."""
    left = [number]

    def counted(*arguments, **named):
        left[0] -= 1
        if left[0] < 0:
            raise error
        return call(*arguments, **named)

    return counted


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
    folder.write_manifest({"plan": []})
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


def test_what_is_done_is_on_the_disk_in_the_right_order(folder, monkeypatch):
    """Without its folder a new name may be lost with the power, and with it all of the file."""
    synced = []

    def noted(descriptor):
        number = os.fstat(descriptor).st_ino
        places = (folder.path, folder.path.parent, *folder.path.rglob("*"))
        [place] = [path for path in places if path.stat().st_ino == number]
        synced.append(os.path.relpath(place, folder.path))

    monkeypatch.setattr(os, "fsync", noted)
    folder.append(record("d"), {"points": np.eye(2)})
    assert synced == [f"points/.d.npz.{os.getpid()}", "points", "journal.jsonl"]
    synced.clear()
    folder.append(record("d"), {})
    assert synced == ["points", "journal.jsonl"]
    synced.clear()
    folder.write_claims({})
    assert synced == [f".claims.json.{os.getpid()}", "."]
    synced.clear()
    RunFolder.create(folder.path, fresh=True)
    assert synced == [f".manifest.1.json.{os.getpid()}", *["."] * 4, ".."]
    folder = RunFolder(folder.path)
    synced.clear()
    folder.append(record("d"), {})
    assert synced == ["journal.jsonl", "."]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_line_that_is_interrupted_is_taken_back(folder, journal, monkeypatch, error):
    before = journal.read_bytes()
    monkeypatch.setattr(os, "fsync", after(0, os.fsync, error))
    with pytest.raises((RunFolderError, KeyboardInterrupt)):
        folder.append(record("d"), {})
    assert journal.read_bytes() == before


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
    with pytest.warns(UserWarning, match="1 damaged line left out"):
        assert ids(folder) == ["a", "c"]
    with pytest.warns(UserWarning, match=r"1 damaged line set aside in set_aside\.jsonl"):
        folder.mend()
    assert ids(folder) == ["a", "c"]
    assert (folder.path / "set_aside.jsonl").read_text() == lines[1]
    journal.write_bytes(b"\xff\xfe garbage\n" + journal.read_bytes() + b"\0" * 9)
    with pytest.warns(UserWarning, match="1 damaged line set aside"):
        folder.mend()
    assert (folder.path / "set_aside.jsonl").read_text("latin1") == lines[1] + "ÿþ garbage\n"
    assert ids(folder) == ["a", "c"]


@pytest.mark.parametrize(
    "line",
    ["", "{}", "[]", "null", "3", '{"record": {}}', '{"record": NaN, "checksum": ""}', "[" * 9999],
)
def test_no_line_breaks_the_reader(folder, journal, line):
    with journal.open("a") as file:
        file.write(line + "\n")
    with pytest.warns(UserWarning, match="1 damaged line left out"):
        assert ids(folder) == ["a", "b", "c"]


def framed(record):
    """Return the line of a record of any shape, its checksum right."""
    text = json.dumps(record, sort_keys=True)
    checksum = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f'{{"checksum": "{checksum}", "record": {text}}}\n'


WRONG = [
    *(None, [], {}, {"row": []}, {"row": {}}, {"row": {"run_id": "d"}}),
    *(record(run_id) for run_id in (None, 3, [], "", "../d", "d/e", "d\n", "d.npz", "d" * 65)),
    *(record("d", status=status) for status in (None, 3, [], "", "done", "BUDGET")),
    *(record("d") | {"trace": trace} for trace in (None, [], {"k": 1}, {"k": [1], "gap": []})),
    *(record("d") | {name: [1]} for name in ("rest", "head", "points")),
    record("d") | {"points": True},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_record_of_a_wrong_shape_is_damage(folder, journal, wrong):
    with journal.open("a") as file:
        file.write(framed(record("e")) + framed(wrong))
    with pytest.warns(UserWarning, match="1 damaged line left out"):
        assert ids(folder) == ["a", "b", "c", "e"]


@pytest.mark.parametrize("wrong", [*WRONG, record("d", value=1j)])
def test_what_would_not_be_read_again_is_not_written(folder, journal, wrong):
    before = journal.read_bytes(), set(folder.path.rglob("*"))
    with pytest.raises(RunFolderError, match="a record that the journal cannot keep: "):
        line_of(wrong)
    if isinstance(wrong, dict) and "points" not in wrong:
        with pytest.raises(RunFolderError, match="a record that the journal cannot keep"):
            folder.append(wrong, {"points": np.eye(2)})
    assert (journal.read_bytes(), set(folder.path.rglob("*"))) == before


def test_a_line_reads_back_or_is_damaged():
    line = line_of(record("a", value=0.1, text=" é"))
    assert record_of(line) == record("a", value=0.1, text=" é")
    for same_json in (line.replace(b", ", b",  "), b" " + line, line[:-1], b"\xef\xbb\xbf" + line):
        assert record_of(same_json) is None


def test_a_gigantic_line_is_damage_that_is_never_held_whole(folder, journal, monkeypatch):
    monkeypatch.setattr(journals, "LONGEST", 1000)
    long = b"[" * 3_000_000 + b"\n"
    journal.write_bytes(long[-1001:] + journal.read_bytes() + long + framed(record("d")).encode())
    with pytest.warns(UserWarning, match="2 damaged lines left out"):
        assert ids(folder) == ["a", "b", "c", "d"]
    with pytest.warns(UserWarning, match="2 damaged lines set aside"):
        folder.mend()
    assert ids(folder) == ["a", "b", "c", "d"]
    assert (folder.path / "set_aside.jsonl").read_bytes() == long[-1001:] + long
    with pytest.raises(RunFolderError, match=r"run e gave \d+ bytes to keep; a line .* 1000"):
        folder.append(record("e", reason="x" * 1000), {})


def test_equal_lines_are_one_run(folder, journal):
    journal.write_bytes(journal.read_bytes() * 2)
    assert ids(folder) == ["a", "b", "c"]
    folder.mend()
    assert len(journal.read_bytes().splitlines()) == 6


def test_a_line_after_a_torn_one_is_whole(folder, journal):
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-9])
    folder.append(record("d"), {})  # nobody has mended
    with pytest.warns(UserWarning, match="1 damaged line left out"):
        assert ids(folder) == ["a", "b", "d"]


# -- points ----------------------------------------------------------------------------------


def test_points_that_are_not_those_written_are_found(folder):
    assert folder.damaged(folder.records()) == set()
    folder.append(record("d"), {})
    folder.append(record("e"), {"points": np.eye(3)})
    points = folder.path / "points"
    (points / "a.npz").unlink()
    (points / "b.npz").write_bytes((points / "b.npz").read_bytes()[:-1])
    zeros = len((points / "c.npz").read_bytes())
    (points / "c.npz").write_bytes(bytes(zeros))  # the length reached the disk, the bytes did not
    assert folder.damaged(folder.records()) == {"a", "b", "c"}
    (points / "e.npz").unlink()
    (points / "e.npz").mkdir()
    assert folder.damaged(folder.records()) == {"a", "b", "c", "e"}
    assert folder.damaged([]) == set()
    before = record("a")  # as it was written when lengths were not kept
    assert folder.damaged([before]) == set()


def test_a_run_killed_between_points_and_line_is_found(folder, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(journals, "append_whole", killed)
    with pytest.raises(KeyboardInterrupt):
        folder.append(record("b"), {"points": np.eye(5)})
    with pytest.raises(KeyboardInterrupt):
        folder.append(record("c"), {})
    assert folder.damaged(folder.records()) == {"b", "c"}


@given(st.data())
@settings(
    max_examples=150, deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
def test_changed_bytes_of_points_are_found_or_change_nothing(folder, data):
    path = folder.path / "points" / "a.npz"
    whole = (folder.path / "points" / "b.npz").read_bytes()
    changed = bytearray(whole)
    changed[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = folder.points("a")
    if found is None:
        assert len(said) == 1
    else:
        assert [array.tolist() for array in found.values()] == [np.eye(2).tolist()]


def test_a_bomb_in_place_of_points_is_not_unpacked(folder):
    path = folder.path / "points" / "a.npz"
    np.savez_compressed(path, points=np.zeros(10**6))
    with pytest.warns(UserWarning, match="its directory is not one of arrays"):
        assert folder.points("a") is None


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
    assert json.loads((folder.path / "manifest.1.json").read_text())["plan"] == []
    again.append(record("z"), {})
    RunFolder.create(folder.path, fresh=True)
    assert (folder.path / "journal.1.jsonl").read_bytes() == first
    assert (folder.path / "journal.2.jsonl").exists()


def test_what_was_set_aside_keeps_its_numbers(folder):
    (folder.path / "points.3").mkdir()
    (folder.path / "set_aside.jsonl").touch()
    (folder.path / "claims.json").touch()
    RunFolder.create(folder.path, fresh=True)
    assert sorted(path.name for path in folder.path.iterdir()) == [
        ".lock", "journal.4.jsonl", "manifest.4.json", "manifest.json", "points", "points.3",
        "points.4", "set_aside.4.jsonl",
    ]  # fmt: skip
    (folder.path / "journal.4.jsonl").unlink()  # the user has no need of it
    RunFolder(folder.path).append(record("z"), {"points": np.eye(1)})
    RunFolder.create(folder.path, fresh=True)
    assert (folder.path / "points.5" / "z.npz").exists()
    assert (folder.path / "points.4" / "a.npz").exists()


@pytest.mark.parametrize("renames", range(4))
@pytest.mark.parametrize("again", ["resume", "fresh"])
def test_starting_anew_is_finished_when_it_was_killed(folder, journal, renames, again):
    whole, points = journal.read_bytes(), (folder.path / "points" / "a.npz").read_bytes()
    (folder.path / "set_aside.jsonl").write_text("aside")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(folder.path), "rename", after(renames, type(folder.path).rename))
        if renames < 3:
            with pytest.raises(KeyboardInterrupt):
                RunFolder.create(folder.path, fresh=True)
        else:
            RunFolder.create(folder.path, fresh=True)
    taken = RunFolder.create(folder.path, **{again: True})
    with taken.locked(wait=False):
        pass
    number = "" if renames == 0 and again == "resume" else ".1"
    assert (folder.path / f"journal{number}.jsonl").read_bytes() == whole
    assert (folder.path / f"points{number}" / "a.npz").read_bytes() == points
    assert (folder.path / f"set_aside{number}.jsonl").read_text() == "aside"
    assert taken.has_journal == (number == "")
    assert (folder.path / "points").is_dir()
    assert not list(folder.path.glob("*.2*"))
    assert folder.damaged(taken.records() if taken.has_journal else []) == set()


@pytest.mark.parametrize("fresh", [False, True])
def test_a_folder_of_something_else_is_never_taken(tmp_path, fresh):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(RunFolderError, match="not empty and no run folder"):
        RunFolder.create(tmp_path, resume=not fresh, fresh=fresh)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_an_empty_folder_is_taken(tmp_path):
    assert RunFolder.create(tmp_path).path == tmp_path
    # one whose process was killed before it wrote anything counts as empty
    (tmp_path / ".lock").touch()
    (tmp_path / ".manifest.json.12345").touch()
    RunFolder.create(tmp_path)
    (tmp_path / "points" / "of_mine").touch()
    with pytest.raises(RunFolderError, match="not empty and no run folder"):
        RunFolder.create(tmp_path)


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
        with pytest.raises(RunFolderError, match="was deleted or moved while it was being written"):
            folder.append(record("d"), points)
    with pytest.raises(RunFolderError, match=r"runs\.parquet cannot be written"):
        folder.write_table("runs", pd.DataFrame({"a": [1]}))
    with pytest.raises(RunFolderError, match="was deleted or moved"):
        folder.write_manifest({"plan": []})
    assert not folder.path.exists()


@pytest.mark.parametrize("gone", ["journal.jsonl", "manifest.json"])
def test_half_a_folder_is_not_begun(folder, gone):
    """A journal without its first lines, or without a plan, looks whole and is not."""
    writer = folder if gone == "journal.jsonl" else RunFolder(folder.path)
    (folder.path / "journal.jsonl").unlink()
    (folder.path / gone).unlink(missing_ok=True)
    before = set(folder.path.rglob("*"))
    with pytest.raises(RunFolderError, match=f"{gone} was deleted while the folder was written"):
        writer.append(record("d"), {"points": np.eye(2)})
    assert set(folder.path.rglob("*")) == before


def test_a_journal_that_vanishes_at_the_last_moment_is_not_begun_again(tmp_path):
    with pytest.raises(FileNotFoundError):
        append_whole(tmp_path / "journal.jsonl", [b"line\n"], create=False)
    assert os.listdir(tmp_path) == []


def test_a_lost_manifest_loses_no_run(folder):
    (folder.path / "manifest.json").unlink()
    folder.append(record("d"), {})
    assert ids(folder) == ["a", "b", "c", "d"]
    with pytest.raises(RunFolderError, match=r"no manifest\.json; its runs are kept: put a copy"):
        _ = folder.manifest
    assert RunFolder.create(folder.path, fresh=True).has_journal is False
    assert (folder.path / "journal.1.jsonl").exists()


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
    with pytest.raises(RunFolderError, match="view cannot be written: the disk is full, free some"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["view"]


@pytest.mark.parametrize("name", ["journal.jsonl", "manifest.json", "points/a.npz"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(folder, name):
    (folder.path / name).unlink()
    os.mkfifo(folder.path / name)
    if name == "points/a.npz":
        assert folder.damaged(folder.records()) == {"a"}
        with pytest.warns(UserWarning, match="it is a pipe or a device, no file"):
            assert folder.points("a") is None
        return
    with pytest.raises(RunFolderError, match="cannot be read: it is a pipe or a device, no file"):
        _ = folder.manifest if name == "manifest.json" else folder.records()
    if name == "journal.jsonl":
        with pytest.raises(RunFolderError, match="cannot be written: it is a pipe or a device"):
            folder.append(record("d"), {})


def test_what_killed_processes_left_is_removed(folder):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (folder.path / "figures").mkdir()
    left = [
        folder.path / f".runs.parquet.{ended.pid}",
        folder.path / "points" / f".a.npz.{ended.pid}",
        folder.path / "figures" / f".overview.pdf.{ended.pid}",
    ]
    kept = [
        folder.path / f".report.html.{os.getpid()}",  # being written: another one reads on
        folder.path / ".notes.2024",
        folder.path / f"runs.parquet.{ended.pid}",
    ]
    for path in (*left, *kept):
        path.touch()
    with folder.locked(wait=False):
        assert [path for path in (*left, *kept) if path.exists()] == kept
    assert ids(folder) == ["a", "b", "c"]


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
    folder.write_manifest({"plan": [], "load": [math.nan]})
    assert folder.manifest == {"schema": SCHEMA, "plan": [], "load": [None]}


def test_a_newer_schema_is_refused(folder):
    manifest = json.dumps({"schema": SCHEMA + 1, "plan": []})
    (folder.path / "manifest.json").write_text(manifest)
    with pytest.raises(RunFolderError, match=rf"newer fwbench \(schema {SCHEMA + 1} > {SCHEMA}\)"):
        _ = folder.manifest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        "{}",
        '{"schema": 1}',
        '{"schema": "x", "plan": []}',
        "\ud800",
        "[" * 99999,
    ],
)
def test_a_damaged_manifest_is_named(folder, text):
    (folder.path / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(RunFolderError, match=r"manifest\.json is damaged"):
        _ = folder.manifest
