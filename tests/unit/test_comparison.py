"""Two results side by side: what is worse, what has changed, what is the same, by stated bands."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwbench.analysis.changes import Outcome, Verdict
from fwbench.analysis.comparison import compared, document
from fwbench.analysis.sides import Likeness
from fwbench.plain import plain

from .made_sides import REST, falling, run, side, trace

WORSE, BETTER, CHANGED, SAME = Verdict.WORSE, Verdict.BETTER, Verdict.CHANGED, Verdict.SAME


def found(base, new, **how):
    """Return what changed between two runs, by quantity."""
    comparison = compared(side(base), side(new, **how.pop("facts", {})), exact_only=True, **how)
    return {change.found.quantity: change.found for change in comparison.changes}


def verdicts(base, new, **how):
    return {name: one.verdict for name, one in found(base, new, **how).items()}


# -- a run against itself ----------------------------------------------------------------------


def test_a_run_against_itself_is_the_same():
    comparison = compared(side(run()), side(run()))
    assert comparison.changes == ()
    assert comparison.outcome is Outcome.SAME
    assert comparison.outcome.code == 0
    assert comparison.likeness == ((Likeness.BITS, 1),)


# -- one quantity after the other --------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("converged", "budget", WORSE),
        ("budget", "converged", BETTER),
        ("finished", "converged", CHANGED),
        ("budget", "stalled", CHANGED),
        ("budget", "skipped", WORSE),
        ("skipped", "error", WORSE),
        ("wrong", "converged", BETTER),
        ("wrong", "infeasible", CHANGED),
    ],
)
def test_a_status_has_a_rank(before, after, verdict):
    assert verdicts(run(status=before), run(status=after))["status"] is verdict


def test_a_time_limit_kept_by_force_is_a_failure():
    assert verdicts(
        run(status="timeout"), run(status="timeout", signal="SIGKILL")
    ) == {"status": WORSE}  # fmt: skip


def test_a_time_limit_that_was_near_says_nothing_exact():
    slow = run(status="timeout", seconds=10.0)
    assert verdicts(run(seconds=2.0), slow)["status"] is CHANGED
    assert verdicts(run(seconds=0.1), slow)["status"] is WORSE
    other = {"facts": {"cpu": "another"}}
    assert verdicts(run(seconds=0.1), slow, **other)["status"] is CHANGED


def test_steps_that_no_longer_fit_into_the_time_are_worse():
    slow = run(status="timeout", seconds=10.0)
    assert verdicts(run(status="budget", seconds=0.1), slow)["status"] is WORSE
    assert verdicts(slow, run(status="budget", seconds=0.1))["status"] is BETTER
    assert verdicts(run(status="budget", seconds=2.0), slow)["status"] is CHANGED
    other = {"facts": {"cpu": "another"}}
    assert verdicts(run(status="budget", seconds=0.1), slow, **other)["status"] is CHANGED


def test_of_a_run_that_failed_nothing_else_is_compared():
    bad = run(status="infeasible", gap_relative=1.0, fixed_point="moving", steps=900)
    assert verdicts(run(), bad) == {"status": WORSE}


@pytest.mark.parametrize(
    ("columns", "a", "b", "verdict"),
    [
        ({"status": "converged"}, 2e-9, 9e-9, SAME),  # both as asked for
        ({"status": "converged"}, 2e-9, 2e-8, WORSE),
        ({"status": "budget"}, 1e-3, 1.005e-3, SAME),
        ({"status": "budget"}, 1e-3, 1.05e-3, WORSE),
        ({"status": "budget"}, 1.05e-3, 1e-3, BETTER),
        ({"status": "finished"}, 1e-16, 9e-13, SAME),  # rounding
        ({"status": "finished"}, 1e-16, 1e-9, WORSE),  # far below the tolerance, and yet
    ],
)
def test_the_certified_gap_has_a_band(columns, a, b, verdict):
    change = found(run(gap_relative=a, **columns), run(gap_relative=b, **columns))
    assert change["certified gap"].verdict is verdict
    assert (change["certified gap"].base, change["certified gap"].new) == (a, b)


def test_of_keys_moving_the_gap_to_the_current_keys_counts():
    def moving(last):
        path = trace([None] * 4, gaps=[1.0] * 4) | {"gap_current": [1.0, 0.5, 0.2, last]}
        return run(trace=path, kind="concave", status="budget", steps=3, gap_relative=1.0)

    changes = verdicts(moving(0.1), moving(0.15))
    assert changes["gap to the current keys"] is WORSE
    assert "certified gap" not in changes


def test_a_worse_value_at_the_end_is_worse():
    concave = {"kind": "concave", "rests": (), "fixed_point": None}
    changes = found(run(value_centred=-1.0, **concave), run(value_centred=-0.9, **concave))
    assert changes["value"].verdict is WORSE
    small = run(value_centred=-1.0 + 5e-9, **concave)
    assert verdicts(run(value_centred=-1.0, **concave), small)["value"] is SAME


def test_values_of_unfinished_runs_are_compared_at_their_last_equal_k():
    base = run(falling(0.9), status="budget", steps=20)
    worse = run([*falling(0.9)[:20], 0.9**19], status="budget", steps=20)
    changes = found(base, worse)
    assert changes["value"].verdict is WORSE
    assert "at k = 20" in changes["value"].detail
    close = run([*falling(0.9)[:20], 0.9**20 * 1.005], status="budget", steps=20)
    assert verdicts(base, close)["value"] is SAME


def test_one_bit_at_equal_k_is_told_on_one_machine_alone():
    bent = falling(0.4)
    bent[3] *= 1 + 2**-52
    change = found(run(), run(bent, value_centred=0.4**20))["value at equal k"]
    assert change.verdict is CHANGED
    assert "k = 3" in change.detail
    assert "rounding" in change.detail
    assert change.base != change.new
    elsewhere = {"facts": {"versions": {"numpy": "2.5.0"}}}
    assert found(run(), run(bent, value_centred=0.4**20), **elsewhere) == {}
    bent[3] += 1e-8
    assert verdicts(run(), run(bent, value_centred=0.4**20), **elsewhere) == {
        "value at equal k": CHANGED
    }


def test_a_change_inside_one_bracket_is_none():
    def looked(at, k):
        values = [1.0, 0.5, 1e-3]
        path = trace([1.0, *values[1 : 1 + len(k)]], k=[0, *k])
        return run(trace=path, status="budget", steps=at, value_centred=1e-3)

    # met between 10 and 20 in the one, between 15 and 16 in the other: nobody can tell
    changes = verdicts(looked(20, [10, 20]), looked(16, [15, 16]))
    assert changes["steps to 1e-02"] is SAME
    changes = found(looked(20, [10, 20]), looked(30, [20, 30]))
    assert changes["steps to 1e-02"].verdict is WORSE
    assert (changes["steps to 1e-02"].base, changes["steps to 1e-02"].new) == (
        "(10, 20]", "(20, 30]"
    )  # fmt: skip


def test_twice_the_oracle_calls_on_the_same_path_are_named():
    twice = run(trace=trace(falling(0.4), lmo=range(0, 42, 2)))
    changes = found(run(), twice)
    worse = {name for name in changes if changes[name].verdict is WORSE}
    assert worse == {
        *(f"oracle calls to 1e-{e:02d}" for e in range(1, 8)),
        "oracle calls at equal k",
    }
    assert set(changes) == worse
    assert (changes["oracle calls to 1e-02"].base, changes["oracle calls to 1e-02"].new) == (
        "6", "(10, 12]"
    )  # fmt: skip
    assert changes["oracle calls at equal k"].new == 40


def test_targets_are_read_against_both_references():
    """The base alone knows how low one can get; the new side's own reference is too high."""

    def side_of(lower, others=()):
        path = trace([1.0, 0.1, 0.011, 0.0101]) | {"lower_centred": [lower] * 4}
        return side(run(trace=path, status="budget", steps=3, gap_relative=0.1), *others)

    informed, naive = side_of(0.0), side_of(-5.0)
    comparison = compared(informed, naive, exact_only=True)
    assert comparison.changes == ()


