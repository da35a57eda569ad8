import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fwbench import session
from fwbench.errors import InvalidParameter, RunFolderError, UnknownName
from fwbench.execution.tasks import Task
from fwbench.findings import build
from fwbench.planning import Question, plan, planned_again
from fwbench.runner import Budget
from fwbench.session import execute
from fwbench.store import RunFolder

MISBEHAVING = str(Path(__file__).parents[1] / "made" / "misbehaving.py")
CONVEX = "min_norm_point[n=8,d=2,shift=1]"
CONCAVE = "polygon[k=4,queries=1]"
SHORT = {"max_steps": 20}


def asked(**question):
    return plan(Question(**{"limits": SHORT, **question}))[0]


def silent(task, row):
    pass


def ran(path, tasks, told=silent, **create):
    folder = RunFolder.create(path, **create)
    return folder, execute(folder, tasks, None, "test", told)


def written(folder, content, name="mine.toml"):
    path = folder / name
    path.write_text(content)
    return str(path)


# -- the plan --------------------------------------------------------------------------------


def test_every_solver_meets_every_problem_as_often_as_asked():
    tasks = asked(problems=(CONVEX, CONCAVE), solvers=("frank_wolfe", "away_steps"), repeat=2)
    turns = [sorted(task.order for task in tasks[i : i + 3]) for i in range(0, 12, 3)]
    assert turns == [[i, i + 1, i + 2] for i in range(0, 12, 3)]
    assert [task.repetition for task in tasks] == [0, 0, 0, 1, 1, 1] * 2  # in turns
    assert [task.solver_label for task in tasks[:3]] == [
        "frank_wolfe", "frank_wolfe[step=exact]", "away_steps",
    ]  # fmt: skip
    assert len({task.run_id for task in tasks}) == len(tasks)


def test_a_suite_may_ask_for_repetitions(tmp_path):
    block = f'[[block]]\nproblems = ["{CONVEX}"]\nsolvers = ["away_steps"]\n'
    path = written(tmp_path, block + "repeat = 2\n")
    for asked_for, times in ((1, 2), (3, 3)):
        tasks, _ = plan(Question(path, repeat=asked_for))
        assert [task.repetition for task in tasks if task.solver_label == "away_steps"] == list(
            range(times)
        )


def test_what_is_asked_twice_runs_once():
    alike = ("min_norm_point[n=8,d=2,shift=1]", "min_norm_point[ d=2, n=8.0, shift=1e0 ]")
    solvers = ("frank_wolfe[step=exact]", "frank_wolfe")
    assert len(asked(problems=alike, solvers=solvers)) == 2


def test_without_a_question_the_default_suite_runs():
    tasks, described = plan(Question())
    assert described["suite"] == "quick@1"
    assert len(described["suite_digest"]) == 16
    assert len(tasks) <= 250


def test_without_solvers_all_take_part():
    solvers = {task.solver for task in asked(problems=(CONVEX,))}
    assert {text.partition("[")[0] for text in solvers} == set(session.catalog.names("solvers"))


def test_a_seed_is_every_seed_not_given():
    tasks = asked(problems=(CONVEX, "polygon[seed=3]"), solvers=("frank_wolfe",), seed=7)
    assert {task.seed for task in tasks} == {7, 3}
    assert all(f"seed={task.seed}" in task.instance for task in tasks)


