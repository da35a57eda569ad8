"""A made trace of known law gives its law back; a real trace gives the rate of theory."""

from pathlib import Path

import numpy as np
import pytest

from fwbench.analysis.rates import rate_of

from . import confusion
from .confusion import LAWS, REAL, checkpoints

DOCS = Path(__file__).parents[2] / "docs" / "rates.md"


@pytest.fixture(scope="module")
def judged():
    """Six hundred made traces that carry their law, and the shorter ones drawn on the way."""
    return confusion.judged()


@pytest.fixture(scope="module")
def real():
    return {case.name: case.rates() for case in REAL}


def test_made_laws_come_back(judged, real, record_property):
    right, wrong = confusion.shares(judged)
    record_property(
        "told", f"{confusion.table(judged, real)}\nright {right:.1%}, wrong {wrong:.1%}"
    )
    assert sum(trace.carries for trace, _ in judged) == 600
    assert right >= 0.8
    assert wrong <= 0.02
    for law in set(LAWS) - {"finite", "none"}:  # no class lives on the others' account
        own = [rate.rate_class is m.expected for m, rate in judged if m.carries and m.law == law]
        assert np.mean(own) >= 0.8, law


def test_real_laws_come_back(real):
    rates = [(rate.rate_class, case.law) for case in REAL for rate in real[case.name]]
    assert np.mean([seen is law for seen, law in rates]) >= 0.8
    assert np.mean([seen not in (law, "undetermined") for seen, law in rates]) <= 0.02
    for case in REAL:
        assert np.mean([rate.rate_class is case.law for rate in real[case.name]]) >= 0.8, case.name
        assert {rate.signal for rate in real[case.name]} == {case.signal}


def test_the_docs_show_this_table(judged, real):
    made, runs = (
        [line for line in text.splitlines() if line.startswith("| ")]
        for text in (confusion.table(judged, {}), confusion.table([], real))
    )
    shown = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    assert shown[: len(made)] == made
    # Sums of another processor round otherwise, and zig-zag magnifies it: a trace may change sides.
    for line, now in zip(shown[len(made) :], runs[1:], strict=True):
        then, found = ([cell.strip() for cell in row.split("|")[1:-2]] for row in (line, now))
        assert then[0] == found[0]
        apart = [abs(int(x or 0) - int(y or 0)) for x, y in zip(then[1:], found[1:], strict=True)]
        assert max(apart) <= 2, f"{line}\n{now}"


def test_made_parameters_come_back(judged):
    own = {law: [(m, r.rate) for m, r in judged if m.law == law and r.rate_class is m.expected]
           for law in LAWS}  # fmt: skip
    exponent = [rate / m.parameter for m, rate in own["sublinear"]]
    speed = [np.log(rate) / np.log(m.parameter) for m, rate in own["linear"] if m.carries]
    late = [np.log(rate) / np.log(m.parameter) for m, rate in own["late linear"] if m.carries]
    order = [rate / m.parameter for m, rate in own["superlinear"]]
    for ratio, off in ((exponent, 0.15), (speed, 0.15), (late, 0.15), (order, 0.1)):
        assert np.mean(np.abs(np.array(ratio) - 1.0) <= off) >= 0.85
    for m, rate in own["finite"]:  # seen at the first checkpoint that is not before K
        assert rate == m.k[m.k >= m.parameter][0]


def exponents(rates):
    return [rate.rate for rate in rates if rate.rate_class == "sublinear"]


def test_open_loop_inside_is_quadratic(real):
    found = exponents(real["open loop, optimum inside"])
    assert np.mean(found) == pytest.approx(-2.0, abs=0.1)
    assert np.std(found) <= 0.15


def test_open_loop_gap_is_the_root_of_it(real):
    assert np.mean(exponents(real["the same, its gap"])) == pytest.approx(-1.0, abs=0.1)


def test_line_search_on_a_face_is_no_faster_than_its_law(real):
    assert min(exponents(real["line search, optimum on a face"])) > -1.1


