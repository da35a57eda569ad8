"""Names, text and tables as LaTeX in which nothing that they hold is a command.

All of it is ASCII, so that pdfLaTeX and LuaLaTeX read it alike, whatever font is there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Literal, NamedTuple

from fwbench.errors import visible
from fwbench.report.words import NONE

Kind = Literal["name", "text", "number"]

Line = Sequence[str] | str  # a cell a column; or a name that heads the rows below it

WIDE = 114  # letters that a line of a table holds
GAP = 2  # of these between two columns
LINES = 62  # lines of a table that fits on a page; a longer one is split
UNBROKEN = 24  # letters of a name after which it may be broken anywhere
NARROW = 14  # letters: a column of shorter entries needs no width of its own

_ASCII = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
    # behind the end of a row these two would be read as its options
    "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi "
    "chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
_MATHS = {
    unicodedata.lookup(
        f"GREEK {'CAPITAL' if name[0].isupper() else 'SMALL'} LETTER "
        f"{'LAMDA' if name.lower() == 'lambda' else name.upper()}"
    ): name
    for name in _GREEK.split()
} | {
    "×": "times", "·": "cdot", "≤": "le", "≥": "ge", "≠": "ne", "≈": "approx", "±": "pm",
    "∞": "infty", "→": "to", "←": "leftarrow", "∈": "in", "∑": "sum", "√": "surd", "∇": "nabla",
    "‖": "|", "⟨": "langle", "⟩": "rangle", "ℓ": "ell", "∂": "partial", "ϕ": "varphi",
    "ϵ": "epsilon", "−": "-", "⊂": "subset", "∪": "cup", "∩": "cap", "≪": "ll", "≫": "gg",
    "½": r"\frac12", "¼": r"\frac14", "¾": r"\frac34",
}  # fmt: skip
_TEXTS = {
    "–": "--", "—": "---", "…": r"\ldots{}", "\u2009": r"\,", "\u202f": r"\,",
    "\xa0": r"\nobreakspace{}",
    "‘": "`", "’": "'", "“": "``", "”": "''", "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}",
    "ø": r"\o{}", "Ø": r"\O{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ł": r"\l{}", "Ł": r"\L{}",
    "µ": r"\textmu{}", "ı": r"\i{}", "§": r"\S{}", "°": r"\textdegree{}", "€": r"\texteuro{}",
    "©": r"\copyright{}",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u",
    "\u0307": ".", "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip
_POWERS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄₅₆₇₈₉", "0123456789-0123456789", strict=True))
_NUMBER = re.compile(r"(?<![\w.,=-])(-?[0-9]+(?:\.[0-9]+)?)(?:e([+-]?[0-9]+))?(?![\w])")


class Column(NamedTuple):
    """A heading, and what its entries are: names, which are code, words, or numbers."""

    head: str
    kind: Kind = "text"


def escaped(text: str) -> str:
    r"""Write a text so that LaTeX prints it as it is; a letter without a name in TeX as its code.

    Examples
    --------
    >>> print(escaped(r"\input{x} 100 % a_b"), escaped("β ≤ ∞"), escaped("é 漢"))
    \textbackslash{}input\{x\} 100 \% a\_b $\beta$ $\le$ $\infty$ \'{e} \texttt{U+6F22}
    """
    return _broken(text, "")


def code(name: str) -> str:
    r"""Write a name in type of one width, with places where it may be broken.

    Examples
    --------
    >>> print(code("a[k=1,l=2]"))
    \texttt{a{[}k=\allowbreak{}1,\allowbreak{}l=\allowbreak{}2{]}}
    """
    return rf"\texttt{{{_broken(name, ',_/=')}}}"


def _broken(text: str, after: str) -> str:
    """Write a text that may be broken after some letters, and in a run of many without a space."""
    # not all that is a space: a narrow one stands within a number
    whole = " ".join(re.split("[ \t\r\n]+", visible(text, keep="\n\r\t"))).strip(" ")
    pieces, since = [], 0
    for place, (letter, shown) in enumerate(zip(whole, _letters(whole), strict=True), 1):
        since = 0 if letter == " " else since + 1
        pieces.append(shown)
        if place < len(whole) and (letter in after or since == UNBROKEN):
            pieces.append(r"\allowbreak{}")
            since = 0
    return "".join(pieces)


def _letters(text: str) -> Iterator[str]:
    before = ""
    for letter in text:
        # two of these in a row would become another sign
        yield ("{}" if letter == before and letter in ",-" else "") + _letter(letter)
        before = letter


def _letter(letter: str) -> str:
    if letter in _ASCII:
        return _ASCII[letter]
    if letter.isascii():
        return letter
    if letter in _TEXTS:
        return _TEXTS[letter]
    if letter in _MATHS:
        name = _MATHS[letter]
        return f"${name}$" if name.startswith(("\\", "-")) else f"$\\{name}$"
    if letter in _POWERS:
        place = "_" if "\u2080" <= letter <= "\u2089" else "^"
        return f"${place}{{{_POWERS[letter]}}}$"
    apart = unicodedata.normalize("NFD", letter)
    base, mark = apart[:1], apart[1:]
    if mark in _ACCENTS and base.isascii() and base.isalpha():
        return f"\\{_ACCENTS[mark]}{{{base}}}"
    return rf"\texttt{{U+{ord(letter):04X}}}"


def prose(text: str) -> str:
    r"""Write a text with its numbers as mathematics.

    Examples
    --------
    >>> print(prose("1.2e-09 to 1e-06, -0.5 at 42 µs"))
    $1.2\times10^{-9}$ to $10^{-6}$, $-0.5$ at 42 \textmu{}s
    """
    parts, last = [], 0
    for found in _NUMBER.finditer(text):
        shown = _number(found[1], found[2])
        parts += [_spaced(text[last : found.start()]), shown]
        last = found.end()
    return "".join([*parts, _spaced(text[last:])])


def _spaced(text: str) -> str:
    """Escape a piece of a text whose ends stay what they are."""
    inner = escaped(text)
    head = " " if text[:1] == " " and inner else ""
    tail = " " if text[-1:] == " " else ""
    return f"{head}{inner}{tail}"


def _number(digits: str, exponent: str | None) -> str:
    if exponent is None:
        return f"${digits}$" if digits.startswith("-") else digits
    power = int(exponent)
    if not power:
        return f"${digits}$"
    if float(digits) == 1:
        return f"$10^{{{power}}}$"
    return rf"${digits}\times10^{{{power}}}$"


def table(name: str, caption: str, columns: Sequence[Column], rows: Sequence[Line]) -> str:
    """Return a table with booktabs; a long one in several, each with caption and label.

    Parameters
    ----------
    name : str
        Of plain letters; its label is ``tab:NAME``, from the second part on ``tab:NAME-2``.
    caption : str
        LaTeX.
    columns : sequence of Column
    rows : sequence of Line
        Plain texts.
    """
    heads = [_stacked(column, cells) for column, cells in _down(columns, rows)]
    widths = _widths(columns, heads, rows)
    parts = list(_parts(rows, widths))
    made = []
    for number, part in enumerate(parts, 1):
        told = caption if len(parts) == 1 else f"{caption} Part {number} of {len(parts)}."
        label = f"tab:{name}" + (f"-{number}" if number > 1 else "")
        layout = "".join(map(_layout, columns, widths))
        made += [
            r"\begin{table}[!htbp]",
            r"\centering\footnotesize\setlength{\tabcolsep}{4pt}",
            r"\setlength{\abovecaptionskip}{0pt}\setlength{\belowcaptionskip}{4pt}",
            rf"\caption{{{told}}}",
            rf"\label{{{label}}}",
            rf"\begin{{tabular}}{{@{{}}{layout}@{{}}}}",
            r"\toprule",
            rf"{' & '.join(map(_head, columns, heads, widths))} \tabularnewline",
            r"\midrule",
            *(rf"{_line(columns, row)} \tabularnewline" for row in part),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    return "\n".join(made)


def _down(columns: Sequence[Column], rows: Sequence[Line]) -> Iterator[tuple[Column, list[str]]]:
    """Yield each column with its entries."""
    cells = [row for row in rows if not isinstance(row, str)]
    for place, column in enumerate(columns):
        yield column, [row[place] for row in cells]


def _stacked(column: Column, cells: list[str]) -> list[str]:
    """Return a heading in lines that are no longer than the entries below, or than a word of it."""
    least = max(map(len, [*cells, *column.head.split(), ""]))
    return wrap(column.head, max(least, 1)) or [""]


def _head(column: Column, lines: list[str], width: int | None) -> str:
    if width is not None or len(lines) == 1:
        return prose(column.head)
    side = "r" if column.kind == "number" else "l"
    inner = r"\\".join(map(prose, lines))
    return rf"\shortstack[{side}]{{{inner}}}"


def _line(columns: Sequence[Column], row: Line) -> str:
    if isinstance(row, str):  # it heads the rows below
        whole = r"@{}>{\raggedright\arraybackslash}p{\linewidth}@{}"
        return rf"\addlinespace[2pt]\multicolumn{{{len(columns)}}}{{{whole}}}{{{code(row)}}}"
    return " & ".join(map(_cell, columns, row))


def _cell(column: Column, value: str) -> str:
    return code(value) if column.kind == "name" and value != NONE else prose(value)


def _layout(column: Column, width: int | None) -> str:
    if width is None:
        return "r" if column.kind == "number" else "l"
    return rf">{{\raggedright\arraybackslash}}p{{{width / WIDE:.3f}\linewidth}}"


def _widths(
    columns: Sequence[Column], heads: Sequence[list[str]], rows: Sequence[Line]
) -> list[int | None]:
    """Return the letters that each column may have; None where it takes what it needs."""
    needed = [
        max(map(len, [*cells, *lines]))
        for lines, (_, cells) in zip(heads, _down(columns, rows), strict=True)
    ]
    fixed = [
        column.kind == "number" or n <= NARROW for column, n in zip(columns, needed, strict=True)
    ]
    left = WIDE - GAP * (len(columns) - 1)
    left -= sum(n for n, alone in zip(needed, fixed, strict=True) if alone)
    widths: list[int | None] = [None] * len(columns)
    rest = sorted((n, i) for i, n in enumerate(needed) if not fixed[i])
    for done, (n, i) in enumerate(rest):  # what is short gets what it needs, the rest equal parts
        share = min(n + 1, max(left // (len(rest) - done), NARROW))
        widths[i], left = share, left - share
    return widths


def _parts(rows: Sequence[Line], widths: Sequence[int | None]) -> Iterator[list[Line]]:
    """Yield the rows that stand on one page together; what heads some is said again."""
    heights = [_height(row, widths) for row in rows]
    total = sum(heights)
    most = -(-total // max(1, -(-total // LINES))) + 4  # the last part is as long as the others
    part: list[Line] = []
    lines, head = 0, ""
    for row, high in zip(rows, heights, strict=True):
        heads = isinstance(row, str)
        if part and lines + high + heads > most:  # below a heading one row at least
            yield part
            part, lines = ([], 0) if heads or not head else ([head], 2)
        head = str(row) if heads else head
        part.append(row)
        lines += high
    yield part


def _height(row: Line, widths: Sequence[int | None]) -> int:
    """Guess how many lines a row takes; broken where they may be, lines are not full."""
    if isinstance(row, str):
        return 2
    return max(
        1 if width is None else -(-len(cell) * 6 // (5 * width))
        for cell, width in zip(row, widths, strict=True)
    )