def test_limits_given_outweigh_the_suite(tmp_path):
    block = f'[[block]]\nproblems = ["{CONVEX}"]\nsolvers = ["cvxpy_reference"]\n'
    path = written(tmp_path, block + "tol = 1e-3\nmax_steps = 7\n")
    [task] = plan(Question(path))[0]
    assert task.budget == Budget(tol=1e-3, max_steps=7)
    [task] = plan(Question(path, limits={"max_steps": 9}))[0]
    assert task.budget == Budget(tol=1e-3, max_steps=9)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"tol": 0}, "tol must be a positive number; got 0"),
        ({"tol": -1e-3}, "tol must be a positive number"),
        ({"tol": float("nan")}, "tol must be a positive number; got nan"),
        ({"tol": float("inf")}, "tol must be a positive number; got inf"),
        ({"tol": "1e-3"}, "tol must be a positive number; got '1e-3'"),
        ({"max_steps": 0}, "max_steps must be a positive integer; got 0"),
        ({"max_steps": 10.0}, "max_steps must be a positive integer; got 10.0"),
        ({"max_steps": True}, "max_steps must be a positive integer; got True"),
        ({"max_seconds": 0.0}, "max_seconds must be a positive number"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(limits, said):
    with pytest.raises(InvalidParameter, match=said):
        asked(problems=(CONVEX,), solvers=("away_steps",), limits=limits)


def test_names_are_checked_before_anything_runs(tmp_path):
    with pytest.raises(UnknownName, match="did you mean away_steps"):
        asked(problems=(CONVEX,), solvers=("away_step",))
    with pytest.raises(UnknownName, match="did you mean polygon"):
        plan(Question(written(tmp_path, '[[block]]\nproblems = ["polygno"]\n')))


# -- run_id ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "said"),
    [
        ("markov_attention[replicas=0]", "replicas must lie in"),
        ("attention_flow[h=0]", "h must be positive"),
        ("softmax_attention[beta=-1]", "must not be negative"),
    ],
)
def test_parameters_are_checked_before_anything_runs(solver, said):
    with pytest.raises(InvalidParameter, match=said):
        asked(solvers=(solver,), problems=(CONVEX,))


def test_the_run_id_is_a_hash_of_what_is_asked():
    [task] = asked(problems=(CONVEX,), solvers=("away_steps",), limits={"tol": 1e-6})
    facts = [
        "min_norm_point[n=8,d=2,shift=1,face=-1,condition=1,seed=0]",
        "away_steps[step=exact,cache_mebibytes=64]",
        0,
        {"tol": 1e-6, "max_steps": 10_000, "max_seconds": 10.0},
    ]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    assert task.run_id == digest[:16]


def test_equal_limits_have_one_run_id():
    [a] = asked(problems=(CONVEX,), solvers=("away_steps",), limits={"tol": 1, "max_seconds": 2})
    [b] = asked(
        problems=(CONVEX,), solvers=("away_steps",), limits={"tol": 1.0, "max_seconds": 2.0}
    )
    assert a.run_id == b.run_id


def test_every_part_of_a_question_changes_the_run_id():
    base = {"problems": (CONVEX,), "solvers": ("away_steps",)}
    questions = [
        base,
        base | {"problems": ("min_norm_point[n=8,d=2]",)},
        base | {"solvers": ("away_steps[step=short]",)},
        base | {"seed": 1},
        *(
            base | {"limits": limit}
            for limit in ({"tol": 1e-3}, {"max_steps": 3}, {"max_seconds": 3})
        ),
    ]
    ids = [asked(**question)[0].run_id for question in questions]
    ids.append(asked(**base, repeat=2)[1].run_id)
    assert len(set(ids)) == 8


def test_a_task_is_plain_data():
    tasks = asked(problems=(CONVEX,), solvers=("frank_wolfe",))
    again = [Task.from_dict(json.loads(json.dumps(task.as_dict()))) for task in tasks]
    assert again == tasks
    for damaged in ({}, {"budget": {}}, tasks[0].as_dict() | {"extra": 1}):
        with pytest.raises(RunFolderError, match="plan of a manifest"):
            Task.from_dict(damaged)


# -- the exact reference ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solvers", "problems", "added"),
    [
        (["frank_wolfe"], [CONVEX, CONCAVE], [CONVEX]),
        (["frank_wolfe", "cvxpy_reference"], [CONVEX], []),
        (["frank_wolfe", "vertex_enumeration"], [CONVEX], []),  # it has a direct method
        (["frank_wolfe"], [CONCAVE], []),
        (["frank_wolfe"], ["min_norm_point[n=0]", CONVEX], [CONVEX]),  # the first cannot be built
    ],
)
def test_a_suite_without_a_direct_method_gets_one(tmp_path, solvers, problems, added):
    texts = {"problems": problems, "solvers": solvers}
    content = "[[block]]\n" + "\n".join(f"{key} = {json.dumps(texts[key])}" for key in texts)
    tasks, _ = plan(Question(written(tmp_path, content)))
    extra = [task.instance_label for task in tasks if task.solver_label == "cvxpy_reference"]
    assert extra == (added or [CONVEX] * ("cvxpy_reference" in solvers))
    assert sorted(task.order for task in tasks) == list(range(len(tasks)))


