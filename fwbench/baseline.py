"""Reference results that ship with a release: the exact quantities of a suite as small text.

One line a run, in a fixed order, so that a change of the file reads as a change of results. Timings
are in pricing passes of the machine that made them, so that they travel.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fwbench.analysis.quantities import final_gap
from fwbench.analysis.reached import references, taken
from fwbench.analysis.sides import Bracket, Key, Run, Side
from fwbench.analysis.targets import TARGETS
from fwbench.disk import failing, write_whole
from fwbench.errors import InvalidParameter, RunFolderError, brief, visible
from fwbench.plain import plain
from fwbench.shapes import duration, either, integer, listed, mapped, maybe, number, table, text
from fwbench.trace import Status

SCHEMA, MARK = 1, "fwbench_baseline"
FACTS = ("created", "suite", "suite_digest", "revision", "dirty", "cpu", "blas", "versions")
SAME = ("kind", "n", "d", "scale")  # of all runs on an instance
KEPT = (
    "solver", "params", "solver_label", "tol", "max_steps", "max_seconds", "queries", "status",
    "steps",
    "value_centred", "fixed_point", "fixed_point_label", "rate_class",
)  # fmt: skip
LISTS = ("interior", "face")  # places whose label lists atoms, which rounding may change

_NAMES = {f"{target:.0e}": target for target in TARGETS}


def _count(value: Any) -> str:
    """Say what is wrong with a count."""
    wrong = integer(value)
    return wrong or ("" if value >= 0 else f"must not be negative; got {value}")


def _targets(value: Any) -> str:
    """Say what is wrong with the brackets of targets."""
    if wrong := mapped(listed(maybe(_count), 4))(value):
        return wrong
    odd = next((name for name in value if name not in _NAMES), None)
    return "" if odd is None else f"holds the target {brief(odd)}"


_RUN = table(
    {
        **dict.fromkeys(("solver", "params", "solver_label"), text),
        "tol": number,
        "status": either(*Status),
    },
    {
        **dict.fromkeys(("max_steps", "steps", "queries"), maybe(_count)),
        **dict.fromkeys(("max_seconds", "value_centred", "gap_relative"), maybe(number)),
        "passes": maybe(duration),
        **dict.fromkeys(("fixed_point", "fixed_point_label", "rate_class", "measure"), maybe(text)),
        "targets": maybe(_targets),
    },
)
_INSTANCE = table(
    {"instance": text, "instance_label": text, "runs": listed(_RUN)},
    {
        "kind": maybe(text),
        **dict.fromkeys(("n", "d"), maybe(integer)),
        "scale": maybe(number),
        "reference": maybe(listed(number, 2)),
    },
)
_FILE = table(
    {MARK: integer, "suite": text, "instances": listed(_INSTANCE)},
    {
        **dict.fromkeys(("created", "suite_digest", "revision", "cpu"), maybe(text)),
        "versions": maybe(mapped(maybe(text))),
    },
)


def write(side: Side, path: Path) -> None:
    """Write the results of a run folder as a baseline.

    Parameters
    ----------
    side : Side
        A run folder that ran a suite to its end.
    path : Path
        The file; its folder is made where it is missing.

    Raises
    ------
    InvalidParameter
        What is no whole run of a suite, or holds runs that failed: they would stand as good.
    RunFolderError
        The file cannot be written.
    """
    if side.source != "run folder" or not side.facts.get("suite"):
        raise InvalidParameter(f"{side.name} ran no suite: a baseline holds the results of one")
    open_ends = [run for run in side.runs if run.row["status"] == Status.INTERRUPTED]
    failed = [run for run in side.runs if run.failed]
    for some, how in ((open_ends, "never ended"), (failed, "failed")):
        if some:
            one = f"{some[0].row['solver_label']} on {some[0].row['instance_label']}"
            raise InvalidParameter(f"{side.name}: {len(some)} runs {how}, such as {one}")
    with failing(path.parent, "made"):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "\n".join(_lines(side)) + "\n")


def _lines(side: Side) -> Iterator[str]:
    def line(content: Any) -> str:
        return json.dumps(plain(content), allow_nan=False, ensure_ascii=False)

    facts = {name: side.facts.get(name) for name in FACTS}
    head = [f" {line(name)}: {line(value)}," for name, value in {MARK: SCHEMA, **facts}.items()]
    yield from ("{", *head, ' "instances": [')
    ends = references(side)
    groups: dict[str, dict[Key, list[Run]]] = {}
    for run in sorted(side.runs, key=lambda run: str(run.key)):
        groups.setdefault(run.row["instance"], {}).setdefault(run.key, []).append(run)
    for place, (instance, runs) in enumerate(groups.items()):
        some = [run for group in runs.values() for run in group]
        known = next((run for run in some if run.row.get("scale") is not None), some[0])
        told = {"instance": instance, "instance_label": known.row["instance_label"]}
        told |= {name: known.row.get(name) for name in SAME}
        interval = ends.get(instance)
        told |= {"reference": None if interval is None else list(interval)}
        low = interval[0] if interval is not None and known.row["kind"] == "convex" else None
        yield f'  {line(told)[:-1]}, "runs": ['
        kept = [f"   {line(_kept(group, low))}" for group in runs.values()]
        yield from (f"{one}," for one in kept[:-1])
        yield f"{kept[-1]}]}}" + ("," if place + 1 < len(groups) else "")
    yield " ]"
    yield "}"


def _kept(group: list[Run], reference_low: float | None) -> dict[str, Any]:
    """Return what is kept of the repetitions of a run: the first one's results."""
    run = min(group, key=lambda run: run.row["repetition"])
    row = {name: run.row.get(name) for name in KEPT}
    if row["fixed_point"] in LISTS:
        row["fixed_point_label"] = str(row["fixed_point_label"]).partition(",")[0]
    row["gap_relative"] = final_gap(run)
    judged = run.graded and run.ended_well  # of others nothing is judged on another machine
    measure, found = taken(run, reference_low) if judged else (None, {})
    least = (run.row.get("tol") or 0.0) * (1 - 1e-9)  # what it was not asked for it may meet or not
    row |= {"measure": measure, "targets": {
        f"{target:.0e}": list(bracket) for target, bracket in found.items() if target >= least
    } or None}  # fmt: skip
    quiet = [
        run.row["seconds"] / run.row["pass_seconds"]
        for run in group
        if run.row["seconds"] and run.row["pass_seconds"]
        if not (run.row["noisy"] or run.row["shared"])
    ]
    return row | {"passes": float(f"{statistics.median(quiet):.3g}") if quiet else None}


