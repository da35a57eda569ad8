"""What is written to stdout while a rule is tried, by Python or by C."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO

MOST = 10_000  # bytes that are looked at


@contextmanager
def written_to_stdout() -> Iterator[list[str]]:
    """Catch what is written to stdout inside, by Python or by C; the list is filled at the end."""
    printed: list[str] = []
    text = StringIO()
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            with redirect_stdout(text):
                yield printed
        finally:
            if os.name == "posix":
                ctypes.CDLL(None).fflush(None)  # what C code still holds back
            os.dup2(kept, 1)
            os.close(kept)
            file.seek(0)
            if said := text.getvalue() + file.read(MOST).decode(errors="replace"):
                printed.append(said)
