"""Tables of numbers in text files, read strictly: a guess would be silently another problem."""

from __future__ import annotations

import csv
import re

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidProblem
from fwbench.intake import affordable, fits

Array = NDArray[np.float64]

MARKET = "%%MatrixMarket matrix array|coordinate real|integer|pattern general|symmetric"
# bytes that Python takes for a line or a cell beside its text, for a number of a row and the table
A_LINE, A_CELL, A_NUMBER = 300, 100, 16
ENDS = re.compile(r"\r\n|\n|\r")  # of lines
# What Python takes for the end of a line or for a blank too, and no table has on purpose.
ODD = re.compile(r"[\x0b\x0c\x1c-\x1f\x85\xa0\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
SHOWN = 40  # letters of a cell in a message
MISSING = {"", "nan", "na", "n/a", "null", "none", "?", "-"}


def numbers_of(data: bytes, header: str = "auto") -> Array:
    r"""Return the numbers of a text file, shape (n, d), one row a line.

    Empty lines and lines that begin with # are left out. The first line says what separates the
    values: the first of semicolon, tab and comma that it holds, else blanks.

    Parameters
    ----------
    data : bytes
    header : {"auto", "yes", "no"}
        Whether the first line names the columns; auto: if it holds no number.

    Raises
    ------
    InvalidProblem
        Names the line, the column, what stands there and the likely slip.

    Examples
    --------
    >>> numbers_of(b"x; y\n1; 2.5\n3; 4").tolist()
    [[1.0, 2.5], [3.0, 4.0]]
    """
    rows_at_most = data.count(b"\n") + data.count(b"\r") + 1
    fits(6 * len(data) + A_LINE * rows_at_most, f"a table of {rows_at_most} lines")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidProblem(
            f"it is no UTF-8 text: byte {error.start} is {data[error.start]:#04x} (another format "
            "under this name, or saved as UTF-16?)"
        ) from error
    if "\0" in text:
        raise InvalidProblem("it is no text: it holds zero bytes (another format, or UTF-16?)")
    _refuse_odd(text)
    lines = [
        (number, line)
        for number, line in enumerate(ENDS.split(text), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InvalidProblem("it is empty")
    longest = max(len(line) for _, line in lines)
    separator = next((mark for mark in ";\t," if mark in lines[0][1]), None)
    if longest > SHOWN:  # one line of very many cells: each of them is an object for a while
        wide = max(line.count(separator or " ") for _, line in lines if len(line) > SHOWN) + 1
        fits(A_CELL * wide + A_NUMBER * wide * len(lines), f"a table of {wide} columns")
    first = _cells(lines[0][1], separator)
    second = _cells(lines[1][1], separator) if len(lines) > 1 else []
    named = header == "yes" or (header == "auto" and _names_columns(first, second, lines[0][0]))

    def column(k: int) -> str:
        return f"column {k + 1}" + (f" ({shown(first[k])})" if named else "")

    rows = []
    for number, line in lines[named:]:
        cells = _cells(line, separator)
        if len(cells) != len(first):
            raise InvalidProblem(
                f"line {number} has {len(cells)} values, line {lines[0][0]} has {len(first)}"
            )
        try:
            rows.append(np.array([_number(cell) for cell in cells]))
        except ValueError:
            k = next(k for k, cell in enumerate(cells) if not _is_number(cell))
            raise InvalidProblem(_misread(cells, k, f"line {number}, {column(k)}")) from None
    if not rows:
        raise InvalidProblem("it holds a header and no atoms")
    atoms = np.array(rows)
    if (bad := np.argwhere(np.isnan(atoms))).size:
        row, k = bad[0]
        raise InvalidProblem(
            missing_value(f"line {lines[named:][row][0]}, {column(int(k))}", len(bad))
        )
    return atoms


def _refuse_odd(text: str) -> None:
    if (odd := ODD.search(text)) is not None:
        raise InvalidProblem(
            f"letter {odd.start() + 1} is U+{ord(odd.group()):04X}, neither a blank nor the end of "
            "a line in a table; replace it"
        )


def _number(cell: str) -> float:
    """Read a number; not all that Python takes for one is one in a table: 1_0, digits of Arabic."""
    if "_" in cell or not cell.isascii():
        raise ValueError(cell)
    return float(cell)


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    if '"' in line:
        try:
            return next(csv.reader([line], delimiter=separator, skipinitialspace=True))
        except csv.Error as error:
            raise InvalidProblem(f"its line {shown(line)} is no row of a table: {error}") from error
    return line.split(separator)


def _is_number(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def _names_columns(first: list[str], second: list[str], number: int) -> bool:
    """Say whether the first line is a header; refuse what could be either."""
    words = [cell.strip() for cell in first]
    empty_first = words[0] in ("", "Unnamed: 0") and len(words) > 1
    numbers = [
        _is_number(cell.replace(",", ".", 1)) for cell in words
    ]  # a decimal comma is no name
    if empty_first and second and _is_number(second[0]):
        raise InvalidProblem(
            f"the first column of line {number} has no name: row numbers that were written along? "
            "(pandas: to_csv(..., index=False))"
        )
    if all(numbers):
        counted = words == [str(k) for k in range(len(words))] and len(words) > 1
        if counted and not all(cell.strip().isdigit() for cell in second):
            raise InvalidProblem(
                f"line {number} counts 0, 1, …: names of columns, or an atom? say header=yes or "
                "header=no"
            )
        return False
    texts = [word for word, known in zip(words, numbers, strict=True) if not known]
    if any(numbers) and all(word.lower() in MISSING for word in texts):
        return False  # an atom with a missing value: the reader says where
    if any(numbers):
        raise InvalidProblem(
            f"line {number} holds numbers and text ({shown(texts[0])}): a header holds no number "
            "(header=yes if it does), an atom no text"
        )
    return True


def _misread(cells: list[str], k: int, where: str) -> str:
    cell = cells[k].strip()
    if cell.lower() in MISSING:
        last = k == len(cells) - 1 and not cell and k > 0
        return missing_value(where, 1) + (" (a separator at the end of each line?)" if last else "")
    if cell.replace(",", ".", 1).replace("-", "").replace(".", "", 1).isdigit():
        point = cell.replace(",", ".")[:SHOWN]
        return f"{shown(cell)} in {where} is no number (a decimal comma? write {point})"
    return f"{shown(cell)} in {where} is no number (a column of labels? keep the coordinates only)"


def shown(text: str) -> str:
    r"""Return a text in quotes for a message: not too long, with nothing that a terminal obeys.

    Examples
    --------
    >>> shown("x"), shown("bell" + chr(7)), len(shown("long" * 1000))
    ("'x'", "'bell\\x07'", 44)
    """
    return repr(text) if len(text) <= SHOWN else f"{text[:SHOWN]!r} …"


def missing_value(where: str, count: int) -> str:
    """Return the sentence for values that are missing, the first of them at a place."""
    return f"a value is missing in {where}" + (f" and {count - 1} more" if count > 1 else "")


def market_of(data: bytes) -> Array:
    """Return the numbers of a Matrix Market file, dense or sparse, as a dense array.

    Read here, because scipy's reader ends the whole process at a torn file.

    Raises
    ------
    InvalidProblem
        Where the header, the size, an entry or the number of entries is not as it must be.

    Examples
    --------
    >>> text = "%%MatrixMarket matrix coordinate real general / 2 2 1 / 2 1 0.5"
    >>> market_of(text.replace(" / ", chr(10)).encode()).tolist()
    [[0.0, 0.0], [0.5, 0.0]]
    """
    words_at_most = sum(map(data.count, (b" ", b"\n", b"\t", b"\r"))) + 1
    fits(6 * len(data) + A_CELL * words_at_most, f"a table of {words_at_most} words")
    text = data.decode("utf-8", errors="replace")
    _refuse_odd(text)
    first, *lines = ENDS.split(text)
    words = first.lower().split()
    known = [options.lower().split("|") for options in MARKET.split()]
    if [word in options for word, options in zip(words, known, strict=False)] != [True] * 5:
        raise InvalidProblem(f"its first line must be {MARKET}; got {first[:80]!r}")
    _, _, layout, field, symmetry = words[:5]
    body = " ".join(line for line in lines if not line.startswith("%")).split()
    if wrong := [word for word in body if not _is_number(word)]:
        raise InvalidProblem(f"{wrong[0][:40]!r} is no number")
    head = 2 if layout == "array" else 3
    sizes = [word[:SHOWN] for word in body[:head]]
    if len(sizes) < head or not all(word.isdecimal() and len(word) < 19 for word in sizes):
        raise InvalidProblem(f"its size must be {head} whole numbers; got {sizes}")
    n, d = int(body[0]), int(body[1])
    affordable((n, d))
    if symmetry == "symmetric" and n != d:
        raise InvalidProblem(f"it is called symmetric and has the shape ({n}, {d})")
    numbers = np.array([float(word) for word in body[head:]])
    if layout == "array":
        return _columns(numbers, n, d, symmetric=symmetry == "symmetric")
    width = 2 if field == "pattern" else 3
    _complete(numbers, width * int(body[2]))
    table = numbers.reshape(-1, width)
    places = table[:, :2]
    if ((places < 1) | (places > [n, d]) | (places != np.rint(places))).any():
        raise InvalidProblem(f"an entry lies outside of its shape ({n}, {d})")
    found = np.zeros((n, d))
    rows, columns = places.T.astype(np.int64) - 1
    values = table[:, 2] if width == 3 else np.ones(len(table))
    np.add.at(found, (rows, columns), values)
    if symmetry == "symmetric":  # the lower half stands in the file
        below = rows > columns
        np.add.at(found, (columns[below], rows[below]), values[below])
    return found


def _columns(numbers: Array, n: int, d: int, *, symmetric: bool) -> Array:
    """Place numbers that are written column by column, of a symmetric matrix the lower half."""
    _complete(numbers, n * (n + 1) // 2 if symmetric else n * d)
    if not symmetric:
        return np.ascontiguousarray(numbers.reshape(d, n).T)
    found = np.zeros((n, n))
    begins = 0
    for k in range(n):
        found[k:, k] = found[k, k:] = numbers[begins : begins + n - k]
        begins += n - k
    return found


def _complete(numbers: Array, count: int) -> None:
    if len(numbers) != count:
        raise InvalidProblem(f"it holds {len(numbers)} of {count} numbers (cut short?)")
