"""Try the claims of the theory: ``fwbench verify``."""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import closing, nullcontext
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fwbench.cli.progress import Progress

AS_EXPECTED, SURPRISED, INTERRUPTED = 0, 1, 130
JOBS = 2  # by default: a third process would take its time to import what the claims need


@click.command()
@click.argument("names", nargs=-1, metavar="[CLAIM]...")
@click.option("--long", "long", is_flag=True, help="Longer horizons and more draws.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write claims.json and pages into this folder."
)
@click.option("--fresh", is_flag=True, help="Write over the verdicts that --out holds.")
@click.option("--jobs", type=click.IntRange(min=1),
              help=f"Processes. Default: {JOBS}, or the number of cores if less.")  # fmt: skip
def verify(
    names: tuple[str, ...],
    long: bool,
    as_json: bool,
    out: Path | None,
    fresh: bool,
    jobs: int | None,
) -> int:
    """Try each CLAIM, or all of them, and print what became of it.

    A claim is a name (fwbench list claims) or a Python file. Ends with 0 if every verdict is the
    one that the claim's file expects, and with 1 if any is not.
    """
    from fwbench.cli.progress import Progress, console, stdout_alone
    from fwbench.plain import plain
    from fwbench.report.terminal import verdicts as shown
    from fwbench.store import RunFolder
    from fwbench.theory.claim import Effort
    from fwbench.theory.verdicts import document, without_curves
    from fwbench.verify import claims
    from fwbench.verify import verify as verify_all

    if fresh and out is None:
        raise click.UsageError("--fresh goes with --out")
    asked = claims(names)
    folder = None if out is None else RunFolder.for_verdicts(out, fresh=fresh)
    begun, records, interrupted = perf_counter(), list[dict[str, Any]](), False
    with Progress(len(asked)) as progress:
        with stdout_alone() if as_json else nullcontext():
            try:
                with closing(verify_all(names, Effort(long), jobs or _cores())) as verdicts:
                    for claim in asked:
                        progress.claimed(claim.name, None)
                        records.append(next(verdicts))
                        progress.claimed(claim.name, records[-1])
            except KeyboardInterrupt:
                interrupted = True
                progress.say(f"interrupted; {len(records)} of {len(asked)} claims were tried")
        made = document(
            records,
            long=long,
            seconds=perf_counter() - begun,
            interrupted=interrupted,
            command=shlex.join(["fwbench", *sys.argv[1:]]),
        )
        if folder is not None:
            _write(folder, made, progress)
    if as_json:
        click.echo(json.dumps(plain(without_curves(made)), indent=1, allow_nan=False))
    else:
        wide = console()
        wide.print(shown(made, wide.width))
    if interrupted:
        return INTERRUPTED
    return AS_EXPECTED if all(record["as_expected"] for record in records) else SURPRISED


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return min(JOBS, len(affinity(0)) if affinity is not None else os.cpu_count() or 1)


def _write(folder: Any, made: dict[str, Any], progress: Progress) -> None:
    from fwbench.report.write import write_verdicts

    folder.write_claims(made)
    progress.say("writing pages and figures")
    write_verdicts(made, folder.path)
    progress.say(f"Verdicts: {folder.path / 'claims.html'}")
