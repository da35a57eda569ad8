import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwbench import catalog
from fwbench.errors import InvalidParameter
from fwbench.schedules import SCHEDULES, Steady, factors, schedule

TEXTS = [
    ("10", "10"),
    (" 1/3 ", "1/3"),
    ("1e-3", "0.001"),
    ("0", "0"),
    ("constant(5/2)", "2.5"),
    ("geometric(1,1/2)", "geometric(1,0.5)"),
    ("geometric( 3 , 2 )", "geometric(3,2)"),
    ("power(2,-1)", "power(2,-1)"),
    ("power(1,1/3)", "power(1,1/3)"),
    ("linear(1,0.1)", "linear(1,0.1)"),
]


@pytest.mark.parametrize(("text", "canonical"), TEXTS)
def test_a_schedule_reads_back_from_its_own_text(text, canonical):
    assert schedule(text).text == canonical
    assert schedule(canonical) == schedule(text)


def test_all_schedules_are_tried_here():
    assert {text.split("(")[0].strip() for text, _ in TEXTS if "(" in text} == set(SCHEDULES)


def test_schedules_have_their_known_values():
    known = {
        "5/2": [Fraction(5, 2)] * 3,
        "geometric(4,1/3)": [4, Fraction(4, 3), Fraction(4, 9)],
        "power(3,2)": [3, 12, 27],
        "power(3,-1)": [3, Fraction(3, 2), 1],
        "linear(1,1/2)": [1, Fraction(3, 2), 2],
    }
    for text, values in known.items():
        assert [schedule(text).exactly(t) for t in range(3)] == values
    assert schedule("power(1,1/2)").at(3) == 2.0


positive = st.fractions(Fraction(1, 50), 50, max_denominator=60)


@given(name=st.sampled_from(sorted(SCHEDULES)), a=positive, b=positive, t=st.integers(0, 60))
def test_doubles_are_the_rationals_rounded(name, a, b, t):
    made = SCHEDULES[name](a) if name == "constant" else SCHEDULES[name](a, b)
    if not made.rational:
        with pytest.raises(InvalidParameter, match="p must be an integer"):
            made.exactly(t)
        return
    exact = made.exactly(t)
    assert exact > 0
    largest = sys.float_info.max
    expected = float(exact) if exact < Fraction(largest) else largest
    assert made.at(t) == pytest.approx(expected, rel=1e-12)
    steady = made.exactly(0) == made.exactly(1) == made.exactly(7)
    assert made.steady == steady


def test_what_exceeds_all_doubles_is_the_largest():
    for text in ("geometric(1,10)", "power(1e300,400)", "linear(1e308,1e308)"):
        assert schedule(text).at(10**6) == sys.float_info.max
    assert schedule("geometric(1,1/2)").at(10**6) == 0.0


@pytest.mark.parametrize(
    ("text", "t", "is_"),
    [
        ("geometric(1e-300,1e200)", 2, 1e100),
        ("geometric(1e300,1e-200)", 2, 1e-100),
        ("power(1e-300,1000)", 2, 1.322070819480807e177),
        ("power(1e300,-1000)", 2, 7.5638853254e-178),
    ],
)
def test_a_product_is_a_double_though_the_power_is_none(text, t, is_):
    assert schedule(text).at(t) == pytest.approx(is_, rel=1e-9)
    assert schedule(text).at(t) == pytest.approx(float(schedule(text).exactly(t)), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("geometrc(1,2)", "no schedule 'geometrc\\(1,2\\)'; did you mean geometric"),
        ("", "no schedule ''; known: constant"),
        ("inf", "no schedule 'inf'"),
        ("1/0", "no schedule '1/0'"),
        ("1e99999", "no schedule"),
        ("-1", "a must not be negative; got -1"),
        ("1e400", "a is beyond all doubles"),
        ("1e-400", "a is beyond all doubles"),
        ("geometric(1,1e-400)", "an argument is beyond all doubles"),
        ("geometric(1,-1)", "r must not be negative; got -1"),
        ("geometric(0,1)", "a and r must be positive"),
        ("power(0,1)", "a must be positive"),
        ("power(1,5000)", "p must lie in"),
        ("linear(0,1)", "a must be positive"),
        ("linear(1,-1)", "b must not be negative"),
        ("linear(1,2,3)", "takes 2 arguments"),
        ("linear(a)", "must be numbers"),
    ],
)
def test_a_text_that_is_no_schedule_is_explained(text, says):
    with pytest.raises(InvalidParameter, match=says):
        schedule(text)


def test_factors_are_one_schedule_or_one_for_each_coordinate():
    made = factors(" geometric(1, 1/2)  3 power(1,-1)")
    assert made.text == "geometric(1,0.5) 3 power(1,-1)"
    assert factors(made.text) == made
    assert made.exactly(2).tolist() == [Fraction(1, 4), 3, Fraction(1, 3)]
    np.testing.assert_array_equal(made.at(1), [0.5, 3.0, 0.5])
    assert not made.steady
    assert made.misfit(3) is None
    assert "3 factors; one for all coordinates or 2" in made.misfit(2)
    assert factors("2 2").steady
    assert not factors("2 2").ones
    assert factors("constant(1) geometric(1,1)").ones
    assert factors("1").misfit(7) is None
    for text in ("", "1 ) 2", "0", "1 0"):
        with pytest.raises(InvalidParameter):
            factors(text)


def test_schedules_are_parameters_of_the_catalogue():
    text = "softmax_attention[beta=geometric(1,1/2),10]"
    both = catalog.choices("solvers", text)
    assert [c.arguments["beta"].text for c in both] == ["geometric(1,0.5)", "10"]
    assert both[1].label == "softmax_attention"
    assert both[0].label == "softmax_attention[beta=geometric(1,0.5)]"
    for choice in both:
        assert catalog.choices("solvers", choice.text)[0].text == choice.text
    with pytest.raises(InvalidParameter, match="beta must be positive; got 0"):
        catalog.build_solver(catalog.choices("solvers", "softmax_attention[beta=0]")[0])
    assert Steady().text == "1"
