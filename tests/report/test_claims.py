"""Verdicts of claims: in words, in HTML and Markdown, with their figures."""

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fwbench.analysis.findings import Findings
from fwbench.report.canvas import drawing
from fwbench.report.claims import sections
from fwbench.report.curves import claim_files, draw, inline
from fwbench.report.figures import figures
from fwbench.report.html import html, verdicts_page
from fwbench.report.summary import summary
from fwbench.report.terminal import terminal_summary, verdicts
from fwbench.report.write import write_verdicts
from fwbench.theory.claim import Effort, Verified
from fwbench.theory.trials import verified
from fwbench.theory.verdicts import document, record
from fwbench.verify import claims

from .made_findings import HOSTILE, empty_findings
from .test_html import Reader

MADE = str(Path(__file__).parents[1] / "made" / "squares_are_small.py")


@pytest.fixture(scope="module")
def tried() -> Verified:
    [claim] = claims((MADE,))
    return verified(claim, Effort())


@pytest.fixture(scope="module")
def told(tried: Verified) -> dict[str, Any]:
    """Two claims: one as expected, one with a hostile name that is not."""
    hostile = record(tried) | {
        "name": HOSTILE, "as_expected": False, "surprises": [f"it is {HOSTILE}"],
        "verdict": "broken", "witness": f"case {HOSTILE}: 1 > 0", "error": HOSTILE,
        "hypotheses": [HOSTILE], "curves": None,
    }  # fmt: skip
    return document([record(tried), hostile], long=False, seconds=1.25)


def printed(renderable: Any, width: int) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


# -- HTML ------------------------------------------------------------------------------------


def test_a_page_says_all_of_each_claim(told: dict[str, Any]) -> None:
    page = verdicts_page(told)
    [row, _] = [row for row in Reader(page).tables["claim-table"] if row]
    assert row[0] == "squares_are_small"
    assert row[1:4] == ["a source", "stated", "holds"]
    for shown in ("x² &lt; 100", "refused: it is negative", "it is large", "square = 81, root = 9",
                  "fwbench verify squares_are_small", "Controls, whose verdict"):  # fmt: skip
        assert shown in page


def test_nothing_of_a_claim_becomes_markup(told: dict[str, Any]) -> None:
    page = verdicts_page(told)
    assert "script" not in {tag for tag, _ in Reader(page).tags}
    assert HOSTILE not in page
    assert "alert(3)&lt;/script&gt;" in page
    assert "<b>squares</b>" not in page


def test_a_page_loads_nothing_and_its_anchors_exist_once(told: dict[str, Any]) -> None:
    told = told | {"claims": [told["claims"][0], told["claims"][0] | {"name": "twin"}]}
    tags = Reader(verdicts_page(told)).tags
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [a.get(k) for _, a in tags for k in ("href", "xlink:href", "src") if k in a]
    assert links
    assert all(link is not None and link[0] == "#" and link[1:] in ids for link in links)
    assert sum(tag == "svg" for tag, _ in tags) == 2


def test_the_report_of_a_run_has_a_section_of_claims(told: dict[str, Any]) -> None:
    page = html(replace(empty_findings(), claims=told))
    assert 'href="#claims">Claims</a>' in page
    rows = [row for row in Reader(page).tables["claim-table"] if row]
    assert rows[0][0] == "squares_are_small"
    assert page.count("<svg") == 1
    assert "#claims" not in html(empty_findings())


def test_equal_verdicts_give_equal_pages(told: dict[str, Any]) -> None:
    assert verdicts_page(told) == verdicts_page(told)


# -- Markdown --------------------------------------------------------------------------------


def test_the_summary_of_a_run_has_the_table_of_claims(told: dict[str, Any]) -> None:
    text = summary(replace(empty_findings(), claims=told), figures=True)
    assert "## Claims" in text
    assert "2 claims: holds 1, broken 1; 1 not as their files expect" in text
    assert "![The deciding figure](figures/claim-squares_are_small.png)" in text
    assert "| `squares_are_small` | a source | stated | holds, as expected |" in text
    assert "Claims" not in summary(empty_findings())


