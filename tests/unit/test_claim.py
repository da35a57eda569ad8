"""How a claim gets its verdict, on a made one: numbers are small."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from fwbench.errors import InvalidParameter
from fwbench.theory.claim import (
    Case,
    Claim,
    Control,
    Curves,
    Effort,
    Line,
    Outcome,
    Standing,
    Verdict,
    text,
)
from fwbench.theory.trials import checked, together, verified


def case(number):
    return Case(f"number {number}", {"number": number})


def line(number):
    values = np.array([float(number)])
    return Curves(f"figure of {number}", "x", "y", (Line("all", values, values),))


def check(tried, effort):
    number = tried["number"]
    broken = number > 9
    return Outcome(
        Verdict.BROKEN if broken else Verdict.HOLDS,
        "one look",
        f"{number} > 9" if broken else "",
        {"number": text(number)},
        line(number) if number != 1 else None,
    )


def made(numbers, *, controls=(12,), expects=Verdict.HOLDS, witness=""):
    return Claim(
        name="small", section=2, title="small", statement="numbers are small", formula="x ≤ 9",
        source="this project", standing=Standing.STATED, hypotheses=("x ≥ 0",),
        refuses=lambda tried: "it is negative" if tried["number"] < 0 else None,
        cases=lambda effort: map(case, numbers), check=check,
        controls=lambda effort: [Control(case(n), Verdict.BROKEN, "it is large") for n in controls]
        + [Control(case(4), Verdict.HOLDS, "it is small")] * (expects is Verdict.BROKEN),
        quantity="x", horizon="one look", arithmetic="exact", expects=expects,
        expects_witness=witness,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        ((), Verdict.VACUOUS),
        ((Verdict.VACUOUS,), Verdict.VACUOUS),
        ((Verdict.VACUOUS, Verdict.HOLDS), Verdict.HOLDS),
        ((Verdict.HOLDS, Verdict.INCONCLUSIVE), Verdict.INCONCLUSIVE),
        ((Verdict.INCONCLUSIVE, Verdict.BROKEN, Verdict.HOLDS), Verdict.BROKEN),
    ],
)
def test_verdicts_together(verdicts, whole):
    assert together(Outcome(verdict, "") for verdict in verdicts) is whole


def test_what_is_refused_is_not_tried():
    found = verified(made([-1, 3]), Effort())
    assert (found.verdict, found.surprises, found.witness) == (Verdict.HOLDS, (), "")
    refused, tried = found.tried
    assert (refused.refused, refused.outcome) == ("it is negative", None)
    assert tried.outcome.verdict is Verdict.HOLDS
    assert found.numbers == {"number 3: number": "3"}


def test_hypotheses_that_nothing_meets_make_it_vacuous():
    found = verified(made([-1]), Effort())
    assert found.verdict is Verdict.VACUOUS
    assert found.surprises == ("vacuous where holds is expected",)


def test_the_first_witness_is_the_one():
    found = verified(made([3, 11, 10], expects=Verdict.BROKEN, witness="number 11: 11 >"), Effort())
    assert found.witness == "number 11: 11 > 9"
    assert found.surprises == ()
    assert found.curves.title == "figure of 11"  # of what broke, not of what came first


def test_a_figure_of_what_held_where_nothing_broke():
    assert verified(made([1, 3]), Effort()).curves.title == "figure of 3"
    assert verified(made([1]), Effort()).curves is None


def test_another_witness_is_a_surprise():
    found = verified(made([10], expects=Verdict.BROKEN, witness="number 11"), Effort())
    assert found.surprises == ("first witness 'number 10: 10 > 9', expected 'number 11'",)


def test_a_control_that_passes_is_a_surprise():
    found = verified(made([3], controls=(12, 4)), Effort())
    assert found.surprises == ("control number 4: holds, must be broken",)


def test_no_control_is_a_surprise():
    found = verified(made([3], controls=()), Effort())
    assert found.surprises == ("no control: a check that cannot fail says nothing",)


def test_a_check_that_fails_has_shown_nothing():
    found = verified(made([3, "three"]), Effort())
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.error.startswith("TypeError: '<' not supported")
    assert found.surprises == (f"the check failed: {found.error}",)


def test_a_check_that_fails_after_it_broke_has_shown_nothing_either():
    found = verified(made([10, "three"], expects=Verdict.BROKEN), Effort())
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.surprises


def test_interrupts_go_through():
    def stop(tried):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verified(replace(made([3]), refuses=stop), Effort())


def test_efforts():
    assert (Effort().of(3, 30), Effort(long=True).of(3, 30)) == (3, 30)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Fraction(2, 6), "1/3"),
        (7, "7"),
        (np.int64(7), "7"),
        ("as it is", "as it is"),
        (np.float64(0.1) + 0.2, "0.3"),
        (np.float32(1.5), "1.5"),
        (1e-30, "1e-30"),
        (Fraction(7**9000 + 1, 2 * 7**9000), "≈ 0.5"),
    ],
)
def test_numbers_for_people(value, written):
    assert text(value) == written


@pytest.mark.parametrize("found", [None, 3, made([1])])
def test_a_file_must_end_with_its_claim(found):
    with pytest.raises(InvalidParameter, match=r"large\.py must end with CLAIM"):
        checked(found, "large")


# -- answers that are none -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"check": lambda tried, effort: True}, "check must return an Outcome; got True"),
        ({"check": lambda tried, effort: None}, "check must return an Outcome; got None"),
        ({"refuses": lambda tried: False}, "refuses must return a text or None; got False"),
        ({"cases": lambda effort: ["three"]}, "cases must yield a Case each; got 'three'"),
        ({"cases": lambda effort: None}, "cases must yield a Case each; got None"),
        ({"controls": lambda effort: [case(12)]}, "controls must yield a Control each; got Case("),
        (
            {"check": lambda tried, effort: Outcome("holds", "one look")},
            "Outcome: verdict must be of type Verdict; got 'holds'",
        ),
        (
            {"check": lambda tried, effort: Outcome(Verdict.HOLDS, "one look", numbers={"x": 3})},
            "Outcome: numbers are texts; got 'x': 3",
        ),
    ],
)
def test_answers_that_are_none_cost_that_claim_only(changed, said):
    found = verified(replace(made([3]), **changed), Effort())
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.error.startswith(said)
    [surprise] = found.surprises
    assert said in surprise


@pytest.mark.parametrize("raised", [SystemExit(3), GeneratorExit(), MemoryError("all of it")])
def test_whatever_a_check_raises_is_told_briefly(raised):
    def stop(tried, effort):
        raise raised

    found = verified(replace(made([3]), check=stop), Effort())
    name = type(raised).__name__
    assert re.fullmatch(rf"{name}(: .*)? \(test_claim\.py:\d+\)", found.error)
    assert "test_claim.py" in found.trace
    assert "/home" not in found.trace + found.error
    assert str(Path(__file__).parent) not in found.trace + found.error


def test_what_is_raised_is_cut_where_it_is_long():
    def stop(tried, effort):
        raise ValueError("long\n" * 9999)

    found = verified(replace(made([3]), check=stop), Effort())
    assert len(found.error) < 400
    assert "\n" not in found.error


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"standing": "proved"}, "small.py: standing must be of type Standing; got 'proved'"),
        ({"expects": "holds"}, "small.py: expects must be of type Verdict; got 'holds'"),
        ({"hypotheses": "x ≥ 0"}, "small.py: hypotheses must be of type tuple; got 'x ≥ 0'"),
        ({"hypotheses": (3,)}, "small.py: hypotheses must be a tuple of texts"),
        ({"section": "2"}, "small.py: section must be of type int; got '2'"),
        ({"check": "check"}, "small.py: check must be a function; got 'check'"),
        ({"remark": None}, "small.py: remark must be of type str; got None"),
    ],
)
def test_fields_of_a_claim_are_what_they_must_be(changed, said):
    with pytest.raises(InvalidParameter, match=re.escape(said)):
        replace(made([3]), **changed)


def test_points_of_a_line_are_pairs():
    with pytest.raises(InvalidParameter, match=r"x and y must be \(p,\); got \(2,\) and \(3,\)"):
        Line("all", np.zeros(2), np.zeros(3))


# -- controls and the numbers that tell most -------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "control", "expects", "surprises"),
    [
        ([3], 4, Verdict.HOLDS, ("no control that comes out the other way",)),
        ([3], 12, Verdict.HOLDS, ()),
        ([-1], 12, Verdict.VACUOUS, ()),
    ],
)
def test_a_control_must_come_out_the_other_way(numbers, control, expects, surprises):
    told = Verdict.BROKEN if control > 9 else Verdict.HOLDS
    controls = [Control(case(control), told, "it is known")]
    claim = replace(made(numbers, expects=expects), controls=lambda effort: controls)
    assert verified(claim, Effort()).surprises == surprises


def test_inconclusive_is_not_the_other_way_of_a_vacuous_claim():
    def check(tried, effort):
        return Outcome(Verdict.INCONCLUSIVE, "one look")

    controls = [Control(case(4), Verdict.INCONCLUSIVE, "nobody knows")]
    claim = replace(made([-1], expects=Verdict.VACUOUS), check=check)
    found = verified(replace(claim, controls=lambda effort: controls), Effort())
    assert found.surprises == ("no control that comes out the other way",)


def test_the_case_with_the_largest_telling_number_stands_for_a_claim():
    found = verified(replace(made([3, 8, 5, 8]), telling="number"), Effort())
    assert found.deciding is found.tried[1]
    assert verified(made([3, 8, 5]), Effort()).deciding.case == "number 3"
    claim = made([3, 10, 12], expects=Verdict.BROKEN, witness="number 10")
    assert verified(replace(claim, telling="number"), Effort()).deciding.case == "number 10"


def test_a_telling_number_that_no_case_has_is_a_surprise():
    found = verified(replace(made([3]), telling="ratio"), Effort())
    assert found.surprises == ("no case has the number 'ratio'",)
    assert found.deciding.case == "number 3"
