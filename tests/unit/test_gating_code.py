"""Two versions of the code side by side: each runs its own files, and nothing of the other's."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from fwbench.errors import GateError, InvalidParameter, RunFolderError, UnknownName
from fwbench.gating import making
from fwbench.gating.code import both, inside, twice

from .made_packages import committed, git, made_wheel, quickly_built, says, write

ROOT = Path(__file__).resolve().parents[2]
SETUPTOOLS = """
    [build-system]
    requires = ["setuptools", "wheel"]
    build-backend = "setuptools.build_meta"
    [project]
    name = "mine"
    version = "{version}"
    [project.entry-points."fwbench.solvers"]
    {entry} = "mine:ENTRY"
    [tool.setuptools]
    package-dir = {{ "mine" = "code/my" }}
    packages = ["mine"]
"""
# As an editable install that goes before everything: it knows more modules than version 1 has.
EDITABLE = """
    import sys
    from importlib.machinery import PathFinder
    from importlib.util import spec_from_file_location

    class Editable:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "mine":
                file = {folder!r} + "/mine/__init__.py"
                return spec_from_file_location(name, file)
            if name.startswith("mine."):
                return PathFinder.find_spec(name, [{folder!r} + "/mine"])

    sys.meta_path.insert(0, Editable)
    sys.was_customized = True
