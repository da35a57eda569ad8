import numpy as np
import pandas as pd
import pytest

from fwbench.analysis.efforts import ACCURACIES, COSTS, Limits, efforts

from .made_efforts import direct, run, spent, tables

INF = np.inf
# the value falls below 1e-2 at k = 16, below 1e-4 between 18 and 20, and no further
WALK = [(0, 0.0, 0, 9.0), (15, 1.5, 15, 0.5), (16, 1.6, 16, 9e-3), (18, 1.8, 18, 5e-3),
        (20, 2.0, 20, 9e-5), (1000, 9.0, 1000, 8e-5)]  # fmt: skip


def ends(table, cost, target, label="a"):
    rows = table[(table["cost"] == cost) & (table["target"] == target)]
    [row] = rows[rows["solver_label"] == label].itertuples()
    return row.low, row.high


def of(*runs):
    return efforts(*tables(*runs))[0]


# -- brackets --------------------------------------------------------------------------------


def test_brackets_are_those_of_the_targets():
    table = of(run("i", "a", WALK))
    assert ends(table, "lmo", 1e-4) == (18, 20)
    assert ends(table, "seconds", 1e-4) == (1.8, 2.0)
    assert ends(table, "lmo", 1e-6) == (INF, INF)
    assert set(table["cost"]) == set(COSTS)
    assert set(table["target"]) == set(ACCURACIES)


def test_between_neighbouring_steps_nothing_is_open():
    assert ends(of(run("i", "a", WALK)), "lmo", 1e-2) == (16, 16)


def test_a_target_met_at_the_start_costs_the_call_that_shows_it():
    table = of(run("i", "a", [(0, 0.0, 0, 0.0)]))
    assert ends(table, "lmo", 1e-8) == (1, 1)
    assert ends(table, "seconds", 1e-8) == (1e-6, 1e-6)


def test_a_direct_method_has_its_answer_at_its_end_alone():
    table = of(direct("i", "a", 3.0))
    assert ends(table, "seconds", 1e-8) == (3.0, 3.0)


def test_a_method_that_counts_no_calls_is_not_compared_by_them():
    table = of(direct("i", "a", 3.0), run("i", "b", WALK))
    assert set(table.loc[table["cost"] == "lmo", "solver_label"]) == {"b"}


def test_a_checkpoint_that_nobody_judged_is_no_lower_end():
    walk = [(0, 0.0, 0, 9.0), (20, 2.0, 20, 9.0), (30, 3.0, 30, None), (40, 4.0, 40, 0.0)]
    assert ends(of(run("i", "a", walk)), "lmo", 1e-2) == (20, 40)
    assert ends(of(run("i", "a", [(k, s, c, None) for k, s, c, _ in walk[:3]] + walk[3:])),
                "lmo", 1e-2) == (1, 40)  # fmt: skip


def test_seconds_are_those_of_one_call_by_the_share_of_its_steps():
    table = of(run("i", "a", WALK, seconds=2.0, seconds_from="run", setup_seconds=0.5))
    assert ends(table, "seconds", 1e-4) == pytest.approx((0.036, 0.04))
    assert ends(table, "total", 1e-4) == pytest.approx((0.536, 0.54))


def test_what_a_run_was_allowed_stands_beside_what_it_spent():
    table = of(run("i", "a", WALK, queries=3))
    row = table[(table["cost"] == "lmo") & (table["target"] == 1e-8)].iloc[0]
    assert (row["spent"], row["limit"], row["unit"]) == (1000, 3000, 3 * 5)
    row = table[(table["cost"] == "seconds") & (table["target"] == 1e-8)].iloc[0]
    assert (row["spent"], row["limit"]) == (9.0, 10.0)


def test_an_answer_for_all_queries_is_counted_once_and_judged_by_the_same_unit():
    # three queries: one solver moves each, the other solves once
    table = of(spent("i", "each", 30, queries=3), spent("i", "any", 10, queries=1))
    assert ends(table, "lmo", 1e-8, "each") == (30, 30)
    assert ends(table, "lmo", 1e-8, "any") == (10, 10)
    assert set(table["unit"]) == {15}


def test_the_unit_is_no_more_than_there_are_atoms():
    assert set(of(spent("i", "a", 5, n=3, d=10))["unit"]) == {3}


# -- repetitions, budgets, failures ----------------------------------------------------------


def test_of_repetitions_the_median_of_each_end():
    runs = [spent("i", "a", calls, repetition=i) for i, calls in enumerate((10, 30, 90))]
    assert ends(of(*runs), "lmo", 1e-8) == (30, 30)
    runs[2] = spent("i", "a", None, repetition=2)
    assert ends(of(*runs), "lmo", 1e-8) == (30, 30)  # a miss is the largest
    runs[1] = spent("i", "a", None, repetition=1)
    assert ends(of(*runs), "lmo", 1e-8) == (INF, INF)


