"""What theory promises of a run, beside what was measured: the rate, and the constant of a bound.

A law speaks of the limit and a trace is finite, so a run may be slower so far, and a law bounds
from above, so it may be faster; only a bound with its constant can be broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwbench.laws import RATES

Weights = Callable[[str], NDArray[np.float64] | None]

PLACES = ("vertex", "face", "interior")
SURE = 10.0  # times the root of the gap: a weight above it is no remainder
SLACK = 0.1  # relative: exponents closer than this are the same
OF_RUNS = ("run_id", "optimum", "promised_class", "promised_rate", "bound_constant", "bound_share")
COLUMNS = (*OF_RUNS[1:], "verdict")


def optima(runs: pd.DataFrame, weights: Weights) -> dict[str, str]:
    """Return where the optimum of each convex instance lies: vertex, face or interior.

    The certified run of the least gap says so; where none is, the instance is left out. Where the
    gradient vanishes all atoms lead, at an optimum on the boundary, too. So for the interior a run
    must use one atom more than the hull has dimensions, by weights that its gap leaves no doubt of;
    else nobody knows.

    Parameters
    ----------
    runs : DataFrame
        As in the findings.
    weights : callable
        Returns the weights of the first point at which a run ended, None where they aren't known.
    """
    sure = runs[(runs["kind"] == "convex") & runs["fixed_point"].isin(PLACES)]
    best = sure.dropna(subset=["gap_relative"]).sort_values("gap_relative", kind="stable")
    first = best.drop_duplicates("instance").to_dict("records")
    inside = {run["instance"] for run in first if run["fixed_point"] == "interior"}
    within = best[best["instance"].isin(inside)].to_dict("records")
    proved = {run["instance"] for run in within if _spans(run, weights(str(run["run_id"])))}
    return {
        str(run["instance"]): str(run["fixed_point"])
        for run in first
        if run["instance"] in proved or run["fixed_point"] != "interior"
    }


def _spans(run: Mapping[Any, Any], weights: NDArray[np.float64] | None) -> bool:
    """Say whether the weights that are surely positive are more than the hull has dimensions."""
    if weights is None:
        return False
    told = re.fullmatch(r"dimension (\d+)", str(run["fixed_point_label"]))
    dimension = int(told[1]) if told else run["d"]
    # a weight w on an atom off the face costs of the order of w² of the scale
    return bool((weights > SURE * max(float(run["gap_relative"]), 0.0) ** 0.5).sum() > dimension)


def promised(
    runs: pd.DataFrame,
    trace: pd.DataFrame,
    laws: Mapping[str, list[dict[str, Any]]],
    places: Mapping[str, str],
) -> pd.DataFrame:
    """Return a row a run: the law that theory promises, and how much of its bound was used.

    Parameters
    ----------
    runs, trace : DataFrame
        As in the findings.
    laws : mapping
        By run: the laws that its record keeps, the most particular first.
    places : mapping
        By instance: where its optimum lies, as `optima` returns it.

    Returns
    -------
    DataFrame
        ``bound_share`` is the largest (f − f*)(t + 2)/(``bound_constant`` · D²) over the
        checkpoints t >= 1: above 1 the bound is broken. f − f* is taken from the lower end of the
        reference, so it is no smaller than it is; null where that alone would break the bound, and
        the upper end would not.
    """
    used = trace[(trace["k"] >= 1) & trace["suboptimality"].notna()]
    steps, above = used["k"].astype(float) + 2.0, used["suboptimality"].astype(float)
    most = (above * steps).groupby(used["run_id"]).max()
    width = used["run_id"].astype(str).map(_width(runs)).astype(float)
    sure = ((above - width) * steps).groupby(used["run_id"]).max()
    rows = []
    for run in runs[["run_id", "instance", "diameter_squared"]].to_dict("records"):
        place = places.get(str(run["instance"]))
        row: dict[str, Any] = dict.fromkeys(OF_RUNS) | {"run_id": run["run_id"], "optimum": place}
        known = laws.get(run["run_id"]) or []
        law = next((law for law in known if law["optimum"] in (None, place)), None)
        if law is not None:
            row |= {"promised_class": law["rate_class"], "promised_rate": law["exponent"]}
            ends = (sure.get(run["run_id"]), most.get(run["run_id"]))
            row |= _share(law["constant"], run["diameter_squared"], ends)
        rows.append(row)
    return pd.DataFrame(rows, columns=list(OF_RUNS))


def _width(runs: pd.DataFrame) -> dict[str, float]:
    """Return how wide the reference interval of each run is; 0 where it is not known."""
    if not {"reference_low", "reference_high"} <= set(runs.columns):
        return dict.fromkeys(runs["run_id"].astype(str), 0.0)
    low, high = (
        runs[name].astype("Float64").astype(float) for name in ("reference_low", "reference_high")
    )
    return dict(zip(runs["run_id"].astype(str), (high - low).fillna(0.0), strict=True))


def _share(
    constant: float | None, diameter: Any, ends: tuple[float | None, float | None]
) -> dict[str, Any]:
    sure, most = ends
    known = constant is not None and not pd.isna(diameter) and constant * diameter > 0.0
    if constant is None or not known or sure is None or most is None:
        return {"bound_constant": constant}
    if sure <= constant * diameter < most:
        return {"bound_constant": constant}
    return {"bound_constant": constant, "bound_share": float(most / (constant * diameter))}


def beside(table: pd.DataFrame, runs: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Return the rates over seeds with the promise of their runs; null where seeds differ in it.

    Parameters
    ----------
    table, runs : DataFrame
        The rates over seeds, and the runs behind them with their `regime`.
    found : DataFrame
        As `promised` returns it.

    Returns
    -------
    DataFrame
        ``bound_share`` is the largest of all seeds; ``verdict`` is as promised, faster, slower (so
        far), or null where either is unknown.
    """
    keys = ["regime", "solver_label", "rate_signal"]
    joined = runs[["run_id", *keys]].merge(found, on="run_id", how="left")
    groups = {key: mine for key, mine in joined.groupby(keys, sort=False)}
    rows = []
    for row in table.to_dict("records"):
        mine = groups[tuple(row[name] for name in keys)]
        more: dict[Any, Any] = {name: _common(mine[name]) for name in COLUMNS[:4]}
        if more["promised_class"] is None:
            more["promised_rate"] = None
        share = mine["bound_share"].astype(float).max()
        more["bound_share"] = None if pd.isna(share) else float(share)
        rows.append(row | more | {"verdict": verdict({**row, **more})})
    return pd.DataFrame(rows, columns=[*table.columns, *COLUMNS])


