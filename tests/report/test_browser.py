"""The page in a real browser. Needs Debian's package chromium; without it these are skipped."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fwbench.report.html import html

from .made_plane import plane_findings

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --virtual-time-budget=8000 "
    "--enable-logging=stderr --dump-dom"
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium"),
]


def opened(page: str, folder: Path, then: str = "") -> str:
    """Open the page, run a script at its end, and return the DOM; fail on any console error."""
    before, after = page.rsplit("</body>", 1)
    (folder / "page.html").write_text(f"{before}<script>{then}</script></body>{after}")
    profile = f"--user-data-dir={folder / 'profile'}"
    address = (folder / "page.html").as_uri()
    done = subprocess.run(
        [str(CHROMIUM), *FLAGS.split(), profile, address],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert not re.search(r"CONSOLE.*", done.stderr), done.stderr
    return done.stdout


def test_charts_draw_without_an_error(page: str, tmp_path: Path) -> None:
    dom = opened(page, tmp_path)
    assert (
        len(re.findall(r'<div class="panel js-plotly-plot" data-measure="[a-z_]+"(?! hidden)', dom))
        == 3
    )
    assert dom.count('class="picture js-plotly-plot"') == 1
    assert len(re.findall(r'class="panel js-plotly-plot" id="growth-\d"', dom)) == 2
    assert 'class="chip"' in dom


def test_choices_change_the_charts(page: str, tmp_path: Path) -> None:
    dom = opened(
        page,
        tmp_path,
        "const select = document.getElementById('instance'); select.value = '1';"
        "select.dispatchEvent(new Event('change'));",
    )
    assert re.search(r"projected_gradient: suboptimality is zero or below at \d+ rows from k", dom)
    dom = opened(
        page,
        tmp_path,
        "document.querySelector('input[value=lmo]').click();"
        "document.querySelector('#legend button').click();",
    )
    assert "cvxpy_reference: oracle calls were not counted" in dom
    assert dom.count('aria-pressed="false"') == 1


def test_headings_sort_with_missing_last(page: str, tmp_path: Path) -> None:
    dom = opened(
        page,
        tmp_path,
        "[...document.querySelectorAll('#all th button')]"
        ".find(b => b.textContent === 'steps').click();"
        "document.title = [...document.querySelectorAll('#all tbody tr')]"
        ".map(r => r.cells[3].dataset.v || 'none').join(' ');",
    )
    found = re.search(r"<title>(.*?)</title>", dom)
    assert found
    shown = found[1].split()
    steps = [int(float(word)) for word in shown if word != "none"]
    assert steps == sorted(steps)
    assert shown[len(steps) :] == ["none"] * 7


def test_maps_and_diagrams_need_no_script(tmp_path: Path) -> None:
    dom = opened(
        html(plane_findings()),
        tmp_path,
        "document.title = [...document.querySelectorAll('.basins svg, .gallery svg')]"
        ".map(s => s.getBBox().width > 200).join(' ');",
    )
    found = re.search(r"<title>(.*?)</title>", dom)
    assert found
    assert found[1].split() == ["true"] * 9
