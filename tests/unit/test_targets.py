import numpy as np
import pandas as pd
import pytest

from fwbench.analysis.targets import SHOWN, TARGETS, brackets, measured, reference, winners


def trace(**columns):
    rows = len(next(iter(columns.values())))
    names = ("k", "seconds", "lmo", "value_centred", "lower_centred", "gap", "gap_current")
    return {name: [None] * rows for name in names} | {"feasibility": [0.0] * rows} | columns


def at(rows, target):
    [row] = [row for row in rows if np.isclose(row["target"], target, rtol=1e-9, atol=0)]
    return row


# -- the reference interval ------------------------------------------------------------------


def test_a_convex_reference_is_the_largest_lower_and_the_smallest_value():
    a = trace(value_centred=[3.0, 2.0], lower_centred=[-5.0, 1.0])
    b = trace(value_centred=[2.5, 1.5], lower_centred=[0.0, 0.5])
    assert reference("convex", [a, b], None) == (1.0, 1.5)


def test_ends_that_rounding_crosses_are_swapped():
    assert reference("convex", [trace(value_centred=[1.0], lower_centred=[1.0 + 1e-15])], None) == (
        1.0,
        1.0 + 1e-15,
    )


def test_missing_entries_count_for_nothing():
    half = trace(value_centred=[None, 2.0], lower_centred=[1.0, None])
    assert reference("convex", [half], None) == (1.0, 2.0)
    assert reference("convex", [trace(value_centred=[2.0], lower_centred=[None])], None) == (
        None,
        None,
    )
    assert reference("convex", [], None) == (None, None)


def test_points_that_nobody_saw_in_the_hull_bound_nothing():
    outside = trace(value_centred=[-9.0, 2.0], lower_centred=[1.0, 1.0], feasibility=[None, 0.0])
    assert reference("convex", [outside], None) == (1.0, 2.0)
    assert measured(outside, 1.0, moving=False) == ("suboptimality", [None, 1.0])
    alone = trace(value_centred=[-9.0], gap=[0.5], feasibility=[None])
    assert measured(alone, 1.0, moving=False) == ("gap", [0.5])


def test_a_concave_reference_is_the_best_vertex():
    run = trace(value_centred=[-3.0], lower_centred=[None])
    assert reference("concave", [run], -2.0) == (-2.0, -2.0)
    assert reference("concave", [run], None) == (None, None)


@pytest.mark.parametrize("kind", ["indefinite", "monotone", "general"])
def test_other_kinds_have_no_reference(kind):
    assert reference(kind, [trace(value_centred=[1.0], lower_centred=[0.0])], -2.0) == (None, None)


# -- what accuracy is read off ---------------------------------------------------------------


def test_suboptimality_comes_first_and_is_never_negative():
    run = trace(value_centred=[3.0, None, 0.9], gap=[9.0, 9.0, 9.0])
    measure, column = measured(run, 1.0, moving=False)
    assert (measure, column) == ("suboptimality", [2.0, None, 0])


def test_the_gap_is_read_where_there_is_no_reference():
    run = trace(value_centred=[3.0], gap=[0.5])
    assert measured(run, None, moving=False) == ("gap", [0.5])


def test_moving_keys_are_measured_against_the_current_ones():
    run = trace(value_centred=[3.0], gap=[0.5], gap_current=[0.25])
    assert measured(run, 1.0, moving=True) == ("gap_current", [0.25])


# -- brackets --------------------------------------------------------------------------------

RUN = trace(k=[0, 1, 2, 4, 8], seconds=[0.0, 1.0, 2.0, 4.0, 8.0], lmo=[0, 2, 4, 8, 16])


def test_brackets_by_hand():
    rows = brackets(RUN, "gap", [10.0, 1.0, 0.2, 0.02, 0.0], 10.0)
    assert [row["target"] for row in rows] == list(TARGETS)
    assert at(rows, 0.1) == {
        "measure": "gap", "target": TARGETS[0], "k_low": 0, "k_high": 1,
        "seconds_low": 0.0, "seconds_high": 1.0, "lmo_high": 2,
    }  # fmt: skip
    assert (at(rows, 1e-2)["k_low"], at(rows, 1e-2)["k_high"]) == (2, 4)
    assert (at(rows, 1e-12)["k_low"], at(rows, 1e-12)["k_high"]) == (4, 8)


def test_the_first_checkpoint_that_meets_a_target_counts():
    row = at(brackets(RUN, "gap", [1.0, 0.05, 0.5, 0.05, 0.5], 1.0), 0.1)
    assert (row["k_low"], row["k_high"]) == (0, 1)


