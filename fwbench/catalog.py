"""Which solvers and problems there are, and what a text such as ``polygon[k=5]`` means.

Only looking a name up imports its file.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
import os
import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from fwbench.beside import imported, read_by
from fwbench.errors import (
    FwbenchError,
    InvalidParameter,
    InvalidProblem,
    UnknownName,
    brief,
    nearest,
    said,
    visible,
)
from fwbench.grammar import Spelled, quoted, spelled
from fwbench.names import Group, files, names, origin, registered
from fwbench.opened import attributed
from fwbench.problem import ProblemEntry, QuadraticOverHull
from fwbench.schedules import Factors, Schedule, factors, schedule
from fwbench.solver import AUTO, Solver, SolverEntry
from fwbench.steps import StepRule, step_rule
from fwbench.values import Values, values

__all__ = [
    "Choice",
    "Group",
    "build_problem",
    "build_solver",
    "choices",
    "entry",
    "loaded",
    "names",
]

DATA_FILES = (".csv", ".npy", ".npz", ".parquet", ".mtx", ".mat")
LARGEST = 2**63 - 1  # integers of the tables
LARGEST_GRID = 10_000  # solvers or instances of one text
# a name stands in texts with brackets, in tables and in names of files
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
# Small objects that a parameter may be declared as, and what reads them from text.
READERS: dict[Any, Callable[[str], Any]] = {
    StepRule: step_rule,
    Schedule: schedule,
    Factors: factors,
    Values: values,
}


def loaded(path: Path) -> ModuleType:
    """Import a file by its path, with the modules beside it; again only after an edit.

    Raises
    ------
    UnknownName
        With what the file raised, and where.
    """
    try:
        return imported(path)
    except BaseException as error:  # a user's file may raise anything, SystemExit included
        if isinstance(error, KeyboardInterrupt | FwbenchError):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path.resolve())]
        where = f" (line {lines[-1]})" if lines else ""
        raise UnknownName(f"{path} cannot be imported: {said(error)}{where}") from error


def entry(group: Group, name: str) -> Any:
    """Return the ENTRY of a solver or problem.

    Parameters
    ----------
    group : {"solvers", "problems"}
    name : str
        A name of the catalogue, of a registered entry point, or the path of a Python file.

    Raises
    ------
    UnknownName
        With the nearest names.
    """
    kind = SolverEntry if group == "solvers" else ProblemEntry
    if group == "solvers" and name == AUTO.name:
        return AUTO
    if name.endswith(".py"):
        if not os.path.isfile(name):
            raise UnknownName(f"no file {name}")
        found = getattr(loaded(Path(name)), "ENTRY", None)
    elif name in files(group):
        found = importlib.import_module(f"fwbench.{group}.{name}").ENTRY
    elif name in (points := registered(group)):
        found = _registered(name, points[name])
    else:
        known = [*files(group), *registered(group), *([AUTO.name] if group == "solvers" else [])]
        raise UnknownName(f"no {group[:-1]} is called {name!r}; {nearest(name, known)}")
    if not isinstance(found, kind):
        raise UnknownName(f"{name} must end with ENTRY = {kind.__name__}(...); got {found!r}")
    if not isinstance(found.name, str) or not NAME.fullmatch(found.name):
        raise InvalidParameter(
            f"{name}: the name of its ENTRY must begin with a letter or digit and hold letters, "
            f"digits, dots, _ and -, 100 at most; got {brief(found.name)}"
        )
    return found


def _registered(name: str, point: EntryPoint) -> Any:
    """Import what another package registered."""
    try:
        found = point.load()
    except BaseException as error:  # it may raise anything, SystemExit included
        if isinstance(error, KeyboardInterrupt | FwbenchError):
            raise
        raise UnknownName(
            f"{name}, registered by {origin(point)}, cannot be imported: {said(error)}"
        ) from error
    if isinstance(found, ModuleType):
        raise UnknownName(f"{name} is registered as a module; register {point.value}:ENTRY")
    return found


def members(group: Group, folder: str) -> list[str]:
    """Return the Python files of a folder that end with an ENTRY of a group.

    Files whose names start with _ are what others share, and are left out.

    Raises
    ------
    UnknownName
        If there is none, or one of them cannot be imported.
    """
    kind = SolverEntry if group == "solvers" else ProblemEntry
    paths = sorted(Path(folder).glob("[!_]*.py"))
    found = [str(path) for path in paths if isinstance(_entry_of(path), kind)]
    if not found and group == "problems" and any(Path(folder).glob("*.np[yz]")):
        raise UnknownName(
            f"the folder {folder} holds points: -p 'blocks[path={folder}]' takes its .npy files "
            "as one problem"
        )
    if not found:
        raise UnknownName(
            f"the folder {folder} holds no Python file that ends with ENTRY = {kind.__name__}(...) "
            f"(of {len(paths)}; those that start with _ do not count)"
        )
    return found


def _entry_of(path: Path) -> Any:
    return getattr(loaded(path), "ENTRY", None) if path.is_file() else None


# -- parameters ------------------------------------------------------------------------------


def parameters(make: Any) -> dict[str, tuple[Any, Any]]:
    """Return the declared type and the default of each parameter, in order."""
    try:
        hints, signature = get_type_hints(make), inspect.signature(make)
    except Exception as error:  # annotations are code, a user's file may hold any
        raise InvalidParameter(f"{make}: types of parameters cannot be read: {error}") from error
    return {p.name: (hints.get(p.name, str), p.default) for p in signature.parameters.values()}


def _value(where: str, key: str, kind: Any, text: str) -> Any:
    """Read one value by its declared type."""
    try:
        if kind is int:
            number = float(text) if not text.lstrip("+-").isdigit() else int(text)
            least = 0 if key == "seed" else -LARGEST
            if number != int(number) or not least <= number <= LARGEST:
                raise ValueError
            return int(number)
        if kind is float:
            value = float(text)
            if value != value:
                raise ValueError
            return value
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
    except (ValueError, KeyError, OverflowError):
        integer = "an integer of 64 bits" + (", not negative" if key == "seed" else "")
        kinds = {int: integer, float: "a number", bool: "true or false"}
        raise InvalidParameter(f"{where}: {key} must be {kinds[kind]}; got {text!r}") from None
    if get_origin(kind) is Literal:
        options = {str(option): option for option in get_args(kind)}
        if text not in options:
            raise InvalidParameter(
                f"{where}: {key} must be one of {', '.join(options)}; got {text!r}"
            )
        return options[text]
    if kind in READERS:
        return READERS[kind](text)
    if kind is not str:
        raise InvalidParameter(
            f"{where}: {key} is declared {kind}, which text cannot give; declare int, float, bool, "
            "str, a Literal, StepRule, Schedule, Factors or Values"
        )
    return text


def written(value: Any) -> str:
    """Write one value so that it reads back: the shortest number, quotes where needed."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        whole = abs(value) < 1e15 and value == int(value)
        return str(int(value)) if whole else repr(value)
    return quoted(getattr(value, "text", None) or str(value))


