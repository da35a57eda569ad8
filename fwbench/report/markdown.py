"""Names, text and tables as Markdown in which nothing that they hold is markup."""

import html
import re
from collections.abc import Iterable
from typing import Any

from fwbench.errors import visible
from fwbench.report.words import text


def code(name: Any) -> str:
    r"""Write a name as a code span that may stand in a table.

    Examples
    --------
    >>> print(code("a|b"), code("tick ` <b>"))
    `a\|b` `` tick ` <b> ``
    """
    shown = visible(" ".join(str(name).split())).replace("|", r"\|") or " "
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {shown} {fence}" if longest else f"{fence}{shown}{fence}"


def prose(value: Any) -> str:
    r"""Write text so that nothing in it is Markdown or HTML.

    Examples
    --------
    >>> print(prose("<b> | a*b_c [x](y)"))
    &lt;b&gt; \| a\*b\_c \[x\](y)
    """
    shown = html.escape(visible(" ".join(text(value).split())), quote=False)
    return re.sub(r"([\\`*_\[\]|~#$])", r"\\\1", shown)


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Write a Markdown table.

    Examples
    --------
    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [head, *rows]
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([shown[0], "|" + "---|" * len(head), *shown[1:]])
