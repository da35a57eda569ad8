from dataclasses import replace

import pytest

from fwbench.analysis.findings import Findings
from fwbench.report import selection, words
from fwbench.report.figures import figures, growth, ratios
from fwbench.report.html import html
from fwbench.report.summary import summary

from .made_findings import HOSTILE, empty_findings
from .test_html import rows_of

TABLES = ("goal-table", "race-table", "unanswered-table", "own-table", "cost-table", "growth-table")


@pytest.fixture(scope="module")
def plain(findings: Findings) -> Findings:
    """The same findings, had cvxpy been the only foreign code, and nothing grown."""
    kept = findings.races[findings.races["library"] != "<i>lib</i>"]
    nothing = empty_findings()
    return replace(findings, races=kept, growth=nothing.growth, sizes=nothing.sizes)


def test_ratios_appear_only_where_there_is_something_to_compare(
    page: str, findings: Findings, plain: Findings
) -> None:
    assert selection.has_ratios(findings)
    assert not selection.has_ratios(plain)
    assert not selection.has_ratios(empty_findings())
    shown, left_out = page, html(plain)
    for table in TABLES:
        assert f'id="{table}"' in shown
        assert f'id="{table}"' not in left_out
    for text in ('href="#ratios"', "<b>Ratios.</b>"):
        assert text in shown
        assert text not in left_out
    assert "## Ratios" in summary(findings)
    assert "## Ratios" not in summary(plain)
    bare = {"pictures": (), "trace": findings.trace.iloc[:0], "profiles": None}  # no curves
    assert {"ratios.png", "growth.png"} <= figures(replace(findings, **bare)).keys()
    assert figures(replace(plain, **bare)) == {}


def test_growth_alone_is_enough(findings: Findings, plain: Findings) -> None:
    page = html(replace(plain, growth=findings.growth))
    assert 'id="growth-table"' in page


def test_a_goal_says_its_bound_and_whether_it_is_met(page: str) -> None:
    first, second = rows_of(page, "goal-table")
    assert first == [
        "cvxpy with Clarabel / ours", "min_norm_point[n=1000,d=50,shift=1]", "≥ 300", "410", "met",
        HOSTILE,
    ]  # fmt: skip
    assert second[2:5] == ["≤ 3", "3.46", "not met"]


def test_a_race_shows_both_ratios_or_how_it_ended(page: str) -> None:
    rows = rows_of(page, "race-table")
    assert len(rows) == 12
    assert rows[0] == [
        "min_norm_point[n=1000,d=50,shift=1]", "≤ 1e-04", "away_steps200 µs",
        "410× cvxpy_reference82 ms", "410×–", "wrong8.3e-04",
    ]  # fmt: skip
    assert rows[2][4:] == ["410×205×", "nonfinite0.00156"]
    assert rows[4][3:] == ["nobody", "skipped–", "infeasible0.00118"]
    assert rows[10][3:] == ["nobody", "skipped–", "memory–"]


def test_our_own_are_held_against_the_best_of_them(page: str, findings: Findings) -> None:
    head = 3
    own = selection.racers(findings, foreign=False)
    assert set(own) & set(selection.racers(findings, foreign=True)) == set()
    rows = rows_of(page, "own-table")
    assert {len(row) for row in rows} == {head + len(own)}
    assert rows[2][head + own.index("away_steps")] == "1.00×0.50×"


def test_every_failure_of_a_foreign_code_has_a_row_with_its_reason(
    page: str, findings: Findings
) -> None:
    rows = rows_of(page, "unanswered-table")
    runs = findings.runs[findings.runs["library"].notna()]
    missed = runs[~(runs["gap_relative"] <= runs["tol"]).fillna(False).astype(bool)]
    assert len(rows) == len(missed) > 6
    assert {row[-1] for row in rows} == set(missed["reason"])
    assert rows[0][0] == "nonfinite"
    assert rows[-1][0] == "skipped"


def test_an_exponent_has_its_interval_or_a_reason(page: str) -> None:
    rows = rows_of(page, "growth-table")
    assert len(rows) == 6
    assert rows[0][4] == "1.10 (1.10 … 1.10)"
    assert rows[0][6] == "0 (0 … 0)"
    assert rows[1][6:] == ["–", "–"]  # a foreign code
    assert rows[2][1] == HOSTILE
    assert rows[2][4] == "undetermined: 2 of 5 sizes reached the tolerance, 4 needed"


def test_the_summary_has_the_same_tables(findings: Findings) -> None:
    told = summary(findings)
    assert "| ≥ 300 | 410 | yes |" in told
    assert "| ≤ 3 | 3.46 | **no** |" in told
    assert "| `away_steps` 200 µs | 410× (205×) | nonfinite 0.00156 |" in told
    assert "| 1.90 (1.90 … 1.90) |" in told
    assert "figures/ratios.png" not in told
    assert "figures/ratios.png" in summary(findings, figures=True)


def test_tolerances_stand_beside_runs_where_they_differ(page: str, findings: Findings) -> None:
    runs = findings.runs.copy()
    runs.loc[3, "tol"] = 1e-4
    both = html(replace(findings, runs=runs))
    assert ">tol<" not in page
    assert ">tol<" in both
    assert "1e-04" in {row[3] for row in rows_of(both, "all")}


def test_figures_show_ratios_and_growth(findings: Findings) -> None:
    styles = words.styles(selection.solvers(findings))
    drawn = ratios(selection.races(findings), styles)
    assert [axes.get_title() for axes in drawn.axes] == ["gap ≤ 1e-04", "gap ≤ 1e-08"]
    dots = [line for line in drawn.axes[0].lines if line.get_marker() != "None"]
    assert [float(line.get_xdata()[0]) for line in dots] == [410.0] * 3  # skipped on the others
    assert [int(line.get_ydata()[0]) for line in dots] == [0, 1, 3]
    panels = growth(selection.regimes(findings), styles).axes
    assert [axes.get_xlabel() for axes in panels] == ["n", "d"]
    assert [len(line.get_xdata()) for line in panels[0].lines[1::2]] == [5, 5, 2]  # marks