@dataclass(frozen=True, eq=False)
class Choice:
    """A solver or a problem with all its parameters.

    Attributes
    ----------
    entry : SolverEntry or ProblemEntry
    name : str
        The entry's name.
    text : str
        Canonical: all parameters, declared order.
    label : str
        For people: without the defaults.
    arguments : mapping
    source : str
        The name or path by which the entry is found again.
    """

    entry: Any
    name: str
    text: str
    label: str
    arguments: Mapping[str, Any]
    source: str

    @property
    def params(self) -> str:
        """The part of the canonical text between the brackets."""
        return self.text[len(self.name) + 1 : -1]

    @property
    def again(self) -> str:
        """The text that finds it again, from a file too."""
        return f"{quoted(self.source)}[{self.params}]"


def chosen(source: str, found: Any, arguments: Mapping[str, Any]) -> Choice:
    """Bind arguments of the right types."""
    declared = parameters(found.make)
    full = {key: arguments.get(key, default) for key, (_, default) in declared.items()}
    missing = [key for key, value in full.items() if value is inspect.Parameter.empty]
    if missing:
        raise InvalidParameter(f"{found.name}: {', '.join(missing)} must be given")
    texts = {key: f"{key}={written(value)}" for key, value in full.items()}
    short = [texts[key] for key in full if written(full[key]) != written(declared[key][1])]
    if isinstance(found, ProblemEntry) and found.complete is not None:
        full = dict(found.complete(full))
        texts = {key: f"{key}={written(value)}" for key, value in full.items()}
    return Choice(
        entry=found,
        name=found.name,
        text=f"{found.name}[{','.join(texts.values())}]",
        label=visible(found.name + (f"[{','.join(short)}]" if short else "")),
        arguments=full,
        source=source,
    )


