"""What fwbench raises. Each error is also the builtin that a caller would expect."""

import difflib
from collections.abc import Iterable


class FwbenchError(Exception):
    """Base of all errors that fwbench raises on purpose."""


class InvalidProblem(FwbenchError, ValueError):
    """Atoms, Q or c that do not make a problem."""


class InvalidParameter(FwbenchError, ValueError):
    """A parameter, or the text that names it, that does not fit its declaration."""


class Refused(FwbenchError, ValueError):
    """A solver asked to run on a problem that it cannot take; the message is the reason."""


class UnknownName(FwbenchError, LookupError):
    """A solver, problem, suite or column that does not exist."""


class MissingExtra(FwbenchError, ImportError):
    """A library that is not installed; the message names the install command."""


class RunFolderError(FwbenchError, OSError):
    """A run folder that cannot be read or must not be written."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the sentence that names what the caller may have meant.

    Examples
    --------
    >>> nearest("away_step", ["away_steps", "frank_wolfe"])
    'did you mean away_steps?'
    >>> nearest("zzz", ["away_steps", "frank_wolfe"])
    'known: away_steps, frank_wolfe'
    """
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(known)}"


def said(error: BaseException) -> str:
    """Return class and message of any exception, one whose message cannot be read included.

    Examples
    --------
    >>> said(ValueError("no"))
    'ValueError: no'
    """
    try:
        text = str(error)
    except Exception:  # a user's class may do anything
        text = "its message cannot be read"
    return f"{type(error).__name__}: {text}"
