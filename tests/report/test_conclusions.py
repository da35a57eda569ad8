"""Sentences of standings, rates, growth and profiles: made tables, word by word."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from fwbench.analysis import growth
from fwbench.analysis.contests import Contest
from fwbench.analysis.findings import Findings
from fwbench.analysis.profiles import MEANS, PAIRS, Profiles
from fwbench.analysis.promises import COLUMNS as PROMISES
from fwbench.analysis.seeds import COLUMNS as RATES
from fwbench.analysis.standings import FIRSTS, STANDINGS
from fwbench.report import conclusions, growing, profile_tables, rates, resting, standings
from fwbench.report.sentences import Part, Said, plain

from .made_findings import HOSTILE, empty_findings


def frame(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame([{**dict.fromkeys(columns), **row} for row in rows], columns=list(columns))


def told(said: list[Said]) -> list[str]:
    return [plain(one) for one in said]


# -- standings ------------------------------------------------------------------------------------


def standing(name: str, firsts: int, sure: int, **known: Any) -> dict[str, Any]:
    usual = {
        "solver_label": name, "instances": 5, "rivalled": 5, "firsts": firsts, "sure": sure,
        "unsure": firsts - sure, "alone": 0, "solved": 4, "mean": 1.5, "shift": 0.02,
        "lead": 3.0 if firsts else None, "runs": 5, "failures": 0,
    }  # fmt: skip
    return usual | known


def race(instance: str, name: str | None, contest: str, **known: Any) -> dict[str, Any]:
    usual = {
        "instance": instance, "instance_label": instance, "problem": "ball", "where": "convex",
        "solver_label": name, "contest": contest, "reached": 2, "of": 3,
    }  # fmt: skip
    return usual | known


def stood(findings: Findings, rows: list[Any], races: list[Any], **more: Any) -> Findings:
    table = frame(rows, STANDINGS).astype({"mean": float, "shift": float, "lead": float})
    return replace(findings, standings=table, firsts=frame(races, FIRSTS), **more)


def test_who_won_is_told_with_where_how_much_and_how_surely(findings: Findings) -> None:
    noisy = {"doubts": "a noisy machine; a lead below 1.1×"}
    races = [
        race("i", "a", "sure"), race("j", "a", "sure", problem="digits"),
        race("k", "a", "unsure", doubts="a noisy machine"),
        race("l", "b", "unsure", where="concave", **noisy), race("m", "c", "alone"),
        race("m", None, "nobody", where="general"),
    ]  # fmt: skip
    rows = [standing("a", 3, 2), standing("b", 1, 0), standing("c", 0, 0, failures=2)]
    made = stood(findings, rows, races)
    assert told(standings.headline(made)) == [
        "a was first most often: 3 of 4 races on 5 instances, 2 of them surely, by a median 3.0× "
        "over the next: 3 convex (ball 2, digits 1).",
        "Then b 1 (0 surely).",
        "Alone came to the tightest target: c on 1. That is no race, and no first place.",
        "2 first places are unsure: a noisy machine (2), a lead below 1.1× (1). "
        "Each run was timed once: repeat (--repeat 5) what hangs on seconds.",
        "2 of 15 runs failed: c 2.",
    ]


def test_several_that_were_first_as_often_share_the_sentence(findings: Findings) -> None:
    races = [race("i", "a", "sure"), race("j", "b", "sure")]
    rows = [standing(name, 1, 1) for name in ("a", "b")]
    [first, *_] = told(standings.headline(stood(findings, rows, races)))
    assert first == (
        "a and b were first most often: 1 of 2 races on 2 instances each, surely, "
        "by 3.0×, 3.0× over the next."
    )
    races[1] |= {"contest": "unsure", "doubts": "brackets that overlap"}
    rows[1] |= {"sure": 0, "unsure": 1}  # not beside one who was so surely
    said = told(standings.headline(stood(findings, rows, races)))
    assert said[0].startswith("a was first most often: 1 of 2 races on 2 instances, surely, by")
    assert said[1] == "Then b 1 (0 surely)."


def test_where_nothing_is_sure_that_comes_first(findings: Findings) -> None:
    races = [race(i, "a", "unsure", doubts="a noisy machine") for i in "ij"]
    [first, *_] = told(standings.headline(stood(findings, [standing("a", 2, 0)], races)))
    assert first.startswith("No first place is sure. a was first most often: 2 of 2 races on 2")
    races += [race("k", "b", "sure")]
    rows = [standing("a", 2, 0), standing("b", 1, 1)]
    said = told(standings.headline(stood(findings, rows, races)))
    assert said[1] == "Surely first most often: b, 1 time."


def test_ties_are_counted_and_nobodys(findings: Findings) -> None:
    races = [race(i, "a", "tied", runner_up="b") for i in "ij"] + [race("k", "a", "sure")]
    said = told(standings.headline(stood(findings, [standing("a", 1, 1)], races)))
    assert said[0].startswith("a was first most often: 1 of 3 races on 3 instances")
    assert "2 races were ties: a in 2, b in 2." in said
    said = told(standings.headline(stood(findings, [standing("a", 0, 0)], races[:2])))
    assert said[:2] == [
        "Nobody was first in 2 races on 2 instances.", "2 races were ties: a in 2, b in 2.",
    ]  # fmt: skip


def test_repeated_runs_are_not_asked_to_be_repeated(findings: Findings) -> None:
    races = [race("i", "a", "unsure", doubts="repetitions that overlap")]
    made = stood(findings, [standing("a", 1, 0)], races, runs=findings.runs.assign(repetition=2))
    assert not any("repeat (" in one for one in told(standings.headline(made)))


def test_where_nobody_raced_that_is_said(findings: Findings) -> None:
    made = stood(findings, [standing("a", 0, 0)], [race("i", "a", "alone")])
    assert told(standings.headline(made))[0].startswith("Nobody was first: on no instance")


def test_a_row_a_solver_and_kind(findings: Findings) -> None:
    rows = [standing("a", 1, 1, mean=None), standing("a", 1, 1) | {"where": "convex"}]
    races = [race("i", "a", "sure"), race("j", None, "nobody", where="general")]
    made = stood(findings, rows, races)
    [row] = standings.table(made)
    cells = [text for text, _ in row["cells"]]
    assert cells == ["5", "1", "1", "0", "4 of 5", "–", "3.0×", "0 of 5"]
    assert standings.by_kind(made) == [("convex", 1, [("a", 1, 1)]), ("general", 1, [])]
    assert standings.note(made).endswith("Shift 0.02.")


# -- rates ----------------------------------------------------------------------------------------


def rate(name: str, law: str, value: float | None, **known: Any) -> dict[str, Any]:
    usual = {
        "regime": "ball[n=9]", "solver_label": name, "rate_signal": "suboptimality", "seeds": 1,
        "kind": "convex", **dict.fromkeys(("sublinear", "linear", "undetermined"), 0), law: 1,
        "rate_class": law, "rate": value, "rate_from": 13, "rate_to": 1000,
    }  # fmt: skip
    return usual | known


def decays(findings: Findings, *rows: dict[str, Any]) -> Findings:
    return replace(findings, rates=frame([*rows], (*RATES, *PROMISES)))


def test_a_rate_stands_with_its_seeds_its_promise_and_the_bound(findings: Findings) -> None:
    row = rate(
        "frank_wolfe", "sublinear", -1.98, seeds=8, sublinear=8, rate_low=-2.02, rate_high=-1.95,
        interval="percentile", optimum="interior", promised_class="sublinear", promised_rate=-2.0,
        bound_constant=2.0, bound_share=0.31, verdict="as promised",
    )  # fmt: skip
    made = decays(findings, row)
    assert told(rates.sentences(made)) == [
        "frank_wolfe on ball[n=9]: exponent -1.98 (-2.02 … -1.95) over 8 seeds, read off the "
        "suboptimality; theory promises t^-2, optimum in the interior: as promised; it used at "
        "most 0.31 of the bound 2 D²/(t + 2)."
    ]
    [shown] = rates.rows(made)
    assert shown["made"] == "95 %, percentile bootstrap over 8 seeds"
    assert (shown["window"], shown["counts"]) == ("k 13 … 1\u202f000", "8")


def test_one_seed_has_no_interval_and_says_so(findings: Findings) -> None:
    made = decays(findings, rate("a", "linear", 0.93, reason="1 seed linear, 3 needed"))
    assert told(rates.sentences(made)) == [
        "a on ball[n=9]: factor 0.93 a step (one seed, no interval), read off the suboptimality."
    ]
    assert rates.rows(made)[0]["interval_shown"] == "one seed: none"
    assert rates.rows(made)[0]["made"] == "1 seed linear, 3 needed"


def test_undetermined_is_an_answer_with_its_reason(findings: Findings) -> None:
    made = decays(findings, rate("a", "undetermined", None, reason="windows differ"))
    assert told(rates.sentences(made)) == [
        "a on ball[n=9]: undetermined (windows differ), read off the suboptimality."
    ]
    assert rates.rows(made)[0]["why"] == "windows differ"


def test_several_regimes_are_counted_and_a_broken_bound_comes_first(findings: Findings) -> None:
    law = {"promised_class": "sublinear", "promised_rate": -1.0, "verdict": "slower"}
    broken = {"bound_constant": 2.0, "bound_share": 1.5}
    made = decays(
        findings,
        rate("good", "linear", 0.5), rate("good", "linear", 0.9995, regime="cube"),
        rate("bad", "sublinear", -0.5, **law, **broken), rate("bad", "none", None, regime="cube"),
    )  # fmt: skip
    made.rates["none"] = [0, 0, 0, 1]
    assert told(rates.sentences(made)) == [
        "bad, 2 regimes: sublinear in 1 (exponent -0.5), no decay in 1; theory: above its bound "
        "in 1; it used at most 1.5 of the bound 2 D²/(t + 2), which breaks it.",
        "good, 2 regimes: linear in 2 (factor 0.5 … 1 - 5.0e-04 a step).",
    ]


def test_what_seeds_agree_on_exactly_has_no_width(findings: Findings) -> None:
    row = rate("a", "linear", 0.5, seeds=3, linear=3, rate_low=0.5, rate_high=0.5, interval="BCa")
    assert "factor 0.5 a step on each of 3 seeds" in told(rates.sentences(decays(findings, row)))[0]


# -- growth ---------------------------------------------------------------------------------------


def test_growth_names_the_exponent_and_counts_who_has_none(findings: Findings) -> None:
    usual = {"regime": "ball[d=5]", "against": "n", "quantity": "seconds"}
    rows = [
        usual | {"solver_label": "b", "exponent": 1.9, "exponent_low": 1.8, "exponent_high": 2.0},
        usual | {"solver_label": "a", "exponent": 0.9, "exponent_low": 0.8, "exponent_high": 1.0},
        usual | {"solver_label": "c", "reason": "3 of 6 sizes"},
    ]
    made = replace(findings, growth=frame(rows, growth.COLUMNS))
    assert told(growing.sentences(made)) == [
        "Seconds, with set-up, grow with n on ball[d=5]: a like n^0.90 (0.80 … 1.00), "
        "b like n^1.90 (1.80 … 2.00); undetermined for 1 solver."
    ]


# -- profiles -------------------------------------------------------------------------------------


def compared(**pair: Any) -> Profiles:
    contest = Contest(
        "tuned", "lmo", ("a, best of 2", "b", "c"), ("a", "b", "c"),
        (("a", "a[k=2]"), ("b",), ("c",)), tuple((name, "gap", None) for name in "xyz"),
        ("x", "y", "z"), (("w", "b: not run"),),
    )  # fmt: skip
    ranks = {"rank": 1, "rank_tenth": 1, "rank_tenfold": 2}
    mean = {"contest": 0, "cost": "lmo", "target": 1e-4, "instances": 3, "shift": 0.5} | ranks
    means = [
        mean | {"solver": "a, best of 2", "low": 10.0, "high": 12.0, "failures": 0,
                "grid_low": 20.0, "grid_high": 30.0},
        mean | {"solver": "b", "low": 20.0, "high": 20.0, "failures": 1, "rank": 2,
                "rank_tenth": 2},
        mean | {"solver": "c", "low": 99.0, "high": 99.0, "failures": 3, "rank": 3,
                "rank_tenth": 3, "rank_tenfold": 3},
    ]  # fmt: skip
    usual = {
        "contest": 0, "cost": "lmo", "target": 1e-4, "solver_a": "b", "solver_b": "c",
        "instances": 3, "reversed_at": None, "reversed_by": None, "reversed_without": None,
    }  # fmt: skip
    empty = pd.DataFrame()
    pairs = frame([usual | pair], PAIRS)
    return Profiles((contest,), empty, pairs, frame(means, MEANS), empty, empty)


def test_means_show_their_shift_what_was_missed_and_the_grid() -> None:
    [contest] = profile_tables.contests(compared())
    assert contest["shifts"] == ["0.5"]
    assert contest["excluded"] == (("w", "b: not run"),)
    cells = [row["cells"][0] for row in contest["rows"]]
    assert [cell["text"] for cell in cells] == ["10 … 12 †", "20", "99"]
    assert [cell["missed"] for cell in cells] == ["", "1 of 3 missed", "3 of 3 missed"]
    assert cells[0]["grid"] == "whole grid 30"


def test_who_needs_least_is_told_without_those_that_came_nowhere() -> None:
    made = compared()
    usual = replace(made, contests=(replace(made.contests[0], variant="defaults"),))
    assert told(profile_tables.headline(usual)) == [
        "In oracle calls, to 1e-04 on 3 instances: a, best of 2 needs least, 12 in the mean; "
        "next is b, 20, 1 of them missed."
    ]


@pytest.mark.parametrize(
    ("cost", "link", "end"),
    [("seconds", "is said to need", "10.5 s: less than 1.1×, a tie."), ("lmo", "needs", "10.5.")],
)
def test_seconds_that_differ_by_less_than_they_jitter_are_a_tie(
    cost: str, link: str, end: str
) -> None:
    made = compared()
    contest = replace(made.contests[0], variant="defaults", cost=cost)
    means = made.means.iloc[:2].assign(low=[10.0, 10.5], high=[10.0, 10.5], failures=0)
    [said] = told(profile_tables.headline(replace(made, contests=(contest,), means=means)))
    assert f" {link} least, " in said
    assert said.endswith(end)


@pytest.mark.parametrize(
    ("without", "end"), [(None, "the others are left out."), ("a, best of 2", None)]
)
def test_a_reversal_names_the_two_and_who_turns_them(without: str | None, end: str | None) -> None:
    made = compared(reversed_at=2.0, reversed_by=1 / 3, reversed_without=without)
    [said] = told(profile_tables.warnings(made))
    assert said == (
        "b and c change places at 2.0× the best (oracle calls, to 1e-04, 33 % of 3 instances) "
        f"when {end or 'a, best of 2 is left out.'}"
    )
    assert profile_tables.warnings(compared()) == []


def test_of_several_reversals_of_two_the_largest_is_told() -> None:
    made = compared(reversed_at=2.0, reversed_by=1 / 3)
    small = made.pairs.assign(reversed_at=9.0, reversed_by=0.1)
    both = replace(made, pairs=pd.concat([small, made.pairs], ignore_index=True))
    [said] = told(profile_tables.warnings(both))
    assert "at 2.0× the best" in said


# -- names, and nothing ---------------------------------------------------------------------------


def test_names_are_code_in_markdown() -> None:
    said = [Part("Of "), Part(HOSTILE, "solver"), Part(" and 2*3 of "), Part("a|b", "instance")]
    assert conclusions.line(said) == rf"Of `{HOSTILE}` and 2\*3 of `a\|b`"


def test_nothing_is_said_of_nothing() -> None:
    nothing = empty_findings()
    assert standings.headline(nothing) == []
    assert standings.table(nothing) == []
    assert rates.sentences(nothing) == []
    assert growing.sentences(nothing) == []
    assert resting.context(nothing)["points_said"] == []
    assert profile_tables.context(nothing)["profiles_contests"] == []
    assert conclusions.won(nothing) == ["Nothing that could be compared was run."]
    assert conclusions.profiles(nothing) == []
    assert conclusions.rests(nothing) == []
