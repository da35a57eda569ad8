"""A report of 500 runs with 200 checkpoints each opens, draws, and answers."""

from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from fwbench.findings import build
from fwbench.report.html import html

from .made_chromium import complaints, requests
from .made_large import INSTANCES, ROWS, SOLVERS, large_folder
from .made_page import Page

# the findings of 100 000 trace rows take many seconds
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    findings = build(large_folder(folder / "run"))
    assert (len(findings.runs), len(findings.trace)) == (
        INSTANCES * SOLVERS,
        INSTANCES * SOLVERS * ROWS,
    )
    (folder / "report.html").write_text(html(findings), encoding="utf-8")
    return folder / "report.html"


def test_a_large_report_opens_and_answers(driver: Chrome, large: Path) -> None:
    page = Page(driver, large)
    page.resize(1280)
    page.open("curves")
    charts = page.charts("#panels .panel")
    assert all(chart["finite"] and chart["lines"] for chart in charts)
    assert page.visible("#all tbody tr") == INSTANCES * SOLVERS
    page.choose("#instance", page.options("#instance")[-1])
    page.until("return [...document.querySelectorAll('#all tbody tr')]"
               ".filter((row) => !row.hidden).length === arguments[0]", SOLVERS)  # fmt: skip
    assert complaints(driver) == []
    assert requests(driver) == []
