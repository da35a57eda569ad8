"""Say what is installed and what the machine is like: ``fwbench doctor``."""

from __future__ import annotations

import json
from typing import Any

import click

HEALTHY, BROKEN = 0, 1
NAME = 16  # columns of a name


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> int:
    """Look at libraries, threads, clock, folders, and whether this machine is quiet now.

    Takes about three seconds. Ends with 1 if something that is needed does not work.
    """
    from fwbench.doctor import SECONDS, State, examine

    group, facts = "", []
    for fact in examine(SECONDS):
        facts.append(fact)
        if as_json:
            continue
        if fact.group != group:
            group = fact.group
            click.echo(f"{'' if len(facts) == 1 else chr(10)}{group}")
        mark = "" if fact.state is State.OK else f"{fact.state}: "
        click.echo(f"  {fact.name:<{NAME}} {mark}{fact.text}")
        if fact.cure:
            click.echo(f"  {'':<{NAME}} → {fact.cure}")
    broken = [fact.name for fact in facts if fact.state is State.BROKEN]
    if as_json:
        found: dict[str, Any] = {"broken": broken, "facts": {}}
        for fact in facts:
            row = {"value": fact.value, "state": fact.state, "text": fact.text, "cure": fact.cure}
            found["facts"].setdefault(fact.group, {})[fact.name] = row
        click.echo(json.dumps(found, indent=1))
    elif broken:
        click.echo(f"\nBroken: {', '.join(broken)}.")
    return BROKEN if broken else HEALTHY
