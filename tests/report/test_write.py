import os
from pathlib import Path

import pytest

from fwbench.analysis.findings import Findings
from fwbench.errors import InvalidParameter
from fwbench.report.exhibits import exhibits
from fwbench.report.markdown import prose
from fwbench.report.paper_tables import TABLES
from fwbench.report.write import KNOWN, write

from .made_findings import empty_findings


def test_files_are_written_and_named(findings: Findings, tmp_path: Path) -> None:
    made = write(findings, tmp_path / "r", frozenset({"html", "md"}))
    assert made == [tmp_path / "r" / "report.html", tmp_path / "r" / "summary.md"]
    assert sorted((tmp_path / "r").iterdir()) == made


def test_figures_have_a_folder(
    findings: Findings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fwbench.report.figures.figures", lambda _: {"overview.png": b"x"})
    names = [tmp_path / "figures" / name for name in ("overview.png", "captions.md")]
    assert write(findings, tmp_path, frozenset({"figures"})) == names
    assert names[0].read_bytes() == b"x"


def test_every_figure_has_a_caption(
    findings: Findings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fwbench.report.figures.figures", lambda _: {})
    write(findings, tmp_path, frozenset({"figures"}))
    lines = (tmp_path / "figures/captions.md").read_text().splitlines()
    heads = [place for place, line in enumerate(lines) if line.startswith("## ")]
    assert [lines[place][3:] for place in heads] == [prose(stem) for stem in exhibits(findings)]
    assert all("fwbench" in lines[place + 2] for place in heads)
    assert "<script>" not in "".join(lines)
    write(empty_findings(), tmp_path, frozenset({"figures"}))
    assert not (tmp_path / "figures/captions.md").exists()


def test_broken_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "summary.md").write_text("old")

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        write(empty_findings(), tmp_path, frozenset({"md"}))
    assert (tmp_path / "summary.md").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_unknown_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="'figure'; did you mean figures"):
        write(empty_findings(), tmp_path, frozenset({"figure", "html"}))
    assert not list(tmp_path.iterdir())


def test_what_an_earlier_report_wrote_is_not_left_lying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fwbench.report.figures.figures", lambda _: {"overview.png": b"x"})
    old = ["figures/claim-gone.pdf", "figures/convergence-a~2.png", "tables/rates.tex"]
    own = ["figures/mine.pdf", "figures/claim-notes.txt", "tables/mine.tex", "own.tex"]
    for name in (*old, *own):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("old")
    write(empty_findings(), tmp_path, frozenset({"md"}))
    assert all((tmp_path / name).exists() for name in (*old, *own))
    write(empty_findings(), tmp_path, frozenset({"figures", "latex"}))
    assert not any((tmp_path / name).exists() for name in old)
    assert all((tmp_path / name).read_text() == "old" for name in own)


def test_figures_that_are_written_are_swept_when_they_are_gone(findings: Findings) -> None:
    stems = [*exhibits(findings), "claim-x", "paper-f", "growth", "heads", "seeds-ball"]
    for stem in stems:
        assert KNOWN["figures"].fullmatch(f"{stem}.pdf"), stem
    assert {name for name in TABLES if KNOWN["latex"].fullmatch(f"{name}.tex")} == set(TABLES)


def test_latex_shows_the_figures_that_are_written_with_it(
    findings: Findings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fwbench.report.figures.figures", lambda _: {})
    made = write(findings, tmp_path, frozenset({"latex"}))
    assert tmp_path / "report.tex" in made
    assert tmp_path / "tables" / "standings.tex" in made
    assert "overview.pdf" not in (tmp_path / "report.tex").read_text()
    write(findings, tmp_path, frozenset({"latex", "figures"}))
    assert "{figures/overview.pdf}" in (tmp_path / "report.tex").read_text()
