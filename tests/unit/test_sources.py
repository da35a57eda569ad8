"""What a result depends on: files, versions, circumstances; and what it does not depend on."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import fwbench
from fwbench import catalog
from fwbench.errors import UnknownName
from fwbench.execution import sources
from fwbench.execution.sources import Opened, cache_key, closure

HOME = Path(fwbench.__file__).resolve().parent
FACTS = {"threads": 1, "host": "here", "shared": False, "schema": 1, "library": None}


def written(folder, **files):
    """Write files by module name, `__in__` for slashes; return the folder."""
    for name, text in files.items():
        path = folder / f"{name.replace('__in__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def names(folder, path="solver.py"):
    found = closure(folder / path)
    assert list(found) == sorted(found)
    return {each.relative_to(folder).as_posix() for each in found if each.is_relative_to(folder)}


# -- closure ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("import helper", {"helper.py"}),
        ("import helper as h, other", {"helper.py", "other.py"}),
        ("from helper import x", {"helper.py"}),
        ("def f():\n    import helper", {"helper.py"}),
        ("class A:\n    def f(self):\n        from helper import x", {"helper.py"}),
        ("try:\n    import numpy\nexcept ImportError:\n    import helper", {"helper.py"}),
        ("if False:\n    import helper", {"helper.py"}),
        ("async def f():\n    async with a:\n        import helper", {"helper.py"}),
        ("match 1:\n    case 1:\n        import helper", {"helper.py"}),
        ("import importlib\nimportlib.import_module('helper')", {"helper.py"}),
        ("x = __import__('helper')", {"helper.py"}),
        ("import package", {"package/__init__.py"}),
        ("import package.inner", {"package/__init__.py", "package/inner.py"}),
        ("from package import inner", {"package/__init__.py", "package/inner.py"}),
        ("from package import *", {"package/__init__.py", "package/listed.py"}),
        ("import package\npackage.inner.f()", {"package/__init__.py", "package/inner.py"}),
        ("import package as p\nf = p.inner.f", {"package/__init__.py", "package/inner.py"}),
        ("from package.deep import far", {
            "package/__init__.py", "package/deep/__init__.py", "package/deep/far.py",
            "package/inner.py", "package/deep/near.py"}),
        ("from bare.leaf import x", {"bare/leaf.py"}),
        ("import lazy\nlazy.one()", {"lazy/__init__.py", "lazy/first.py"}),
        ("from lazy import two", {"lazy/__init__.py", "lazy/second.py"}),
        ("from lazy import three", {"lazy/__init__.py", "lazy/third.py"}),
        ("import lazy\nf(lazy)", {
            "lazy/__init__.py", "lazy/first.py", "lazy/second.py", "lazy/third.py"}),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import helper", set()),
        ("import helpers", set()),
        ("import json, numpy.linalg, nowhere.at.all", set()),
        ("# import helper\nx = 'import helper'", set()),
        ("def broken(:", set()),
    ],
)  # fmt: skip
def test_every_local_module_that_a_file_imports_is_found(tmp_path, text, more):
    written(
        tmp_path,
        solver=text,
        helper="",
        other="",
        package__in____init__="__all__ = ['listed', 'f']\n",
        package__in__inner="",
        package__in__listed="",
        package__in__deep__in____init__="from ..inner import x",
        package__in__deep__in__far="from . import near",
        package__in__deep__in__near="from .. import nothing",
        bare__in__leaf="",
        lazy__in____init__="HOME = {'one': 'lazy.first', 'two': '.second', 'three': 'third'}\n"
        "def __getattr__(name): ...",
        lazy__in__first="",
        lazy__in__second="",
        lazy__in__third="",
    )
    # `lazy.first` is found on sys.path alone: a package's own dictionary names it in full
    if "lazy" in text:
        sys.path.append(str(tmp_path))
    try:
        assert names(tmp_path) == {"solver.py"} | more
    finally:
        if "lazy" in text:
            sys.path.remove(str(tmp_path))


def test_what_is_imported_by_what_is_imported(tmp_path):
    written(tmp_path, solver="import a", a="import b", b="import c", c="import a, solver")
    assert names(tmp_path) == {"solver.py", "a.py", "b.py", "c.py"}


def test_a_neighbour_hides_a_library_and_is_found_on_the_path_elsewhere(tmp_path, monkeypatch):
    here = written(tmp_path / "here", solver="import random, yonder", random="")
    there = written(tmp_path / "there", yonder="import further", further="")
    monkeypatch.syspath_prepend(str(there))
    found = closure(here / "solver.py")
    assert set(found) == {
        here / "solver.py", here / "random.py", there / "yonder.py", there / "further.py"
    }  # fmt: skip


def test_a_compiled_neighbour_counts_as_its_bytes(tmp_path):
    from importlib.machinery import EXTENSION_SUFFIXES

    written(tmp_path, solver="import fast")
    (tmp_path / f"fast{EXTENSION_SUFFIXES[0]}").write_bytes(b"\x7fELF")
    assert names(tmp_path) == {"solver.py", f"fast{EXTENSION_SUFFIXES[0]}"}


def test_modules_of_fwbench_count_by_what_is_used_of_them(tmp_path):
    def ours(text):
        written(tmp_path, solver=text)
        return {p.relative_to(HOME).as_posix() for p in closure(tmp_path / "solver.py")
                if p.is_relative_to(HOME)}  # fmt: skip

    few = ours("from fwbench.errors import Refused")
    assert few == {"__init__.py", "errors.py"}
    assert ours("import fwbench as fw\nfw.__version__") == {"__init__.py"}
    assert "problem.py" in ours("import fwbench as fw\nfw.QuadraticOverHull([[1.0]])")
    assert "api.py" not in ours("import fwbench as fw\nfw.QuadraticOverHull([[1.0]])")
    assert "api.py" in ours("from fwbench import solve")
    assert {"api.py", "geometry/forms.py"} <= ours("import fwbench\nprint(fwbench)")


def test_the_harness_is_what_judges_and_not_what_reports():
    found = {p.relative_to(HOME).as_posix() for p in closure(HOME / "runner.py")}
    assert {"judge.py", "rest.py", "timing.py", "solver.py", "geometry/forms.py"} <= found
    assert not [name for name in found if name.startswith(("report/", "cli/", "analysis/"))]


def test_solvers_of_the_suite_are_known_by_name_and_file():
    assert set(closure(catalog.files("solvers")["away_steps"])) >= {
        HOME / "scored.py", HOME / "kernels" / "pricing.py"
    }  # fmt: skip


# -- digests of code -------------------------------------------------------------------------

TREE = {
    "solver": "import numpy as np\nfrom near import f",
    "near": "import package\ndef f():\n    import late",
    "package__in____init__": "from . import inner",
    "package__in__inner": "from .innermost import x",
    "package__in__innermost": "x = 1",
    "late": "y = 1",
    "unrelated": "import numpy",
}


@pytest.mark.parametrize("digest", [sources.solver_digest, sources.problem_digest])
@pytest.mark.parametrize(
    ("edited", "counts"),
    [
        ("solver", True), ("near", True), ("package__in____init__", True),
        ("package__in__inner", True), ("package__in__innermost", True), ("late", True),
        ("unrelated", False),
    ],
)  # fmt: skip
def test_an_edit_counts_where_it_is_imported(tmp_path, digest, edited, counts):
    written(tmp_path, **TREE)
    source = str(tmp_path / "solver.py")
    before = digest(source)
    assert digest(source) == before
    written(tmp_path, **{edited: TREE[edited] + "\n# a comment"})
    assert (digest(source) != before) == counts


def test_an_edit_at_once_and_of_the_same_size_counts(tmp_path):
    """Neither the size nor a coarse clock shows it."""
    digests = set()
    for number in range(8):
        written(tmp_path, solver=f"import near; x = {number}", near=f"x = {number}")
        digests.add(sources.solver_digest(str(tmp_path / "solver.py")))
        written(tmp_path, near=f"y = {number}")
        digests.add(sources.solver_digest(str(tmp_path / "solver.py")))
    assert len(digests) == 16


def test_a_clock_that_stands_still_hides_no_edit(tmp_path):
    later = time.time() + 1000
    for number in range(4):
        written(tmp_path, solver=f"import near; x = {number}", near=f"x = {number}")
        os.utime(tmp_path / "near.py", (later, later))
        before = sources.solver_digest(str(tmp_path / "solver.py"))
        written(tmp_path, near=f"y = {number}")
        os.utime(tmp_path / "near.py", (later, later))
        assert sources.solver_digest(str(tmp_path / "solver.py")) != before


def test_a_new_module_that_is_imported_counts(tmp_path):
    written(tmp_path, solver="try:\n    import late\nexcept ImportError:\n    late = None")
    before = sources.solver_digest(str(tmp_path / "solver.py"))
    written(tmp_path, late="x = 1")
    assert sources.solver_digest(str(tmp_path / "solver.py")) != before


def test_the_same_code_in_another_folder_has_the_same_digest(tmp_path, monkeypatch):
    for folder in ("one", "two/deeper"):
        written(tmp_path / folder, **TREE)
    one, two = (tmp_path / folder / "solver.py" for folder in ("one", "two/deeper"))
    digest = sources.solver_digest(str(one))
    assert sources.solver_digest(str(two)) == digest
    monkeypatch.chdir(tmp_path / "one")
    assert sources.solver_digest("solver.py") == digest
    monkeypatch.syspath_prepend(str(tmp_path))
    assert sources.solver_digest(str(two)) == digest


def test_files_that_trade_places_count(tmp_path):
    written(tmp_path, solver="import a, b", a="x = 1", b="x = 2")
    before = sources.solver_digest(str(tmp_path / "solver.py"))
    written(tmp_path, a="x = 2", b="x = 1")
    assert sources.solver_digest(str(tmp_path / "solver.py")) != before


def test_the_version_of_a_library_that_a_users_file_imports_counts(tmp_path, monkeypatch):
    written(tmp_path, solver="import helper", helper="def f():\n    import sklearn.svm")
    source = str(tmp_path / "solver.py")
    before = sources.solver_digest(source)
    versions = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda n: "9" if n == "scikit-learn" else versions(n)
    )
    sources._version.cache_clear()
    sources._installed_version.cache_clear()
    try:
        assert sources.solver_digest(source) != before
    finally:
        monkeypatch.undo()
        sources._version.cache_clear()
        sources._installed_version.cache_clear()


def test_auto_is_all_that_it_may_choose():
    names = {name for name, _ in sources._choosing()}
    assert "fwbench/choose.py" in names
    assert {
        "fwbench/solvers/working_set.py", "fwbench/solvers/projected_newton.py",
        "fwbench/solvers/vertex_enumeration.py", "fwbench/solvers/away_steps.py",
        "fwbench/solvers/extragradient.py", "fwbench/solvers/projected_gradient.py",
    } <= names  # fmt: skip
    assert sources.solver_digest("auto") != sources.solver_digest("working_set")


@pytest.mark.parametrize("group", ["solvers", "problems"])
def test_every_entry_of_the_suite_has_a_digest_of_its_own(group):
    digest = sources.solver_digest if group == "solvers" else sources.problem_digest
    known = catalog.files(group)
    assert len({digest(name) for name in known}) == len(known)


def test_an_entry_point_is_its_distribution_and_its_file(tmp_path, monkeypatch):
    site = tmp_path / "site-packages"
    written(site, plugin="ENTRY = None")
    monkeypatch.syspath_prepend(str(site))
    distribution = SimpleNamespace(name="plugin", version="1")

    def point(value="plugin:ENTRY"):
        made = importlib.metadata.EntryPoint("mine", value, "fwbench.solvers")
        object.__setattr__(made, "dist", distribution)
        return made

    monkeypatch.setattr(sources, "registered", lambda group: {"mine": point()})
    first = sources.solver_digest("mine")
    distribution.version = "2"
    second = sources.solver_digest("mine")
    written(site, plugin="ENTRY = 1")
    assert len({first, second, sources.solver_digest("mine")}) == 3
    monkeypatch.setattr(sources, "registered", lambda group: {"mine": point("nowhere:ENTRY")})
    assert sources.solver_digest("mine")


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(UnknownName, match="no file"):
        sources.solver_digest(str(tmp_path / "gone.py"))
    with pytest.raises(UnknownName, match="no problem is called 'gone'"):
        sources.problem_digest("gone")


def test_an_edit_of_the_harness_counts(tmp_path):
    """In copies of the package, each time by a new process."""
    for folder in ("fwbench", "solvers", "problems"):
        unused = shutil.ignore_patterns("__pycache__", "data", "templates")
        shutil.copytree(HOME.parent / folder, tmp_path / "one" / folder, ignore=unused)
    (tmp_path / "one" / "pyproject.toml").touch()
    shutil.copytree(tmp_path / "one", tmp_path / "two")

    def digests(place):
        code = (
            "from fwbench.execution.sources import *; import fwbench;"
            "print(fwbench.__file__, solver_digest('frank_wolfe'), problem_digest('polygon'))"
        )
        folder = tmp_path / place
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder, env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        file, *found = done.stdout.split()
        assert file == str(folder / "fwbench" / "__init__.py")
        return found

    def edit(name):
        path = tmp_path / "two" / name
        path.write_text(path.read_text() + "# edited\n")

    first = digests("one")
    assert digests("two") == first  # where it lies makes no difference
    edit("fwbench/report/html.py")
    edit("solvers/away_steps.py")
    assert digests("two") == first
    edit("fwbench/judge.py")
    second = digests("two")
    assert second[0] != first[0]
    assert second[1] == first[1]


def test_a_module_edited_since_this_process_began_is_this_process_s_alone(tmp_path):
    """Nobody can tell whether it was imported before or after."""
    path = tmp_path / "judge.py"
    path.write_text("")
    new = sources._own_content(path)
    sources._own_content.cache_clear()
    os.utime(path, (1e9, 1e9))
    assert sources._own_content(path) == sources.content(str(path))
    assert new != sources.content(str(path))


# -- files that are opened -------------------------------------------------------------------


def _mat(path):
    from scipy.io import savemat

    savemat(path, {"atoms": np.eye(2)})


def _load_mat(path):
    from scipy.io import loadmat

    loadmat(path)


def _read_csv(path):
    import pandas as pd

    pd.read_csv(path)


def _by_number(path):
    os.close(os.open(path, os.O_RDONLY))


def _by_bytes(path):
    with open(os.fsencode(path), "rb") as opened:
        opened.read()


def _by_line(path):
    with path.open(encoding="utf-8") as lines:
        next(lines)


@pytest.mark.parametrize(
    ("name", "write", "read"),
    [
        ("a.npy", lambda p: np.save(p, np.eye(2)), np.load),
        ("a.npz", lambda p: np.savez(p, a=np.eye(2)), lambda p: np.load(p).close()),
        ("a.npy", lambda p: np.save(p, np.eye(2)), lambda p: np.load(p, mmap_mode="r")),
        ("a.txt", lambda p: p.write_text("1 2\n"), np.loadtxt),
        ("a.bin", lambda p: p.write_bytes(b"12345678"), np.fromfile),
        ("a.txt", lambda p: p.write_text("text\n"), Path.read_text),
        ("a.txt", lambda p: p.write_text("text\n"), _by_line),
        ("a.txt", lambda p: p.write_text("text\n"), _by_bytes),
        ("a.txt", lambda p: p.write_text("text\n"), _by_number),
        ("a.csv", lambda p: p.write_text("a,b\n1,2\n"), _read_csv),
        ("a.mat", _mat, _load_mat),
    ],
)  # fmt: skip
def test_a_file_that_is_read_is_noted(tmp_path, name, write, read):
    path = tmp_path / name
    write(path)
    with Opened() as opened:
        read(path)
    # pandas looks a time zone up, once a process
    noted = {name: digest for name, digest in opened.files.items() if "zoneinfo" not in name}
    assert noted == {str(path): sources.content(str(path))}
    assert len(noted[str(path)]) == 16


def test_what_is_no_data_is_not_noted(tmp_path, monkeypatch):
    import socket

    monkeypatch.chdir(tmp_path)
    for name in ("code.py", "code.pyc", "old.txt", "log.txt"):
        Path(name).write_text("x = 1")
    os.mkfifo("pipe")
    with Opened() as opened:
        Path("new.txt").write_text("written")
        Path("old.txt").write_text("written over")
        with open("log.txt", "a") as log:
            log.write("a line")
        Path("code.py").read_text()
        Path("code.pyc").read_bytes()
        Path("/proc/self/stat").read_text()
        Path(os.devnull).read_bytes()
        os.listdir()
        os.close(os.open("pipe", os.O_RDONLY | os.O_NONBLOCK))
        with pytest.raises(FileNotFoundError):
            Path("gone.txt").read_text()
        with pytest.raises(IsADirectoryError):
            Path().read_bytes()
        with pytest.raises(ValueError, match="null"):
            Path("a\0b").read_text()
        with socket.socket() as made, open(made.fileno(), "rb", closefd=False):
            pass
        with open(Path(sysconfig.get_path("stdlib")) / "LICENSE.txt") as shipped:
            shipped.read()
        with open(Path(np.__file__).parent / "version.pyi") as shipped:
            shipped.read()
    assert opened.files == {str(tmp_path / "gone.txt"): ""}  # were it there, it would be data


def test_a_folder_counts_by_the_names_in_it(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.npy").touch()
    seen = []
    for name in ("a.npy", "b.npy"):
        (folder / name).touch()
        with Opened() as opened:
            assert len([*folder.glob("*.npy")]) == len(seen) + 1
        seen.append(opened.files[f"{folder}{os.sep}"])
    assert seen[0] != seen[1]


def test_only_while_somebody_listens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("before", "outer", "inner", "after"):
        Path(name).write_text(name)
    Path("before").read_text()
    with Opened() as outer:
        Path("outer").read_text()
        with suppress(RuntimeError), Opened() as inner:
            Path("inner").read_text()
            raise RuntimeError
        Path("after").read_text()
    Path("before").read_text()
    assert [Path(name).name for name in outer.files] == ["outer", "inner", "after"]
    assert [Path(name).name for name in inner.files] == ["inner"]
    assert all(Path(name).is_absolute() for name in outer.files)


def test_a_file_counts_as_it_was_when_it_was_read(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    before = sources.content(str(path))
    with Opened() as opened:
        path.read_text()
        path.write_text("new")
        path.read_text()
    assert opened.files == {str(path): before}


# -- problems that are not built again -------------------------------------------------------

PROBLEM = """
from pathlib import Path
import numpy as np
from fwbench.problem import ProblemEntry, QuadraticOverHull
import shape

