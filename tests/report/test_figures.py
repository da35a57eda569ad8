import re
import zlib
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from fwbench.analysis.bands import bands
from fwbench.analysis.findings import Findings
from fwbench.report import canvas, selection, words
from fwbench.report.captions import captions
from fwbench.report.exhibits import Convergence, Overview, convergences, exhibits
from fwbench.report.figures import convergence, draw, figures, growth, overview

from .made_findings import HOSTILE, empty_findings, made_findings


@pytest.fixture(scope="module")
def drawn(findings: Findings) -> dict[str, bytes]:
    return figures(findings)


def some(findings: Findings, instance: str) -> Convergence:
    return next(one for one in convergences(findings) if one.instance.startswith(instance))


def test_all_figures_are_there_in_both_formats(drawn: dict[str, bytes]) -> None:
    stems = [
        "overview",
        "convergence-min_norm_point-n=1000-d=50-shift=1",
        "convergence-min_norm_point-n=200-d=20-inside",
        "convergence-polygon-k=7",
        "convergence-digits-class=3-target=8",
        "convergence-token_cloud-name=four-one",
        "convergence-attention_head-layer=4-head=7",
        "plane-polygon-k=7",
        "ratios",
        "growth",
        "profile-defaults-lmo",
        "profile-defaults-seconds",
    ]
    assert list(drawn) == [f"{stem}.{suffix}" for stem in stems for suffix in ("png", "pdf")]
    for name, content in drawn.items():
        assert content.startswith(b"\x89PNG" if name.endswith("png") else b"%PDF"), name


def test_equal_findings_give_equal_files(findings: Findings) -> None:
    label = findings.pictures[0].label
    few = [
        replace(f, runs=f.runs[f.runs["instance_label"] == label], profiles=None)
        for f in (findings, made_findings())
    ]
    assert figures(few[0]) == figures(few[1])


def test_drawing_leaves_the_settings_of_matplotlib_alone(findings: Findings) -> None:
    before = dict(mpl.rcParams)
    figures(replace(empty_findings(), pictures=findings.pictures))
    assert dict(mpl.rcParams) == before


def test_values_without_a_place_are_not_drawn(findings: Findings) -> None:
    shown = some(findings, "min_norm_point[n=200")
    assert any((np.array(c.columns["gap"], dtype=float) == 0).any() for c in shown.curves)
    figure = convergence(shown, words.styles(selection.solvers(findings)))
    for axes in figure.axes:
        for line in axes.lines:
            ys = np.asarray(line.get_ydata(), dtype=float)
            assert (ys[np.isfinite(ys)] > 0).all()
    notes = [axes.get_xlabel().replace("\n", " ") for axes in figure.axes]
    assert any("projected_gradient" in note for note in notes)


def test_methods_without_a_path_are_points(findings: Findings) -> None:
    styles = words.styles(selection.solvers(findings))
    figure = convergence(some(findings, "min_norm_point[n=1000"), styles)
    lines = {line.get_color(): line.get_linestyle() for line in figure.axes[0].lines}
    assert lines[styles["cvxpy_reference"].colour] == "None"
    assert lines[styles["frank_wolfe"].colour] != "None"


def test_legend_stands_outside_of_the_curves(findings: Findings) -> None:
    styles = words.styles(selection.solvers(findings))
    shown = exhibits(findings)["overview"]
    assert isinstance(shown, Overview)
    figure = overview(shown, styles)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert len(figure.axes) == 6
    assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)


@pytest.mark.parametrize("name", ["$\\frac{", "_hidden", "日本語", "../../x", HOSTILE, "a" * 300])
def test_any_name_can_be_drawn(findings: Findings, name: str) -> None:
    runs = findings.runs[findings.runs["solver_label"] == "away_steps"].iloc[:1]
    runs = runs.assign(solver_label=name, instance_label=name)
    made = figures(replace(empty_findings(), runs=runs, trace=findings.trace))
    assert len(made) == 4
    assert all("/" not in file and len(file) < 120 for file in made)


def test_labels_that_look_alike_make_two_files(findings: Findings) -> None:
    runs = findings.runs[findings.runs["solver_label"] == "away_steps"].iloc[:2]
    runs = runs.assign(instance_label=["x[a,b]", "x[a;b]"])
    made = figures(replace(empty_findings(), runs=runs, trace=findings.trace))
    assert {"convergence-x-a-b.png", "convergence-x-a-b~2.png"} <= made.keys()