def test_a_target_below_the_tolerance_was_not_asked_for():
    quick = run([*falling(0.1)[:9], 1e-14], steps=9)  # by luck it jumped to 1e-14
    usual = run(falling(0.1)[:10], steps=9, value_centred=1e-9)
    changes = verdicts(quick, usual)
    assert not any(name.startswith("steps to 1e-1") for name in changes)


def test_steps_until_certified():
    longer = run(trace=trace([*falling(0.4), 0.4**20]), steps=21)
    assert verdicts(run(), longer)["steps until certified"] is WORSE
    assert verdicts(longer, run())["steps until certified"] is BETTER
    # on another machine a checkpoint more or less is rounding
    assert verdicts(run(), longer, facts={"cpu": "another"}).get("steps until certified") is SAME


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [("linear", "sublinear", WORSE), ("linear", "finite", BETTER),
     ("linear", "undetermined", CHANGED), ("undetermined", "none", CHANGED)],
)  # fmt: skip
def test_rate_classes_have_an_order(before, after, verdict):
    assert verdicts(run(rate_class=before), run(rate_class=after)) == {"rate class": verdict}


def test_on_other_machines_only_what_converged_is_judged():
    base = run(falling(0.9), status="budget", steps=20, gap_relative=0.1)
    worse = run(falling(0.95), status="budget", steps=20, gap_relative=0.3, rate_class="none")
    here = verdicts(base, worse)
    assert WORSE in here.values()
    there = verdicts(base, worse, facts={"cpu": "another"})
    assert set(there.values()) == {CHANGED}
    assert verdicts(run(), worse, facts={"cpu": "another"})["status"] is WORSE
    calls = run(trace=trace(falling(0.9), lmo=range(0, 42, 2)), status="budget", gap_relative=0.1)
    assert verdicts(base, calls, facts={"cpu": "another"}) == {}
    assert verdicts(base, calls)["oracle calls at equal k"] is WORSE


