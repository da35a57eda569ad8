"""Who was first, how surely, and who wins nothing: made runs, counted by hand."""

import pandas as pd
import pytest

from fwbench.analysis.efforts import efforts
from fwbench.analysis.means import shifted_mean
from fwbench.analysis.standings import FIRSTS, STANDINGS, standings

from .made_efforts import direct, run, spent, tables

USUAL = {"problem": "ball", "kind": "convex", "params": "step=exact", "noisy": False}


def won(*runs):
    """Return the two tables of some runs."""
    for one in runs:
        one["row"] = USUAL | one["row"]
    made, trace, targets, limits = tables(*runs)
    found = standings(made, targets, efforts(made, trace, targets, limits)[0])
    assert tuple(found.firsts.columns) == FIRSTS
    assert tuple(found.table.columns) == STANDINGS
    return found


def first(*runs):
    [row] = won(*runs).firsts.to_dict("records")
    return row


def everywhere(*runs):
    table = won(*runs).table
    return table[table["where"].isna()].set_index("solver_label")


# -- first places ---------------------------------------------------------------------------------


def test_a_bracket_below_all_others_is_a_sure_first_place():
    row = first(spent("i", "slow", 300), spent("i", "fast", 100), spent("i", "lost", None))
    assert (row["solver_label"], row["runner_up"], row["contest"]) == ("fast", "slow", "sure")
    assert row["lead"] == pytest.approx(3.0)
    assert (row["reached"], row["of"], row["target"]) == (2, 3, 1e-8)
    assert row["doubts"] is None


def test_the_tightest_target_that_anybody_reached_counts():
    start, beside = (0, 0.0, 0, 9.0), [(4, 0.004, 4, 9.0), (5, 0.005, 5, 1e-5)]
    row = first(
        run("i", "quick", [start, (1, 0.001, 1, 1e-5)]), run("i", "slower", [start, *beside])
    )
    assert (row["target"], row["solver_label"], row["contest"]) == (1e-4, "quick", "sure")


def test_a_small_lead_is_a_tie():
    runs = (spent("i", "a", 100), spent("i", "b", 105))
    row = first(*runs)
    assert (row["contest"], row["doubts"]) == ("tied", None)
    table = everywhere(*runs)
    assert table["firsts"].tolist() == [0, 0]
    assert table["mean"].tolist() == pytest.approx([1.0, 1.05])


def test_a_lead_that_jitter_could_make_up_for_takes_three_timings():
    near = ("a", 100), ("b", 190)
    runs = [spent("i", name, calls, repetition=r) for r in range(3) for name, calls in near]
    doubt = "a lead that may be below 2×, timed less than 3 times"
    for timings, doubts in ((1, doubt), (2, doubt), (3, None)):
        row = first(*runs[: 2 * timings])
        assert (row["solver_label"], row["doubts"]) == ("a", doubts)
    # whoever is near, and not the upper end but the lower one
    third = run("i", "c", [(150, 0.15, 150, 5.0), (700, 0.7, 700, 0.0)])
    row = first(spent("i", "a", 100), spent("i", "b", 500), third)
    assert (row["runner_up"], row["doubts"]) == ("b", doubt)


def test_brackets_that_overlap_leave_it_open():
    wide = [(100, 0.1, 100, 5.0), (900, 0.9, 900, 0.0)]
    row = first(spent("i", "a", 300), run("i", "b", wide))
    assert (row["solver_label"], row["lead"]) == ("a", pytest.approx(3.0))
    assert row["doubts"] == "brackets that overlap"


def test_repetitions_that_overlap_leave_it_open():
    runs = [spent("i", "a", calls, repetition=r) for r, calls in enumerate((100, 110, 300))]
    runs += [spent("i", "b", calls, repetition=r) for r, calls in enumerate((200, 220, 240))]
    assert first(*runs)["doubts"] == "repetitions that overlap"
    runs[2] = spent("i", "a", 150, repetition=2)
    assert first(*runs)["contest"] == "sure"


def test_who_missed_the_target_in_a_repetition_did_not_come_there():
    runs = [spent("i", "a", calls, repetition=r) for r, calls in enumerate((100, 100, None))]
    runs += [spent("i", "b", 500, repetition=r) for r in range(3)]
    row = first(*runs)  # as among the winners
    assert (row["solver_label"], row["contest"], row["reached"]) == ("b", "alone", 1)
    assert everywhere(*runs).loc["a", "solved"] == 0


@pytest.mark.parametrize(
    ("facts", "doubt"),
    [
        ({"noisy": True}, "a noisy machine"),
        ({"shared": True}, "a shared machine"),
        ({"params": "beta=1,seed=0"}, "a random chain, from one seed"),
    ],
)
@pytest.mark.parametrize("whose", ["fast", "slow"])
def test_what_makes_timings_unsure_is_said(facts, doubt, whose):
    more = {name: facts if name == whose else {} for name in ("fast", "slow")}
    if "shared" in facts:  # a machine that both shared
        more = dict.fromkeys(more, facts)
    row = first(spent("i", "fast", 100, **more["fast"]), spent("i", "slow", 500, **more["slow"]))
    assert (row["solver_label"], row["contest"], row["doubts"]) == ("fast", "unsure", doubt)


@pytest.mark.parametrize("flag", ["noisy", "shared"])
def test_no_load_makes_up_for_a_lead_of_more_than_ten(flag):
    slow = spent("i", "slow", 1300, **{flag: True})
    assert first(spent("i", "fast", 100, **{flag: True}), slow)["contest"] == "sure"


