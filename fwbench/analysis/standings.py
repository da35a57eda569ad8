"""Who won, where, by how much and how surely: first places on instances, counted by solver."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fwbench.analysis.efforts import MOVING, PLACE
from fwbench.analysis.means import PART, shifted_mean
from fwbench.analysis.regimes import regime
from fwbench.analysis.targets import TIED
from fwbench.trace import failed

SURE, UNSURE, TIE, ALONE, UNOPPOSED, START, NOBODY = (
    "sure", "unsure", "tied", "alone", "unopposed", "start", "nobody",
)  # fmt: skip
RACES = (SURE, UNSURE, TIE)  # two came to the same target, and did not stand there from the start
REPEATED = 3  # timings of which the ranges tell who is first
LARGE = 2.0  # a lead that jitter does not make up for: of fewer timings it must be as large
HUGE = 10.0  # a lead that no other load on the machine makes up for
FIRSTS = (
    "instance", "instance_label", "problem", "where", "measure", "timed_on", "target",
    "solver_label", "runner_up", "lead", "contest", "doubts", "reached", "of",
)  # fmt: skip
STANDINGS = (
    "where", "solver_label", "instances", "rivalled", "firsts", "sure", "unsure", "alone", "solved",
    "mean", "shift", "lead", "runs", "failures",
)  # fmt: skip
Row = dict[str, Any]


class Standings(NamedTuple):
    """Tables: a row an instance and measure, a row a solver and kind of instance."""

    firsts: pd.DataFrame
    table: pd.DataFrame


def standings(runs: pd.DataFrame, targets: pd.DataFrame, efforts: pd.DataFrame) -> Standings:
    """Count who came first, by seconds in the solver, at the tightest target that anybody reached.

    Parameters
    ----------
    runs, targets : DataFrame
        As in the findings.
    efforts : DataFrame
        As `fwbench.analysis.efforts.efforts` returns them.

    Returns
    -------
    Standings
        ``firsts``: `target` is one of 1e-2, 1e-4, 1e-6, 1e-8 of the scale; `lead` is the
        runner-up's upper end over that of the first; `contest` is ``sure`` (its bracket, over all
        repetitions, lies below that of everybody else; where one of them was timed less than three
        times, below half of that; below a tenth, where timings were noisy or shared), ``unsure``
        (`doubts` says why), ``tied`` (the lead is below 1.1: nobody was first), ``alone`` (nobody
        else came there), ``unopposed`` (nobody else took part), ``start`` (somebody's start met
        the target: nothing was won) or ``nobody``. Who missed the target in any repetition did not
        come there.
        ``table``: by `where`, a kind of instance (null: all), and solver: `instances` that it took
        part in, `rivalled` of these with somebody else; first places, `sure` ones and `unsure`;
        `alone` on how many; on how many the target was `solved`; `mean`, the geometric mean with
        `shift` of its seconds over those of the best, where it came there and so did another; the
        median `lead` of its first places; its `runs` and how many of them failed.
    """
    spent = efforts[efforts["cost"] == "seconds"]
    facts = _facts(runs)
    at_start = _at_start(runs, targets)
    firsts: list[Row] = []
    shares: list[Row] = []
    for place, group in spent.groupby(PLACE, sort=False, dropna=False):
        first, here = _place(place, group, facts, at_start)
        firsts.append(first)
        shares += here
    told = pd.DataFrame(firsts, columns=list(FIRSTS))
    rows = pd.DataFrame(shares, columns=["where", "solver_label", "contest", "first", "solved",
                                         "ratio", "lead", "instance"])  # fmt: skip
    return Standings(told, _table(runs, rows))


class _Facts(NamedTuple):
    """What is known of a solver's runs on an instance, besides what they spent."""

    problem: str
    kind: str
    repetitions: int
    quiet: int
    shared: bool
    random: bool