"""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Return a folder of the user's on PYTHONPATH, in which `mine` is installed editably."""
    folder = tmp_path_factory.mktemp("elsewhere")
    modules = {"mine/__init__.py": "VALUE = 99\n", "mine/added.py": "", "beside.py": "VALUE = 5\n"}
    return write(folder, modules | {"sitecustomize.py": EDITABLE.format(folder=str(folder))})


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Return a repository with a version 1 and an edited working tree."""
    top = tmp_path_factory.mktemp("repository").resolve()
    old = {
        "pyproject.toml": SETUPTOOLS.format(version="1.0", entry="old"),
        "code/my/__init__.py": "VALUE = 1\n",
        "lab/tried.py": "VALUE = 1\n",
        "lab/gone.py": "",
        "lab/kept.csv": "1,2\n",
        "more/shared.py": "VALUE = 1\n",
        ".gitignore": "*.npy\n/lab/draft*\n",
        ".gitattributes": "lab export-ignore\n",
    }
    committed(top, old)
    (top / "lab" / "link.csv").symlink_to("kept.csv")
    committed(top, {})
    git(top, "tag", "v1")
    (top / "lab" / "gone.py").unlink()
    new = {
        "pyproject.toml": SETUPTOOLS.format(version="2.0", entry="new"),
        "code/my/__init__.py": "VALUE = 2\n",
        "code/my/added.py": "",
        "lab/tried.py": "VALUE = 2\n",
        "lab/fresh.csv": "3,4\n",
        "lab/points.npy": "ignored by git",
        "lab/draft.py": "import draft_part\n",
        "lab/draft_part.py": "",
        "more/shared.py": "VALUE = 2\n",
    }
    return write(top, new)


@pytest.fixture(scope="module")
def sides(repository, elsewhere):
    """Return both sides of the repository, from a folder of it."""
    path = os.pathsep.join(map(str, (elsewhere, repository / "more")))
    words = ["draft.py[step=1]", "file[path=points.npy]", "nowhere.py", "tried.py"]
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("PYTHONPATH", path)
            patched.setenv("PIP_NO_INDEX", "1")  # nothing is fetched
            patched.setenv("GIT_DIR", str(repository / "nowhere"))  # as a hook has it
            made = stack.enter_context(both("v1", repository / "lab", words))
        yield made


# -- a revision beside the working tree ------------------------------------------------------


def test_each_side_imports_its_own_package(sides):
    assert [says(code, "mine.VALUE", "mine") for code in sides] == [1, 2]
    for code in sides:
        where = "[mine.__file__, fwbench.__file__]"
        own, ours = says(code, where, "mine", "fwbench")
        assert Path(own).is_relative_to(code.overlay)
        assert not Path(ours).is_relative_to(code.overlay.parent)  # that of the interpreter


def test_a_side_lacks_the_modules_that_only_the_other_has(sides):
    asked = "[importlib.util.find_spec('mine.added') is not None]"
    new = says(sides[1], asked, "importlib.util", "mine")
    assert new == [True]
    with pytest.raises(AssertionError, match=r"No module named 'mine\.added'"):
        says(sides[0], "0", "mine.added")


def test_entry_points_are_those_of_the_version(sides):
    asked = "[p.name for p in importlib.metadata.entry_points(group='fwbench.solvers')]"
    assert [says(code, asked, "importlib.metadata") for code in sides] == [["old"], ["new"]]


def test_the_folder_of_the_user_is_that_of_each_side(sides, repository):
    base, new = ({path.name for path in code.folder.iterdir()} for code in sides)
    carried = {"draft.py", "draft_part.py", "points.npy"}
    assert base == {"tried.py", "gone.py", "kept.csv", "link.csv"} | carried
    assert new == {"tried.py", "fresh.csv", "kept.csv", "link.csv"} | carried
    texts = [(code.folder / "tried.py").read_text() for code in sides]
    assert texts == ["VALUE = 1\n", "VALUE = 2\n"]
    assert all((code.folder / "link.csv").readlink() == Path("kept.csv") for code in sides)
    assert not any(code.folder.is_relative_to(repository) for code in sides)


def test_what_the_user_has_on_the_path_is_there_too(sides):
    values = [says(code, "[beside.VALUE, shared.VALUE]", "beside", "shared") for code in sides]
    assert values == [[5, 1], [5, 2]]  # of the repository it is each side's own
    assert all(says(code, "sys.was_customized", "sys") for code in sides)


def test_the_folder_in_which_a_side_runs_hides_no_module(sides):
    asked = "[importlib.util.find_spec('tried') is None]"  # tried.py lies in that folder
    assert [says(code, asked, "importlib.util") for code in sides] == [[True], [True]]


def test_names_say_which_is_which(sides, repository):
    commit = git(repository, "rev-parse", "v1")[:12]
    assert [code.name for code in sides] == [
        f"v1 ({commit})",
        f"the working tree ({commit}, with changes)",
    ]


def test_environments_are_equally_long_and_steer_nothing(sides, monkeypatch):
    for name in ("PYTEST_ADDOPTS", "COV_CORE_SOURCE", "PYTHONINSPECT", "PYTHONOPTIMIZE", "GIT_DIR"):
        monkeypatch.setenv(name, "1")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "2")
    base, new = (code.environment(7) for code in sides)
    assert list(base) == list(new)
    lengths = [{k: len(v) for k, v in one.items()} for one in (base, new)]
    assert lengths[0] == lengths[1]
    assert new["PYTHONHASHSEED"] == "7"
    assert new["NUMBA_CACHE_DIR"] == str(sides[1].kernels) != base["NUMBA_CACHE_DIR"]
    assert (new["OMP_NUM_THREADS"], new["MKL_NUM_THREADS"]) == ("1", "2")
    assert new["PYTHONPATH"].startswith(str(sides[1].overlay) + os.pathsep)
    strange = ("PYTEST_", "COV", "PYTHONINSPECT", "PYTHONOPTIMIZE", "GIT_DIR")
    assert [name for name in new if name.startswith(strange)] == []


def test_the_repository_stays_as_it_was(sides, repository):
    assert sorted(path.name for path in repository.iterdir()) == [
        ".git", ".gitattributes", ".gitignore", "code", "lab", "more", "pyproject.toml",
    ]  # fmt: skip


# -- packages that build in other ways -------------------------------------------------------


@pytest.fixture
def room(tmp_path, monkeypatch):
    """Return the folder in which rooms are made."""
    folder = tmp_path / "rooms"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_what_was_made_is_gone_at_the_end(tmp_path, room):
    top = committed(tmp_path / "top", {"one.py": "VALUE = 1\n"})
    with both("HEAD", top) as made:
        assert [code.overlay for code in made] == [None, None]  # nothing is to be built
        assert [code.name.startswith("the working tree") for code in made] == [False, True]
        assert "with changes" not in made[1].name
        assert all((code.folder / "one.py").is_file() for code in made)
        assert list(room.iterdir()) != []
    assert list(room.iterdir()) == []


def test_a_package_below_the_top_may_ask_git_for_its_version(tmp_path, room, monkeypatch):
    before = """
