"""A Python file and every local module that it imports, found without importing anything.

A result depends on more than the file that is named: on the modules beside it, on their modules,
and so on.

Local is what is neither of the standard library nor installed: what lies beside the file, on
``sys.path`` outside site-packages, in an editable install, and fwbench itself, wherever it lies.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import NamedTuple

import fwbench
from fwbench.imports import ALL, Request, source

INSTALLED = frozenset({"site-packages", "dist-packages"})


class Module(NamedTuple):
    """Where a module was found: its file, if it has one, and where its submodules are."""

    file: Path | None
    folders: tuple[Path, ...]


class Closure(NamedTuple):
    """A file with all that it imports.

    Attributes
    ----------
    files : tuple of Path
        Itself and every local module that it imports, sorted; absolute, links resolved.
    installed : tuple of str
        Installed top-level modules that are imported by them, fwbench's own files left out.
    """

    files: tuple[Path, ...]
    installed: tuple[str, ...]


def closure(path: Path) -> tuple[Path, ...]:
    """Return a Python file and every local module that it imports, sorted.

    Parameters
    ----------
    path : Path
        Modules are looked for in its folder first, as ``python FILE`` does.

    Returns
    -------
    tuple of Path
        Absolute, links resolved. Files that do not parse, and compiled ones, are ends.
    """
    return followed(path).files


def followed(path: Path) -> Closure:
    """Follow all imports of a Python file; modules of fwbench are read once a process."""
    start = path.resolve()
    found, left = {start}, [start]
    installed: set[str] = set()
    while left:
        file = left.pop()
        ours = is_ours(file)
        if ours and file != start:
            edges = _own_edges(file)
        else:
            edges = _edges(file, None if ours else start.parent)
        installed.update(edges.installed)
        new = set(edges.files) - found
        found |= new
        left.extend(new)
    return Closure(tuple(sorted(found)), tuple(sorted(installed)))


def located(name: str) -> Path | None:
    """Return the file of a module by its dotted name, installed or local, None without one."""
    first, *parts = name.split(".")
    module = _top(first, None)
    for part in parts:
        module = None if module is None else _submodule(module.folders, part)
    return None if module is None or module.file is None else module.file.resolve()


def is_ours(path: Path) -> bool:
    """Return whether a file is a part of fwbench."""
    return own_name(path) is not None


def own_name(path: Path) -> str | None:
    """Return the name of a file of fwbench below the package, None of other files.

    Examples
    --------
    >>> own_name(Path(fwbench.__file__))
    '__init__.py'
    """
    home, *others = _homes()
    if path.is_relative_to(home):
        return path.relative_to(home).as_posix()
    for folder in others:  # a checkout: solvers/ and problems/ stand beside the package
        if path.is_relative_to(folder / "solvers") or path.is_relative_to(folder / "problems"):
            return path.relative_to(folder).as_posix()
    return None


def is_beside(folder: Path, name: str) -> bool:
    """Return whether a file of a folder that imports a top-level name means what lies beside it.

    A folder without an ``__init__.py`` counts only if nobody else has the name, as in Python.
    """
    if name in ("", "fwbench"):  # a second copy of it would share no class with the first
        return False
    module = _submodule((folder,), name)
    if module is None or module.file is not None:
        return module is not None
    return name not in sys.stdlib_module_names and _elsewhere(name) is None


# -- the graph -------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _own_edges(file: Path) -> Closure:
    """Return what a file of fwbench imports; what runs is what was imported, so once a process."""
    return Closure(_edges(file, None).files, ())


def _edges(file: Path, folder: Path | None) -> Closure:
    """Return what one file imports, of its own."""
    found: set[Path] = set()
    installed: set[str] = set()
    for request in source(file).requests:
        first = request.module.partition(".")[0]
        top = None if request.level else _top(first, folder)
        if top is None or _is_local(top):
            found.update(_files(request, file, top))
        elif first not in sys.stdlib_module_names:
            installed.add(first)
    return Closure(tuple({each.resolve() for each in found}), tuple(installed))


def _top(name: str, folder: Path | None) -> Module | None:
    """Find a top-level module as a file in `folder` would, None where there is none."""
    if name == "fwbench":
        return Module(Path(fwbench.__file__), tuple(Path(place) for place in fwbench.__path__))
    if not name:  # of a text that names no module
        return None
    if folder is not None and is_beside(folder, name):
        return _submodule((folder,), name)
    if name in sys.stdlib_module_names:
        return Module(None, ())
    return _elsewhere(name)


def _elsewhere(name: str) -> Module | None:
    """Find a top-level module by the interpreter's own finders, which import nothing."""
    return _on_path(name, tuple(sys.path), os.getcwd()) or None


