"""Performance profiles, data profiles, pairs and means: who is ahead on how many instances."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fwbench.analysis import shares
from fwbench.analysis.contests import (
    Contest,
    Variant,
    arrays_of,
    contest_of,
    contests,
    entrants,
)
from fwbench.analysis.efforts import COSTS, Limits, efforts
from fwbench.analysis.means import FACTORS, Array, shifted_mean, shifted_means
from fwbench.errors import InvalidParameter, nearest

STEPS = (
    "contest", "profile", "cost", "target", "solver", "share", "low", "high", "without_low",
    "without_high", "grid_low", "grid_high",
)  # fmt: skip
PAIRS = (
    "contest", "cost", "target", "solver_a", "solver_b", "instances", "a_first", "b_first", "open",
    "neither", "reversed_at", "reversed_by", "reversed_without",
)  # fmt: skip
MEANS = (
    "contest", "cost", "target", "solver", "instances", "failures", "shift", "low", "high",
    "tenth_low", "tenth_high", "tenfold_low", "tenfold_high", "rank", "rank_tenth", "rank_tenfold",
    "grid_low", "grid_high",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Profiles:
    """Solvers compared over many instances; a contest is named by its place in `contests`.

    Attributes
    ----------
    contests : tuple of Contest
        Who is compared on which instances, and which were left out and why.
    steps : DataFrame
        A row a contest, profile, target, solver and share j/p of its p instances, j = 1 … p: from
        which x on that share is reached, at most (``low``, optimistic: the lower ends of its own
        brackets) and at least (``high``, pessimistic). x is the ratio to the best for a
        ``performance`` profile; for a ``data`` profile it is oracle calls over the instance's unit
        of min(n, d + 1) calls a query, or seconds. ``without_low`` and ``without_high`` bound the
        profiles that leave one other solver out; ``grid_low`` and ``grid_high`` are the profile of
        a tuned solver that pays for its whole grid. Null: never reached, or not meaningful.
    pairs : DataFrame
        A row a contest, target and two solvers: on how many instances a was surely first, b was,
        the brackets leave it open, neither came there; ``reversed_at``: a ratio at which one is
        surely above the other in the profile of all and surely below it in that of the two alone,
        and the share ``reversed_by`` which it is so in both; null where there is none;
        ``reversed_without``: a solver that turns them round by itself when it is left out.
    means : DataFrame
        A row a contest, target and solver: the shifted geometric mean between ``low`` and
        ``high``, with a tenth of the shift and tenfold, and the ranks by the upper ends;
        ``failures`` instances of ``instances`` stand in it with what the run was allowed;
        ``grid_low`` and ``grid_high``: the same of what the whole grid cost, where there is one.
    efforts, absent : DataFrame
        What all this is made from: as `fwbench.analysis.efforts.efforts` returns it.
    """

    contests: tuple[Contest, ...]
    steps: pd.DataFrame
    pairs: pd.DataFrame
    means: pd.DataFrame
    efforts: pd.DataFrame
    absent: pd.DataFrame

    def of(self, solvers: Sequence[str]) -> Profiles:
        """Return the profiles of some solver labels alone, over all instances that they share.

        Of two labels these are pairwise profiles. A cost that they share nowhere (one counts no
        oracle calls, or their seconds are from two machines) is left out.

        Raises
        ------
        InvalidParameter
            If there are fewer than two labels, one is unknown, or they share no instance.
        """
        if isinstance(solvers, str) or len(set(solvers)) < 2:
            raise InvalidParameter(
                f"a profile compares at least two solver labels; got {solvers!r}"
            )
        known = [*self.efforts["solver_label"].unique(), *self.absent["solver_label"].unique()]
        for name in solvers:
            if name not in known:
                raise InvalidParameter(f"no run is labelled {name!r}; {nearest(name, known)}")
        table = entrants(self.efforts, "chosen", solvers)
        shared = [contest_of(table, self.absent, solvers, cost) for cost in COSTS]
        found = [(contest, table) for contest in shared if contest is not None]
        if not found:
            raise InvalidParameter(
                f"{', '.join(sorted(set(solvers)))} share no instance on which all took part and "
                "were measured, and timed, alike"
            )
        return _profiles(found, self.efforts, self.absent)


def profiles(
    runs: pd.DataFrame,
    trace: pd.DataFrame,
    targets: pd.DataFrame,
    limits: Mapping[str, Limits],
) -> Profiles:
    """Compare solvers over all instances on which they took part together.

    Parameters
    ----------
    runs, trace, targets : DataFrame
        As in the findings.
    limits : mapping of str to Limits
        What each run was allowed, by run.
    """
    spent, absent = efforts(runs, trace, targets, limits)
    found: list[tuple[Contest, pd.DataFrame]] = []
    variants: tuple[Variant, ...] = ("defaults", "tuned")
    for variant in variants:
        table = entrants(spent, variant)
        for cost in COSTS:
            some = contests(table, absent, variant, cost)
            # without a grid the best of it is the default
            found += [
                (contest, table)
                for contest in some
                if variant == "defaults" or max(map(len, contest.settings)) > 1
            ]
    return _profiles(found, spent, absent)


def _profiles(
    found: list[tuple[Contest, pd.DataFrame]], spent: pd.DataFrame, absent: pd.DataFrame
) -> Profiles:
    steps: dict[str, list[Any]] = {name: [] for name in STEPS}
    pairs: list[dict[str, Any]] = []
    means: list[dict[str, Any]] = []
    for number, (contest, table) in enumerate(found):
        for target, arrays in arrays_of(contest, table):
            place = {"contest": number, "cost": contest.cost, "target": target}
            for part in _steps(contest, arrays):
                count = len(part["share"])
                for name, value in place.items():
                    steps[name] += [value] * count
                for name, column in part.items():
                    steps[name] += list(column)
            pairs += [place | pair for pair in _pairs(contest, arrays)]
            means += [place | mean for mean in _means(contest, arrays)]
    return Profiles(
        contests=tuple(contest for contest, _ in found),
        steps=pd.DataFrame(steps, columns=list(STEPS)),
        pairs=pd.DataFrame(pairs, columns=list(PAIRS)),
        means=pd.DataFrame(means, columns=list(MEANS)),
        efforts=spent,
        absent=absent,
    )


def _steps(contest: Contest, arrays: dict[str, Array]) -> Iterator[dict[str, Any]]:
    """Yield the two profiles of each solver, column by column."""
    low, high = arrays["low"], arrays["high"]
    count = len(low)
    share = np.arange(1, count + 1) / count
    ratio = dict(zip(("low", "high"), shares.band(low, high), strict=True))
    without = shares.without_one(low, high)
    ratio |= dict(zip(("without_low", "without_high"), without, strict=True))
    paid = shares.ratios(low, high, (arrays["grid_low"], arrays["grid_high"]))
    ratio |= dict(zip(("grid_low", "grid_high"), (np.sort(p, axis=0) for p in paid), strict=True))
    unit = arrays["unit"] if contest.cost == "lmo" else 1.0
    data = dict.fromkeys(ratio, np.full(low.shape, np.nan))
    data |= {name: np.sort(arrays[name] / unit, axis=0) for name in ratio if name in arrays}
    for profile, thresholds in (("performance", ratio), ("data", data)):
        for j, solver in enumerate(contest.solvers):
            ends = {name: _reached(columns[:, j]) for name, columns in thresholds.items()}
            named = {"profile": [profile] * count, "solver": [solver] * count}
            yield named | {"share": share, **ends}


def _reached(thresholds: Array) -> Array:
    """Return thresholds with those that are never passed as null."""
    return np.where(np.isfinite(thresholds), thresholds, np.nan)


def _pairs(contest: Contest, arrays: dict[str, Array]) -> Iterator[dict[str, Any]]:
    low, high = arrays["low"], arrays["high"]
    for a, b in itertools.combinations(range(len(contest.solvers)), 2):
        first, second = high[:, a] < low[:, b], high[:, b] < low[:, a]
        neither = np.isinf(high[:, a]) & np.isinf(high[:, b])
        turned = shares.reversal(low, high, a, b) or (None, None)
        others = (c for c in range(len(contest.solvers)) if turned[0] and c not in (a, b))
        alone = (c for c in others if shares.reversal(low, high, a, b, without=c))
        without = next(alone, None)
        yield {
            "solver_a": contest.solvers[a],
            "solver_b": contest.solvers[b],
            "instances": len(low),
            "a_first": int(first.sum()),
            "b_first": int(second.sum()),
            "open": int((~(first | second | neither)).sum()),
            "neither": int(neither.sum()),
            "reversed_at": turned[0],
            "reversed_by": turned[1],
            "reversed_without": None if without is None else contest.solvers[without],
        }


def _means(contest: Contest, arrays: dict[str, Array]) -> Iterator[dict[str, Any]]:
    means = shifted_means(arrays["low"], arrays["high"], arrays["limit"])
    ranks = [pd.Series(row).rank(method="min").to_numpy() for row in means.high]
    for j, solver in enumerate(contest.solvers):
        row: dict[str, Any] = {
            "solver": solver,
            "instances": len(arrays["low"]),
            "failures": int(means.failures[j]),
            "shift": means.shift,
        }
        for i, name in zip(range(len(FACTORS)), ("", "tenth", "tenfold"), strict=True):
            row |= {
                f"{name}_low".lstrip("_"): means.low[i, j],
                f"{name}_high".lstrip("_"): means.high[i, j],
                f"rank_{name}".rstrip("_"): ranks[i][j],
            }
        for end in ("low", "high"):
            row[f"grid_{end}"] = _grid(contest, arrays, j, end, means.shift)
        yield row


def _grid(
    contest: Contest, arrays: dict[str, Array], j: int, end: str, shift: float | None
) -> float | None:
    """Return the mean of what a whole grid cost; where none met the target, each its limit."""
    if shift is None or len(contest.settings[j]) < 2:
        return None
    cost, most = arrays[f"grid_{end}"][:, j], arrays["limit"][:, j] * len(contest.settings[j])
    return float(shifted_mean(np.where(np.isfinite(cost), cost, most), shift))
