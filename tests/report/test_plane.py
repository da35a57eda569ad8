"""Basins and diagrams in every output: figures, page, summary."""

import io
import re
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.patches import Polygon

from fwbench.analysis.findings import Findings
from fwbench.report import atlases, canvas, curves, diagrams
from fwbench.report.figures import figures
from fwbench.report.html import html
from fwbench.report.summary import summary
from fwbench.theory.claim import Curves, Line

from .made_findings import HOSTILE, empty_findings
from .made_plane import LABEL, made_atlas, made_diagrams, plane_findings
from .test_html import Reader

K = np.arange(1.0, 200.0)
CURVES = Curves(
    "Energy over the bound", "t + 1", "J / bound",
    (Line("keys fixed", K, 1 / K), Line("keys moving", K, K / 100),
     Line("nothing", K, np.full_like(K, np.nan)),
     Line("the bound", K, np.ones_like(K), bound=True)),
    log_x=True, log_y=True,
    marks=((100.0, "first violation"), (-1.0, "off the axis"), (np.inf, "never")),
    note="The hull has lost the origin.",
)  # fmt: skip


@pytest.fixture(scope="module")
def plane() -> Findings:
    return plane_findings()


@pytest.fixture(scope="module")
def drawn(plane: Findings) -> dict[str, bytes]:
    return figures(plane)


@pytest.fixture(scope="module")
def page(plane: Findings) -> str:
    return html(plane)


def test_every_figure_is_there_in_both_formats(drawn: dict[str, bytes], plane: Findings) -> None:
    stems = ["atlas-square-queries=25", *(diagram.name for diagram in plane.diagrams)]
    assert list(drawn) == [f"{stem}.{suffix}" for stem in stems for suffix in ("png", "pdf")]
    for name, content in drawn.items():
        if name.endswith("png"):
            picture = imread(io.BytesIO(content))
            assert min(picture.shape[:2]) > 300
            assert np.ptp(picture[..., :3]) > 0.5
        else:
            assert content.startswith(b"%PDF")
            assert content.rstrip().endswith(b"%%EOF")


def test_equal_findings_give_equal_files(drawn: dict[str, bytes]) -> None:
    few = replace(plane_findings(), diagrams=made_diagrams()[2:3])
    again = figures(few)
    assert len(again) == 4
    assert all(drawn[name] == content for name, content in again.items())


def test_drawing_leaves_the_settings_of_matplotlib_alone() -> None:
    before = dict(mpl.rcParams)
    with canvas.drawing():
        diagrams.draw(made_diagrams()[0])
    assert dict(mpl.rcParams) == before


def test_the_map_of_each_solver_has_a_panel_and_one_shows_where_they_differ() -> None:
    figure = atlases.draw(made_atlas())
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [
        "hardmax_attention", "projected_gradient", HOSTILE, "where two solvers rest apart",
    ]  # fmt: skip
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sorted(shown) == ["not at rest", "rests elsewhere", "solvers differ"]


def patches(figure: Figure, hatch: str) -> int:
    return sum(
        isinstance(patch, Polygon) and patch.get_hatch() == hatch
        for patch in figure.axes[0].patches
    )


def test_parts_are_told_apart_in_grey_by_hatches_and_dashes() -> None:
    *_, cone, power = made_diagrams()
    drawn = diagrams.draw(cone)
    assert patches(drawn, "////") == patches(drawn, "xxxx") == 1
    dashes = {str(patch.get_linestyle()) for patch in diagrams.draw(power).axes[0].patches}
    assert len(dashes) == 2
    # cells have borders that are much darker than any of them
    for patch in diagrams.draw(made_diagrams()[1]).axes[0].patches:
        inner, rim = (np.dot(c[:3], [0.3, 0.59, 0.11]) for c in
                      (patch.get_facecolor(), patch.get_edgecolor()))  # fmt: skip
        assert inner - rim > 0.4


