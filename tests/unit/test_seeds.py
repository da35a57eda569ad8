"""Rates over seeds: who counts, what they agree on, and the interval of the mean."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from fwbench.analysis.seeds import CLASSES, COLUMNS, interval, members, rates, shared


def runs_of(classes, values, *, solver="frank_wolfe", label="ball[n=9]", **more):
    """Return a run a seed, with these classes and rates."""
    rows = []
    for seed, (law, rate) in enumerate(zip(classes, values, strict=True)):
        short = label if seed == 0 else f"{label[:-1]},seed={seed}]"
        rows.append({
            "run_id": f"{solver}{label}{seed}", "instance": f"ball[n=9,d=3,seed={seed}]",
            "instance_label": short, "solver_label": solver, "kind": "convex", "tol": 1e-8,
            "repetition": 0, "rate_class": law, "rate": rate, "rate_signal": "suboptimality",
            "rate_low": np.nan, "rate_high": np.nan, "rate_from": 10 * seed, "rate_to": 100 + seed,
            "rate_reason": None, **more,
        })  # fmt: skip
    return pd.DataFrame(rows)


def only(runs):
    table = rates(members(runs))
    assert tuple(table.columns) == COLUMNS
    [row] = table.to_dict("records")
    return row


def test_three_seeds_of_one_class_have_an_interval():
    row = only(runs_of(["sublinear"] * 3, [-1.75, -2.0, -2.25]))
    assert (row["regime"], row["seeds"], row["sublinear"]) == ("ball[n=9]", 3, 3)
    assert (row["rate_class"], row["interval"]) == ("sublinear", "percentile")
    assert row["rate"] == pytest.approx(-2.0)
    assert -2.25 <= row["rate_low"] < -2.0 < row["rate_high"] <= -1.75
    assert row["reason"] is None


@pytest.mark.parametrize(
    ("classes", "agreed", "reason"),
    [
        (["linear", "linear"], "linear", "2 seeds linear, 3 needed for an interval"),
        (["linear"], "linear", "1 seed linear, 3 needed for an interval"),
        (["undetermined"], "undetermined", "the one seed is undetermined"),
        (["linear", "undetermined"], "linear", "1 seed linear, 3 needed for an interval"),
        (["linear"] + ["undetermined"] * 2, "undetermined", "2 of 3 seeds undetermined"),
        (["linear"] * 5 + ["sublinear"], "undetermined", "seeds differ: 1 sublinear, 5 linear"),
        (["none"] * 4, "none", None),
    ],
)  # fmt: skip
def test_without_agreement_there_is_no_interval(classes, agreed, reason):
    values = [None if law in ("none", "undetermined") else 0.5 for law in classes]
    row = only(runs_of(classes, values))
    assert (row["rate_class"], row["reason"]) == (agreed, reason)
    assert row["rate_low"] is None
    assert row["rate_high"] is None
    assert sum(row[name] for name in CLASSES) == row["seeds"] == len(classes)


def test_undetermined_seeds_have_no_part_in_the_mean():
    row = only(runs_of(["linear"] * 3 + ["undetermined"], [0.5, 0.5, 0.5, None]))
    assert (row["rate"], row["rate_low"], row["rate_high"]) == pytest.approx((0.5, 0.5, 0.5))


def test_factors_have_a_geometric_mean():
    row = only(runs_of(["linear"] * 3, [0.25, 0.5, 1.0]))
    assert row["rate"] == pytest.approx(0.5)
    assert 0.25 <= row["rate_low"] < row["rate_high"] <= 1.0


def test_signals_solvers_and_parameters_are_kept_apart():
    pieces = [
        runs_of(["linear"] * 3, [0.5] * 3),
        runs_of(["linear"] * 3, [0.9] * 3, solver="away_steps"),
        runs_of(["linear"] * 3, [0.7] * 3, solver="s", rate_signal="gap"),
    ]
    other = runs_of(["linear"] * 3, [0.1] * 3, label="ball[n=9,flat=0.2]")
    other["instance"] = other["instance"].str.replace("]", ",flat=0.2]")
    table = rates(members(pd.concat([*pieces, other], ignore_index=True)))
    assert table["seeds"].tolist() == [3] * 4
    assert table["rate"].tolist() == pytest.approx([0.5, 0.9, 0.7, 0.1])
    assert table["regime"].tolist() == ["ball[n=9]"] * 3 + ["ball[n=9,flat=0.2]"]


def test_repetitions_and_tolerances_are_no_seeds():
    first = runs_of(["linear"] * 3, [0.5, 0.6, 0.7])
    again = first.assign(repetition=1, rate=0.9)
    loose = first.assign(tol=1e-4, rate=0.1)
    row = only(pd.concat([loose, again, first], ignore_index=True))
    assert row["seeds"] == 3
    assert row["rate"] == pytest.approx((0.5 * 0.6 * 0.7) ** (1 / 3))


def test_runs_share_the_interval_of_their_class_only():
    runs = runs_of(["linear"] * 3 + ["undetermined"], [0.4, 0.5, 0.6, None])
    table = rates(members(runs))
    found = shared(runs, table)
    low, high = table[["rate_low", "rate_high"]].iloc[0]
    assert found["rate_low"].tolist()[:3] == [low] * 3
    assert found["rate_high"].tolist()[:3] == [high] * 3
    assert found[["rate_low", "rate_high"]].iloc[3].isna().all()
    alone = runs.iloc[:1]
    assert shared(alone, rates(members(alone)))["rate_low"].isna().all()


def test_runs_without_a_rate_make_no_row():
    assert rates(members(runs_of([None], [None]))).empty
    assert rates(members(runs_of([], []).reindex(columns=runs_of([None], [None]).columns))).empty


def test_ten_seeds_have_the_interval_of_scipy():
    values = np.random.default_rng(3).exponential(size=12)
    expected = bootstrap((values,), np.mean, method="BCa", rng=np.random.default_rng(0))
    found = interval(values)
    assert found.method == "BCa"
    assert (found.low, found.high) == tuple(expected.confidence_interval)
    assert interval(values[:9]).method == "percentile"


def test_an_interval_is_the_same_every_time():
    values = [-1.9, -2.0, -2.2, -2.3]
    assert interval(values) == interval(values)


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=14))
def test_an_interval_lies_within_the_values(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high, _ = interval(values)
    room = 1e-9 * max(1.0, *map(abs, values))
    assert min(values) - room <= low <= high <= max(values) + room


def test_intervals_of_ten_seeds_cover():
    rng = np.random.default_rng(5)
    held = [
        found.low <= 0.0 <= found.high
        for found in (interval(rng.standard_normal(10)) for _ in range(60))
    ]
    assert np.mean(held) >= 0.8  # nominal 0.95, in truth 0.9: four standard errors below that


def test_windows_are_those_of_the_seeds_of_the_class():
    row = only(runs_of(["linear", "undetermined", "linear"], [0.5, None, 0.5]))
    assert (row["rate_from"], row["rate_to"]) == (0, 102)
    row = only(runs_of(["undetermined", "linear", "linear"], [None, 0.5, 0.5]))
    assert (row["rate_from"], row["rate_to"]) == (10, 102)
    row = only(runs_of(["undetermined", "undetermined"], [None, None]))
    assert (row["rate_from"], row["rate_to"]) == (0, 101)


def test_what_most_undetermined_runs_say_stands_in_the_reason():
    runs = runs_of(["undetermined"] * 3, [None] * 3)
    runs["rate_reason"] = [f"undetermined: {why}" for why in ("short", "flat", "flat")]
    assert only(runs)["reason"] == "3 of 3 seeds undetermined: flat (2 of them)"
    assert only(runs[:1])["reason"] == "the one seed is undetermined: short"