def make(size: float = 1.0):
    return QuadraticOverHull(size * np.loadtxt(Path(__file__).with_name("data.txt")))

ENTRY = ProblemEntry("made", make, "made")
"""


@pytest.fixture
def origin(tmp_path):
    written(tmp_path, problem=PROBLEM, shape="", other="")
    (tmp_path / "data.txt").write_text("1 2\n3 4\n")
    (tmp_path / "more.txt").write_text("")
    [choice] = catalog.choices("problems", str(tmp_path / "problem.py"))
    with Opened() as opened:
        catalog.build_problem(choice)
    assert [Path(name).name for name in opened.files] == ["data.txt"]
    return choice, opened.files, sources.built_from(choice, opened.files)


@pytest.mark.parametrize(
    ("edit", "same"),
    [
        (lambda f: None, True),
        (lambda f: (f / "other.py").write_text("x = 1"), True),
        (lambda f: (f / "more.txt").write_text("x"), True),
        (lambda f: (f / "data.txt").write_text("1 2\n3 5\n"), False),
        (lambda f: (f / "data.txt").unlink(), False),
        (lambda f: (f / "shape.py").write_text("x = 1"), False),
        (lambda f: (f / "problem.py").write_text(PROBLEM + "# a comment"), False),
        (lambda f: (f / "problem.py").unlink(), False),
    ],
)
def test_a_problem_is_what_it_was_built_from(tmp_path, origin, edit, same):
    edit(tmp_path)
    assert sources.still_built_from(*origin) == same


CACHED = """
from functools import cache
from pathlib import Path
import numpy as np
from fwbench.problem import ProblemEntry, QuadraticOverHull
import tables

