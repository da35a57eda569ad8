"""Describe a solver, a problem, a suite or a claim: ``fwbench describe``."""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from pathlib import Path
from textwrap import indent
from typing import Any

import click

SHOWN = 6


@click.command()
@click.argument("name")
def describe(name: str) -> None:
    """Print what NAME is, its parameters with types and defaults, and its source."""
    from fwbench import catalog, suite, verify
    from fwbench.errors import UnknownName, nearest
    from fwbench.grammar import spelled
    from fwbench.solver import AUTO

    bare = spelled(name).name
    for group in ("solvers", "problems"):
        if bare in catalog.names(group) or (group == "solvers" and bare == AUTO.name):
            _show(_entry(catalog, catalog.entry(group, bare)))
            return
    if bare.endswith(".py"):
        if os.path.isfile(bare) and hasattr(catalog.loaded(Path(bare)), "CLAIM"):
            _show(_claim(*verify.written((bare,))))
            return
        try:
            found = catalog.entry("problems", bare)
        except UnknownName:
            found = catalog.entry("solvers", bare)
        _show(_entry(catalog, found))
        return
    if bare in suite.suites() or bare.endswith(".toml"):
        _show(_suite(suite.load(bare)))
        return
    if bare in catalog.names("claims"):
        _show(_claim(*verify.written((bare,))))
        return
    known = [AUTO.name, *catalog.names("solvers"), *catalog.names("problems"), *suite.suites()]
    known += catalog.names("claims")
    raise UnknownName(f"nothing is called {name!r}; {nearest(name, known)}")


def _show(text: str) -> None:
    """Print what a file says, without what a terminal would obey."""
    from fwbench.errors import visible

    click.echo(visible(text, keep="\n\t"))


def _entry(catalog: Any, entry: Any) -> str:
    from fwbench import choose
    from fwbench.schedules import SCHEDULES, Factors, Schedule
    from fwbench.solver import AUTO
    from fwbench.steps import RULES, StepRule
    from fwbench.values import Values

    module = choose if entry is AUTO else sys.modules[entry.make.__module__]
    parts = [f"{entry.name}: {entry.label}", "", inspect.cleandoc(module.__doc__ or ""), ""]
    declared = catalog.parameters(entry.make)
    parts.append("Parameters" if declared else "No parameters")
    for key, (kind, default) in declared.items():
        shown = "must be given" if default is inspect.Parameter.empty else catalog.written(default)
        parts.append(f"  {key} = {shown}    ({_kind(kind)})")
    kinds = {kind for kind, _ in declared.values() if isinstance(kind, type)}
    if StepRule in kinds:
        parts.append(f"Step rules: {', '.join(RULES)}; arguments in parentheses: open_loop(4)")
    if kinds & {Schedule, Factors}:
        parts.append(f"Schedules: a number, {', '.join(SCHEDULES)}; say, geometric(10,1/2)")
    if Factors in kinds:
        parts.append('Factors: one schedule, or one for each coordinate: "geometric(1,1/2) 1"')
    if Values in kinds:
        parts.append('Values: none, a number, a diagonal "3/2 7/3", a matrix "0 1; -1 0"')
    if len(entry.grid) > 1:
        each = [
            catalog.chosen(entry.name, entry, catalog.typed(entry, grid)) for grid in entry.grid
        ]
        shown = [choice.label for choice in each[:SHOWN]]
        more = [f"… ({len(each)} in all)"] if len(each) > SHOWN else []
        parts.append(f"The bare name stands for: {', '.join(shown + more)}")
    for title in ("law", "reference", "promise", "queries", "sampling"):
        if hasattr(entry, title):
            parts.append(f"{title.capitalize()}: {getattr(entry, title)}")
    if hasattr(entry, "kinds"):
        parts.append(f"Runs on: {', '.join(sorted(entry.kinds))}")
    return "\n".join(parts)


def _claim(found: Any) -> str:
    claim = found.claim
    parts = [f"{claim.name}: {claim.title}", "", claim.statement, "", f"  {claim.formula}", ""]
    parts += [f"Source: {claim.source}", f"Standing: {claim.standing}"]
    parts += ["Hypotheses:", *(f"  {text}" for text in claim.hypotheses)]
    parts += [f"Measured: {claim.quantity}", f"Horizon: {claim.horizon}"]
    parts += [f"Arithmetic: {claim.arithmetic}", f"Expected verdict: {claim.expects}"]
    parts += [f"First witness: {claim.expects_witness}"] if claim.expects_witness else []
    parts += ["", claim.remark] if claim.remark else []
    parts += ["", f"{found.file} begins:", "", indent(found.about, "  ")] if found.about else []
    parts += [] if found.about else ["", f"File: {found.file}"]
    return "\n".join([*parts, "", shlex.join(["fwbench", "verify", found.asked])])


def _kind(kind: Any) -> str:
    values = getattr(kind, "__args__", None)
    return " or ".join(map(str, values)) if values else getattr(kind, "__name__", str(kind))


def _suite(found: Any) -> str:
    parts = [f"{found.label}: {found.description}"]
    for block in found.blocks:
        limits = ", ".join(f"{key}={value:g}" for key, value in block.limits.items())
        parts += ["", f"problems: {', '.join(block.problems)}"]
        parts.append(f"solvers:  {', '.join(block.solvers or ('all',))}")
        parts += [f"limits:   {limits}"] if limits else []
    parts += ["", f"claims:   {', '.join(found.claims)}"] if found.claims else []
    return "\n".join(parts)
