"""How a comparison leaves a command: on the terminal, as JSON, as Markdown, as a page."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from fwbench.analysis.changes import Comparison

STDOUT = "-"

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Ways:
    """What is asked for: JSON, Markdown (into a file, or printed), how many rows, a page."""

    as_json: bool
    markdown: str | None
    rows: int
    html: Path | None

    def __post_init__(self) -> None:
        if self.as_json and self.markdown == STDOUT:
            raise click.UsageError("--json and --markdown both print; give --markdown a FILE")


def ways(command: Command) -> Command:
    """Give a command the options that `Ways` holds: as_json, markdown, rows, html."""
    options = (
        click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON."),
        click.option("--markdown", is_flag=False, flag_value=STDOUT, metavar="[FILE]",
                     help="Write Markdown for a pull request; without a FILE, print it."),
        click.option("--rows", type=click.IntRange(min=1), default=30, show_default=True,
                     help="Most rows of a table of the Markdown."),
        click.option("--html", type=click.Path(path_type=Path), metavar="FILE",
                     help="Write a page."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def show(comparison: Comparison, asked: Ways) -> None:
    """Print what was asked for, and write what has a file."""
    if asked.html is not None:
        from fwbench.report.comparison import page

        put(asked.html, page(comparison, shlex.join(["fwbench", *sys.argv[1:]])))
    if asked.markdown is not None:
        from fwbench.report.comparison import markdown as made

        text = made(comparison, asked.rows)
        if asked.markdown == STDOUT:
            click.echo(text, nl=False)
            return
        put(Path(asked.markdown), text)
    if asked.as_json:
        from fwbench.analysis.comparison import document
        from fwbench.plain import plain

        click.echo(json.dumps(plain(document(comparison)), indent=1, allow_nan=False))
        return
    from fwbench.cli.progress import console
    from fwbench.report.comparison import terminal

    console().print(terminal(comparison))


def put(path: Path, text: str) -> None:
    """Write a file as a whole; what is a device, a pipe or a link is written into, and stays."""
    from fwbench.disk import failing, write_whole

    with failing(path, "written"):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_text(text, encoding="utf-8")
            return
    write_whole(path, text)
