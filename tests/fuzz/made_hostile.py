"""What all fuzz tests share: calm settings, names that do harm, and a command in this process."""

import contextlib
import gc
import io
import sys
import warnings
from dataclasses import dataclass
from unittest import mock

from hypothesis import HealthCheck, settings

from fwbench.cli import main

# A slow machine is no failure, and each run tries the same cases.
calm = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

NAMES = (
    "../../etc/passwd",
    "..",
    "/tmp/x",
    "a\0b",
    "bell\x07",
    "red\x1b[31m",
    "window\x1b]0;title\x07",
    "csi\x9b31m",
    "line\nbreak\r\ttab",
    "<script>alert(1)</script>",
    "</script><!-- <script>",
    "<img src=x onerror=alert(1)>",
    "a & b \"c\" 'd'",
    "`code` | cell [link](x) *bold* _it_ # $x$ \\n",
    "]]>",
    "{{ 7 * 7 }} {% raw %}",
    "=cmd()",
    "right \u202eto left\u2066",
    "se\u2028pa\u2029rated",
    "zero\u200bwidth\ufeff",
    "not a letter \ufffe\uffff",
    "emoji \U0001f4a5\U0001f469\u200d\U0001f52c",
    "ünïcödé 日本語",
    "x" * 10_000,
    " ",
    "",
)
# no terminal may get these; \n ends a line
FORBIDDEN = {chr(code) for code in (*range(32), 127, *range(128, 160))} - {"\n"}
FORBIDDEN |= set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\u200b\ufeff")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def command(*words: str) -> Ended:
    """Run a command line; whatever is raised but an exit is raised here as well."""
    out, err = io.StringIO(), io.StringIO()
    gc.freeze()  # the command before may have had runs in this process, which thaw the tests
    with (
        mock.patch.object(sys, "argv", ["fwbench", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # what is damaged is left out with a warning
        try:
            main()
        except SystemExit as end:
            return Ended(int(end.code or 0), out.getvalue(), err.getvalue())
    raise AssertionError("a command ends with an exit code")


def refused_or_done(*words: str) -> Ended:
    """Run a command line that must succeed, or be refused with a sentence."""
    ended = command(*words)
    assert ended.code in (0, 1, 2), ended
    assert "Traceback" not in ended.err
    if ended.code == 2:
        assert ended.err.strip(), "a refusal says why"
        assert len(ended.err) < 10_000
    assert not FORBIDDEN & set(ended.out + ended.err), sorted(
        FORBIDDEN & set(ended.out + ended.err)
    )
    return ended
