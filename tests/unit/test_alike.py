"""Seconds of unlike machines, or of a machine that was shared, never stand side by side."""

import pandas as pd
import pytest

from fwbench.analysis.alike import timed_on, usual
from fwbench.execution.here import Here
from fwbench.findings import build
from fwbench.planning import Question, plan
from fwbench.report import selection
from fwbench.report.summary import summary
from fwbench.session import execute
from fwbench.store import RunFolder


def places(*given):
    """Return runs of (instance, host, shared)."""
    return pd.DataFrame(given, columns=["instance", "host", "shared"])


def test_runs_that_were_timed_alike_are_not_told_apart():
    assert timed_on(places(("a", "one", False), ("b", "one", False))).isna().all()
    assert timed_on(places(("a", "one", True), ("b", "one", True))).isna().all()
    assert timed_on(places(("a", None, None))).isna().all()
    assert timed_on(places()).empty


def test_hosts_and_sharing_are_told_apart():
    found = timed_on(places(("a", "one", False), ("a", "two", False), ("a", "one", True)))
    assert found.tolist() == ["one", "two", "one, shared"]


def test_a_machine_of_unknown_threads_is_told_from_those_that_are_known():
    given = places(("a", "one", False), ("a", "one", False), ("a", "one", False))
    given["threads"] = pd.array([1, 2, None], dtype="Int64")
    assert timed_on(given).tolist() == ["one, 1 thread", "one, 2 threads", "one"]


def test_a_run_that_was_never_made_stands_with_most_on_its_instance():
    given = places(
        ("a", "one", False), ("b", "two", False), ("b", None, None), ("c", None, None),
        ("a", "one", False),
    )  # fmt: skip
    assert timed_on(given).tolist() == ["one", "two", "two", "one", "one"]
    assert usual(given).all()
    assert usual(places(("a", "one", False), ("a", "two", False), ("a", "two", None))).tolist() == [
        False, True, True
    ]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four sizes and three solvers."""
    problems = tuple(f"min_norm_point[n={n},d=2,shift=1]" for n in (8, 12, 16, 20))
    solvers = ("frank_wolfe[step=exact]", "away_steps", "pairwise")
    tasks, _ = plan(Question(problems=problems, solvers=solvers, limits={"max_steps": 200}))
    made = RunFolder.create(tmp_path_factory.mktemp("alike") / "run")
    assert execute(made, tasks, None, "test", lambda task, row: None, executor=Here())
    return made


def elsewhere(folder, solver, monkeypatch):
    kept = folder.records()
    for record in kept:
        if record["row"]["solver"] == solver:
            record["row"]["host"] = "elsewhere"
    monkeypatch.setattr(folder, "records", lambda *rest: kept)
    return build(folder)


def test_each_machine_has_its_own_comparisons(folder, monkeypatch):
    together = build(folder)
    assert together.winners["timed_on"].isna().all()
    assert set(together.winners["of"]) == {3}
    apart = elsewhere(folder, "pairwise", monkeypatch)
    for frame in (apart.winners, apart.races, apart.costs, apart.sizes, apart.growth):
        assert frame["timed_on"].nunique() == 2
    alone = apart.winners[apart.winners["timed_on"] == "elsewhere"]
    assert set(alone["of"]) == {1}
    assert set(apart.winners[apart.winners["timed_on"] != "elsewhere"]["of"]) == {2}
    assert all(alone["instance_label"].str.endswith(" on elsewhere"))
    # a ratio is one to a time of the same machine
    raced = apart.races[apart.races["timed_on"] == "elsewhere"].dropna(subset="ratio")
    assert set(raced["solver_label"]) == {"pairwise"}
    assert set(raced["ratio"]) == {1.0}
    assert set(apart.growth[apart.growth["timed_on"] == "elsewhere"]["solver_label"]) == {
        "pairwise"
    }


def test_a_report_says_where(folder, monkeypatch):
    assert " on " not in "".join(row["instance_label"] for row in selection.winners(build(folder)))
    apart = elsewhere(folder, "pairwise", monkeypatch)
    assert "on elsewhere" in summary(apart)
    shown = selection.winners(apart)
    assert len({(row["instance"], row["instance_label"]) for row in shown}) == len(shown) == 8
    timed = {curve.solver for curve in selection.curves(apart) if curve.columns["seconds"][0] == 0}
    assert timed == {"frank_wolfe[step=exact]", "away_steps"}
