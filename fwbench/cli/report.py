"""Write reports again, or one on several run folders: ``fwbench report``."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from pathlib import Path

import click

_FORMATS = {"html": "html", "md": "md", "pdf": "figures", "latex": "latex"}


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option("--format", "formats", default="html,md,pdf", show_default=True,
              help="Any of html, md, pdf (figures), latex (report.tex), with commas.")  # fmt: skip
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the report. Default: RUN itself; of several compared-DATE-TIME beside the "
    "first.",
)
@click.option("--fresh", is_flag=True, help="Write over the report that stands in --out.")
def report(runs: tuple[Path, ...], formats: str, out: Path | None, fresh: bool) -> None:
    """Write tables and report of the folder RUN again, from its journal.

    Several RUN folders stand side by side in one report, in a folder of its own: solvers and
    instances that are in more than one are told apart by the names of the folders.
    """
    if fresh and out is None:
        raise click.UsageError("--fresh goes with --out FOLDER, the report to be written over")
    from fwbench.errors import InvalidParameter, nearest
    from fwbench.findings import build, write_views
    from fwbench.report.write import write
    from fwbench.store import RunFolder

    asked = [name.strip() for name in formats.split(",")]
    for name in asked:
        if name not in _FORMATS:
            raise InvalidParameter(f"no report format {name!r}; {nearest(name, _FORMATS)}")
    again = out is None and len(runs) == 1
    folder = (
        RunFolder(runs[0]) if again else RunFolder.for_report(out or _beside(runs[0]), fresh=fresh)
    )
    findings = build(*map(RunFolder, runs))
    if not again:
        folder.write_folders(findings.manifest)
    write_views(folder, findings)
    for told in findings.manifest.get("folders", ()):
        if told["unfinished"]:
            left = f"{told['unfinished']} of {told['runs']} runs are still to be made"
            click.echo(f"{told['name']}: {left}", err=True)
    for path in write(findings, folder.path, frozenset(_FORMATS[name] for name in asked)):
        click.echo(path)


def _beside(run: Path) -> Path:
    """Return a folder that is not there yet, beside a run folder."""
    first = run.absolute().parent / f"compared-{datetime.now():%Y%m%d-%H%M%S}"
    numbered = (first.with_name(f"{first.name}-{n}") for n in count(2))
    return first if not first.exists() else next(one for one in numbered if not one.exists())
