import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fwbench as fw
from fwbench import cards
from fwbench.analysis.contests import Contest
from fwbench.analysis.findings import Findings
from fwbench.blocks import Blocks
from fwbench.errors import InvalidParameter
from fwbench.results import Results
from fwbench.trace import Columns

from .made_findings import HOSTILE, empty_findings
from .test_profiles import made

ROOT = Path(__file__).resolve().parents[2]
VOID = {"br", "hr", "img", "meta", "link", "input"}
PLOTTED = ("curves", "rates", "seed_rates", "fixed_points", "planes", "growth", "standings",
           "layers")  # fmt: skip


class Reader(HTMLParser):
    """Reads HTML that must be well-formed; keeps the text and the tags."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


def read(shown: str) -> Reader:
    reader = Reader()
    reader.feed(shown)
    reader.close()
    assert reader.open == []
    assert not {"script", "link", "img", "style", "iframe"} & set(reader.tags)
    return reader


@pytest.fixture(scope="module")
def results(findings: Findings) -> Results:
    heads = findings.heads.assign(instance=findings.layers["instance"].iloc[0])
    return Results(Path("a <b> folder"), replace(findings, profiles=made(), heads=heads))


# -- HTML ----------------------------------------------------------------------------------------


def test_results_show_a_headline_and_a_table(results: Results) -> None:
    shown = read(results._repr_html_())
    assert "42: " in shown.text
    assert "a <b> folder" in shown.text
    assert HOSTILE in shown.text  # as text
    assert "2 of 42 rows are left out" in shown.text
    assert "wrong: claimed optimal" in shown.text
    assert shown.tags.count("tr") == 4 + 1 + 40


def test_a_headline_counts_first_places_as_the_report_does(findings: Findings) -> None:
    from fwbench.report import notebook, standings

    told = [(row["solver"], row["cells"][1][0], row["cells"][2][0])
            for row in standings.table(findings) if row["cells"][1][1]]  # fmt: skip
    shown = read(notebook.results(findings, "f")).text
    assert ", ".join(f"{name} {n} ({sure} surely)" for name, n, sure in told) in shown
    assert told
    assert "\nnobody\n" in read(notebook.results(empty_findings(), "f")).text


def test_a_failed_run_comes_first(results: Results) -> None:
    text = read(results._repr_html_()).text
    assert text.index("wrong\n") < text.index("converged\n")


def test_results_of_failed_runs_alone_show_themselves(findings: Findings) -> None:
    failed = findings.runs[findings.runs["status"].isin(["wrong", "crashed", "memory"])]
    shown = read(Results(Path("x"), replace(empty_findings(), runs=failed))._repr_html_())
    assert f"{len(failed)}: {HOSTILE} on " in shown.text


def test_results_without_a_run_show_themselves() -> None:
    empty = Results(Path("x"), empty_findings())
    assert "none" in read(empty._repr_html_()).text
    for name in PLOTTED:
        assert "no row" in read(getattr(empty, name)()._repr_html_()).text
    with pytest.raises(InvalidParameter, match="without profiles"):
        empty.profiles()


@pytest.mark.parametrize("name", [*PLOTTED, "profiles"])
def test_every_finding_shows_itself(results: Results, name: str) -> None:
    assert "table" in read(getattr(results, name)()._repr_html_()).tags


def test_names_of_columns_and_cells_are_no_markup() -> None:
    shown = read(cards.table(["<i>a</i>"], [["<b>\x1b[31m"]], "<u>"))
    assert {"i", "b", "u"} & set(shown.tags) == set()
    assert r"\x1b[31m" in shown.text
    assert "<hr>" in read(cards.card("<hr>", {"<p>": "<q>"})).text
    assert "<s>" in read(cards.folded("<s>", "")).text


# -- one problem, one solution -------------------------------------------------------------------


def test_a_problem_in_the_plane_has_a_picture() -> None:
    square = fw.QuadraticOverHull([[0, 0], [1, 0], [0, 1], [1, 1], [0.5, 0.5]], start=[0, 3])
    shown = read(square._repr_html_())
    assert "5 in 2 dimensions, float64, in memory" in shown.text
    assert "convex" in shown.text
    assert "Scalar" in shown.text
    assert shown.tags.count("circle") == 5 + 2
    assert "polygon" in shown.tags


def test_the_outline_is_the_hull_and_upright() -> None:
    points = np.random.default_rng(1).standard_normal((300, 2))
    corners = cards.hull(points)
    following = np.roll(corners, -1, axis=0) - corners
    for point in points:
        away = point - corners
        turns = following[:, 0] * away[:, 1] - following[:, 1] * away[:, 0]
        assert (turns >= -1e-12).all()
    drawn = cards.outline(np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 2.0]]))
    assert f'cx="{cards.RIM + cards.SIDE / 2}" cy="{cards.RIM}" r="4"' in drawn  # high is up


@pytest.mark.parametrize("atoms", [[[1.0, 1.0]], [[1.0, 1.0]] * 3, [[0.0, 0.0], [1.0, 0.0]]])
def test_thin_hulls_show_themselves(atoms: list[list[float]]) -> None:
    assert "dimensions" in read(fw.QuadraticOverHull(atoms)._repr_html_()).text


def test_a_problem_that_is_refused_says_so() -> None:
    shown = read(fw.QuadraticOverHull([[1e200, 0.0], [0.0, 1e200]])._repr_html_())
    assert "overflow" in shown.text


def test_nothing_costly_is_looked_for(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.eye(3))
    blocks = fw.QuadraticOverHull(Blocks(tmp_path))
    shown = read(blocks._repr_html_())
    assert "in blocks" in shown.text
    assert "scale" not in shown.text
    assert "kind" not in blocks.__dict__
    wide = fw.QuadraticOverHull(np.zeros((2, 501)))
    wide._repr_html_()
    assert "kind" not in wide.__dict__


def test_a_solution_shows_itself_with_its_trace() -> None:
    triangle = fw.QuadraticOverHull([[1, 0], [0, 1], [2, 2]])
    plain = fw.solve(triangle, "away_steps")
    assert "Solution by away_steps" in read(plain._repr_html_()).text
    traced = fw.solve(triangle, "frank_wolfe", trace=True, max_steps=500)
    shown = read(traced._repr_html_())
    assert "details" in shown.tags
    assert "gap_current" not in shown.text
    assert isinstance(traced.trace, dict)
    assert traced.trace["k"][0] == 0


def test_of_a_long_trace_both_ends_are_shown() -> None:
    columns = Columns({"k": list(range(1000)), "gap": [0.5] * 1000, "energy": [None] * 1000})
    shown = read(columns._repr_html_())
    assert "\n0\n" in shown.text
    assert "\n999\n" in shown.text
    assert "energy" not in shown.text
    assert "of 1000 rows are left out" in shown.text
    assert "table" in read(Columns()._repr_html_()).tags


# -- axes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*PLOTTED, "profiles"])
def test_every_finding_can_be_drawn(results: Results, name: str) -> None:
    axes = getattr(results, name)().plot()
    assert isinstance(axes, Axes)
    assert axes._repr_png_().startswith(b"\x89PNG")
    assert axes.has_data()


def test_given_axes_are_drawn_on(results: Results) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert results.curves().plot(left, against="seconds", solvers=["away_steps"]) is left
    assert results.profiles().plot(right, kind="data", target=1e-2) is right
    assert len(left.lines) == 1
    assert right.get_title() == "data profile, to 1e-02 of the scale"


def test_one_solver_needs_no_list(results: Results) -> None:
    axes = results.curves().plot(Figure().subplots(), against="seconds", solvers="away_steps")
    assert len(axes.lines) == 1


def test_rests_have_the_names_of_instance_and_solver(results: Results) -> None:
    found = results.fixed_points()
    assert len(found) == len(results.findings.fixed_points)
    names = results.runs.set_index("run_id")["solver_label"]
    assert (found["solver_label"] == found["run_id"].map(names)).all()
    assert "away_steps" in read(found._repr_html_()).text


def test_a_prompt_shows_no_more_than_a_table(results: Results) -> None:
    assert repr(results) == f"Results({str(results.folder)!r}, {len(results.runs)} runs)"
    assert repr(results.curves()).startswith("Curves\n")
    for name in (*PLOTTED, "profiles"):
        assert len(repr(getattr(results, name)()).split("\n")) < 70, name


def test_what_is_drawn_can_be_chosen(results: Results) -> None:
    axes = results.curves().plot(instance="digits[class=3,target=8]", measure="gap")
    assert axes.get_title() == "digits[class=3,target=8]"
    assert axes.get_ylabel() == "gap"
    by_seed = results.curves().plot(instance="digits[target=8,seed=0]")
    assert by_seed.get_title() == "digits[class=3,target=8]"
    axes = results.growth().plot(against="d")
    assert axes.get_xlabel() == "d"


@pytest.mark.parametrize(
    ("name", "choice", "says"),
    [
        ("curves", {"instance": "digit"}, "no instance is called 'digit'"),
        ("curves", {"measure": "gab"}, "no measure is called 'gab'; did you mean gap"),
        ("curves", {"against": "hours"}, "no axis is called 'hours'"),
        ("curves", {"solvers": ["away_step"]}, "did you mean away_steps"),
        ("rates", {"solver": "nobody"}, "no solver is called 'nobody'"),
        ("fixed_points", {"instance": "x"}, "no instance is called 'x'"),
        ("growth", {"regime": "x"}, "no regime is called 'x'"),
        ("profiles", {"target": 0.5}, "profiles are made to 1e-08, 1e-02 of the scale; got 0.5"),
        ("profiles", {"cost": "hours"}, "no cost is called 'hours'"),
        ("profiles", {"target": "1e-2"}, "profiles are made to 1e-08, 1e-02"),
        ("profiles", {"costs": "lmo"}, "no choice 'costs'; name what is drawn: kind, cost, target"),
        ("curves", {"solver": "x"}, "no choice 'solver'; name what is drawn: instance, solvers"),
        ("curves", {"solvers": "away_step"}, "'away_step'; did you mean away_steps"),
        ("curves", {"axes": "digits"}, "one matplotlib Axes; got str; name what is drawn: inst"),
        ("profiles", {"axes": Figure()}, "one matplotlib Axes; got Figure"),
        ("standings", {"instance": "x"}, "no choice 'instance'; there is nothing to choose"),
    ],
)
def test_a_wrong_choice_is_named(
    results: Results, name: str, choice: dict[str, object], says: str
) -> None:
    with pytest.raises(InvalidParameter, match=says):
        getattr(results, name)().plot(**choice)


@pytest.mark.parametrize("name", PLOTTED)
def test_nothing_to_draw_is_said(name: str) -> None:
    with pytest.raises(InvalidParameter):
        getattr(Results(Path("x"), empty_findings()), name)().plot()


def test_the_law_is_drawn_over_its_window(results: Results) -> None:
    runs = results.runs
    some = runs[runs["rate_class"].isin(["sublinear", "linear"]) & runs["rate"].notna()].iloc[0]
    axes = results.rates().plot(instance=some["instance"], solver=some["solver_label"])
    law = axes.lines[-1]
    x = np.asarray(law.get_xdata(), dtype=float)
    assert x[0] >= max(some["rate_from"], 1)
    assert x[-1] <= some["rate_to"]


def test_profiles_keep_the_tables(results: Results) -> None:
    found = results.profiles()
    assert isinstance(found.contests[0], Contest)
    assert found.steps is results.findings.profiles.steps  # type: ignore[union-attr] # made


def test_matplotlib_is_loaded_by_a_plot_alone() -> None:
    code = """
import sys
from pathlib import Path
from fwbench.results import Results
from tests.report.made_findings import made_findings
results = Results(Path("x"), made_findings())
for shown in (results, results.rates(), results.planes(), results.curves()):
    shown._repr_html_()
assert "matplotlib" not in sys.modules
axes = results.curves().plot()
assert "matplotlib.pyplot" not in sys.modules
axes._repr_png_()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