def test_a_target_met_at_the_start_has_no_lower_end():
    row = at(brackets(RUN, "gap", [0.1, 0.0, 0.0, 0.0, 0.0], 1.0), 0.1)
    assert (row["k_low"], row["k_high"]) == (None, 0)
    assert (row["seconds_low"], row["seconds_high"]) == (None, 0.0)


def test_a_target_never_met_has_no_upper_end():
    row = at(brackets(RUN, "gap", [1.0, 1.0, None, 0.5, 0.5], 1.0), 0.1)
    assert (row["k_low"], row["seconds_low"]) == (8, 8.0)
    assert row["k_high"] is row["seconds_high"] is row["lmo_high"] is None


def test_a_checkpoint_that_nobody_judged_is_no_lower_end():
    row = at(brackets(RUN, "gap", [1.0, 0.5, None, None, 0.05], 1.0), 0.1)
    assert (row["k_low"], row["seconds_low"], row["k_high"]) == (1, 1.0, 8)
    row = at(brackets(RUN, "gap", [1.0, 0.5, 0.4, None, None], 1.0), 0.1)
    assert (row["k_low"], row["seconds_low"], row["k_high"]) == (2, 2.0, None)
    row = at(brackets(RUN, "gap", [None, None, 0.05, 0.5, None], 1.0), 0.1)
    assert (row["k_low"], row["seconds_low"], row["k_high"]) == (None, None, 2)


def test_what_is_missing_meets_no_target():
    rows = brackets(RUN, "gap", [None] * 5, 1.0)
    assert {row["k_high"] for row in rows} == {row["k_low"] for row in rows} == {None}


def test_where_every_point_is_optimal_all_targets_are_met_at_once():
    rows = brackets(RUN, "gap", [0.0] * 5, 0.0)
    assert {row["k_high"] for row in rows} == {0}


# -- winners ---------------------------------------------------------------------------------


def tables(*given):
    """Return runs and targets of (solver, status, {target: seconds}) on one instance.

    A name such as "a@1e-4" says at which tolerance; else it is not known.
    """
    runs, rows = [], []
    for i, (name, status, reached) in enumerate(given):
        run_id, (solver, _, tol) = f"run{i}", name.partition("@")
        runs.append(
            {"run_id": run_id, "instance": "i[]", "instance_label": "i", "kind": "convex",
             "solver_label": solver, "status": status, "signal": None, "seconds_from": "trace",
             "seconds": np.nan, "steps": 10, "tol": float(tol or "nan"), "repetition": i}
        )  # fmt: skip
        rows += [
            {"run_id": run_id, "measure": "gap", "target": target, "lmo_high": 3, "k_high": 5,
             "seconds_high": reached.get(target, np.nan)}
            for target in (TARGETS if reached is not None else ())
        ]  # fmt: skip
    columns = ["run_id", "measure", "target", "lmo_high", "k_high", "seconds_high"]
    return pd.DataFrame(runs), pd.DataFrame(rows, columns=columns)


def won(target, *given):
    table = winners(*tables(*given))
    assert table["target"].tolist() == list(SHOWN)
    return table[table["target"] == target].iloc[0]


E8, E6 = TARGETS[7], TARGETS[5]


def test_the_soonest_wins():
    row = won(1e-8, ("slow", "budget", {E8: 4.0}), ("fast", "converged", {E8: 1.0}))
    assert (row.solver_label, row.run_id, row.seconds, row.lmo) == ("fast", "run1", 1.0, 3)
    assert (row.runner_up, row.ratio, row.reached, row.of) == ("slow", 4.0, 2, 2)


def test_each_target_has_its_own_winner():
    given = (("early", "budget", {E6: 1.0}), ("late", "converged", {E6: 2.0, E8: 3.0}))
    assert won(1e-6, *given).solver_label == "early"
    row = won(1e-8, *given)
    assert (row.solver_label, row.reached) == ("late", 1)
    assert row[["runner_up", "ratio"]].isna().all()


def test_a_tighter_target_is_not_asked_for():
    row = won(1e-8, ("a", "converged", {E8: 1.0, TARGETS[8]: 2.0}))
    assert row.seconds == 1.0


def test_nobody_wins_what_nobody_reached():
    row = won(1e-8, ("a", "budget", {}), ("b", "budget", {E6: 1.0}))
    assert row[["solver_label", "run_id", "seconds", "runner_up", "ratio"]].isna().all()
    assert (row.reached, row.of) == (0, 2)


