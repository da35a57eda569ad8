"""Values as JSON knows them, whatever made them."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a value as JSON knows it; numbers that are not finite become null.

    Raises
    ------
    TypeError
        For anything that is no number, text, truth value, or array, list or dict of such.

    Examples
    --------
    >>> plain({"a": np.float64("nan"), "b": np.arange(2)})
    {'a': None, 'b': [0, 1]}
    """
    kind = type(value)
    if kind is list:  # of numbers, most of what comes: so without a call for each
        return [
            entry
            if entry is None or type(entry) is int or (type(entry) is float and isfinite(entry))
            else plain(entry)
            for entry in value
        ]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if kind is int else int(value)
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if isinstance(value, str):
        if kind is str and value.isascii():
            return value
        # lone surrogates (a file's name may hold them) fit into no table
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    raise TypeError(f"{type(value).__name__} is no number, text, or array of such: {value!r:.100}")