def test_of_several_tolerances_the_least():
    table = of(spent("i", "a", 30, tol=1e-4), spent("i", "a", 10, tol=1e-8))
    assert ends(table, "lmo", 1e-8) == (10, 10)


@pytest.mark.parametrize(
    "status", ["wrong", "nonfinite", "infeasible", "error", "crashed", "memory"]
)
def test_who_failed_reached_nothing(status):
    table = of(spent("i", "a", 10, status=status), spent("i", "b", 20))
    assert ends(table, "lmo", 1e-2) == (INF, INF)
    assert ends(table, "lmo", 1e-2, "b") == (20, 20)


@pytest.mark.parametrize("row", [{"status": "crashed"}, {"status": "timeout", "signal": "SIGKILL"}])
def test_who_left_no_trace_takes_part_where_the_others_are_measured(row):
    made = [run("i", "a", WALK, measure="suboptimality"), run("i", "b", **row), spent("j", "b", 5)]
    table, absent = efforts(*tables(*made))
    rows = table[(table["instance_label"] == "i") & (table["solver_label"] == "b")]
    assert set(rows["measure"]) == {"suboptimality"}
    assert np.isinf(rows["high"]).all()
    assert set(rows.loc[rows["cost"] == "seconds", "spent"]) == {10.0}  # unknown: all it was given
    assert absent.empty


def test_who_moves_keys_fails_among_its_like():
    made = [
        run("i", "a", WALK, measure="suboptimality"),
        run("i", "moving", WALK, status="error"),
        run("j", "moving", WALK, measure="gap_current"),
    ]
    table = of(*made)
    assert set(table.loc[table["solver_label"] == "moving", "measure"]) == {"gap_current"}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"status": "skipped", "reason": "runs on convex problems"}, "skipped: runs on convex"),
        ({"status": "interrupted", "reason": "not started"}, "interrupted: not started"),
        ({"status": "budget"}, "leaves the hull by design"),
    ],
)
def test_who_took_no_part_is_named_with_the_reason(row, reason):
    table, absent = efforts(*tables(run("i", "a", WALK), run("i", "b", **row)))
    assert set(table["solver_label"]) == {"a"}
    assert absent["solver_label"].tolist() == ["b"]
    assert absent["reason"].iloc[0].startswith(reason)


# -- machines --------------------------------------------------------------------------------


def test_seconds_stay_with_their_machine_and_calls_do_not():
    table = of(
        spent("i", "a", 10), spent("i", "b", 20, host="two"), spent("i", "c", 5, shared=True)
    )
    seconds = table[(table["cost"] == "seconds") & (table["target"] == 1e-8)]
    places = dict(zip(seconds["solver_label"], seconds["timed_on"], strict=True))
    assert places == {"a": "one", "b": "two", "c": "one, shared"}
    assert table.loc[table["cost"] == "lmo", "timed_on"].isna().all()


def test_one_machine_needs_no_name():
    assert of(spent("i", "a", 10), spent("j", "a", 10))["timed_on"].isna().all()


# -- nothing ---------------------------------------------------------------------------------


def test_a_folder_of_failures_has_rows_without_an_end():
    table, _ = efforts(*tables(run("i", "a", status="error"), run("i", "b", status="crashed")))
    assert set(table["cost"]) == {"seconds", "total"}
    assert np.isinf(table["low"]).all()


def test_a_folder_of_nothing_has_no_rows():
    runs, trace, targets, _ = tables(run("i", "a", status="skipped"))
    for rows in (runs, runs.iloc[:0]):
        table, _ = efforts(rows, trace, targets, {})
        assert table.empty


def test_an_unknown_limit_is_null():
    runs, trace, targets, _ = tables(run("i", "a", status="crashed"), spent("i", "b", 7))
    table, _ = efforts(runs, trace, targets, {"run1": Limits(1000, 10.0)})
    lost = table[table["solver_label"] == "a"]
    assert lost["limit"].isna().all()
    assert table.loc[table["solver_label"] == "b", "limit"].notna().all()


def test_the_order_of_rows_is_irrelevant():
    made = [spent(i, s, 10 + 7 * n) for n, (i, s) in enumerate(
        (i, s) for i in "xyz" for s in ("a", "b[k=1]", "b"))]  # fmt: skip
    runs, trace, targets, limits = tables(*made)
    moved = [table.iloc[::-1].reset_index(drop=True) for table in (runs, trace, targets)]
    by = ["instance", "solver_label", "cost", "target"]
    one, other = (
        efforts(*three, limits)[0].sort_values(by, ignore_index=True)
        for three in ((runs, trace, targets), moved)
    )
    pd.testing.assert_frame_equal(one, other)
