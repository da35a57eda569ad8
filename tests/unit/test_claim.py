"""How a claim gets its verdict, on a made one: numbers are small."""

from dataclasses import replace
from fractions import Fraction

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
    checked,
    text,
    together,
    verified,
)


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
        controls=lambda effort: [Control(case(n), Verdict.BROKEN, "it is large") for n in controls],
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
    assert "TypeError" in found.error
    [surprise] = found.surprises
    assert surprise.startswith("the check failed: ")


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
