"""Import a user's file so that it finds the modules beside it, as ``python FILE`` would.

Each folder is a package of its own under a name made from its path, and ``import helper`` in one of
its files means the helper of that folder, at any time, in functions too. So two folders may each
hold a ``helper.py``, a file called like a library hides it from its neighbours alone, and
``sys.path`` stays as it is. Sources are compiled from what the file holds now: no ``.pyc`` is read
or written.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from fwbench.closure import closure, is_beside
from fwbench.imports import Stamp, stamp
from fwbench.opened import Opened

PREFIX = "fwbench_beside_"


class _Source(SourceFileLoader):
    """Compiles a file as it is now, and lets its imports look beside it."""

    def __init__(self, fullname: str, path: str) -> None:
        super().__init__(fullname, path)
        self.source = b""
        self.read: dict[str, str] = {}  # files that it read while it was executed
        self.stamps: dict[str, Stamp | None] = {}  # of these
        self.beside: dict[str, bool] = {}  # whether a name that it imported lay beside it

    def get_code(self, fullname: str) -> Any:
        self.source = self.get_data(self.path)
        return self.source_to_code(self.source, self.path)

    def exec_module(self, module: ModuleType) -> None:
        package = module.__name__.partition(".")[0]
        # an import statement asks the builtins of the module that it stands in
        module.__dict__["__builtins__"] = {
            **builtins.__dict__,
            "__import__": _importing(package, self.beside),
        }
        with Opened() as opened:
            super().exec_module(module)
        self.read = opened.files
        self.stamps = {name: _stamped(name) for name in opened.files}

    def is_current(self) -> bool:
        """Return whether the file, what it read, and where its imports lie are as they were."""
        try:
            same = self.get_data(self.path) == self.source
        except OSError:
            return False
        folder = _folder(self.name.partition(".")[0])
        return (
            same
            and all(_stamped(name) == before for name, before in self.stamps.items())
            and all(is_beside(folder, name) == before for name, before in self.beside.items())
        )


def _folder(package: str) -> Path:
    [folder] = sys.modules[package].__path__
    return Path(folder)


def _stamped(name: str) -> Stamp | None:
    try:
        return stamp(Path(name))
    except OSError:
        return None


class _Finder:
    """Finds modules below the packages that stand for folders."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(PREFIX):
            return None
        bare: list[str] = []
        for folder in path or ():
            # a finder keeps what it saw of a folder; a new one sees what is there now
            found = FileFinder(
                folder, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_Source, SOURCE_SUFFIXES)
            ).find_spec(name)
            if found is not None and found.loader is not None:
                return found
            bare += (found.submodule_search_locations or ()) if found is not None else ()
        if not bare:
            return None
        space = ModuleSpec(name, None, is_package=True)
        space.submodule_search_locations = bare
        return space


def _importing(package: str, known: dict[str, bool]) -> Callable[..., Any]:
    """Return what stands behind ``import`` in a file; `known` says which names lie beside it.

    Asked for once a name: a method may import in a loop, on the clock.
    """

    def found(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> Any:
        if level:
            return builtins.__import__(name, globals, locals, fromlist, level)
        first = name.partition(".")[0]
        if first not in known:
            known[first] = is_beside(_folder(package), first)
        if not known[first]:
            return builtins.__import__(name, globals, locals, fromlist, level)
        inside = f"{package}.{name}"
        if fromlist:
            return builtins.__import__(inside, globals, locals, fromlist, 0)
        importlib.import_module(inside)
        return sys.modules[f"{package}.{first}"]

    return found


def imported(path: Path) -> ModuleType:
    """Import a user's file, or return it as it was imported if nothing has changed.

    If a file that was imported from its folder holds something else by now, all of them are
    imported anew.

    Parameters
    ----------
    path : Path
        Of a Python file, whatever its name.

    Raises
    ------
    BaseException
        What the file raises, which may be anything.
    """
    path = path.resolve()
    package = _package(path)
    inside = _inside(package)
    if not all(_is_current(sys.modules[name]) for name in inside):
        for name in inside:
            del sys.modules[name]
    name = f"{package}.{_identifier(path)}"
    if name in sys.modules:
        return sys.modules[name]
    before = set(sys.modules)
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)  # before Python's own, which would keep bytecode
    if package not in sys.modules:
        folder = ModuleSpec(package, None, is_package=True)
        folder.submodule_search_locations = [str(path.parent)]
        sys.modules[package] = module_from_spec(folder)
    specification = spec_from_file_location(name, path, loader=_Source(name, str(path)))
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = module_from_spec(specification)
    sys.modules[name] = module  # dataclasses and pickling look the module up by its name
    try:
        specification.loader.exec_module(module)
    except BaseException:
        for each in {package, *_inside(package)} - before:
            del sys.modules[each]
        raise
    return module


def read_by(path: Path) -> dict[str, str]:
    """Return the files that a user's file and what it imports read while they were imported.

    As `fwbench.opened.Opened` notes them; nothing of a file that was not imported.
    """
    files = {str(file) for file in closure(path)}
    found: dict[str, str] = {}
    for name in _inside(_package(path.resolve())):
        loader = getattr(sys.modules[name].__spec__, "loader", None)
        if isinstance(loader, _Source) and loader.path in files:
            found |= loader.read
    return found


def _package(path: Path) -> str:
    return (
        PREFIX + hashlib.sha256(str(path.parent).encode(errors="surrogateescape")).hexdigest()[:12]
    )


def _inside(package: str) -> list[str]:
    return [name for name in sys.modules if name.startswith(f"{package}.")]


def _is_current(module: ModuleType) -> bool:
    loader = getattr(module.__spec__, "loader", None)
    return not isinstance(loader, _Source) or loader.is_current()


def _identifier(path: Path) -> str:
    """Return a file's name as a module's; a file may be called anything."""
    if path.suffix == ".py" and path.stem.isidentifier():
        return path.stem
    digest = hashlib.sha256(path.name.encode(errors="surrogateescape")).hexdigest()[:8]
    return f"{re.sub(r'[^0-9a-zA-Z]', '_', path.stem)}_{digest}"
