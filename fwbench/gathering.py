"""What one run folder holds, or several side by side, as one set of records to be analysed."""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fwbench.analysis.efforts import Limits
from fwbench.analysis.regimes import apart
from fwbench.errors import RunFolderError, visible
from fwbench.execution.tasks import Task
from fwbench.reading import sound
from fwbench.shapes import Shape
from fwbench.store import RunFolder
from fwbench.trace import Status

Record = dict[str, Any]
NOT_STARTED = {"status": str(Status.INTERRUPTED), "reason": "not started; --resume runs it"}
# of the manifest of each folder, what a report on several shows of it
TOLD = ("command", "created", "suite", "python", "versions", "git", "machine", "budgets")
MACHINE = ("cpu", "cores")  # machines that differ in these are two, whatever they are called


@dataclass(frozen=True, eq=False)
class Gathered:
    """The runs of one folder or of several.

    Attributes
    ----------
    records : list of dict
        Sound ones, one a planned run, in the order of the plan; those that never started too. Rows
        have ``tol`` and, where there are several folders, ``folder``: the name of theirs.
    limits : dict
        What each run was allowed, by run.
    points : callable
        Gives the arrays that were kept for a run.
    manifest : dict
    claims : dict or None
    """

    records: list[Record]
    limits: dict[str, Limits]
    points: Callable[[str], dict[str, NDArray[Any]] | None]
    manifest: dict[str, Any]
    claims: dict[str, Any] | None


def gathered(folder: RunFolder, shapes: Mapping[str, Shape]) -> Gathered:
    """Read one run folder.

    Parameters
    ----------
    folder : RunFolder
    shapes : mapping
        The shape of each further column of a row, as in `fwbench.reading.record_fault`.
    """
    records = sound(folder.records(), shapes, str(folder.path))
    # of one folder there is no word on several, whoever wrote it
    manifest = {name: value for name, value in folder.manifest.items() if name != "folders"}
    started = {record["row"]["run_id"] for record in records}
    planned = {task.run_id: task for task in map(Task.from_dict, manifest["plan"])}
    # every planned run has a row, the ones that never started too
    records += [
        {"row": task.columns() | NOT_STARTED, "trace": {}, "rest": None}
        for run_id, task in planned.items()
        if run_id not in started
    ]
    for record in records:
        row = record["row"]
        task = planned.get(row["run_id"])
        row["order"] = task.order if task else row["order"]  # a resumed plan may have grown
        row["tol"] = task.budget.tol if task else None
    # as the question named them; in time they were made in another order
    places = {run_id: place for place, run_id in enumerate(planned)}
    records.sort(key=lambda record: places.get(record["row"]["run_id"], len(places)))
    limits = {
        run_id: Limits(task.budget.max_steps, task.budget.max_seconds)
        for run_id, task in planned.items()
    }
    return Gathered(records, limits, folder.points, manifest, folder.claims)


def together(folders: Sequence[RunFolder], shapes: Mapping[str, Shape]) -> Gathered:
    """Put several run folders side by side.

    A solver label that occurs in more than one of them on the same instance, or with other values
    of its parameters, is told apart by the name of the folder in all of them; so is an instance
    whose atoms, Q or c are not the same bytes, a machine of the same name with another processor,
    and a run that occurs twice. All else stays as it is in its folder.

    Parameters
    ----------
    folders : sequence of RunFolder
    shapes : mapping
        As in `gathered`.

    Returns
    -------
    Gathered
        Its manifest has ``folders``, a list with what is to be known of each, and else only what
        they have in common.

    Raises
    ------
    RunFolderError
        A folder is given twice, or is none.
    """
    _refuse_twins([folder.path for folder in folders])
    named = dict(zip(names([folder.path for folder in folders]), folders, strict=True))
    parts = {name: gathered(folder, shapes) for name, folder in named.items()}
    hosts = _unlike_hosts(part.manifest for part in parts.values())
    for name, part in parts.items():
        own = (part.manifest.get("machine") or {}).get("host")
        for record in part.records:
            record["row"]["folder"] = name
            if own in hosts and record["row"].get("host") == own:
                record["row"]["host"] = apart(own, name)
    every = [record for part in parts.values() for record in part.records]
    _tell_instances_apart(every)
    _tell_solvers_apart(every)
    whose = _tell_runs_apart(every)
    new = {(name, run_id): shown for shown, (name, run_id) in whose.items()}

    def points(run_id: str) -> dict[str, NDArray[Any]] | None:
        name, before = whose[run_id]
        return parts[name].points(before)

    return Gathered(
        records=every,
        limits={
            new[name, run_id]: limits
            for name, part in parts.items()
            for run_id, limits in part.limits.items()
        },
        points=points,
        manifest=_manifest(named, parts),
        claims=_claims(parts),
    )