def _facts(runs: pd.DataFrame) -> dict[tuple[Hashable, ...], _Facts]:
    found: dict[tuple[Hashable, ...], _Facts] = {}
    flags = {name: _true(runs, name) for name in ("noisy", "shared")}
    params = runs["params"] if "params" in runs else pd.Series(None, index=runs.index)
    chance = {text: _random(text) for text in params.dropna().unique()}
    table = runs[["instance", "solver_label", "problem", "kind", "repetition"]].assign(
        **flags, random=[isinstance(text, str) and chance[text] for text in params]
    )
    for key, mine in table.groupby(["instance", "solver_label"], sort=False):
        found[key] = _Facts(
            str(mine["problem"].iloc[0]),
            str(mine["kind"].iloc[0]),
            int(mine["repetition"].nunique()),
            int((~mine["noisy"]).sum()),
            bool(mine["shared"].any()),
            bool(mine["random"].any()),
        )
    return found


def _true(runs: pd.DataFrame, name: str) -> pd.Series[bool]:
    if name not in runs:
        return pd.Series(False, index=runs.index)
    return runs[name].astype("boolean").fillna(False).astype(bool)


def _random(params: str) -> bool:
    """Say whether a solver draws numbers: then one of its parameters is a seed."""
    text = f"x[{params}]"
    return regime(text, "seed") != text


def _at_start(runs: pd.DataFrame, targets: pd.DataFrame) -> set[tuple[Any, ...]]:
    """Return instance, solver and target where every run met the target before its first step."""
    names = runs[["run_id", "instance", "solver_label"]]
    joined = targets[["run_id", "target", "k_high"]].merge(names, on="run_id")
    joined = joined.assign(
        exponent=np.log10(joined["target"].astype(float)).round().astype(int),
        still=(joined["k_high"] == 0).fillna(False).astype(bool),
    )
    still = joined.groupby(["instance", "solver_label", "exponent"])["still"].all()
    return set(still[still].index)


def _place(
    place: Any,
    group: pd.DataFrame,
    facts: dict[tuple[Hashable, ...], _Facts],
    at_start: set[tuple[Any, ...]],
) -> tuple[Row, list[Row]]:
    """Return who was first at one place, and a row for each who took part."""
    instance, measure, timed_on = place
    known = facts[instance, group["solver_label"].iloc[0]]
    where = f"{known.kind}, keys moving" if measure == MOVING else known.kind
    met = group[np.isfinite(group["most"])]
    target = float(met["target"].min()) if len(met) else float(group["target"].max())
    here = group[group["target"] == target].sort_values("high", kind="stable")
    reached = np.isfinite(here["most"])
    came = here[reached].to_dict("records")
    row: Row = dict.fromkeys(FIRSTS) | {
        "instance": instance, "instance_label": here["instance_label"].iloc[0],
        "problem": known.problem, "where": where, "measure": measure, "target": target,
        "timed_on": timed_on if isinstance(timed_on, str) else None,
        "reached": len(came), "of": len(here),
    }  # fmt: skip
    exponent = round(float(np.log10(target)))
    still = {one["solver_label"] for one in came
             if (instance, one["solver_label"], exponent) in at_start}  # fmt: skip
    row |= _first(row, came, facts, still)
    best = came[0]["high"] if row["contest"] in RACES else np.nan
    ratios = here["high"].where(reached) / best
    shares = [
        {
            "where": where,
            "solver_label": label,
            "contest": row["contest"],
            "first": label == row["solver_label"],
            "solved": solved,
            "ratio": ratio,
            "lead": row["lead"],
            "instance": instance,
        }
        for label, solved, ratio in zip(here["solver_label"], reached, ratios, strict=True)
    ]
    return row, shares


def _first(
    row: Row,
    came: list[Row],
    facts: dict[tuple[Hashable, ...], _Facts],
    still: set[str],
) -> Row:
    if not came:
        return {"contest": NOBODY}
    if row["of"] == 1:
        return {"contest": UNOPPOSED, "solver_label": came[0]["solver_label"]}
    if still:
        return {"contest": START}
    first, *others = came
    if not others:
        return {"contest": ALONE, "solver_label": first["solver_label"]}
    lead = float(others[0]["high"] / first["high"])
    found = {
        "solver_label": first["solver_label"],
        "runner_up": others[0]["solver_label"],
        "lead": lead,
    }
    if lead < TIED:
        return found | {"contest": TIE}
    known = {one["solver_label"]: facts[row["instance"], one["solver_label"]] for one in came}
    doubts = _doubts(first, others, known, apart=row["timed_on"] is not None)
    return found | {"contest": UNSURE if doubts else SURE, "doubts": "; ".join(doubts) or None}


