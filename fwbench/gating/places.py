"""Files that the texts of a question name, where both sides of a gate find them.

A side runs in a folder of its own. Relative texts name its own files, which is what a gate is for:
``my_solver.py`` is another one on each side. What lies outside the repository is the same for both.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fwbench.closure import closure
from fwbench.disk import failing
from fwbench.grammar import Spelled, quoted, spelled

PATH = "path"  # the parameter of problems that read files


def moved(text: str, here: Path, top: Path) -> str:
    """Return a text that means the same in the tree of a side, at the place of `here`.

    Parameters
    ----------
    text : str
        As ``-p`` and ``-s`` take it.
    here : Path
        The folder in which it was typed; links resolved.
    top : Path
        The folder of which the sides have trees; links resolved.

    Raises
    ------
    InvalidParameter
        The text cannot be read.

    Examples
    --------
    >>> moved("/code/lib/mine.py[step=1]", Path("/code/lib"), Path("/code"))
    'mine.py[step=1]'
    >>> moved("file[path=../../points.csv]", Path("/code/lib"), Path("/code"))
    'file[path=/points.csv]'
    """
    if os.path.exists(here / text):  # a file of this very name: its brackets are no parameters
        return _moved(text, here, top)
    asked = spelled(text)
    values = {
        key: [_moved(value, here, top) if key == PATH else value for value in values]
        for key, values in asked.values.items()
    }
    new = replace(asked, name=_moved(asked.name, here, top), values=values)
    return text if new == asked else _written(new)


def _moved(name: str, here: Path, top: Path) -> str:
    place = _place(name, here)
    if place.is_relative_to(top):
        return os.path.relpath(place, here) if os.path.isabs(name) else name
    return str(place)


def _place(name: str, here: Path) -> Path:
    """Return where a file lies; if it is a link itself, that of the link."""
    place = Path(os.path.normpath(here / name))
    return place.parent.resolve() / place.name


def _written(asked: Spelled) -> str:
    pairs = [f"{key}={','.join(map(quoted, values))}" for key, values in asked.values.items()]
    return quoted(asked.name) + (f"[{','.join(pairs)}]" if pairs else "")


def carry(texts: Sequence[str], here: Path, top: Path, trees: Sequence[Path]) -> None:
    """Copy files that texts name, and that no tree has, to the same place in all of them.

    Git ignores them: points too large to be committed, a solver that is only tried. What one tree
    alone has stays so, for it is new, or gone.

    Raises
    ------
    RunFolderError
        They cannot be read, or the disk is full.
    """
    for text in texts:
        for place in _named(text, here):
            for source in _with_modules(place):
                if not source.is_relative_to(top):
                    continue
                targets = [tree / source.relative_to(top) for tree in trees]
                if not any(map(os.path.lexists, targets)):
                    _copy(source, targets)


def _named(text: str, here: Path) -> Iterator[Path]:
    """Yield the files and folders that a text names, those that are there."""
    asked = Spelled(text, {}) if os.path.exists(here / text) else spelled(text)
    for name in (asked.name, *asked.values.get(PATH, ())):
        place = _place(name, here)
        if name and place.exists():
            yield place


def _with_modules(place: Path) -> Iterator[Path]:
    """Yield a file or folder, and the local modules that a Python file imports."""
    yield place
    if place.suffix == ".py" and place.is_file():
        yield from closure(place)


def _copy(source: Path, targets: Sequence[Path]) -> None:
    for target in targets:
        with failing(target, "written"):
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copy2(source, target)
