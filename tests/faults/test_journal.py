"""What a run folder holds outlives its processes: locks, kills at any moment, damaged bytes."""

import errno
import fcntl
import os
import random
import signal
import socket
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fwbench.errors import RunFolderError
from fwbench.journal import record_of
from fwbench.store import RunFolder

from .made_writers import DEADLINE, HOLDS, arrays, lock, made_folder, process, record

calm = settings(
    deadline=None, derandomize=True, database=None, max_examples=80,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    return made_folder(tmp_path / "run", runs=4)


def ids(folder):
    return [found["row"]["run_id"] for found in folder.records()]


def gone_on(child):
    """Let a process that waits for a line go on, and wait until it has ended."""
    child.stdin.close()
    assert child.wait(DEADLINE) == 0


# -- the lock --------------------------------------------------------------------------------


def test_a_second_process_is_refused_and_told_by_whom(folder):
    with process(HOLDS, folder.path, "refuse") as first:
        assert first.stdout.readline() == "holds []\n"
        who = rf"\({first.pid} on [\w.-]+ since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\+00:00\)"
        with pytest.raises(RunFolderError, match=rf"run is being .* another process {who}; --res"):
            lock(folder)
        with pytest.raises(RunFolderError, match="is being written by another process"):
            RunFolder.create(folder.path, fresh=True)
        assert ids(folder) == ["r0", "r1", "r2", "r3"]  # to read needs no lock
        assert folder.manifest["plan"] == []
        gone_on(first)
    lock(folder)


def test_a_killed_process_leaves_no_lock(folder):
    spawns = f"""import subprocess
    print(subprocess.Popen(["sleep", "{DEADLINE}"], stdout=subprocess.DEVNULL).pid, flush=True)
    sys.stdin"""
    with process(HOLDS.replace("sys.stdin", spawns), folder.path, "refuse") as first:
        assert first.stdout.readline() == "holds []\n"
        grandchild = int(first.stdout.readline())
        try:
            first.kill()
            assert first.wait(DEADLINE) == -signal.SIGKILL
            os.kill(grandchild, 0)  # it outlives its parent, and holds nothing
            lock(folder)
        finally:
            os.kill(grandchild, signal.SIGKILL)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a child by fork takes a system that forks")
def test_a_forked_child_keeps_no_lock_that_was_given_back(folder):
    forks = """
import os, sys
from pathlib import Path
from fwbench.store import RunFolder
folder = RunFolder(Path(sys.argv[1]))
with folder.locked(wait=False):
    if not (child := os.fork()):
        os.close(1)  # else a reader would wait for this child too
        os.close(2)
        sys.stdin.readline()
        os._exit(0)
with folder.locked(wait=False):
    print("locked again", flush=True)
os.waitpid(child, 0)
"""
    with process(forks, folder.path) as parent:
        assert parent.stdout.readline() == "locked again\n"
        gone_on(parent)


def test_who_waits_says_so_once_and_goes_on_when_the_other_has_ended(folder):
    with process(HOLDS, folder.path, "wait") as first:
        assert first.stdout.readline() == "holds []\n"
        with process(HOLDS, folder.path, "wait") as second:
            said = second.stdout.readline()
            assert f"by another process ({first.pid} on {socket.gethostname()}" in said
            assert said.endswith("waiting until it has ended\n")
            (folder.path / "mark").touch()
            first.kill()
            assert second.stdout.readline() == "holds ['mark']\n"
            gone_on(second)


def test_a_wait_can_be_interrupted(folder):
    # tests that run in the background have it ignored, and so would a child
    heeds = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" + HOLDS
    with folder.locked(wait=False), process(heeds, folder.path, "wait") as second:
        assert "waiting" in second.stdout.readline()
        second.send_signal(signal.SIGINT)
        assert second.wait(DEADLINE) != 0
        assert "KeyboardInterrupt" in second.stderr.read()


def blocked(process_id, path):
    """Whether a process waits for the lock on a file, as far as the system says so."""
    waits = Path("/proc/locks")
    if not waits.exists():
        return True
    lines = [line.split() for line in waits.read_text().splitlines() if "->" in line]
    inode = str(path.stat().st_ino)
    return any(str(process_id) in line and line[6].endswith(f":{inode}") for line in lines)


def test_a_lock_file_that_is_deleted_misleads_nobody(folder):
    with process(HOLDS, folder.path, "wait") as first:
        assert first.stdout.readline() == "holds []\n"
        with process(HOLDS, folder.path, "wait") as second:
            assert "waiting" in second.stdout.readline()
            (folder.path / ".lock").unlink()
            with folder.locked(wait=False):
                gone_on(first)
                until = time.monotonic() + DEADLINE
                while not blocked(second.pid, folder.path / ".lock"):
                    assert time.monotonic() < until, "it does not wait for the new file"
            assert second.stdout.readline() == "holds []\n"  # and has said nothing again
            with pytest.raises(RunFolderError, match=f"another process .{second.pid} on"):
                lock(folder)


@pytest.mark.parametrize("wait", [False, True])
def test_one_process_locks_a_folder_once(folder, wait):
    with folder.locked(wait=False):
        for again in (folder, RunFolder(folder.path)):
            with pytest.raises(RunFolderError, match="by this very process already"):
                lock(again, wait=wait)
        folder.append(record("d"), {})
    lock(folder, wait)  # it was released


@pytest.mark.parametrize(
    "content", [b"", b"\xff\0", b"[]", b'{"pid": 1}', b'{"pid":1,"host":"<b>","since":"3"}', None]
)
def test_what_the_lock_file_says_does_not_matter(folder, content):
    own = f'{{"pid": {os.getpid()}, "host": "{socket.gethostname()}", "since": "2020"}}'.encode()
    (folder.path / ".lock").write_bytes(own if content is None else content)
    lock(folder)
    if content is None:
        return
    with process(HOLDS, folder.path, "refuse") as other:
        assert other.stdout.readline() == "holds []\n"
        (folder.path / ".lock").write_bytes(content)
        with pytest.raises(RunFolderError, match=r"another process \(unknown\)"):
            lock(folder)


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named(folder, monkeypatch, code):
    def refuses(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuses)
    with pytest.raises(RunFolderError, match=r"run cannot be locked: .*an --out on a local disk"):
        lock(folder, wait=True)


def test_what_is_in_the_way_of_a_lock_is_named(folder, tmp_path):
    with pytest.raises(RunFolderError, match="nowhere cannot be locked: No such file"):
        lock(RunFolder(tmp_path / "nowhere"), wait=True)
    (tmp_path / "thesis").write_text("years")
    (folder.path / ".lock").symlink_to(tmp_path / "thesis")
    with pytest.raises(RunFolderError, match="run cannot be locked: Too many levels"):
        lock(folder)
    assert (tmp_path / "thesis").read_text() == "years"
    (folder.path / ".lock").unlink()
    (folder.path / ".lock").mkdir()
    with pytest.raises(RunFolderError, match="run cannot be locked: Is a directory"):
        lock(folder)


def test_a_folder_in_other_hands_is_not_written(folder, tmp_path):
    with folder.locked(wait=False):
        folder.path.rename(tmp_path / "moved")
        other = made_folder(folder.path, runs=1)
        with other.locked(wait=False):
            before = contents(folder.path)
            for write in (
                lambda: folder.append(record("d"), arrays(1)),
                lambda: folder.write_manifest({"plan": [1]}),
            ):
                with pytest.raises(RunFolderError, match="now belongs to another process"):
                    write()
            assert contents(folder.path) == before
    assert ids(RunFolder(tmp_path / "moved")) == ["r0", "r1", "r2", "r3"]


def contents(path):
    return {found: found.is_file() and found.read_bytes() for found in path.rglob("*")}


# -- killed while it writes ------------------------------------------------------------------

APPENDS = """
import sys
from pathlib import Path
from fwbench.store import RunFolder
sys.path.insert(0, sys.argv[2])
from made_writers import arrays, record
folder = RunFolder.create(Path(sys.argv[1]), resume=True)
with folder.locked(wait=False):
    folder.mend()
    for number in range(int(sys.argv[3]), 10**9):
        folder.append(record(f"r{number}", value=number / 7), arrays(number))
        print(f"r{number}", flush=True)
"""


def killed_while_appending(folder, chance, first):
    """Kill a process at a random moment while it appends; return the runs it said were done."""
    done = []
    here = os.path.dirname(__file__)
    with process(APPENDS, folder.path, here, first) as child:
        for _ in range(chance.randrange(1, 30)):
            done.append(child.stdout.readline().strip())
        time.sleep(chance.uniform(0, 0.004))  # the moment of the kill, nothing waits for it
        child.kill()
        rest, errors = child.communicate(timeout=DEADLINE)
        assert errors == ""
    return done + rest.split()


def survived(folder, times, seed):
    chance, done = random.Random(seed), [f"r{number}" for number in range(4)]
    for _ in range(times):
        done += killed_while_appending(folder, chance, len(done))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".* and a torn last one left out")
            records = folder.records()
        values = {found["row"]["run_id"]: found["row"]["value"] for found in records}
        assert list(values)[: len(done)] == done
        assert len(values) - len(done) in (0, 1)  # on the disk, and killed before it said so
        assert not folder.damaged(records) & set(done)
        for number, run_id in enumerate(done):
            assert values[run_id] == number / 7
            np.testing.assert_array_equal(folder.points(run_id)["points"], arrays(number)["points"])
        with folder.locked(wait=False):
            folder.mend()
            assert not [path for path in folder.path.rglob(".*") if path.name != ".lock"]


