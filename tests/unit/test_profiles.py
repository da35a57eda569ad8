import numpy as np
import pandas as pd
import pytest

import fwbench as fw
from fwbench.analysis.contests import FEWEST, MOST
from fwbench.analysis.efforts import ACCURACIES
from fwbench.analysis.profiles import profiles
from fwbench.errors import InvalidParameter

from .made_efforts import direct, run, spent, tables

TABLE = {  # calls; None: not met
    "a": [10, 20, None, None],
    "b": [20, 10, 40, None],
    "c": [5, 90, 80, None],
}


def made(table):
    """Return profiles of a table of calls, a list a solver, an entry an instance."""
    runs = [
        spent(f"i{i}", label, calls)
        for label, column in table.items()
        for i, calls in enumerate(column)
    ]
    return profiles(*tables(*runs))


@pytest.fixture(scope="module")
def found():
    return made(TABLE)


def contest(found, variant, cost):
    return next(
        (n, c) for n, c in enumerate(found.contests) if (c.variant, c.cost) == (variant, cost)
    )


def stairs(found, solver, profile, cost="lmo", variant="defaults", target=1e-8, end="high"):
    number, _ = contest(found, variant, cost)
    steps = found.steps
    rows = steps[
        (steps["contest"] == number)
        & (steps["profile"] == profile)
        & (steps["solver"] == solver)
        & (steps["target"] == target)
    ]
    return dict(zip(rows["share"], rows[end], strict=True))


# -- by hand ---------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ACCURACIES)
@pytest.mark.parametrize("end", ["low", "high"])
def test_a_performance_profile_by_hand(found, target, end):
    steps = {
        solver: stairs(found, solver, "performance", target=target, end=end) for solver in "abc"
    }
    # best: 5, 10, 40, nobody
    assert steps["a"] == pytest.approx({0.25: 2, 0.5: 2, 0.75: np.nan, 1: np.nan}, nan_ok=True)
    assert steps["b"] == pytest.approx({0.25: 1, 0.5: 1, 0.75: 4, 1: np.nan}, nan_ok=True)
    assert steps["c"] == pytest.approx({0.25: 1, 0.5: 2, 0.75: 9, 1: np.nan}, nan_ok=True)


def test_a_data_profile_by_hand(found):
    # the unit: min(n, d + 1) = 5 calls
    assert stairs(found, "b", "data") == pytest.approx(
        {0.25: 2, 0.5: 4, 0.75: 8, 1: np.nan}, nan_ok=True
    )
    seconds = stairs(found, "b", "data", cost="seconds")
    assert list(seconds.values())[:3] == pytest.approx([0.01, 0.02, 0.04])


def test_the_reversal_of_two_by_a_third_is_reported():
    a, b, c = [10] * 6 + [30] * 4, [25] * 6 + [10] * 4, [3] * 6 + [90] * 4
    found = made({"a": a, "b": b, "c": c})
    number, _ = contest(found, "defaults", "lmo")
    pairs = found.pairs[(found.pairs["contest"] == number) & (found.pairs["target"] == 1e-8)]
    row = pairs[(pairs["solver_a"] == "a") & (pairs["solver_b"] == "b")].iloc[0]
    assert (row["instances"], row["a_first"], row["b_first"]) == (10, 6, 4)
    assert 1 <= row["reversed_at"] < 2.5
    assert row["reversed_by"] == pytest.approx(0.2)
    assert row["reversed_without"] == "c"
    assert pairs.loc[pairs["solver_b"] == "c", "reversed_without"].isna().all()
    alone = found.of(["a", "b"])
    for both, share in ((found, 0.0), (alone, 0.6)):
        steps = both.steps
        rows = steps[(steps["solver"] == "a") & (steps["profile"] == "performance")
                     & (steps["cost"] == "lmo") & (steps["target"] == 1e-8)]  # fmt: skip
        within = rows.loc[rows["high"] <= 2.0, "share"].max()
        assert (0.0 if np.isnan(within) else within) == share
    assert alone.pairs["reversed_at"].isna().all()
    with_c = stairs(found, "a", "performance", end="without_low")
    assert max(share for share, at in with_c.items() if at <= 2.0) == 0.6