def test_hull_without_an_inside_can_be_drawn(findings: Findings) -> None:
    (picture,) = findings.pictures
    flat = replace(
        picture,
        atoms=np.array([[0.0, 0.0], [1.0, 0.0]]),
        hull=np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]),
        cells=np.full_like(picture.cells, -1),
        starts=np.array([[0.5, 0.0]]),
        paths=(),
    )
    assert len(figures(replace(empty_findings(), pictures=(flat,)))) == 4


def test_growth_goes_through_the_median_of_each_size() -> None:
    seeds = [(50, 1e-4), (50, 2e-4), (50, 9e-4), (200, 3e-4), (200, 4e-4), (200, 5e-4)]
    regime = selection.Regime("family[d=5]", "n", {"away_steps": seeds})
    (axes,) = growth([regime], words.styles(["away_steps"])).axes
    path, marks = axes.lines
    assert np.allclose(path.get_xydata(), [(50, 2e-4), (200, 4e-4)])
    assert path.get_linestyle() != "None"
    assert np.allclose(marks.get_xydata(), seeds)
    assert marks.get_linestyle() == "None"


def test_seconds_on_an_axis_without_a_decade_are_seconds() -> None:
    regime = selection.Regime("family[d=5]", "n", {"away_steps": [(50, 1.1e-4), (200, 2.2e-4)]})
    figure = growth([regime], words.styles(["away_steps"]))
    figure.draw_without_rendering()
    shown = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert "120 µs" in shown or "160 µs" in shown


def test_no_run_makes_no_figure() -> None:
    assert figures(empty_findings()) == {}


# -- for a paper ---------------------------------------------------------------------------------


def unpacked(pdf: bytes) -> bytes:
    """Return a PDF with its streams inflated, so that what lies in object streams shows too."""
    opened = [pdf]
    for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.S):
        try:
            opened.append(zlib.decompress(part))
        except zlib.error:
            continue  # an image
    return b"".join(opened)


def test_fonts_are_embedded_as_truetype(drawn: dict[str, bytes]) -> None:
    for name, content in drawn.items():
        if name.endswith("pdf"):
            found = unpacked(content)
            assert b"/FontFile2" in found, name
            assert b"/Type3" not in found, name
            assert b"/Subtype /TrueType" in found or b"/CIDFontType2" in found, name


def test_letters_beyond_latin_are_no_type_3_font_either(findings: Findings) -> None:
    runs = findings.runs[findings.runs["solver_label"] == "away_steps"].iloc[:1]
    runs = runs.assign(solver_label="β ≤ 10⁻³ µ", instance_label="Δ[φ=1]")
    made = figures(replace(empty_findings(), runs=runs, trace=findings.trace))
    assert b"/Type3" not in unpacked(made["overview.pdf"])


def test_a_figure_is_as_wide_as_one_column_or_two(drawn: dict[str, bytes]) -> None:
    widths = {
        name: [float(box.split()[2]) / 72 for box in re.findall(rb"/MediaBox \[([^]]*)\]", content)]
        for name, content in drawn.items()
        if name.endswith("pdf")
    }
    for name, found in widths.items():
        assert found[0] == pytest.approx(3.3, abs=0.01) or found[0] == pytest.approx(
            6.9, abs=0.01
        ), name


def test_letters_are_of_7_or_8_points(findings: Findings) -> None:
    styles = words.styles(selection.solvers(findings))
    one_of_each = {type(subject): (stem, subject) for stem, subject in exhibits(findings).items()}
    assert len(one_of_each) >= 5
    for stem, subject in one_of_each.values():
        with canvas.drawing():
            figure = draw(subject, styles)
            figure.draw_without_rendering()
            texts = figure.findobj(Text)
        sizes = {text.get_fontsize() for text in texts if text.get_text().strip()}
        assert sizes, stem
        assert 7 <= min(sizes) <= max(sizes) <= 8, stem


def test_every_figure_has_a_caption(findings: Findings, drawn: dict[str, bytes]) -> None:
    said = captions(findings)
    assert [name.removesuffix(".png") for name in drawn if name.endswith("png")] == list(said)
    for stem, caption in said.items():
        assert "fwbench 0.1.0" in caption, stem
        assert "numpy 2.4.6" in caption, stem
        assert " ".join(caption.split()) == caption, stem


def test_a_caption_says_what_is_left_out_and_why(findings: Findings) -> None:
    caption = captions(findings)["convergence-polygon-k=7"]
    assert caption.startswith("polygon[k=7,seed=0] (concave, n = 7, d = 2): ")
    assert "projected_gradient (skipped: projected_gradient runs on convex kinds" in caption
    assert "Timed on" not in caption  # steps, not seconds
    assert "Timed on Imaginary CPU" in captions(findings)["overview"]


