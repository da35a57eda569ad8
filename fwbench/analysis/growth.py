"""How time and steps grow with n and d: exponents of power laws, or a refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwbench.analysis.alike import timed_on
from fwbench.grammar import spelled
from fwbench.trace import Status

FEWEST = 4  # sizes: a line through fewer proves nothing
WIDEST = 0.5  # half the interval of an exponent that still tells one whole power from the next
SURE = 0.975
ANSWERED = frozenset({Status.CONVERGED, Status.FINISHED})
SIZES = (
    "regime", "against", "solver_label", "library", "instance", "size", "seconds", "steps",
    "timed_on",
)  # fmt: skip
COLUMNS = (
    "regime", "against", "solver_label", "library", "quantity", "sizes", "points", "size_from",
    "size_to", "exponent", "exponent_low", "exponent_high", "r_squared", "reason", "timed_on",
)  # fmt: skip


def sizes(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row a solver and instance of each regime that it ran on at four sizes or more.

    Where runs were timed on several machines, `timed_on` says on which, and each has its own rows.

    A regime is a family with all its parameters but one size, n or d, and the seed; its name, like
    labels, leaves out what is at its default.

    Parameters
    ----------
    runs : DataFrame
        As in the findings.

    Returns
    -------
    DataFrame
        ``against`` names the size; ``seconds`` (set-up and solver) and ``steps`` are the medians of
        the repetitions that reached their tolerance, null where none did.
    """
    runs = runs.assign(
        timed_on=timed_on(runs),
        total=(runs["seconds"] + runs["setup_seconds"]).where(_reached(runs)),
        taken=runs["steps"].astype("Float64").astype(float).where(_reached(runs)),
    )
    rows = []
    for against in ("n", "d"):
        regimes = runs["instance_label"].map(lambda text, size=against: _regime(str(text), size))
        alike = runs.assign(regime=regimes).groupby(
            ["regime", "timed_on"], sort=False, dropna=False
        )
        for (regime, _), here in alike:
            asked = here.groupby("solver_label")[against].transform("nunique")
            places = here[asked >= FEWEST].groupby(["solver_label", "instance"], sort=False)
            for (label, instance), mine in places:
                first = mine.iloc[0]
                medians = (mine["total"].median(), mine["taken"].median())
                place = (regime, against, label, first["library"], instance, int(first[against]))
                rows.append((*place, *medians, first["timed_on"]))
    return pd.DataFrame(rows, columns=list(SIZES))


def _reached(runs: pd.DataFrame) -> pd.Series[bool]:
    met = (runs["gap_relative"] <= runs["tol"]).fillna(False)
    return runs["status"].isin(ANSWERED) & met.astype(bool)


def _regime(label: str, size: str) -> str:
    """Return an instance's label without one size and the seed.

    Examples
    --------
    >>> _regime("ball[n=10000,d=8,seed=1]", "n"), _regime("ball", "n")
    ('ball[d=8]', 'ball')
    """
    asked = spelled(label)
    kept = [f"{key}={value[0]}" for key, value in asked.values.items() if key not in (size, "seed")]
    return asked.name + (f"[{','.join(kept)}]" if kept else "")


def growth(points: pd.DataFrame) -> pd.DataFrame:
    """Return a row a regime, size, solver and quantity (seconds or steps): the exponent.

    A straight line is fitted to the logarithms by least squares. Where a solver reached its
    tolerance at fewer than four sizes, or the 95 % interval of the exponent is wider than ±0.5,
    `exponent` is null and `reason` says why. A foreign code has no steps that could grow.

    Parameters
    ----------
    points : DataFrame
        As `sizes` returns it.
    """
    rows = []
    alike = ["regime", "timed_on", "against", "solver_label"]
    for (regime, _, against, label), mine in points.groupby(alike, sort=False, dropna=False):
        for quantity in ("seconds", "steps") if pd.isna(mine["library"].iloc[0]) else ("seconds",):
            row: dict[str, Any] = dict.fromkeys(COLUMNS)
            row |= {"regime": regime, "against": against, "solver_label": label}
            row |= {"library": mine["library"].iloc[0], "quantity": quantity}
            row |= {"timed_on": mine["timed_on"].iloc[0]}
            rows.append(row | _fit(mine, quantity))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _fit(mine: pd.DataFrame, quantity: str) -> dict[str, Any]:
    """Return the power law of one solver in one regime."""
    kept = mine[mine[quantity] > 0]
    x, y = (kept[name].to_numpy(dtype=float) for name in ("size", quantity))
    found: dict[str, Any] = {"sizes": len(set(x)), "points": len(x)}
    if len(x):
        found |= {"size_from": int(x.min()), "size_to": int(x.max())}
    if found["sizes"] < FEWEST:
        asked = mine["size"].nunique()
        reason = f"{found['sizes']} of {asked} sizes reached the tolerance, {FEWEST} needed"
        return found | {"reason": reason}
    slope, half, r_squared = line(np.log(x), np.log(y))
    found |= {"r_squared": r_squared}
    if half > WIDEST:
        return found | {"reason": f"no power law: exponent {slope:.2f} ± {half:.2f}"}
    return found | {
        "exponent": slope,
        "exponent_low": slope - half,
        "exponent_high": slope + half,
    }


def line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the slope of a line, half its 95 % interval, and the share of variance explained.

    Examples
    --------
    >>> x = np.log([1.0, 10.0, 100.0, 1000.0])
    >>> slope, half, r_squared = line(x, 1.5 * x + 2.0)
    >>> round(slope, 9), half < 1e-9, round(r_squared, 9)
    (1.5, True, 1.0)
    """
    from scipy.stats import t

    spread = x - x.mean()
    slope = float(spread @ y / (spread @ spread))
    around = y - y.mean()
    rest = around - slope * spread
    error = float(np.sqrt(rest @ rest / (len(x) - 2) / (spread @ spread)))
    total = float(around @ around)
    explained = 1.0 - float(rest @ rest) / total if total > 0 else 1.0
    return slope, float(t.ppf(SURE, len(x) - 2)) * error, explained
