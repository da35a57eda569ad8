"""How time and steps grow with n, d, condition and β: exponents of power laws, or a refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwbench.analysis.alike import timed_on
from fwbench.analysis.regimes import parameter, regime
from fwbench.trace import Status

FEWEST = 4  # sizes: a line through fewer proves nothing
WIDEST = 0.5  # half the interval of an exponent that still tells one whole power from the next
SURE = 0.975
OF_SOLVERS = ("beta",)  # sizes that are a parameter of the solver, not of the instance
AGAINST = ("n", "d", "condition", *OF_SOLVERS)
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

    A regime is a family with all its parameters but one size, n, d or condition, and the seed; its
    name, like labels, leaves out what is at its default. A solver's β is a size, too: then the
    instances stay what they are, and the solver's label is without it.

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
    alike = ["regime", "timed_on"]
    for against in AGAINST:
        groups = _sized(runs, against).groupby(alike, sort=False, dropna=False)
        for (name, where), here in groups:
            asked = here.groupby("label")["size"].transform("nunique")
            places = here[asked >= FEWEST].groupby(["label", "instance", "size"], sort=False)
            for (label, instance, size), mine in places:
                medians = (mine["total"].median(), mine["taken"].median())
                place = (name, against, label, mine["library"].iloc[0], instance, _written(size))
                rows.append((*place, *medians, where))
    return pd.DataFrame(rows, columns=list(SIZES))


def _sized(runs: pd.DataFrame, against: str) -> pd.DataFrame:
    """Return the runs that have a size of this name, with their regime and solver without it."""
    instances, labels = runs["instance_label"].astype(str), runs["solver_label"].astype(str)
    if against in runs:  # n and d stand in a column of their own
        size = runs[against]
    elif against in OF_SOLVERS:
        written = runs["params"].astype(object) if "params" in runs else labels.map(lambda _: "")
        size = written.map(lambda text: parameter(f"x[{text}]", against))
        labels = labels.map(lambda text: regime(text, against))
    else:  # the canonical text says what labels leave out
        size = runs["instance"].map(lambda text: parameter(str(text), against))
    return runs.assign(
        regime=instances.map(lambda text: regime(text, against, "seed")),
        label=labels,
        size=size.astype("Float64").astype(float),
    ).dropna(subset=["size"])


def _reached(runs: pd.DataFrame) -> pd.Series[bool]:
    met = (runs["gap_relative"] <= runs["tol"]).fillna(False)
    return runs["status"].isin(ANSWERED) & met.astype(bool)


def _written(size: Any) -> int | float:
    return int(size) if size == int(size) else float(size)


def medians(points: pd.DataFrame) -> pd.DataFrame:
    """Return the medians of seconds and steps over all instances of one size, sizes in order.

    Parameters
    ----------
    points : DataFrame
        As `sizes` returns it.
    """
    alike = ["regime", "timed_on", "against", "solver_label", "size"]
    grouped = points.groupby(alike, sort=False, dropna=False)[["seconds", "steps"]]
    return grouped.median().reset_index().sort_values("size", kind="stable", ignore_index=True)


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
    for (name, _, against, label), mine in points.groupby(alike, sort=False, dropna=False):
        for quantity in ("seconds", "steps") if pd.isna(mine["library"].iloc[0]) else ("seconds",):
            row: dict[str, Any] = dict.fromkeys(COLUMNS)
            row |= {"regime": name, "against": against, "solver_label": label}
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
        found |= {"size_from": _written(x.min()), "size_to": _written(x.max())}
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
