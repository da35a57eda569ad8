"""Columns of numbers as the page embeds them: rounded, and each once."""

import math
from collections.abc import Iterable
from typing import Any

DIGITS = 5  # of a curve: finer than a screen can show


def short(value: Any, digits: int = DIGITS) -> float | int | None:
    """Round to so many digits; whole numbers stay whole.

    Examples
    --------
    >>> short(1 / 3), short(1e6), short(float("nan")), short(123456.0)
    (0.33333, 1000000, None, 123456)
    """
    if value is None or not math.isfinite(value):
        return None
    value = float(value)
    return int(value) if value.is_integer() else float(f"{value:.{digits}g}")


class Pool:
    """Columns of numbers, rounded, each kept once however often it is asked for.

    Attributes
    ----------
    columns : list of list
        Missing is None.
    """

    def __init__(self) -> None:
        self.columns: list[list[float | int | None]] = []
        self._places: dict[tuple[float | int | None, ...], int] = {}

    def place(self, values: Iterable[float | None], digits: int = DIGITS) -> int | None:
        """Return where a column stands in the pool; None where all of it is missing."""
        column = tuple(short(value, digits) for value in values)
        if all(value is None for value in column):
            return None
        place = self._places.setdefault(column, len(self.columns))
        if place == len(self.columns):
            self.columns.append(list(column))
        return place
