"""Whoever has no mouse reaches every control, sees where he is, and can act there."""

from collections.abc import Callable

import pytest
from selenium.webdriver import Keys

from .made_page import Page

Opened = Callable[..., Page]

SORTED = "return document.querySelector('#all th').getAttribute('aria-sort')"
MORE_STOPS = 60  # the parts of charts that can be clicked at, and regions that scroll


@pytest.mark.parametrize("name", ["one", "made"])
def test_the_tabulator_reaches_every_control(opened: Opened, name: str) -> None:
    page = opened(name)
    # what is shut away in other details is reached when these are opened
    page.run(
        "document.querySelectorAll('details:not(.popover)').forEach((d) => { d.open = true; })"
    )
    count = page.script("controls")
    assert count > 10
    page.tab(count + MORE_STOPS)
    noted = page.run("return window.noted()")
    assert noted == {"missed": [], "plain": []}


def test_enter_and_space_press_buttons(opened: Opened) -> None:
    page = opened("tables", "runs")
    heading = "#all th button"
    page.focus(heading)
    page.press(Keys.ENTER)
    assert page.run(SORTED) == "ascending"
    page.press(Keys.SPACE)
    assert page.run(SORTED) == "descending"
    assert page.run(f"return document.activeElement === document.querySelector('{heading}')")


def test_choices_are_made_by_keys(opened: Opened) -> None:
    page = opened("made", "curves")
    page.focus("#instance")
    before = page.view()
    page.press(Keys.ARROW_DOWN)
    before = page.changed(before)
    page.focus("input[name=axis]:checked")
    page.press(Keys.ARROW_RIGHT)
    page.changed(before)
    assert "axis=" in page.address


def test_the_sheet_of_solvers_opens_and_closes_by_keys(opened: Opened) -> None:
    page = opened("tables")
    page.focus("#solvers summary")
    page.press(Keys.ENTER)
    assert page.run("return document.querySelector('#solvers').open")
    page.focus("#solvers input")
    page.press(Keys.SPACE)
    page.until("return location.hash.includes('hidden=')")
    page.press(Keys.ESCAPE)
    assert not page.run("return document.querySelector('#solvers').open")
    # who closes it stands where he opened it
    assert page.run("return document.activeElement.matches('#solvers summary')")


def test_the_way_past_the_bar_is_the_first_stop(opened: Opened) -> None:
    page = opened("tables")
    page.tab(1)
    assert page.run("return document.activeElement.getAttribute('href')") == "#content"
    page.press(Keys.ENTER)
    page.tab(1)
    assert page.run("return document.querySelector('main').contains(document.activeElement)")