said = subprocess.run(["git", "describe"], capture_output=True, text=True).stdout.strip()
pathlib.Path("src/mine/tag.py").write_text(f"TAG = {said!r}")
"""
    package = quickly_built(before)
    top = committed(tmp_path / "top", {f"part/{name}": text for name, text in package.items()})
    git(top, "tag", "-a", "-m", "first", "v0.3")
    monkeypatch.setenv("GIT_DIR", str(tmp_path))  # as a hook has it
    with twice(top / "part" / "src") as made:
        assert [says(code, "mine.tag.TAG", "mine.tag") for code in made] == ["v0.3", "v0.3"]
        assert made[0].name == made[1].name
        assert made[0].overlay != made[1].overlay
        assert made[0].folder.parts[-3:] == ("tree", "part", "src")
        assert not (made[0].folder.parents[1] / ".git").exists()
    assert git(top, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_backend_that_is_not_installed_is_fetched(tmp_path, room, monkeypatch):
    files = quickly_built()
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    made_wheel(shelf, "unheard_of_backend", files.pop("backend.py"))
    files["pyproject.toml"] = """
        [build-system]
        requires = ["unheard_of_backend"]
        build-backend = "unheard_of_backend"
    """
    top = write(committed(tmp_path / "top", {"one.py": ""}), files)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    with both("HEAD", top) as (base, new):
        assert base.overlay is None  # no package yet
        assert says(new, "mine.VALUE", "mine") == 1


def test_a_build_that_fails_says_so_and_ends_the_other(tmp_path, room, monkeypatch):
    monkeypatch.setattr(making, "cores", lambda: [0, 1])  # both are built at the same time
    endless = quickly_built("import signal\nsignal.pause()")
    top = committed(tmp_path / "top", endless)
    write(top, quickly_built("raise SystemExit('the compiler is on holiday')"))
    message = r"^the working tree \(.{12}, with changes\) cannot be built: .*compiler is on holiday"
    with pytest.raises(GateError, match=message), both("HEAD", top):
        pass
    assert list(room.iterdir()) == []


def test_what_git_does_not_hold_itself_is_noted(tmp_path, room):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"
    files = {"big.npy": pointer, ".gitattributes": "*.npy filter=lfs\n"}
    top = committed(tmp_path / "top", files)
    head = git(top, "rev-parse", "HEAD").strip()
    git(top, "update-index", "--add", "--cacheinfo", f"160000,{head},theirs")
    git(top, "commit", "-qm", "a submodule")
    (top / "theirs").mkdir()
    with both("HEAD", top) as made:
        assert [code.notes for code in made] == 2 * [
            (
                "submodules are left out: theirs",
                "1 files of git LFS are pointers only: git lfs pull brings them",
            )
        ]


# -- what is no base -------------------------------------------------------------------------


def test_an_unknown_revision_is_named_with_the_nearest(tmp_path, room):
    top = committed(tmp_path / "top", {"run.sh": "#!/bin/sh\ntouch ran\n"})
    (top / "run.sh").chmod(0o755)
    git(top, "branch", "release")
    for ref, hint in (("relaese", "did you mean release?"), ("run.sh", "known: main, release")):
        with pytest.raises(UnknownName) as told, both(ref, top):
            pass
        assert str(told.value) == (
            f"{ref} is no revision of {top}, no wheel and no interpreter; {hint}"
        )
    assert not (top / "ran").exists()  # whatever can be executed is not executed to see


@pytest.mark.parametrize("ref", ["", " "])
def test_an_empty_base_is_not_the_last_commit(tmp_path, room, ref):
    top = committed(tmp_path / "top", {"a.py": ""})
    with pytest.raises(UnknownName, match="the base is empty"), both(ref, top):
        pass


@pytest.mark.parametrize("ref", ["HEAD", "gone.whl"])
def test_without_a_repository_there_are_no_revisions(tmp_path, room, ref):
    with (
        pytest.raises(UnknownName, match=f"in no git repository|there is no wheel .*{ref}"),
        both(ref, tmp_path),
    ):
        pass
    assert list(room.iterdir()) == []


def test_a_repository_without_a_commit_has_no_base(tmp_path, room):
    git(tmp_path, "init", "-q")
    with (
        pytest.raises(GateError, match="has no commit yet, so there is no main"),
        both("main", tmp_path),
    ):
        pass


def test_a_shallow_clone_says_how_to_get_the_rest(tmp_path, room):
    top = committed(tmp_path / "top", {"one.py": ""})
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{top}", "shallow")
    with (
        pytest.raises(UnknownName, match="this clone is shallow, git fetch --unshallow"),
        both("HEAD~1", tmp_path / "shallow"),
    ):
        pass


def test_without_git_or_pip_a_sentence_says_so(tmp_path, room, monkeypatch):
    top = committed(tmp_path / "top", quickly_built())
    venv.create(tmp_path / "bare", with_pip=False)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
        with (
            pytest.raises(GateError, match="has no pip, which the gate builds with; install it"),
            both("HEAD", top),
        ):
            pass
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with (
        pytest.raises(GateError, match="there is no program git, and the gate needs it"),
        both("HEAD", top),
    ):
        pass


def test_a_full_disk_is_a_sentence(tmp_path, room, monkeypatch):
    top = committed(tmp_path / "top", {"one.py": ""})

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copy2", full)
    with (
        pytest.raises(RunFolderError, match="cannot be written: the disk is full"),
        both("HEAD", top),
    ):
        pass
    assert list(room.iterdir()) == []


# -- wheels and interpreters -----------------------------------------------------------------


def test_a_wheel_stands_beside_what_is_installed(tmp_path, room):
    text = "__version__ = '0.0.1'\n"
    wheel = made_wheel(tmp_path, "fwbench", text, "0.0.1")
    with both(wheel.name, tmp_path) as (base, new):
        assert base.name == "fwbench-0.0.1-py3-none-any.whl"
        assert new.name.startswith("this interpreter (fwbench ")
        assert says(base, "fwbench.__version__", "fwbench") == "0.0.1"
        assert says(new, "fwbench.__version__", "fwbench") != "0.0.1"
        assert base.folder == new.folder == tmp_path.resolve()
        # the editable install of this checkout answers for submodules, but not to this side
        with pytest.raises(AssertionError, match=r"No module named 'fwbench\.errors'"):
            says(base, "0", "fwbench.errors")
        sizes = [
            sum(len(k) + len(v) for k, v in code.environment(1).items()) for code in (base, new)
        ]
        assert sizes[0] == sizes[1]


def test_a_wheel_that_cannot_be_imported_is_named(tmp_path, room):
    wheel = made_wheel(tmp_path, "fwbench", "import unheard_of\n")
    message = "^fwbench-1.0-py3-none-any.whl cannot import fwbench: .*No module named 'unheard_of'"
    with pytest.raises(GateError, match=message), both(str(wheel), tmp_path):
        pass


@pytest.mark.parametrize("ref", ["other", "other/bin/python"])
def test_an_interpreter_stands_as_it_is(tmp_path, room, monkeypatch, ref):
    venv.create(tmp_path / "other", with_pip=False)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "users"))
    [site] = (tmp_path / "other").glob("lib/python*/site-packages")
    with (
        pytest.raises(GateError, match=f"^{ref} cannot import fwbench: .*No module named"),
        both(ref, tmp_path),
    ):
        pass
    write(site, {"fwbench/__init__.py": "__version__ = '0.9'\n"})
    with both(ref, tmp_path) as (base, new):
        assert base.name.startswith(f"{ref} (Python 3.")
        assert base.name.endswith(", fwbench 0.9)")
        assert base.python == tmp_path / "other" / "bin" / "python"
        assert new.python == Path(sys.executable)
        # a package on PYTHONPATH would hide what this interpreter has
        assert [code.environment(1)["PYTHONPATH"] for code in (base, new)] == [
            "",
            str(tmp_path / "users"),
        ]


def test_outside_a_repository_twice_is_the_interpreter(tmp_path, room):
    with twice(tmp_path) as made:
        assert [code.overlay for code in made] == [None, None]
        assert made[0].kernels != made[1].kernels


# -- texts -----------------------------------------------------------------------------------


def test_texts_mean_the_same_on_each_side(repository, tmp_path):
    lab = repository / "lab"
    (tmp_path / "far.csv").touch()
    far = os.path.relpath(tmp_path / "far.csv", lab)
    asked = {
        "frank_wolfe[step=open_loop(2)]": "frank_wolfe[step=open_loop(2)]",
        "tried.py[step=1]": "tried.py[step=1]",
        f"{lab}/tried.py[step=1,2]": "tried.py[step=1,2]",
        f"{repository}/code/mine.py": "../code/mine.py",
        f"file[path={lab}/kept.csv,q=0..2]": "file[path=kept.csv,q=0,1,2]",
        f"{far}[q=1]": f"{tmp_path}/far.csv[q=1]",
        f'"{lab}/a [1].csv"': '"a [1].csv"',
    }
    assert inside(list(asked), lab) == list(asked.values())
    assert inside(["one.csv", f"{tmp_path}/far.csv"], tmp_path) == ["one.csv", "far.csv"]
    with pytest.raises(InvalidParameter, match="bracket that closes"):
        inside(["tried.py[step=1"], lab)


# -- Ctrl-C ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_nothing(tmp_path, room, sent):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    before = f"""
import os, signal
with open({str(pipe)!r}, "w") as told:
    told.write(f"{{os.getpid()}}\\n")