def names(paths: Sequence[Path]) -> list[str]:
    """Return what each folder is called: its last part, or as many as tell it from the others.

    Examples
    --------
    >>> names([Path("/a/x"), Path("/b/x"), Path("/b/y")])
    ['a/x', 'b/x', 'y']
    """
    whole = [Path(os.path.abspath(path)).parts for path in paths]
    found = []
    for mine in whole:
        others = [parts for parts in whole if parts != mine]
        enough = next(
            (n for n in range(1, len(mine)) if all(mine[-n:] != parts[-n:] for parts in others)),
            len(mine),
        )
        # a mark that is in the name already would split it at the wrong place
        found.append(visible("/".join(mine[-enough:])).replace("·", "-"))
    twice = Counter(found)
    if max(twice.values()) > 1:  # they differed in what nobody sees
        return [f"{name} {place}" for place, name in enumerate(found, 1)]
    return found


def families(runs: pd.DataFrame) -> pd.Series[str]:
    """Return of which solver each run is a setting: of one folder, where its labels are told apart.

    Examples
    --------
    >>> rows = [("fw", "fw", "a"), ("fw", "fw[k=2] · a", "a"), ("away", "away", "a")]
    >>> families(pd.DataFrame(rows, columns=["solver", "solver_label", "folder"])).tolist()
    ['fw · a', 'fw · a', 'away']
    """
    if "folder" not in runs or runs["folder"].isna().all():
        return runs["solver"]
    folders = runs["folder"].astype(str)
    ends = [
        label.endswith(apart("", name))
        for label, name in zip(runs["solver_label"], folders, strict=True)
    ]
    told = set(runs.loc[np.array(ends, dtype=bool), "solver"])
    named = [
        apart(solver, name) if solver in told else solver
        for solver, name in zip(runs["solver"], folders, strict=True)
    ]
    return pd.Series(named, index=runs.index, dtype="string")


def _refuse_twins(paths: list[Path]) -> None:
    for place, path in enumerate(paths):
        for other in paths[:place]:
            if path.exists() and other.exists() and path.samefile(other):
                raise RunFolderError(
                    f"{path} is the folder {other}, given twice; a report on several folders "
                    "takes each once"
                )


def _unlike_hosts(manifests: Iterable[dict[str, Any]]) -> set[str]:
    """Return the host names under which unlike machines go."""
    seen: dict[str, set[str]] = {}
    for manifest in manifests:
        machine = manifest.get("machine") or {}
        if isinstance(host := machine.get("host"), str):
            facts = json.dumps([machine.get(name) for name in MACHINE])
            seen.setdefault(host, set()).add(facts)
    return {host for host, machines in seen.items() if len(machines) > 1}


def _tell_instances_apart(records: list[Record]) -> None:
    """Name those instances by their folder that are one text, but not one problem."""
    seen: dict[str, set[str]] = {}
    for record in records:
        found = (record.get("origin") or {}).get("fingerprint")
        if isinstance(found, str):
            seen.setdefault(record["row"]["instance"], set()).add(found)
    unlike = {instance for instance, prints in seen.items() if len(prints) > 1}
    for record in records:
        row = record["row"]
        if row["instance"] in unlike:
            for name in ("instance", "instance_label"):
                row[name] = apart(row[name], row["folder"])


