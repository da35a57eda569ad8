"""Text can be read in both themes, and charts go with the page."""

import re
from collections.abc import Callable

import pytest

from .made_page import Page, script

Opened = Callable[..., Page]

LEAST_CONTRAST = 4.5  # of WCAG 2.2 AA for text of usual size
SAMPLES = 6  # of each kind of element in a section


def comes_to(page: Page, theme: str) -> None:
    """Wait until all charts on the screen have the ground of the page, and look which that is."""
    page.until(
        f"const [body, charts] = (() => {{ {script('grounds')} }})();"
        "return charts.length && charts.every((chart) => chart === body)"
    )
    ground, _ = page.script("grounds")
    brightest = max(float(part) for part in re.findall(r"[\d.]+", ground)[:3])
    assert brightest > 230 if theme == "light" else brightest < 80


@pytest.mark.parametrize("name", ["made", "plane"])
def test_text_stands_out(opened: Opened, name: str) -> None:
    page = opened(name, "theme=light")
    for theme in ("light", "dark"):
        page.choose("#theme", theme)
        if name == "made":
            page.charts("#panels .panel")
            comes_to(page, theme)
        looked, poor = page.script("contrasts", SAMPLES, LEAST_CONTRAST)
        assert looked > 20
        assert poor == []


def test_the_theme_is_that_of_the_system_unless_chosen(opened: Opened) -> None:
    page = opened("made", "curves", scheme="light")
    page.charts("#panels .panel")
    comes_to(page, "light")
    page.emulate(scheme="dark")
    page.until("return matchMedia('(prefers-color-scheme: dark)').matches")
    comes_to(page, "dark")
    page.choose("#theme", "light")
    comes_to(page, "light")
    page.emulate(scheme="light")
    page.choose("#theme", "dark")
    comes_to(page, "dark")
    assert "theme=dark" in page.address
