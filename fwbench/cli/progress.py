"""What a run says while it works: a live line on a terminal, plain lines in a log."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from fwbench.errors import visible
from fwbench.execution.tasks import Task

LOG_WIDTH = 140


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal.

    Where there is none, as wide as the variable COLUMNS says, else wide enough for a table.
    """
    found = Console(stderr=stderr)
    told = os.environ.get("COLUMNS", "")
    if found.is_terminal or (told.isdecimal() and int(told)):
        return found
    return Console(stderr=stderr, width=LOG_WIDTH)


@contextmanager
def stdout_alone() -> Iterator[None]:
    """Send to stderr what solvers and claims print on stdout, C code included."""
    import ctypes

    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if os.name == "posix":
            ctypes.CDLL(None).fflush(None)  # what C code still holds back
        os.dup2(kept, 1)
        os.close(kept)


class Progress:
    """Tells a person on stderr what runs, what is left and about how long; stdout stays free."""

    def __init__(self, total: int) -> None:
        self.console = console(stderr=True)
        self.total, self.done, self.held = total, 0, 0
        self.bar = Bar(
            TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(),
            TimeRemainingColumn(), console=self.console, transient=True,
            auto_refresh=False,  # nothing else may run while a clock does
        )  # fmt: skip
        self.line = self.bar.add_task("starting", total=total)

    def __enter__(self) -> Progress:
        if self.console.is_terminal:
            self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        if self.bar.live.is_started:  # else rich ends a line that was never begun
            self.bar.stop()

    def kept(self, task: Task) -> None:
        """Note that a run was there already, and that nothing it depends on has changed."""
        self.done += 1
        self.held += 1
        self.bar.advance(self.line)

    def told(self, task: Task, row: dict[str, Any] | None) -> None:
        """Note that a run starts (row None) or has ended."""
        name = f"{task.solver_label} on {task.instance_label}"
        if row is None:
            self.begins(name)
        else:
            self.ended(name, f"{row['status']}, {row['reason']}")

    def claimed(self, name: str, record: dict[str, Any] | None) -> None:
        """Note that a claim is tried (record None) or has its verdict."""
        if record is None:
            self.begins(f"claim {name}")
        else:
            verdict = f"{record['verdict']}, {'' if record['as_expected'] else 'not '}as expected"
            self.ended(f"claim {name}", f"{verdict}, {record['seconds']:.1f} s")

    def begins(self, name: str) -> None:
        """Name what is worked on."""
        self.bar.update(self.line, description=escape(visible(name)), refresh=True)

    def ended(self, name: str, said: str) -> None:
        """Note that one more is done; in a log, say how it ended."""
        self.done += 1
        self.bar.advance(self.line)
        if not self.console.is_terminal:
            self.say(f"[{self.done}/{self.total}] {name}: {said}")

    def say(self, text: str) -> None:
        """Print a line as it is."""
        shown = visible(text, keep="\n")
        self.console.print(shown, markup=False, highlight=False, soft_wrap=True)

    def show(self, renderable: Any) -> None:
        """Print the summary; the bar is over."""
        self._stop()
        self.console.print(renderable)