def _tell_solvers_apart(records: list[Record]) -> None:
    """Name those solver labels by their folder that occur in several on one instance."""
    folders: dict[tuple[str, str], set[str]] = {}
    params: dict[str, set[str]] = {}
    for record in records:
        row = record["row"]
        folders.setdefault((row["solver_label"], row["instance"]), set()).add(row["folder"])
        params.setdefault(row["solver_label"], set()).add(row["params"])
    twice = {label for (label, _), where in folders.items() if len(where) > 1}
    twice |= {label for label, texts in params.items() if len(texts) > 1}
    for record in records:
        row = record["row"]
        if row["solver_label"] in twice:
            row["solver_label"] = apart(row["solver_label"], row["folder"])


def _tell_runs_apart(records: list[Record]) -> dict[str, tuple[str, str]]:
    """Name those runs by their folder that occur twice; return folder and old name of each."""
    counts = Counter(record["row"]["run_id"] for record in records)
    whose = {}
    for record in records:
        row = record["row"]
        before = row["run_id"]
        if counts[before] > 1:
            row["run_id"] = apart(before, row["folder"])
        whose[row["run_id"]] = (row["folder"], before)
    return whose


def _manifest(named: Mapping[str, RunFolder], parts: Mapping[str, Gathered]) -> dict[str, Any]:
    made = [part.manifest for part in parts.values()]
    shared = {name: _common([manifest.get(name) for manifest in made]) for name in TOLD}
    return shared | {
        "schema": max(manifest["schema"] for manifest in made),
        "command": shlex.join(["fwbench", "report", *(str(f.path) for f in named.values())]),
        "created": max(str(manifest.get("created") or "") for manifest in made) or None,
        "seeds": sorted({seed for manifest in made for seed in manifest.get("seeds") or ()}),
        "diagrams": any(manifest.get("diagrams") for manifest in made),
        "folders": [
            {"name": name, "path": str(named[name].path)}
            | {told: part.manifest.get(told) for told in TOLD}
            | {
                "runs": len(part.records),
                "unfinished": sum(
                    record["row"]["status"] == Status.INTERRUPTED for record in part.records
                ),
            }
            for name, part in parts.items()
        ],
    }


def _common(values: list[Any]) -> Any:
    """Return what is the same in all: of mappings the entries that are."""
    if all(isinstance(value, dict) for value in values):
        shared = {key: _common([value.get(key) for value in values]) for key in values[0]}
        return {key: value for key, value in shared.items() if value is not None}
    return values[0] if all(value == values[0] for value in values) else None


def _claims(parts: Mapping[str, Gathered]) -> dict[str, Any] | None:
    """Return the verdicts of all folders: of a claim tried in several, the one that surprises.

    Of verdicts that do so alike the newest; each says of which folder it is.
    """
    tried = {name: part.claims for name, part in parts.items() if part.claims is not None}
    if len(tried) < 2:
        return next(iter(tried.values()), None)
    newest = sorted(tried, key=lambda name: (str(parts[name].manifest.get("created")), name))
    chosen: dict[str, dict[str, Any]] = {}
    for name in newest:
        for claim in tried[name]["claims"]:
            before = chosen.get(claim["name"])
            if before is None or before["as_expected"] or not claim["as_expected"]:
                remark = f"{claim['remark']} Tried in the folder {name}.".strip()
                chosen[claim["name"]] = {**claim, "remark": remark}
    first = tried[newest[-1]]
    return {
        **first,
        "seconds": sum(document["seconds"] for document in tried.values()),
        "interrupted": any(document["interrupted"] for document in tried.values()),
        "claims": [*chosen.values()],
    }
