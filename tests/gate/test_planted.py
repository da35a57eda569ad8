"""Real regressions, planted in a copy of this repository: `gate` and `compare` name each."""

from dataclasses import replace

import numpy as np
import pytest

from fwbench.analysis.changes import Pace
from fwbench.analysis.comparison import compared
from fwbench.analysis.sides import Run
from fwbench.gating.decisions import EACH, SITTINGS, Cell, Evidence, Task, look, timings
from fwbench.report.comparison import markdown
from tests.unit.made_sides import run, side

from .made_copies import (
    ELSEWHERE,
    NEVER_DROPS,
    SLOWER_ON,
    TWICE_THE_CALLS,
    copied,
    planted,
    slower_copy,
)

WORSE = 1  # exit code
HULL, CONCAVE = "min_norm_point[n=30,d=4,shift=1]", "polygon[k=5]"
FRANK_WOLFE = "frank_wolfe[step=open_loop]"
EDITED = {"away_steps": NEVER_DROPS, "frank_wolfe": ELSEWHERE, "pairwise": TWICE_THE_CALLS}
QUESTION = (
    "-p", HULL, "-p", CONCAVE, "--max-steps", "200",
    "-s", "away_steps", "-s", FRANK_WOLFE, "-s", "pairwise", "-s", "hardmax_attention",
)  # fmt: skip
# Kernels run as they are written: to compile them would take each side some twenty seconds. What
# is compiled is tested with the slow ones.
PLAIN = {"NUMBA_DISABLE_JIT": "1"}


def worse(content):
    """Return what a comparison holds against a solver: (instance, quantity) to both values."""
    found = {}
    for change in content["changes"]:
        if change["alarm"]:
            where = (change["instance_label"], change["quantity"])
            found.setdefault(change["solver"], {})[where] = (change["base"], change["new"])
    return found


def never_drops(found):
    base, new = found["away_steps"][HULL, "steps until certified"]
    assert new > 1.5 * base
    assert found["away_steps"]["polygon", "status"] == ("converged", "budget")


def elsewhere(found):
    base, new = found["frank_wolfe"]["polygon", "fixed point"]
    assert base == new == "vertex, 4 different"  # the class is the same, the vertices are others


def twice_the_calls(found):
    for where in (HULL, "polygon"):
        base, new = found["pairwise"][where, "oracle calls at equal k"]
        assert new == 2 * base
    assert not {q for _, q in found["pairwise"]} & {"status", "fixed point", "value"}
    assert not [q for _, q in found["pairwise"] if q.startswith("steps")]


# -- one copy, three regressions ---------------------------------------------------------------


def test_each_is_named_by_gate_and_by_compare_and_nobody_else_is(tmp_path, command):
    """One test: several would make the copy, and both sides, once a worker of xdist."""
    copy, out = tmp_path / "copy", tmp_path / "out"
    copy.mkdir()
    planted(copied(copy), *(edit for edits in EDITED.values() for edit in edits))
    words = ("gate", "--base", "HEAD", *QUESTION, "--only", "exact", "--json")
    gated = command(copy, *words, "--out", out, **PLAIN)
    beside = command(tmp_path, "compare", "out/base", "out/next", "--only", "exact", "--json")
    for ended in (gated, beside):
        assert ended.code == WORSE, ended.err
        content = ended.json
        found = worse(content)
        assert set(found) == set(EDITED)
        never_drops(found)
        elsewhere(found)
        twice_the_calls(found)
        assert "hardmax_attention" not in {change["solver"] for change in content["changes"]}
        assert content["matched"] == content["compared"] == 8
        assert content["missing"] == content["new_runs"] == []


# -- 15 % slower, on made timings ----------------------------------------------------------------

SOLVERS, INSTANCES = ("away_steps", "frank_wolfe", "pairwise"), ("p[n=3]", "p[n=4]")
SLOW = "pairwise"
RUNS = [
    run(solver=solver, solver_label=solver, instance=instance, instance_label=instance)
    for solver in SOLVERS
    for instance in INSTANCES
]