@lru_cache(maxsize=4096)
def _on_path(name: str, path: tuple[str, ...], working: str) -> Module | tuple[()]:
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(name, None)
        except Exception:  # finders of other packages may raise anything
            continue
        if spec is not None:
            folders = tuple(Path(place) for place in spec.submodule_search_locations or ())
            file = Path(spec.origin) if spec.has_location and spec.origin else None
            return Module(file, folders)
    return ()


def _is_local(module: Module) -> bool:
    places = [module.file] if module.file is not None else list(module.folders)
    return bool(places) and not is_installed(places[0])


def is_installed(place: Path) -> bool:
    """Return whether a path belongs to the Python installation, fwbench's own excepted."""
    if is_ours(place):
        return False
    if INSTALLED.intersection(place.parts):
        return True
    return any(place.is_relative_to(folder) for folder in _standard())


@lru_cache(maxsize=1)
def _standard() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({Path(sysconfig.get_path(name)).resolve() for name in names})


@lru_cache(maxsize=1)
def _homes() -> tuple[Path, ...]:
    return tuple(Path(place).resolve() for place in fwbench.__path__)


def _submodule(folders: Iterable[Path], name: str) -> Module | None:
    """Find a module in the folders of its package."""
    bare = []
    for folder in folders:
        package = os.path.join(folder, name)
        for ending in ("/__init__.py", *EXTENSION_SUFFIXES, ".py"):
            if os.path.isfile(package + ending):
                inside = (Path(package),) if ending.startswith("/") else ()
                return Module(Path(package + ending), inside)
        if os.path.isdir(package):
            bare.append(Path(package))
    return Module(None, tuple(bare)) if bare else None


def _files(request: Request, asking: Path, top: Module | None) -> Iterator[Path]:
    """Yield the local files that a request makes Python execute."""
    parts = request.module.split(".") if request.module else []
    if request.level:
        folder = asking.parent
        for _ in range(request.level - 1):
            folder = folder.parent
        init = folder / "__init__.py"
        module = Module(init if init.is_file() else None, (folder,))
    elif top is not None:
        module, parts = top, parts[1:]
    else:
        return
    if module.file is not None:
        yield module.file
    for part in parts:
        below = _submodule(module.folders, part)
        if below is None:  # an attribute, or an import that would fail
            yield from _lazy(module, part)
            return
        module = below
        if module.file is not None:
            yield module.file
    for name in request.names:
        yield from _named(module, name)


def _named(module: Module, name: str) -> Iterator[Path]:
    """Yield the files behind a name of a module: a submodule, or one that it loads at first use."""
    if name == ALL:
        listed = source(module.file).listed if module.file is not None else ()
        for each in set(listed) - {ALL}:
            yield from _named(module, each)
        yield from _lazy(module, ALL)
        return
    below = _submodule(module.folders, name) if module.folders else None
    if below is None:
        yield from _lazy(module, name)
    elif below.file is not None:
        yield below.file


def _lazy(module: Module, name: str) -> Iterator[Path]:
    """Yield the files that a module loads when it is asked for a name, by its own dictionary."""
    if module.file is None:
        return
    for key, home in source(module.file).lazy:
        if name not in (key, ALL):
            continue
        inside = home.lstrip(".")
        level = len(home) - len(inside)
        top = None if level else _top(inside.partition(".")[0], None)
        if level or (top is not None and _is_local(top)):
            yield from _files(Request(level, inside, ()), module.file, top)
        elif (below := _submodule(module.folders, home)) is not None and below.file is not None:
            yield below.file
