"""Overlays: what a version of a package installs, in a folder of its own on the same dependencies.

Built by pip, so that src layouts, entry points and maps of packages come out as a user gets them.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from fwbench.disk import failing
from fwbench.errors import GateError, said
from fwbench.gating.commands import Commands, Ended, surroundings

SOURCE = "pyproject.toml"
INSTALL = ("-m", "pip", "install", "--quiet", "--no-deps")
# pip alone knows whether an interpreter holds what a project is built with
CHECKED = ("--no-index", "--no-build-isolation", "--check-build-dependencies")
LACKING = "ERROR: Some build dependencies for "  # so it says that it does not
WHEEL_LACKS = "are missing: 'wheel'."  # an old habit: setuptools has not needed it since 70.1
# what reads a version, or a list of files, from git; a backend in the tree may do anything
ASKING = re.compile(r"scm|vcs|versioneer|versioningit|dunamai|backend-path|\bpbr\b|\bgit\b")
SETTINGS = {  # a user's that do not go with --target, and talk that is not for a log
    "PIP_USER": "0",
    "PIP_REQUIRE_VIRTUALENV": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
}


def project(tree: Path, place: Path) -> Path | None:
    """Return the folder of the package that a place in a tree belongs to, None without one.

    Parameters
    ----------
    tree : Path
    place : Path
        Relative to `tree`; the folders above it are looked at in turn.

    Raises
    ------
    GateError
        A pyproject.toml cannot be read.
    """
    for inside in (place, *place.parents):
        folder = tree / inside
        if (folder / "setup.py").is_file() or _has_build_system(folder / SOURCE):
            return folder
    return None


def _has_build_system(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        return "build-system" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GateError(f"{path.name} cannot be read: {said(error)}") from error


def asks_git(folder: Path) -> bool:
    """Return whether the build of a package may ask git for its version or its files."""
    files = (folder / name for name in (SOURCE, "setup.py", "setup.cfg"))
    return any(file.is_file() and ASKING.search(file.read_text(errors="replace")) for file in files)


def built(source: Path, site: Path, python: Path, name: str, commands: Commands) -> None:
    """Install a tree or a wheel into an overlay.

    Without the network where the interpreter holds what the tree is built with; else pip fetches
    that, as it does for any user.

    Parameters
    ----------
    source : Path
        A folder, or a wheel.
    site : Path
        The overlay; made here.
    python : Path
        The interpreter.
    name : str
        What a reader calls the side.
    commands : Commands

    Raises
    ------
    GateError
        With the last lines of what pip said.
    """
    scratch = site.with_name("scratch")
    with failing(scratch, "made"):
        scratch.mkdir()
    environment = surroundings() | SETTINGS | {"TMPDIR": str(scratch)}

    def installed(*ways: str) -> Ended:
        words: tuple[str | Path, ...] = (python, *INSTALL, *ways, "--target", site, source)
        return commands.run(words, scratch, environment)  # in no folder that hides a module

    if source.is_file():
        ended = installed("--no-index")
    else:
        ended = installed(*CHECKED)
        lacking = ended.err
        if ended.code and LACKING in lacking and WHEEL_LACKS in lacking:
            ended = installed(*CHECKED[:-1])
        if ended.code and LACKING in lacking:
            ended = installed()
    shutil.rmtree(scratch, ignore_errors=True)
    if "No module named pip" in ended.err:
        raise GateError(
            f"{python} has no pip, which the gate builds with; install it: {python} -m ensurepip"
        )
    if ended.code:
        raise GateError(f"{name} cannot be built: {ended.last()}")
    _begin_with(site)


def _begin_with(site: Path) -> None:
    """Let an overlay win over whatever the interpreter has under the same names."""
    text = Path(__file__).with_name("foremost.py").read_text(encoding="utf-8")
    with failing(site, "written"):
        site.mkdir(exist_ok=True)
        (site / "sitecustomize.py").write_text(
            f"{text}\n\nbegin(__file__, {packages(site)!r})\n", encoding="utf-8"
        )


def packages(site: Path) -> list[str]:
    """Return the top-level packages and modules in an overlay.

    A folder without an ``__init__.py`` is a piece of a package that others share, and is none.
    """
    modules = [".py", *EXTENSION_SUFFIXES]
    found = set()
    for path in site.iterdir():
        if path.is_dir() and any((path / f"__init__{ending}").is_file() for ending in modules):
            found.add(path.name)
        for ending in modules:
            if path.is_file() and path.name.endswith(ending):
                found.add(path.name.removesuffix(ending))
    return sorted(name for name in found - {"sitecustomize"} if name.isidentifier())


def package_of(wheel: Path) -> str:
    """Return the name of the package in a wheel.

    Examples
    --------
    >>> package_of(Path("my_solvers-1.0-py3-none-any.whl"))
    'my_solvers'
    """
    return wheel.name.partition("-")[0]