def made_pairs(rng, factor):
    """Return a measurement whose machine drifts, whose processes differ, and which is disturbed."""
    drift = np.cumsum(rng.normal(0, 0.004, (1, SITTINGS, EACH)), axis=2)
    process = rng.normal(0, 0.005, (2, SITTINGS, 1))
    disturbed = rng.exponential(0.02, (2, SITTINGS, EACH))
    return 1e-3 * np.exp(drift + process + disturbed) * np.array([1.0, factor])[:, None, None]


@pytest.mark.parametrize("seed", range(5))
def test_a_solver_15_percent_slower_is_named_by_the_gate(seed):
    rng = np.random.default_rng(seed)
    task = Task("p", "s", steps=20, tol=1e-8, max_seconds=10.0)
    cells = [Evidence(Cell(run, task, task, "seconds")) for run in RUNS]
    for _ in range(4):
        for cell in cells:
            if cell.open:
                cell.add(made_pairs(rng, 1.15 if cell.cell.run.row["solver"] == SLOW else 1.0))
        look(cells)
    exact = compared(side(*RUNS), side(*RUNS), exact_only=True)
    comparison = replace(exact, timings=timings(cells))
    named = [one for one in comparison.timings if one.pace is Pace.SLOWER]
    assert [one.run.row["solver"] for one in named] == [SLOW, SLOW]  # on each instance
    assert all(one.confirmed and 1.03 < one.low < 1.15 < one.high < 1.3 for one in named)
    assert comparison.outcome.code == WORSE
    first, *rows = [line for line in markdown(comparison).splitlines() if "slower" in line]
    assert first.startswith("**fwbench: worse**")
    assert [row.startswith(f"| slower | `{SLOW}` |") for row in rows] == [True, True]


@pytest.mark.parametrize("seed", range(5))
def test_a_solver_15_percent_slower_is_named_by_compare(seed):
    rng = np.random.default_rng(seed)
    sides: tuple[list[Run], list[Run]] = [], []
    for one in RUNS:
        pairs = made_pairs(rng, 1.15 if one.row["solver"] == SLOW else 1.0)
        for some, seconds in zip(sides, pairs.reshape(2, -1).tolist(), strict=True):
            known = {"setup_seconds": None}
            some += [
                replace(one, row=one.row | known | {"repetition": place, "seconds": taken})
                for place, taken in enumerate(seconds)
            ]
    found = compared(*(side(*some) for some in sides))
    named = [one for one in found.timings if one.pace is Pace.SLOWER]
    assert [one.run.row["solver"] for one in named] == [SLOW, SLOW]
    assert found.outcome.code == WORSE


# -- compiled, one by one ----------------------------------------------------------------------


@pytest.mark.slow  # both sides compile, each for itself
@pytest.mark.parametrize(
    ("solver", "named"),
    [("away_steps", never_drops), (FRANK_WOLFE, elsewhere), ("pairwise", twice_the_calls)],
)
def test_each_is_named_where_kernels_are_compiled(tmp_path, command, solver, named):
    copy, out = tmp_path / "copy", tmp_path / "out"
    copy.mkdir()
    name = solver.partition("[")[0]
    planted(copied(copy), *EDITED[name])
    words = ("-p", HULL, "-p", CONCAVE, "-s", solver, "--max-steps", "200", "--only", "exact")
    gated = command(copy, "gate", "--base", "HEAD", *words, "--json", "--out", out)
    beside = command(tmp_path, "compare", "out/base", "out/next", "--only", "exact", "--json")
    for ended in (gated, beside):
        assert ended.code == WORSE, ended.err
        assert set(worse(ended.json)) == {name}
        named(worse(ended.json))


@pytest.mark.slow  # for real: pairs of seconds, until it is sure
def test_a_solver_15_percent_slower_is_named(tmp_path, command):
    copy = tmp_path / "copy"
    copy.mkdir()
    slower_copy(copy)
    ended = command(copy, "gate", "--base", "HEAD", *SLOWER_ON, "--seconds", "120", "--json")
    assert ended.code == WORSE, ended.err
    assert ended.json["changes"] == []  # not a bit of the results has changed
    paces = {timing["what"]: timing for timing in ended.json["timings"]}
    assert paces["seconds"]["verdict"] == "slower"
    assert paces["seconds"]["low"] > 1.03
    assert paces["set-up"]["verdict"] != "slower"