def _doubts(first: Row, others: list[Row], known: dict[str, _Facts], *, apart: bool) -> list[str]:
    """Say why a first place is not sure, the plainest reason first."""
    both = [known[one["solver_label"]] for one in (first, others[0])]
    repeated = min(one.repetitions for one in both) > 1
    near = [first, *(one for one in others if one["least"] < LARGE * first["most"])]
    doubts = []
    if first["high"] >= min(one["low"] for one in others):
        doubts.append("brackets that overlap")
    elif first["most"] >= min(one["least"] for one in others):
        doubts.append("repetitions that overlap")
    elif len(near) > 1 and min(known[one["solver_label"]].repetitions for one in near) < REPEATED:
        doubts.append(f"a lead that may be below {LARGE:.0f}×, timed less than {REPEATED} times")
    close = min(one["least"] for one in others) < HUGE * first["most"]
    # of a solver that was timed again some time was quiet: then the ranges decide
    if close and any(one.quiet == 0 if repeated else one.quiet < one.repetitions for one in both):
        doubts.append("a noisy machine")
    if close and any(one.shared for one in both):
        doubts.append("a shared machine")
    if apart:
        doubts.append("several machines")
    if any(one.random for one in both):
        doubts.append("a random chain, from one seed")
    return doubts


def _table(runs: pd.DataFrame, shares: pd.DataFrame) -> pd.DataFrame:
    lost = [failed(str(status), signal) for status, signal in
            zip(runs["status"], runs["signal"], strict=True)]  # fmt: skip
    made = runs.assign(lost=lost)
    made = made[~made["status"].isin(["skipped", "interrupted"])]
    finite = shares["ratio"].dropna()
    shift = PART * float(finite.median()) if len(finite) else None
    rows = []
    for where in [None, *shares["where"].unique()]:
        here = shares if where is None else shares[shares["where"] == where]
        some = [_solver(label, mine, where, shift) for label, mine in
                here.groupby("solver_label", sort=False)]  # fmt: skip
        if where is None:  # who left nothing that could be compared may have failed
            away = [name for name in made["solver_label"].unique()
                    if name not in set(shares["solver_label"])]  # fmt: skip
            some += [_solver(name, shares.iloc[:0], None, None) for name in away]
            tally = made.groupby("solver_label")["lost"].agg(["size", "sum"])
            for row in some:
                row |= {"runs": int(tally["size"].get(row["solver_label"], 0)),
                        "failures": int(tally["sum"].get(row["solver_label"], 0))}  # fmt: skip
        rows += sorted(some, key=_rank)
    table = pd.DataFrame(rows, columns=list(STANDINGS))
    counts = ["instances", "rivalled", "firsts", "sure", "unsure", "alone", "solved", "runs",
              "failures"]  # fmt: skip
    numbers = ["mean", "shift", "lead"]
    return table.astype(dict.fromkeys(counts, "Int64") | dict.fromkeys(numbers, float))


def _rank(row: Row) -> tuple[float, ...]:
    mean = row["mean"] if row["mean"] is not None else np.inf
    share = row["solved"] / row["instances"] if row["instances"] else 0.0
    return (-row["firsts"], -row["sure"], -row["alone"], -share, mean)


def _solver(label: Any, mine: pd.DataFrame, where: str | None, shift: float | None) -> Row:
    won = mine[mine["first"] & mine["contest"].isin([SURE, UNSURE])]
    ratios = mine["ratio"].dropna().to_numpy(dtype=float)
    return dict.fromkeys(STANDINGS) | {
        "where": where,
        "solver_label": label,
        "instances": len(mine),
        "rivalled": int((mine["contest"] != UNOPPOSED).sum()),
        "firsts": len(won),
        "sure": int((won["contest"] == SURE).sum()),
        "unsure": int((won["contest"] == UNSURE).sum()),
        "alone": int((mine["first"] & (mine["contest"] == ALONE)).sum()),
        "solved": int(mine["solved"].sum()),
        "mean": float(shifted_mean(ratios, shift)) if len(ratios) and shift is not None else None,
        "shift": shift if len(ratios) else None,
        "lead": float(won["lead"].median()) if len(won) else None,
    }