def test_what_was_said_to_be_done_outlives_kills(folder):
    survived(folder, 5, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_what_was_said_to_be_done_outlives_many_kills(folder, seed):
    survived(folder, 10, seed)


def test_a_view_killed_before_it_is_whole_is_the_old_one(folder):
    source = """
import os, signal, sys
from pathlib import Path
from fwbench.store import RunFolder
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
RunFolder(Path(sys.argv[1])).write_manifest({"plan": ["new"]})
"""
    with process(source, folder.path) as child:
        assert child.wait(DEADLINE) == -signal.SIGKILL
    assert (folder.path / f".manifest.json.{child.pid}").exists()
    assert folder.manifest["plan"] == []
    with folder.locked(wait=False):
        assert not (folder.path / f".manifest.json.{child.pid}").exists()


# -- damaged bytes ---------------------------------------------------------------------------


@pytest.fixture
def unsynced(monkeypatch):
    """Leave out what costs time alone where no process is killed."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def check(folder, whole, changed):
    """Compare what is read of a changed journal with the lines that stayed as they were."""
    journal = folder.path / "journal.jsonl"
    aside = folder.path / "set_aside.jsonl"
    aside.unlink(missing_ok=True)
    journal.write_bytes(changed)
    good = set(whole.splitlines(keepends=True))
    *lines, tail = changed.split(b"\n")
    kept = [line + b"\n" for line in lines if line + b"\n" in good]
    bad = [line + b"\n" for line in lines if line + b"\n" not in good]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = folder.records()
        assert len(said) == bool(bad or tail)
        folder.mend()
    assert found == list({r["row"]["run_id"]: r for r in map(record_of, kept)}.values())
    assert folder.records() == found
    assert journal.read_bytes() == b"".join(kept)
    assert (aside.read_bytes() if bad else b"") == b"".join(bad)
    assert aside.exists() == bool(bad)


@pytest.mark.usefixtures("unsynced")
def test_a_tail_torn_at_any_byte(tmp_path):
    folder = made_folder(tmp_path / "run", runs=2)
    whole = (folder.path / "journal.jsonl").read_bytes()
    for length in range(len(whole) + 1):
        check(folder, whole, whole[:length])
        check(folder, whole, whole[:length] + bytes(5))  # a length without its bytes


@pytest.mark.usefixtures("unsynced")
@calm
@given(data=st.data())
def test_bytes_changed_anywhere(folder, data):
    whole = b"".join(
        b'{"checksum": ' + line
        for line in (folder.path / "journal.jsonl").read_bytes().split(b'{"checksum": ')[1:5]
    )
    changed = bytearray(whole)
    places = st.integers(0, len(whole) - 1)
    for place in data.draw(st.lists(places, min_size=1, max_size=4)):
        changed[place] = data.draw(st.sampled_from(b'\n \t\0\xff"},0e') | st.integers(0, 255))
    check(folder, whole, bytes(changed[: data.draw(places | st.just(len(whole)))]))
    (folder.path / "journal.jsonl").write_bytes(whole)


@pytest.mark.usefixtures("unsynced")
@calm
@given(st.lists(st.binary(max_size=30), max_size=6), st.integers(0, 4))
def test_foreign_bytes_between_lines(folder, foreign, place):
    lines = (folder.path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    between = b"".join(piece + b"\n" for piece in foreign)
    check(folder, b"".join(lines), b"".join([*lines[:place], between, *lines[place:]]))
    (folder.path / "journal.jsonl").write_bytes(b"".join(lines))
