"""Nothing hangs over the edge of a screen or of a sheet of paper, and no box lies on another."""

import base64
import re
from collections.abc import Callable

import pytest

from .made_page import Page

Opened = Callable[..., Page]

WIDTHS = (1280, 400)
FITS = """
    const { clientWidth, scrollWidth } = document.documentElement;
    return innerWidth === arguments[0] && scrollWidth <= clientWidth;
"""
CHARTS = ".panel, .picture, #profile-performance, #profile-data"
ROUNDING = 1.0  # pixels: boxes end at fractions of them


@pytest.mark.parametrize("name", ["made", "hostile", "plane", "none"])
def test_the_page_is_as_wide_as_the_screen(opened: Opened, name: str) -> None:
    page = opened(name)
    if name == "made":
        page.charts("#panels .panel")
    for width in WIDTHS:
        page.resize(width)
        # charts follow a moment later
        if not page.comes_true(FITS, width):
            pytest.fail(f"wider than {width}: {page.script('overhang')}")
        assert page.script("overlaps", ROUNDING) == []


def test_the_first_screen_names_a_winner_and_what_failed(opened: Opened) -> None:
    page = opened("tables")
    for selector in ("#winners tbody tr:not([hidden])", "#overview .failures li"):
        assert page.box(selector)["bottom"] < page.run("return innerHeight"), selector


def test_paper_shows_everything_and_no_control(opened: Opened) -> None:
    page = opened("made")
    page.emulate(media="print")
    assert page.visible(".bar, .skip, .tools, .controls, .modebar") == 0
    page.emulate(media="")
    printed = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) > 1
    # nobody scrolled: printing alone has drawn them
    charts = page.drawn(CHARTS)
    assert [chart["name"] for chart in charts if not (chart["lines"] and chart["finite"])] == []
    assert len(charts) > 6