def test_repetitions_count_by_their_median():
    a = [("a", "converged", {E8: seconds}) for seconds in (1.0, 9.0, 9.0)]
    b = [("b", "converged", {E8: seconds}) for seconds in (5.0, 5.0, 5.0)]
    row = won(1e-8, *a, *b)
    assert (row.solver_label, row.seconds, row.ratio, row.reached, row.of) == ("b", 5.0, 1.8, 2, 2)


def test_a_repetition_that_missed_a_target_loses_it():
    row = won(
        1e-8, ("a", "converged", {E8: 1.0}), ("a", "budget", {}), ("b", "converged", {E8: 7.0})
    )
    assert (row.solver_label, row.reached, row.of) == ("b", 1, 2)


@pytest.mark.parametrize(
    "status", ["wrong", "nonfinite", "infeasible", "error", "crashed", "memory"]
)
def test_a_solver_that_failed_wins_nothing(status):
    left = {E8: 1.0} if status != "error" else None  # an error leaves no trace
    given = [("a", "converged", {E8: 1.0}), ("a", status, left), ("b", "converged", {E8: 7.0})]
    row = won(1e-8, *given)
    assert (row.solver_label, row.reached) == ("b", 1)


def test_of_several_tolerances_the_best_time_counts():
    loose, tight = ("a@1e-4", "finished", {E6: 1.0}), ("a@1e-8", "finished", {E6: 3.0, E8: 3.0})
    other = ("b@1e-8", "converged", {E6: 2.0, E8: 2.0})
    row = won(1e-6, loose, tight, other)
    assert (row.solver_label, row.run_id, row.seconds, row.reached, row.of) == (
        "a",
        "run0",
        1,
        2,
        2,
    )
    row = won(1e-8, loose, tight, other)
    assert (row.solver_label, row.runner_up, row.ratio, row.reached) == ("b", "a", 1.5, 2)


def test_runs_with_other_limits_are_no_repetitions():
    runs, rows = tables(("a", "budget", {}), ("a", "converged", {E8: 3.0}))
    runs["repetition"] = 0
    table = winners(runs, rows)
    assert table[table["target"] == 1e-8].iloc[0]["run_id"] == "run1"


def test_a_failure_at_one_tolerance_is_none_at_another():
    wrong = ("a@1e-12", "wrong", {E8: 1.0})
    row = won(1e-8, wrong, ("a@1e-8", "finished", {E8: 3.0}), ("b@1e-8", "converged", {E8: 7.0}))
    assert (row.solver_label, row.seconds, row.reached, row.of) == ("a", 3.0, 2, 2)


def test_a_start_that_is_optimal_takes_no_time():
    row = won(1e-8, ("a", "converged", {E8: 0.0}), ("b", "converged", {E8: 0.0}))
    assert (row.seconds, row.reached) == (0.0, 2)
    assert (row.ratio, row.contest) == (1.0, "start")
    row = won(1e-8, ("a", "converged", {E8: 0.0}), ("b", "converged", {E8: 1.0}))
    assert (row.solver_label, row.contest) == ("a", "start")


def test_seconds_are_those_of_one_call_by_the_share_of_its_steps():
    runs, rows = tables(("a", "converged", {E8: 7.0}), ("b", "converged", {E8: 1.0}))
    runs["seconds"], runs["seconds_from"] = 4.0, ["run", "trace"]
    row = winners(runs, rows).set_index("target").loc[1e-8]
    assert (row.solver_label, row.runner_up, row.ratio) == ("b", "a", 2.0)  # 5 of 10 steps


@pytest.mark.parametrize(
    ("given", "contest"),
    [
        ([("a", "budget", {E8: 1.0}), ("b", "budget", {E8: 1.2})], "won"),
        ([("a", "budget", {E8: 1.0}), ("b", "budget", {E8: 1.09})], "tied"),
        ([("a", "budget", {E8: 1.0}), ("b", "budget", {})], "alone"),
        ([("a", "budget", {E8: 1.0})], "unopposed"),
        ([("a", "budget", {})], None),
    ],
)
def test_what_a_first_place_is_worth(given, contest):
    assert won(1e-8, *given).contest == contest


def test_measures_are_not_compared():
    runs, rows = tables(("a", "converged", {E8: 1.0}), ("b", "converged", {E8: 2.0}))
    rows.loc[rows["run_id"] == "run1", "measure"] = "gap_current"
    table = winners(runs, rows)
    assert table.groupby("measure")["of"].first().to_dict() == {"gap": 1, "gap_current": 1}


def test_no_runs_have_no_winners():
    assert winners(*tables(("a", "error", None))).empty
    runs, rows = tables(("a", "error", None))
    assert winners(runs.iloc[:0], rows).empty
