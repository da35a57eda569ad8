"""What fwbench raises. Each error is also the builtin that a caller would expect."""

import difflib
import re
import reprlib
from collections.abc import Iterable
from typing import Any

# Letters that a terminal obeys, that turn the direction of what follows, that cannot be seen, or
# that XML does not know.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


LONGEST_SAID = 300  # letters of a foreign message in a sentence; a traceback holds it whole


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


class ClusterError(FwbenchError, RuntimeError):
    """A Dask cluster that nobody answers for, that has no workers, or whose workers do not fit."""


class GateError(FwbenchError, RuntimeError):
    """A side of a gate that cannot be built, or that cannot run what is asked."""


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


def visible(text: str, keep: str = "") -> str:
    r"""Return a text with the letters that a terminal obeys, or nobody sees, as escapes.

    Parameters
    ----------
    text : str
    keep : str
        Letters that stay, such as a line break.

    Examples
    --------
    >>> print(visible("red\x1b[31m"), visible("a\nb", keep="\n"), visible("\u202eabc"))
    red\x1b[31m a
    b \u202eabc
    """

    def escape(found: re.Match[str]) -> str:
        letter = found[0]
        return letter if letter in keep else letter.encode("unicode_escape").decode()

    return _UNSEEN.sub(escape, text)


def brief(value: Any) -> str:
    """Return a value for a message, cut where it is long, deep or cannot be shown.

    Examples
    --------
    >>> brief([1, 2]), brief("x" * 100), brief(1 << 99999)
    ('[1, 2]', "'xxxxxxxxxxxx...xxxxxxxxxxxxx'", 'an int')
    """
    try:
        return reprlib.repr(value)
    except Exception:  # an integer of too many digits; a user's class
        return f"{'an' if type(value).__name__[0] in 'aeiou' else 'a'} {type(value).__name__}"


def said(error: BaseException) -> str:
    """Return class and message of any exception, one whose message cannot be read included.

    Examples
    --------
    >>> said(ValueError("no"))
    'ValueError: no'
    >>> said(MemoryError())
    'MemoryError'
    """
    try:
        text = str(error)
    except Exception:  # a user's class may do anything
        text = "its message cannot be read"
    text = text if len(text) <= LONGEST_SAID else f"{text[:LONGEST_SAID]}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
