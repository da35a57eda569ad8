"""A report that is open in a browser: what a reader does to it, and what he sees then."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from selenium.common.exceptions import TimeoutException
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.wait import WebDriverWait

MOST_SECONDS = 20  # until a page is given up: no test waits for less than what it asks for
EVERY = 0.02
T = TypeVar("T")

SCRIPTS = Path(__file__).parent / "scripts"


def script(name: str) -> str:
    """Return a script of the folder `scripts`, the body of a function."""
    return (SCRIPTS / f"{name}.js").read_text(encoding="utf-8")


class Page:
    """A report in the browser.

    Parameters
    ----------
    driver : Chrome
    path : Path
        Of the report's file.
    """

    def __init__(self, driver: Chrome, path: Path) -> None:
        self.driver, self.path = driver, path

    def open(self, address: str = "") -> "Page":
        """Open the file anew, at what stands after its #."""
        self.driver.get("about:blank")  # else a new # alone would not load the file again
        self.driver.get(self.path.as_uri() + (f"#{address}" if address else ""))
        return self

    def run(self, script: str, *arguments: Any) -> Any:
        """Run the body of a function in the page and return what it returns."""
        return self.driver.execute_script(script, *arguments)

    def script(self, name: str, *arguments: Any) -> Any:
        """Run a script of the folder `scripts` and return what it returns."""
        return self.run(script(name), *arguments)

    def until(self, script: str, *arguments: Any) -> Any:
        """Wait until a script returns what is true, and return it."""
        return self.wait(lambda: self.run(script, *arguments), f"never true: {script}")

    def wait(self, found: Callable[[], T], otherwise: str) -> T:
        """Wait until a function returns what is true, and return it."""
        waiting = WebDriverWait(self.driver, MOST_SECONDS, EVERY)
        return waiting.until(lambda _: found(), otherwise)

    def comes_true(self, script: str, *arguments: Any) -> bool:
        """Wait until a script returns what is true; return False if it never does."""
        try:
            return bool(self.until(script, *arguments))
        except TimeoutException:
            return False

    # ---- what is seen ---------------------------------------------------------------------

    @property
    def address(self) -> str:
        """What stands after the # of the address."""
        return str(self.driver.current_url).partition("#")[2]

    def view(self) -> str:
        """Return what a choice may change besides charts, as one text: rows and choices."""
        return str(self.script("view"))

    def changed(self, before: str) -> str:
        """Wait until the view is another one, and return it."""
        self.wait(lambda: self.view() != before, "the view stays as it is")
        return self.view()

    def sections(self) -> list[str]:
        """Return the ids of the sections, from above."""
        return list(
            self.run("return [...document.querySelectorAll('main > section')].map(s => s.id)")
        )

    def show(self, selector: str) -> None:
        """Scroll to the first element that a selector finds."""
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'start'})", selector)

    def drawn(self, selector: str) -> list[dict[str, Any]]:
        """Return the visible charts of a selector: name, paths, whether all are finite, lines."""
        return list(self.script("drawn", selector))

    def charts(self, selector: str) -> list[dict[str, Any]]:
        """Scroll to charts, wait until all that can be seen are drawn, and return them.

        Returns
        -------
        list of dict
            Of each: name, paths (how many), shape (a number that tells one
            drawing from another), finite (whether all coordinates are), lines (how many).
        """
        self.show(selector)

        def drawn() -> list[dict[str, Any]]:
            found = self.drawn(selector)
            return found if all(chart["lines"] for chart in found) else []

        return self.wait(drawn, f"not drawn: {selector}")

    def other_charts(self, selector: str, before: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Wait until charts are drawn and not what they were before, and return them."""
        self.wait(lambda: self.charts(selector) != before, f"never redrawn: {selector}")
        return self.charts(selector)

    def visible(self, selector: str) -> int:
        """Return how many of the elements that a selector finds can be seen."""
        return int(
            self.run(
                "return [...document.querySelectorAll(arguments[0])]"
                ".filter((one) => one.checkVisibility()).length",
                selector,
            )
        )

    def box(self, selector: str) -> dict[str, float]:
        """Return where an element stands."""
        return dict(
            self.run(
                "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()",
                selector,
            )
        )

    # ---- what a reader does ---------------------------------------------------------------

    def choose(self, selector: str, value: str) -> None:
        """Choose a value of a select, as a reader does."""
        self.run(
            "const [selector, value] = arguments; const select = document.querySelector(selector);"
            "select.value = value;"
            "if (select.value !== value) throw Error(`no ${value} in ${selector}`);"
            "select.dispatchEvent(new Event('input', {bubbles: true}));"
            "select.dispatchEvent(new Event('change', {bubbles: true}));",
            selector,
            value,
        )

    def click(self, selector: str, place: int = 0) -> None:
        """Click at one of the elements that a selector finds."""
        self.run("document.querySelectorAll(arguments[0])[arguments[1]].click()", selector, place)

    def options(self, selector: str) -> list[str]:
        """Return the values of a select."""
        return list(
            self.run(
                "return [...document.querySelector(arguments[0]).options].map(o => o.value)",
                selector,
            )
        )

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def tab(self, times: int) -> None:
        """Press the tabulator."""
        self.press(*[Keys.TAB] * times)

    def focus(self, selector: str) -> None:
        """Put the focus on an element, as the keyboard does."""
        self.run("document.querySelector(arguments[0]).focus({focusVisible: true})", selector)

    def write(self, selector: str, text: str) -> None:
        """Write into a field."""
        self.focus(selector)
        self.press(text)

    # ---- how it is looked at --------------------------------------------------------------

    def emulate(self, *, media: str = "", scheme: str = "") -> None:
        """Look at the page on paper, or with a preference for a dark screen."""
        features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": media, "features": features}
        )

    def resize(self, width: int, height: int = 900) -> None:
        """Give the page a width in CSS pixels."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
