"""The command line: one file a command, heavy imports inside the commands."""

from __future__ import annotations

import sys
from io import TextIOWrapper

import click

from fwbench import __version__
from fwbench.cli.describe import describe
from fwbench.cli.list import listing
from fwbench.cli.report import report
from fwbench.cli.run import run
from fwbench.cli.show import show
from fwbench.cli.verify import verify
from fwbench.errors import FwbenchError

WRONG_USE, INTERRUPTED = 2, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def fwbench() -> None:
    """Compare solvers of a quadratic over the hull of given points, attention among them."""


for command in (run, verify, listing, describe, show, report):
    fwbench.add_command(command)


def main() -> None:
    """Run the command line; wrong use ends with exit code 2 and a sentence, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a letter that a terminal lacks costs no run
            stream.reconfigure(errors="backslashreplace")
    try:
        code = fwbench.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(WRONG_USE)
    except click.Abort:
        sys.exit(INTERRUPTED)
    except FwbenchError as error:
        click.echo(f"fwbench: {error}", err=True)
        sys.exit(WRONG_USE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)
