import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np

from fwbench.analysis.findings import Findings
from fwbench.report.html import TEMPLATES, html
from fwbench.report.selection import CURVE_ROWS, FAILED

from .made_findings import HOSTILE, TRACEBACK, empty_findings, made_findings

# The report's own part: everything but plotly's script and the data of the runs.
MOST_BYTES = 6_000_000


class Reader(HTMLParser):
    """The page as a browser splits it: tags, script texts, and the cells of its tables."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] = []
        self._in_cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self._rows = self.tables.setdefault(dict(attrs).get("id") or "", [])
        if tag == "tr":
            self._rows.append([])
        if tag == "td":
            self._rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag != "td"

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self._rows[-1][-1] += data


def rows_of(page: str, table: str) -> list[list[str]]:
    return [row for row in Reader(page).tables[table] if row]


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_names_cannot_become_markup(page: str) -> None:
    assert HOSTILE not in page
    assert "<script>alert(2)" not in page
    assert TRACEBACK not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert HOSTILE in [solver["label"] for solver in data_of(page)["solvers"]]


def test_only_our_three_scripts_are_there(page: str) -> None:
    assert [tag for tag, _ in Reader(page).tags].count("script") == 3


def test_nothing_is_loaded_from_outside(page: str) -> None:
    tags = Reader(page).tags
    for tag, attributes in tags:
        for name in ("src", "srcset", "href", "action", "poster", "background"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
        assert tag not in {"link", "iframe", "object", "embed", "base"}
    policies = [a["content"] for t, a in tags if t == "meta" and "http-equiv" in a]
    assert policies == [
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data: blob:"
    ]
    assert not re.search(r"url\(|@import", (TEMPLATES / "style.css").read_text())


def test_no_button_sends_the_chart_away() -> None:
    assert "showSendToCloud: false" in (TEMPLATES / "report.js").read_text()


def test_page_is_small(page: str) -> None:
    data = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert data
    assert len(page.encode()) - len(data[1].encode()) < MOST_BYTES


def test_equal_findings_give_equal_pages(page: str) -> None:
    assert html(made_findings()) == page


def test_first_screen_says_what_made_it(page: str) -> None:
    head = page[page.index("<header>") : page.index("</header>")]
    for shown in ("fwbench run -p", "2026-09-14", "0123456789ab with changes", "Imaginary CPU"):
        assert shown in head
    assert "<b>numpy</b> 2.4.6" in head


def test_every_run_has_a_row_and_failures_come_first(page: str, findings: Findings) -> None:
    rows = rows_of(page, "all")
    assert len(rows) == len(findings.runs)
    failed = findings.runs[findings.runs["status"].isin(FAILED)]
    assert {row[0] for row in rows[: len(failed)]} == set(failed["status"])
    for run in failed.itertuples():
        (row,) = [r for r in rows if r[0] == run.status and r[2] == run.solver_label]
        assert run.instance_label == row[1]
        assert run.reason in row[-1]
    assert TRACEBACK in next(row[-1] for row in rows if row[0] == "error")


def test_every_failure_stands_on_the_first_screen(page: str, findings: Findings) -> None:
    aside = page[page.index("<aside>") : page.index("</aside>")]
    for status in FAILED:
        assert f'<span class="status bad">{status}</span> 1' in aside
    assert "<b>3</b> cvxpy_reference runs on convex kinds only" in aside


def test_winner_table_shows_one_row_a_place(page: str) -> None:
    shown = [a for t, a in Reader(page).tags if t == "tr" and a.get("data-tightest") == "1"]
    assert len(shown) == 6
    assert all("hidden" not in attributes for attributes in shown)
    first = rows_of(page, "winners")[0]
    assert first == [
        "min_norm_point[n=1000,d=50,shift=1]",
        "convex",
        "suboptimality ≤ 1e-02",
        "away_steps",
        "62 µs",
        "22",
        "4.8× before frank_wolfe[step=exact]",
        "4 of 7",
    ]


def test_small_numbers_keep_their_digits(page: str) -> None:
    cells = [
        cell for table in ("all", "rest-table") for row in rows_of(page, table) for cell in row
    ]
    assert "1.0e-09" in cells
    assert "2.2e-16" in cells
    assert not any(re.fullmatch(r"-?0\.0+", cell) for cell in cells)


def test_missing_is_a_dash_and_never_a_zero(page: str) -> None:
    (memory,) = [row for row in rows_of(page, "all") if row[0] == "memory"]
    assert memory[3:11] == ["–"] * 8


def test_direct_methods_have_no_path(page: str) -> None:
    data = data_of(page)
    labels = [solver["label"] for solver in data["solvers"]]
    once = {labels[curve["solver"]] for curve in data["curves"] if curve["once"]}
    assert once == {"cvxpy_reference"}


def test_long_trace_is_thinned_but_keeps_its_ends(page: str, findings: Findings) -> None:
    assert (findings.trace.groupby("run_id").size() == 10_000).sum() == 1
    curves = data_of(page)["curves"]
    (long,) = [curve for curve in curves if curve["k"][-1] == 9999]
    assert long["k"][:3] == [0, 1, 2]
    assert len(long["k"]) <= CURVE_ROWS
    assert len({len(column) for name, column in long.items() if isinstance(column, list)}) == 1


def test_nonfinite_is_null_and_zero_stays_zero(findings: Findings) -> None:
    trace = findings.trace.copy()
    first = trace["run_id"] == trace["run_id"].iloc[0]
    trace.loc[first & (trace["k"] == 1), "gap"] = np.inf
    trace.loc[first & (trace["k"] == 2), "gap"] = np.nan
    trace.loc[first & (trace["k"] == 3), "gap"] = 0.0
    curve = data_of(html(replace(findings, trace=trace)))["curves"][0]
    assert curve["gap"][1:4] == [None, None, 0]


def test_solver_looks_the_same_in_tables_and_curves(page: str) -> None:
    for solver in data_of(page)["solvers"]:
        if "<" in solver["label"]:
            continue
        dash = (
            "" if solver["dash"] == "solid" else solver["dash"].replace("px", "").replace(",", " ")
        )
        drawn = f'stroke="{solver["colour"]}" stroke-width="2.4" stroke-dasharray="{dash}"'
        named = re.escape(solver["label"]).replace(r"\[", r"(?:<wbr>)?\[")
        chips = re.findall(rf"<line [^>]*?({re.escape(drawn)})?/></svg><span>{named}</span>", page)
        assert chips
        assert all(chips)


def test_picture_cells_name_their_atoms(page: str, findings: Findings) -> None:
    (picture,) = data_of(page)["pictures"]
    leaders = np.array([*picture["leaders"], -1])
    rows = [
        np.repeat([-1 if i is None else i for i in row[::2]], row[1::2]) for row in picture["cells"]
    ]  # value, count, value, count, …
    index = np.array(rows)
    np.testing.assert_array_equal(leaders[index], findings.pictures[0].cells)
    assert len(set(picture["colours"])) == len(picture["leaders"]) == 7


def test_report_of_no_run_opens() -> None:
    page = html(empty_findings())
    assert "There was no run." in page
    assert len(page) < 100_000


def test_report_of_failed_runs_only_opens(findings: Findings) -> None:
    runs = findings.runs[findings.runs["status"] == "memory"]
    page = html(replace(empty_findings(), runs=runs))
    assert [row[0] for row in rows_of(page, "all")] == ["memory"]


def test_columns_of_nulls_open(findings: Findings) -> None:
    kept = {"run_id", "instance", "instance_label", "solver_label", "status", "kind"}
    runs = findings.runs.copy()
    runs[[name for name in runs if name not in kept]] = None
    trace = findings.trace.copy()
    trace[[name for name in trace if name not in {"run_id", "k"}]] = None
    page = html(replace(findings, runs=runs, trace=trace))
    assert len(rows_of(page, "all")) == len(runs)
