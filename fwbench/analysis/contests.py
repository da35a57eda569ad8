"""Who is compared with whom, and where: as they are by default, or each at the best of its grid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from fwbench.analysis.efforts import ACCURACIES, MOVING, PLACE
from fwbench.analysis.means import Array

FEWEST = 3  # instances: a profile over fewer is an anecdote
MOST = 3  # contests of one variant and cost that are shown without being asked for
Variant = Literal["defaults", "tuned", "chosen"]
Place = tuple[str, str, str | None]  # instance, measure, timed_on


@dataclass(frozen=True)
class Contest:
    """Solvers on all instances on which every one of them took part.

    Attributes
    ----------
    variant : {"defaults", "tuned", "chosen"}
        Each solver as it is by default (without parameters, or as its first run in the plan has
        them); each at the best of its settings on every instance, chosen afterwards; or settings
        that somebody asked for.
    cost : {"lmo", "seconds", "total"}
    solvers : tuple of str
        Names to be shown; of a tuned one with the number of its settings.
    labels : tuple of str
        The solver label whose colour and dash each has.
    settings : tuple of tuple of str
        The labels of all settings that each is the best of.
    places : tuple of (str, str, str or None)
        Instance, measure, and where it was timed if in several places.
    instances : tuple of str
        Their labels.
    excluded : tuple of (str, str)
        Labels of all other instances, and who took no part there and why.
    """

    variant: Variant
    cost: str
    solvers: tuple[str, ...]
    labels: tuple[str, ...]
    settings: tuple[tuple[str, ...], ...]
    places: tuple[Place, ...]
    instances: tuple[str, ...]
    excluded: tuple[tuple[str, str], ...]


def entrants(efforts: pd.DataFrame, variant: Variant, chosen: Sequence[str] = ()) -> pd.DataFrame:
    """Return efforts by entrant: a setting, or all settings of a solver at once.

    Parameters
    ----------
    efforts : DataFrame
        As `fwbench.analysis.efforts.efforts` returns them.
    variant : {"defaults", "tuned", "chosen"}
    chosen : sequence of str
        Solver labels, for "chosen".

    Returns
    -------
    DataFrame
        Of efforts the place, instance_label, unit, cost, target, low, high and limit;
        ``entrant``, ``label`` (whose look it has) and ``settings``: a tuple of solver labels;
        ``grid_low``, ``grid_high``: what the whole grid cost on that instance, each setting until
        it met the target or had spent what it was given; null where there is one setting, infinite
        where none met it. Where a solver ran with other settings it is another entrant.
    """
    moving = efforts["measure"] == MOVING
    family = [efforts["solver"], moving]
    usual = efforts.groupby(family)["solver_label"].transform("first")
    bare = (efforts["solver_label"] == efforts["solver"]).groupby(family).transform("any")
    usual = usual.mask(bare, efforts["solver"])
    table = efforts.assign(
        label=efforts["solver_label"],
        entrant=efforts["solver_label"],
        settings=efforts["solver_label"].map(lambda label: (label,)),
        grid_low=np.nan,
        grid_high=np.nan,
    )
    if variant == "chosen":
        return table[table["entrant"].isin(chosen)]
    if variant == "defaults":
        return table[table["entrant"] == usual]
    for end in ("low", "high"):
        ends = efforts[end]
        table[f"grid_{end}"] = ends.where(np.isfinite(ends), efforts["spent"])
    alike = [*PLACE, "instance_label", "unit", "cost", "target", "solver", "label"]
    how: dict[str, Any] = {"low": "min", "high": "min", "limit": "max"}
    how |= {"grid_low": "sum", "grid_high": "sum", "solver_label": list}
    grouped = table.assign(label=usual).groupby(alike, sort=False, dropna=False)
    best = grouped.agg(how).reset_index().rename(columns={"solver_label": "settings"})
    best["settings"] = best["settings"].map(tuple)
    for end in ("low", "high"):
        grid = best[f"grid_{end}"].mask(np.isinf(best[end]), np.inf)
        best[f"grid_{end}"] = grid.mask(best["settings"].map(len) == 1)
    names = _names(set(zip(best["solver"], best["settings"], strict=True)))
    best["entrant"] = best["settings"].map(names)
    single = best["settings"].map(len) == 1
    best["label"] = best["label"].mask(single, best["entrant"])
    return best.drop(columns="solver")


def _names(grids: set[tuple[str, tuple[str, ...]]]) -> dict[tuple[str, ...], str]:
    """Return what each grid is called: by its size, and by its settings where that is not enough.

    Examples
    --------
    >>> list(_names({("a", ("a", "a[k=2]"))}).values())
    ['a, best of 2']
    """
    sizes = Counter((solver, len(settings)) for solver, settings in grids)
    names = {}
    for solver, settings in grids:
        several = f"{solver}, best of {len(settings)}"
        if sizes[solver, len(settings)] > 1:
            several += f": {' | '.join(settings)}"
        names[settings] = settings[0] if len(settings) == 1 else several
    return names


def contests(
    table: pd.DataFrame, absent: pd.DataFrame, variant: Variant, cost: str
) -> list[Contest]:
    """Return the contests that the instances themselves suggest, the largest first.

    For each set of solvers that all took part on some instance, that is all who did, there is one:
    these solvers on every instance on which all of them took part. Contests over fewer than three
    instances are left out, and of the others all but the three with most solvers times instances.
    Solvers whose keys move, whose accuracy is another one, are among themselves.

    Parameters
    ----------
    table : DataFrame
        As `entrants` returns it.
    absent : DataFrame
        Who took no part: as `fwbench.analysis.efforts.efforts` returns it.
    variant, cost : str
    """
    here = _present(table, cost)
    found = []
    for moving in (False, True):
        sets = {place: who for place, who in here.items() if (place[1] == MOVING) is moving}
        for together in dict.fromkeys(sets.values()):
            places = [place for place, who in sets.items() if together <= who]
            if len(together) > 1 and len(places) >= FEWEST:
                found.append((together, places))
    found.sort(key=lambda one: (-len(one[0]) * len(one[1]), sorted(one[0])))
    return [_contest(table, absent, here, variant, cost, *one) for one in found[:MOST]]


def contest_of(
    table: pd.DataFrame, absent: pd.DataFrame, solvers: Sequence[str], cost: str
) -> Contest | None:
    """Return the contest of some solver labels, over however few instances they share; or None."""
    together, here = frozenset(solvers), _present(table, cost)
    places = [place for place, who in here.items() if together <= who]
    return _contest(table, absent, here, "chosen", cost, together, places) if places else None


def _present(table: pd.DataFrame, cost: str) -> dict[Place, frozenset[str]]:
    """Return who took part where."""
    rows = table[table["cost"] == cost].drop_duplicates([*PLACE, "entrant"])
    found: dict[Place, set[str]] = {}
    for *place, entrant in zip(*(rows[name] for name in (*PLACE, "entrant")), strict=True):
        found.setdefault(_place(*place), set()).add(entrant)
    return {place: frozenset(who) for place, who in found.items()}


def _place(instance: str, measure: str, timed_on: object) -> Place:
    return instance, measure, timed_on if isinstance(timed_on, str) else None


def _contest(
    table: pd.DataFrame,
    absent: pd.DataFrame,
    here: dict[Place, frozenset[str]],
    variant: Variant,
    cost: str,
    together: frozenset[str],
    places: list[Place],
) -> Contest:
    rows = table[(table["cost"] == cost) & table["entrant"].isin(together)]
    moving = places[0][1] == MOVING
    rows = rows[(rows["measure"] == MOVING) == moving]
    facts = rows.drop_duplicates("entrant").set_index("entrant")
    solvers = sorted(together)
    labels = dict(zip(table["instance"], table["instance_label"], strict=True))
    labels |= dict(zip(absent["instance"], absent["instance_label"], strict=True))
    return Contest(
        variant=variant,
        cost=cost,
        solvers=tuple(solvers),
        labels=tuple(facts.loc[solvers, "label"]),
        settings=tuple(facts.loc[solvers, "settings"]),
        places=tuple(places),
        instances=tuple(_named(labels[place[0]], place[2]) for place in places),
        excluded=tuple(_excluded(table, absent, here, facts["settings"], places, labels)),
    )


def _named(label: str, timed_on: str | None) -> str:
    return label if timed_on is None else f"{label} on {timed_on}"


def _excluded(
    table: pd.DataFrame,
    absent: pd.DataFrame,
    here: dict[Place, frozenset[str]],
    settings: pd.Series[Any],
    places: list[Place],
    labels: dict[str, str],
) -> Iterator[tuple[str, str]]:
    """Yield each instance outside a contest, and who took no part there and why."""
    present: dict[tuple[str, str | None], frozenset[str]] = {
        (name, None): frozenset() for name in labels
    }
    for place, who in here.items():
        key = (place[0], place[2])
        others = present.get(key, frozenset())
        present[key] = max(others, who & frozenset(settings.index), key=len)
    timed = {name for name, where in present if where is not None}
    told = {(row.instance, row.solver_label): str(row.reason) for row in absent.itertuples()}
    elsewhere = set(zip(table["instance"], table["entrant"], strict=True))
    inside = {(place[0], place[2]) for place in places}
    for (name, where), who in present.items():
        if (name, where) in inside or (where is None and name in timed):
            continue
        if not who:
            yield _named(labels[name], where), "none of them took part"
            continue
        reasons = []
        for entrant in sorted(frozenset(settings.index) - who):
            why = [told[name, one] for one in settings[entrant] if (name, one) in told]
            if not why:
                other = (name, entrant) in elsewhere
                why = ["measured or timed otherwise" if other else "not run"]
            reasons.append(f"{entrant}: {'; '.join(dict.fromkeys(why))}")
        yield _named(labels[name], where), "; ".join(reasons)


def arrays_of(contest: Contest, table: pd.DataFrame) -> Iterator[tuple[float, dict[str, Array]]]:
    """Yield each target and what the solvers of a contest spent to come there, as arrays.

    Parameters
    ----------
    contest : Contest
    table : DataFrame
        As `entrants` returns it.

    Yields
    ------
    target : float
    arrays : dict of str to ndarray, shape (p, s)
        ``low``, ``high``, ``limit``, ``unit``, ``grid_low``, ``grid_high``, a row a place and a
        column a solver, in the order of the contest.
    """
    rows = table[(table["cost"] == contest.cost) & table["entrant"].isin(contest.solvers)]
    row_of = {place: i for i, place in enumerate(contest.places)}
    found = zip(rows["instance"], rows["measure"], rows["timed_on"], strict=True)
    at = np.array([row_of.get(_place(*place), -1) for place in found], dtype=int)
    rows, at = rows[at >= 0], at[at >= 0]
    column_of = {solver: j for j, solver in enumerate(contest.solvers)}
    columns = rows["entrant"].map(column_of).to_numpy(dtype=int)
    names = ("low", "high", "limit", "unit", "grid_low", "grid_high")
    for target in ACCURACIES:
        here = (rows["target"] == target).to_numpy()
        arrays = {}
        for name in names:
            arrays[name] = np.full((len(row_of), len(column_of)), np.nan)
            arrays[name][at[here], columns[here]] = rows[name].to_numpy(dtype=float)[here]
        yield target, arrays
