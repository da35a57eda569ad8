from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

from fwbench.analysis.findings import Findings
from fwbench.report import selection, words
from fwbench.report.figures import convergence, figures, overview

from .made_findings import HOSTILE, empty_findings, made_findings


@pytest.fixture(scope="module")
def drawn(findings: Findings) -> dict[str, bytes]:
    return figures(findings)


def some(findings: Findings, instance: str) -> list[selection.Curve]:
    return [c for c in selection.curves(findings) if c.instance.startswith(instance)]


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
    ]
    assert list(drawn) == [f"{stem}.{suffix}" for stem in stems for suffix in ("png", "pdf")]
    for name, content in drawn.items():
        assert content.startswith(b"\x89PNG" if name.endswith("png") else b"%PDF"), name


def test_equal_findings_give_equal_files(findings: Findings) -> None:
    label = findings.pictures[0].label
    few = [
        replace(f, runs=f.runs[f.runs["instance_label"] == label])
        for f in (findings, made_findings())
    ]
    assert figures(few[0]) == figures(few[1])


def test_drawing_leaves_the_settings_of_matplotlib_alone(findings: Findings) -> None:
    before = dict(mpl.rcParams)
    figures(replace(empty_findings(), pictures=findings.pictures))
    assert dict(mpl.rcParams) == before


def test_values_without_a_place_are_not_drawn(findings: Findings) -> None:
    curves = some(findings, "min_norm_point[n=200")
    assert any((np.array(c.columns["gap"], dtype=float) == 0).any() for c in curves)
    figure = convergence("x", curves, words.styles(selection.solvers(findings)))
    for axes in figure.axes:
        for line in axes.lines:
            ys = np.asarray(line.get_ydata(), dtype=float)
            assert (ys[np.isfinite(ys)] > 0).all()
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert any("projected_gradient" in note for note in notes)


def test_methods_without_a_path_are_points(findings: Findings) -> None:
    styles = words.styles(selection.solvers(findings))
    figure = convergence("x", some(findings, "min_norm_point[n=1000"), styles)
    lines = {line.get_color(): line.get_linestyle() for line in figure.axes[0].lines}
    assert lines[styles["cvxpy_reference"].colour] == "None"
    assert lines[styles["frank_wolfe"].colour] != "None"


def test_legend_stands_outside_of_the_curves(findings: Findings) -> None:
    styles = words.styles(selection.solvers(findings))
    curves: dict[str, list[selection.Curve]] = {}
    for curve in selection.curves(findings):
        curves.setdefault(curve.instance, []).append(curve)
    figure = overview(findings, curves, {name: name for name in curves}, styles)
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


def test_no_run_makes_no_figure() -> None:
    assert figures(empty_findings()) == {}
