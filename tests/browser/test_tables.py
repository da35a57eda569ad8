"""Tables sort, filter, follow the choices, and can be copied."""

from collections.abc import Callable

import pytest

from .made_page import Page

Opened = Callable[..., Page]
Row = list[dict[str, str | None]]

HEADS = """
    return [...document.querySelectorAll(`#${arguments[0]} thead th`)]
        .map((head) => head.textContent.trim());
"""
COPY = """
    const buttons = [...document.querySelectorAll(`[data-tools=${arguments[0]}] button`)];
    buttons.find((button) => button.textContent.includes("Copy")).click();
"""


def rows(page: Page, table: str) -> list[Row]:
    return list(page.script("rows", table))


def column(page: Page, table: str, name: str) -> list[str]:
    place = page.run(HEADS, table).index(name)
    return [row[place]["full"] or "" for row in rows(page, table)]


def sort(page: Page, table: str, name: str) -> None:
    place = page.run(HEADS, table).index(name)
    page.click(f"#{table} thead th:nth-child({place + 1}) button")


def copied(page: Page, table: str) -> list[list[str]]:
    """Press the button that copies a table, and return the cells that were copied."""
    page.run(COPY, table)
    page.until("return window.copied.length")
    [text] = page.run("return window.copied")
    return [line.split("\t") for line in text.rstrip("\n").split("\n")]


def test_headings_sort_and_what_is_missing_comes_last(opened: Opened) -> None:
    page = opened("tables", "runs")
    missing = column(page, "all", "steps").count("")
    assert missing > 1
    sort(page, "all", "steps")
    up = column(page, "all", "steps")
    known = [float(value) for value in up if value]
    assert known == sorted(known)
    assert up[len(known) :] == [""] * missing
    sort(page, "all", "steps")
    down = column(page, "all", "steps")
    assert [float(value) for value in down if value] == known[::-1]
    assert down[len(known) :] == [""] * missing


def test_a_sorted_and_filtered_table_is_in_the_address(opened: Opened) -> None:
    page = opened("tables", "runs")
    everything = len(rows(page, "all"))
    page.write("input[data-table=all]", "AWAY")
    page.until("return location.hash.includes('q-all=AWAY')")
    sort(page, "all", "seconds")
    shown = rows(page, "all")
    assert 0 < len(shown) < everything
    assert all("away_steps" in str(row) for row in shown)
    again = opened("tables", page.address)
    assert rows(again, "all") == shown
    assert again.run("return document.querySelector('input[data-table=all]').value") == "AWAY"


def test_choices_hide_rows(opened: Opened) -> None:
    page = opened("tables", "runs")
    everything = len(rows(page, "all"))
    page.choose("#instance", page.options("#instance")[2])
    here = len(rows(page, "all"))
    assert 0 < here < everything
    page.click("#solvers input")
    assert len(rows(page, "all")) == here - 1
    page.choose("#instance", "")
    page.click("#solvers input")
    assert len(rows(page, "all")) == everything


def test_the_target_chooses_winners(opened: Opened) -> None:
    page = opened("tables")
    first = rows(page, "winners")
    place = page.run(HEADS, "winners").index("target")
    for target in page.options("#target")[1:]:
        page.choose("#target", target)
        aimed = {row[place]["sort"] for row in rows(page, "winners")}
        assert aimed == {target}
    page.choose("#target", "tightest")
    assert rows(page, "winners") == first


@pytest.mark.parametrize("clipboard", ["works", "none", "refuses"])
def test_what_is_shown_is_copied_with_all_digits(opened: Opened, clipboard: str) -> None:
    page = opened("tables", "at=runs&q-all=polygon")
    page.script("clipboard", clipboard)
    sort(page, "all", "seconds")
    shown = rows(page, "all")
    assert len(shown) > 3
    head, *lines = copied(page, "all")
    assert head == page.run(HEADS, "all")
    place = head.index("gap, relative")
    assert [line[place] for line in lines] == [row[place]["full"] for row in shown]
    assert max(len(line[place]) for line in lines) > 12
    place = head.index("solver")
    assert [line[place] for line in lines] == [row[place]["text"] for row in shown]


def test_copied_names_stay_in_their_cells(opened: Opened) -> None:
    page = opened("hostile", "runs")
    page.script("clipboard", "works")
    lines = copied(page, "all")
    assert {len(line) for line in lines} == {len(page.run(HEADS, "all"))}
    assert len(lines) == len(rows(page, "all")) + 1
    # a spreadsheet takes a cell that begins so for a formula
    assert [cell for line in lines for cell in line if cell.startswith(("=", "@"))] == []


def test_a_link_to_the_view_is_copied(opened: Opened) -> None:
    page = opened("tables", "at=rates&theme=dark")
    page.script("clipboard", "works")
    page.choose("#instance", page.options("#instance")[1])
    page.click("#copy-link")
    page.until("return window.copied.length")
    [link] = page.run("return window.copied")
    page.until("return document.querySelector('#said').textContent")
    wanted = page.view()
    again = opened("tables", link.partition("#")[2])
    assert again.view() == wanted
    assert "theme=dark" in again.address