def test_a_third_solver_may_be_noisy():
    row = first(spent("i", "a", 100), spent("i", "b", 300), spent("i", "c", 900, noisy=True))
    assert row["contest"] == "sure"


def test_of_repetitions_some_of_which_were_quiet_the_ranges_decide():
    runs = [spent("i", "a", 100 + r, repetition=r, noisy=r == 0) for r in range(3)]
    runs += [spent("i", "b", 500 + r, repetition=r, noisy=r == 0) for r in range(3)]
    assert first(*runs)["contest"] == "sure"
    for one in runs[:3]:
        one["row"]["noisy"] = True
    assert first(*runs)["doubts"] == "a noisy machine"


def test_solvers_of_several_machines_are_apart_and_unsure():
    runs = [spent("i", "a", 100), spent("i", "b", 500)]
    runs += [spent("i", "c", 50, host="two"), spent("i", "d", 150, host="two")]
    rows = won(*runs).firsts.to_dict("records")
    assert [(row["timed_on"], row["solver_label"], row["doubts"]) for row in rows] == [
        ("one", "a", "several machines"),
        ("two", "c", "several machines"),
    ]


# -- who wins nothing -----------------------------------------------------------------------------


def test_who_came_alone_or_had_no_rival_was_in_no_race():
    alone = first(spent("i", "a", 100), spent("i", "b", None))
    assert (alone["contest"], alone["solver_label"]) == ("alone", "a")
    assert first(spent("i", "a", 100))["contest"] == "unopposed"
    assert first(spent("i", "a", None), spent("i", "b", None))["contest"] == "nobody"
    table = everywhere(spent("i", "a", 100), spent("i", "b", None), spent("j", "a", 100))
    assert table.loc["a", ["firsts", "alone", "solved", "instances", "rivalled"]].tolist() == [
        0, 1, 2, 2, 1,
    ]  # fmt: skip


def test_who_stood_there_from_the_start_has_won_nothing():
    still = [(0, 0.0, 0, 0.0), (9, 0.01, 9, 0.0)]
    row = first(run("i", "still", still), spent("i", "b", 100))
    assert (row["contest"], row["solver_label"]) == ("start", None)


def test_the_start_of_a_direct_method_is_none_of_its_answers():
    row = first(direct("i", "exact", 0.01), spent("i", "b", 100))
    assert (row["contest"], row["solver_label"]) == ("sure", "exact")


def test_keys_that_move_are_among_themselves():
    moving = [spent("i", name, calls) for name, calls in (("m", 10), ("n", 50))]
    for one in moving:
        one["measure"] = "gap_current"
    rows = won(spent("i", "a", 100), spent("i", "b", 500), *moving).firsts
    assert rows[["where", "solver_label"]].values.tolist() == [
        ["convex", "a"],
        ["convex, keys moving", "m"],
    ]


# -- the table ------------------------------------------------------------------------------------


def test_the_table_counts_by_kind_and_altogether():
    found = won(
        spent("i", "a", 100), spent("i", "b", 400),
        spent("j", "a", 900, kind="concave"), spent("j", "b", 300, kind="concave"),
        spent("k", "a", 100), spent("k", "b", 105),
        spent("l", "a", None), spent("l", "b", 100), spent("l", "c", None, status="error"),
    )  # fmt: skip
    total = found.table[found.table["where"].isna()].set_index("solver_label")
    assert total.index.tolist() == ["b", "a", "c"]  # as often first; b alone, too
    total = total.loc[["a", "b", "c"]]
    columns = ["firsts", "sure", "unsure", "alone", "solved", "instances", "runs", "failures"]
    assert total[columns].values.tolist() == [
        [1, 1, 0, 0, 3, 4, 4, 0],
        [1, 1, 0, 1, 4, 4, 4, 0],
        [0, 0, 0, 0, 0, 1, 1, 1],
    ]
    by_kind = found.table.dropna(subset=["where"]).set_index(["where", "solver_label"])
    assert by_kind.loc[("concave", "b"), "firsts"] == 1
    assert by_kind.loc[("convex", "b"), ["firsts", "alone"]].tolist() == [0, 1]
    # k is tied; over races alone: 1, 3, 1 and 4, 1, 1.05
    assert total.loc["a", "lead"] == pytest.approx(4.0)
    shift = 0.01 * 1.025  # 1 % of the median of 1, 1, 1, 1.05, 3, 4
    assert total["shift"].tolist()[:2] == pytest.approx([shift, shift])
    for name, ratios in (("a", [1.0, 3.0, 1.0]), ("b", [4.0, 1.0, 1.05])):
        assert total.loc[name, "mean"] == pytest.approx(shifted_mean(pd.Series(ratios), shift))


def test_who_failed_everywhere_has_a_row_and_who_was_skipped_none():
    table = everywhere(
        spent("i", "a", 100), spent("i", "b", 200), run("i", "out", status="skipped"),
        run("i", "bad", status="crashed", signal="SIGSEGV"),
    )  # fmt: skip
    assert sorted(table.index) == ["a", "b", "bad"]
    assert table.loc["bad", ["runs", "failures", "firsts", "solved"]].tolist() == [1, 1, 0, 0]


def test_nothing_gives_nothing():
    found = won(run("i", "out", status="skipped"))
    assert found.firsts.empty
    assert found.table.empty
