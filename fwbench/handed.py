"""What a test hands over: a problem and a solver, as texts of the command line or as objects."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

from fwbench import catalog
from fwbench.choose import resolved
from fwbench.errors import InvalidParameter, UnknownName, brief, visible
from fwbench.grammar import quoted
from fwbench.names import Group
from fwbench.problem import QuadraticOverHull
from fwbench.solver import Solver, SolverEntry

METHODS = ("prepare", "init", "advance")


@dataclass(frozen=True, eq=False)
class Handed:
    """One solver and one problem, made.

    Attributes
    ----------
    problem : QuadraticOverHull
    instance : str
        How it is called, for people.
    solver : Solver
    entry : SolverEntry
        What the file of the solver says of it.
    name, params, label : str
        The name of the solver, its parameters as text, and both without defaults, for people.
    """

    problem: QuadraticOverHull
    instance: str
    solver: Solver[Any, Any]
    entry: SolverEntry
    name: str
    params: str
    label: str


def handed(problem: Any, solver: Any) -> Handed:
    """Make what was handed over.

    Parameters
    ----------
    problem : QuadraticOverHull, str or path
        A text names one instance, as ``-p`` does: ``"min_norm_point[n=300,d=10]"``.
    solver : Solver, str or path
        A text names one solver, as ``-s`` does: ``"my_solver.py[step=1]"``. Of an object the
        ``ENTRY`` counts that stands in its file; where there is none, it is a method that moves one
        query step by step, on problems of every kind.

    Raises
    ------
    UnknownName, InvalidParameter
        For a text that names none or several; for an object that is neither.

    Examples
    --------
    >>> found = handed(QuadraticOverHull([[1.0, 2.0], [3.0, 1.0]]), "frank_wolfe[step=exact]")
    >>> found.instance, found.label
    ('QuadraticOverHull, 2 atoms in 2 dimensions', 'frank_wolfe[step=exact]')
    """
    if isinstance(problem, str | os.PathLike):
        chosen = _one("problems", problem)
        made, instance = catalog.build_problem(chosen), chosen.label
    elif isinstance(problem, QuadraticOverHull):
        made = problem
        instance = f"QuadraticOverHull, {made.n} atoms in {made.d} dimensions"
    else:
        raise InvalidParameter(
            "problem must be a QuadraticOverHull or the text of one; got "
            f"{brief(problem)} (wrap the atoms?)"
        )
    if isinstance(solver, str | os.PathLike):
        choice = resolved(_one("solvers", solver), made)
        method, entry = catalog.build_solver(choice), choice.entry
        return Handed(made, instance, method, entry, choice.name, choice.params, choice.label)
    if isinstance(solver, type) or not all(callable(getattr(solver, m, None)) for m in METHODS):
        slip = " (make it: call the class?)" if isinstance(solver, type) else ""
        raise InvalidParameter(
            f"solver must be a text or an object with {', '.join(METHODS)}; got "
            f"{brief(solver)}{slip}"
        )
    entry = _entry_of(solver)
    return Handed(made, instance, solver, entry, *_called(solver, entry))


def _one(group: Group, given: str | os.PathLike[str]) -> catalog.Choice:
    """Return the one problem or solver that a text names."""
    text = given if isinstance(given, str) else quoted(os.fspath(given))
    found = catalog.choices(group, text)
    if len(found) != 1:
        some = ", ".join(choice.label for choice in found[:2])
        raise InvalidParameter(
            f"a benchmark has one {group[:-1]}; {text} names {len(found)}: {some}, … (give each "
            "parameter one value; @pytest.mark.parametrize makes a test of each)"
        )
    return found[0]


def _entry_of(solver: Any) -> SolverEntry:
    """Return the ENTRY of the file in which a solver's class stands, or one that says little."""
    made = type(solver)
    found = getattr(sys.modules.get(made.__module__), "ENTRY", None)
    if isinstance(found, SolverEntry) and found.make is made:
        return found
    return SolverEntry(made.__name__, made, "handed over by a test", "none", "none is known")


def _called(solver: Any, entry: SolverEntry) -> tuple[str, str, str]:
    """Return name, parameters and label of a solver that came as an object.

    Its parameters are told where they are numbers and texts, or can be written as such.
    """
    try:
        arguments = {name: getattr(solver, name) for name in catalog.parameters(entry.make)}
    except (InvalidParameter, AttributeError, UnknownName):  # it keeps them under other names
        return entry.name, "", visible(entry.name)
    plain = (
        isinstance(v, bool | int | float | str) or hasattr(v, "text") for v in arguments.values()
    )
    if not all(plain):
        return entry.name, "", visible(entry.name)
    choice = catalog.chosen(entry.name, entry, arguments)
    return choice.name, choice.params, choice.label
