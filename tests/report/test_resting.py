"""What is said of where solvers rest: made tables, sentence by sentence."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from fwbench.analysis.findings import Findings
from fwbench.analysis.meetings import MEETINGS, PLACED, RESTS
from fwbench.report.resting import MOST, altogether, sections, starts, summary

ABOUT = {"instance": "polygon[k=7,…]", "instance_label": "polygon[k=7]", "kind": "concave"}


def rest(solver: str, place: int | None, **known: Any) -> dict[str, Any]:
    """Return a row of rests: a place, or None for a query that moves."""
    usual = {
        **ABOUT, "solver_label": solver, "run_id": solver, "class": "vertex", "label": "atom 0",
        "certified": place is not None, "gap_relative": 0.0, "value": 0.0, "place": place,
    }  # fmt: skip
    return usual | known


def meeting(a: str, b: str, starts: int, same: int, apart: int, **known: Any) -> dict[str, Any]:
    counts = {"starts": starts, "resting": same + apart, "same": same, "near": 0, "apart": apart}
    usual = {
        **ABOUT, "solver_a": a, "solver_b": b, **counts, "lower_a": 0, "lower_b": 0,
        "vertices": True if apart else None, "lone": False, "distance": 1.0 if apart else 0.0,
    }  # fmt: skip
    return usual | known


def told(
    findings: Findings,
    rests: list[dict[str, Any]],
    met: list[dict[str, Any]],
    places: list[dict[str, Any]] | None = None,
) -> Findings:
    table = pd.DataFrame
    return replace(
        findings,
        rests=table(rests, columns=list(RESTS)).astype({"place": "Int64"}),
        meetings=table(met, columns=list(MEETINGS)),
        places=table(places or [], columns=list(PLACED)).astype(
            {"near": "Int64", "leaving": "Int64"}
        ),
    )


def said(findings: Findings, *tables: Any) -> list[str]:
    [section] = sections(told(findings, *tables))
    return [" and ".join(one.solvers) + " " + one.text for one in section.sentences]


def rests(solver: str, *places: int | None, **known: Any) -> list[dict[str, Any]]:
    return [rest(solver, place, query=q, **known) for q, place in enumerate(places)]


def test_solvers_that_part_are_named_with_the_count(findings: Findings) -> None:
    both = [*rests("pairwise", *[0] * 12), *rests("hardmax_attention", *[0] * 8, *[1] * 4)]
    met = [meeting("pairwise", "hardmax_attention", 12, 8, 4)]
    assert said(findings, both, met) == [
        "pairwise and hardmax_attention end at different vertices on 33 % of 12 starts"
    ]


def test_few_starts_have_no_percentage(findings: Findings) -> None:
    both = [*rests("a", 0, 0, 0), *rests("b", 0, 1, None)]
    met = [meeting("a", "b", 3, 1, 1, vertices=False, lower_b=1)]
    assert said(findings, both, met) == [
        "a and b end at different points on 1 of 3 starts; both rest on 2; "
        "the second is lower on 1 of these",
        "b is certified at rest on 2 of 3 starts only",
    ]


def test_equal_values_are_said(findings: Findings) -> None:
    met = [meeting("a", "b", 2, 0, 2, value_apart=1e-9)]
    [first, *_] = said(findings, [*rests("a", 0, 0), *rests("b", 1, 1)], met)
    assert first == "a and b end at different vertices on all 2 starts; their values are equal"


def test_who_rests_alike_is_said_once(findings: Findings) -> None:
    rows = [*rests("a", 0, 0), *rests("b", 0, 0), *rests("c", 0, 1)]
    met = [meeting("a", "b", 2, 2, 0), meeting("a", "c", 2, 1, 1), meeting("b", "c", 2, 1, 1)]
    assert said(findings, rows, met) == [
        "a and c end at different vertices on 1 of 2 starts",
        "a and b rest at the same points on all 2 starts",
    ]


def test_an_answer_for_all_starts_parts_from_nobody(findings: Findings) -> None:
    rows = [*rests("a", 0, 1), *rests("exact", 2)]
    assert said(findings, rows, [meeting("a", "exact", 2, 0, 2, lone=True)]) == []


def test_all_that_rest_agree(findings: Findings) -> None:
    rows = [*rests("a", 0), *rests("b", 0), *rests("c", 0)]
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    met = [meeting(*pair, 1, 1, 0) for pair in pairs]
    assert said(findings, rows, met) == [" all 3 solvers that come to rest agree"]
    near = [meeting(*pair, 1, 0, 0, resting=1, near=1, distance=4e-4) for pair in pairs]
    assert said(findings, rows, near) == [
        " all 3 solvers that come to rest agree, as far as can be told: "
        "up to 4.0e-04 of the radius apart"
    ]


def test_some_starts_at_which_two_rest(findings: Findings) -> None:
    rows = [*rests("a", 0, None), *rests("b", 0, 0)]
    assert said(findings, rows, [meeting("a", "b", 2, 1, 0)])[0] == (
        " the two solvers that come to rest agree from every start at which two do"
    )


@pytest.mark.parametrize(
    ("b", "expected"),
    [((None,), "a alone is certified at rest"), ((0,), "a is not certified at rest")],
)
def test_one_alone_rests(findings: Findings, b: tuple[int | None], expected: str) -> None:
    a = 0 if b == (None,) else None
    lines = said(findings, [*rests("a", a), *rests("b", *b)], [meeting("a", "b", 1, 0, 0)])
    assert expected in lines


def test_nobody_rests(findings: Findings) -> None:
    rows = [*rests("a", None, None), *rests("b", None, None)]
    assert said(findings, rows, [meeting("a", "b", 2, 0, 0)]) == [" nobody is certified at rest"]


def test_local_rests_and_unstable_ones(findings: Findings) -> None:
    local = {"standing": "local", "above": 0.25, "stable": False}
    rows = [*rests("a", 0, 0, **local), *rests("b", 0, 0, **local), *rests("c", 0, 0)]
    met = [meeting(*pair, 2, 2, 0) for pair in (("a", "b"), ("a", "c"), ("b", "c"))]
    assert said(findings, rows, met) == [
        " all 3 solvers that come to rest agree on all 2 starts",
        "a and b leave for good after a small push, on all 2 starts: their rest there is unstable",
        "a and b rest at points that are only local on all 2 starts, "
        "up to 0.25 of the scale above the best vertex",
    ]


def test_few_sentences_are_shown_and_the_others_counted(findings: Findings) -> None:
    rows, names = [], [f"s{i}" for i in range(9)]
    for i, name in enumerate(names):
        rows += rests(name, *[0] * 10, *[None] * i, *[0] * (9 - i))
    met = [meeting(a, b, 19, 10, 0) for a in names for b in names if a < b]
    [section] = sections(told(findings, rows, met))
    assert len(section.sentences) == MOST
    assert section.more == 9 - MOST


def test_the_square_reads_the_same_both_ways(findings: Findings) -> None:
    other = {"instance": "i", "instance_label": "i", "kind": "convex"}
    met = [
        meeting("a", "b", 12, 8, 4), meeting("b", "a", 2, 1, 1) | other,
        meeting("a", "c", 12, 0, 0),
    ]  # fmt: skip
    rows = [*rests("a", 0), rest("b", 0, **other)]
    made = told(findings, rows, met)
    square = altogether(made)
    assert square.solvers == ["a", "b", "c"]
    assert square.cell("a", "b") == square.cell("b", "a") == "9/14"
    assert square.cell("a", "c") == square.cell("b", "c") == square.cell("a", "a") == "–"
    assert [section.matrix.cell("a", "b") for section in sections(made)] == ["8/12", "1/2"]
    assert [(one.solvers, one.text) for one in summary(made)] == [
        (("a", "b"), "end at different points on 36 % of 14 starts over 2 instances")
    ]


def test_cells_have_a_look_and_a_hint_where_there_is_more_to_say(findings: Findings) -> None:
    met = [
        meeting("a", "b", 12, 12, 0), meeting("a", "c", 12, 8, 4, lower_b=2),
        meeting("b", "c", 12, 0, 5), meeting("a", "d", 12, 0, 0),
        meeting("b", "d", 2, 1, 0, resting=2, near=1, distance=4e-4),
    ]  # fmt: skip
    square = altogether(told(findings, [*rests("a", 0)], met))
    looks = [square.look(*pair) for pair in ("ab", "ac", "bc", "ad", "bd", "aa")]
    assert looks == ["same", "partly", "apart", "own", "partly", "own"]
    assert square.hint("a", "b") == ""
    assert (
        square.hint("c", "a") == "both rest on 12 of 12 starts; the second is lower on 2 of these"
    )
    [section] = sections(told(findings, [*rests("a", 0)], met[1:2]))
    assert section.parted
    assert section.matrix.hint("a", "c") == (
        "both rest on 12 of 12 starts; farthest 1 of the radius apart; "
        "the second is lower on 2 of these"
    )
    shared = meeting("a", "c", 12, 8, 4, lower_b=2, overlap=0.25)
    [section] = sections(told(findings, [*rests("a", 0)], [shared]))
    assert "; 25 % of the atoms in use are shared; " in section.matrix.hint("a", "c")
    assert not sections(told(findings, [*rests("a", 0)], met[:1]))[0].parted


def test_a_row_a_place(findings: Findings) -> None:
    place = {
        **ABOUT, "place": 0, "class": "face", "label": "dimension 1, atoms 0 1", "value": 1e-9,
        "above": 0.0816, "standing": "local", "rests": 34, "solvers": 6, "returned": 30, "left": 3,
        "near": 8, "leaving": 5,
    }  # fmt: skip
    bare = place | dict.fromkeys(("value", "above", "standing", "near", "leaving"))
    bare |= {"returned": 0, "left": 0}
    [section] = sections(told(findings, rests("a", 0), [], [place, bare]))
    assert section.places == [
        ("0", "face, dimension 1, atoms 0 1", "34", "6", "1.0e-09", "0.0816 (local)",
         "30 × comes back, 3 × leaves", "5 of 8 leave"),
        ("0", "face, dimension 1, atoms 0 1", "34", "6", "–", "–", "–", "–"),
    ]  # fmt: skip


def test_a_folder_of_before_says_nothing(findings: Findings) -> None:
    before = told(findings, [], [])
    assert sections(before) == []
    assert summary(before) == []
    assert altogether(before).solvers == []


def test_shares_of_one_start() -> None:
    assert starts(0, 1) == "not from the only start"
    assert starts(0, 30) == "on none of 30 starts"