signal.pause()
"""
    top = committed(tmp_path / "top", quickly_built(before))
    code = "import sys; from pathlib import Path; from fwbench.gating.code import both\n"
    code += "both('HEAD', Path(sys.argv[1])).__enter__()"
    with subprocess.Popen(
        [sys.executable, "-c", code, top],
        env=os.environ | {"TMPDIR": str(room)},
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        building = psutil.Process(int(pipe.read_text().split()[0]))  # waits until one is at it
        running.send_signal(sent)
        assert "KeyboardInterrupt" in running.communicate()[1]
    assert not building.is_running() or building.status() == psutil.STATUS_ZOMBIE
    assert list(room.iterdir()) == []


# -- fwbench itself --------------------------------------------------------------------------


@pytest.mark.slow
def test_fwbench_stands_beside_itself(tmp_path):
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    with both("HEAD", ROOT) as made:
        for code in made:
            catalogue = "sorted(fwbench.names.files('solvers'))"
            solvers = {path.stem for path in (code.folder / "solvers").glob("*.py")} - {"__init__"}
            assert says(code, catalogue, "fwbench.names") == sorted(solvers)
            files = "[m.__file__ for m in (fwbench, fwbench.solvers.frank_wolfe, fwbench.api)]"
            found = says(code, files, "fwbench.api", "fwbench.solvers.frank_wolfe")
            assert all(Path(file).is_relative_to(code.overlay) for file in found)
            assert Path(says(code, "fwbench.kernels.CACHE_DIR", "fwbench.kernels")).parent == (
                code.kernels
            )
