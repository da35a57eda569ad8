"""Solvers and problems of users: folders of files, and packages that register."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fwbench import catalog
from fwbench.cli.new import write
from fwbench.errors import InvalidParameter, UnknownName


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "mine"
    made.mkdir()
    write("solver", "first_own", made / "first_own.py")
    write("solver", "second_own", made / "second_own.py")
    write("problem", "box", made / "box.py")
    (made / "_shared.py").write_text("raise SystemExit")
    (made / "helping.py").write_text("x = 1")
    (made / "notes.txt").write_text("none of them")
    (made / "deeper").mkdir()
    write("solver", "third_own", made / "deeper" / "third_own.py")
    return made


@pytest.mark.parametrize("ending", ["", os.sep])
def test_a_folder_stands_for_its_files(folder, ending):
    solvers = catalog.choices("solvers", f"{folder}{ending}")
    assert [choice.label for choice in solvers] == ["first_own", "second_own"]
    assert [Path(choice.source).name for choice in solvers] == ["first_own.py", "second_own.py"]
    problems = catalog.choices("problems", f"{folder}{ending}")
    assert [choice.label for choice in problems] == ["box", "box[far=0]"]
    for group, choice in (("solvers", solvers[0]), ("problems", problems[1])):
        [again] = catalog.choices(group, choice.again)
        assert again.text == choice.text


def test_a_seed_reaches_the_files_of_a_folder(folder):
    assert [c.arguments["seed"] for c in catalog.choices("problems", str(folder), 7)] == [7, 7]


def test_the_folder_here_is_one_too(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert len(catalog.choices("solvers", ".")) == 2


def test_a_name_of_the_catalogue_is_no_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    Path("away_steps").mkdir()
    [choice] = catalog.choices("solvers", "away_steps")
    assert choice.source == "away_steps"


def test_a_folder_without_any_is_named(folder):
    with pytest.raises(UnknownName, match=r"ends with ENTRY = ProblemEntry.*\(of 1;"):
        catalog.choices("problems", str(folder / "deeper"))
    (folder / "empty").mkdir()
    with pytest.raises(UnknownName, match=r"ENTRY = SolverEntry.*\(of 0;"):
        catalog.choices("solvers", str(folder / "empty"))


def test_a_file_of_a_folder_that_cannot_be_imported_is_named(folder):
    (folder / "worse.py").write_text("\n\n1 / 0")
    with pytest.raises(UnknownName, match=r"worse.py cannot be imported: ZeroDivision.*\(line 3\)"):
        catalog.choices("solvers", str(folder))


def test_a_folder_has_no_parameters(folder):
    with pytest.raises(InvalidParameter, match="parameters are those of a file"):
        catalog.choices("solvers", f"{folder}[l=3]")


# -- packages that register ----------------------------------------------------------------------


@pytest.fixture
def package(tmp_path):
    """Install a package of two solvers, one broken, and a problem: as pip would leave it."""
    site = tmp_path / "site"
    info = site / "extra_methods-2.1.dist-info"
    info.mkdir(parents=True)
    (site / "extra_methods").mkdir()
    (site / "extra_methods" / "__init__.py").write_text("")
    write("solver", "registered_own", site / "extra_methods" / "method.py")
    write("problem", "registered_box", site / "extra_methods" / "family.py")
    (site / "extra_methods" / "broken.py").write_text("import no_such_library")
    (site / "extra_methods" / "leaving.py").write_text("raise SystemExit(0)")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extra-methods\nVersion: 2.1\n")
    (info / "entry_points.txt").write_text(
        "[fwbench.solvers]\n"
        "registered_own = extra_methods.method:ENTRY\n"
        "broken_own = extra_methods.broken:ENTRY\n"
        "leaving_own = extra_methods.leaving:ENTRY\n"
        "nothing_own = extra_methods.method:NOTHING\n"
        "module_own = extra_methods.method\n"
        "away_steps = extra_methods.method:ENTRY\n"
        "[fwbench.problems]\n"
        "registered_box = extra_methods.family:ENTRY\n"
    )
    return site


def typed(package, folder, *words):
    code = "from fwbench.cli import main; main()"
    path = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
    )


def test_what_a_package_registers_is_listed_and_runs(package, tmp_path):
    listed = typed(package, tmp_path, "list", "solvers").stdout.splitlines()
    [line] = (line for line in listed if line.startswith("registered_own "))
    assert line.split(maxsplit=1)[1] == "from extra-methods 2.1 (extra_methods.method:ENTRY)"
    [own] = (line for line in listed if line.startswith("away_steps "))
    assert "extra-methods" not in own  # a name of the suite stays its own
    words = ("-s", "registered_own", "-p", "registered_box[n=5]", "--max-steps", "20")
    done = typed(package, tmp_path, "run", *words, "--no-report", "--out", "r")
    assert done.returncode == 0, done.stderr
    assert "registered_own on registered_box[n=5]: " in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "broken_own",
            "cannot be imported: ModuleNotFoundError: No module named 'no_such_library'",
        ),
        ("leaving_own", "cannot be imported: SystemExit: 0"),
        ("nothing_own", "cannot be imported: AttributeError"),
        ("module_own", "registered as a module; register extra_methods.method:ENTRY"),
        ("registered_onw", "did you mean registered_own"),
    ],
)
def test_what_is_registered_wrongly_is_named(package, tmp_path, name, said):
    done = typed(package, tmp_path, "describe", name)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    if said.startswith("cannot"):
        assert f"fwbench: {name}, registered by extra-methods 2.1 (extra_methods." in done.stderr


def test_an_entry_made_from_another_one_may_keep_its_grid(tmp_path):
    path = tmp_path / "plain.py"
    path.write_text(
        "import dataclasses\n"
        "from importlib import import_module\n"
        "good = import_module('fwbench.solvers.frank_wolfe').ENTRY\n"
        "ENTRY = dataclasses.replace(good, name='plain', make=lambda: good.make())\n"
    )
    [found] = catalog.choices("solvers", str(path))
    assert found.text == "plain[]"
    [again] = catalog.choices("solvers", found.again)
    assert again.text == found.text
