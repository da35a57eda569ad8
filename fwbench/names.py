"""The names of solvers and problems, from file names and first docstring lines.

Nothing is imported: listing stays as fast as reading a folder.
"""

from __future__ import annotations

import ast
import importlib.metadata
from pathlib import Path
from typing import Literal

import fwbench

Group = Literal["solvers", "problems", "claims"]


def files(group: Group) -> dict[str, Path]:
    """Return the files of the suite by name."""
    folders = [Path(folder) / group for folder in fwbench.__path__]
    return {
        path.stem: path
        for folder in reversed(folders)
        for path in sorted(folder.glob("*.py"))
        if path.stem != "__init__"
    }


def registered(group: Group) -> dict[str, importlib.metadata.EntryPoint]:
    """Return what other packages registered."""
    return {
        point.name: point for point in importlib.metadata.entry_points(group=f"fwbench.{group}")
    }


def origin(point: importlib.metadata.EntryPoint) -> str:
    """Return in words where an entry point comes from."""
    package = point.dist
    return f"{package.name} {package.version} ({point.value})" if package else point.value


def names(group: Group) -> dict[str, str]:
    """Return all names with the first line of each file's docstring.

    Examples
    --------
    >>> names("solvers")["frank_wolfe"][:11]
    'Frank-Wolfe'
    """
    lines = {}
    for name, path in files(group).items():
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        lines[name] = text.split("\n", 1)[0]
    for name, point in registered(group).items():
        lines.setdefault(name, f"from {origin(point)}")
    return dict(sorted(lines.items()))
