r"""Value matrices V as texts, and the step matrices P = (I + V)⁻¹V that they stand for, exactly.

A layer x + V a, divided by I + V, is the step x + P (a − x). Only V = hI with h > 0 keeps points
in the hull of x and a (it is the step h/(1 + h)); any other P may carry them out of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.calls import LARGEST, fits, rational, shortest
from fwbench.errors import InvalidParameter

Rows = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Values:
    """V: a number, a diagonal, or a matrix; `rows` is empty where none is given.

    Attributes
    ----------
    rows : tuple of tuples of Fraction
        One row of one number: V = hI. One row of d > 1: a diagonal. d rows of d: a matrix.
    """

    rows: Rows = ()

    def __post_init__(self) -> None:
        if not all(fits(v) for row in self.rows for v in row):
            raise InvalidParameter("values: an entry is beyond all doubles")
        widths = {len(row) for row in self.rows}
        if len(widths) > 1 or (len(self.rows) > 1 and widths != {len(self.rows)}):
            raise InvalidParameter(
                f"values={self.text}: a number, a diagonal, or d rows of d numbers divided by "
                f"semicolons; got rows of {', '.join(str(len(row)) for row in self.rows)}"
            )

    @property
    def text(self) -> str:
        """The canonical text."""
        return "; ".join(" ".join(map(shortest, row)) for row in self.rows) or "none"

    def __bool__(self) -> bool:
        return bool(self.rows)

    @property
    def scalar(self) -> Fraction | None:
        """h, where V = hI; None elsewhere."""
        if len(self.rows) == 1 and len(set(self.rows[0])) == 1:
            return self.rows[0][0]
        for i, row in enumerate(self.rows):
            if any(v != (self.rows[0][0] if i == j else 0) for j, v in enumerate(row)):
                return None
        return self.rows[0][0] if self.rows else None

    def misfit(self, d: int) -> str | None:
        """Return why V cannot act in dimension d, or None."""
        width = len(self.rows[0]) if self.rows else d
        if width == d or (len(self.rows) == 1 and width == 1):
            return None
        return f"values is a {width} x {width} matrix; points have d = {d}"

    def matrix(self) -> NDArray[Any]:
        """Return V as Fractions: shape (1,) for hI, (d,) for a diagonal, (d, d) for a matrix."""
        exact = np.array(self.rows, dtype=object)
        return exact[0] if len(exact) == 1 else exact

    def step_matrix(self) -> NDArray[Any]:
        """Return P = (I + V)⁻¹V as Fractions, in the shape of `matrix`; O(d³).

        Raises
        ------
        InvalidParameter
            Where I + V is singular, or so nearly that P is beyond all doubles.

        Examples
        --------
        >>> print(*values("3/2 7/3").step_matrix())
        3/5 7/10
        """
        V = self.matrix()
        if V.ndim == 1:
            if (V == -1).any():
                raise self._singular()
            return self._within_doubles(V / (1 + V))
        d = len(V)
        one = np.array([[Fraction(i == j) for j in range(d)] for i in range(d)], dtype=object)
        both = np.hstack([one + V, V])  # Gauss and Jordan, on rationals: any pivot but 0 will do
        for k in range(d):
            pivot = next((i for i in range(k, d) if both[i, k] != 0), None)
            if pivot is None:
                raise self._singular()
            both[[k, pivot]] = both[[pivot, k]]
            both[k] = both[k] / both[k, k]
            for i in range(d):
                if i != k:
                    both[i] = both[i] - both[i, k] * both[k]
        return self._within_doubles(both[:, d:])

    def _within_doubles(self, P: NDArray[Any]) -> NDArray[Any]:
        if any(abs(p) > LARGEST for p in P.flat):
            raise self._singular()
        return np.asarray(P)

    def _singular(self) -> InvalidParameter:
        return InvalidParameter(
            f"values={self.text}: I + V is singular, and the layer cannot be divided by it; "
            "normalised=false takes the layer as it is"
        )


NONE = Values()


def values(text: str) -> Values:
    """Read a value matrix: "none", a number, "3/2 7/3" (a diagonal), "0 1; -1 0" (rows).

    Raises
    ------
    InvalidParameter
        Where the text is no matrix.

    Examples
    --------
    >>> values("0.5").text, values("3/2 7/3").text, values("0 1;-1 0").text
    ('0.5', '1.5 7/3', '0 1; -1 0')
    """
    if text.strip() == "none":
        return NONE
    try:
        rows = tuple(tuple(rational(part) for part in row.split()) for row in text.split(";"))
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidParameter(f"values={text}: entries must be numbers; {error}") from error
    if not all(rows):
        raise InvalidParameter(
            f'values={text!r}: a number, a diagonal ("3/2 7/3"), rows ("0 1; -1 0"), or none'
        )
    return Values(rows)