def test_another_problem_under_one_name_is_an_alarm_and_nothing_else_is_compared():
    other = run(scale=2.0, status="error")
    comparison = compared(side(run()), side(other), exact_only=True)
    [change] = comparison.changes
    assert change.found.quantity == "instance, its scale"
    assert comparison.outcome is Outcome.WORSE


# -- who stands beside whom --------------------------------------------------------------------


def test_what_one_side_alone_has_is_missing_or_new():
    extra = run(solver="t", solver_label="t", run_id="1")
    comparison = compared(side(run(), extra), side(run()), exact_only=True)
    assert [lone.run for lone in comparison.missing] == [extra]
    assert comparison.outcome is Outcome.INCONCLUSIVE
    comparison = compared(side(run()), side(run(), extra), exact_only=True)
    assert [lone.run for lone in comparison.added] == [extra]
    assert comparison.outcome is Outcome.SAME


def test_what_was_interrupted_is_missing_and_says_so():
    comparison = compared(side(run()), side(run(status="interrupted")), exact_only=True)
    assert comparison.matched == 0
    assert "--resume" in comparison.missing[0].reason
    assert comparison.outcome.code == 3


def test_nothing_in_common_is_inconclusive():
    comparison = compared(side(run()), side(run(instance="q", instance_label="q")))
    assert comparison.matched == 0
    assert comparison.outcome.code == 3
    assert compared(side(), side()).outcome.code == 3


def test_a_parameter_that_was_added_does_not_make_another_solver():
    grown = run(params="step=exact,memory=64")
    assert verdicts(run(), grown) == {"parameters": CHANGED}
    # unless the label is not alone
    both = side(grown, run(params="step=exact,memory=32", run_id="1"))
    comparison = compared(side(run()), both, exact_only=True)
    assert comparison.matched == 0


def test_budgets_of_one_key_are_told_apart_by_their_names():
    short, long = run(run_id="a", max_steps=10), run(run_id="b", max_steps=99, status="budget")
    comparison = compared(side(short, long), side(long, short), exact_only=True)
    assert comparison.compared == 2
    assert comparison.changes == ()
    assert verdicts(run(), run(max_steps=50)) == {"budget": CHANGED}


def test_further_repetitions_of_one_side_are_left_alone():
    twice = side(run(), run(repetition=1, run_id="1"))
    for base, new in ((twice, side(run())), (side(run()), twice)):
        assert compared(base, new, exact_only=True).outcome is Outcome.SAME


