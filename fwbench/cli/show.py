"""Show a run folder: ``fwbench show``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fwbench.analysis.findings import Findings


def as_text(findings: Findings) -> str:
    """Return manifest, runs and winners as JSON text; missing values are null."""
    from fwbench.plain import plain
    from fwbench.theory.verdicts import without_curves

    def rows(table: Any) -> Any:
        return plain(table.astype(object).where(table.notna(), None).to_dict("records"))

    manifest = {key: value for key, value in findings.manifest.items() if key != "plan"}
    content = {
        "manifest": manifest,
        "runs": rows(findings.runs),
        "winners": rows(findings.winners),
        "fixed_points": rows(findings.fixed_points),
        "heads": rows(findings.heads),
        "layers": rows(findings.layers),
        "claims": None if findings.claims is None else without_curves(findings.claims),
    }
    return json.dumps(content, indent=1)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print manifest, runs and winners as JSON.")
def show(run: Path, as_json: bool) -> None:
    """Print what the run folder RUN found: who won where, each run, what failed and why."""
    from fwbench.findings import build
    from fwbench.store import RunFolder

    findings = build(RunFolder(run))
    if as_json:
        click.echo(as_text(findings))
        return
    from fwbench.cli.progress import console
    from fwbench.report.terminal import runs_table, terminal_summary

    shown = console()
    shown.print(runs_table(findings))
    shown.print(terminal_summary(findings))
