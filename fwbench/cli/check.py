"""Try the contract on a solver or a problem: ``fwbench check``."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from fwbench.errors import visible

if TYPE_CHECKING:
    from fwbench.contract.check import Checked
    from fwbench.contract.rule import Finding

PASSED, FAILED = 0, 1
RULE = 13  # columns of a rule's name
NARROW = 60
LONGEST = 300  # letters of what was expected, and of what came


@click.command()
@click.argument("what", metavar="FILE|NAME")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(what: str, as_json: bool) -> int:
    """Try on a solver or problem, or on each file of a folder, all that is asked of one.

    A line a rule: ok, FAILED with what was expected, what came and the likely slip, or skipped
    with the reason. Ends with 1 if any failed.
    """
    from fwbench.contract.check import asked_for
    from fwbench.contract.check import check as tried

    subjects = asked_for(what)
    for subject in subjects:
        for number, finding in enumerate(tried(subject)):
            if not as_json:
                if number == 0:
                    click.echo(_title(subject))
                click.echo(_line(finding))
        if not as_json:
            click.echo(_sum(subject))
    if as_json:
        content = [subject.as_dict() for subject in subjects]
        click.echo(json.dumps(content[0] if len(content) == 1 else content, indent=1))
    return PASSED if all(subject.passed for subject in subjects) else FAILED


def _title(subject: Checked) -> str:
    kind = {"solvers": "solver", "problems": "problem"}.get(subject.group or "", "file")
    name = subject.name or subject.text
    return visible(f"{kind} {name}" + (f" ({subject.text})" if subject.text != name else ""))


def _line(finding: Finding) -> str:
    """Return the line of a rule, folded where a terminal would break it anywhere."""
    shown = replace(finding, expected=_cut(finding.expected), came=_cut(finding.came))
    line = visible(f"{shown.standing:<8} {shown.rule:<{RULE}} {shown.sentence}")
    if not sys.stdout.isatty():
        return line
    width = max(shutil.get_terminal_size().columns, NARROW)
    return textwrap.fill(line, width, subsequent_indent=" " * (RULE + 10), break_long_words=False)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _sum(subject: Checked) -> str:
    from fwbench.contract.rule import Standing

    found = Counter(finding.standing for finding in subject.findings)
    counts = ", ".join(f"{count} {standing}" for standing, count in found.items())
    first = "" if found[Standing.FAILED] < 2 else ". Begin with the first that failed"
    count = len(subject.findings)
    return f"{count} rule{'s' * (count != 1)}: {counts}{first}."
