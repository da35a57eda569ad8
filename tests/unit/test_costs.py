import numpy as np
import pandas as pd
import pytest

from fwbench.analysis.costs import COLUMNS, costs


def costed(walk, **more):
    """Return the one row of a run with checkpoints (k, seconds)."""
    run = {
        "run_id": "r", "instance": "i[]", "instance_label": "i", "n": 10, "d": 3, "library": None,
        "solver_label": "a", "tol": 1e-8, "status": "converged", "gap_relative": 1e-9,
        "steps": walk[-1][0] if walk else None, "seconds": 8.0, "seconds_from": "run",
        "setup_seconds": 2.0, "pass_seconds": 0.5, "gemv_seconds": 0.25, "gram_seconds": np.nan,
        **more,
    }  # fmt: skip
    trace = pd.DataFrame([{"run_id": "r", "k": k, "seconds": s} for k, s in walk],
                         columns=["run_id", "k", "seconds"])  # fmt: skip
    table = costs(pd.DataFrame([run]), trace)
    assert tuple(table.columns) == COLUMNS
    return table


WALK = [(0, 0.0), (20, 6.0), (24, 8.0), (32, 9.0), (64, 10.0)]


def test_repetitions_are_one_row_of_medians():
    runs, traces = [], []
    for i, seconds in enumerate((8.0, 80.0, 16.0)):
        one = {
            "run_id": f"r{i}", "instance": "i[]", "instance_label": "i", "n": 10, "d": 3,
            "library": None, "solver_label": "a", "tol": 1e-8, "status": "converged",
            "gap_relative": 1e-9, "steps": 64, "seconds": seconds, "seconds_from": "run",
            "setup_seconds": 2.0, "pass_seconds": 0.5, "gemv_seconds": 0.25, "gram_seconds": None,
        }  # fmt: skip
        runs.append(one)
        traces += [{"run_id": f"r{i}", "k": k, "seconds": s} for k, s in WALK]
    [row] = costs(pd.DataFrame(runs), pd.DataFrame(traces)).to_dict("records")
    assert (row["run_id"], row["steps"]) == ("r0", 64)
    assert row["step_seconds"] == 16.0 / 64
    runs[1]["steps"] = 63  # another limit is no repetition
    assert len(costs(pd.DataFrame(runs), pd.DataFrame(traces))) == 2


def test_a_step_and_a_solve_in_passes():
    [row] = costed(WALK).to_dict("records")
    assert row["step_seconds"] == 8.0 / 64
    assert row["step_passes"] == 8.0 / 64 / 0.5
    assert row["solve_passes"] == (8.0 + 2.0) / 0.5
    assert row["trace_over_run"] == 10.0 / 8.0
    assert np.isnan(row["solve_grams"])


def test_later_steps_are_those_of_the_second_half():
    [row] = costed(WALK).to_dict("records")
    assert row["late_step_seconds"] == 1.0 / 32
    assert row["late_step_gemvs"] == 1.0 / 32 / 0.25


def test_a_short_run_has_no_later_steps():
    [row] = costed([(0, 0.0), (8, 1.0), (16, 2.0)]).to_dict("records")
    assert np.isnan(row["late_step_seconds"])


def test_a_solve_in_gram_products():
    [row] = costed(WALK, gram_seconds=4.0).to_dict("records")
    assert row["solve_grams"] == 2.5


@pytest.mark.parametrize("missed", [{"status": "timeout"}, {"gap_relative": 1e-7}])
def test_a_solve_that_missed_its_tolerance_has_no_cost(missed):
    [row] = costed(WALK, **missed).to_dict("records")
    assert np.isnan(row["solve_passes"])
    assert row["step_passes"] > 0


def test_a_run_that_was_timed_once_has_nothing_to_compare():
    [row] = costed(WALK, seconds_from="trace").to_dict("records")
    assert np.isnan(row["trace_over_run"])


@pytest.mark.parametrize(
    "more", [{"library": "lib"}, {"pass_seconds": np.nan}, {"seconds": np.nan}, {"seconds": 0.0}]
)
def test_foreign_codes_and_what_was_not_measured_are_left_out(more):
    assert costed(WALK, **more).empty


def test_nothing_is_measured_in_what_took_no_time():
    assert costed(WALK, pass_seconds=0.0).empty
    [row] = costed(WALK, gemv_seconds=0.0, gram_seconds=0.0).to_dict("records")
    assert np.isnan([row["late_step_gemvs"], row["solve_grams"]]).all()
    assert row["step_passes"] > 0


@pytest.mark.parametrize("walk", [[], [(0, 0.0)]])
def test_a_run_without_a_step_is_left_out(walk):
    assert costed(walk).empty
