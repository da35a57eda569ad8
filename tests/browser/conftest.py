"""One browser for all tests, and reports that are built when a test first asks for them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from fwbench.report.html import html

from .made_chromium import MISSING, chromium, complaints, requests
from .made_page import Page
from .made_reports import MADE, real

WIDTH = 1280


@pytest.fixture(scope="session")
def driver() -> Iterator[Chrome]:
    if MISSING:
        pytest.skip(f"no browser here: apt-get install {' '.join(MISSING)}")
    with chromium() as driver:
        yield driver


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what gives the file of a report by its name; each is built once."""
    folder = tmp_path_factory.mktemp("reports")

    def built(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            findings = real(folder / name) if name == "real" else MADE[name]()
            path.write_text(html(findings), encoding="utf-8")
        return path

    return built


@pytest.fixture
def opened(driver: Chrome, report: Callable[[str], Path]) -> Iterator[Callable[..., Page]]:
    """Open reports, on a light screen 1280 wide; none may complain or ask for anything."""
    complaints(driver), requests(driver)

    def open_page(name: str, address: str = "", width: int = WIDTH, scheme: str = "light") -> Page:
        page = Page(driver, report(name))
        page.resize(width)
        page.emulate(scheme=scheme)
        return page.open(address)

    yield open_page
    # before the next page is opened: what a page does later is its doing as well
    assert complaints(driver) == []
    assert requests(driver) == []
