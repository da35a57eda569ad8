"""The command line: one file a command, heavy imports inside the commands."""

from __future__ import annotations

import sys
from io import StringIO, TextIOWrapper

import click

from fwbench import __version__
from fwbench.cli.check import check
from fwbench.cli.compare import compare
from fwbench.cli.describe import describe
from fwbench.cli.doctor import doctor
from fwbench.cli.gate import gate
from fwbench.cli.history import history
from fwbench.cli.list import listing
from fwbench.cli.new import new
from fwbench.cli.report import report
from fwbench.cli.run import run
from fwbench.cli.show import show
from fwbench.cli.verify import verify
from fwbench.errors import FwbenchError, visible

WRONG_USE, INTERRUPTED = 2, 130
LONGEST = 4000  # letters of a sentence: what it names may be a whole file


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def fwbench() -> None:
    """Compare solvers of a quadratic over the hull of given points, attention among them."""


for command in (
    run, verify, listing, describe, show, report, compare, gate, history, new, check, doctor
):  # fmt: skip
    fwbench.add_command(command)


def _shown(message: str) -> str:
    """Return a message for a terminal, which obeys none of its letters."""
    shown = visible(message, keep="\n")
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} …"


def main() -> None:
    """Run the command line; wrong use ends with exit code 2 and a sentence, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a letter that a terminal lacks costs no run
            stream.reconfigure(errors="backslashreplace")
    try:
        code = fwbench.main(standalone_mode=False)
    except click.ClickException as error:
        told = StringIO()
        error.show(told)
        click.echo(_shown(told.getvalue()), err=True, nl=False)
        sys.exit(WRONG_USE)
    except click.Abort:
        sys.exit(INTERRUPTED)
    except FwbenchError as error:
        click.echo(f"fwbench: {_shown(str(error))}", err=True)
        sys.exit(WRONG_USE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)
