"""A headless Chromium, driven through ChromeDriver; nothing is downloaded to that end."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM, CHROMEDRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = [
    package
    for package, path in (("chromium", CHROMIUM), ("chromium-driver", CHROMEDRIVER))
    if path is None
]
FLAGS = (
    # a container has no namespaces for a sandbox, and a small /dev/shm
    "--headless=new --no-sandbox --disable-dev-shm-usage --disable-gpu --no-first-run "
    # what Chromium itself would ask of the network
    "--disable-quic --disable-sync --disable-background-networking --disable-component-update "
    "--disable-default-apps --disable-extensions --hide-scrollbars"
)
SCRIPT_SECONDS = 60
OWN_PAGES = ("file:", "data:", "blob:", "about:")


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """Open a browser that writes down its console and its requests; close it at the end."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # A path that is given is taken: without one, selenium looks for a driver to download.
    driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
    try:
        driver.set_script_timeout(SCRIPT_SECONDS)
        yield driver
    finally:
        driver.quit()


def complaints(driver: webdriver.Chrome) -> list[str]:
    """Return the errors that came to the console since this was last asked."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]


def requests(driver: webdriver.Chrome) -> list[str]:
    """Return what was asked for since this was last asked, other than the page's own file."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    wanted = {
        "Network.requestWillBeSent": lambda event: event["request"]["url"],
        "Network.webSocketCreated": lambda event: event["url"],
        "Page.frameScheduledNavigation": lambda event: event["url"],
    }
    asked = [wanted[e["method"]](e["params"]) for e in events if e["method"] in wanted]
    return [address for address in asked if not address.startswith(OWN_PAGES)]
