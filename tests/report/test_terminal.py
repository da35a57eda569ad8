import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from fwbench.analysis.findings import Findings
from fwbench.report.selection import FAILED
from fwbench.report.terminal import SHOWN_FAILURES, runs_table, terminal_summary

from .made_findings import empty_findings


def printed(what: RenderableType, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(what)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_winners_failures_and_skips_are_told(findings: Findings) -> None:
    told = printed(terminal_summary(findings))
    assert "attention_head[layer=4,head=7]" in told
    assert "frank_wolfe" in told
    assert "19×" in told
    for status in FAILED:
        assert f"  {status:<10} " in told
    assert "3 × cvxpy_reference runs on convex kinds only" in told


def test_markup_in_names_is_shown_as_text(findings: Findings) -> None:
    names = {"solver_label": {"projected_gradient": "[bold]x[/nothing]"}}
    runs = findings.runs.replace(names | {"status": {"timeout": "error"}})
    told = printed(terminal_summary(replace(findings, runs=runs)))
    assert "[bold]x[/nothing] on min_norm_point" in told


@pytest.mark.parametrize("width", [40, 80])
def test_reasons_are_whole_in_narrow_logs(findings: Findings, width: int) -> None:
    told = " ".join(printed(terminal_summary(findings), width).split())
    assert "killed by SIGSEGV after 34 steps" in told


def test_long_lists_of_failures_are_cut_and_say_so(findings: Findings) -> None:
    runs = findings.runs.assign(status="error")
    told = printed(terminal_summary(replace(findings, runs=runs)))
    assert f"and {len(runs) - SHOWN_FAILURES} more" in told


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_nothing_stands_behind_a_line(findings: Findings, width: int) -> None:
    told = printed(runs_table(findings), width) + printed(terminal_summary(findings), width)
    lines = told.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert max(map(cell_len, lines)) <= width


def test_numbers_keep_their_thin_blanks(findings: Findings) -> None:
    assert "10\u202f000" in printed(runs_table(findings), 200)


def test_who_won_comes_first_and_hostile_names_stay_text(findings: Findings) -> None:
    told = printed(terminal_summary(findings))
    first, second, *_ = told.splitlines()
    assert first == "Who won"
    assert second.startswith("away_steps was first most often: 3 of 3 races on 6 instances")
    [row] = [line for line in told.splitlines() if line.startswith("away_steps  ")]
    assert row.split()[1:] == ["3", "3", "3", "6", "of", "6", "1.00×", "14×", "0", "of", "6"]


def test_session_without_runs_has_an_end() -> None:
    assert "0 runs" in printed(terminal_summary(empty_findings()))


def test_tolerances_stand_beside_runs_where_they_differ(findings: Findings) -> None:
    assert " tol " not in printed(runs_table(findings))
    runs = findings.runs.copy()
    runs.loc[0, "tol"] = 1e-4
    told = printed(runs_table(replace(findings, runs=runs))).splitlines()
    assert " tol " in told[0]
    assert [line.split()[1] for line in told if line.startswith("  frank_wolfe ")][:2] == [
        "1e-04",
        "1e-08",
    ]
