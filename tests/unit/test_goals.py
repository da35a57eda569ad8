import numpy as np
import pandas as pd
import pytest

from fwbench import catalog
from fwbench.analysis import costs, races
from fwbench.analysis.goals import COLUMNS, GOALS, STEEP, goals

PLACES = [goal.where for goal in GOALS if "[" in goal.where]
NOTHING = (pd.DataFrame(columns=list(races.COLUMNS)), pd.DataFrame(columns=list(costs.COLUMNS)))


def race(where, label, total, target=1e-12, *, library=None, ratio=1.0, n=1000, **more):
    return {
        "instance": where + "!", "instance_label": where, "solver_label": label, "n": n,
        "library": library, "target": target, "seconds": total / 2, "total": total,
        "ratio_total": ratio, "run_id": f"{label} {where}", **more,
    }  # fmt: skip


def cost(where, label, **more):
    row = {"instance_label": where, "solver_label": label, "run_id": f"{label} {where}", "n": 1000,
           "steps": 5000, "step_seconds": 1e-5, "pass_seconds": 1e-5, "gram_seconds": np.nan,
           "late_step_gemvs": 0.05, "trace_over_run": 1.05}  # fmt: skip
    return row | more


def found(raced=(), spent=()):
    tables = (pd.DataFrame(list(some), columns=list(columns)) for some, columns in
              ((raced, races.COLUMNS), (spent, costs.COLUMNS)))  # fmt: skip
    table = goals(*tables)
    assert tuple(table.columns) == COLUMNS
    return table


def only(table, what):
    [row] = table[table["what"].str.contains(what, regex=False)].to_dict("records")
    return row


def test_nothing_measured_is_no_goal():
    assert goals(*NOTHING).empty


@pytest.mark.parametrize("where", sorted(set(PLACES)))
def test_every_instance_is_spelled_as_the_catalogue_spells_it(where):
    assert [choice.label for choice in catalog.choices("problems", where)] == [where]


def test_cvxpy_is_held_against_ours_at_the_gap_it_came_to():
    where = PLACES[0]
    raced = [
        race(where, "cvxpy_reference", 1.0, 1e-4, library="cvxpy", ratio=100.0),
        race(where, "cvxpy_reference", 1.0, 1e-8, library="cvxpy", ratio=400.0),
        race(where, "cvxpy_reference", np.nan, 1e-12, library="cvxpy", ratio=np.nan),
        race(where, "clarabel_cone", 1.0, 1e-12, library="clarabel", ratio=1.0),
    ]
    row = only(found(raced), "cvxpy")
    assert (row["where"], row["measured"], row["bound"], row["met"]) == (where, 400.0, 300.0, True)
    assert row["at_least"]
    assert row["detail"] == "cvxpy_reference to 1e-08"


def test_of_dual_codes_the_quickest_counts_and_only_at_the_exact_gap():
    where = PLACES[0]
    raced = [
        race(where, "daqp_dual", 1.0, library="daqp", ratio=1.5),
        race(where, "quadprog_dual", 2.0, library="quadprog", ratio=3.0),
        race(where, "piqp_dual", 0.1, 1e-8, library="piqp", ratio=0.1),
    ]
    row = only(found(raced), "dual QP")
    assert (row["measured"], row["met"], row["detail"]) == (1.5, False, "daqp_dual to 1e-12")


def test_nnls_counts_where_it_is_nearest():
    raced = [
        race("a", "scipy_nnls", 1.0, library="scipy", ratio=6.0),
        race("b", "scipy_nnls", 1.0, library="scipy", ratio=5.5, n=300),
        race("c", "scipy_nnls", 1.0, library="scipy", ratio=30.0, n=10_000),
        race("d", "scipy_nnls", 1.0, 1e-8, library="scipy", ratio=0.1),
        race("e", "scipy_nnls", 1.0, library="scipy", ratio=0.1, n=5000),
    ]
    table = found(raced)
    table = table[table["what"].str.contains("NNLS")]
    assert table["measured"].tolist() == [5.5, 30.0]
    assert table["met"].tolist() == [True, True]
    assert table["detail"].tolist() == ["least of 2, on b", "least of 1, on c"]


def test_our_time_in_passes():
    where = "ball[n=1000000]"
    raced = [race(where, "working_set", 6e-3, n=10**6), race(where, "away_steps", 60e-3, n=10**6)]
    spent = [cost(where, name, pass_seconds=1.5e-3) for name in ("working_set", "away_steps")]
    table = found(raced, spent)
    table = table[table["where"] == where]
    assert table["measured"].tolist() == pytest.approx([2.0, 4.0])  # without set-up, with it
    assert table["bound"].tolist() == [3.0, 7.0]
    assert table["met"].all()
    assert not table["at_least"].any()


def test_our_time_in_gram_products():
    where = "min_norm_point[n=2000,d=5000]"
    table = found([race(where, "auto", 1.2)], [cost(where, "auto", gram_seconds=0.4)])
    row = only(table, "Gram")
    assert (row["measured"], row["met"]) == (pytest.approx(3.0), False)


def test_the_dearest_cached_step_of_the_family_counts():
    where = STEEP[0]
    spent = [
        cost(where, "frank_wolfe[step=exact]", late_step_gemvs=0.04),
        cost(where, "pairwise", late_step_gemvs=0.07),
        cost(where, "away_steps", late_step_gemvs=5.0, steps=300),
        cost(where, "projected_gradient", late_step_gemvs=9.0),
    ]
    row = only(found(spent=spent), "cached step")
    assert (row["measured"], row["met"], row["detail"]) == (
        0.07,
        True,
        "dearest of 2 runs, pairwise",
    )


def test_a_trace_is_held_against_one_call_where_both_are_long_enough():
    spent = [
        cost("a", "x", trace_over_run=1.2),
        cost("a", "y", trace_over_run=1.8),
        cost("a", "z", trace_over_run=1.3),
        cost("a", "tiny", trace_over_run=9.0, steps=10),
        cost("a", "long", trace_over_run=9.0, steps=10**7),
        cost("a", "once", trace_over_run=np.nan),
        cost("b", "x", trace_over_run=1.05, n=10_000),
    ]
    table = found(spent=spent)
    table = table[table["what"].str.contains("trace")]
    assert table["measured"].tolist() == [1.3, 1.05]
    assert table["met"].all()
    assert table["detail"].iloc[0] == "median of 3 runs, largest 1.80"


def test_the_worst_choice_of_auto_counts_where_it_is_worth_one():
    raced = [
        race("slow", "auto", 6e-3, ratio=1.2), race("slow", "best", 5e-3),
        race("slow", "auto", 9.0, 1e-8, ratio=9.0),  # a looser gap is not what was asked for
        race("slower", "auto", 8e-3, ratio=1.6), race("slower", "best", 5e-3),
        race("quick", "auto", 5e-4, ratio=5.0), race("quick", "best", 1e-4),
        race("slow", "cvxpy_reference", 1.0, library="cvxpy", ratio=200.0),
    ]  # fmt: skip
    row = only(found(raced), "auto")
    assert (row["measured"], row["met"]) == (1.6, False)
    assert row["detail"] == "worst of those instances, slower"