def side(name: str, content: dict[str, Any]) -> Side:
    """Return a baseline as one side of a comparison.

    Raises
    ------
    RunFolderError
        It is damaged, or was written by a newer version.
    """
    if isinstance(content.get(MARK), int) and content[MARK] > SCHEMA:
        raise RunFolderError(f"{name} was written by a newer fwbench; update fwbench")
    if wrong := _FILE(content):
        raise RunFolderError(f"{name} is a damaged baseline: {visible(wrong)}")
    runs, ends = [], {}
    for instance in content["instances"]:
        told = {key: value for key, value in instance.items() if key not in ("runs", "reference")}
        if instance.get("reference") is not None:
            low, high = instance["reference"][:2]
            ends[instance["instance"]] = float(low), float(high)
        runs += [_run(told, kept) for kept in instance["runs"]]
    facts = {name: content.get(name) for name in FACTS}
    return Side(name, "baseline", tuple(runs), facts, references=ends)


def _run(instance: dict[str, Any], kept: dict[str, Any]) -> Run:
    row = {name: kept.get(name) for name in (*KEPT, "gap_relative", "measure", "passes")}
    name = f"{kept['solver']}[{kept['params']}]"
    row |= {**instance, "repetition": 0, "run_id": f"{instance['instance']} {name} {kept['tol']}"}
    found = kept.get("targets")
    targets = {_NAMES[name]: Bracket(*ends[:4]) for name, ends in (found or {}).items()}
    return Run(row, graded=bool(found), brackets=targets)
