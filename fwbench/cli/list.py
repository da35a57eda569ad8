"""List what there is: ``fwbench list``."""

from __future__ import annotations

import json

import click


@click.command("list")
@click.argument("group", type=click.Choice(["solvers", "problems", "suites", "claims"]))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def listing(group: str, as_json: bool) -> None:
    """List solvers, problems, suites or claims with a line on each; imports none of them."""
    lines = _lines(group)
    if as_json:
        click.echo(json.dumps(lines, indent=1))
        return
    width = max(map(len, lines), default=0)
    for name, line in lines.items():
        click.echo(f"{name:{width}}  {line}")


def _lines(group: str) -> dict[str, str]:
    if group == "suites":
        from fwbench.suite import load, suites

        return {name: load(name).description for name in sorted(suites())}
    from fwbench.names import Group, names

    groups: dict[str, Group] = {"solvers": "solvers", "problems": "problems", "claims": "claims"}
    return names(groups[group])