def test_captions_hold_no_letter_that_nobody_sees(findings: Findings) -> None:
    runs = findings.runs.assign(solver_label="a\x1b[31m\u202eb")
    said = captions(replace(findings, runs=runs))
    assert not any(letter in text for text in said.values() for letter in "\x1b\u202e")


def test_nothing_has_no_caption() -> None:
    assert captions(empty_findings()) == {}


# -- bands ---------------------------------------------------------------------------------------


def repeated(findings: Findings) -> Findings:
    """One solver on one instance, three times: the second slower, the third stopped early."""
    runs = findings.runs[findings.runs["solver_label"] == "away_steps"].iloc[:1]
    trace = findings.trace[findings.trace["run_id"] == runs["run_id"].iloc[0]]
    trace = trace[trace["k"] <= 200]
    several = [runs.assign(run_id=f"r{i}", repetition=i) for i in range(3)]
    traces = [
        trace.assign(run_id="r0"),
        trace.assign(run_id="r1", seconds=trace["seconds"] * 3),
        trace[trace["k"] <= 50].assign(run_id="r2"),
    ]
    both = pd.concat(several, ignore_index=True), pd.concat(traces, ignore_index=True)
    return replace(empty_findings(), runs=both[0], trace=both[1], bands=bands(*both))


def test_a_band_ends_where_its_first_member_stopped(findings: Findings) -> None:
    given = repeated(findings)
    (shown,) = convergences(given)
    (band,) = shown.bands["seconds", "gap"]
    stopped = given.trace.loc[given.trace["run_id"] == "r2", "seconds"].max()
    assert band.at[-1] == pytest.approx(stopped)
    assert band.members == band.of == 3
    assert len(band.tails) == 2  # two went on
    for x, _ in band.tails:
        assert x[0] >= band.at[-1]
    assert (band.low <= band.median).all()
    assert (band.median <= band.high).all()


def test_bands_are_drawn_with_their_tails(findings: Findings) -> None:
    given = repeated(findings)
    (shown,) = convergences(given)
    figure = overview(Overview((shown,), ()), words.styles(["away_steps"]))
    (axes,) = figure.axes
    assert len(axes.collections) == 1
    widths = sorted(line.get_linewidth() for line in axes.lines)
    assert len(widths) == 3
    assert widths[0] == widths[1] < widths[2]
    caption = captions(given)["overview"]
    assert "the least and the largest of 3 repetitions" in caption


def test_seeds_have_a_figure_of_their_own(findings: Findings) -> None:
    given = repeated(findings)
    names = [f"cloud[n=5,seed={i}]" for i in range(3)]
    runs = given.runs.assign(instance=names, instance_label=names, repetition=0)
    over = replace(given, runs=runs, bands=bands(runs, given.trace))
    assert "seeds-cloud-n=5" in exhibits(over)
    assert "3 instances that differ by their seed" in captions(over)["seeds-cloud-n=5"]
    assert "seeds-cloud-n=5.pdf" in figures(over)


# -- heads ---------------------------------------------------------------------------------------


def test_collapse_stands_against_entropy(findings: Findings) -> None:
    heads = findings.heads.iloc[:1].assign(instance="h", entropy_relative=0.25)
    layers = findings.layers.iloc[:2].assign(instance="h", k_low=[10, None], k_high=[11, None])
    given = replace(empty_findings(), runs=findings.runs, heads=heads, layers=layers)
    shown = exhibits(given)["heads"]
    figure = draw(shown, words.styles(selection.solvers(findings)))
    fixed, moving = figure.axes
    assert [line.get_xydata().tolist() for line in moving.lines] == [
        [[0.25, 10.0], [0.25, 11.0]],
        [[0.25, 11.0]],
    ]
    (mark,) = fixed.lines
    assert mark.get_markerfacecolor() == "none"
    assert mark.get_xydata().tolist() == [[0.25, 26.0]]


def test_where_nothing_collapsed_there_is_no_figure_of_it(findings: Findings) -> None:
    heads = findings.heads.iloc[:1].assign(instance="h", entropy_relative=0.25)
    layers = findings.layers.iloc[1:2].assign(instance="h", k_low=None, k_high=None)
    assert "heads" not in exhibits(replace(empty_findings(), heads=heads, layers=layers))
