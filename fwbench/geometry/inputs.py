"""What a caller hands over becomes arrays here, or an `InvalidProblem` says what is wrong."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwbench.errors import InvalidProblem
from fwbench.geometry.forms import Dense, Diagonal, Factored, Form, LowRank, Scalar

Array = NDArray[np.float64]

LARGEST_INTEGER = 2**53  # above it neighbouring integers share one double
# Below the first ratio an asymmetry is rounding, above the second it is meant.
ROUNDING_ASYMMETRY = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}
MEANT_ASYMMETRY = 1e-3


def rationals(name: str, values: Any) -> NDArray[Any] | None:
    """Return the exact values of an array of texts such as "1/7", or None if it holds no text."""
    if isinstance(values, float) or getattr(getattr(values, "dtype", None), "kind", "") == "f":
        return None
    try:
        texts = np.asarray(values)
    except ValueError:
        return None  # ragged: `real_array` says so
    if texts.dtype.kind != "U":
        return None
    try:
        exact = np.array([_exactly(str(text)) for text in texts.ravel()], dtype=object)
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidProblem(
            f"{name}: text must read as a rational such as '1/7'; {error}"
        ) from error
    return exact.reshape(texts.shape)


def _exactly(text: str) -> Fraction:
    if re.search(r"e[-+]?[\d_]{4}", text, re.IGNORECASE):  # would fill the memory with digits
        raise ValueError(f"{text[:40]!r} has an exponent beyond all doubles")
    return Fraction(text)


def real_array(name: str, values: ArrayLike, *, finite: bool = True) -> NDArray[Any]:
    """Return a float64 or float32 array of finite numbers, the caller's own memory if it is one.

    With ``finite=False`` the caller looks for NaN and infinity itself.

    Raises
    ------
    InvalidProblem
        For object, complex, bool dtypes, integers beyond 2**53, NaN and infinity.
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidProblem(f"{name} must be an array; rows have unequal lengths") from error
    if array.dtype.kind == "U":
        exact = rationals(name, array)
        assert exact is not None
        try:
            array = exact.astype(np.float64)
        except OverflowError as error:
            raise InvalidProblem(f"{name} holds text beyond the range of doubles") from error
    if array.dtype.kind in "iu":
        largest = max((int(array.max()), int(array.min())), key=abs) if array.size else 0
        if abs(largest) > LARGEST_INTEGER:
            raise InvalidProblem(
                f"{name} must not hold integers beyond 2**53, which doubles cannot tell apart; got "
                f"{largest} (identifiers? else rescale them or convert to float yourself)"
            )
        array = array.astype(np.float64)
    if array.dtype not in (np.float64, np.float32):
        if array.dtype.kind != "f":
            slip = {
                "b": " (a mask?)",
                "c": " (take .real?)",
                "O": " (ragged rows, None, a sparse matrix, integers beyond 2**64?)",
            }
            raise InvalidProblem(
                f"{name} must hold real numbers (float64, float32 or integers); got dtype "
                f"{array.dtype}{slip.get(array.dtype.kind, '')}"
            )
        array = array.astype(np.float64)
    if finite:
        refuse_infinite(name, array)
    return array


def refuse_infinite(name: str, array: NDArray[Any]) -> None:
    """Raise InvalidProblem where an array holds NaN or infinity."""
    bad = ~np.isfinite(array)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InvalidProblem(
            f"{name} must be finite; got {array[index]} at index {index}"
            + (f" and {bad.sum() - 1} more" if bad.sum() > 1 else "")
            + " (missing values in the data?)"
        )


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view; the caller's own array is neither copied nor frozen."""
    view = array.view()
    view.setflags(write=False)
    return view


def checked_atoms(atoms: ArrayLike) -> NDArray[Any]:
    """Return atoms (n, d), one a row; whether they are finite shows in their mean."""
    array = real_array("atoms", atoms, finite=False)
    if array.ndim != 2:
        slip = " (one atom? write it as [[...]])" if array.ndim == 1 and array.size else ""
        raise InvalidProblem(f"atoms must be 2-D (n, d), one atom a row; got {array.shape}{slip}")
    if len(array) == 0 or array.shape[1] == 0:
        raise InvalidProblem(f"atoms must hold at least one atom of d >= 1; got {array.shape}")
    return read_only(array)


