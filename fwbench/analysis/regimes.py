"""What runs share that differ in one parameter alone: the names of such groups."""

from __future__ import annotations

import math

from fwbench.errors import InvalidParameter
from fwbench.grammar import Spelled, quoted, spelled

MARK = " · "  # between a name and the folder by which it is told from others


def apart(name: str, folder: str) -> str:
    """Return a name with the folder that tells it from those of other folders.

    Examples
    --------
    >>> apart("away_steps", "before")
    'away_steps · before'
    """
    return f"{name}{MARK}{folder}"


def bare(name: str) -> str:
    """Return a name without the folder that `apart` added, if it did.

    Examples
    --------
    >>> bare("away_steps · before"), bare("away_steps")
    ('away_steps', 'away_steps')
    """
    return name.partition(MARK)[0]


def regime(label: str, *left_out: str) -> str:
    """Return a label of an instance or a solver without some of its parameters.

    Examples
    --------
    >>> regime("ball[n=10000,d=8,seed=1]", "n", "seed"), regime("ball", "n")
    ('ball[d=8]', 'ball')
    >>> regime("ball[n=10000] · before", "n")
    'ball · before'
    """
    asked = _read(label)
    if asked is None or not set(asked.values) & set(left_out):
        return label
    kept = [
        f"{key}={','.join(map(quoted, values))}"
        for key, values in asked.values.items()
        if key not in left_out
    ]
    return asked.name + (f"[{','.join(kept)}]" if kept else "") + label[len(bare(label)) :]


def parameter(text: str, key: str) -> float | None:
    """Return a positive number that a text gives a parameter, None where it gives none.

    Examples
    --------
    >>> parameter("min_norm_point[n=200,condition=1e4]", "condition")
    10000.0
    >>> parameter("softmax_attention[beta=geometric(2,3)]", "beta"), parameter("ball", "beta")
    (None, None)
    """
    asked = _read(text)
    values = asked.values.get(key, []) if asked else []
    try:
        found = float(values[0]) if len(values) == 1 else math.nan
    except ValueError:
        return None
    return found if 0 < found < math.inf else None


def _read(text: str) -> Spelled | None:
    """Read a name with parameters; a folder of another hand may hold what is none."""
    try:
        return spelled(bare(text))
    except InvalidParameter:
        return None
