"""What a reader has chosen stands in the address, and an address shows what was chosen."""

from collections.abc import Callable
from urllib.parse import parse_qs

import pytest

from .made_page import Page

Opened = Callable[..., Page]

PANELS = "#panels .panel"
NEAR = 150  # pixels below the upper edge, where the bar stands


def is_at(section: str) -> str:
    top = f"document.getElementById('{section}').getBoundingClientRect().top"
    return f"return {top} > -5 && {top} < {NEAR}"


def test_an_address_shows_the_same_view_on_a_fresh_page(opened: Opened) -> None:
    page = opened("made", "curves")
    page.charts(PANELS)
    page.choose("#instance", page.options("#instance")[3])
    page.run("document.querySelectorAll('#solvers input')[1].click()")
    page.click("input[name=axis]:not(:checked)")
    page.choose("#target", page.options("#target")[2])
    page.choose("#theme", "dark")
    page.choose("#profile-target", page.options("#profile-target")[0])
    page.charts(PANELS)
    chosen = parse_qs(page.address)
    assert {"instance", "hidden", "axis", "target", "theme", "profile"} <= set(chosen)
    wanted = page.view(), page.charts(PANELS)
    again = opened("made", page.address)
    charts = again.charts(PANELS)
    assert (again.view(), charts) == wanted
    assert parse_qs(again.address) == chosen


def test_what_is_usual_is_not_in_the_address(opened: Opened) -> None:
    page = opened("tables")
    assert page.address == ""
    page.choose("#theme", "dark")
    page.choose("#theme", "auto")
    assert page.address == ""


@pytest.mark.parametrize("section", ["rates", "points", "runs"])
def test_a_plain_name_is_a_section(opened: Opened, section: str) -> None:
    page = opened("tables", section)
    page.until(is_at(section))


def test_links_of_the_bar_keep_the_choices(opened: Opened) -> None:
    page = opened("tables", "theme=dark")
    page.click("nav a[href='#points']")
    page.until(is_at("points"))
    assert parse_qs(page.address) == {"theme": ["dark"], "at": ["points"]}


def test_back_and_forward_lead_from_section_to_section(opened: Opened) -> None:
    page = opened("tables")
    page.click("nav a[href='#rates']")
    page.until(is_at("rates"))
    page.choose("#instance", page.options("#instance")[2])
    first = page.view()
    page.click("nav a[href='#points']")
    page.until(is_at("points"))
    page.choose("#instance", page.options("#instance")[4])
    second = page.changed(first)
    page.driver.back()
    page.until(is_at("rates"))
    page.wait(lambda: page.view() == first, "not what it was before")
    page.driver.forward()
    page.until(is_at("points"))
    page.wait(lambda: page.view() == second, "not what it was afterwards")


def test_an_address_that_is_typed_in_applies(opened: Opened) -> None:
    page = opened("tables")
    before = page.view()
    instance = page.options("#instance")[2]
    page.run("location.hash = new URLSearchParams({at: 'runs', instance: arguments[0]})", instance)
    page.changed(before)
    assert page.run("return document.querySelector('#instance').value") == instance


NONSENSE = (
    "instance=nobody&axis=what&target=soon&theme=pink&profile=x&measure=none",
    "%",
    "at=nowhere",
    "hidden=nobody",
    "q-none=x&sort-all=no,where",
    "__proto__=1&constructor=2&toString=3",
    "a=b=c&&&=",
    "instance=%3Cscript%3Ewindow.hit%3D1%3C/script%3E",
)


@pytest.mark.parametrize(
    "address", ["instance=nobody", "axis=what", "target=soon", "target=", "theme=pink", "over=all"]
)
def test_a_value_that_is_not_offered_is_not_chosen(opened: Opened, address: str) -> None:
    page = opened("made")
    usual = page.view(), page.charts(PANELS)
    page = opened("made", address)
    assert (page.view(), page.charts(PANELS)) == usual


def test_curves_of_the_first_instance_say_that_they_are(opened: Opened) -> None:
    page = opened("made")
    said = "return document.querySelector('#curves-first').textContent"
    assert page.run(said).startswith("the first of ")
    page.choose("#instance", page.options("#instance")[2])
    assert page.run(said) == ""


def test_without_scripts_the_tables_stand_and_no_control_does(opened: Opened) -> None:
    page = opened("tables")
    page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.open()
        assert page.visible("noscript p") == 1
        assert page.visible(".choices, .controls") == 0
        assert page.visible("#winners tbody tr") > 1
    finally:
        page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_an_address_that_says_nothing_does_no_harm(opened: Opened) -> None:
    page = opened("made", NONSENSE[0])
    for address in NONSENSE[1:]:
        page.run("location.hash = arguments[0]", address)
    page.run("location.hash = ''")
    assert page.run("return window.hit ?? null") is None
    page.choose("#theme", "dark")
    assert parse_qs(page.address) == {"theme": ["dark"]}
    assert page.charts(PANELS)
