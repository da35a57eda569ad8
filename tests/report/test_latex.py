"""LaTeX: what a name holds is text, tables are whole, and it compiles where there is a compiler."""

import dataclasses
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwbench.analysis.findings import Findings
from fwbench.report import figures
from fwbench.report.exhibits import exhibits
from fwbench.report.latex import latex
from fwbench.report.paper_tables import TABLES
from fwbench.report.tex import LINES, Column, code, escaped, prose, table

from .made_findings import empty_findings

ODD = (
    r"\input{/etc/passwd}",
    r"\end{document}",
    "}{ $x$ & # _ % ~ ^ < > | \" ' ` [ ] * @ ! ? ,, -- << >> ?` !`",
    "a\\\\[9cm] & b",
    "* starred",
    "[optional]",
    "β ∞ – — … × ≤ ½ ‖x‖² ⟨x, Qx⟩ 10⁻³ x₁",
    "é Å ő ñ ß ø ł İ ǆ 漢字 \U0001f600 e\u0301",
    "\x1b[31m red \u202e bidi \u200b \x00 \r\n line",
    "\U00016ac0 \u0663 \u0967e\u0967",  # digits too, but not of TeX
    "%comment",
    "^^5cinput{x}",
    "very_long_" * 40,
    "x" * 400,
    "",
    " ",
)
COMMANDS = re.compile(
    r"\\(?:[{}$&#_%]|[`'^~=.\"uvHrc]\{[A-Za-z]\}|(?:textbackslash|textasciitilde|textless|textgreater"
    r"|textasciicircum|textbar|textquotedbl|textquotesingle|textasciigrave|textmu|textdegree"
    r"|nobreakspace|texteuro|copyright|ldots|allowbreak|ss|ae|AE|o|O|oe|OE|l|L|i|S)\{\}|,"
    r"|texttt\{U\+[0-9A-F]{4,6}\})"
)
MATHS = re.compile(r"\$(?:\\(?:[a-zA-Z]+|\|)|[-^_]?\{?[-0-9.]*\}?|\\frac\d\d"
                   r"|-?[\d.]+(?:\\times10)?(?:\^\{-?\d+\})?)\$")  # fmt: skip


def plain(tex: str) -> str:
    """Return what is left without the commands that may be there."""
    return MATHS.sub("", COMMANDS.sub("", tex)).replace("{[}", "[").replace("{]}", "]").replace(
        "{*}", "*").replace("{}-", "-").replace("{},", ",")  # fmt: skip


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("write", [escaped, code, prose])
def test_odd_names_are_text(write, text):
    _is_text(write(text))


@given(st.text(max_size=60))
def test_any_name_is_text(text):
    for made in (escaped(text), code(text), prose(text)):
        _is_text(made)


def _is_text(made: str) -> None:
    assert made.isascii()
    inner = made[len(r"\texttt{") : -1] if made.startswith(r"\texttt{") and len(made) > 8 else made
    for shown in (made, inner):
        left = plain(shown)
        if not set(left) & set('\\{}$&#_%~^<>|"`'):
            return
    raise AssertionError(f"{made!r} leaves {left!r}")


def test_a_cell_is_no_option_of_the_row_before():
    made = table("t", "T.", [Column("a"), Column("b")], [["x", "y"], ["[9cm] z", "*"]])
    assert "\\tabularnewline\n{[}9cm{]} z & {*}" in made
    assert code("[x]").startswith(r"\texttt{{[}x{]}")


def test_numbers_are_mathematics_and_names_are_not():
    assert prose("1.2e-09") == r"$1.2\times10^{-9}$"
    assert prose("suboptimality ≤ 1e-08") == r"suboptimality $\le$ $10^{-8}$"
    assert prose("exponent -1.94 (-2.1 … -1.8)") == (r"exponent $-1.94$ ($-2.1$ \ldots{} $-1.8$)")
    assert prose("2026-11-30, n=1e5, v1e5, 3.5e+00") == r"2026-11-30, n=1e5, v1e5, $3.5$"
    assert prose("12\u202f345") == r"12\,345"
    assert code("x[tol=1e-08]").count("1e-08") == 1