def test_pairs_count_what_is_sure():
    walk = [(0, 0.0, 0, 9.0), (20, 2.0, 20, 9.0), (40, 4.0, 40, 0.0)]
    runs = []
    for i, other in enumerate((10, 30, 50, None)):
        runs += [run(f"i{i}", "a", walk if other else walk[:2]), spent(f"i{i}", "b", other)]
    pairs = profiles(*tables(*runs)).pairs
    row = pairs[(pairs["cost"] == "lmo") & (pairs["target"] == 1e-8)].iloc[0]
    assert row[["a_first", "b_first", "open", "neither"]].tolist() == [1, 1, 1, 1]


def test_means_by_hand(found):
    number, _ = contest(found, "defaults", "lmo")
    means = found.means[(found.means["contest"] == number) & (found.means["target"] == 1e-8)]
    rows = means.set_index("solver")
    shift = 0.01 * np.median([10, 20, 20, 10, 40, 5, 90, 80])
    limit = 1000.0
    for solver, failures in (("a", 2), ("b", 1), ("c", 1)):
        values = np.array([limit if calls is None else calls for calls in TABLE[solver]])
        for name, factor in (("high", 1.0), ("tenth_high", 0.1), ("tenfold_high", 10.0)):
            s = shift * factor
            wanted = np.prod(values + s) ** 0.25 - s
            assert rows.loc[solver, name] == pytest.approx(wanted)
        assert rows.loc[solver, "failures"] == failures
        assert rows.loc[solver, "shift"] == pytest.approx(shift)
    assert rows["rank"].to_dict() == {"a": 3, "b": 1, "c": 2}


# -- who is compared with whom ---------------------------------------------------------------


def test_solvers_are_compared_where_all_took_part_and_the_rest_is_named():
    runs = [spent(f"i{i}", s, 10) for i in range(4) for s in ("a", "b")]
    runs[-1] = run("i3", "b", status="skipped", reason="too large")
    runs += [spent("lonely", "c", 10)]
    found = profiles(*tables(*runs))
    _, one = contest(found, "defaults", "lmo")
    assert one.solvers == ("a", "b")
    assert one.instances == ("i0", "i1", "i2")
    assert dict(one.excluded) == {"i3": "b: skipped: too large", "lonely": "none of them took part"}


def test_a_failure_takes_part():
    runs = [spent(f"i{i}", s, 10) for i in range(3) for s in ("a", "b")]
    runs[-1] = run("i2", "b", status="crashed")
    _, one = contest(profiles(*tables(*runs)), "defaults", "seconds")
    assert len(one.instances) == 3


def test_what_counts_no_calls_is_compared_in_seconds_alone():
    runs = [spent(f"i{i}", s, 10) for i in range(3) for s in ("a", "b")]
    runs += [direct(f"i{i}", "exact", 0.005) for i in range(3)]
    found = profiles(*tables(*runs))
    assert contest(found, "defaults", "lmo")[1].solvers == ("a", "b")
    assert contest(found, "defaults", "seconds")[1].solvers == ("a", "b", "exact")
    assert set(stairs(found, "exact", "performance", cost="seconds").values()) == {1.0}


def test_seconds_of_two_machines_are_never_compared():
    runs = [spent(f"i{i}", s, 10, host=h) for i in range(3) for s, h in (("a", "x"), ("b", "y"))]
    found = profiles(*tables(*runs))
    assert {one.cost for one in found.contests} == {"lmo"}
    assert [one.cost for one in found.of(["a", "b"]).contests] == ["lmo"]
    with pytest.raises(InvalidParameter, match="share no instance"):
        profiles(*tables(*runs, *[direct(f"i{i}", "c", 1.0, host="x") for i in range(3)])).of(
            ["b", "c"]
        )


