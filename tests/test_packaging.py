"""What is installed: one top-level name, all data files, a light command line, one version."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import fwbench

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("fwbench", "solvers", "problems")
BASELINES = ROOT / "reports" / "baseline"
CACHES = shutil.ignore_patterns("__pycache__", "*.egg-info")


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False
    )


def files() -> list[str]:
    """Return what belongs into the wheel, by its path there."""
    sources = [
        ("" if folder == "fwbench" else "fwbench/") + path.relative_to(ROOT).as_posix()
        for folder in SOURCES
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".nbi", ".nbc")
    ]
    return sorted([*sources, *(f"fwbench/baselines/{path.name}" for path in BASELINES.iterdir())])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for folder in SOURCES:
        shutil.copytree(ROOT / folder, source / folder, ignore=CACHES)
    shutil.copytree(BASELINES, source / "reports" / "baseline")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    built = run(
        *pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", out, source,
        cwd=out,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    [path] = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("site")
    done = run(
        sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps",
        "--no-index", "--no-compile", "--target", target, wheel, cwd=target.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


def test_every_package_is_listed():
    inside = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "fwbench").rglob("__init__.py")
    }
    listed = project()["tool"]["setuptools"]["packages"]
    elsewhere = {"fwbench.solvers", "fwbench.problems", "fwbench.baselines"}
    assert sorted(listed) == sorted(inside | elsewhere)


def test_the_wheel_holds_one_name_and_every_file(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    version = project()["project"]["version"]
    assert {name.partition("/")[0] for name in names} == {"fwbench", f"fwbench-{version}.dist-info"}
    assert sorted(name for name in names if name.startswith("fwbench/")) == files()


def test_the_installed_package_works_elsewhere(installed, tmp_path):
    def command(*words: str) -> str:
        script = installed / "bin" / "fwbench"
        done = run(script, *words, cwd=tmp_path, PYTHONPATH=str(installed), PYTHONSAFEPATH="1")
        assert done.returncode == 0, done.stderr
        return done.stdout

    def python(code: str) -> subprocess.CompletedProcess[str]:
        return run(sys.executable, "-P", "-c", code, cwd=tmp_path, PYTHONPATH=str(installed))

    where = python("import fwbench; print(fwbench.__file__)").stdout
    assert Path(where.strip()).parent == installed / "fwbench"
    assert "describe" in command("--help")
    for group in ("solvers", "problems"):
        listed = [line.split()[0] for line in command("list", group).splitlines()]
        on_disk = {path.stem for path in (ROOT / group).glob("*.py")} - {"__init__"}
        assert sorted(on_disk) == listed
        assert f"No module named '{group}'" in python(f"import {group}").stderr
    assert "quick" in command("list", "suites")


def test_the_version_is_the_same_everywhere():
    version = project()["project"]["version"]
    assert fwbench.__version__ == version
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", citation, re.M) == [version]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{version}]" in changes


@pytest.mark.parametrize(
    "words", ["--help", "--version", "list solvers", "list problems", "list suites", "run --help"]
)
def test_the_command_line_is_light(words, tmp_path):
    code = f"import sys; sys.argv[1:] = {words.split()}; from fwbench.cli import main; main()"
    done = run(sys.executable, "-X", "importtime", "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "fwbench.cli.run" in modules
    assert not {"numpy", "numba", "rich", "pandas", "scipy", "matplotlib"} & modules


def test_constraints_are_versions_alone():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    odd = [line for line in lines if not re.fullmatch(r"[A-Za-z0-9][\w.-]*==[\w.+!]+", line)]
    assert odd == []
    names = [line.partition("==")[0].lower() for line in lines]
    assert names == sorted(set(names))


def test_every_dependency_is_pinned():
    declared = [*project()["project"]["dependencies"]]
    for some in project()["project"]["optional-dependencies"].values():
        declared += some
    wanted = {re.split(r"[<>=!~ \[;]", text)[0].lower() for text in declared}
    wanted.remove("fwbench")  # an extra may hold another extra of its own
    wanted.remove("torch")  # a yardstick of the bench alone, whose builds differ by machine
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert sorted(wanted - {line.partition("==")[0].lower() for line in lines}) == []


def test_no_tracked_file_knows_this_machine():
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: nothing says which files are tracked")
    # the pieces are joined here, so that this file does not hold what it looks for
    patterns = [
        re.escape(f"{folder}/") for folder in {str(ROOT), str(Path.home())} if len(folder) > 3
    ]
    patterns += ["/ho" + r"me/\w", "/Us" + r"ers/\w", r"\b[A-Z]:\\Us" + "ers"]
    patterns += ["ind" + "ex-url", r"https?://[^\s\"')>]*/sim" + "ple", "files.python" + "hosted"]
    found = []
    for name in listed.stdout.split("\0"):
        path = ROOT / name
        if not name or not path.is_file() or b"\0" in (content := path.read_bytes()):
            continue
        text = content.decode("utf-8", errors="replace")
        found += [f"{name}: {hit[0]}" for p in patterns for hit in re.finditer(p, text)]
    assert found == []
