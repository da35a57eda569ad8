"""What a Python file imports, read off its syntax tree.

Imports anywhere in a file count, in functions and branches too, relative ones, ``import_module``
with a literal name, submodules that are reached as attributes, and the names that a package loads
at first use, where a ``__getattr__`` looks them up in a dictionary of module names. What stands
under ``if TYPE_CHECKING`` is never imported. A name that is put together while the program runs
can't be seen.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

RACY = 0.1  # seconds: a file edited so lately may be edited again without a new time stamp
ALL = "*"

Stamp = tuple[int, int, int]


class Request(NamedTuple):
    """What a file asks to import.

    `module` is relative to the folder `level` − 1 above the file, or absolute where `level` is 0;
    `names` are attributes or submodules of it.
    """

    level: int
    module: str
    names: tuple[str, ...]


class Source(NamedTuple):
    """What the syntax tree of a file says: its imports, and what it offers as a package."""

    requests: tuple[Request, ...]
    listed: tuple[str, ...]  # __all__
    lazy: tuple[tuple[str, str], ...]  # name → module that a __getattr__ loads it from


def stamp(path: Path) -> Stamp:
    """Return what changes when a file does: its time, size and inode.

    Where it was written a moment ago, the time of asking stands in for the first, so that nothing
    is remembered of it.
    """
    found = path.stat()
    lately = time.time() - found.st_mtime < RACY
    return time.time_ns() if lately else found.st_mtime_ns, found.st_size, found.st_ino


def source(file: Path) -> Source:
    """Read a file, or remember it; one that does not parse, or is compiled, imports nothing."""
    return _parsed(file, stamp(file))


@lru_cache(maxsize=4096)
def _parsed(file: Path, stamped: Stamp) -> Source:
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Source((), (), ())
    nodes = list(_executed(tree))
    listed = tuple(
        each.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AugAssign)
        and any(isinstance(t, ast.Name) and t.id == "__all__" for t in _targets(node))
        for each in ast.walk(node.value)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )
    lazy: tuple[tuple[str, str], ...] = ()
    if any(isinstance(n, ast.FunctionDef) and n.name == "__getattr__" for n in tree.body):
        lazy = tuple(_tables(tree))
    return Source(tuple(dict.fromkeys(_requests(nodes))), listed, lazy)


def _targets(node: ast.Assign | ast.AugAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those under ``if TYPE_CHECKING``."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, ast.Name | ast.Constant):
            continue  # most nodes; nothing is inside
        if isinstance(node, ast.If) and _for_types(node.test):
            left.extend(node.orelse)
            continue
        for name in node._fields:
            inside = getattr(node, name, None)
            if isinstance(inside, list):
                left.extend(each for each in inside if isinstance(each, ast.AST))
            elif isinstance(inside, ast.AST) and not isinstance(inside, ast.expr_context):
                left.append(inside)


def _for_types(test: ast.expr) -> bool:
    name = test.id if isinstance(test, ast.Name) else getattr(test, "attr", None)
    return name == "TYPE_CHECKING"


def _tables(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield name and module of the dictionaries of texts at the top of a file."""
    for node in tree.body:
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Dict):
            for key, home in zip(value.keys, value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(home, ast.Constant):
                    yield str(key.value), str(home.value)


def _requests(nodes: list[ast.AST]) -> Iterator[Request]:
    """Yield what the nodes of a file import, by statement, by call and by attribute."""
    bound: dict[str, set[tuple[int, str]]] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Request(0, alias.name, ())
                first = alias.name.partition(".")[0]
                name, module = (alias.asname, alias.name) if alias.asname else (first, first)
                bound.setdefault(name, set()).add((0, module))
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield Request(node.level, module, tuple(alias.name for alias in node.names))
            for alias in node.names:
                inside = f"{module}.{alias.name}".lstrip(".")
                bound.setdefault(alias.asname or alias.name, set()).add((node.level, inside))
        elif isinstance(node, ast.Call):
            yield from _called(node)
    based = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Name) and id(node) not in based:
            for level, module in bound.get(node.id, ()):  # handed on as a whole
                yield Request(level, module, (ALL,))
        elif isinstance(node, ast.Attribute):
            base, *names = _chain(node)
            for level, module in bound.get(base, ()):
                yield Request(level, ".".join([module, *names[:-1]]), (names[-1],))


def _called(node: ast.Call) -> Iterator[Request]:
    """Yield what ``import_module("name")`` or ``__import__("name")`` imports."""
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", None)
    first = node.args[0] if node.args else None
    if name in ("import_module", "__import__") and isinstance(first, ast.Constant):
        text = str(first.value)
        module = text.lstrip(".")
        yield Request(len(text) - len(module), module, ())


def _chain(node: ast.Attribute) -> list[str]:
    """Return the names of ``a.b.c``, the first of them empty where it is no name."""
    names: list[str] = []
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        names.append(value.attr)
        value = value.value
    names.append(value.id if isinstance(value, ast.Name) else "")
    return names[::-1]
