"""What a result depends on, as digests: a run counts as done only while its key is the same.

The key of a run (`cache_key`) covers the solver's file with every local module that it imports, the
harness that judged it, its parameters and budget, the problem's bytes, the versions of the
numerical libraries, the threads, and the machine, for its seconds belong to it. It holds the bytes
of the problem and not its source: whoever edits a comment there loses no run.

To know the bytes of a problem one has to build it. So that a finished folder is resumed without
building anything, `built_from` notes what they were made from: the source of the problem, its
parameters, the versions, and the files that were opened meanwhile (`Opened`). As long as that is
unchanged (`still_built_from`), so are the bytes; if not, the problem is built and its bytes decide.

Not covered: files that a solver reads by itself, what a problem reads from a network or through
code outside Python (`Opened`), and modules whose names are put together while the program runs.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import psutil

import fwbench
from fwbench.catalog import Choice
from fwbench.closure import closure, followed, is_installed, is_ours, located, own_name
from fwbench.errors import UnknownName
from fwbench.imports import Stamp, stamp
from fwbench.names import Group, files, registered
from fwbench.opened import Opened, content
from fwbench.solver import AUTO

__all__ = [
    "Opened",
    "built_from",
    "cache_key",
    "closure",
    "numerics",
    "problem_digest",
    "solver_digest",
    "still_built_from",
]

# What reads a solver's parameters, runs and judges it, and what else a row says of its problem.
HARNESS = ("runner", "catalog", "heads", "stretches", "yardsticks")
NUMERICAL = ("numpy", "numba", "llvmlite", "scipy", "cvxpy")
BEHIND = {"cvxpy": ("clarabel",)}  # codes that do the work of a library


def solver_digest(source: str) -> str:
    """Return 16 hex digits over the code of a solver, and over the harness.

    Parameters
    ----------
    source : str
        As in `Choice.source`: a name of the catalogue, the path of a file, the name of an entry
        point. ``auto`` is what chooses and every solver that may be chosen.

    Raises
    ------
    UnknownName
        Where there is no such file or name.
    """
    code = _choosing() if source == AUTO.name else _code("solvers", source)
    return _digest([*code, ("harness", _harness())])


def problem_digest(source: str) -> str:
    """Return 16 hex digits over the code of a problem.

    Parameters
    ----------
    source : str
        As in `Choice.source`.

    Raises
    ------
    UnknownName
        Where there is no such file or name.
    """
    return _digest([*_code("problems", source), *_own_contents(_own("catalog"))])


def built_from(choice: Choice, opened: Mapping[str, str]) -> str:
    """Return 16 hex digits over everything that a problem was built from.

    Parameters
    ----------
    choice : Choice
        Of a problem.
    opened : mapping
        The files that were opened meanwhile, as `Opened.files` holds them.

    Raises
    ------
    UnknownName
        Where there is no such problem any more.
    """
    parts = [
        ("problem", problem_digest(choice.source)),
        ("parameters", choice.text),
        ("versions", json.dumps(numerics(), sort_keys=True)),
    ]
    return _digest([*parts, *sorted(opened.items())])


def still_built_from(choice: Choice, opened: Mapping[str, str], before: str) -> bool:
    """Return whether a problem would be built from the same again; it is not built.

    Parameters
    ----------
    choice : Choice
    opened : mapping
        The files that were opened when it was built; those that are still there are read.
    before : str
        What `built_from` gave then.
    """
    try:
        return built_from(choice, {name: content(name) for name in opened}) == before
    except (UnknownName, OSError):  # its source is gone
        return False


def cache_key(run_id: str, solver: str, fingerprint: str, facts: Mapping[str, Any]) -> str:
    """Return 16 hex digits over everything that a result depends on.

    Parameters
    ----------
    run_id : str
        Of the task: instance, solver with its parameters, repetition and budget.
    solver : str
        What `solver_digest` gave.
    fingerprint : str
        Of the problem's bytes.
    facts : mapping
        The circumstances as plain data: ``threads``, ``host``, ``shared`` (whether other runs went
        on beside the clock), ``schema`` and, of a foreign solver, ``library``, whose version counts
        too.
    """
    parts = {
        "run_id": run_id,
        "solver": solver,
        "fingerprint": fingerprint,
        "facts": dict(facts),
        "versions": numerics(facts.get("library")),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


@cache
def numerics(library: str | None = None) -> dict[str, str]:
    """Return the versions of Python and of the numerical libraries that are installed.

    Parameters
    ----------
    library : str, optional
        A foreign code, whose version counts too.
    """
    found = {"python": platform.python_version(), "fwbench": fwbench.__version__}
    for name in (*NUMERICAL, *([library, *BEHIND.get(library, ())] if library else [])):
        if (version := _version(name)) is not None:
            found[name] = version
    return found


@cache
def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return None


# -- code ------------------------------------------------------------------------------------

Part = tuple[str, str]


def _digest(parts: Iterable[Part]) -> str:
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()[:16]


@cache
def _harness() -> str:
    """Digest the harness once a process: what runs is what was imported."""
    return _digest(sorted({part for name in HARNESS for part in _own_contents(_own(name))}))


def _own(name: str) -> Path:
    return Path(fwbench.__file__).resolve().with_name(f"{name}.py")


def _code(group: Group, source: str) -> list[Part]:
    """Return names and digests of the files behind a name of the catalogue."""
    if source.endswith(".py"):
        if not os.path.isfile(source):
            raise UnknownName(f"no file {source}")
        return _contents(Path(source))
    if (path := files(group).get(source)) is not None:
        return list(_own_contents(path))
    if (point := registered(group).get(source)) is not None:
        return _of_entry_point(point)
    raise UnknownName(f"no {group[:-1]} is called {source!r}")


def _of_entry_point(point: EntryPoint) -> list[Part]:
    """Return the distribution and the module; of one that is edited in place its imports too."""
    name, version = (point.dist.name, point.dist.version) if point.dist is not None else ("", "")
    parts = [("entry point", point.value), ("distribution", f"{name} {version}")]
    path = located(point.module)
    if path is None:
        return parts
    return [
        *parts,
        *([("", _now(path))] if is_installed(path) else _contents(path)),
    ]


def _contents(path: Path) -> list[Part]:
    """Return names and digests of a file and of what it imports; the same in another folder."""
    path = path.resolve()
    found = followed(path)
    parts = [
        (_named(file, path), _own_content(file) if is_ours(file) and file != path else _now(file))
        for file in found.files
    ]
    return sorted(parts) + [(name, _installed_version(name)) for name in found.installed]


@cache
def _own_contents(path: Path) -> tuple[Part, ...]:
    """Return the same of a module of fwbench, once a process: what runs is what was imported."""
    return tuple(_contents(path))


@cache
def _own_content(file: Path) -> str:
    """Return the digest of a module of fwbench.

    One that was edited since this process began may have been imported before or after: nobody can
    tell what runs, and the digest is this process's alone.
    """
    began = psutil.Process().create_time()
    unsure = f" {os.getpid()} {began}" if file.stat().st_mtime > began else ""
    return content(str(file)) + unsure


def _now(file: Path) -> str:
    return _content(file, stamp(file))


def _named(file: Path, root: Path) -> str:
    """Name a file by its place in fwbench, beside the file that imports it, or on sys.path."""
    if (own := own_name(file)) is not None:
        return f"fwbench/{own}"
    if file == root:
        return ""
    if file.is_relative_to(root.parent):
        return file.relative_to(root.parent).as_posix()
    places = [Path(place).resolve() for place in sys.path]
    around = [place for place in places if file.is_relative_to(place)]
    nearest = max(around, key=lambda place: len(place.parts), default=root.parent)
    return Path(os.path.relpath(file, nearest)).as_posix()


@lru_cache(maxsize=4096)
def _content(path: Path, stamped: Stamp) -> str:
    return content(str(path))


@cache
def _installed_version(module: str) -> str:
    """Return the versions of the distributions that an installed top-level module is from."""
    if (version := _version(module)) is not None:
        return version
    distributions = importlib.metadata.packages_distributions().get(module, [])
    return " ".join(f"{name} {_version(name)}" for name in sorted(set(distributions)))


@cache
def _choosing() -> tuple[Part, ...]:
    """Return names and digests of what chooses for `auto`, and of all that it may choose."""
    path = _own("choose")
    texts = {
        node.value.partition("[")[0]  # without parameters
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    may_be = sorted(texts & set(files("solvers")))
    return (*_own_contents(path), *(part for name in may_be for part in _code("solvers", name)))
