"""Everything that the documents tell a reader to type runs, and prints what they show."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fwbench.analysis import heads, layers, promises, seeds
from fwbench.analysis.targets import brackets
from fwbench.findings import POINTS, RUNS
from fwbench.trace import COLUMNS

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))]
CHECKOUT = ("fwbench", "solvers", "problems", "tests", "docs", "pyproject.toml", "README.md")
# What sets a machine up, or runs all of this.
SET_UP = ("make ", "source ", "git ", "cp ", ".ci/run")
# These take minutes; that their suites can be planned is tested with the suites.
LONG = tuple(f"fwbench run {suite}" for suite in ("paper", "peers", "real", "scaling"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"\d[\d.e+\-\u202f]*(?: (?:ns|µs|ms|s|min)\b)?")


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def typed(block: str) -> list[tuple[str, list[str]]]:
    """Return the commands of a console block, each with the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def alike(line: str) -> str:
    """Return a line without its numbers and its runs of blanks: those differ by machine."""
    return re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip()


def run_command(command: str, shown: list[str], folder: Path, **also: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, cwd=folder, env=os.environ | {"PATH": path, "COLUMNS": "140", **also},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    output = done.stdout + done.stderr
    wrong_use = any(line.startswith("fwbench: ") for line in shown)
    assert done.returncode == (2 if wrong_use else 0), f"$ {command}\n{output}"
    printed = iter([alike(line) for line in output.splitlines()])
    for line in shown:  # in this order; … stands for what is left out
        if line.strip() in ("", "…"):
            continue
        start, left_out, _ = alike(line).partition("…")
        found = any(text.startswith(start) if left_out else text == start for text in printed)
        assert found, f"$ {command}\ndoes not print: {line}\n{output}"


def run_python(code: str, known: dict, page: str, folder: Path) -> None:
    named = re.match(r"# (\w+\.py)\n", code)
    if named:
        (folder / named[1]).write_text(code, encoding="utf-8")
    elif ">>>" in code:
        test = doctest.DocTestParser().get_doctest(code, known, page, page, 0)
        lines: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        assert runner.run(test, out=lines.append, clear_globs=False).failed == 0, "".join(lines)
        known |= test.globs
    else:
        exec(compile(code, page, "exec"), known)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_says_to_type_runs(page, tmp_path, monkeypatch):
    folder = tmp_path / "copy"
    folder.mkdir()
    also = {}
    if page == "CONTRIBUTING.md":  # its commands are for a checkout
        also = {"PYTHONPATH": str(folder)}
        for name in CHECKOUT:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / name)
        [code] = (c for _, c in BLOCK.findall(text("README.md")) if c.startswith("# my_solver.py"))
        (folder / "solvers" / "my_solver.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(folder)
    known: dict = {}
    for language, code in BLOCK.findall(text(page)):
        if language == "python":
            run_python(code, known, page, folder)
            continue
        for command, shown in typed(code):
            if not command.startswith(SET_UP + LONG):
                run_command(command, shown, folder, **also)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text(page)):
        assert (ROOT / page).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("page", PAGES)
def test_anchors_are_headings(page):
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", text(page)):
        other = (ROOT / page).parent / target if target else ROOT / page
        headings = re.findall(r"^#+ (.*)$", other.read_text(encoding="utf-8"), re.M)
        assert anchor in {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}


def columns(table: str) -> list[str]:
    """Return the columns that docs/files.md lists for a table."""
    section = text("docs/files.md").split(f"## {table}\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]*) \|", section, re.M)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def test_every_column_of_the_tables_is_described():
    trace = {"k": [0], "seconds": [0.0], "lmo": [0]}
    targets = ["run_id", *brackets(trace, "gap", [1.0], 1.0)[0]]
    assert sorted(columns("runs.parquet")) == sorted(RUNS)
    assert sorted(columns("trace.parquet")) == sorted(["run_id", *COLUMNS, "suboptimality"])
    assert sorted(columns("targets.parquet")) == sorted(targets)
    assert sorted(columns("fixed_points.parquet")) == sorted(POINTS)
    assert sorted(columns("rates.parquet")) == sorted([*seeds.COLUMNS, *promises.COLUMNS])
    assert sorted(columns("heads.parquet")) == sorted(heads.COLUMNS)
    assert sorted(columns("layers.parquet")) == sorted(layers.COLUMNS)


def test_the_picture_is_small():
    assert (ROOT / "docs" / "overview.png").stat().st_size < 300_000
