"""One attention layer, repeated: clusters, collapse, cycles and energy along the layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

COLLAPSED = 1e-3  # of the first diameter: a cloud this small has collapsed; tokens as near are one
ROUNDING = 1e-12  # of the scale: an energy that rises by less does not rise
COLUMNS = (
    "instance", "instance_label", "run_id", "solver_label", "moving", "status", "steps", "tokens",
    "clusters", "spread", "k_low", "k_high", "cycling", "periods", "energy_start", "energy_end",
    "energy_rise",
)  # fmt: skip
TYPES = {
    **dict.fromkeys(COLUMNS, "float64"),
    **dict.fromkeys(
        ("instance", "instance_label", "run_id", "solver_label", "status", "periods"), "string"
    ),
    **dict.fromkeys(("steps", "tokens", "clusters", "k_low", "k_high", "cycling"), "Int64"),
    "moving": "boolean",
}


def layers(
    records: list[dict[str, Any]], points: Callable[[str], dict[str, Any] | None]
) -> pd.DataFrame:
    """Return a row for each run of an attention layer whose tokens are the atoms.

    Parameters
    ----------
    records : list of dict
        Of the journal, in the order of the plan; of repetitions the first counts.
    points : callable
        Gives the arrays that were kept for a run.

    Returns
    -------
    DataFrame
        ``moving``: the keys are the tokens themselves; ``clusters``: how many points the tokens end
        at, those within 10⁻³ of the first diameter of each other taken for one; ``spread``: the
        last diameter over the first; ``k_low``, ``k_high``: the time to collapse, after k_low
        layers the diameter was above 10⁻³ of the first and after k_high for the first time not
        (null: never); ``cycling``: queries in a cycle, ``periods``: theirs, the commonest first;
        ``energy_start``, ``energy_end``: the mean over tokens of ½⟨x, Qx⟩ + ⟨c, x⟩, less that at
        the mean of the atoms, over the scale, and ``energy_rise``: the most that it rose between
        two checkpoints, 0 where it never did.
    """
    rows = [
        _row(record, points(record["row"]["run_id"]))
        for record in records
        if record.get("head") is not None
        and record["trace"]
        and not record["row"]["repetition"]
        and record["row"]["solver"].endswith("_attention")
        and record["row"]["queries"] == record["row"]["n"]  # one cloud, not several replicas
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(TYPES)


def _row(record: dict[str, Any], kept: dict[str, Any] | None) -> dict[str, Any]:
    row, trace, rest = record["row"], record["trace"], record["rest"]
    spread = np.array(trace["spread"], dtype=float)
    first = spread[0]
    low, high = _collapse(trace["k"], spread)
    known = kept is not None and "points" in kept
    periods = Counter(p for p in (rest["period"] if rest else []) if p)
    return {
        **{name: row.get(name) for name in COLUMNS},
        "moving": "keys=moving" in str(row.get("params")).split(","),
        "tokens": row.get("queries"),
        "clusters": clusters(kept["points"], COLLAPSED * first) if kept and known else None,
        "spread": spread[-1] / first if first else None,
        "k_low": low,
        "k_high": high,
        "cycling": periods.total() if rest else None,
        "periods": " ".join(str(p) for p, _ in periods.most_common()) or None,
        **_energy(trace, row.get("scale")),
    }


def clusters(points: NDArray[np.float64], near: float) -> int:
    """Return how many groups points (m, d) form, each point within `near` of another of its group.

    Examples
    --------
    >>> clusters(np.array([[0.0], [1.0], [2.0], [9.0]]), 1.0)
    2
    """
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial.distance import cdist

    return int(connected_components(cdist(points, points) <= near)[0])


def _collapse(k: list[int], spread: NDArray[np.float64]) -> tuple[int | None, int | None]:
    """Return the last checkpoint before the collapse and the first after it."""
    small = np.flatnonzero(spread <= COLLAPSED * spread[0])
    if not small.size or not spread[0] > 0:
        return None, None
    return k[small[0] - 1], k[small[0]]


def _energy(trace: dict[str, list[Any]], scale: float | None) -> dict[str, float | None]:
    names = ("energy_start", "energy_end", "energy_rise")
    energy = np.array(trace.get("energy", [None]), dtype=float)
    if not (scale and np.isfinite(energy).all()):
        return dict.fromkeys(names)
    energy /= scale
    rise = float(np.diff(energy).max(initial=0.0))
    return dict(zip(names, (energy[0], energy[-1], rise if rise > ROUNDING else 0.0), strict=True))
