"""A user's file finds the modules beside it, and is what it says now."""

import os
import pickle
import py_compile
import sys

import pytest

from fwbench.catalog import loaded
from fwbench.errors import UnknownName
from fwbench.execution.sources import closure


def write(folder, **files):
    """Write files by module name, `__in__` for slashes; return the path of main.py."""
    for name, text in files.items():
        path = folder / f"{name.replace('__in__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "main.py"


@pytest.mark.parametrize(
    "text",
    [
        "import helper; x = helper.x",
        "import helper as h; x = h.x",
        "from helper import x",
        "from helper import *",
        "def f():\n    import helper\n    return helper.x\nx = f()",
        "from package.inner import x",
        "from package import inner; x = inner.x",
        "import package.inner; x = package.inner.x",
        "import package.inner as i; x = i.x",
        "from bare.leaf import x",
        "from package.deep import x",
        "import other; x = other.helper.x",
        "import back; x = back.helper.x",
    ],
)
def test_modules_beside_a_file_are_found(tmp_path, text):
    path = write(
        tmp_path,
        main=text,
        helper="x = 1",
        package__in____init__="",
        package__in__inner="from helper import x",
        package__in__deep="from . import inner\nfrom .inner import x",
        bare__in__leaf="x = 1",
        other="import helper",
        back="import helper\nimport main",
    )
    places = list(sys.path)
    assert loaded(path).x == 1
    assert sys.path == places
    assert "helper" not in sys.modules
    assert len(closure(path)) > 1


def test_two_folders_have_a_helper_each_at_any_time(tmp_path):
    text = "import helper\ndef late():\n    import helper, later\n    return helper.x, later.x\n"
    one, two = (
        write(tmp_path / str(n), main=text, helper=f"x = {n}", later=f"x = {10 * n}")
        for n in (1, 2)
    )
    first, second = loaded(one), loaded(two)
    assert (first.helper.x, second.helper.x) == (1, 2)
    assert (second.late(), first.late()) == ((2, 20), (1, 10))


def test_a_file_called_like_a_library_hides_it_from_its_neighbours_alone(tmp_path):
    path = write(
        tmp_path,
        main="import colorsys, random, numpy.random\nx = colorsys.x, random.x",
        colorsys="x = 1",
        random="x = 2",
    )
    assert loaded(path).x == (1, 2)
    import colorsys
    import random

    assert random.random() < 1
    assert colorsys.rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)


def test_a_folder_called_like_a_library_hides_nothing(tmp_path):
    path = write(
        tmp_path, main="import numpy, json\nx = numpy.pi > json.loads('3')", numpy__in__data=""
    )
    (tmp_path / "json").mkdir()
    assert loaded(path).x
    assert len(closure(path)) == 1


def test_fwbench_is_the_one_that_runs(tmp_path):
    path = write(
        tmp_path,
        main="from fwbench.solver import SolverEntry\n",
        fwbench__in____init__="",
        fwbench__in__solver="SolverEntry = None",
    )
    from fwbench.solver import SolverEntry

    assert loaded(path).SolverEntry is SolverEntry


def test_bytecode_is_neither_written_nor_believed(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = write(tmp_path, main="import helper; x = helper.x", helper="x = 1")
    assert loaded(path).x == 1
    assert not list(tmp_path.rglob("__pycache__"))
    # bytecode of another text that claims to be current, whatever its source says
    other = write(tmp_path / "away", helper="x = 2").with_name("helper.py")
    for name in ("main", "helper"):
        py_compile.compile(
            str(other),
            cfile=str(tmp_path / "__pycache__" / f"{name}.{sys.implementation.cache_tag}.pyc"),
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
    write(tmp_path, main="import helper; y = x = helper.x")
    assert loaded(path).y == 1


def test_a_file_that_has_not_changed_is_not_executed_again(tmp_path):
    path = write(tmp_path, main="import helper; x = object()", helper="")
    first = loaded(path)
    assert loaded(path) is first
    assert loaded(tmp_path / "." / "main.py") is first


@pytest.mark.parametrize("edited", ["main", "helper", "package__in__inner"])
def test_an_edit_between_two_loads_is_seen(tmp_path, edited):
    files = {
        "main": "import helper; x = 1, *helper.x",
        "helper": "from package.inner import x as y; x = 1, y",
        "package__in____init__": "",
        "package__in__inner": "x = 1",
    }
    path = write(tmp_path, **files)
    assert loaded(path).x == (1, 1, 1)
    for _ in range(3):  # as many bytes as before, and within a tick of the clock
        write(tmp_path, **{edited: files[edited].replace("1", "2")})
        assert sorted(loaded(path).x) == [1, 1, 2]
        write(tmp_path, **files)
        assert loaded(path).x == (1, 1, 1)


def test_a_module_that_has_come_is_found(tmp_path):
    path = write(tmp_path, main="try:\n    import late\nexcept ImportError:\n    late = None")
    assert loaded(path).late is None
    write(tmp_path, late="x = 1")
    assert loaded(path).late.x == 1


def test_a_file_that_was_read_at_import_is_read_again_after_an_edit(tmp_path):
    path = write(tmp_path, main="import helper; x = helper.x", helper="")
    data = tmp_path / "data"
    helper = tmp_path / "helper.py"
    helper.write_text(f"with open({str(data)!r}) as opened: x = opened.read()")
    for text in ("one", "two", "three"):
        data.write_text(text)
        assert loaded(path).x == text
    os.utime(data, (1e9, 1e9))
    assert loaded(path).x == "three"
    assert loaded(path) is loaded(path)


def test_a_helper_that_is_gone_is_missed(tmp_path):
    path = write(tmp_path, main="import helper", helper="")
    loaded(path)
    (tmp_path / "helper.py").unlink()
    with pytest.raises(UnknownName, match=r"ModuleNotFoundError: .*helper.* \(line 1\)"):
        loaded(path)


def test_a_helper_that_fails_is_named_and_leaves_nothing(tmp_path):
    path = write(tmp_path, main="x = 1\nimport fine, helper", helper="1 / 0", fine="")
    before = set(sys.modules)
    with pytest.raises(UnknownName, match=r"main.py cannot be imported: ZeroDiv.* \(line 2\)"):
        loaded(path)
    assert set(sys.modules) == before
    write(tmp_path, helper="x = 1")
    assert loaded(path).helper.x == 1


def test_what_a_file_defines_is_pickled_and_compiled(tmp_path):
    path = write(
        tmp_path,
        main="import numba\nfrom dataclasses import dataclass, field\nfrom helper import twice\n"
        "@dataclass(frozen=True)\nclass A:\n    x: 'list[int]' = field(default_factory=list)\n"
        "@numba.njit\ndef f(x):\n    return max(twice(x), abs(x))\n",
        helper="import numba\n@numba.njit\ndef twice(x):\n    return 2 * x\n",
    )
    module = loaded(path)
    assert pickle.loads(pickle.dumps(module.A([1]))) == module.A([1])
    assert module.f(4) == 8


@pytest.mark.parametrize("name", ["my-solver.py", "a.b.py", "1.py", "ü.py", "class.py", "a b.py"])
def test_a_file_may_be_called_anything(tmp_path, name):
    write(tmp_path, helper="x = 1")
    (tmp_path / name).write_text("from helper import x\nclass A: pass\n")
    module = loaded(tmp_path / name)
    assert module.x == 1
    assert isinstance(pickle.loads(pickle.dumps(module.A())), module.A)
