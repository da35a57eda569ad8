"""A comparison in words: on a terminal, as Markdown for a pull request, as a page."""

import io
import re
from html.parser import HTMLParser

import pytest
from rich.console import Console

from fwbench.analysis.changes import Verdict
from fwbench.analysis.chronicle import chronicle
from fwbench.analysis.comparison import compared
from fwbench.report import differences, history
from fwbench.report.comparison import markdown, page, terminal

from .made_sides import falling, noise, run, side, timed, trace

HOSTILE = "<script>alert(1)</script> | `x` [bold]b[/] \x1b[31m $x$"


def printed(comparison, width=160):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(terminal(comparison))
    return console.export_text()


def twice():
    return run(trace=trace(falling(0.4), lmo=range(0, 42, 2)))


@pytest.fixture
def worse():
    other = {"solver": "t", "solver_label": "t", "run_id": "1"}
    third = {"solver": "u", "solver_label": "u", "run_id": "2"}
    return compared(
        side(run(), run(**other), run(**third), name="old"),
        side(twice(), run(**other, rate_class="undetermined"), name="new"),
    )


def test_all_targets_of_a_run_share_a_line():
    shown = differences.lines(compared(side(run()), side(twice()), exact_only=True))
    assert [line.quantity for line in shown] == ["oracle calls to 1e-07", "oracle calls at equal k"]
    assert "and 6 more targets" in shown[0].detail


def test_repetitions_share_a_line():
    base = [run(run_id=str(i), repetition=i) for i in range(3)]
    new = [run(run_id=str(i), repetition=i, status="budget") for i in range(3)]
    [line] = differences.lines(compared(side(*base), side(*new), exact_only=True))
    assert "in 3 repetitions" in line.detail


def test_solvers_at_several_tolerances_are_told_apart():
    base = [run(), run(tol=1e-4, run_id="1")]
    new = [run(status="budget"), run(tol=1e-4, run_id="1", status="budget")]
    shown = differences.lines(compared(side(*base), side(*new), exact_only=True))
    assert {line.solver for line in shown} == {"s at 1e-08", "s at 1e-04"}


def test_values_have_as_many_digits_as_it_takes():
    assert differences.both(1.0, 1.0 + 2**-52) == ("1", "1.0000000000000002")
    assert differences.both(None, "x" * 300)[1].endswith("…")
    assert differences.both(1300, 1184) == ("1300", "1184")
    assert differences.both(100_000.0, 100_001.0) == ("100000", "100001")
    assert differences.both(1.0, 2e300) == ("1", "2e+300")


def test_a_terminal_shows_what_is_worse_first(worse):
    text = printed(worse)
    places = [text.index(word) for word in ("Worse: 2", "Changed, neither", "Missing: 1", "u on p")]
    assert places == sorted(places)
    assert text.strip().splitlines()[-1] == (
        "Worse: of 2 comparisons 1 worse, 1 changed; 1 missing; timings: 4 same."
    )


def test_a_narrow_terminal_breaks_no_names():
    names = {"solver_label": "my_pairwise", "instance_label": "min_norm_point[n=1000,d=50,shift=1]"}
    moved = compared(side(run(**names)), side(run(**names, rate_class="sublinear")))
    slower = compared(side(*timed(noise(1), **names)), side(*timed(1.5 * noise(2), **names)))
    steps = chronicle(days(6, always=names, steps=40))
    for made in (terminal(moved), terminal(slower), history.terminal(steps)):
        console = Console(width=80, record=True, file=io.StringIO())
        console.print(made)
        lines = console.export_text().splitlines()
        assert max(map(len, lines)) <= 80
        assert any("min_norm_point[n=1000,d=50,shift=1]" in line for line in lines)
    notes = [line for line in printed(moved, 60).splitlines() if "equal k" in line]
    assert notes == ["     values at equal k are compared bit by bit"]


def test_markdown_says_the_verdict_in_its_first_line(worse):
    text = markdown(worse)
    first = text.splitlines()[0]
    assert first.startswith("**fwbench: worse**; of 2 comparisons 1 worse")
    assert len(first) < 200
    head, folded = text.split("<details>", 1)
    assert "oracle calls" in head
    assert "rate class" in folded
    assert text.count("<details>") == text.count("</details>") == 3