def _common(values: pd.Series[Any]) -> Any:
    """Return the value that all share, else None."""
    return values.iloc[0] if values.nunique(dropna=False) == 1 and values.notna().all() else None


def verdict(row: Mapping[Any, Any]) -> str | None:
    """Compare a measured rate with the promised one.

    Examples
    --------
    >>> told = {"promised_class": "sublinear", "promised_rate": -1.0}
    >>> seen = {"rate_class": "sublinear", "rate_signal": "suboptimality"}
    >>> [verdict(told | seen | {"rate": rate}) for rate in (-1.04, -0.7, -1.5)]
    ['as promised', 'slower', 'faster']
    """
    seen, told = row["rate_class"], row["promised_class"]
    if told not in RATES or seen not in RATES:
        return None
    if seen != told:
        return "faster" if RATES.index(seen) > RATES.index(told) else "slower"
    if told != "sublinear":
        return "as promised"
    rate, aim = row["rate"], row["promised_rate"]
    # a law is about f − f*; the gap falls by another power
    if row["rate_signal"] != "suboptimality" or pd.isna(rate) or aim is None:
        return None
    ends = [row.get("rate_low"), row.get("rate_high"), rate * (1.0 - SLACK), rate * (1.0 + SLACK)]
    low, high = (pick(end for end in ends if not pd.isna(end)) for pick in (min, max))
    if low <= aim <= high:
        return "as promised"
    return "faster" if high < aim else "slower"
