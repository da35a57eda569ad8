"""Whatever a solver does costs its own run, and no other."""

import json

import pandas as pd
import pytest

from fwbench.execution.pool import Pool

from .made_solvers import (
    AT,
    SMALL,
    done_by,
    ended,
    gone,
    said,
    solver_file,
    tasks,
    until,
)

GIBIBYTE = 2**30
# kind: status, signal, words of the reason, words of the traceback
ENDS = {
    "good": ("budget", None, "20 steps", None),
    "raise": ("error", None, "ValueError: no such step", "in act"),
    "exit": ("error", None, "SystemExit: 0", "in act"),
    "interrupt": ("error", None, "raised by the solver itself", "in act"),
    "os_exit": ("crashed", None, "exit code 3", None),
    "os_exit_0": ("crashed", None, "exit code 0", None),
    "segfault": ("crashed", "SIGSEGV", "killed by SIGSEGV", "in act"),
    "abort": ("crashed", "SIGABRT", "killed by SIGABRT", "in act"),
    "kill": ("crashed", "SIGKILL", "killed by SIGKILL, not by fwbench", None),
    "terminate": ("crashed", "SIGTERM", "killed by SIGTERM", None),
    "spin": ("timeout", "SIGKILL", "1 s on the clock spent", "in spin"),
    "pause": ("timeout", "SIGKILL", "1 s on the clock spent", "in act"),
    "deaf": ("timeout", "SIGKILL", "1 s on the clock spent", "in spin"),
    "huge": ("memory", None, "Unable to allocate 64.0 GiB", "in act"),
    "many": ("memory", None, "MemoryError", "in act"),
    "count": ("error", None, "TypeError: int()", "in run"),
    "count_strangely": ("error", None, "RuntimeError: no number", "in __int__"),
    "objects": ("error", None, "TypeError", "in _look"),
    "steps": ("error", None, "TypeError", "in run"),
    "float_steps": ("error", None, "what the run gave cannot be written down", "in run"),
    "big_count": ("error", None, "what the run gave cannot be written down", None),
    "long_message": ("error", None, "ValueError: xxx", "in act"),
    "done_at_once": ("finished", None, "ended by itself after 4 steps", None),
    "print": ("budget", None, "20 steps", None),
    "print_much": ("budget", None, "20 steps", None),
    "close": ("budget", None, "20 steps", None),
    "close_all": ("crashed", None, "closed the connection", None),
    "write_anywhere": ("crashed", "SIGKILL", "its answer cannot be read", None),
    "fork_and_return": ("budget", None, "20 steps", None),
    "raise_in_prepare": ("error", None, "ValueError: no model", "in prepare"),
    "raise_in_init": ("error", None, "ValueError: no state", "in init"),
    "raise_in_points": ("error", None, "ValueError: no points", "in points"),
    "raise_in_weights": ("error", None, "ValueError: no weights", "in weights"),
}
NO_STEPS = {"raise_in_prepare", "raise_in_init", "big_count", "float_steps"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One run of the command line, with all of them."""
    folder = tmp_path_factory.mktemp("isolation")
    path = solver_file(folder)
    solvers = (f"{path}[kind={','.join(ENDS)}]", "away_steps")
    words = [word for solver in solvers for word in ("-s", solver)]
    code = ended(
        folder, "run", "-p", SMALL, *words, "--max-seconds", "1", "--max-steps", "20",
        "--max-memory", "0.25", "--out", "r", "--no-report", "--json",
    )  # fmt: skip
    assert code == 1, said(folder)
    return folder


@pytest.fixture(scope="module")
def rows(folder):
    found = pd.read_parquet(folder / "r" / "runs.parquet")
    return {
        label.partition("kind=")[2].rstrip("]") or label: dict(row)
        for label, row in zip(found["solver_label"], found.to_dict("records"), strict=True)
    }


@pytest.mark.parametrize("kind", [kind for kind in ENDS if kind != "good"])
def test_it_costs_its_own_row(rows, kind):
    status, signal, reason, where = ENDS[kind]
    found = rows[kind]
    assert (found["status"], found["signal"] or None) == (status, signal), found["reason"]
    assert reason in found["reason"]
    if where is None and status != "crashed":
        assert not found["traceback"]
    if where is not None:
        assert where in found["traceback"]


def test_all_others_go_on(rows):
    assert len(rows) == len(ENDS) + 1
    assert rows["away_steps"]["status"] == "converged"
    assert rows["made"]["status"] == "budget"  # good is the default
    assert {found["threads"] for found in rows.values()} == {1}
    assert {found["host"] for found in rows.values()} == {rows["away_steps"]["host"]}


@pytest.mark.parametrize("kind", [kind for kind, end in ENDS.items() if end[0] != "budget"])
def test_checkpoints_made_so_far_are_kept(folder, rows, kind):
    trace = pd.read_parquet(folder / "r" / "trace.parquet")
    k = trace.loc[trace["run_id"] == rows[kind]["run_id"], "k"].tolist()
    if kind in NO_STEPS:
        assert k == []
    else:
        assert k[:AT] == list(range(AT))
    if kind not in ("count", "count_strangely", "steps"):  # these say no such thing any more
        assert rows[kind]["steps"] == k[-1] if k else pd.isna(rows[kind]["steps"])


def test_json_stands_alone_on_stdout(folder):
    shown = json.loads((folder / "stdout").read_text())
    assert len(shown["runs"]) == len(ENDS) + 1
    for line in ("from Python", "from C", "from below"):
        assert line in said(folder)


def test_no_traceback_of_fwbench_itself_is_shown(folder):
    assert "Traceback" not in said(folder)


@pytest.mark.parametrize("kind", ["fork", "thread", "alarm"])
def test_what_a_run_leaves_behind_does_not_go_on_beside_the_next(tmp_path, kind):
    path = solver_file(tmp_path)
    next_one = "nap" if kind == "alarm" else "good"  # long enough for what is left to strike
    runs = done_by(Pool(), tasks(f"{path}[kind={kind},{next_one},facts]", max_steps=20))
    assert next(runs)["status"] == "budget"
    assert next(runs)["status"] == "budget"
    if kind == "fork":
        child = json.loads((tmp_path / "child.json").read_text())
        until(lambda: gone(child), f"process {child}")
    assert next(runs)["status"] == "budget"
    assert json.loads((tmp_path / "facts.json").read_text())["beside"] == 0
    runs.close()


# -- where the clock does not run --------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "at_import", "reason", "where"),
    [
        (
            "hang_in_prepare",
            "",
            "3 s spent on the warm-up (imports, compilation, two steps on a few atoms)",
            "in prepare",
        ),
        (
            "good",
            "while IN_WORKER:\n    time.sleep(1)",
            "3 s spent on importing its files and building the problem",
            "in <module>",
        ),
    ],
)
def test_what_hangs_off_the_clock_is_ended_too(tmp_path, kind, at_import, reason, where):
    path = solver_file(tmp_path, at_import=at_import)
    pool = Pool(apart_seconds=3)
    found = [*done_by(pool, tasks(f"{path}[kind={kind}]"))]
    assert [(each["status"], each["signal"]) for each in found] == [("timeout", "SIGKILL")]
    assert found[0]["reason"] == f"{reason}; killed"
    assert where in found[0]["traceback"]


def test_an_exit_at_import_costs_its_own_row(tmp_path):
    path = solver_file(tmp_path, at_import="if IN_WORKER:\n    sys.exit(0)")
    planned = tasks(str(path), "away_steps", max_steps=50)
    found = [*done_by(Pool(), planned)]
    assert [each["status"] for each in found] == ["error", "converged"]
    assert "cannot be imported: SystemExit: 0" in found[0]["reason"]


def test_a_process_that_cannot_start_costs_a_row_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr("fwbench.execution.isolated.CODE", "raise SystemExit(7)")
    found = [*done_by(Pool(), tasks("away_steps"))]
    assert [each["status"] for each in found] == ["crashed"]
    assert found[0]["reason"] == ("its process ended 3 times before it was ready, with exit code 7")


def test_memory_that_is_taken_where_no_allocation_fails_is_seen(monkeypatch, tmp_path):
    path = solver_file(tmp_path)
    # 1 GiB for numpy's own bound, so that it is the watch from outside that ends it
    monkeypatch.setattr("fwbench.execution.isolated.Terms", _unlimited)
    pool = Pool(memory=GIBIBYTE // 4)
    planned = tasks(f"{path}[kind=many]", "away_steps", max_seconds=30.0)
    found = [*done_by(pool, planned)]
    assert [each["status"] for each in found] == ["memory", "converged"]
    assert "GiB, 0.25 are allowed; killed" in found[0]["reason"]
    assert "in act" in found[0]["traceback"]


def _unlimited(*terms):
    from fwbench.execution.worker import Terms

    return Terms(*terms[:-1], memory=None)
