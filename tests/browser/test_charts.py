"""Charts draw when they come into view, and every choice that a reader has changes them."""

from collections.abc import Callable

import pytest

from .made_page import Page

Opened = Callable[..., Page]

PANELS = "#panels .panel"
GROWTH = ".panel[id^=growth-]"
PICTURES = "#pictures .picture"
PROFILES = "#profile-performance, #profile-data"
BANDS = f"return document.querySelectorAll('{PANELS} .fills path[d]').length"


def redrawn(page: Page, selector: str, choose: Callable[[Page], None]) -> None:
    """Choose something, wait until charts look otherwise, and look whether they are sound."""
    before = page.charts(selector)
    choose(page)
    after = page.other_charts(selector, before)
    assert all(chart["finite"] for chart in after), after


@pytest.mark.parametrize("name", ["made", "real"])
def test_curves_draw_with_finite_coordinates(opened: Opened, name: str) -> None:
    charts = opened(name).charts(PANELS)
    assert len(charts) > 1
    assert all(chart["finite"] and chart["lines"] for chart in charts)


def test_every_choice_changes_the_curves(opened: Opened) -> None:
    page = opened("made", "curves")
    instances = page.options("#instance")
    redrawn(page, PANELS, lambda page: page.choose("#instance", instances[2]))
    redrawn(page, PANELS, lambda page: page.click("input[name=axis]:not(:checked)"))
    redrawn(page, PANELS, lambda page: page.click("#solvers input"))
    redrawn(page, PANELS, lambda page: page.click("#legend button", 1))
    assert page.run("return document.querySelectorAll('#legend [aria-pressed=false]').length") == 2
    redrawn(page, PANELS, lambda page: page.choose("#theme", "dark"))


def test_seeds_together_are_bands(opened: Opened) -> None:
    page = opened("real", "curves")
    page.charts(PANELS)
    before = page.run(BANDS)
    redrawn(page, PANELS, lambda page: page.click("input[name=over]:not(:checked)"))
    assert page.run(BANDS) > before


def test_growth_and_pictures_follow_their_choices(opened: Opened) -> None:
    page = opened("made")
    assert page.charts(GROWTH)[0]["finite"]
    redrawn(page, GROWTH, lambda page: page.click("input[name=growth]:not(:checked)"))
    assert page.charts(PICTURES)[0]["finite"]
    redrawn(page, PICTURES, lambda page: page.click("#pictures .legend button"))


def test_every_choice_changes_the_profiles(opened: Opened) -> None:
    page = opened("made", "profiles")
    assert all(chart["finite"] for chart in page.charts(PROFILES))
    for name in ("target", "cost", "duel"):
        select = f"#profile-{name}"
        others = page.run(
            "const select = document.querySelector(arguments[0]);"
            "return [...select.options].map((o) => o.value).filter((v) => v !== select.value)",
            select,
        )
        redrawn(page, PROFILES, lambda page: page.choose(select, others[0]))  # noqa: B023
    redrawn(page, PROFILES, lambda page: page.click("#profiles .legend button"))


def test_a_chart_waits_until_it_comes_into_view(opened: Opened) -> None:
    page = opened("made")
    assert [chart["paths"] for chart in page.drawn(PICTURES)] == [0]
    assert page.charts(PICTURES)


def test_solvers_without_a_path_are_points(opened: Opened) -> None:
    page = opened("made", "curves")
    page.charts(PANELS)
    page.run(
        "const boxes = [...document.querySelectorAll('#solvers input')];"
        "for (const box of boxes) if (box.value !== 'cvxpy_reference' && box.checked) box.click();"
    )
    page.until(f"return !document.querySelector('{PANELS} .lines path[d]')")
    assert page.run(f"return document.querySelectorAll('{PANELS} .points path[d]').length") > 0


def test_what_a_log_axis_cannot_show_is_said(opened: Opened) -> None:
    page = opened("made", "curves")
    page.choose("#instance", page.options("#instance")[2])
    page.until("return /zero or below/.test(document.querySelector('#notes').textContent)")
    page.run("document.querySelector('input[name=axis][value=lmo]').click()")
    page.until("return /were not counted/.test(document.querySelector('#notes').textContent)")


def test_maps_and_diagrams_need_no_script(opened: Opened) -> None:
    page = opened("plane")
    widths = page.run(
        "return [...document.querySelectorAll('.basins svg, .gallery svg')]"
        ".map((drawing) => drawing.getBBox().width)"
    )
    assert len(widths) == 9
    assert min(widths) > 200