def test_who_chooses_solvers_gets_those_alone(tmp_path):
    path = written(tmp_path, f'[[block]]\nproblems = ["{CONVEX}"]\nsolvers = ["frank_wolfe"]')
    [task] = plan(Question(path, solvers=("away_steps",)))[0]
    assert task.solver_label == "away_steps"
    assert len(asked(problems=(CONVEX,), solvers=("away_steps",))) == 1


# -- names that cannot be told apart ---------------------------------------------------------


def test_a_file_called_like_another_solver_is_refused(tmp_path):
    source = Path(session.catalog.files("solvers")["away_steps"]).read_text()
    (tmp_path / "mine.py").write_text(source)
    with pytest.raises(InvalidParameter, match=r"both called away_steps.*give one another name"):
        asked(problems=(CONVEX,), solvers=("away_steps", str(tmp_path / "mine.py")))
    (tmp_path / "mine.py").write_text(source.replace('name="away_steps"', 'name="mine"'))
    assert len(asked(problems=(CONVEX,), solvers=("away_steps", str(tmp_path / "mine.py")))) == 2


# -- every planned run leaves a row ----------------------------------------------------------

ENDS = {
    "none": "budget",
    "raise": "error",
    "exit": "error",
    "interrupt": "error",
    "memory": "memory",
    "unreadable": "error",
    "stuck": "error",
    "nan": "nonfinite",
    "outside": "infeasible",
    "claim": "wrong",
    "count": "error",
}


@pytest.fixture(scope="module")
def misbehaved(tmp_path_factory):
    solvers = (f"{MISBEHAVING}[mode={','.join(ENDS)}]", "away_steps", "vertex_enumeration")
    tasks = asked(problems=("min_norm_point[n=0,10]",), solvers=solvers)
    folder, whole = ran(tmp_path_factory.mktemp("session") / "run", tasks)
    assert whole
    return build(folder).runs


def test_whatever_a_solver_does_costs_its_own_row_alone(misbehaved):
    rows = misbehaved[misbehaved["instance_label"] == "min_norm_point[n=10]"]
    ended = dict(zip(rows["solver_label"], rows["status"], strict=True))
    assert ended == {
        ("misbehaving" if mode == "none" else f"misbehaving[mode={mode}]"): status
        for mode, status in ENDS.items()
    } | {"away_steps": "budget", "vertex_enumeration": "skipped"}
    said = dict(zip(rows["solver_label"], rows["reason"], strict=True))
    assert said["misbehaving[mode=raise]"] == "ValueError: no such step"
    assert said["misbehaving[mode=exit]"] == "SystemExit: 0"
    assert "raised by the solver itself" in said["misbehaving[mode=interrupt]"]
    assert "message cannot be read" in said["misbehaving[mode=unreadable]"]
    assert "left state.steps at 0" in said["misbehaving[mode=stuck]"]
    failed = rows["status"].isin(["error", "memory"])
    assert rows.loc[failed, "traceback"].str.startswith("Traceback").all()


def test_a_problem_that_cannot_be_built_costs_its_rows(misbehaved):
    rows = misbehaved[misbehaved["instance_label"] == "min_norm_point[n=0]"]
    assert len(rows) == len(ENDS) + 2
    assert set(rows["status"]) == {"error"}
    assert rows["reason"].str.contains("n, d and condition must be at least 1").all()
    assert rows["n"].isna().all()


def test_a_file_that_vanished_costs_its_rows(tmp_path):
    shutil.copy(MISBEHAVING, tmp_path / "gone.py")
    tasks = asked(problems=(CONVEX,), solvers=(str(tmp_path / "gone.py"), "away_steps"))
    (tmp_path / "gone.py").unlink()
    folder, _ = ran(tmp_path / "run", tasks)
    rows = {record["row"]["solver_label"]: record["row"] for record in folder.records()}
    lost, kept = rows[tasks[0].solver_label], rows["away_steps"]
    assert lost["status"] == "error"
    assert "gone.py" in lost["reason"]
    assert kept["status"] == "converged"


def test_a_folder_that_vanished_stops_the_session(tmp_path):
    def told(task, row):
        if row is None and task.order == 1:
            shutil.rmtree(tmp_path / "run")

    tasks = asked(problems=(CONVEX,), solvers=("frank_wolfe",))
    with pytest.raises(RunFolderError, match="was deleted or moved while"):
        ran(tmp_path / "run", tasks, told)


