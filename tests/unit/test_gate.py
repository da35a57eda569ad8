"""What a gate times, and what it makes of exact results."""

import numpy as np
import pytest

from fwbench.analysis.changes import Outcome, Pace, Timing
from fwbench.gating import gate
from fwbench.gating.code import Code
from fwbench.gating.exact import Question
from fwbench.gating.gate import Terms, gated, timed

from .made_sides import falling, run, side, trace

PLANNED = {"planned_problem": "p[n=3]", "planned_solver": "s[step=exact]"}


def planned(**columns):
    return run(**(PLANNED | columns))


@pytest.fixture
def asked(monkeypatch):
    """Return what makes a gate of two made sides, and holds what was timed."""

    def made(base, new, pace=Pace.SAME, **terms):
        held = []

        def measured(old, young, cells, seconds, rng, told):
            held.extend(cells)
            return tuple(
                Timing(cell.run, cell.what, "s", 1.0, 1.0, 1.0, 0.99, 1.01, 24, None, pace, "")
                for cell in cells
            )

        monkeypatch.setattr(gate, "results", lambda *given: (base, new))
        monkeypatch.setattr(gate, "measured", measured)
        code = Code("code", None, None, None, None, notes=("submodules are left out: a",))
        return gated(code, code, Question(), None, Terms(**terms)), held

    return made


def test_both_kinds_of_seconds_are_timed_once_whatever_the_repetitions():
    runs = [planned(run_id=str(n), repetition=n) for n in range(3)]
    cells = list(timed(side(*runs), side(*runs)))
    assert [cell.what for cell in cells] == ["seconds", "set-up"]
    assert {(cell.base.problem, cell.base.solver, cell.base.steps) for cell in cells} == {
        ("p[n=3]", "s[step=exact]", 20)
    }


def test_each_side_is_asked_in_its_own_words_and_takes_its_own_steps():
    base, new = planned(), planned(steps=26, planned_solver="s[step=exact,lazy=no]")
    [cell, _] = timed(side(base), side(new))
    assert (cell.base.solver, cell.new.solver) == ("s[step=exact]", "s[step=exact,lazy=no]")
    assert (cell.base.steps, cell.new.steps) == (20, 26)


@pytest.mark.parametrize(
    "new",
    [
        {"status": "error"},
        {"status": "budget", "steps": 25},
        {"threads": 2},
        {"seconds_from": "trace"},
        {"steps": 0},
        {"seconds": None},
    ],
    ids=str,
)
def test_other_work_is_not_timed_and_that_is_said(asked, new):
    comparison, held = asked(side(planned()), side(planned(**new)))
    assert held == []
    assert any("seconds of 1 are not compared" in note for note in comparison.notes)


@pytest.mark.parametrize("base", ["converged", "budget"])
def test_seconds_of_a_run_that_now_meets_its_time_limit_are_inconclusive(asked, base):
    before, after = (
        planned(status=base, seconds=2.0),
        planned(status="timeout", seconds=10.0, steps=7),
    )
    comparison, held = asked(side(before), side(after))
    assert (held, comparison.outcome) == ([], Outcome.INCONCLUSIVE)
    [timing] = comparison.timings
    assert "time limit" in timing.reason
    back, _ = asked(side(after), side(before))
    assert back.timings == ()
    both, _ = asked(side(after), side(planned(status="timeout", seconds=10.0, steps=9)))
    assert [timing.pace for timing in both.timings] == [Pace.INCONCLUSIVE]


def test_runs_that_end_at_one_step_are_timed():
    ended = planned(status="budget", steps=100)
    assert len(list(timed(side(ended), side(ended)))) == 2


def test_exact_only_times_nothing(asked):
    comparison, held = asked(side(planned()), side(planned()), exact_only=True)
    assert (held, comparison.timings, comparison.outcome) == ([], None, Outcome.SAME)


def test_what_a_side_lacks_is_said_once(asked):
    comparison, _ = asked(side(planned()), side(planned()), exact_only=True)
    assert comparison.notes == ("submodules are left out: a",)


@pytest.mark.parametrize(
    ("pace", "code"),
    [(Pace.SAME, 0), (Pace.FASTER, 0), (Pace.SLOWER, 1), (Pace.INCONCLUSIVE, 3)],
)
def test_what_the_timings_say_ends_the_gate(asked, pace, code):
    comparison, _ = asked(side(planned()), side(planned()), pace)
    assert comparison.outcome.code == code


def test_what_is_worse_counts_whatever_the_timings_say(asked):
    worse = planned(trace=trace(falling(0.4), lmo=(2 * np.arange(21)).tolist()), status="converged")
    comparison, held = asked(side(planned()), side(worse), Pace.FASTER)
    assert comparison.outcome is Outcome.WORSE
    assert len(held) == 2, "the seconds are of use all the same"