@cache
def rows():
    return np.loadtxt(Path(__file__).with_name("late.txt"))

def make(size: float = 1.0):
    return QuadraticOverHull(size * (rows() + tables.ROWS))

ENTRY = ProblemEntry("cached", make, "made")
"""


def test_what_is_read_once_a_process_counts_for_all_that_are_built_there(tmp_path):
    """At import, or by a function that keeps it."""
    read = "import numpy as np\nROWS = np.loadtxt(__file__.replace('tables.py', 'early.txt'))"
    written(tmp_path, cached=CACHED, tables=read)
    for name in ("early.txt", "late.txt"):
        (tmp_path / name).write_text("1 2\n3 4\n")
    for size in (1, 2, 3):
        [choice] = catalog.choices("problems", f"{tmp_path / 'cached.py'}[size={size}]")
        with Opened() as opened:
            assert catalog.build_problem(choice).atoms.sum() == 20 * size
        assert sorted(Path(name).name for name in opened.files) == ["early.txt", "late.txt"]
    before = sources.built_from(choice, opened.files)
    assert sources.still_built_from(choice, opened.files, before)
    (tmp_path / "early.txt").write_text("1 2\n3 5\n")
    assert not sources.still_built_from(choice, opened.files, before)
    [again] = catalog.choices("problems", f"{tmp_path / 'cached.py'}[size=1]")
    assert catalog.build_problem(again).atoms.sum() == 21


def test_data_of_the_suite_counts_for_each_of_its_problems():
    for digit in (0, 1):
        [choice] = catalog.choices("problems", f"digits[digit={digit}]")
        with Opened() as opened:
            catalog.build_problem(choice)
        assert [Path(name).name for name in opened.files] == ["digits.npz"]


def test_other_parameters_are_another_problem(tmp_path, origin):
    _, files, before = origin
    [other] = catalog.choices("problems", f"{tmp_path / 'problem.py'}[size=2]")
    assert not sources.still_built_from(other, files, before)


# -- keys ------------------------------------------------------------------------------------


def test_a_key_is_the_same_for_the_same_and_another_for_anything_else():
    key = cache_key("id", "solver", "bytes", FACTS)
    assert len(key) == 16
    assert key == cache_key("id", "solver", "bytes", dict(reversed(FACTS.items())))
    others = [
        cache_key("other", "solver", "bytes", FACTS),
        cache_key("id", "other", "bytes", FACTS),
        cache_key("id", "solver", "other", FACTS),
        *(cache_key("id", "solver", "bytes", {**FACTS, name: value})
          for name, value in {"threads": 2, "host": "there", "shared": True, "schema": 2,
                              "library": "daqp"}.items()),
    ]  # fmt: skip
    assert len({key, *others}) == 9


def test_a_key_holds_the_versions(monkeypatch):
    key = cache_key("id", "solver", "bytes", FACTS)
    monkeypatch.setattr(sources, "numerics", lambda library: {"numpy": "0"})
    other = cache_key("id", "solver", "bytes", FACTS)
    assert other != key


def test_a_foreign_code_counts_for_its_own_solvers_alone():
    own, foreign = sources.numerics(), sources.numerics("cvxpy")
    assert set(own) == {"python", "fwbench", "numpy", "numba", "llvmlite", "scipy", "cvxpy"}
    assert set(foreign) - set(own) == {"clarabel"}
    assert sources.numerics("no such library") == own