# -- resuming --------------------------------------------------------------------------------


def test_a_model_that_leaves_the_hull_contests_nothing(tmp_path):
    leaves = 'hardmax_attention[values="0 1; -1 0",normalised=false]'
    folder, done = ran(tmp_path / "r", asked(solvers=(leaves,), problems=(CONCAVE,)))
    assert done
    found = build(folder)
    assert len(found.runs) == 1
    assert found.targets.empty
    assert found.winners.empty


def test_resuming_does_what_is_missing_and_what_failed(tmp_path):
    tasks = asked(problems=(CONVEX,), solvers=(f"{MISBEHAVING}[mode=raise,none]", "frank_wolfe"))
    failing = tasks[0].order
    ends = ["error" if order == failing else "budget" for order in range(4)]
    done = []

    def told(task, row):
        if row is None and len(done) == 3:
            signal.raise_signal(signal.SIGINT)
        if row is not None:
            done.append((task.order, row["status"]))

    folder, whole = ran(tmp_path / "run", tasks, told)
    assert not whole
    assert done == list(enumerate(ends))[:3]
    assert len(folder.records()) == 3
    done.clear()
    folder, whole = ran(tmp_path / "run", tasks, told, resume=True)
    assert whole
    assert [order for order, _ in done] == sorted({failing, 3})
    found = build(folder).runs
    assert found["order"].tolist() == [task.order for task in tasks]  # shown as asked
    assert "interrupted" not in set(found["status"])
    done.clear()
    ran(tmp_path / "run", tasks, told, resume=True)
    assert done == [(failing, "error")]


def test_resuming_mends_the_journal(tmp_path):
    tasks = asked(problems=(CONVEX,), solvers=("frank_wolfe", "away_steps"))
    folder, _ = ran(tmp_path / "run", tasks)
    journal = folder.path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0].replace(b"budget", b"bugdet") + lines[1] + lines[2][:-20])
    again = []
    with pytest.warns(UserWarning, match="1 damaged line"):
        folder, _ = ran(
            tmp_path / "run", tasks, lambda t, row: row and again.append(t.order), resume=True
        )
    assert again == [0, 2]
    assert len(folder.records()) == 3
    assert (folder.path / "set_aside.jsonl").exists()


def test_resuming_may_ask_for_more_but_not_for_something_else(tmp_path):
    few = asked(problems=(CONVEX,), solvers=("away_steps",))
    more = asked(problems=(CONVEX,), solvers=("frank_wolfe", "away_steps"))
    ran(tmp_path / "run", few)
    again = []
    folder, _ = ran(
        tmp_path / "run", more, lambda t, row: row and again.append(t.solver_label), resume=True
    )
    assert sorted(again) == ["frank_wolfe", "frank_wolfe[step=exact]"]
    assert build(folder).runs["solver"].tolist().count("away_steps") == 1
    assert planned_again(folder) == (more, None)
    with pytest.raises(RunFolderError, match="2 of its 3 runs are not in this one"):
        ran(tmp_path / "run", few, resume=True)
    assert planned_again(folder) == (more, None)


def own_solvers(folder):
    for name in ("a", "b"):
        source = (
            Path(MISBEHAVING)
            .read_text()
            .replace('SolverEntry("misbehaving"', f'SolverEntry("{name}"')
        )
        yield written(folder, source, f"{name}.py")


@pytest.mark.slow
def test_resuming_does_the_runs_of_an_edited_solver_again(tmp_path):
    a, b = own_solvers(tmp_path)
    tasks = asked(problems=(CONVEX, "min_norm_point[n=9,d=2]"), solvers=(a, b, "away_steps"))
    again = []

    def told(task, row):
        if row is not None:
            again.append((task.solver_label, row["status"]))

    ran(tmp_path / "run", tasks)
    ran(tmp_path / "run", tasks, told, resume=True)
    assert again == []
    worse = "state.x = state.x * np.nan; state.steps += steps"
    edited = Path(a).read_text().replace("state.steps += steps", worse)
    Path(a).write_text(edited)
    folder, whole = ran(
        tmp_path / "run", planned_again(RunFolder(tmp_path / "run"))[0], told, resume=True
    )
    assert whole
    assert again == [(tasks[0].solver_label, "nonfinite")] * 2
    found = build(folder).runs
    assert set(found.loc[found["solver"] == "a", "status"]) == {"nonfinite"}
    assert "nonfinite" not in set(found.loc[found["solver"] != "a", "status"])
    again.clear()
    ran(tmp_path / "run", tasks, told, resume=True)
    assert [label for label, _ in again] == [tasks[0].solver_label] * 2  # they failed


