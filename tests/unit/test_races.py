import numpy as np
import pandas as pd
import pytest

from fwbench.analysis.races import COLUMNS, GAPS, races

TRACE = ("run_id", "k", "seconds", "gap", "value_centred", "lower_centred", "feasibility")


def tables(*given):
    """Return runs and traces of dicts: name@tol, library, and rows (k, seconds, gap)."""
    runs, rows = [], []
    for i, run in enumerate(given):
        label, _, tol = run["name"].partition("@")
        walk = run.get("walk", ())
        runs.append({
            "run_id": f"run{i}", "instance": run.get("instance", "i[]"), "instance_label": "i",
            "n": 3, "d": 2, "solver_label": label, "library": run.get("library"),
            "tol": float(tol or 1e-12), "repetition": run.get("repetition", i),
            "status": run.get("status", "converged"),
            "reason": run.get("reason", "because"), "scale": run.get("scale", 1.0),
            "seconds": run.get("seconds", walk[-1][1] if walk else np.nan),
            "seconds_from": run.get("seconds_from", "trace"),
            "setup_seconds": run.get("setup", 0.0),
            "gap_relative": run.get("gap", walk[-1][2] if walk else np.nan),
        })  # fmt: skip
        for k, seconds, gap in walk:
            lower = run.get("lower", np.nan)
            rows.append([f"run{i}", k, seconds, gap, 1.0, lower, run.get("violation", 0.0)])
    return pd.DataFrame(runs), pd.DataFrame(rows, columns=list(TRACE))


def raced(*given, target=1e-8):
    table = races(*tables(*given))
    assert tuple(table.columns) == COLUMNS
    return table[table["target"] == target].set_index("solver_label")


WALK = ((0, 0.0, 1.0), (4, 2.0, 1e-5), (8, 4.0, 1e-9))
OURS = {"name": "ours", "walk": WALK}


def test_the_first_checkpoint_within_a_gap_is_its_time():
    table = races(*tables(OURS))
    assert dict(zip(table["target"], table["seconds"], strict=True)) == {
        1e-4: 2.0,
        1e-8: 4.0,
        1e-12: pytest.approx(np.nan, nan_ok=True),
    }


def test_ratios_are_over_our_own_best():
    quick = {"name": "quick", "walk": ((0, 0.0, 1.0), (1, 1.0, 1e-9)), "setup": 1.0}
    peer = {"name": "peer", "library": "lib", "walk": ((0, 0.0, 1.0), (1, 6.0, 1e-9))}
    table = raced(OURS, quick, peer)
    assert table["ratio"].to_dict() == {"ours": 4.0, "quick": 1.0, "peer": 6.0}
    assert table["ratio_total"].to_dict() == {"ours": 2.0, "quick": 1.0, "peer": 3.0}
    assert table["first"].to_dict() == {"ours": False, "quick": True, "peer": True}


def test_set_up_may_turn_the_order():
    prepared = {"name": "prepared", "walk": ((0, 0.0, 1.0), (1, 1.0, 1e-9)), "setup": 9.0}
    table = raced(OURS, prepared)
    assert table["ratio"].to_dict() == {"ours": 4.0, "prepared": 1.0}
    assert table["ratio_total"].to_dict() == {"ours": 1.0, "prepared": 2.5}
    assert table["first"].to_dict() == {"ours": True, "prepared": False}


def test_times_are_those_of_one_call_by_the_share_of_the_trace():
    table = raced({**OURS, "seconds": 2.0, "seconds_from": "run"}, target=1e-4)
    assert table.loc["ours", "seconds"] == 1.0


def test_the_best_of_several_tolerances_counts():
    loose = {"name": "peer@1e-4", "library": "lib", "walk": ((0, 0, 1.0), (1, 1.0, 1e-5))}
    tight = {"name": "peer@1e-8", "library": "lib", "walk": ((0, 0, 1.0), (1, 5.0, 1e-9))}
    assert raced(OURS, loose, tight, target=1e-4).loc["peer", ["seconds", "tol"]].to_list() == [
        1.0,
        1e-4,
    ]
    assert raced(OURS, loose, tight).loc["peer", ["seconds", "tol"]].to_list() == [5.0, 1e-8]


def test_a_tight_run_may_serve_a_loose_gap():
    lazy = {"name": "peer@1e-4", "library": "lib", "walk": ((0, 0, 1.0), (1, 1.0, 3e-4))}
    tight = {"name": "peer@1e-8", "library": "lib", "walk": ((0, 0, 1.0), (1, 5.0, 1e-9))}
    assert raced(OURS, lazy, tight, target=1e-4).loc["peer", "seconds"] == 5.0


def test_repetitions_count_by_their_median_and_all_must_come_there():
    runs = [{**OURS, "walk": ((0, 0, 1.0), (1, s, 1e-9))} for s in (1.0, 9.0, 4.0)]
    assert raced(*runs).loc["ours", "seconds"] == 4.0
    missed = {**OURS, "walk": ((0, 0, 1.0), (1, 1.0, 1e-3)), "status": "budget"}
    row = raced(*runs, missed).loc["ours"]
    assert np.isnan(row["seconds"])


