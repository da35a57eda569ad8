"""What may be taken in from outside: regular files alone, and no more than the memory holds."""

from __future__ import annotations

import math
import os
import stat
from pathlib import Path

import psutil

from fwbench.errors import InvalidProblem

SHARE = 2  # what is read may fill one part in so many of the memory that is free
WORDS = {
    stat.S_IFDIR: "this is a folder",
    stat.S_IFIFO: "this is a named pipe, no file",
    stat.S_IFSOCK: "this is a socket, no file",
    stat.S_IFCHR: "this is a device, no file",
    stat.S_IFBLK: "this is a device, no file",
}


def obstacle(path: str | Path) -> str | None:
    """Return why a path can't be read as a file, in a few words, or None where it can be tried.

    Reading a named pipe would wait for ever, and a device may never end.

    Examples
    --------
    >>> obstacle("/"), obstacle("/nowhere"), obstacle(__file__)
    ('this is a folder', 'no such file', None)
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "a link that leads nowhere" if os.path.islink(path) else "no such file"
    except OSError as error:  # links in a circle, a name too long, a folder that is closed
        return error.strerror or str(error)
    except ValueError as error:  # a zero byte, a lone surrogate
        return f"no path: {error}"
    return None if stat.S_ISREG(mode) else WORDS.get(stat.S_IFMT(mode), "this is no file")


def room() -> int:
    """Return how many bytes what is read may take: half of the memory that is free."""
    return int(psutil.virtual_memory().available) // SHARE


def fits(needed: int, what: str) -> None:
    """Refuse what takes more bytes than may be read.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        The beginning of the sentence.

    Raises
    ------
    InvalidProblem
        With both numbers.
    """
    if needed > (allowed := room()):
        raise InvalidProblem(
            f"{what} takes {needed / 2**30:.3g} GiB; at most half of the free memory, "
            f"{allowed / 2**30:.3g} GiB, is used for it"
        )


def affordable(shape: tuple[int, ...], itemsize: int = 8) -> None:
    """Refuse what no memory could hold as dense numbers: atoms are held dense.

    Examples
    --------
    >>> affordable((1000, 1000))
    """
    fits(itemsize * math.prod(shape), f"dense, as atoms are held, its shape {str(shape)[:80]}")