@pytest.mark.parametrize(
    ("h", "reason"),
    [
        (0.5 ** np.arange(7.0), "rows lie above"),
        (0.9 ** np.arange(20.0), "decades only"),
        (np.zeros(20), "at the floor from the start"),
        (np.exp(0.5 * np.random.default_rng(0).standard_normal(30)), "leads in AICc"),
        (np.full(20, np.nan), "unknown"),
        (np.exp(-np.arange(200.0)) + 1e-7, "then rests"),
        (np.exp(-0.05 * np.arange(25.0) ** 2), "between two classes"),
        (np.exp(-0.3 * np.sqrt(np.arange(3000.0))), "between two classes"),
    ],
)
def test_what_the_rows_do_not_carry_is_refused(h, reason):
    k = checkpoints(len(h) - 1) if len(h) > 30 else np.arange(len(h))
    rate = rate_of(k, None, h[k], scale=1.0)
    assert rate.rate_class == "undetermined"
    assert rate.rate is None
    assert reason in rate.reason


def test_the_floor_moves_with_the_scale(judged):
    for m, rate in judged[:40]:
        again = rate_of(m.k, 2.0**40 * m.h, None, scale=2.0**40 * m.scale, floor=2.0**40 * m.width)
        assert again.rate_class == rate.rate_class
        assert rate.rate is None or again.rate == pytest.approx(rate.rate, rel=1e-9)


def test_no_row_under_the_floor_is_read():
    k = checkpoints(400)
    h = 0.9**k + 1e-8
    rate = rate_of(k, h, None, scale=1.0, floor=1e-8)
    assert rate.rate_class == "linear"
    assert rate.rate == pytest.approx(0.9, abs=2e-3)
    assert rate.rate_to == k[h > 1e-7][-1]
    assert rate_of(k, h, None, scale=1.0).rate_class == "undetermined"


def test_a_declared_end_needs_a_smaller_jump():
    h = np.where(np.arange(20) < 6, 1e-9 / (1.0 + np.arange(20)), 0.0)
    assert rate_of(np.arange(20), None, h, scale=1.0).rate_class == "undetermined"
    ended = rate_of(np.arange(20), None, h, scale=1.0, exact_end=True)
    assert (ended.rate_class, ended.rate) == ("finite", 6.0)


@pytest.mark.parametrize("growth", [1.1, 2.0])  # of the steps between two checkpoints
@pytest.mark.parametrize("last", [1000, 3000, 10_000])
@pytest.mark.parametrize(
    "bent", [lambda k, last: np.exp(-k / last) / k, lambda k, last: 1.0 / k + 1.0 / last]
)
def test_a_bent_tail_is_no_power_of_the_whole(bent, last, growth):
    k = np.unique(np.geomspace(1, last, 1 + round(np.log(last) / np.log(growth))).round())
    rate = rate_of(k, bent(k, last), None, scale=1.0)
    assert rate.rate_class == "undetermined"
    assert rate.rate is None


def test_a_knee_leaves_the_exponent_after_it():
    k = checkpoints(10_000)
    h = (1.0 + k / 20.0) ** -2.3 * np.exp(0.1 * np.random.default_rng(5).standard_normal(len(k)))
    rate = rate_of(k, h, None, scale=1.0)
    assert rate.rate_class == "sublinear"
    assert rate.rate == pytest.approx(-2.3, abs=0.1)
    assert rate.rate_from > 20


@pytest.mark.parametrize(("slower", "law"), [(1.0, "linear"), (0.3, "undetermined")])
def test_a_factor_agrees_with_the_later_steps(slower, law):
    k = checkpoints(1000)
    h = np.exp(-0.02 * (np.minimum(k, 700) + slower * np.maximum(k - 700, 0)))
    assert rate_of(k, h, None, scale=1.0).rate_class == law


def test_finite_waits_for_the_gap():
    h = np.array([0.5, 9e-3, 1.6e-4, 1e-16, 0.0, 0.0])
    found = {}
    for name, gap in {
        "exact": [4.0, 0.4, 5e-2, 1e-15, 0.0, 0.0],
        "unknown": [np.nan] * 6,
        "later": [4.0, 0.4, 5e-2, 6e-3, 1e-15, 0.0],
        "never": [4.0, 0.4, 5e-2, 1.5e-8, 1.5e-8, 1.5e-8],
        "slowly": [4.0, 0.4, 5e-2, 1e-8, 1e-11, 1e-15],
    }.items():
        rate = rate_of(np.arange(6), h, np.array(gap), scale=6.0)
        found[name] = rate.rate if rate.rate_class == "finite" else rate.rate_class.value
    refused = {"never": "undetermined", "slowly": "undetermined"}
    assert found == {"exact": 3.0, "unknown": 3.0, "later": 4.0} | refused


def test_growth_is_no_decay():
    assert rate_of(np.arange(60), None, 1.1 ** np.arange(60), scale=1.0).rate_class == "none"