def test_where_no_repetition_is_on_both_sides_nothing_was_compared():
    comparison = compared(side(run()), side(run(repetition=1, run_id="1")))
    assert (comparison.matched, comparison.outcome) == (0, Outcome.INCONCLUSIVE)


def test_strictly_what_has_changed_is_worse():
    base, new = side(run()), side(run(rate_class="undetermined"))
    assert compared(base, new, exact_only=True).outcome is Outcome.CHANGED
    assert compared(base, new, exact_only=True, strict=True).outcome is Outcome.WORSE


def test_a_comparison_is_plain_data():
    content = plain(document(compared(side(run()), side(run(status="budget")))))
    assert content["outcome"] == "worse"
    assert content["exit"] == 1
    assert content["changes"][0]["solver"] == "s"
    assert content["changes"][0]["base"] == "converged"
    assert {timing["verdict"] for timing in content["timings"]} == {"same"}


# -- whatever the sides hold -------------------------------------------------------------------

STATUSES = ("converged", "finished", "budget", "stalled", "timeout", "skipped", "wrong")
PLACES = ("vertex", "face", "interior", "moving", "cycle", "consensus")


@st.composite
def runs(draw):
    """Draw a run of one of few names, with any results."""
    name = draw(st.sampled_from("st"))
    values = draw(st.lists(st.floats(-1, 1), min_size=1, max_size=5))
    path = trace(values, lmo=draw(st.sampled_from([range(5), range(0, 10, 2)]))[: len(values)])
    kind = draw(st.sampled_from(["convex", "concave"]))
    place = draw(st.sampled_from(PLACES))
    certified = place in ("vertex", "face", "interior", "consensus")
    rest = REST | {"class": place, "label": place, "certified": certified}
    return run(
        trace=path if draw(st.booleans()) else trace(values, k=range(0, 2 * len(values), 2)),
        solver=name, solver_label=name, run_id=f"{name}", kind=kind,
        status=draw(st.sampled_from(STATUSES)), steps=draw(st.integers(1, 5)),
        gap_relative=draw(st.sampled_from([None, 0.0, 1e-12, 5e-9, 1e-3])),
        value_centred=draw(st.sampled_from([None, 0.0, 1e-9, 0.5])), fixed_point=place,
        rate_class=draw(st.sampled_from([None, "linear", "finite", "undetermined"])),
        rests=draw(st.sampled_from([(), (rest | {"value": 0.0},), (rest | {"value": 1.0},)])),
        seconds=draw(st.sampled_from([None, 1e-3, 5.0])),
    )  # fmt: skip


def told(comparison):
    """Return what a comparison says, without who says it."""
    return [
        (change.base.key, change.found.quantity, change.found.base, change.found.new,
         change.found.verdict, change.found.alarm)
        for change in comparison.changes
    ]  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.lists(runs(), max_size=2, unique_by=lambda one: one.row["solver"]))
def test_anything_against_itself_is_the_same(some):
    comparison = compared(side(*some), side(*some))
    assert comparison.changes == ()
    assert comparison.outcome.code == (0 if some else 3)


@settings(max_examples=120, deadline=None)
@given(runs(), runs(), st.sampled_from(["fast", "another"]))
def test_exchanged_sides_exchange_better_and_worse(a, b, cpu):
    there = compared(side(a), side(b, cpu=cpu), exact_only=True)
    back = compared(side(b, cpu=cpu), side(a), exact_only=True)
    if not there.matched:
        return
    forth = {one[1]: (one[2], one[3], one[4]) for one in told(there)}
    assert {one[1]: (one[3], one[2], one[4].swapped) for one in told(back)} == forth


@settings(max_examples=30, deadline=None)
@given(runs(), runs(), runs(), runs())
def test_the_order_of_runs_does_not_matter(a, b, c, d):
    def renamed(one, name):
        return run(trace=one.trace, rests=one.rests, **(one.row | {
            "solver": name, "solver_label": name, "run_id": name}))  # fmt: skip

    base = [renamed(a, "s"), renamed(b, "t")]
    new = [renamed(c, "s"), renamed(d, "t")]
    orders = itertools.product(itertools.permutations(base), itertools.permutations(new))
    said = [told(compared(side(*left), side(*right))) for left, right in orders]
    assert all(one == said[0] for one in said)
