"""Compare two results: ``fwbench compare``."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fwbench.analysis.changes import Comparison
    from fwbench.analysis.sides import Side

WELL = 0
STDOUT = "-"


@click.command()
@click.argument("results", nargs=-1, type=click.Path(path_type=Path), metavar="[BASE] NEW")
@click.option("--baseline", is_flag=True,
              help="BASE is the shipped baseline of the suite that NEW ran.")  # fmt: skip
@click.option("--only", type=click.Choice(["exact"]), help="Leave timings out.")
@click.option("--strict", is_flag=True,
              help="What has changed, neither better nor worse, counts as worse.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option("--markdown", is_flag=False, flag_value=STDOUT, metavar="[FILE]",
              help="Write Markdown for a pull request; without a FILE, print it.")  # fmt: skip
@click.option("--rows", type=click.IntRange(min=1), default=30, show_default=True,
              help="Most rows of a table of the Markdown.")  # fmt: skip
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a page.")
@click.option("--write-baseline", type=click.Path(path_type=Path), metavar="FILE",
              help="Compare nothing: write the results of NEW as a baseline.")  # fmt: skip
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
    if as_json and markdown == STDOUT:
        raise click.UsageError("--json and --markdown both print; give --markdown a FILE")
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
    if html is not None:
        _write_page(comparison, html)
    _show(comparison, as_json, markdown, rows)
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


def _write_page(comparison: Comparison, path: Path) -> None:
    from fwbench.report.comparison import page

    _put(path, page(comparison, shlex.join(["fwbench", *sys.argv[1:]])))


def _put(path: Path, text: str) -> None:
    """Write a file as a whole; what is a device, a pipe or a link is written into, and stays."""
    from fwbench.disk import failing, write_whole

    with failing(path, "written"):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_text(text, encoding="utf-8")
            return
    write_whole(path, text)


def _show(comparison: Comparison, as_json: bool, markdown: str | None, rows: int) -> None:
    """Print what was asked for, and write the Markdown where it has a file."""
    if markdown is not None:
        from fwbench.report.comparison import markdown as made

        text = made(comparison, rows)
        if markdown == STDOUT:
            click.echo(text, nl=False)
            return
        _put(Path(markdown), text)
    if as_json:
        from fwbench.analysis.comparison import document
        from fwbench.plain import plain

        click.echo(json.dumps(plain(document(comparison)), indent=1, allow_nan=False))
        return
    from fwbench.cli.progress import console
    from fwbench.report.comparison import terminal

    console().print(terminal(comparison))
