"""Whether runs rest at the same place: worse, better, elsewhere."""

import numpy as np
import pytest

from fwbench.analysis.changes import Outcome, Verdict
from fwbench.analysis.comparison import compared
from fwbench.analysis.moves import moved
from fwbench.analysis.sides import Likeness

from .made_sides import REST, run, side

BITS, DIGITS = Likeness.BITS, Likeness.DIGITS
MOVING = {"class": "moving", "label": "", "certified": False}
FACE = {"class": "face", "label": "dimension 2, atoms 1 2 3", "certified": True}


def resting(*rests, at=None, **columns):
    """Return a run whose queries rest so, at these points."""
    rows = tuple(REST | {"query": q} | rest for q, rest in enumerate(rests))
    where = None if at is None else np.asarray(at, dtype=float)
    classes = {row["class"] for row in rows}
    common = rows[0]["class"] if len(classes) == 1 else "mixed"
    given = {"fixed_point": common, "fixed_point_label": rows[0]["label"],
             "kind": "concave"}  # fmt: skip
    return run(rests=rows, points=lambda: where, radius=1.0, **(given | columns))


def verdict(base, new, likeness=BITS):
    found = moved(base, new, likeness)
    return "same" if found is None else (str(found.verdict), found.bad)


def test_the_same_place_is_the_same():
    assert verdict(resting({}), resting({})) == "same"
    here, near = resting(FACE, at=[[0, 0]]), resting(FACE | {"label": "x"}, at=[[0, 9e-4]])
    assert verdict(here, near) == "same"  # whatever its label says


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, ("worse", True)), (-0.5, ("better", False)), (1e-9, ("changed", True)),
     (None, ("changed", True))],
)  # fmt: skip
def test_who_rests_elsewhere_is_judged_by_its_value_and_else_an_alarm(value, expected):
    base, new = resting({}, at=[[0, 0]]), resting({"value": value}, at=[[0, 1]])
    assert verdict(base, new) == expected
    other = resting({"label": "atom 2", "value": value})  # no points: the label tells
    assert verdict(resting({}), other) == expected


def test_elsewhere_with_an_equal_value_ends_as_worse_whichever_side_is_which():
    sides = side(resting({}, at=[[0, 0]])), side(resting({}, at=[[0, 1]]))
    for base, new in (sides, sides[::-1]):
        assert compared(base, new, exact_only=True).outcome is Outcome.WORSE


def test_who_rests_no_more_is_worse():
    assert verdict(resting({}), resting(MOVING)) == ("worse", True)
    assert verdict(resting(MOVING), resting({})) == ("better", False)
    open_end = {"status": "budget"}
    assert verdict(resting({}), resting(MOVING, **open_end), DIGITS) == ("changed", False)
    assert verdict(resting({}), resting(MOVING), DIGITS) == ("worse", True)


def test_what_is_not_certified_is_told_and_not_judged():
    cycle = {"class": "cycle", "label": "period 2", "certified": False}
    assert verdict(resting(MOVING), resting(cycle)) == ("changed", False)
    assert verdict(resting(cycle), resting(cycle | {"label": "period 3"})) == ("changed", False)


def test_atoms_in_use_do_not_make_another_face():
    other = FACE | {"label": "dimension 2, atoms 1 2 4"}
    assert verdict(resting(FACE), resting(other)) == "same"
    assert verdict(resting(FACE), resting(FACE | {"label": "dimension 3"}))[0] == "changed"


def test_of_many_queries_each_is_looked_at():
    base = resting({}, {}, {}, MOVING, at=[[0, 0], [1, 0], [0, 1], [1, 1]])
    new = resting({}, {"value": 0.5}, MOVING, {}, at=[[0, 0], [1, 1], [0, 1], [1, 1]])
    found = moved(base, new, BITS)
    assert found.verdict is Verdict.CHANGED  # worse for some, better for one
    assert found.bad
    for said in ("1 of 4 queries rest elsewhere", "1 of 4 queries rest no more", "rest now"):
        assert said in found.detail
    only_worse = resting({}, {"value": 0.5}, {}, MOVING, at=[[0, 0], [1, 1], [0, 1], [1, 1]])
    assert verdict(base, only_worse) == ("worse", True)


def test_better_for_one_and_elsewhere_for_another_is_an_alarm():
    base = resting({}, {}, at=[[0, 0], [1, 0]])
    new = resting({"value": -0.5}, {}, at=[[0, 1], [1, 1]])
    assert verdict(base, new) == ("better", True)


def test_a_class_that_the_rows_of_the_queries_do_not_give_is_taken_as_it_stands():
    edited = resting({}, fixed_point="face", fixed_point_label="dimension 2")
    assert verdict(resting({}), edited) == ("changed", True)


def test_without_rows_of_the_queries_the_class_of_the_run_tells():
    def bare(place, label="", **columns):
        return run(rests=(), fixed_point=place, fixed_point_label=label, **columns)

    assert verdict(bare("vertex", "atom 1"), bare("vertex", "atom 1")) == "same"
    apart = {"kind": "concave"}
    assert verdict(bare("vertex", "atom 1", **apart), bare("vertex", "atom 2", **apart)) == (
        "changed", True
    )  # fmt: skip
    # equal values of a convex problem may be one point that rounding names in two ways
    assert verdict(bare("face", "dimension 3"), bare("interior", "dimension 3")) == (
        "changed", False
    )  # fmt: skip
    assert verdict(bare("vertex"), bare("moving")) == ("worse", True)
    assert verdict(bare("mixed", "2 vertex"), bare("mixed", "3 vertex")) == ("changed", False)
    assert verdict(bare(None), bare("vertex")) == "same"
