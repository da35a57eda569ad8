"""Rates over seeds: what runs say together that differ by the seed of their instance alone.

The rows of one trace hang together, so its residuals tell nothing of how sure a rate is; seeds are
drawn independently, and the interval of a rate comes from them.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fwbench.analysis.regimes import regime

GROUP = ["regime", "solver_label", "rate_signal"]
CLASSES = ("sublinear", "linear", "superlinear", "finite", "none", "undetermined")
COLUMNS = (
    "regime", "solver_label", "rate_signal", "kind", "seeds", *CLASSES, "rate_class", "rate",
    "rate_low", "rate_high", "interval", "rate_from", "rate_to", "reason",
)  # fmt: skip
FEWEST = 3  # seeds of one class: an interval from fewer is none
FOR_BCA = 10  # below, the acceleration of BCa is a guess
RESAMPLES, SURE = 9999, 0.95


class Interval(NamedTuple):
    """An interval of 95 % for a mean, and how it was made: percentile or BCa."""

    low: float
    high: float
    method: str


def interval(values: ArrayLike) -> Interval:
    """Return a bootstrap interval of the mean of independent values, the same at each call.

    Parameters
    ----------
    values : array_like, shape (s,)
        One a seed. The percentile method below ten, bias-corrected and accelerated (BCa) from ten
        on. Where all are equal it has no width.

    Examples
    --------
    >>> found = interval([-1.9, -2.0, -2.2])
    >>> round(found.low, 2), round(found.high, 2), found.method
    (-2.2, -1.9, 'percentile')
    """
    from scipy.stats import bootstrap

    sample = np.asarray(values, dtype=float)
    method: Literal["percentile", "BCa"] = "percentile" if len(sample) < FOR_BCA else "BCa"
    if np.ptp(sample) == 0.0:
        return Interval(float(sample[0]), float(sample[0]), method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of values that are nearly all equal BCa may be NaN
        found = bootstrap(
            [sample], np.mean, n_resamples=RESAMPLES, confidence_level=SURE, method=method,
            rng=np.random.default_rng(0),
        ).confidence_interval  # fmt: skip
    low, high = float(found.low), float(found.high)
    if not (np.isfinite(low) and np.isfinite(high)):
        return Interval(float(sample.min()), float(sample.max()), "range")
    return Interval(low, high, method)


def members(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs that count, one an instance and solver, each with the `regime` it is of.

    Of repetitions the first counts, for they repeat the same steps; of several tolerances the
    tightest. The seed of the instance is left out of its regime; parameters of the solver are not.

    Parameters
    ----------
    runs : DataFrame
        As in the findings.
    """
    known = runs[runs["rate_class"].notna()]
    labels = known["instance_label"].astype(str)
    known = known.assign(regime=labels.map(lambda text: regime(text, "seed")))
    order = known.sort_values(["tol", "repetition"], kind="stable")
    first = order.drop_duplicates(["instance", "solver_label"])
    return first.sort_index()


def rates(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row a regime, solver and signal: how many seeds are of which class, and the rate.

    `rate_class` is the class of all seeds that are determined, if these are half of all at least;
    else ``undetermined``. `rate` is the mean over the seeds of that class, of factors the geometric
    one; its interval needs three such seeds, and `reason` says why there is none. Their windows lie
    between `rate_from` and `rate_to`.

    Parameters
    ----------
    runs : DataFrame
        As `members` returns them.
    """
    rows = []
    for key, mine in runs.groupby(GROUP, sort=False):
        row: dict[str, Any] = dict.fromkeys(COLUMNS) | dict(zip(GROUP, key, strict=True))
        counts = {name: int((mine["rate_class"] == name).sum()) for name in CLASSES}
        row |= counts | {"kind": mine["kind"].iloc[0], "seeds": len(mine)}
        row["rate_class"], row["reason"] = _agreed(counts)
        if row["rate_class"] == "undetermined":
            row["reason"] = _because(row["reason"], mine)
        alike = mine[mine["rate_class"] == row["rate_class"]]
        some = alike if len(alike) else mine
        row |= {"rate_from": some["rate_from"].min(), "rate_to": some["rate_to"].max()}
        values = alike["rate"].dropna()
        rows.append(row | _rate(str(row["rate_class"]), values.to_numpy(dtype=float)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _agreed(counts: dict[str, int]) -> tuple[str, str | None]:
    seen = {name: count for name, count in counts.items() if count and name != "undetermined"}
    if len(seen) == 1 and sum(seen.values()) >= counts["undetermined"]:
        return next(iter(seen)), None
    if len(seen) > 1:
        return "undetermined", "seeds differ: " + ", ".join(
            f"{n} {name}" for name, n in seen.items()
        )
    if sum(counts.values()) == 1:
        return "undetermined", "the one seed is undetermined"
    return "undetermined", f"{counts['undetermined']} of {sum(counts.values())} seeds undetermined"


def _because(reason: str | None, mine: pd.DataFrame) -> str:
    """Add to a reason what most of the undetermined runs say themselves."""
    told = mine.loc[mine["rate_class"] == "undetermined", "rate_reason"].dropna()
    why = [str(text).removeprefix("undetermined: ") for text in told]
    if not why:
        return str(reason)
    common = max(why, key=why.count)  # the first of those that are as common
    some = f" ({why.count(common)} of them)" if why.count(common) < len(why) else ""
    return f"{reason}: {common}{some}"


def _rate(law: str, values: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    """Return the mean rate of a class with its interval, or why there is none."""
    if law in ("none", "undetermined") or not len(values):
        return {}
    factors = law == "linear" and bool((values > 0).all())
    scaled = np.log(values) if factors else values
    back = np.exp if factors else np.asarray
    found: dict[str, Any] = {"rate": float(back(scaled.mean()))}
    if len(values) < FEWEST:
        some = f"{len(values)} seed{'' if len(values) == 1 else 's'} {law}"
        return found | {"reason": f"{some}, {FEWEST} needed for an interval"}
    low, high, method = interval(scaled)
    ends = {"rate_low": float(back(low)), "rate_high": float(back(high))}
    return found | ends | {"interval": method}


def shared(runs: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with the interval of their group, where they are of its class.

    Parameters
    ----------
    runs : DataFrame
        As in the findings.
    table : DataFrame
        As `rates` returns it.
    """
    known = table.dropna(subset=["rate_low"])
    ends = {
        (row["regime"], row["solver_label"], row["rate_signal"], row["rate_class"]): (
            row["rate_low"],
            row["rate_high"],
        )
        for row in known.to_dict("records")
    }
    if not ends:
        return runs
    names = runs["instance_label"].astype(str).map(lambda text: regime(text, "seed"))
    keys = zip(names, runs["solver_label"], runs["rate_signal"], runs["rate_class"], strict=True)
    found = [ends.get(key, (np.nan, np.nan)) for key in keys]
    return runs.assign(rate_low=[low for low, _ in found], rate_high=[high for _, high in found])
