import json
import re
from dataclasses import replace
from functools import cache
from html import unescape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, unquote

import numpy as np

from fwbench.analysis.findings import Findings
from fwbench.errors import visible
from fwbench.report import words
from fwbench.report.html import MARKS, TEMPLATES, html
from fwbench.report.selection import CURVE_ROWS, FAILED, failures

from .made_findings import HOSTILE, TRACEBACK, empty_findings, made_findings

# The report's own part: everything but plotly's script and the data of the runs.
MOST_BYTES = 6_000_000
STYLE = (TEMPLATES / "style.css").read_text()
STATE_JS = "// What a reader chose"
READABLE, VISIBLE = 4.5, 3.0  # WCAG 2.2: contrast of text, of lines that mean something


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


@cache
def reader(page: str) -> Reader:
    return Reader(page)


def rows_of(page: str, table: str) -> list[list[str]]:
    return [row for row in reader(page).tables[table] if row]


def part(page: str, section: str) -> str:
    start = page.index(f'<section id="{section}"')
    return page[start : page.index("</section>", start)]


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
    assert [tag for tag, _ in reader(page).tags].count("script") == 3


def test_nothing_is_loaded_from_outside(page: str) -> None:
    tags = reader(page).tags
    for tag, attributes in tags:
        for name in ("src", "srcset", "href", "action", "poster", "background"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
        assert tag not in {"link", "iframe", "object", "embed", "base"}
    policies = [a["content"] for t, a in tags if t == "meta" and "http-equiv" in a]
    assert policies == [
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data: blob:"
    ]
    assert not re.search(r"url\(|@import", STYLE)


def test_no_button_sends_the_chart_away(page: str) -> None:
    assert "showSendToCloud: false" in page[page.index(STATE_JS) :]


def test_page_is_small(page: str) -> None:
    data = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert data
    assert len(page.encode()) - len(data[1].encode()) < MOST_BYTES


def test_equal_findings_give_equal_pages(page: str) -> None:
    assert html(made_findings()) == page


def test_first_line_says_what_made_it_and_leads_to_more(page: str, findings: Findings) -> None:
    head = page[page.index("<header>") : page.index("</header>")]
    for shown in (f"{len(findings.runs)} runs: 7 solvers on 6 instances", "2026-09-14 10:21",
                  "fwbench 0.1.0", "Imaginary CPU", 'href="#environment"'):  # fmt: skip
        assert shown in head


def test_first_line_says_how_many_runs_failed(page: str, findings: Findings) -> None:
    count = len(failures(findings))
    assert count > 1
    assert f"{count} runs failed, " in page[page.index("<header>") : page.index("</header>")]
    bad = [row["run_id"] for row in failures(findings)]
    runs = findings.runs[~findings.runs["run_id"].isin(bad)]
    assert "no run failed." in html(replace(empty_findings(), runs=runs))


def test_instances_that_share_a_label_have_their_full_names(findings: Findings) -> None:
    first, second, *_ = instances = list(dict.fromkeys(findings.runs["instance"]))
    tables = {name: getattr(findings, name) for name in ("runs", "winners")}
    same = {
        name: table.assign(
            instance_label=table["instance_label"].mask(
                table["instance"].isin([first, second]), "alike"
            )
        )
        for name, table in tables.items()
    }
    made = html(replace(findings, **same))
    options = re.findall(r'<option value="([^"]*)" data-name', made)
    assert len(set(options)) == len(instances)
    assert {first, second} <= {unescape(option) for option in options}
    found = re.search(r'id="data">(.*?)</script>', made, re.S)
    assert found
    data = json.loads(found[1])
    assert len(data["instances"]) == len(set(data["instances"])) == len(data["captions"])
    assert "alike" not in made


def test_environment_holds_what_repeats_the_runs(page: str) -> None:
    made = part(page, "environment")
    for shown in (
        "fwbench run -p &#39;polygon[k=7]&#39; -p digits # &lt;script&gt;alert(2)&lt;/script&gt;",
        "<dt>revision</dt><dd>0123456789ab with changes</dd>",
        "<dt>numpy</dt><dd>2.4.6</dd>",
        "<dt>seeds</dt><dd>0</dd>",
        "<dt>threads</dt><dd>1</dd>",
        "<dt>python</dt><dd>3.11.2</dd>",
    ):
        assert shown in made
    assert "resumed" not in made


def test_environment_says_what_the_command_does_not(findings: Findings) -> None:
    runs = findings.runs.copy()
    runs["attempts"] = [3, *[1] * (len(runs) - 1)]
    runs["host"] = ["one", *["two"] * (len(runs) - 1)]
    runs["noisy"] = [True, True, *[False] * (len(runs) - 2)]
    budget = {"tol": 1e-8, "max_steps": 5000, "max_seconds": 10.0}
    manifest = {"command": ["fwbench run quick", "fwbench run paper"], "budgets": [budget]}
    made = part(html(replace(findings, runs=runs, manifest=manifest)), "environment")
    for shown in (
        "fwbench run quick</pre><pre",
        "fwbench run paper</pre>",
        f"1 run of {len(runs)} took more than one attempt",
        "2 hosts: one, two",
        f"2 runs of {len(runs)} had company",
        "<dd>tol 1e-08,<wbr> at most 5000 steps and 10 s</dd>",
    ):
        assert shown in made
    unknown = part(html(replace(findings, manifest={})), "environment")
    assert "Which command made these runs is not known." in unknown


def test_links_within_the_page_lead_somewhere(page: str) -> None:
    tags = reader(page).tags
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    instances = {a["value"] for t, a in tags if t == "option" and "data-name" in a}
    assert len(instances) == 6
    links = [a["href"] or "" for t, a in tags if t == "a"]
    assert len(links) > 50
    for link in links:
        words = dict(parse_qsl(link[1:])) or {"at": link[1:]}
        assert words["at"] in ids, link
        assert words.get("instance", "") in instances | {""}, link


def test_bar_names_the_sections_in_their_order(page: str) -> None:
    nav = page[page.index("<nav") : page.index("</nav>")]
    sections = [a["id"] for t, a in reader(page).tags if t == "section"]
    assert re.findall(r'href="#(\w+)"', nav) == sections
    assert {"overview", "curves", "rates", "points", "failures", "runs", "environment"} <= set(
        sections
    )
    assert '"#failures"' not in html(empty_findings())


def test_choices_of_the_bar_fit_the_rows(page: str, findings: Findings) -> None:
    tags = reader(page).tags
    solvers = {a["value"] for t, a in tags if t == "input" and a.get("type") == "checkbox"}
    names = {a["data-name"] for t, a in tags if t == "option" and "data-name" in a}
    assert solvers == set(findings.runs["solver_label"])
    assert names == set(findings.runs["instance"])
    rows = [a for t, a in tags if t == "tr"]
    assert {a["data-solver"] for a in rows if "data-solver" in a} == solvers
    assert {a["data-instance"] for a in rows if "data-instance" in a} >= names
    for mark in ("data-solver=", "data-instance="):
        assert part(page, "runs").count(mark) == len(findings.runs)


def test_tables_have_a_heading_for_each_column(page: str) -> None:
    read = reader(page)
    sortable = {a["id"] for t, a in read.tags if t == "table" and a.get("class") == "sortable"}
    assert {"winners", "all", "failed"} <= sortable
    for table in sortable:
        start = page.index(f'<table id="{table}"')
        heads = page[start : page.index("</thead>", start)].count("<button")
        widths = {len(row) for row in read.tables[table or ""] if row}
        assert widths == {heads}, table


def test_attributes_hold_only_letters_that_are_seen(findings: Findings) -> None:
    runs = findings.runs.copy()
    name = "digits\x1b[31m\u202egnol"
    runs["instance"] = runs["instance_label"] = name
    runs["reason"] = "\x1b[2Jgone\u2066"
    page = html(replace(findings, runs=runs))
    titles = [a["title"] or "" for _, a in reader(page).tags if "title" in a]
    assert visible(name) in titles
    assert [title for title in titles if title != visible(title)] == []
    assert "\x1b" not in part(page, "runs").replace(f'data-instance="{name}"', "")


def test_every_run_has_a_row_and_failures_come_first(page: str, findings: Findings) -> None:
    rows = rows_of(page, "all")
    assert len(rows) == len(findings.runs)
    failed = findings.runs[findings.runs["status"].isin(FAILED)]
    assert {row[0] for row in rows[: len(failed)]} == set(failed["status"])
    for run in failed.itertuples():
        (row,) = [r for r in rows if r[0] == run.status and r[2] == run.solver_label]
        assert run.instance_label == row[1]
        assert run.reason in row[-1]


def test_failures_have_a_section_with_all_that_is_known(page: str, findings: Findings) -> None:
    failed = findings.runs[findings.runs["status"].isin(FAILED)]
    rows = {row[0]: row for row in rows_of(page, "failed")}
    assert set(rows) == set(failed["status"])
    assert rows["crashed"][1] == "SIGSEGV"
    assert TRACEBACK in rows["error"][-1]
    assert [status for status, row in rows.items() if "Traceback" in row[-1]] == ["error"]
    assert "<b>3</b> cvxpy_reference runs on convex kinds only" in part(page, "failures")


def test_like_failures_share_a_line_of_the_first_screen(findings: Findings) -> None:
    runs = findings.runs.copy()
    runs["status"], runs["reason"] = "memory", "asked for 81 GB"
    page = html(replace(findings, runs=runs))
    aside = page[page.index("<aside>") : page.index("</aside>")]
    assert aside.count("<li>") == 5 < runs["solver_label"].nunique()
    assert aside.count("6 runs") == 5
    assert f"All {len(runs)} failed runs" in aside


def test_every_failure_stands_on_the_first_screen(page: str, findings: Findings) -> None:
    aside = page[page.index("<aside>") : page.index("</aside>")]
    for status in FAILED:
        assert f'<span class="status bad">{status}</span> 1' in aside
    assert "skipped" in aside


def test_winner_table_shows_one_row_a_place(page: str) -> None:
    shown = [a for t, a in reader(page).tags if t == "tr" and a.get("data-tightest") == "1"]
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
    data = data_of(page)
    columns = data["columns"]
    (long,) = [curve for curve in data["curves"] if columns[curve["k"]][-1] == 9999]
    assert columns[long["k"]][:3] == [0, 1, 2]
    assert len(columns[long["k"]]) <= CURVE_ROWS
    drawn = [long[name] for name in ("k", "seconds", "lmo", "suboptimality", "gap")]
    assert len({len(columns[place]) for place in drawn}) == 1


def test_nonfinite_is_null_and_zero_stays_zero(findings: Findings) -> None:
    trace = findings.trace.copy()
    first = trace["run_id"] == trace["run_id"].iloc[0]
    trace.loc[first & (trace["k"] == 1), "gap"] = np.inf
    trace.loc[first & (trace["k"] == 2), "gap"] = np.nan
    trace.loc[first & (trace["k"] == 3), "gap"] = 0.0
    data = data_of(html(replace(findings, trace=trace)))
    assert data["columns"][data["curves"][0]["gap"]][1:4] == [None, None, 0]


def test_solver_looks_the_same_in_tables_and_curves(page: str) -> None:
    for place, solver in enumerate(data_of(page)["solvers"]):
        if "<" in solver["label"]:
            continue
        dash = (
            "" if solver["dash"] == "solid" else solver["dash"].replace("px", "").replace(",", " ")
        )
        named = re.escape(solver["label"]).replace(r"\[", r"(?:<wbr>)?\[")
        chips = set(re.findall(rf'<i class="chip chip-(\d+)"></i><span>{named}</span>', page))
        assert chips == {str(place)}
        (rule,) = re.findall(rf'\.chip-{place} .*url\("data:image/svg\+xml,(.*)"\);', page)
        drawn = unquote(rule)
        assert f'stroke="{solver["colour"]}"' in drawn
        assert f'stroke-dasharray="{dash}"' in drawn
        assert MARKS[solver["symbol"]] in drawn


def test_every_symbol_has_a_mark() -> None:
    assert set(MARKS) == set(words.SYMBOLS)


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


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def variables() -> list[dict[str, str]]:
    """Return the colours of the page by name: of the light one, and of the dark one."""
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", STYLE)
    return [{name: pair[i] for name, *pair in pairs} for i in (0, 1)]


def test_text_can_be_read_light_and_dark() -> None:
    light, dark = variables()
    assert luminance(light["paper"]) > 0.9 > 0.02 > luminance(dark["paper"])
    for colours in (light, dark):
        for ground in ("paper", "soft", "raised"):
            for ink in ("ink", "dim", "link", "bad", "good", "warn"):
                assert contrast(colours[ink], colours[ground]) >= READABLE, (ink, ground)
        for tone in ("good", "fair", "warn", "bad"):
            assert contrast(colours[tone], colours[f"{tone}-soft"]) >= READABLE, tone


def test_colours_of_solvers_show_on_dark_and_are_seven() -> None:
    light, dark = variables()
    assert len(set(words.COLOURS)) == 7
    for colour in words.COLOURS:
        assert contrast(colour, dark["paper"]) >= VISIBLE, colour
        # the orange and the sky blue of Okabe and Ito are pale; dashes and symbols help
        assert contrast(colour, light["paper"]) >= 2.2, colour