# -- structure -------------------------------------------------------------------------------------


def checked(tex: str) -> list[str]:
    """Look at braces, environments and columns; return the labels."""
    bare = re.sub(r"\\\\|\\[{}%]", "", tex)
    depth = 0
    for letter in bare:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0
    assert depth == 0
    opened: list[str] = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", tex):
        if what == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    for body in re.findall(r"\\toprule\n(.*?)\\bottomrule", tex, re.DOTALL):
        lines = body.replace("\\midrule\n", "").strip().split("\n")
        assert all(line.endswith(r" \tabularnewline") for line in lines)
        cells = [len(re.findall(r"(?<!\\)&", line)) for line in lines if "multicolumn" not in line]
        assert len(set(cells)) == 1
        spans = {int(n) for n in re.findall(r"multicolumn\{(\d+)\}", body)}
        assert spans <= {cells[0] + 1}
    labels = re.findall(r"\\label\{([^}]*)\}", tex)
    assert len(set(labels)) == len(labels)
    assert all(re.fullmatch(r"(tab|fig):[A-Za-z0-9-]+", label) for label in labels)
    assert tex.count(r"\caption{") == len(labels)
    return labels


def test_all_tables_are_there_and_whole(findings: Findings) -> None:
    files = latex(findings, figures=True)
    assert {name for name in files if name != "report.tex"} == {f"tables/{n}.tex" for n in TABLES}
    for name, text in files.items():
        assert checked(text), name
        assert text.isascii()
    whole = files["report.tex"]
    for stem in exhibits(findings):
        assert f"{{figures/{stem}.pdf}}" in whole
    assert "<script>" not in whole
    assert r"\textless{}script\textgreater{}" in whole
    for name, text in files.items():
        if name != "report.tex":
            assert text.partition("\n")[2] in whole
    assert latex(findings, figures=True) == files


def test_nothing_found_is_said(findings: Findings) -> None:
    files = latex(empty_findings(), figures=True)
    assert list(files) == ["report.tex"]
    assert not checked(files["report.tex"])
    assert "There was no run." in files["report.tex"]
    failed = findings.runs[findings.runs["status"] == "crashed"].reset_index(drop=True)
    alone = latex(dataclasses.replace(empty_findings(), runs=failed), figures=True)
    assert checked(alone["tables/failures.tex"]) == ["tab:failures"]


def test_names_of_all_columns_are_text(findings: Findings) -> None:
    """A name anywhere, in any table, is what it was and no command."""
    for odd in ODD[:4]:
        frames = {}
        for name in ("runs", "winners", "rates", "meetings", "races", "growth", "goals",
                     "standings", "firsts"):  # fmt: skip
            frame = getattr(findings, name).copy()
            for column in ("solver_label", "instance_label", "reason", "regime", "solver_a",
                           "runner_up", "where", "what", "detail"):  # fmt: skip
                if column in frame and not (name == "standings" and column == "where"):
                    frame[column] = (
                        frame[column]
                        .astype(object)
                        .where(frame[column].isna(), frame[column].astype(str) + odd)
                    )
            frames[name] = frame
        made = dataclasses.replace(findings, **frames, manifest={"suite": odd, "command": odd})
        text = latex(made, figures=False)["report.tex"]
        checked(text)
        assert r"\input" not in text
        assert text.count(r"\end{document}") == 1


def test_a_long_table_is_split_and_says_what_heads_its_parts():
    rows: list[list[str] | str] = []
    for group in range(3):
        rows.append(f"group {group}")
        rows += [[f"a_{i}", str(i)] for i in range(LINES)]
    made = table("long", "All.", [Column("solver", "name"), Column("n", "number")], rows)
    labels = checked(made)
    assert labels[:2] == ["tab:long", "tab:long-2"]
    parts = made.split(r"\begin{table}")[1:]
    assert all(part.count(r"\tabularnewline") <= LINES + 3 for part in parts)
    assert sum(part.count(r"a\_") for part in parts) == 3 * LINES
    assert all("group" in part for part in parts)
    assert f"Part 2 of {len(parts)}." in parts[1]


