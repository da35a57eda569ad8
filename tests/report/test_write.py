import os
from pathlib import Path

import pytest

from fwbench.analysis.findings import Findings
from fwbench.errors import InvalidParameter
from fwbench.report.write import write

from .made_findings import empty_findings


def test_files_are_written_and_named(findings: Findings, tmp_path: Path) -> None:
    made = write(findings, tmp_path / "r", frozenset({"html", "md"}))
    assert made == [tmp_path / "r" / "report.html", tmp_path / "r" / "summary.md"]
    assert sorted((tmp_path / "r").iterdir()) == made


def test_figures_have_a_folder(
    findings: Findings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fwbench.report.figures.figures", lambda _: {"overview.png": b"x"})
    assert write(findings, tmp_path, frozenset({"figures"})) == [tmp_path / "figures/overview.png"]
    assert (tmp_path / "figures/overview.png").read_bytes() == b"x"


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
