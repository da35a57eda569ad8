"""Tables of numbers in text files, read strictly: a guess would be silently another problem."""

from __future__ import annotations

import csv

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidProblem

MISSING = {"", "nan", "na", "n/a", "null", "none", "?", "-"}


def numbers_of(data: bytes, header: str = "auto") -> NDArray[np.float64]:
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
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidProblem(
            f"it is no UTF-8 text: byte {error.start} is {data[error.start]:#04x} (another format "
            "under this name, or saved as UTF-16?)"
        ) from error
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InvalidProblem("it is empty")
    separator = next((mark for mark in ";\t," if mark in lines[0][1]), None)
    first = _cells(lines[0][1], separator)
    second = _cells(lines[1][1], separator) if len(lines) > 1 else []
    named = header == "yes" or (header == "auto" and _names_columns(first, second, lines[0][0]))
    columns = [f"column {k}" + (f" ({name!r})" if named else "") for k, name in enumerate(first, 1)]
    rows = []
    for number, line in lines[named:]:
        cells = _cells(line, separator)
        if len(cells) != len(first):
            raise InvalidProblem(
                f"line {number} has {len(cells)} values, line {lines[0][0]} has {len(first)}"
            )
        try:
            rows.append(np.array([float(cell) for cell in cells]))
        except ValueError:
            k = next(k for k, cell in enumerate(cells) if not _is_number(cell))
            raise InvalidProblem(_misread(cells, k, f"line {number}, {columns[k]}")) from None
    if not rows:
        raise InvalidProblem("it holds a header and no atoms")
    atoms = np.array(rows)
    if (bad := np.argwhere(np.isnan(atoms))).size:
        row, k = bad[0]
        raise InvalidProblem(missing_value(f"line {lines[named:][row][0]}, {columns[k]}", len(bad)))
    return atoms


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    if '"' in line:
        return next(csv.reader([line], delimiter=separator, skipinitialspace=True))
    return line.split(separator)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _names_columns(first: list[str], second: list[str], number: int) -> bool:
    """Say whether the first line is a header; refuse what could be either."""
    words = [cell.strip() for cell in first]
    empty_first = words[0] in ("", "Unnamed: 0") and len(words) > 1
    numbers = [_is_number(cell) for cell in words]
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
            f"line {number} holds numbers and text ({texts[0]!r}): a header holds no number "
            "(header=yes if it does), an atom no text"
        )
    return True


def _misread(cells: list[str], k: int, where: str) -> str:
    cell = cells[k].strip()
    if cell.lower() in MISSING:
        last = k == len(cells) - 1 and not cell and k > 0
        return missing_value(where, 1) + (" (a separator at the end of each line?)" if last else "")
    if cell.replace(",", ".", 1).replace("-", "").replace(".", "", 1).isdigit():
        return f"{cell!r} in {where} is no number (a decimal comma? write {cell.replace(',', '.')})"
    return f"{cell!r} in {where} is no number (a column of labels? keep the coordinates only)"


def missing_value(where: str, count: int) -> str:
    """Return the sentence for values that are missing, the first of them at a place."""
    return f"a value is missing in {where}" + (f" and {count - 1} more" if count > 1 else "")
