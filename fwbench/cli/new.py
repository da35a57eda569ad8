"""Write a file to begin with: ``fwbench new``."""

from __future__ import annotations

import ast
import importlib.util
import keyword
import os
import re
import shlex
import sys
from pathlib import Path

import click

from fwbench.errors import InvalidParameter

TEMPLATES = Path(__file__).parent.parent / "templates"
MOST = 60  # letters of a name


@click.command()
@click.argument("what", metavar="solver|problem", type=click.Choice(["solver", "problem"]))
@click.argument("name")
@click.option(
    "--out", type=click.Path(path_type=Path), help="File or folder. Default: NAME.py, here."
)
def new(what: str, name: str, out: Path | None) -> None:
    """Write a solver or a problem called NAME to begin with, complete and correct as it is."""
    _checked(name)
    path = Path(f"{name}.py") if out is None else out
    if os.path.isdir(path):  # False for a path that is too long, which Path.is_dir raises
        path = path / f"{name}.py"
    if path.suffix != ".py":
        raise InvalidParameter(f"--out must be a folder or end with .py; got {str(path)!r}")
    write(what, name, path)
    shown = shlex.quote(str(path))
    click.echo(f"{path} is written. What you may type next:\n")
    click.echo(f"  fwbench check {shown}")
    if what == "solver":
        click.echo(f"  fwbench run -s {shown} -s away_steps -p 'min_norm_point[shift=1]'")
    else:
        click.echo(f"  fwbench run -p {shown} -s away_steps -s frank_wolfe")


def write(what: str, name: str, path: Path) -> None:
    """Write a solver or a problem called `name`; no file is written over.

    Raises
    ------
    InvalidParameter
        If there is such a file already, it cannot be written, or the file needs the name for
        something else.
    """
    text = (TEMPLATES / f"{what}.py.txt").read_text(encoding="utf-8")
    title = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    called = title if what == "solver" else name
    if keyword.iskeyword(called) or called in _used(text):
        raise InvalidParameter(
            f"{name!r} cannot be the name: the {what} would be called {called} in its file, which "
            "stands for something else there"
        )
    # both at once, for a name may hold the other word
    text = re.sub("NAME|CLASS", lambda found: name if found[0] == "NAME" else title, text)
    try:
        with path.open("x", encoding="utf-8") as file:  # x: one that exists is left as it is
            file.write(text)
    except FileExistsError:
        raise InvalidParameter(f"{path} exists already; nothing was written") from None
    except OSError as error:
        raise InvalidParameter(f"{path} cannot be written: {error.strerror}") from error


def _used(text: str) -> set[str]:
    """Return the names that the code of a template uses or defines."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
    return found - {"NAME", "CLASS"}


def _checked(name: str) -> None:
    """Refuse a name under which a solver or problem would not be found, or not alone.

    Raises
    ------
    InvalidParameter
        Names the rule.
    """
    from fwbench.names import names

    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        rule = "a keyword of Python" if keyword.iskeyword(name) else "no name of a Python module"
        raise InvalidParameter(
            f"{name!r} is {rule}; use letters, digits and _, and begin with a letter"
        )
    if len(name) > MOST:
        raise InvalidParameter(f"a name has at most {MOST} letters; got {len(name)}")
    if name.startswith("_"):
        raise InvalidParameter(f"{name!r}: files that start with _ are left out of folders")
    for group in ("solvers", "problems"):
        if name in names(group) or name == "auto":
            raise InvalidParameter(f"{name!r} is the name of one of the {group} already")
    if name in sys.stdlib_module_names or _installed(name):
        raise InvalidParameter(
            f"{name!r} is a Python module that is installed, and {name}.py would be imported in "
            "its place"
        )


def _installed(name: str) -> bool:
    """Say whether a module of this name is installed, in other places than the folder here."""
    found = importlib.util.find_spec(name)
    if found is None:
        return False
    return found.origin is None or Path(found.origin).resolve().parent != Path.cwd()
