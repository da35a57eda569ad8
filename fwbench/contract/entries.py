"""What a file says of itself: the entry and its parameters, of solvers and of problems."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin

from fwbench import catalog
from fwbench.contract.cases import Subject
from fwbench.contract.rule import Inapplicable, Rule, Violation
from fwbench.errors import FwbenchError, InvalidParameter
from fwbench.geometry.forms import Kind
from fwbench.grammar import spelled
from fwbench.laws import Law
from fwbench.problem import ProblemEntry
from fwbench.solver import Queries, Sampling, SolverEntry

NEEDS = frozenset({"leaves the hull"})
METHODS = ("prepare", "init", "advance")

# What each field of an entry must be: a test, and words for it.
Field = tuple[Callable[[Any], bool], str]
TEXT: Field = (lambda found: isinstance(found, str) and bool(found.strip()), "text, not empty")
NAME: Field = (
    lambda found: isinstance(found, str) and found.isidentifier(),
    "a name of letters, digits and _",
)
CALLABLE: Field = (callable, "a class or a function")
GRID: Field = (
    lambda found: (
        isinstance(found, tuple) and bool(found) and all(isinstance(row, Mapping) for row in found)
    ),
    "a tuple of dicts, ({},) for the defaults alone",
)
COMMON: dict[str, Field] = {"name": NAME, "make": CALLABLE, "label": TEXT, "grid": GRID}
SOLVER: dict[str, Field] = {
    "reference": TEXT,
    "law": TEXT,
    "kinds": (
        lambda found: (
            isinstance(found, frozenset)
            and bool(found)
            and all(isinstance(kind, Kind) for kind in found)
        ),
        "a frozenset of Kind, not empty",
    ),
    "queries": (lambda found: isinstance(found, Queries), "Queries.ONE, MANY or ANY"),
    "sampling": (lambda found: isinstance(found, Sampling), "Sampling.ADVANCE, RERUN or ONCE"),
    "promise": (
        lambda found: isinstance(found, float) and 0 < found <= 1,
        "a relative gap in (0, 1]",
    ),
    "needs": (
        lambda found: isinstance(found, frozenset) and found <= NEEDS,
        f"a frozenset of {', '.join(map(repr, sorted(NEEDS)))}",
    ),
    "library": (lambda found: found is None or isinstance(found, str), "a package's name, or None"),
    "laws": (
        lambda found: isinstance(found, tuple) and all(isinstance(law, Law) for law in found),
        "a tuple of Law, () for none",
    ),
}
PROBLEM: dict[str, Field] = {
    "complete": (lambda found: found is None or callable(found), "a function, or None")
}


def entry_is_complete(subject: Subject) -> None:
    """Ask that fields of ENTRY have their types, and a solver is a frozen dataclass."""
    entry = subject.entry
    kind, more = (SolverEntry, SOLVER) if subject.group == "solvers" else (ProblemEntry, PROBLEM)
    for field, (fits, words) in (COMMON | more).items():
        found = getattr(entry, field)
        if not fits(found):
            raise Violation(f"{kind.__name__}.{field} to be {words}", repr(found))
    if subject.group == "problems":
        return
    make: Any = entry.make
    if not (isinstance(make, type) and dataclasses.is_dataclass(make)):
        return _has_methods(catalog.build_solver(subject.choices[0]))
    if not vars(make)["__dataclass_params__"].frozen:
        raise Violation(
            f"@dataclass(frozen=True) for {make.__name__}",
            "one whose fields can be written",
            "what moves belongs into the state, what init and advance share into the model",
        )
    return _has_methods(make)


def _has_methods(found: Any) -> None:
    missing = [name for name in METHODS if not callable(getattr(found, name, None))]
    if missing:
        raise Violation(f"the methods {', '.join(METHODS)}", f"none called {', '.join(missing)}")


def parameters_are_readable(subject: Subject) -> None:
    """Ask that each parameter has a type that text can give, and a default of that type."""
    entry = subject.entry
    for key, (kind, default) in catalog.parameters(entry.make).items():
        if default is inspect.Parameter.empty:
            continue
        text = catalog.written(default)
        try:
            [plain] = spelled(f"{entry.name}[{key}={text}]").values[key]
            again = catalog.typed(entry, {key: plain})[key]
        except InvalidParameter as error:
            raise Violation(f"{key} to be read from the command line", str(error)) from error
        if not _is(default, kind):
            raise Violation(
                f"the default of {key} to be {_named(kind)}, as declared",
                repr(default),
                "an int where a float is declared, or text for an object",
            )
        if catalog.written(again) != text:
            raise Violation(
                f"{key}={text} to read back",
                catalog.written(again),
                "the object's text is not what its reader takes",
            )


def _is(value: Any, kind: Any) -> bool:
    if get_args(kind):
        return get_origin(kind) is not None and value in get_args(kind)
    if kind is float:  # 1 is as good as 1.0 wherever a float is declared
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind in (int, str, bool):
        return type(value) is kind or (kind is str and isinstance(value, str))
    return True  # read by its own reader, which was asked


def _named(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind)) if not get_args(kind) else str(kind)


def texts_read_back(subject: Subject) -> None:
    """Ask that the canonical text of each variant stands for that variant, and for no other."""
    entry = subject.entry
    known = set(catalog.parameters(entry.make))
    for row in entry.grid:
        if strange := sorted(set(row) - known):
            raise Violation(
                f"the grid to name parameters, which are {', '.join(sorted(known)) or 'none'}",
                ", ".join(strange),
            )
    declared = catalog.parameters(entry.make)
    rows = [catalog.typed(entry, row) for row in entry.grid]
    texts = []
    for row in rows:
        values = {key: row.get(key, default) for key, (_, default) in declared.items()}
        inside = ",".join(f"{key}={catalog.written(value)}" for key, value in values.items())
        texts.append(f"{entry.name}[{inside}]")
    if len(set(texts)) < len(texts):
        raise Violation("variants that differ", f"{max(texts, key=texts.count)} twice")
    for choice in subject.choices:
        subject.at = choice.label
        try:
            values = {key: each[0] for key, each in spelled(choice.text).values.items()}
            again = catalog.chosen(choice.source, entry, catalog.typed(entry, values))
        except FwbenchError as error:
            raise Violation(f"{choice.text} to be read", str(error)) from error
        if again.text != choice.text:
            raise Violation(f"{choice.text} to read back as it is", again.text)
    subject.at = ""


def parameters_are_explained(subject: Subject) -> None:
    """Ask that the docstring names each parameter."""
    declared = catalog.parameters(subject.entry.make)
    if not declared:
        raise Inapplicable("it has no parameters")
    text = inspect.getdoc(subject.entry.make) or ""
    if silent := [key for key in declared if not re.search(rf"\b{re.escape(key)}\b", text)]:
        raise Violation(
            "each parameter in the docstring, for those who ask fwbench describe",
            f"nothing of {', '.join(silent)}",
            grave=False,
        )


RULES = (
    Rule("entry", "ENTRY says what the file holds", entry_is_complete),
    Rule("parameters", "parameters can be given as text", parameters_are_readable),
    Rule("text", "the canonical text reads back", texts_read_back),
    Rule("docstring", "every parameter is explained", parameters_are_explained),
)
