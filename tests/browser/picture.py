"""Make the picture of the README: ``python -m tests.browser.picture RUN OUT.png``.

It shows RUN/report.html from its head to the end of its curves, on a light screen 1280 wide.
"""

import base64
import io
import sys
from pathlib import Path

from PIL import Image
from selenium.webdriver import Chrome

from .made_chromium import MISSING, chromium
from .made_page import Page

WIDTH = 1280
COLOURS = 128  # plenty for a page of text and lines, at a third of the bytes
MOST_BYTES = 300_000
BOTTOM = "return document.querySelector('#curves').getBoundingClientRect().bottom + scrollY"


def picture(driver: Chrome, report: Path) -> bytes:
    """Return the picture of a report as PNG."""
    page = Page(driver, report.resolve())
    page.resize(WIDTH)
    page.emulate(scheme="light")
    page.open()
    page.charts("#panels .panel")
    page.run("scrollTo(0, 0)")
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": page.run(BOTTOM), "scale": 1}
    taken = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True}
    )
    image = Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB")
    written = io.BytesIO()
    image.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        written, "PNG", optimize=True
    )
    return written.getvalue()


def main() -> None:
    """Write the picture."""
    if len(sys.argv) != 3:
        sys.exit("python -m tests.browser.picture RUN OUT.png")
    if MISSING:
        sys.exit(f"no browser here: apt-get install {' '.join(MISSING)}")
    run, out = map(Path, sys.argv[1:])
    with chromium() as driver:
        content = picture(driver, run / "report.html")
    if len(content) >= MOST_BYTES:
        sys.exit(f"{len(content)} bytes, more than the {MOST_BYTES} that a README should load")
    out.write_bytes(content)
    print(f"{out}: {len(content)} bytes")


if __name__ == "__main__":
    main()
