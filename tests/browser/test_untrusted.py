"""Names are text whatever they hold, and no report asks a network for anything."""

import re
from collections.abc import Callable

import pytest

from fwbench.errors import visible

from .made_chromium import complaints, requests
from .made_page import Page
from .made_reports import HOSTILE, MADE, SHOWN

Opened = Callable[..., Page]
PANEL = "#panels .panel"


def test_hostile_names_are_text(opened: Opened) -> None:
    page = opened("hostile")
    see_everything(page)
    text = page.run("return document.body.textContent")
    # a letter that would not be seen, or would turn others round, may be written as its number
    assert [name for name in HOSTILE if name not in text and visible(name) not in text] == []
    assert page.run("return window.hit ?? null") is None
    assert page.script("of_names") == []
    assert "49" not in page.run("return document.title")


def test_a_curve_that_is_pointed_at_says_its_name(opened: Opened) -> None:
    page = opened("hostile", "curves")
    page.charts(PANEL)
    unsaid = {visible(name) for name in SHOWN.values()}
    for curve in range(page.run(f"return document.querySelector('{PANEL}').data.length")):

        def said() -> list[str]:
            text, markup = page.script("points_at", PANEL, curve)  # noqa: B023
            return [markup, *(name for name in unsaid if text.startswith(name))][:2]

        page.wait(lambda: len(said()) > 1, f"another name than {unsaid}")
        markup, name = said()
        unsaid.remove(name)
        assert set(re.findall(r"<\w+", markup)) <= {"<g", "<path", "<text", "<tspan", "<rect"}
    assert len(SHOWN) - len(unsaid) > 4


def see_everything(page: Page) -> None:
    """Scroll through the page, so that all charts that wait to be seen are drawn."""
    for section in page.sections():
        page.show(f"#{section}")
        page.run("return new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


# the others are opened, and looked at more closely, by other tests
@pytest.mark.parametrize("name", sorted({*MADE, "real"} - {"hostile", "made", "tables"}))
def test_every_report_opens_without_a_complaint(opened: Opened, name: str) -> None:
    page = opened(name)
    see_everything(page)
    assert page.run("return document.querySelectorAll('main > section h2').length") > 0
    assert page.run("return document.readyState") == "complete"


def test_a_request_would_be_seen(opened: Opened) -> None:
    page = opened("none")
    page.driver.get("data:text/html,<img src='http://example.invalid/pixel.png'>")
    assert requests(page.driver) == ["http://example.invalid/pixel.png"]
    assert len(complaints(page.driver)) == 1


def test_the_page_refuses_a_request_of_its_own_scripts(opened: Opened) -> None:
    page = opened("none")
    refused = page.run(
        "return fetch('http://example.invalid/').then(() => 'sent', () => 'refused')"
    )
    assert refused == "refused"
    assert any("Content Security Policy" in message for message in complaints(page.driver))
    assert requests(page.driver) == []