def checked_linear(c: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return c (d,), zeros for None."""
    n, d = shape
    if c is None:
        return np.zeros(d)
    array = real_array("c", c)
    if array.shape != (d,):
        slip = f" (atoms {shape} transposed?)" if array.shape == (n,) else ""
        raise InvalidProblem(f"c must have shape (d,) = ({d},); got {array.shape}{slip}")
    return array.astype(np.float64)


def checked_form(Q: ArrayLike | Form, shape: tuple[int, ...]) -> Form:
    """Return Q as one of its forms; shapes are checked against d."""
    n, d = shape
    if isinstance(Q, Scalar | Diagonal | Dense):
        Q = Q.chain()[0]
    if isinstance(Q, Factored):
        F = _inner("Q = Factored(F)", Q.F, d, n, last=True)
        signs = None if Q.signs is None else real_array("Q = Factored(F, signs)", Q.signs)
        if signs is not None and (signs.shape != F.shape[:1] or not (np.abs(signs) == 1).all()):
            raise InvalidProblem(
                f"Q = Factored(F, signs): signs must be {len(F)} values +1 or -1, one a row of F; "
                f"got shape {signs.shape} (scale the rows of F instead?)"
            )
        return Factored(F, None if signs is None else signs.astype(np.float64))
    if isinstance(Q, LowRank):
        L = _inner("Q = LowRank(L, R): L", Q.L, d, n, last=False)
        R = None if Q.R is None else _inner("Q = LowRank(L, R): R", Q.R, d, n, last=False)
        if L.shape[1] != (d if R is None else R.shape[1]):
            other = (d, d) if R is None else R.shape
            raise InvalidProblem(f"Q = LowRank(L, R): ranks differ: L {L.shape}, R {other}")
        return LowRank(L, R)
    matrix = real_array("Q", Q)  # type: ignore[arg-type]
    wide = matrix.astype(np.float64)
    if matrix.ndim == 0:
        return Scalar(float(wide))
    if matrix.shape == (d,):
        return Diagonal(wide)
    if matrix.shape != (d, d):
        slip = f" (atoms {shape} transposed?)" if matrix.shape in ((n, n), (n,)) else ""
        raise InvalidProblem(
            f"Q must be a number, or have shape (d,) = ({d},) or (d, d) = ({d}, {d}), or be "
            f"Factored or LowRank; got {matrix.shape}{slip}"
        )
    return _square(wide, ROUNDING_ASYMMETRY[matrix.dtype])


def _inner(name: str, values: ArrayLike, d: int, n: int, *, last: bool) -> Array:
    array = real_array(name, values)
    rule = f"(p, {d})" if last else f"({d}, r)"
    if array.ndim != 2 or array.shape[-1 if last else 0] != d:
        slip = " (transposed?)" if array.ndim == 2 and d in array.shape else ""
        raise InvalidProblem(f"{name} must have shape {rule}; got {array.shape}{slip}")
    if array.size == 0:
        raise InvalidProblem(f"{name} must not be empty; got {array.shape} (Q = 0?)")
    return array.astype(np.float64)


def _square(Q: Array, rounding: float) -> Form:
    size = np.abs(Q).max(initial=0.0)
    asymmetry = float(np.abs(Q - Q.T).max(initial=0.0) / size) if size else 0.0
    if asymmetry <= rounding:
        return Dense((Q + Q.T) / 2)
    if asymmetry < MEANT_ASYMMETRY:
        raise InvalidProblem(
            f"Q is nearly symmetric: max|Q - Q'|/max|Q| = {asymmetry:.1e}, between {rounding:.0e} "
            f"(rounding) and {MEANT_ASYMMETRY:.0e} (a field); pass (Q + Q.T) / 2 if it should be "
            "symmetric, LowRank(Q) if it should not"
        )
    return LowRank(Q)
