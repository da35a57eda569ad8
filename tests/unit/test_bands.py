"""Bands: inside the envelope of their members, never beyond the one that stopped first."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwbench.analysis.bands import FOR_QUARTILES, MOST, band, bands

ROWS = st.integers(2, 30)


@st.composite
def a_line(draw, places=None):
    """A line of positive places and values, some of them zero, few never judged."""
    if places is None:
        steps = draw(st.lists(st.integers(1, 50), min_size=2, max_size=30))
        places = np.cumsum(steps).astype(float) * draw(st.sampled_from([1.0, 0.1]))
    values = st.one_of(st.floats(1e-12, 1e3), st.just(0.0), st.just(np.nan))
    y = np.array(draw(st.lists(values, min_size=len(places), max_size=len(places))))
    y[[0, -1]] = [draw(st.floats(1e-6, 1e3)), draw(st.floats(0, 1.0))]
    return places, y


LINES = st.lists(a_line(), min_size=2, max_size=FOR_QUARTILES + 3)


def read(line, at):
    """The two measured values beside a place, or the one at it: between them lies the line."""
    x, y = line
    left = np.searchsorted(x, at, side="right") - 1
    return y[left] if x[left] == at else y[[left, left + 1]]


@given(LINES)
def test_a_band_lies_within_what_its_members_measured(lines):
    found = band(lines)
    if found is None:
        assert max(x[0] for x, _ in lines) >= min(x[-1] for x, _ in lines)
        return
    at, low, median, high = found
    assert len(at) <= MOST
    assert (np.diff(at) > 0).all()
    for place, *ends in zip(at, low, median, high, strict=True):
        around = [read(line, place) for line in lines]
        if np.isnan(np.hstack(around)).any():
            assert np.isnan(ends).all()
        else:
            least, most = (f([f(one) for one in around]) for f in (np.min, np.max))
            assert least <= ends[0] <= ends[1] <= ends[2] <= most


@given(LINES)
def test_a_band_ends_where_its_first_member_stops(lines):
    found = band(lines)
    if found is not None:
        assert found[0][0] == max(x[0] for x, _ in lines)
        assert found[0][-1] == min(x[-1] for x, _ in lines)


@given(LINES, st.randoms(use_true_random=False))
def test_the_order_of_the_members_does_not_matter(lines, random):
    mixed = list(lines)
    random.shuffle(mixed)
    for one, other in zip(band(lines) or (), band(mixed) or (), strict=True):
        np.testing.assert_array_equal(one, other)


@given(a_line(), st.integers(2, FOR_QUARTILES + 1))
def test_a_band_of_equal_members_is_their_curve(line, count):
    at, *ends = band([line] * count)
    x, y = line
    here = np.searchsorted(x, at)
    np.testing.assert_array_equal(x[here], at)
    for values in ends:
        np.testing.assert_array_equal(values, y[here])


@given(st.data())
def test_where_all_have_the_same_checkpoints_nothing_is_interpolated(data):
    x = np.cumsum(data.draw(st.lists(st.integers(1, 9), min_size=2, max_size=30))).astype(float)
    lines = [data.draw(a_line(x)) for _ in range(3)]
    at, low, median, high = band(lines)
    np.testing.assert_array_equal(at, x)
    values = np.sort([y for _, y in lines], axis=0)
    values[:, np.isnan(values).any(axis=0)] = np.nan
    np.testing.assert_array_equal([low, median, high], values)


def test_between_checkpoints_a_line_is_straight_in_logarithms():
    power = np.array([1.0, 100.0]), np.array([1.0, 1e-4])
    other = np.array([1.0, 10.0, 100.0]), np.array([1.0, 1e-2, 1e-4])
    at, low, _, high = band([power, other])
    np.testing.assert_allclose(low, at**-2.0, rtol=1e-12)
    np.testing.assert_allclose(high, low, rtol=1e-12)


def test_before_a_zero_the_last_value_holds():
    lines = [
        (np.array([1.0, 8.0]), np.array([4.0, 0.0])),
        (np.array([1.0, 9.0]), np.array([4.0, 4.0])),
    ]
    at, low, _, _ = band(lines, whole=True)
    assert set(low[at < 8]) == {4.0}
    assert low[-1] == 0.0


def test_quartiles_from_eight_members_on():
    x = np.array([1.0, 2.0])
    few = [(x, np.full(2, 2.0**i)) for i in range(FOR_QUARTILES - 1)]
    assert [float(ends[0]) for ends in band(few)[1:]] == [1.0, 8.0, 64.0]
    many = [*few, (x, np.full(2, 2.0 ** (FOR_QUARTILES - 1)))]
    assert [float(ends[0]) for ends in band(many)[1:]] == pytest.approx([2**1.75, 2**3.5, 2**5.25])


# -- groups ----------------------------------------------------------------------------------------

ALIKE = {"instance": "i[seed=0]", "instance_label": "i", "solver_label": "a", "tol": 1e-8,
         "repetition": 0, "host": "one", "shared": False}  # fmt: skip


def tables(*given):
    """Return runs and their trace, given what differs from ALIKE, and the ks: 1/(1 + k) there."""
    runs, rows = [], []
    for i, (facts, ks) in enumerate(given):
        run_id = f"run{i}"
        runs.append(ALIKE | facts | {"run_id": run_id})
        pace = 1 + facts.get("repetition", 0)
        rows += [
            {"run_id": run_id, "k": k, "lmo": k, "seconds": k * pace, "suboptimality": 1 / (1 + k),
             "gap": None, "gap_current": None}
            for k in ks
        ]  # fmt: skip
    columns = ["run_id", "k", "lmo", "seconds", "suboptimality", "gap", "gap_current"]
    return pd.DataFrame(runs), pd.DataFrame(rows, columns=columns)


def repeated(count, **facts):
    return [({"repetition": r} | facts, range(5)) for r in range(count)]


def seeded(count, **facts):
    return [({"instance": f"i[seed={s}]", "instance_label": f"i[seed={s}]"} | facts, range(5 + s))
            for s in range(count)]  # fmt: skip


def rows_of(found, **wanted):
    rows = found.bands
    for name, value in wanted.items():
        rows = rows[rows[name] == value]
    return rows.reset_index().to_dict("records")


def test_repetitions_have_a_band_on_each_axis():
    found = bands(*tables(*repeated(3)))
    assert [(row["over"], row["place"], row["axis"], row["members"]) for row in rows_of(found)] == [
        ("repetitions", "i[seed=0]", axis, 3) for axis in ("k", "lmo", "seconds")
    ]
    [steps] = rows_of(found, axis="k")
    points = found.points[found.points["band"] == steps["index"]]
    assert points["at"].tolist() == [1, 2, 3, 4]
    assert points["low"].tolist() == points["high"].tolist() == [1 / 2, 1 / 3, 1 / 4, 1 / 5]
    [seconds] = rows_of(found, axis="seconds")
    assert (seconds["start"], seconds["end"]) == (3.0, 4.0)  # the slow begins, the fast ends
    assert found.members[found.members["band"] == seconds["index"]]["stopped"].tolist() == [
        4,
        8,
        12,
    ]


def test_one_run_has_no_band_nor_have_other_solvers_tolerances_or_limits():
    other = [({"solver_label": "b"}, range(5)), ({"tol": 1e-4}, range(5)), ({}, range(9))]
    assert not len(bands(*tables(({}, range(5)), *other)).bands)


def test_seeds_have_a_band_named_after_their_regime():
    found = bands(*tables(*seeded(3), *[({"repetition": 1} | f, ks) for f, ks in seeded(3)]))
    [row] = rows_of(found, over="seeds", axis="k")
    assert (row["place"], row["members"], row["of"], row["ends"]) == ("i", 3, 3, "range")
    assert (row["start"], row["end"]) == (1, 4)
    members = found.members[found.members["band"] == row["index"]]
    assert dict(zip(members["run_id"], members["stopped"], strict=True)) == {
        "run0": 4, "run1": 5, "run2": 6,
    }  # fmt: skip


def test_a_run_that_left_no_trace_is_counted_and_is_no_member():
    found = bands(*tables(*repeated(2), ({"repetition": 2}, ())))
    assert {(row["members"], row["of"]) for row in rows_of(found)} == {(2, 3)}
    assert not len(bands(*tables(({}, range(5)), ({"repetition": 1}, range(1)))).bands)


def test_seconds_of_two_machines_are_not_mixed():
    away = [({"repetition": 3, "host": "two"}, range(5))]
    found = bands(*tables(*repeated(3), *away))
    assert {row["axis"]: row["members"] for row in rows_of(found)} == {
        "k": 4,
        "lmo": 4,
        "seconds": 3,
    }


def test_nothing_gives_no_band():
    runs, trace = tables(({}, ()))
    for some in (runs, runs.iloc[:0]):
        found = bands(some, trace)
        assert len(found.bands) == len(found.points) == len(found.members) == 0
