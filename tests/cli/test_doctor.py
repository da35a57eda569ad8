import importlib.metadata
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fwbench import doctor, quietness
from fwbench.doctor import State

HEALTHY, BROKEN = 0, 1
GROUPS = ["versions", "machine", "libraries", "clock", "folders", "timing"]


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Watch the machine for a moment only: what it is like is not asked here."""
    monkeypatch.setattr(doctor, "SECONDS", 0.05)


def facts(seconds=0.05):
    return {(fact.group, fact.name): fact for fact in doctor.examine(seconds)}


def test_doctor_names_all_that_a_time_depends_on(fwbench):
    done = fwbench("doctor")
    assert done.code == HEALTHY
    lines = done.out.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == GROUPS
    for word in ("numpy", "scipy", "numba", "cvxpy", "extra peers", "extra dask", "processor",
                 "cores", "frequency", "load", "stolen", "memory", "BLAS of", "timer", "kernels",
                 "temporary"):  # fmt: skip
        assert any(line.strip().startswith(word) for line in lines), word
    assert any("to time on: 95 % within" in line for line in lines)


def test_json_holds_the_same(fwbench):
    done = fwbench("doctor", "--json")
    assert done.code == HEALTHY
    found = done.json
    assert found["broken"] == []
    assert list(found["facts"]) == GROUPS
    assert found["facts"]["versions"]["numpy"]["value"] == importlib.metadata.version("numpy")
    timer = found["facts"]["clock"]["timer"]["value"]
    assert 0 < timer["step_ns"] < 1e6
    assert 0 < timer["look_ns"] < 1e6
    assert found["facts"]["libraries"]["kernels"]["value"] is True
    blas = [value for name, value in found["facts"]["libraries"].items() if "BLAS" in name]
    assert all(one["value"]["num_threads"] >= 1 for one in blas)
    timing = found["facts"]["timing"]
    verdict = next(iter(timing))
    assert timing[verdict]["value"]["verdict"] == verdict
    assert (verdict == "quiet") == (len(timing) == 1)


def test_a_machine_that_is_noisy_is_not_broken(fwbench, monkeypatch):
    monkeypatch.setitem(quietness.LIMITS, "spread", 0.5)
    done = fwbench("doctor")
    assert done.code == HEALTHY
    noisy = done.out[done.out.index("  noisy") :]
    assert "note: too noisy to time on" in noisy
    assert "times the median or more; quiet is at most 0.5" in noisy
    assert "→ close what else runs" in noisy


# -- what is missing or broken -----------------------------------------------------------------


def without(monkeypatch, *missing, **versions):
    true = importlib.metadata.version

    def version(name):
        if name in missing:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions.get(name) or true(name)

    monkeypatch.setattr(importlib.metadata, "version", version)


def test_a_missing_library_is_broken_and_a_missing_extra_is_not(fwbench, monkeypatch):
    without(monkeypatch, "piqp", "torch")
    found = facts()
    extra = found["versions", "extra peers"]
    assert extra.state is State.NOTE
    assert extra.text.startswith("piqp not installed; clarabel")
    assert "pip install 'fwbench[peers]'" in extra.cure
    without(monkeypatch, "scipy")
    done = fwbench("doctor")
    assert done.code == BROKEN
    assert "broken: not installed" in done.out
    assert "pip install 'scipy>=" in done.out
    assert done.out.splitlines()[-1] == "Broken: scipy."
    assert "machine" not in done.out.splitlines()  # nothing more can be asked


def test_an_old_library_is_broken(monkeypatch):
    without(monkeypatch, numpy="1.26.4")
    fact = facts()["versions", "numpy"]
    assert fact.state is State.BROKEN
    assert fact.text.startswith("1.26.4, older than 2.0")
    assert fact.cure == "pip install 'numpy>=2.0'"


def test_a_library_that_cannot_be_imported_is_broken(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    fact = facts()["versions", "threadpoolctl"]
    assert fact.state is State.BROKEN
    assert "cannot be imported: ModuleNotFoundError" in fact.text


def test_a_kernel_that_is_wrong_is_broken(monkeypatch):
    from fwbench.kernels import passes

    monkeypatch.setattr(passes, "least", lambda *arrays: 1.0)
    fact = doctor._kernel("libraries")
    assert fact.state is State.BROKEN
    assert fact.text.startswith("wrong: 1.0 instead of -")


def test_a_folder_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    gone = tmp_path / "gone"
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(gone))
    fact = next(fact for fact in doctor.places() if fact.name == "temporary")
    assert fact.state is State.BROKEN
    assert str(gone) in fact.text
    assert "TMPDIR" in fact.cure


def test_a_broken_installation_can_still_be_looked_at(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ImportError('half a numpy')")
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); sys.argv = ['fwbench', 'doctor']; "
        "from fwbench.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == BROKEN, done.stderr
    assert "half a numpy" in done.stdout
    assert "Traceback" not in done.stderr


def test_where_no_library_is_installed_by_pip_the_needed_ones_are_named(monkeypatch):
    def requires(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", requires)
    assert [name for name, _ in doctor.requirements()[""]] == list(doctor.NEEDED_NOW)


def test_doctor_reads_the_folder_of_the_kernels():
    places = {fact.name: fact for fact in doctor.places()}
    assert "kernels-" in places["kernels"].value["path"]
    assert places["here"].value["path"] == str(Path.cwd())


def test_doctor_says_that_nothing_is_compiled(monkeypatch):
    from fwbench.kernels import passes

    monkeypatch.setattr(passes, "least", lambda *arrays: 1.0)  # as numba does it then
    fact = next(doctor.places())
    assert (fact.name, fact.state) == ("kernels", State.NOTE)
    assert "NUMBA_DISABLE_JIT" in fact.text


def test_a_removed_working_folder_is_named(monkeypatch, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    fact = {fact.name: fact for fact in doctor.places()}["here"]
    assert fact.state is State.NOTE
    assert "No such file" in fact.text
