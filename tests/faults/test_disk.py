"""Disks that are full or read-only, folders that go away: a sentence, and nothing is lost."""

import errno
import os
import shutil
import subprocess
import sys
from itertools import count, repeat

import numpy as np
import pandas as pd
import pytest

from fwbench.errors import RunFolderError
from fwbench.store import RunFolder

from .made_writers import DEADLINE, arrays, lock, made_folder, process, record

FULL = "cannot be written: the disk is full, free some space"


def mounted(*arguments):
    command = shutil.which("mount")
    if sys.platform != "linux" or command is None or os.geteuid() != 0:
        pytest.skip("to mount a small disk takes Linux and root")
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")


@pytest.fixture
def disk(tmp_path):
    """Make a disk of 256 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted("-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place))
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def folder(disk):
    return made_folder(disk / "run", runs=3)


def fill(folder, free=0):
    """Fill the disk up to so many pages of 4 kB; return what takes the space."""
    ballast = folder.path.parent / "ballast"
    with ballast.open("wb", buffering=0) as file:
        with pytest.raises(OSError, match=r"\[Errno 28\]"):
            file.writelines(repeat(bytes(4096)))
        file.truncate(file.tell() - 4096 * free)
    return ballast


def ids(folder):
    return [found["row"]["run_id"] for found in folder.records()]


def assert_whole(folder, runs):
    assert ids(folder) == [f"r{number}" for number in runs]
    assert folder.damaged(folder.records()) == set()
    for number in runs:
        np.testing.assert_array_equal(
            folder.points(f"r{number}")["points"], arrays(number)["points"]
        )
    assert not [path for path in folder.path.rglob(".*") if path.name != ".lock"]


# -- a full disk -----------------------------------------------------------------------------


def test_a_full_disk_ends_a_run_and_loses_none(folder):
    done = list(range(3))

    def forever():
        for number in count(3):
            folder.append(record(f"r{number}"), arrays(number))
            done.append(number)

    with folder.locked(wait=False), pytest.raises(RunFolderError, match=FULL) as raised:
        forever()
    assert str(raised.value).endswith("; what was done before is safe, --resume does the rest")
    assert len(done) > 10
    assert_whole(folder, done)
    shutil.rmtree(folder.path / "points")  # frees space; these points are missed now
    assert len(folder.damaged(folder.records())) == len(done)


@pytest.mark.parametrize("free", range(4))
def test_a_line_that_fits_in_part_is_taken_back(folder, free):
    journal = folder.path / "journal.jsonl"
    before = journal.read_bytes()
    ballast = fill(folder, free)
    with folder.locked(wait=False):
        long = record("long", reason="x" * 30_000)
        with pytest.raises(RunFolderError, match=rf"journal\.jsonl {FULL}"):
            folder.append(long, {})
        assert journal.read_bytes() == before
        assert_whole(folder, range(3))
        ballast.unlink()
        folder.append(long, {})
        assert ids(folder) == ["r0", "r1", "r2", "long"]


def test_the_first_line_that_does_not_fit_leaves_an_empty_journal(disk):
    folder = made_folder(disk / "run")
    ballast = fill(folder, free=1)
    with pytest.raises(RunFolderError, match=FULL):
        folder.append(record("long", reason="x" * 30_000), {})
    assert folder.records() == []
    ballast.unlink()
    folder.append(record("r0"), arrays(0))
    assert_whole(folder, [0])


def test_a_torn_tail_is_cut_on_a_full_disk(folder):
    journal = folder.path / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole[:50])
    fill(folder)
    with folder.locked(wait=False):
        folder.mend()
    assert journal.read_bytes() == whole


@pytest.mark.parametrize("free", range(3))
def test_damaged_lines_stay_where_no_space_is_for_them(folder, free):
    journal, aside = folder.path / "journal.jsonl", folder.path / "set_aside.jsonl"
    damaged = b"x" * 9000 + b"\n" + journal.read_bytes()
    journal.write_bytes(damaged)
    ballast = fill(folder, free)
    with folder.locked(wait=False):
        with pytest.raises(RunFolderError, match=rf"set_aside\.jsonl {FULL}"):
            folder.mend()
        assert journal.read_bytes() == damaged
        assert aside.read_bytes() == b""
        ballast.unlink()
        with pytest.warns(UserWarning, match="1 damaged line set aside"):
            folder.mend()
    assert_whole(folder, range(3))
    assert aside.stat().st_size == 9001


def test_views_that_do_not_fit_stay_the_old_ones(folder):
    folder.write_table("runs", pd.DataFrame({"a": [1]}))
    fill(folder)
    with pytest.raises(RunFolderError, match=rf"runs\.parquet {FULL}"):
        folder.write_table("runs", pd.DataFrame({"a": np.arange(9999)}))
    with pytest.raises(RunFolderError, match=rf"manifest\.json {FULL}"):
        folder.write_manifest({"plan": ["new"]})
    assert folder.manifest["plan"] == []
    assert pd.read_parquet(folder.path / "runs.parquet")["a"].tolist() == [1]
    assert_whole(folder, range(3))


def test_starting_anew_on_a_full_disk_loses_nothing(folder):
    before = (folder.path / "journal.jsonl").read_bytes()
    fill(folder)
    with pytest.raises(RunFolderError, match=FULL):
        RunFolder.create(folder.path, fresh=True)
    assert (folder.path / "journal.jsonl").read_bytes() == before
    assert_whole(folder, range(3))


def test_an_unwilling_disk_leaves_the_journal_as_it_was(tmp_path, monkeypatch):
    folder = made_folder(tmp_path / "run", runs=3)
    before = (folder.path / "journal.jsonl").read_bytes()

    def fails(descriptor):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fails)
    for points in ({}, arrays(3)):
        with pytest.raises(RunFolderError, match="Input/output error; what was done before is"):
            folder.append(record("r3"), points)
    assert (folder.path / "journal.jsonl").read_bytes() == before
    assert_whole(folder, range(3))


# -- a read-only disk ------------------------------------------------------------------------


def test_a_read_only_disk_is_named_and_read(folder):
    mounted("-o", "remount,ro", str(folder.path.parent))
    for write in (
        lambda: folder.append(record("r3"), {}),
        lambda: folder.append(record("r3"), arrays(3)),
        lambda: RunFolder.create(folder.path, fresh=True),
        lambda: RunFolder.create(folder.path.parent / "new"),
        lambda: lock(RunFolder.create(folder.path, resume=True)),
        lambda: folder.write_table("runs", pd.DataFrame({"a": [1]})),
        lambda: folder.write_manifest({"plan": []}),
    ):
        with pytest.raises(RunFolderError, match=r"cannot be .*: Read-only file system"):
            write()
    folder.mend()  # has nothing to write
    assert_whole(folder, range(3))


# -- a folder that goes away -----------------------------------------------------------------

GOES_ON = """
import sys
from pathlib import Path
from fwbench.errors import RunFolderError
from fwbench.store import RunFolder
sys.path.insert(0, sys.argv[2])
from made_writers import arrays, record
folder = RunFolder(Path(sys.argv[1]))
try:
    with folder.locked(wait=False):
        for number in range(10**9):
            folder.append(record(f"r{number}"), arrays(number))
            print(f"r{number}", flush=True)
except RunFolderError as error:
    print(error, flush=True)
"""


@pytest.mark.parametrize("anew", [False, True])
def test_a_folder_moved_in_mid_run_is_not_made_again(tmp_path, anew):
    folder = made_folder(tmp_path / "run")
    with process(GOES_ON, folder.path, os.path.dirname(__file__)) as child:
        assert child.stdout.readline() == "r0\n"
        folder.path.rename(tmp_path / "moved")
        if anew:
            (folder.path / "points").mkdir(parents=True)
        *done, said = child.communicate(timeout=DEADLINE)[0].splitlines()
    assert said.startswith(str(folder.path))
    assert "deleted" in said or "cannot be written: No such file" in said
    assert folder.path.exists() == anew
    assert [path for path in tmp_path.glob("run/**/*") if path.is_file()] == []
    kept = RunFolder(tmp_path / "moved")
    assert ids(kept)[: 1 + len(done)] == ["r0", *done]
    assert not kept.damaged(kept.records()) & {"r0", *done}
