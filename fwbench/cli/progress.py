"""What a run says while it works: a live line on a terminal, plain lines in a log."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from fwbench.execution.tasks import Task

LOG_WIDTH = 140


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal; where there is none, wide enough for a table."""
    found = Console(stderr=stderr)
    return found if found.is_terminal else Console(stderr=stderr, width=LOG_WIDTH)


class Progress:
    """Tells a person on stderr what runs, what is left and about how long; stdout stays free."""

    def __init__(self, total: int) -> None:
        self.console = console(stderr=True)
        self.total, self.done = total, 0
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
        self.bar.stop()

    def told(self, task: Task, row: dict[str, Any] | None) -> None:
        """Note that a run starts (row None) or has ended."""
        name = f"{task.solver_label} on {task.instance_label}"
        if row is None:
            self.bar.update(self.line, description=escape(name), refresh=True)
            return
        self.done += 1
        self.bar.advance(self.line)
        if not self.console.is_terminal:
            self.say(f"[{self.done}/{self.total}] {name}: {row['status']}, {row['reason']}")

    def say(self, text: str) -> None:
        """Print a line as it is."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show(self, renderable: Any) -> None:
        """Print the summary; the bar is over."""
        self.bar.stop()
        self.console.print(renderable)