def test_lines_of_a_claim_differ_by_more_than_colour() -> None:
    (axes,) = curves.draw(CURVES).axes
    lines = [line for line in axes.lines if not line.get_label().startswith("_")]
    assert [line.get_label() for line in lines] == ["keys fixed", "keys moving", "the bound"]
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 3
    assert len({line.get_marker() for line in lines[:2]}) == 2
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in axes.texts] == ["first violation"]
    assert "The hull has lost the origin." in axes.get_xlabel()


def test_values_without_a_place_are_holes() -> None:
    y = np.array([1.0, 0.0, -1.0, np.inf, 2.0])
    line = Line("x", np.arange(5.0), y)
    shown = {}
    for log in (False, True):
        (axes,) = curves.draw(Curves("", "", "", (line,), log_x=log, log_y=log)).axes
        shown[log] = np.isfinite(axes.lines[0].get_ydata()).tolist()
    assert shown == {
        False: [True, True, True, False, True], True: [False, False, False, False, True],
    }  # fmt: skip


def test_curves_without_a_point_can_be_drawn() -> None:
    empty = Curves("", "", "", (Line("x", np.empty(0), np.empty(0)),), log_y=True)
    with canvas.drawing():
        assert len(canvas.files("empty", curves.draw(empty))) == 2


def test_the_page_has_a_map_a_solver_and_says_the_shares(page: str) -> None:
    assert '<section id="atlases">' in page
    assert 'href="#atlases"' in page
    section = page[page.index('<section id="atlases">') : page.index('<section id="diagrams">')]
    assert section.count("<svg viewBox") == 4
    said = re.sub(r"<[^>]*>", "", section)
    assert "hardmax_attention and projected_gradient end at different points on 60 %" in said
    assert "rests at no atom on 12 % of 25 starts" in said
    assert "is not at rest on 20 % of 25 starts" in said
    assert "rests at atom 1" in said  # what a place says when pointed at


def test_a_map_on_the_page_has_the_ends_of_the_atlas(page: str) -> None:
    section = page[page.index('<section id="atlases">') : page.index('<section id="diagrams">')]
    first = section[: section.index("</svg>")]
    boxes = re.findall(r'<rect .*?width="([\d.]+)".*?<title>(.*?)</title>', first)
    one = min(float(width) for width, _ in boxes) / 2
    ends = [said for width, said in boxes for _ in range(round(float(width) / one))]
    expected = ["rests at atom 0"] * 2 + ["rests at atom 1"] * 3
    assert ends == expected * 5


def test_the_page_has_every_diagram_with_its_file_and_its_warning(
    page: str, plane: Findings
) -> None:
    section = page[page.index('<section id="diagrams">') :]
    section = section[: section.index("</section>")]
    assert section.count("<svg viewBox") == len(plane.diagrams)
    for diagram in plane.diagrams:
        assert f"<code>{diagram.name}</code>" in section
    for names in re.findall(r"url\(#(\w+)\)", page):
        assert f'<pattern id="{names}"' in page


def test_names_cannot_become_markup(page: str, plane: Findings) -> None:
    assert HOSTILE not in page
    assert page.count("<svg") == page.count("</svg>")
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", summary(plane))
    assert "<" not in outside.replace("≤", "")


def test_nothing_is_loaded_from_outside(page: str) -> None:
    for tag, attributes in Reader(page).tags:
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)


def test_the_page_stays_small(page: str) -> None:
    assert len(page) < 250_000


def test_without_them_the_report_has_no_place_for_them() -> None:
    page = html(empty_findings())
    for word in ("atlases", "diagrams", "patterns"):
        assert f'id="{word}"' not in page
        assert f'href="#{word}"' not in page
    assert "Where starts" not in summary(empty_findings())


def test_the_summary_says_the_shares_and_lists_the_figures(plane: Findings) -> None:
    told = summary(plane, figures=True)
    assert f"On `{LABEL}`:" in told
    assert (
        "- `hardmax_attention` and `projected_gradient` end at different points "
        "on 60 % of 25 starts" in told
    )
    assert f"- `{HOSTILE}` is not at rest on 20 % of 25 starts" in told
    for diagram in plane.diagrams:
        assert f"](figures/{diagram.name}.pdf)" in told
    assert "figures/paper" not in summary(plane)
