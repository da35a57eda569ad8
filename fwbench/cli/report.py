"""Write reports again: ``fwbench report``."""

from __future__ import annotations

from pathlib import Path

import click

_FORMATS = {"html": "html", "md": "md", "pdf": "figures"}


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option("--format", "formats", default="html,md,pdf", show_default=True,
              help="Any of html, md, pdf (figures), with commas.")  # fmt: skip
def report(runs: tuple[Path, ...], formats: str) -> None:
    """Write tables and report of each RUN folder again, from its journal."""
    from fwbench.errors import InvalidParameter, nearest
    from fwbench.findings import build, write_views
    from fwbench.report.write import write
    from fwbench.store import RunFolder

    asked = [name.strip() for name in formats.split(",")]
    for name in asked:
        if name not in _FORMATS:
            raise InvalidParameter(f"no report format {name!r}; {nearest(name, _FORMATS)}")
    for run in runs:
        folder = RunFolder(run)
        findings = build(folder)
        write_views(folder, findings)
        for path in write(findings, run, frozenset(_FORMATS[name] for name in asked)):
            click.echo(path)
