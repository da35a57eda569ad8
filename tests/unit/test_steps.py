from fractions import Fraction

import numpy as np
import pytest

from fwbench.calls import shortest
from fwbench.errors import InvalidParameter
from fwbench.geometry.forms import Kind
from fwbench.kernels.line import BACKTRACKING, EXACT, GIVEN, SHORT
from fwbench.steps import (
    RULES,
    Constant,
    Geometric,
    Harmonic,
    LogAdaptive,
    OpenLoop,
    Rising,
    Saturating,
    step_rule,
    unfit,
)

RATIONAL = [
    OpenLoop(),
    OpenLoop(Fraction(4)),
    OpenLoop(Fraction(7, 3)),
    Constant(),
    Harmonic(),
    Harmonic(Fraction(1, 3), Fraction(5, 7)),
    Geometric(),
    Geometric(Fraction(9, 10), Fraction(2, 3)),
    Rising(),
    Rising(Fraction(1, 7), Fraction(2, 7)),
]
TEXTS = [
    ("open_loop", "open_loop(2)"),
    ("open_loop()", "open_loop(2)"),
    (" open_loop ( 4.0 ) ", "open_loop(4)"),
    ("open_loop(7/3)", "open_loop(7/3)"),
    ("log_adaptive", "log_adaptive"),
    ("constant", "constant(0.5)"),
    ("constant(1e-3)", "constant(0.001)"),
    ("constant(1)", "constant(1)"),
    ("harmonic", "harmonic(2,3)"),
    ("harmonic(1/3, 0.5)", "harmonic(1/3,0.5)"),
    ("geometric", "geometric(0.5,0.5)"),
    ("geometric(1,1/3)", "geometric(1,1/3)"),
    ("rising(2)", "rising(2,3)"),
    ("saturating", "saturating(1)"),
    ("saturating(1/4)", "saturating(0.25)"),
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
        ("open_loop(1e400)", "an argument is beyond all doubles"),
        ("open_loop(1e-400)", "an argument is beyond all doubles"),
        ("saturating(1e400)", "an argument is beyond all doubles"),
        ("open_loop(0)", "l must be positive; got 0"),
        ("open_loop(-2)", "l must be positive; got -2"),
        ("constant(0)", "must lie in \\(0, 1\\]; got 0"),
        ("constant(1.5)", "must lie in \\(0, 1\\]; got 1.5"),
        ("harmonic(3,2)", "0 < a <= b keeps .* in \\(0, 1\\]; got 3 and 2"),
        ("harmonic(0,2)", "got 0 and 2"),
        ("geometric(2,1/2)", "must lie in \\(0, 1\\]; got 2 and 0.5"),
        ("geometric(1,3/2)", "must lie in \\(0, 1\\]; got 1 and 1.5"),
        ("geometric(1,0)", "got 1 and 0"),
        ("rising(3,3)", "0 < a < b keeps .* got 3 and 3"),
        ("rising(0,3)", "got 0 and 3"),
        ("rising(1,2,3)", "takes 2 arguments"),
        ("saturating(0)", "a must be positive; got 0"),
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


def test_rules_of_the_paper_have_their_known_lengths():
    assert Harmonic().exact_lengths(0, 3).tolist() == [
        Fraction(2, 3),
        Fraction(1, 2),
        Fraction(2, 5),
    ]
    assert Geometric().exact_lengths(0, 3).tolist() == [Fraction(1, 2**k) for k in (1, 2, 3)]
    rising = [Fraction(t + 1, t + 3) for t in range(4)]
    assert Rising().exact_lengths(0, 4).tolist() == rising
    np.testing.assert_allclose(
        Saturating(Fraction(1, 2)).lengths(3, 2), 1 - np.exp([-2.0, -2.5]), rtol=1e-15
    )
    # what is left of a distance: 2/((t + 1)(t + 2)), 0.288788…, e^(−a t (t + 1)/2)
    left = 1 - Harmonic().exact_lengths(0, 50)
    assert np.prod(left) == Fraction(1, 1326)
    assert np.prod(1 - Geometric().lengths(0, 100)) == pytest.approx(0.28878809508660242, abs=1e-15)
    assert np.prod(1 - Saturating().lengths(0, 6)) == pytest.approx(np.exp(-21.0), rel=1e-12)


def test_exact_runs_take_rules_with_rational_lengths_alone():
    for name in RULES:
        reason = unfit(step_rule(name), Kind.CONVEX, exact=True)
        rational = name in {rule.text.split("(")[0] for rule in RATIONAL}
        assert (reason is None) == rational
        assert reason is None or f"step={name}" in reason
    assert "has no f" in unfit(step_rule("exact"), Kind.GENERAL)


@pytest.mark.parametrize(
    "rule", [*RATIONAL, LogAdaptive(), Saturating()], ids=lambda rule: rule.text
)
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
    # a power of a rounded ratio is off by as many roundings
    rounding = 4e-16 if not isinstance(rule, Geometric) else 45 * 2.3e-16
    np.testing.assert_allclose(exact.astype(float), rule.lengths(5, 40), rtol=rounding)


@pytest.mark.parametrize("name", ["log_adaptive", "saturating", "exact", "short", "backtracking"])
def test_rules_without_rational_lengths_say_so(name):
    with pytest.raises(InvalidParameter, match=f"step={name}.*(open_loop|rising)"):
        step_rule(name).exact_lengths(0, 1)


def test_kernels_know_the_rules_by_their_codes():
    codes = {name: step_rule(name).code for name in RULES}
    given = dict.fromkeys(set(RULES) - {"exact", "short", "backtracking"}, GIVEN)
    assert codes == given | {"exact": EXACT, "short": SHORT, "backtracking": BACKTRACKING}
    assert not step_rule("open_loop").autonomous
    assert not step_rule("log_adaptive").autonomous
    assert all(step_rule(name).autonomous for name in ("constant", "exact", "short"))


def test_numbers_are_written_as_short_as_they_read_back():
    for value in (Fraction(1, 3), Fraction(1, 10), Fraction(10**20), Fraction(-5, 4)):
        assert Fraction(shortest(value)) == value
    assert shortest(Fraction(1, 10)) == "0.1"