def choices(group: Group, text: str, seed: int | None = None) -> list[Choice]:
    """Return everything that a text names: a grid is one choice for each combination.

    A bare name stands for the entry's own grid.

    Raises
    ------
    UnknownName, InvalidParameter
        With the nearest names.

    Examples
    --------
    >>> [choice.label for choice in choices("solvers", "frank_wolfe[step=open_loop,exact]")]
    ['frank_wolfe', 'frank_wolfe[step=exact]']
    """
    if not text.isascii() and text.encode(errors="ignore").decode() != text:
        raise InvalidParameter(f"{text!r} is no Unicode text; rename the file?")
    # a file of this very name: its brackets are no parameters
    asked = Spelled(text, {}) if os.path.exists(text) else spelled(text)
    if os.path.isdir(asked.name) and asked.name not in names(group):
        if asked.values:
            raise InvalidParameter(f"{text}: parameters are those of a file, not of a folder")
        return [one for path in members(group, asked.name) for one in choices(group, path, seed)]
    if group == "problems" and Path(asked.name).suffix.lower() in DATA_FILES:
        if not os.path.isfile(asked.name):
            raise UnknownName(f"no file {asked.name}")
        if "path" in asked.values:
            raise InvalidParameter(f"{text}: the path is given twice")
        asked = Spelled("file", {"path": [asked.name], **asked.values})
    found = entry(group, asked.name)
    source = str(Path(asked.name).resolve()) if asked.name.endswith(".py") else asked.name
    declared = parameters(found.make)
    for key in asked.values:
        if key not in declared:
            known = nearest(key, declared) if declared else "it has none"
            raise InvalidParameter(f"{found.name} has no parameter {key!r}; {known}")
    given = {
        key: [_value(found.name, key, declared[key][0], value) for value in values]
        for key, values in asked.values.items()
    }
    grids = list(found.grid) if not asked.values else [{}]
    if (several := math.prod(map(len, given.values()))) > LARGEST_GRID:
        raise InvalidParameter(
            f"{found.name}: its values make a grid of {several}; at most {LARGEST_GRID} are allowed"
        )
    combinations = [
        {**typed(found, grid), **dict(zip(given, values, strict=True))}
        for grid in grids
        for values in itertools.product(*given.values())
    ]
    if seed is not None and "seed" in declared:
        combinations = [{"seed": seed, **arguments} for arguments in combinations]
    made = [chosen(source, found, arguments) for arguments in combinations]
    return list({choice.text: choice for choice in made}.values())


def typed(found: Any, grid: Mapping[str, Any]) -> dict[str, Any]:
    """Read the texts of an entry's own grid by the declared types."""
    declared = parameters(found.make)
    return {
        key: _value(found.name, key, declared[key][0], value) if isinstance(value, str) else value
        for key, value in grid.items()
        if key in declared  # an ENTRY made from another one may have kept its grid
    }


def build_solver(choice: Choice) -> Solver[Any, Any]:
    """Make the solver of a choice."""
    made: Solver[Any, Any] = choice.entry.make(**choice.arguments)
    return made


def build_problem(choice: Choice) -> QuadraticOverHull:
    """Make the problem of a choice."""
    source = choice.source
    with attributed(source, read_by(Path(source)) if source.endswith(".py") else {}):
        made = choice.entry.make(**choice.arguments)
    if not isinstance(made, QuadraticOverHull):
        raise InvalidProblem(f"{choice.name} must make a QuadraticOverHull; got {made!r}")
    return made