def test_runs_with_other_limits_are_no_repetitions():
    short = {**OURS, "walk": ((0, 0, 1.0), (1, 1.0, 1e-3)), "status": "budget", "repetition": 0}
    row = raced({**OURS, "repetition": 0}, short).loc["ours"]
    assert (row["seconds"], row["run_id"]) == (4.0, "run0")


def test_a_value_above_the_best_bound_certifies_as_well():
    run = {**OURS, "lower": 1.0 - 1e-10, "walk": ((0, 0.0, 1.0), (1, 1.0, 1e-3))}
    assert raced(run).loc["ours", "seconds"] == 1.0


def test_gaps_are_relative_to_the_scale():
    assert raced({**OURS, "scale": 1e-5}, target=1e-4).loc["ours", "seconds"] == 4.0


@pytest.mark.parametrize(("violation", "met"), [(1e-10, True), (1e-6, False), (np.nan, False)])
def test_weights_must_be_weights_within_the_gap(violation, met):
    assert raced({**OURS, "violation": violation})["seconds"].notna().all() == met
    loose = raced({**OURS, "violation": violation}, target=1e-4)
    assert loose["seconds"].notna().all() == (violation <= 1e-4)


def test_an_answer_called_wrong_counts_for_what_it_is():
    wrong = {"name": "peer", "library": "lib", "status": "wrong", "reason": "called itself optimal",
             "walk": ((0, 0.0, 1.0), (1, 1.0, 1e-6))}  # fmt: skip
    assert raced(OURS, wrong, target=1e-4).loc["peer", "seconds"] == 1.0
    row = raced(OURS, wrong).loc["peer"]
    assert np.isnan(row["seconds"])
    assert np.isnan(row["ratio_total"])
    assert (row["status"], row["gap_relative"]) == ("wrong", 1e-6)
    assert row["reason"] == "called itself optimal"
    assert not row["first"]


@pytest.mark.parametrize("status", ["nonfinite", "error", "crashed", "memory"])
def test_a_run_that_broke_down_came_nowhere(status):
    row = raced(OURS, {**OURS, "name": "broken", "status": status}).loc["broken"]
    assert np.isnan(row["seconds"])
    assert row["status"] == status


def test_what_did_not_run_says_why():
    skipped = {"name": "peer", "library": "lib", "status": "skipped", "reason": "too large"}
    row = raced(OURS, skipped).loc["peer"]
    assert (row["status"], row["reason"]) == ("skipped", "too large")


def test_a_missed_gap_shows_the_run_that_came_nearest_of_those_asked():
    runs = [
        {
            "name": f"peer@{tol}",
            "library": "lib",
            "status": status,
            "walk": ((0, 0, 1.0), (1, 1, gap)),
        }
        for tol, status, gap in (
            (1e-4, "finished", 1e-5),
            (1e-8, "wrong", 1e-6),
            (1e-12, "wrong", 1e-7),
        )
    ]
    row = raced(OURS, *runs).loc["peer"]
    assert (row["tol"], row["status"], row["gap_relative"]) == (1e-12, "wrong", 1e-7)
    row = raced(OURS, runs[0]).loc["peer"]  # nobody asked it for 1e-8
    assert row[["status", "gap_relative", "reason"]].isna().all()


def test_the_start_of_a_direct_method_is_none_of_its_answers():
    direct = {"name": "peer", "library": "lib", "walk": ((0, 0.0, 1e-9), (1, 3.0, 1e-9))}
    assert raced(OURS, direct).loc["peer", "seconds"] == 3.0


def test_where_our_own_start_is_the_answer_there_is_no_ratio():
    there = {"name": "there", "walk": ((0, 0.0, 1e-9),), "setup": 2.0}
    peer = {"name": "peer", "library": "lib", "walk": ((0, 0.0, 1.0), (1, 6.0, 1e-9))}
    table = raced(there, peer)
    assert table.loc["there", "seconds"] == 0.0
    assert np.isnan(table.loc["peer", "ratio"])
    assert table.loc["peer", "ratio_total"] == 3.0


def test_gaps_that_nobody_was_asked_for_have_no_rows():
    lucky = {**OURS, "name": "ours@1e-8", "walk": ((0, 0.0, 1.0), (1, 1.0, 1e-15))}
    assert races(*tables(lucky))["target"].tolist() == [1e-4, 1e-8]
    nobody = {"name": "ours@1e-12", "walk": ((0, 0.0, 1.0), (1, 1.0, 1e-3)), "status": "budget"}
    assert races(*tables(nobody))["target"].tolist() == list(GAPS)


def test_instances_are_races_of_their_own():
    other = {**OURS, "instance": "other[]", "walk": ((0, 0, 1.0), (1, 1.0, 1e-9))}
    table = races(*tables(OURS, other))
    assert (table["ratio"].dropna() == 1.0).all()


def test_no_run_is_no_race():
    runs, trace = tables(OURS)
    assert races(runs.iloc[:0], trace.iloc[:0]).empty
    table = races(runs, trace.iloc[:0])
    assert table["seconds"].isna().all()
