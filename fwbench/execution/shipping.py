"""What another machine needs to make a run: the user's files, and a task that names them there.

There the files stand below one folder in the tree that they stand in here, so whatever a file says
of its neighbours holds, and so do the names that digests are made of. A path of here is a path of
there with that folder before it.
"""

from __future__ import annotations

import ast
import dataclasses
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from fwbench import catalog
from fwbench.closure import closure, is_installed, is_ours
from fwbench.errors import InvalidProblem, UnknownName
from fwbench.execution import sources
from fwbench.execution.tasks import Done, Task
from fwbench.grammar import quoted, spelled
from fwbench.names import Group, files

LARGEST_FILE = 2**30  # bytes
LONGEST_NAME = 255  # of a file


class Needed(NamedTuple):
    """What a task needs beside fwbench.

    Attributes
    ----------
    task : Task
        Its texts name the suite's own files by their names.
    paths : tuple of str
        Files to be sent; absolute.
    problem_digest : str
        Of the problem's code, as it was then.
    """

    task: Task
    paths: tuple[str, ...]
    problem_digest: str

    def there(self, folder: str) -> Task:
        """Return the task as it names its files below a folder of another machine."""
        problem = _below(folder, self.task.problem, self.paths)
        solver = _below(folder, self.task.solver, self.paths)
        return dataclasses.replace(self.task, problem=problem, solver=solver)


def needed(task: Task) -> Needed:
    """Find the files that a task needs.

    Those are solvers and problems given by their paths, the local modules that they import, the
    file that a problem's parameter ``path`` names, and files beside a module of which it holds the
    name as a text.

    Raises
    ------
    FwbenchError
        Where a file is missing, or larger than 1 GiB. A user's file may raise anything.
    """
    solver, values = _spelled("solvers", task.solver)
    problem, given = _spelled("problems", task.problem)
    code = [name for name in (solver, problem) if name.endswith(".py")]
    found = dict.fromkeys(file for name in code for file in _code(Path(name)))
    if (data := os.path.expanduser(given.get("path", ""))) and os.path.exists(data):
        given["path"] = os.path.abspath(data)
        if os.path.isfile(data):  # a folder must be there already
            found[given["path"]] = None
    for path in found:
        if (size := os.stat(path).st_size) > LARGEST_FILE:
            raise InvalidProblem(
                f"{path} has {size / 2**30:.3g} GiB; files of at most {LARGEST_FILE / 2**30:g} GiB "
                "are sent to Dask workers (run it on this machine, without --dask?)"
            )
    sent = dataclasses.replace(task, problem=_text(problem, given), solver=_text(solver, values))
    return Needed(sent, tuple(found), sources.problem_digest(problem))


def _spelled(group: Group, text: str) -> tuple[str, dict[str, str]]:
    """Return name and parameters; of the suite's own files the name, if the path is given."""
    asked = spelled(text)
    values = {key: value[0] for key, value in asked.values.items()}
    own = files(group).get(Path(asked.name).stem) if asked.name.endswith(".py") else None
    if own is not None and own.resolve() == Path(asked.name).resolve():
        return own.stem, values
    return asked.name, values


def _code(path: Path) -> Iterator[str]:
    """Yield a file, the local modules that it imports, and the data that they name beside them."""
    if not path.is_file():
        raise UnknownName(f"no file {path}")
    for file in closure(path):
        if is_ours(file) and file != path.resolve():
            continue
        yield str(file)
        if file.suffix == ".py":
            yield from _named_beside(file)


def _named_beside(file: Path) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # its import will say so
        return
    for node in ast.walk(tree):
        name = node.value if isinstance(node, ast.Constant) else None
        if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
            continue
        beside = file.parent / name
        if os.path.isabs(name) or ".." in beside.parts or beside.suffix == ".py":
            continue
        if os.path.isfile(beside):
            yield str(beside)


def _text(name: str, values: dict[str, str]) -> str:
    return f"{quoted(name)}[{','.join(f'{key}={quoted(text)}' for key, text in values.items())}]"


def _below(folder: str, text: str, paths: tuple[str, ...]) -> str:
    asked = spelled(text)
    values = {key: value[0] for key, value in asked.values.items()}
    name = folder + str(Path(asked.name).resolve()) if asked.name.endswith(".py") else asked.name
    if values.get("path") in paths:
        values["path"] = folder + values["path"]
    return _text(name, values)


def search_path() -> tuple[list[str], list[str]]:
    """Return where local modules are found, before the installed ones and after them; absolute."""
    before: list[str] = []
    after: list[str] = []
    found = before
    for place in sys.path:
        folder = Path(place).resolve()
        if is_installed(folder):
            found = after
        elif folder.is_dir():
            found.append(str(folder))
    return before, after


def back(done: Done, needed: Needed, asked: Task, folder: str) -> Done:
    """Return what was made below a folder of another machine as if it had been made here.

    Parameters
    ----------
    done : Done
    needed : Needed
        As the task was sent.
    asked : Task
        As it was planned.
    folder : str
    """
    record = done.record
    if record is None:
        return Done(asked, None, {})
    row = record["row"]
    for name in ("reason", "traceback"):
        if isinstance(row.get(name), str):
            row[name] = row[name].replace(folder, "")
    if record["origin"] is not None:
        record["origin"] = _origin(record["origin"], needed, asked, folder)
    return Done(asked, record, done.arrays)


def _origin(
    origin: dict[str, Any], needed: Needed, asked: Task, folder: str
) -> dict[str, Any] | None:
    """Say what a problem was built from in paths of here; None if it would not be the same here."""
    opened = {name.removeprefix(folder): digest for name, digest in origin["files"].items()}
    try:
        [choice] = catalog.choices("problems", asked.problem)
        if sources.problem_digest(choice.source) != needed.problem_digest:
            return None
        return {**origin, "files": opened, "built_from": sources.built_from(choice, opened)}
    except KeyboardInterrupt:
        raise
    except BaseException:  # the file has gone, or was edited: the next run builds it again
        return None


def stamped(file: BinaryIO) -> tuple[int, int, int]:
    """Return what changes when an open file does: its time, size and inode."""
    found = os.fstat(file.fileno())
    return found.st_mtime_ns, found.st_size, found.st_ino
