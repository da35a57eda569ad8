from dataclasses import replace

import pytest

from fwbench.analysis.findings import Findings
from fwbench.report import selection
from fwbench.report.heads import HEAD, REPEATED
from fwbench.report.html import html
from fwbench.report.summary import summary

from .made_findings import HOSTILE, INSTANCES, empty_findings
from .test_html import rows_of


@pytest.fixture(scope="module")
def without(findings: Findings) -> Findings:
    nothing = empty_findings()
    return replace(findings, heads=nothing.heads, layers=nothing.layers)


def test_heads_appear_only_where_there_are_any(
    page: str, findings: Findings, without: Findings
) -> None:
    shown, left_out = page, html(without)
    for text in ('href="#heads"', 'id="head-table"', 'id="layer-table"'):
        assert text in shown
        assert text not in left_out
    assert "## Heads" in summary(findings)
    assert "## Heads" not in summary(without)
    bare = replace(findings, layers=without.layers)
    assert 'id="head-table"' in html(bare)
    assert 'id="layer-table"' not in html(bare)
    assert "One layer repeated" not in summary(bare)


def test_a_row_says_how_far_a_head_is_from_theory(page: str) -> None:
    first, second = rows_of(page, "head-table")
    assert first == [
        "4", "7", HOSTILE, INSTANCES[5][0], "24", "32, 31", "-1.25 … 0.5", "0.6", "4.17 %", "9",
        "1.5", "0.5", "0.4",
        "converges: 11 to a vertex, after up to 5 changes of leader, the last at step 9; "
        "10 into a face whose corners take turns: atoms 0 6 9; atoms 2 5",
    ]  # fmt: skip
    assert len(first) == len(second) == len(HEAD)
    assert second[3] == HOSTILE
    assert second[-1].endswith(
        "3 only pause: rounds of atoms 10 13 12 11, each 4.4× as long as the last, gap 1.36 % of "
        "the scale"
    )
    assert not second[-1].startswith("converges")


def test_a_row_says_what_a_repeated_layer_does(page: str) -> None:
    moving, other = rows_of(page, "layer-table")
    assert moving == [
        INSTANCES[5][0], "hardmax_attention[keys=moving]", "26", "1", "after 11", "none",
        "-0.01 → -0.02, never rises",
    ]  # fmt: skip
    assert other[3:] == ["–", "no", "24 of 24, period 3", "-0.01 → -0.02, rises by up to 0.003"]
    assert len(moving) == len(REPEATED)


def test_both_tables_say_the_same_in_markdown(findings: Findings, page: str) -> None:
    told = summary(findings)
    assert "3 only pause: rounds of atoms 10 13 12 11" in told
    assert "| 26 | 1 | after 11 | none | -0.01 → -0.02, never rises |" in told
    assert len(selection.records(findings.heads)) == len(rows_of(page, "head-table")) == 2