def test_solvers_whose_keys_move_are_among_themselves():
    runs = [
        spent(f"i{i}", s, 10, measure=m)
        for i in range(3)
        for s, m in (("a", "gap"), ("b", "gap"), ("c", "gap_current"), ("d", "gap_current"))
    ]
    lmo = [one.solvers for one in profiles(*tables(*runs)).contests if one.cost == "lmo"]
    assert lmo == [("a", "b"), ("c", "d")]


def test_few_instances_make_no_profile_unless_asked_for():
    found = made({label: column[: FEWEST - 1] for label, column in TABLE.items()})
    assert found.contests == ()
    assert found.steps.empty
    assert found.means.empty
    assert len(found.of(["a", "c"]).contests[0].instances) == FEWEST - 1


def test_the_largest_contests_come_first_and_not_too_many():
    runs = [spent(f"i{i}", f"s{j}", 10) for i in range(20) for j in range(2 + i // 3)]
    lmo = [one for one in profiles(*tables(*runs)).contests if one.cost == "lmo"]
    assert len(lmo) == MOST
    sizes = [len(one.solvers) * len(one.places) for one in lmo]
    assert sizes == sorted(sizes, reverse=True)


# -- tuning ----------------------------------------------------------------------------------

GRID = {"a[k=1]": [10, None, 30], "a": [40, 20, None], "b": [20, 20, 20]}


def test_defaults_and_the_best_of_a_grid_stand_apart():
    found = made(GRID)
    assert contest(found, "defaults", "lmo")[1].solvers == ("a", "b")
    assert list(stairs(found, "a", "data").values())[:2] == [4, 8]  # 20 and 40 calls
    _, tuned = contest(found, "tuned", "lmo")
    assert tuned.solvers == ("a, best of 2", "b")
    assert tuned.labels == ("a", "b")
    assert tuned.settings == (("a[k=1]", "a"), ("b",))
    best = stairs(found, "a, best of 2", "data", variant="tuned")
    assert list(best.values()) == [2, 4, 6]  # 10, 20, 30 calls


def test_the_best_of_a_grid_carries_what_the_grid_cost():
    found = made(GRID)
    grid = stairs(found, "a, best of 2", "data", variant="tuned", end="grid_high")
    # 10 + 40; 1000 that led nowhere + 20; 30 + 1000 that led nowhere
    assert list(grid.values()) == [10, 204, 206]
    ratio = stairs(found, "a, best of 2", "performance", variant="tuned", end="grid_high")
    assert list(ratio.values()) == pytest.approx([50 / 10, 1020 / 20, 1030 / 20][:3])
    assert np.isnan(
        list(stairs(found, "b", "data", variant="tuned", end="grid_high").values())
    ).all()


def test_the_grid_has_a_mean_beside_that_of_the_best_of_it():
    runs = [spent(f"i{j}", name, calls) for j in range(3)
            for name, calls in (("a", 100), ("a[k=2]", 300), ("b", 50))]  # fmt: skip
    found = profiles(*tables(*runs))
    number, tuned = contest(found, "tuned", "lmo")
    means = found.means[(found.means["contest"] == number) & (found.means["target"] == 1e-8)]
    means = means.set_index("solver")
    assert means.loc["a, best of 2", ["high", "grid_high"]].tolist() == pytest.approx([100, 400])
    assert np.isnan(means.loc["b", "grid_high"])
    runs = [spent(f"i{j}", name, calls) for j in range(3)
            for name, calls in (("a", None), ("a[k=2]", None), ("b", 50))]  # fmt: skip
    found = profiles(*tables(*runs))
    number, tuned = contest(found, "tuned", "lmo")
    mean = found.means[(found.means["contest"] == number) & (found.means["target"] == 1e-8)]
    # both missed: each counts the 1000 calls that it was allowed
    assert mean.set_index("solver").loc[tuned.solvers[0], "grid_high"] == pytest.approx(2000)


def test_where_no_setting_came_there_the_grid_did_not_either():
    found = made({"a[k=1]": [10, 10, None], "a": [40, 20, None], "b": [20, 20, None]})
    grid = stairs(found, "a, best of 2", "data", variant="tuned", end="grid_high")
    assert list(grid.values()) == pytest.approx([6, 10, np.nan], nan_ok=True)


def test_without_a_default_the_first_setting_of_the_plan_stands_for_it():
    found = made({"a[k=3]": [10, 10, 10], "a[k=1]": [5, 5, 5], "b": [9, 9, 9]})
    assert contest(found, "defaults", "lmo")[1].solvers == ("a[k=3]", "b")


def test_grids_that_differ_between_instances_are_not_one_solver():
    runs = [spent(f"i{i}", f"a[k={i}]", 10) for i in range(3)]
    runs += [spent(f"i{i}", s, 10) for i in range(3) for s in ("b", "c")]
    found = profiles(*tables(*runs))
    assert {one.solvers for one in found.contests} == {("b", "c")}
    assert {one.variant for one in found.contests} == {"defaults"}


def test_two_grids_of_one_size_have_names_of_their_own():
    table = {"b": [9] * 6, "a": [5] * 6, "a[k=1]": [4] * 3, "a[k=2]": [4] * 6}
    runs = [spent(f"i{i}", s, c) for s, column in table.items() for i, c in enumerate(column)]
    runs += [spent(f"i{i}", "a[k=3]", 4) for i in (3, 4, 5)]
    tuned = [one for one in profiles(*tables(*runs)).contests if one.variant == "tuned"]
    names = {name for one in tuned for name in one.solvers if name != "b"}
    assert names == {"a, best of 3: a | a[k=1] | a[k=2]", "a, best of 3: a | a[k=2] | a[k=3]"}


# -- asked for -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solvers", "message"),
    [
        (["a"], "at least two"),
        (["a", "a"], "at least two"),
        ("a", "at least two"),
        (["a", "bb"], "no run is labelled 'bb'; did you mean b"),
    ],
)
def test_what_cannot_be_compared_is_refused(found, solvers, message):
    with pytest.raises(InvalidParameter, match=message):
        found.of(solvers)


def test_settings_can_be_compared_with_each_other():
    found = made(GRID).of(["a", "a[k=1]"])
    assert {one.solvers for one in found.contests} == {("a", "a[k=1]")}
    assert {one.variant for one in found.contests} == {"chosen"}


def test_the_order_of_rows_is_irrelevant():
    runs, trace, targets, limits = tables(
        *[spent(f"i{i}", s, c) for s, column in TABLE.items() for i, c in enumerate(column)]
    )
    moved = [table.iloc[::-1].reset_index(drop=True) for table in (runs, trace, targets)]
    one, other = profiles(runs, trace, targets, limits), profiles(*moved, limits)
    for name in ("steps", "pairs", "means"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))


def test_real_runs_have_profiles_through_the_interface():
    results = fw.run(
        problems=[f"min_norm_point[n=20,d=3,shift=1,seed={seed}]" for seed in range(3)],
        solvers=["away_steps", "frank_wolfe[step=open_loop,exact]"],
        max_steps=300,
        jobs=None,
    )
    found = results.profiles()
    assert contest(found, "defaults", "lmo")[1].solvers == ("away_steps", "frank_wolfe")
    assert contest(found, "tuned", "seconds")[1].solvers == ("away_steps", "frank_wolfe, best of 2")
    rows = found.steps[found.steps["profile"] == "performance"]
    assert (rows["low"].dropna() >= 1).all()
    assert (rows["low"].isna() == rows["high"].isna()).all()
    assert (rows["low"] <= rows["high"]).where(rows["low"].notna(), True).all()
    pair = results.profiles(["frank_wolfe", "frank_wolfe[step=exact]"])
    assert pair.contests[0].solvers == ("frank_wolfe", "frank_wolfe[step=exact]")
