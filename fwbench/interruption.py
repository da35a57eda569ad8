"""Ctrl-C, or SIGTERM: the first one asks for an orderly end, the second one ends at once.

A third one is the system's own, in case that even the second is caught by what it should end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Notes a Ctrl-C; a solver may raise KeyboardInterrupt of its own, which is none.

    Parameters
    ----------
    raises : bool
        Whether the first one must be raised: runs in this process know no other way to end.
    """

    def __init__(self, *, raises: bool) -> None:
        self._raises, self._count, self._deferring = raises, 0, False
        self._restore: Callable[[], Any] | None = None

    def is_set(self) -> bool:
        """Say whether there was a Ctrl-C."""
        return self._count > 0

    @property
    def twice(self) -> bool:
        """Whether there was a second one."""
        return self._count > 1

    def _note(self, number: int, frame: Any) -> None:
        self._count += 1
        if self.twice:
            for asked in SIGNALS:
                signal.signal(asked, signal.SIG_DFL)
        if self.twice or (self._raises and not self._deferring):
            raise KeyboardInterrupt

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Let what is written inside be written to its end, whatever the first Ctrl-C ends."""
        self._deferring = True
        try:
            yield
        finally:
            self._deferring = False

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Have the first Ctrl-C raised inside, by what knows no other way to end."""
        before, self._raises = self._raises, True
        try:
            yield
        finally:
            self._raises = before

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            before = [(asked, signal.signal(asked, self._note)) for asked in SIGNALS]
            self._restore = lambda: [signal.signal(*one) for one in before]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._restore is not None:
            self._restore()
