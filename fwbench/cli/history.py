"""Draw many run folders over time: ``fwbench history``."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fwbench.analysis.chronicle import Chronicle
    from fwbench.analysis.sides import Side


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Where the page and the figures go. Default: DIR/history.")  # fmt: skip
@click.option(
    "--json", "as_json", is_flag=True, help="Print lines and steps as JSON; draw nothing."
)
def history(folder: Path, out: Path | None, as_json: bool) -> None:
    """Draw the run folders in DIR over time, and mark where a quantity steps."""
    from fwbench.analysis.chronicle import chronicle
    from fwbench.cli.progress import console

    sides, notes = _read(folder)
    made = chronicle(sides)
    if as_json:
        click.echo(json.dumps(_document(made, notes), indent=1, allow_nan=False))
        return
    page = _write(made, notes, out or folder / "history")
    from fwbench.report.history import terminal

    shown = console()
    for note in notes:
        shown.print(note, markup=False, highlight=False, soft_wrap=True)
    shown.print(terminal(made))
    click.echo(page)


def _read(folder: Path) -> tuple[list[Side], list[str]]:
    """Return the run folders in a folder, and why others are left out."""
    from fwbench import views
    from fwbench.disk import failing
    from fwbench.errors import FwbenchError, RunFolderError, visible
    from fwbench.store import MANIFEST

    if (folder / MANIFEST).exists():
        raise RunFolderError(f"{folder} is a run folder; history takes the folder that holds some")
    with failing(folder, "read"):
        inside = sorted(path for path in folder.iterdir() if (path / MANIFEST).exists())
    sides, notes = list[Any](), list[str]()
    for path in inside:
        try:
            side = views.read(path, whole=False)
        except FwbenchError as error:
            notes.append(f"left out: {visible(str(error))}")
            continue
        sides.append(side)
        notes += side.notes
    if not sides:
        why = f" ({notes[0]})" if notes else ""
        raise RunFolderError(f"{folder} holds no run folder that can be read{why}")
    return sides, notes


def _document(made: Chronicle, notes: list[str]) -> dict[str, Any]:
    from dataclasses import asdict

    from fwbench.plain import plain

    content = asdict(made)
    for step in content["steps"]:  # its line stands among the others
        line = step.pop("line")
        step["machine"] = None if line is None else line["machine"]
    document: dict[str, Any] = plain({"notes": notes, **content})
    return document


def _write(made: Chronicle, notes: list[str], out: Path) -> Path:
    """Write the page and the figures; return where the page is."""
    from fwbench.disk import failing, write_whole
    from fwbench.report.history import figures, files, page

    drawn = figures(made)
    with failing(out, "made"):
        (out / "figures").mkdir(parents=True, exist_ok=True)
    path = out / "history.html"
    write_whole(path, page(made, drawn, notes, shlex.join(["fwbench", *sys.argv[1:]])))
    for name, content in files(drawn).items():
        write_whole(out / "figures" / name, content)
    return path
