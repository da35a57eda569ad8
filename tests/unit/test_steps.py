from fractions import Fraction

import numpy as np
import pytest

from fwbench.errors import InvalidParameter
from fwbench.kernels.line import BACKTRACKING, EXACT, GIVEN, SHORT
from fwbench.steps import RULES, Constant, LogAdaptive, OpenLoop, shortest, step_rule

RATIONAL = [OpenLoop(), OpenLoop(Fraction(4)), OpenLoop(Fraction(7, 3)), Constant()]
TEXTS = [
    ("open_loop", "open_loop(2)"),
    ("open_loop()", "open_loop(2)"),
    (" open_loop ( 4.0 ) ", "open_loop(4)"),
    ("open_loop(7/3)", "open_loop(7/3)"),
    ("log_adaptive", "log_adaptive"),
    ("constant", "constant(0.5)"),
    ("constant(1e-3)", "constant(0.001)"),
    ("constant(1)", "constant(1)"),
    ("exact", "exact"),
    ("short", "short"),
    ("backtracking", "backtracking"),
]


@pytest.mark.parametrize(("text", "canonical"), TEXTS)
def test_a_rule_reads_back_from_its_own_text(text, canonical):
    rule = step_rule(text)
    assert rule.text == canonical
    assert step_rule(canonical) == rule


def test_all_rules_are_tried_here():
    assert {text.split("(")[0].strip() for text, _ in TEXTS} == set(RULES)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("open_lop", "did you mean open_loop"),
        ("zzz", "known: backtracking"),
        ("", "known: backtracking"),
        ("open_loop(2", "no step rule 'open_loop\\(2'"),
        ("open_loop(a)", "must be numbers"),
        ("open_loop(1/0)", "must be numbers"),
        ("open_loop(2,3)", "takes 1 argument"),
        ("exact(1)", "takes 0 arguments"),
        ("open_loop(0)", "l must be positive; got 0"),
        ("open_loop(-2)", "l must be positive; got -2"),
        ("constant(0)", "must lie in \\(0, 1\\]; got 0"),
        ("constant(1.5)", "must lie in \\(0, 1\\]; got 1.5"),
    ],
)
def test_a_text_that_is_no_rule_is_explained(text, says):
    with pytest.raises(InvalidParameter, match=says):
        step_rule(text)


def test_open_loop_has_its_known_lengths():
    np.testing.assert_array_equal(OpenLoop().lengths(0, 4), [1.0, 2 / 3, 1 / 2, 2 / 5])
    assert OpenLoop(Fraction(4)).exact_lengths(2, 2).tolist() == [Fraction(2, 3), Fraction(4, 7)]
    assert OpenLoop().exact_lengths(224, 1)[0] == Fraction(2, 226)


def test_the_log_adaptive_rule_grows_its_l():
    gamma = LogAdaptive().lengths(0, 1000)
    t = np.arange(1000)
    assert gamma[0] == 1.0
    shift = gamma[1:] * t[1:] / (1 - gamma[1:])  # l of l/(t + l)
    np.testing.assert_allclose(shift, 2 + np.log(t[1:] + 1), rtol=1e-12)


@pytest.mark.parametrize("rule", [*RATIONAL, LogAdaptive()], ids=lambda rule: rule.text)
def test_lengths_depend_on_the_absolute_step_alone(rule):
    whole = rule.lengths(0, 300)
    assert whole.shape == (300,)
    assert ((whole > 0) & (whole <= 1)).all()
    np.testing.assert_array_equal(rule.lengths(0, 117), whole[:117])
    np.testing.assert_array_equal(rule.lengths(117, 183), whole[117:])


@pytest.mark.parametrize("rule", RATIONAL, ids=lambda rule: rule.text)
def test_exact_lengths_are_the_rationals_behind_the_floats(rule):
    exact = rule.exact_lengths(5, 40)
    assert all(type(gamma) is Fraction for gamma in exact)
    np.testing.assert_allclose(exact.astype(float), rule.lengths(5, 40), rtol=4e-16)


@pytest.mark.parametrize("name", ["log_adaptive", "exact", "short", "backtracking"])
def test_rules_without_rational_lengths_say_so(name):
    with pytest.raises(InvalidParameter, match=f"step={name} .*open_loop"):
        step_rule(name).exact_lengths(0, 1)


def test_kernels_know_the_rules_by_their_codes():
    codes = {name: step_rule(name).code for name in RULES}
    given = dict.fromkeys(("open_loop", "log_adaptive", "constant"), GIVEN)
    assert codes == given | {"exact": EXACT, "short": SHORT, "backtracking": BACKTRACKING}
    assert not step_rule("open_loop").autonomous
    assert not step_rule("log_adaptive").autonomous
    assert all(step_rule(name).autonomous for name in ("constant", "exact", "short"))


def test_numbers_are_written_as_short_as_they_read_back():
    for value in (Fraction(1, 3), Fraction(1, 10), Fraction(10**20), Fraction(-5, 4)):
        assert Fraction(shortest(value)) == value
    assert shortest(Fraction(1, 10)) == "0.1"