def test_markdown_has_at_most_so_many_rows():
    names = [{"solver": f"s{i}", "solver_label": f"s{i}", "run_id": str(i)} for i in range(50)]
    comparison = compared(
        side(*(run(**name) for name in names)),
        side(*(run(**name, status="budget") for name in names)),
        exact_only=True,
    )
    text = markdown(comparison, rows=7)
    assert len(re.findall(r"^\| `s\d+`", text, re.M)) == 7
    assert "and 43 more" in text
    assert "Worse: 50" in printed(comparison)
    assert "… and 10 more" in printed(comparison)


def test_names_are_text_everywhere():
    names = {"solver_label": HOSTILE, "instance_label": HOSTILE}
    base = side(run(**names), name=HOSTILE, cpu=HOSTILE)
    new = side(run(**names, status="budget", reason=HOSTILE), name=HOSTILE, cpu=HOSTILE)
    comparison = compared(base, new)
    text = markdown(comparison)
    assert "<script>" not in re.sub(r"`+ .*? `+", "", text)
    html = page(comparison, HOSTILE)
    assert "<script" not in html
    assert "\x1b" not in printed(comparison) + text + html
    assert "[bold]b[/]" in printed(comparison, 300)


class Tags(HTMLParser):
    """Which elements stand open, and whether each is closed in its turn."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "wbr", "link", "br", "path", "use", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ("path", "use", "rect"):
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_the_page_is_whole_and_loads_nothing(worse):
    html = page(worse, "fwbench compare old new")
    tags = Tags()
    tags.feed(html)
    assert (tags.open, tags.wrong) == ([], [])
    assert "//" not in html.replace("<!doctype", "")
    for said in ("Comparison: worse", "oracle calls to 1e-07", "u on p", "fwbench compare old new"):
        assert said in html


def test_timings_are_shown_with_their_intervals():
    base, new = timed(noise(1)), timed(1.5 * noise(2))
    comparison = compared(side(*base), side(*new))
    for text in (printed(comparison), markdown(comparison), page(comparison, "x")):
        assert "slower" in text
        assert re.search(r"1\.4\d? \(1\.\d+ … 1\.\d+\)|1\.5\d? \(1\.\d+ … 1\.\d+\)", text)
    few = compared(side(*base[:3]), side(*new[:3]))
    for text in (printed(few), markdown(few), page(few, "x")):
        assert "3 pairs of repetitions, 8 needed" in text
    assert "8 needed" not in page(comparison, "x")


def test_a_comparison_that_found_nothing_is_short():
    same = compared(side(run()), side(run()))
    assert printed(same).strip().splitlines()[-1] == (
        "The same: 1 comparison, all exact quantities equal; timings: 2 same."
    )
    nothing = compared(side(run(), name="a"), side(name="b"), exact_only=True)
    assert "Inconclusive: nothing in a and b can be matched." in printed(nothing)
    assert Verdict.SAME.swapped is Verdict.SAME


# -- over time ---------------------------------------------------------------------------------


def days(count, always=None, **later):
    for day in range(count):
        columns = (always or {}) | (later if day >= count // 2 else {})
        yield side(run(**columns), name=f"run-{day}", created=f"2026-01-{day + 1:02d}T00:00:00")


def test_a_history_shows_what_stepped_when():
    made = chronicle(days(6, steps=40, status="budget", solver_label="s", instance_label="p"))
    drawn = history.figures(made)
    assert list(drawn) == ["s"]
    html = history.page(made, drawn, ["a note"], "fwbench history d")
    tags = Tags()
    tags.feed(html)
    assert tags.wrong == []
    assert not re.search(r'(src|href)="(?!#)', html)
    for said in ("run-3 2026-01-04 00:00", "steps", "20", "40", "converged", "a note"):
        assert said in html
    assert set(history.files(drawn)) == {"history-01.png", "history-01.pdf"}
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(history.terminal(made))
    assert (
        "6 run folders: 2 changes of exact quantities, 0 steps in 1 line of seconds"
        in console.export_text()
    )


def test_equal_histories_are_drawn_alike():
    pages = []
    for _ in range(2):
        made = chronicle(days(4, seconds=2e-3))
        pages.append(history.page(made, history.figures(made), [], "x"))
    assert pages[0] == pages[1]


def test_a_history_of_hostile_names_is_drawn():
    made = chronicle(days(3, solver_label=HOSTILE, instance_label=HOSTILE))
    html = history.page(made, history.figures(made), [HOSTILE], HOSTILE)
    assert "<script" not in html
    assert "\x1b" not in html
