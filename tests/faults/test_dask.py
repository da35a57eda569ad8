"""Runs on a real Dask cluster on loopback: two workers, one of them killed in mid-run."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

from fwbench.errors import ClusterError
from fwbench.execution.here import Here
from fwbench.execution.tasks import Assignment
from fwbench.planning import Question, plan
from fwbench.session import execute
from fwbench.store import RunFolder

from . import made_cluster as made

pytest.importorskip("distributed", reason="the extra dask is not installed")
from fwbench.execution import members
from fwbench.execution.cluster import Cluster

CONVEX = "min_norm_point[n=8,d=2,shift=1]"
# what another process, or another time, may change in a row; `pass_seconds` and the like too
OTHERWISE = {"host", "order", "noisy", "shared", "steal", "peak_memory", "cache_key", "attempts"}


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with made.cluster(tmp_path_factory.mktemp("dask")) as running:
        yield running


@pytest.fixture(scope="module")
def cluster(running):
    with Cluster(running.address) as cluster:
        made.until(
            lambda: cluster._members.look() or len(cluster._members.there) == 2 or None,
            "second worker",
        )
        yield cluster


@pytest.fixture
def shipped(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "shipped.py").write_text(made.SOLVER)
    (folder / "beside_it.py").write_text(made.BESIDE)
    (folder / "number.txt").write_text("four")
    return str(folder / "shipped.py")


def asked(*solvers, problems=(CONVEX,), **limits):
    limits = {"max_steps": 20, "max_seconds": 30.0} | limits
    return plan(Question(problems=problems, solvers=solvers, limits=limits))[0]


def rows(executor, tasks, stopped=lambda: False):
    found = {}
    for done in executor.run(map(Assignment, tasks), stopped):
        row = done.record["row"]
        assert row["run_id"] not in found
        found[row["run_id"]] = row
    return [found[task.run_id] for task in tasks if task.run_id in found]


def same(row):
    return {
        name: value
        for name, value in row.items()
        if name not in OTHERWISE and "seconds" not in name and not name.startswith(("load", "freq"))
    }


def test_runs_are_those_of_one_process(cluster, tmp_path):
    points = tmp_path / "points [of mine].npy"
    np.save(points, np.random.default_rng(0).normal(size=(12, 3)) + 1)
    problems = (CONVEX, "polygon[k=3,queries=1]", str(points))
    tasks = asked("frank_wolfe[step=exact]", "away_steps", "auto", problems=problems)
    there, here = rows(cluster, tasks), rows(Here(), tasks)
    assert len(there) == 9
    assert {row["status"] for row in there} <= {"converged", "finished", "budget"}
    assert [same(row) for row in there] == [same(row) for row in here]
    assert {row["attempts"] for row in there} == {1}
    assert {row["shared"] for row in there} == {True}  # two workers, one machine
    assert {row["host"] for row in there} == set(cluster.hosts)


def test_a_file_is_sent_with_the_modules_that_it_imports(cluster, shipped, tmp_path, monkeypatch):
    monkeypatch.setattr(members, "PIECE", 500)  # bytes: the files come in pieces
    np.save(tmp_path / "mine" / "square.npy", [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    (tmp_path / "mine" / "square.py").write_text(made.PROBLEM)
    tasks = asked(
        shipped, f"{shipped}[mode=raise]", problems=(str(tmp_path / "mine" / "square.py"), CONVEX)
    )
    there = rows(cluster, tasks)
    assert [row["status"] for row in there] == ["budget", "error"] * 2
    assert there[1]["reason"] == "ValueError: as four says"
    # its traceback names the file as it is called here
    assert f'"{shipped}"' in there[1]["traceback"]
    assert [same(row) for row in there] == [same(row) for row in rows(Here(), tasks)]


def test_a_crash_costs_its_run(cluster, shipped):
    tasks = asked(f"{shipped}[mode=crash]", shipped, "frank_wolfe[step=exact]")
    crashed, *others = rows(cluster, tasks)
    assert (crashed["status"], crashed["signal"]) == ("crashed", "SIGSEGV")
    assert crashed["attempts"] == 1
    assert [row["status"] for row in others] == ["budget"] * 2


def test_resumed_on_the_same_cluster_nothing_is_run_again(cluster, shipped, tmp_path):
    points = tmp_path / "points.csv"
    points.write_text("1,2\n3,4\n5,1\n")
    tasks = asked(shipped, "frank_wolfe[step=exact]", problems=(CONVEX, str(points)))
    folder = RunFolder.create(tmp_path / "run")
    assert execute(folder, tasks, None, "test", lambda task, row: None, executor=cluster)
    assert len(folder.records()) == 4
    folder = RunFolder.create(tmp_path / "run", resume=True)
    ran = []
    assert execute(folder, tasks, None, "test", lambda task, row: ran.append(row), executor=cluster)
    assert ran == []
    # an edit of what it imports is one of the solver
    (tmp_path / "mine" / "beside_it.py").write_text(made.BESIDE + "\n# edited\n")
    folder = RunFolder.create(tmp_path / "run", resume=True)
    assert execute(folder, tasks, None, "test", lambda task, row: ran.append(row), executor=cluster)
    assert [row["solver"] for row in ran if row] == ["shipped"] * 2


def test_a_run_whose_worker_is_killed_is_made_by_another(cluster, shipped, tmp_path):
    gate = tmp_path / "gate"
    tasks = asked(
        f'{shipped}[mode=wait,gate="{gate}"]', "frank_wolfe[step=exact]", "away_steps", "pairwise"
    )
    killed = {}

    def kill():
        killed.update(made.started(tmp_path))
        os.kill(killed["worker"], signal.SIGKILL)
        killed["again"] = made.started(tmp_path, but=(killed["run"],))
        gate.touch()

    killer = threading.Thread(target=kill)
    killer.start()
    there = rows(cluster, tasks)
    killer.join()
    assert {row["status"] for row in there} <= {"budget", "converged"}
    assert [row["attempts"] for row in there] == [2, 1, 1, 1]
    made.gone(killed["run"])  # with the worker that it belonged to
    assert killed["again"]["worker"] != killed["worker"]


def test_a_run_that_nobody_survives_is_given_up(cluster, running, shipped, tmp_path, monkeypatch):
    monkeypatch.setattr("fwbench.execution.cluster.REST_SECONDS", 0.0)
    tasks = asked(f"{shipped}[mode=crash]", "frank_wolfe[step=exact]")
    first = tasks[0].run_id
    sent = cluster._sent

    def refuse(waiting, *rest):
        if waiting.assignment.task.run_id == first:
            raise OSError("no room")
        return sent(waiting, *rest)

    monkeypatch.setattr(cluster, "_sent", refuse)
    given_up, other = rows(cluster, tasks)
    assert (given_up["status"], given_up["attempts"]) == ("crashed", 3)
    assert given_up["reason"].count("tcp://127.0.0.1:") == 3
    assert other["status"] == "budget"


def test_an_interruption_ends_the_run_in_flight(cluster, shipped, tmp_path):
    tasks = asked(f'{shipped}[mode=wait,gate="{tmp_path / "never"}"]', "frank_wolfe[step=exact]")
    flying = {}

    def stopped():
        if not flying and list(tmp_path.glob("started-*.json")):
            flying.update(made.started(tmp_path))
        return bool(flying)

    there = rows(cluster, tasks, stopped)
    assert there[0]["status"] == "interrupted"
    made.gone(flying["run"])


def test_a_session_leaves_nothing_behind(running, shipped):
    with Cluster(running.address) as cluster:
        rows(cluster, asked(shipped))
        names = [member.folder for member in cluster._members.there.values()]
        assert all(map(os.path.isdir, names))
    assert not any(map(os.path.isdir, names))


def test_a_session_that_is_killed_ends_on_the_workers(running, shipped, tmp_path):
    source = (
        "from fwbench.execution import members\n"
        "members.LEASE_SECONDS, members.RENEW_SECONDS = 2.0, 0.2\n"
        "from fwbench.cli import main\n"
        "main()\n"
    )
    solver = f'{shipped}[mode=wait,gate="{tmp_path / "never"}"]'
    command = ["run", "-s", solver, "-p", CONVEX, "--dask", running.address]
    with (tmp_path / "log").open("wb") as log:
        session = subprocess.Popen(
            [sys.executable, "-c", source, *command, "--out", tmp_path / "run"],
            stdout=log,
            stderr=log,
        )
    try:
        flying = made.started(tmp_path, session=session)
    finally:
        session.kill()
        session.wait(made.DEADLINE)
    made.gone(flying["run"])
    assert made.alive(flying["worker"])


def test_a_large_file_is_refused(cluster, shipped, monkeypatch):
    monkeypatch.setattr("fwbench.execution.shipping.LARGEST_FILE", 100)
    [row] = rows(cluster, asked(shipped))
    assert row["status"] == "error"
    assert "are sent to Dask workers" in row["reason"]


def test_a_worker_of_another_version_is_refused(running, monkeypatch):
    versions = members.sources.numerics()
    monkeypatch.setattr(members.sources, "numerics", lambda: versions | {"fwbench": "9.9"})
    with (
        pytest.raises(ClusterError, match=r"fwbench is .* there and 9\.9 here"),
        Cluster(running.address),
    ):
        pass


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1", "as tcp://127.0.0.1:8786; got '127.0.0.1'"),
        ("http://127.0.0.1:80", "as tcp"),
        ("tcp://127.0.0.1:99999", "as tcp"),
        ("tcp://127.0.0.1:1", "no Dask scheduler answers"),
    ],
)
def test_an_address_where_no_scheduler_is(address, said):
    with pytest.raises(ClusterError, match=said), Cluster(address):
        pass


def test_an_address_where_something_else_is(running, monkeypatch):
    monkeypatch.setattr(members, "CONNECT_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, says nothing
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ClusterError, match="no Dask scheduler answers"), Cluster(address):
            pass
    with Cluster(running.address) as cluster:
        worker = next(iter(cluster._members.there))
    with pytest.raises(ClusterError, match="a Dask Worker stands there"), Cluster(worker):
        pass


def test_a_cluster_without_workers_is_refused(running, monkeypatch):
    monkeypatch.setattr(members, "WORKERS_SECONDS", 0.0)
    monkeypatch.setattr(members.Members, "look", lambda self, anew: [])
    with (
        pytest.raises(
            ClusterError, match=r"no worker within 0 s; start one with: dask worker tcp:"
        ),
        Cluster(running.address),
    ):
        pass


def test_a_cluster_that_loses_all_workers_ends_the_session(running, monkeypatch):
    monkeypatch.setattr("fwbench.execution.cluster.WORKERS_SECONDS", 0.1)
    with Cluster(running.address) as cluster:
        monkeypatch.setattr(cluster._members, "look", lambda: cluster._members.there.clear() or [])
        with pytest.raises(
            ClusterError, match=r"has no worker any more; .* --resume does the rest"
        ):
            rows(cluster, asked("pairwise"))


def waiting(shipped, tmp_path, address, *others):
    """Start a session of which one run waits for ever."""
    solver = f'{shipped}[mode=wait,gate="{tmp_path / "never"}"]'
    command = ["run", "-s", solver, "-p", CONVEX, "--max-steps", "20", "--no-report", "--json"]
    command += [word for other in others for word in ("-s", other)]
    with (tmp_path / "out").open("wb") as out, (tmp_path / "log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "fwbench", *command, "--dask", address, "--out", "run"],
            stdout=out,
            stderr=log,
            cwd=tmp_path,
            env=os.environ | {"TMPDIR": str(tmp_path)},
        )


@pytest.mark.slow
def test_ctrl_c_saves_what_there_is_and_ends_workers_of_its_own(shipped, tmp_path):
    session = waiting(
        shipped, tmp_path, "local", "frank_wolfe[step=exact]", f"{shipped}[mode=crash]"
    )
    try:
        flying = made.started(tmp_path, session=session)
        made.until(lambda: len(journal(tmp_path)) == 2 or None, "second run")
        session.send_signal(signal.SIGINT)
        assert session.wait(made.DEADLINE) == 130
    finally:
        session.kill()
        session.wait(made.DEADLINE)
    made.gone(flying["run"], flying["worker"])
    said = (tmp_path / "log").read_text()
    assert "interrupted; what was done is saved" in said
    assert "distributed" not in said
    assert "Traceback" not in said
    statuses = sorted(row["status"] for row in json.loads((tmp_path / "out").read_text())["runs"])
    assert statuses == ["budget", "crashed", "interrupted"]
    assert list(tmp_path.glob("fwbench-dask-*")) == []


def journal(tmp_path):
    folder = RunFolder(tmp_path / "run")
    return folder.records() if folder.has_journal else []


@pytest.mark.slow
def test_workers_of_its_own_end_with_a_session_that_is_killed(shipped, tmp_path):
    session = waiting(shipped, tmp_path, "local")
    try:
        flying = made.started(tmp_path, session=session)
    finally:
        session.kill()
        session.wait(made.DEADLINE)
    made.gone(flying["run"], flying["worker"])
    made.until(lambda: not list(tmp_path.glob("fwbench-dask-*")) or None, "folder removed")
