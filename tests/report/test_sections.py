"""The sections of rates, fixed points, profiles, growth and standings, as the page shows them."""

import re
from dataclasses import replace
from html import unescape

import pytest

from fwbench.analysis.findings import Findings
from fwbench.report.html import html

from .made_findings import HOSTILE, empty_findings
from .test_html import rows_of


def section(page: str, name: str) -> str:
    begin = page.index(f'<section id="{name}"')
    return page[begin : page.index("</section>", begin)]


def words(part: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", part)).split())


def test_the_first_screen_says_who_won(page: str) -> None:
    told = words(section(page, "overview"))
    assert "away_steps was first most often: 3 of 3 races on 6 instances, all of them" in told
    first = rows_of(page, "standings")[0]
    assert first == ["away_steps", "6", "3", "3", "3", "6 of 6", "1.00×", "14×", "0 of 6"]
    assert HOSTILE in [row[0] for row in rows_of(page, "standings")]


def test_rates_stand_by_regime_and_by_run(page: str, findings: Findings) -> None:
    rows = rows_of(page, "rate-table")
    assert len(rows) == len(findings.rates)
    [seeded] = [row for row in rows if row[5] == "-2.02 … -1.95"]
    assert seeded[0] == "min_norm_point[n=1000,d=50,shift=1]"
    assert seeded[3:5] == ["sublinear", "exponent -1.98"]
    assert (seeded[7], seeded[8], seeded[9]) == ("8", "t^-1: faster", "0.31")
    [doubtful] = [row for row in rows if row[3].startswith("undetermined")]
    assert "windows differ, linear or sublinear <b>" in doubtful[3]
    runs = rows_of(page, "rate-runs")
    assert len(runs) == findings.runs["rate_class"].notna().sum()
    assert runs[0][-1] == "falls by 3.1 decades over 40 rows"


def test_rates_are_told_in_sentences_first(page: str) -> None:
    part = section(page, "rates")
    assert part.index("over 8 seeds") < part.index('id="rate-table"')
    assert "at most 1.25 of the bound 2 D²/(t + 2), which breaks it." in words(part)


def test_fixed_points_have_a_square_and_a_part_an_instance(page: str, findings: Findings) -> None:
    part = section(page, "points")
    told = words(part)
    assert "end at different points on 2 of 8 starts over 3 instances" in told
    details = re.findall(r'<details class="agreement" data-instance="([^"]*)"( open)?>', part)
    assert len(details) == findings.runs["instance"].nunique()
    assert [unescape(name) for name, opened in details if opened] == ["polygon[k=7,seed=0]"]
    looks = re.findall(r'<td class="(same|partly|apart)"[^>]*>([^<]*)</td>', part)
    assert ("same", "38/38") in looks
    assert ("partly", "36/38") in looks
    places = rows_of(page, "places-3")
    assert [row[3:6] for row in places] == [
        ["5", "0.25", "0 (global)"],
        ["1", "0.5", "0.31 (local)"],
    ][: len(places)]


def test_profiles_have_places_for_charts_and_a_table_a_contest(page: str) -> None:
    part = section(page, "profiles")
    for name in ("profile-performance", "profile-data"):
        assert f'id="{name}"' in part
    for name in ("variant", "cost", "target"):
        assert f'<select id="profile-{name}"' in part
    assert "Shift:" in part
    assert "left out, and why" in part


def test_growth_is_a_section_of_its_own(page: str) -> None:
    told = words(section(page, "growth"))
    assert "Seconds, with set-up, grow with n on min_norm_point[d=50,shift=1]: away_steps" in told
    assert "like n^1.10 (1.10 … 1.10)" in told
    assert "growth-table" not in section(page, "ratios")


@pytest.mark.parametrize("name", ["overview", "rates", "points", "profiles", "growth"])
def test_no_name_is_markup_and_no_number_is_lost(page: str, name: str) -> None:
    part = section(page, name)
    assert "<script" not in part
    assert not re.search(r">-?0\.0+<", part)


def test_of_nothing_there_is_nothing_to_say() -> None:
    page = html(empty_findings())
    assert "Nothing that could be compared was run." in section(page, "overview")
    assert "No trace was long enough for a rate." in section(page, "rates")
    assert "No run has a fixed point to show." in section(page, "points")
    assert '<section id="profiles"' not in page
    assert '<section id="growth"' not in page


def test_growth_stands_without_foreign_codes(findings: Findings) -> None:
    races = findings.races[findings.races["library"].isna()]
    page = html(replace(findings, races=races))
    assert len(rows_of(page, "growth-table")) == 6