# -- compiled --------------------------------------------------------------------------------------


def compiled(engine: str, folder: Path) -> str:
    words = [engine, "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace")
    log = (folder / "report.log").read_text(errors="replace")
    assert done.returncode == 0, log[-3000:]
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")
    return log


@pytest.mark.parametrize("engine", ["pdflatex", pytest.param("lualatex", marks=pytest.mark.slow)])
def test_it_compiles(engine: str, findings: Findings, tmp_path: Path) -> None:
    if shutil.which(engine) is None:
        pytest.skip(f"no {engine} here: apt-get install texlive-latex-recommended")
    runs = findings.runs.copy()
    failed = runs["status"].isin(["crashed", "wrong", "error", "memory", "nonfinite"])
    for place, i in enumerate(runs.index[failed]):
        runs.loc[i, "reason"] = "".join(ODD[place::5])
        runs.loc[i, "instance_label"] = ODD[place]
    made = dataclasses.replace(findings, runs=runs)
    files = latex(made, figures=False)
    every = [Column("name", "name"), Column("text"), Column("number", "number")]
    odd = table("odd", prose(" ".join(ODD)), every, [x for t in ODD for x in ([t, t, t[:20]], t)])
    single = "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{array,booktabs}\n"
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    whole = files["report.tex"].replace(r"\end{document}", odd + r"\end{document}")
    (tmp_path / "report.tex").write_text(whole)
    log = compiled(engine, tmp_path)
    assert "Missing character" not in log
    assert "multiply defined" not in log
    inputs = "".join(f"\\input{{tables/{name}}}\\clearpage\n" for name in TABLES)
    (tmp_path / "report.tex").write_text(
        f"{single}\\begin{{document}}\n{inputs}\\end{{document}}\n"
    )
    compiled(engine, tmp_path)


def test_headings_stay_with_their_tables(findings: Findings, tmp_path: Path) -> None:
    """Small tables share pages, and no page ends with a heading."""
    if shutil.which("pdflatex") is None:
        pytest.skip("no pdflatex here: apt-get install texlive-latex-recommended")
    whole = latex(findings, figures=False)["report.tex"]
    noted = re.sub(r"(\\section\{[^}]*\})", r"\1\\write16{HEAD:\\thepage}", whole)
    (tmp_path / "report.tex").write_text(
        re.sub(r"\\toprule", r"\\toprule\\noalign{\\write16{RULE:\\thepage}}", noted)
    )
    found = re.findall(r"(HEAD|RULE):(\d+)", compiled("pdflatex", tmp_path))
    heads = [place for place, (what, _) in enumerate(found) if what == "HEAD"]
    assert len(heads) == whole.count(r"\section")
    assert all(found[place + 1] == ("RULE", found[place][1]) for place in heads)
    assert len({page for what, page in found if what == "HEAD"}) < len(heads)


def test_regimes_of_several_folders_stand_together(findings: Findings) -> None:
    rates = findings.rates[findings.rates["regime"].isin(findings.rates["regime"].unique()[:2])]
    twice = pd.concat([rates, rates.assign(solver_label=rates["solver_label"] + " · after")])
    made = dataclasses.replace(findings, rates=twice.reset_index(drop=True))
    text = latex(made, figures=False)["tables/rates.tex"]
    assert text.count(r"\multicolumn") == 2


def test_figures_are_found_beside_it(findings: Findings, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("no pdflatex here: apt-get install texlive-latex-recommended")
    label = "a~b_c%d#e.f"
    runs = findings.runs.assign(instance_label=label)
    some = runs[runs["instance"] == runs["instance"].iloc[0]]
    trace = findings.trace[findings.trace["run_id"].isin(some["run_id"])]
    made = dataclasses.replace(empty_findings(), runs=some, trace=trace)
    (tmp_path / "figures").mkdir()
    for name, data in figures.figures(made).items():
        (tmp_path / "figures" / name).write_bytes(data)
    (tmp_path / "report.tex").write_text(latex(made, figures=True)["report.tex"])
    assert "<./figures/convergence-" in compiled("pdflatex", tmp_path).replace("\n", "")
