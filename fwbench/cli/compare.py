"""Compare two results: ``fwbench compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fwbench.cli.shown import Ways, show, ways

if TYPE_CHECKING:
    from fwbench.analysis.changes import Comparison
    from fwbench.analysis.sides import Side

WELL = 0


@click.command()
@click.argument("results", nargs=-1, type=click.Path(path_type=Path), metavar="[BASE] NEW")
@click.option("--baseline", is_flag=True,
              help="BASE is the shipped baseline of the suite that NEW ran.")  # fmt: skip
@click.option("--only", type=click.Choice(["exact"]), help="Leave timings out.")
@click.option("--strict", is_flag=True,
              help="What has changed, neither better nor worse, counts as worse.")  # fmt: skip
@click.option("--write-baseline", type=click.Path(path_type=Path), metavar="FILE",
              help="Compare nothing: write the results of NEW as a baseline.")  # fmt: skip
@ways
def compare(
    results: tuple[Path, ...],
    baseline: bool,
    only: str | None,
    strict: bool,
    as_json: bool,
    markdown: str | None,
    rows: int,
    html: Path | None,
    write_baseline: Path | None,
) -> int:
    """Say whether NEW is slower, less exact, or at different fixed points than BASE.

    BASE and NEW are run folders, baselines, or files of pytest-benchmark. Ends with 0 if
    everything is the same or better, with 1 if anything is worse, with 3 if that cannot be told.
    """
    asked = Ways(as_json, markdown, rows, html)
    alone = baseline or write_baseline is not None
    if len(results) != (1 if alone else 2):
        wanted = "one result, NEW" if alone else "two results, BASE and NEW"
        raise click.UsageError(f"compare needs {wanted}; got {len(results)}")
    from fwbench.comparing import opened

    new = opened(results[-1])
    if write_baseline is not None:
        return _write_baseline(new, write_baseline)
    comparison = _compared(
        results, new, baseline=baseline, exact_only=only is not None, strict=strict
    )
    show(comparison, asked)
    return comparison.outcome.code


def _compared(
    results: tuple[Path, ...], new: Side, *, baseline: bool, exact_only: bool, strict: bool
) -> Comparison:
    from fwbench.analysis.comparison import compared
    from fwbench.comparing import opened, refuse_strangers, shipped

    base = shipped(new) if baseline else opened(results[0])
    refuse_strangers(base, new)
    return compared(base, new, exact_only=exact_only, strict=strict)


def _write_baseline(new: Side, path: Path) -> int:
    from fwbench.baseline import write

    write(new, path)
    click.echo(path)
    return WELL
