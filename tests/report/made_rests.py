"""Rates over seeds, and where solvers rest, made by hand for the made findings."""

import itertools
from typing import Any

import pandas as pd

from fwbench.analysis import promises, seeds
from fwbench.analysis.meetings import MEETINGS, PLACED, RESTS

Row = dict[str, Any]
APART = 2  # of its starts a solver with moving keys rests elsewhere on the polygon
# what theory promises, and how much of its bound was used
PROMISED = {
    "frank_wolfe": ("sublinear", -1.0, 2.0, 0.31),
    "frank_wolfe[step=exact]": ("sublinear", -1.0, 2.0, 1.25),
    "away_steps": ("linear", None, None, None),
}


def made_rates(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of the made runs; one stands for eight seeds, one is undetermined."""
    counted = seeds.members(runs)
    known = (PROMISED.get(label, (None,) * 4) for label in runs["solver_label"])
    found = pd.DataFrame(
        [(run, "face", *promise) for run, promise in zip(runs["run_id"], known, strict=True)],
        columns=list(promises.OF_RUNS),
    )
    table = promises.beside(seeds.rates(counted), counted, found)
    table[["rate_low", "rate_high"]] = table[["rate_low", "rate_high"]].astype(float)
    table["rate"] = -table["rate"].where(table["rate_class"] == "sublinear", -table["rate"])
    first = table.index[table["solver_label"] == "frank_wolfe"][0]
    seeded = {
        "seeds": 8, "sublinear": 8, "rate": -1.98, "rate_low": -2.02, "rate_high": -1.95,
        "interval": "percentile", "reason": None, "verdict": "faster",
    }  # fmt: skip
    second = table.index[table["solver_label"] == "frank_wolfe"][1]
    doubtful = {
        "rate_class": "undetermined", "rate": None, "undetermined": 1, "sublinear": 0,
        "reason": "the one seed is undetermined: windows differ, linear or sublinear <b>",
    }  # fmt: skip
    for place, changed in ((first, seeded), (second, doubtful)):
        for name, value in changed.items():
            table.loc[place, name] = value
    return table


def made_rests(runs: list[Row]) -> dict[str, pd.DataFrame]:
    """Return the tables of rests, places and meetings."""
    rests: list[Row] = []
    places: list[Row] = []
    met: list[Row] = []
    for _, group in itertools.groupby(runs, key=lambda run: run["instance"]):
        here = [run for run in group if run["fixed_point"]]
        mine = [row for run in here for row in _rests(run)]
        rests += mine
        places += [_place(mine, place) for place in sorted({row["place"] for row in mine})]
        met += [_meeting(a, b) for a, b in itertools.combinations(here, 2)]
    tables = {"rests": (rests, RESTS), "places": (places, PLACED), "meetings": (met, MEETINGS)}
    return {name: pd.DataFrame(rows, columns=list(names)) for name, (rows, names) in tables.items()}


def _about(run: Row) -> Row:
    return {name: run[name] for name in ("instance", "instance_label", "kind")}


def _elsewhere(run: Row) -> bool:
    return run["kind"] == "concave" and run["queries"] > 5 and "moving" in run["solver_label"]


def _rests(run: Row) -> list[Row]:
    rows = []
    for query in range(run["queries"]):
        away = _elsewhere(run) and query < APART
        rows.append(
            {
                **_about(run), "solver_label": run["solver_label"], "run_id": run["run_id"],
                "query": query, "class": run["fixed_point"], "label": run["fixed_point_label"],
                "certified": True, "gap_relative": 1e-10, "value": 0.5 if away else 0.25,
                "above": 0.31 if away else 0.0, "standing": "local" if away else "global",
                "stable": not away, "place": 1 if away else 0,
            }
        )  # fmt: skip
    return rows


def _place(rests: list[Row], place: int) -> Row:
    mine = [row for row in rests if row["place"] == place]
    names = (*PLACED[:3], "class", "label", "value", "above", "standing")
    return {
        **{name: mine[0][name] for name in names}, "place": place, "rests": len(mine),
        "solvers": len({row["solver_label"] for row in mine}),
        "returned": sum(row["stable"] for row in mine), "left": 0, "near": 6, "leaving": 1,
    }  # fmt: skip


def _meeting(a: Row, b: Row) -> Row:
    starts = a["queries"]
    apart = APART if _elsewhere(a) != _elsewhere(b) else 0
    return {
        **_about(a), "solver_a": a["solver_label"], "solver_b": b["solver_label"],
        "starts": starts, "resting": starts, "same": starts - apart, "near": 0, "apart": apart,
        "lower_a": 0 if _elsewhere(a) else apart, "lower_b": apart if _elsewhere(a) else 0,
        "vertices": True if apart else None, "lone": False, "distance": 0.31 if apart else 3e-9,
        "value_apart": 0.31 if apart else 0.0, "overlap": 0.5,
    }  # fmt: skip
