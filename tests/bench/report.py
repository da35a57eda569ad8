"""What a report of 10⁵ trace rows costs: ``python -m tests.bench.report``.

A run folder of 500 runs with 200 checkpoints each is written, not run. Printed is how long its
findings take from the journal, and the page from its findings; how large the file is; and, where
Chromium and ChromeDriver are installed, how long it takes to open: from the start of the navigation
until the page is read, and until its first chart stands there, by the browser's own clock. Of three
openings the median is printed.
"""

import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from fwbench.findings import build
from fwbench.report.html import html
from tests.browser.made_chromium import MISSING, chromium
from tests.browser.made_large import large_folder
from tests.browser.made_page import Page

LIMIT_OF_BUILDING = 10.0  # seconds
LIMIT_OF_OPENING = 2.0
LIMIT_OF_SIZE = 6e6  # bytes, of what does not grow with the runs
OPENINGS = 3

# Looks once a frame for a chart with a line in it, from before the page's own scripts on.
WATCH = """
    const watch = () => {
        if (document.querySelector('.js-plotly-plot .scatterlayer .trace path[d]'))
            window.firstChart = performance.now();
        else requestAnimationFrame(watch);
    };
    requestAnimationFrame(watch);
"""
READ = """
    const [entry] = performance.getEntriesByType('navigation');
    const times = [entry.loadEventEnd, window.firstChart];
    return times.every(Boolean) && times.map((time) => time / 1000);
"""


def openings(path: Path) -> list[tuple[float, float]]:
    """Return the seconds until the page is read and until its first chart, of each opening."""
    with chromium() as driver:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        page = Page(driver, path)
        return [tuple(page.open("curves").until(READ)) for _ in range(OPENINGS)]


def main() -> None:
    """Print what was measured."""
    with tempfile.TemporaryDirectory() as name:
        folder = large_folder(Path(name) / "run")
        begun = perf_counter()
        findings = build(folder)
        built = perf_counter()
        page = html(findings)
        written = perf_counter()
        path = Path(name) / "report.html"
        path.write_text(page, encoding="utf-8")
        print(f"{len(findings.runs)} runs, {len(findings.trace)} trace rows")
        print(f"findings from the journal: {built - begun:.2f} s")
        whole = written - begun
        print(f"the page from its findings: {written - built:.2f} s")
        print(f"both: {whole:.2f} s (at most {LIMIT_OF_BUILDING:g})")
        data = len(page.partition('id="data">')[2].partition("</script>")[0].encode())
        tables = len(page.partition("<main")[2].partition("</main>")[0].encode())
        rest = len(page.encode()) - data - tables
        print(
            f"file: {(data + tables + rest) / 1e6:.2f} MB, of which data {data / 1e6:.2f}, tables "
            f"{tables / 1e6:.2f}, the rest {rest / 1e6:.2f} (at most {LIMIT_OF_SIZE / 1e6:g})"
        )
        if MISSING:
            print(f"not opened: apt-get install {' '.join(MISSING)}")
            return
        opened = openings(path)
        read, drawn = (median(times) for times in zip(*opened, strict=True))
        print(f"opened: read after {read:.2f} s, first chart after {drawn:.2f} s "
              f"(at most {LIMIT_OF_OPENING:g})")  # fmt: skip


if __name__ == "__main__":
    main()