def test_no_name_is_markdown(told: dict[str, Any]) -> None:
    text = "\n\n".join(sections(told))
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "<" not in outside
    for block in re.findall(r"(?:^\|.*\n)+", text + "\n", re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


# -- figures ---------------------------------------------------------------------------------


def test_each_claim_with_curves_has_a_figure(told: dict[str, Any]) -> None:
    made = claim_files(told["claims"])
    assert list(made) == ["claim-squares_are_small.png", "claim-squares_are_small.pdf"]
    assert made["claim-squares_are_small.png"].startswith(b"\x89PNG")
    assert made["claim-squares_are_small.pdf"].startswith(b"%PDF")
    assert figures(replace(empty_findings(), claims=told)) == made
    assert inline(told["claims"][1]) is None


def test_pages_and_figures_are_written(told: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    for name in ("claim-old.png", "other.png"):
        (tmp_path / "figures" / name).touch()
    made = write_verdicts(told, tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in made} == {
        "claims.html", "claims.md", "figures/claim-squares_are_small.png",
        "figures/claim-squares_are_small.pdf",
    }  # fmt: skip
    assert not (tmp_path / "figures" / "claim-old.png").exists()
    assert (tmp_path / "figures" / "other.png").exists()


# -- the terminal ----------------------------------------------------------------------------


@pytest.mark.parametrize("width", [30, 60, 109, 110, 140, 300])
def test_no_terminal_cuts_anything(told: dict[str, Any], width: int) -> None:
    output = printed(verdicts(told, width), width)
    assert "…" not in output
    letters = re.sub(r"\s+", "", output)
    if width < 110:
        for shown in (
            "squares_are_small",
            HOSTILE,
            f"case {HOSTILE}: 1 > 0",
            "square = 16, root = 4",
        ):
            assert shown.replace(" ", "") in letters
    assert all(len(line) <= width for line in output.splitlines())
    assert "2claims:holds1,broken1;1notastheirfilesexpect." in letters
    assert f"{HOSTILE}: it is {HOSTILE}".replace(" ", "") in letters


def test_a_table_has_a_row_a_claim(tried: Verified) -> None:
    output = printed(verdicts(document([record(tried)], long=True, seconds=2.0), 140), 140)
    [row] = [line for line in output.splitlines() if line.startswith("squares_are_small")]
    assert re.sub(r"\s{2,}", "  ", row).split("  ")[1:4] == [
        "a source", "stated", "holds, as expected"
    ]  # fmt: skip
    assert "1 claim: holds 1; as its file expects. Long effort, 2 s." in output


def test_the_end_of_a_run_tells_of_its_claims(told: dict[str, Any], findings: Findings) -> None:
    output = printed(terminal_summary(replace(findings, claims=told)), 140)
    assert f"{HOSTILE}: it is {HOSTILE}" in output
    assert "Claims" not in printed(terminal_summary(findings), 140)


def test_pages_have_the_proof_and_the_file(tried: Verified) -> None:
    about = "Squares are small.\n\nProof: 9 * 9 < 100 <script>alert(4)</script>."
    one = record(tried, asked="my dir/squares_are_small.py", file="my dir/squares_are_small.py",
                 about=about)  # fmt: skip
    made = document([one], long=True, seconds=1.0, command="fwbench verify 'my dir' --long")
    page, text = verdicts_page(made), "\n\n".join(sections(made))
    for shown in ("Proof: 9 * 9 &lt; 100 &lt;script&gt;", "my dir/squares_are_small.py"):
        assert shown in page
    assert r"> Proof: 9 \* 9 &lt; 100 &lt;script&gt;alert(4)" in text
    again = "fwbench verify 'my dir/squares_are_small.py' --long"
    assert again in page.replace("&#39;", "'")
    assert again in text
    assert ">fwbench verify &#39;my dir&#39; --long</pre>" in page


@pytest.mark.parametrize("width", [110, 140])
def test_section_heads_stand_alone_and_lines_end_with_letters(tried: Verified, width: int) -> None:
    one = record(tried) | {
        "witness": "token_cloud[name=triangle-16],keys=moving,step=harmonic(2,3): t = 16"
    }
    output = printed(verdicts(document([one], long=False, seconds=1.0), width), width)
    lines = output.splitlines()
    assert "Derivations" in lines
    assert all(line == line.rstrip() for line in lines)
    pieces = (
        "token_",
        "cloud[",
        "name=",
        "triangle-",
        "16],",
        "keys=",
        "moving,",
        "harmonic(",
        "2,",
    )
    assert all(piece in output for piece in pieces)  # none of them is torn


def test_the_word_of_a_mark_lies_at_the_foot_of_the_axes(tried: Verified) -> None:
    assert tried.curves is not None
    with drawing():
        [axes] = draw(tried.curves).axes
    [word] = [text for text in axes.texts if text.get_text() == "here"]
    assert (word.xy[1], word.get_va()) == (0.0, "bottom")
    assert word.get_bbox_patch() is not None
