"""A table for a terminal of any width: columns of words break, nothing stands behind a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, zip_longest

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions
from rich.text import Text

GAP, CLOSE = "   ", "  "  # between columns; where the terminal is narrow
NARROWEST = 12  # cells that a column of words keeps
JOINT = re.compile(r"[^-_,=\[(·/]*[-_,=\[(·/]+|[^-_,=\[(·/]+")  # a piece of a name


@dataclass(frozen=True)
class Grid:
    """Rows of cells under a head.

    Attributes
    ----------
    heads : list of str
    rows : list of list of Text
        A row of one cell alone stands across all columns.
    folded : int
        So many columns from the left may break into lines where the terminal is narrow.
    """

    heads: list[str]
    rows: list[list[Text]]
    folded: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yield the lines for the width at hand."""
        width = options.max_width
        for gap in (GAP, CLOSE):
            widths = self._widths(width, gap)
            whole = sum(widths) + len(gap) * (len(widths) - 1)
            if whole <= width:
                break
        yield from paragraph(
            row([Text(head, "dim") for head in self.heads], widths, gap), console, width
        )
        yield Text("─" * min(whole, width), "dim")
        for cells in self.rows:
            line = cells[0] if len(cells) == 1 else row(cells, widths, gap)
            yield from paragraph(line, console, width)

    def _widths(self, width: int, gap: str) -> list[int]:
        """Return the columns' widths: what each needs, as long as those that may break can."""
        full = [cells for cells in self.rows if len(cells) > 1]
        columns = zip(self.heads, *([cell.plain for cell in cells] for cells in full), strict=True)
        widths = [max(map(cell_len, column)) for column in columns]
        over = sum(widths) + len(gap) * (len(widths) - 1) - width
        while over > 0:  # the widest of those that may break gives way
            widest = max(range(self.folded), key=lambda i: widths[i])
            if widths[widest] <= NARROWEST:
                break
            widths[widest] -= 1
            over -= 1
        return widths


@dataclass(frozen=True)
class Headed:
    """A grid on a wide terminal; on a narrow one the names stand above the rows that share them.

    Attributes
    ----------
    heads : list of str
    rows : list of list of Text
    names : tuple of int
        The columns that go above.
    """

    heads: list[str]
    rows: list[list[Text]]
    names: tuple[int, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Grid]:
        """Yield the grid for the width at hand."""
        columns = zip(
            self.heads, *([cell.plain for cell in cells] for cells in self.rows), strict=True
        )
        widths = [max(map(cell_len, column)) for column in columns]
        if sum(widths) + len(GAP) * (len(widths) - 1) <= options.max_width:
            yield Grid(self.heads, self.rows, 0)
            return
        left = [place for place in range(len(self.heads)) if place not in self.names]
        rows: list[list[Text]] = []
        for shared, some in groupby(self.rows, lambda cells: [cells[i].plain for i in self.names]):
            rows.append([Text(" · ".join(shared))])
            rows += [[cells[i] for i in left] for cells in some]
        yield Grid([self.heads[i] for i in left], rows, len(left))


@dataclass(frozen=True)
class Paragraph:
    """A text that is broken into lines with nothing behind them."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yield the lines for the width at hand."""
        yield from paragraph(self.text, console, options.max_width)


def paragraph(text: Text, console: Console, width: int) -> Iterator[Text]:
    """Yield a text line by line, broken where it is too long."""
    for line in text.split("\n", allow_blank=True):
        if cell_len(line.plain) <= width:
            yield line
            continue
        for part in line.wrap(console, width):
            part.rstrip()
            yield part


def row(cells: list[Text], widths: list[int], gap: str = GAP) -> Text:
    """Lay cells side by side, each in lines of its own; nothing stands behind the last letter."""
    pairs = zip(cells, widths, strict=True)
    broken = [_lines(cell.plain, width) for cell, width in pairs]
    lines = []
    for pieces in zip_longest(*broken, fillvalue=""):
        line, blanks = Text(), ""
        for cell, piece, width in zip(cells, pieces, widths, strict=True):
            if piece:
                line.append(blanks).append(piece, style=cell.style)
                blanks = ""
            blanks += " " * (width - cell_len(piece)) + gap
        lines.append(line)
    return Text("\n").join(lines)


def _lines(text: str, width: int) -> list[str]:
    """Break a cell; an indent stays, on each line."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    return [indent + line for line in fitted(text, max(width - len(indent), 1))]


def fitted(text: str, width: int) -> list[str]:
    """Break a text into lines; a word that is too long breaks after a sign that joins words.

    Examples
    --------
    >>> fitted("token_cloud[name=four-one]: t = 224", 19)
    ['token_cloud[name=', 'four-one]: t = 224']
    """
    lines = [""]
    for word in re.findall(r"[^ \t\n]+", text):  # the thin blank within a number stays
        pieces = [word] if cell_len(word) <= width else JOINT.findall(word)
        for i, piece in enumerate(pieces):
            joined = lines[-1] + " " * (i == 0 and lines[-1] != "") + piece
            if cell_len(joined) <= width:
                lines[-1] = joined
                continue
            lines += chop_cells(piece, width)
    return lines[1:] if lines[0] == "" and len(lines) > 1 else lines