def test_resuming_does_the_runs_of_an_edited_problem_again(tmp_path):
    source = """import numpy as np
from fwbench.problem import ProblemEntry, QuadraticOverHull
def square():
    return QuadraticOverHull(np.eye(2), 1.0)
ENTRY = ProblemEntry("square", square, "a square")
"""
    path = written(tmp_path, source, "square.py")
    tasks = asked(problems=(path, CONVEX), solvers=("away_steps",))
    again = []
    ran(tmp_path / "run", tasks)
    Path(path).write_text(source.replace("np.eye(2)", "np.eye(3)[:, :2]"))
    folder, _ = ran(
        tmp_path / "run", tasks, lambda t, row: row and again.append(t.order), resume=True
    )
    assert again == [0]
    assert build(folder).runs["n"].tolist() == [3, 8]


def test_a_done_run_whose_solver_is_gone_is_not_done(tmp_path):
    a, b = own_solvers(tmp_path)
    tasks = asked(problems=(CONVEX,), solvers=(a, b))
    ran(tmp_path / "run", tasks)
    Path(b).write_text("raise KeyboardInterrupt")
    folder, whole = ran(tmp_path / "run", tasks, resume=True)
    assert whole
    ended = {record["row"]["solver"]: record["row"]["status"] for record in folder.records()}
    assert ended == {"a": "budget", "b": "error"}


def test_a_ctrl_c_while_done_runs_are_compared_stops_the_session(tmp_path, monkeypatch):
    tasks = asked(problems=(CONVEX,), solvers=("away_steps", "frank_wolfe"))
    ran(tmp_path / "run", tasks)
    journal = (tmp_path / "run" / "journal.jsonl").read_bytes()
    monkeypatch.setattr(
        session.sources, "still_built_from", lambda *facts: signal.raise_signal(signal.SIGINT)
    )
    folder, whole = ran(tmp_path / "run", tasks, resume=True)
    assert not whole
    assert (folder.path / "journal.jsonl").read_bytes() == journal


# -- Ctrl-C ----------------------------------------------------------------------------------


def test_the_handler_of_the_program_around_is_put_back(tmp_path):
    def mine(number, frame):
        raise AssertionError

    before = signal.signal(signal.SIGINT, mine)
    try:
        ran(tmp_path / "run", asked(problems=(CONVEX,), solvers=("away_steps",)))
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_session_runs_in_any_thread(tmp_path):
    ended = []
    tasks = asked(problems=(CONVEX,), solvers=("away_steps",))
    thread = threading.Thread(target=lambda: ended.append(ran(tmp_path / "run", tasks)[1]))
    thread.start()
    thread.join()
    assert ended == [True]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_ctrl_c_from_outside_stops_the_session_and_keeps_what_was_done(tmp_path):
    waiting = f"{MISBEHAVING}[mode=wait,none]"
    command = ["run", "-p", CONVEX, "-s", "away_steps", "-s", waiting, "--out", "run"]
    running = subprocess.Popen(
        [sys.executable, "-c", "from fwbench.cli import main; main()", *command],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"FWBENCH_TEST_WAIT": "1"},
    )
    assert running.stderr is not None
    with running:
        first = running.stderr.readline()  # said once the first run is on the disk
        running.send_signal(signal.SIGINT)
        said = first + running.stderr.read()
    assert running.returncode == 130, said
    assert first.startswith("[1/3] away_steps")
    assert "fwbench run --resume --out run does the rest" in said
    assert "Traceback" not in said
    folder = RunFolder(tmp_path / "run")
    rows = [record["row"] for record in folder.records()]
    assert rows[0]["status"] == "converged"
    assert {row["status"] for row in rows[1:]} <= {"interrupted"}, rows[1:]
    assert (tmp_path / "run" / "runs.parquet").exists()
    tasks, _ = planned_again(folder)
    _, whole = ran(folder.path, tasks, resume=True)
    assert whole
    assert build(folder).runs["status"].tolist() == ["converged", "stalled", "stalled"]
