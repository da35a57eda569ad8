"""What made a run, in words: the commands that repeat it, versions, machine, seeds, budgets."""

from typing import Any

from fwbench.analysis.findings import Findings
from fwbench.report.words import NONE, duration, number, power, text
from fwbench.trace import failed

Row = dict[str, Any]
Entries = list[tuple[str, str]]
GIBI = 2**30


def commands(manifest: Row) -> list[str]:
    """Return the commands that made the runs, in their order; none where none is known.

    Examples
    --------
    >>> commands({"command": "fwbench run quick"}), commands({"command": None})
    (['fwbench run quick'], [])
    """
    known = manifest.get("command") or []
    listed = [known] if isinstance(known, str) else list(known)
    listed = [*(folder["command"] for folder in manifest.get("folders") or []), *listed]
    return [str(command) for command in listed if command]


def line(findings: Findings) -> str:
    """Say in one line what this is: how many runs, how many failed, when, with what, on what."""
    manifest = findings.manifest
    machine = manifest.get("machine") or {}
    versions = manifest.get("versions") or {}
    runs, instances = len(findings.runs), findings.runs["instance"].nunique()
    solvers = findings.runs["solver_label"].nunique()
    ends = zip(findings.runs["status"], findings.runs["signal"], strict=True)
    failures = sum(failed(status, signal) for status, signal in ends)
    said = [
        f"{_many(runs, 'run')}: {_many(solvers, 'solver')} on {_many(instances, 'instance')}"
        if runs
        else "no runs",
        f"{_many(failures, 'run') if failures else 'no run'} failed" if runs else "",
        str(manifest.get("created") or "")[:16].replace("T", " "),
        f"fwbench {versions['fwbench']}" if versions.get("fwbench") else "",
        str(machine.get("cpu") or ""),
    ]
    return ", ".join(part for part in said if part) + "."


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def history(findings: Findings) -> list[str]:
    """Say what the command alone does not tell: runs tried anew, several hosts, noise."""
    runs = findings.runs
    said = []
    again = int((runs["attempts"].fillna(1).astype(float) > 1).sum())
    if again:
        of = f"{_many(again, 'run')} of {len(runs)}"
        said.append(
            f"The folder was resumed: {of} took more than one attempt, and the command is the last."
        )
    hosts = sorted({text(host) for host in runs["host"]} - {NONE})
    if len(hosts) > 1:
        said.append(f"The runs were made on {len(hosts)} hosts: {', '.join(hosts)}.")
    noisy = int((runs["noisy"].fillna(value=False).astype(bool)).sum())
    if noisy:
        said.append(
            f"{_many(noisy, 'run')} of {len(runs)} had company on the machine: "
            "their seconds say less than their steps."
        )
    return said


def groups(manifest: Row) -> list[tuple[str, Entries]]:
    """Return what is known of the making, under headings, what is not known left out."""
    machine = manifest.get("machine") or {}
    git = manifest.get("git") or {}
    revision = text(git.get("revision"))[:12] + (" with changes" if git.get("dirty") else "")
    shown: list[tuple[str, dict[str, Any]]] = [
        (
            "The question",
            {
                "suite": manifest.get("suite"),
                "digest of the suite": manifest.get("suite_digest"),
                "seeds": manifest.get("seeds"),
                "budgets": [_budget(budget) for budget in manifest.get("budgets") or []],
                "planned runs": len(manifest["plan"]) if manifest.get("plan") else None,
                "claims": manifest.get("claims"),
                "made": str(manifest.get("created") or "").replace("T", " "),
            },
        ),
        (
            "The machine",
            {
                name: f"{number(value / GIBI)} GiB" if name == "memory" and value else value
                for name, value in machine.items()
            }
            | {f"execution, {k}": v for k, v in (manifest.get("execution") or {}).items()},
        ),
        (
            "The code",
            {
                "revision": revision if git.get("revision") else None,
                "python": manifest.get("python"),
                **(manifest.get("versions") or {}),
            },
        ),
    ]
    shown += [
        (f"The folder {folder['name']}", _apart(folder, manifest))
        for folder in manifest.get("folders") or []
    ]
    found = [
        (title, [(name, said) for name, value in entries.items() if (said := _said(value)) != NONE])
        for title, entries in shown
    ]
    return [(title, entries) for title, entries in found if entries]


def _apart(folder: Row, manifest: Row) -> Row:
    """Return what is to be known of one of several folders: what they do not have in common."""
    own = {
        name: value
        for part in ("machine", "git", "versions")
        for name, value in (folder.get(part) or {}).items()
        if (manifest.get(part) or {}).get(name) != value
    }
    return {
        "folder": folder["path"],
        "runs": folder["runs"],
        "still to be made": folder["unfinished"] or None,
        "suite": folder["suite"],
        "made": str(folder["created"] or "").replace("T", " "),
        "python": folder["python"] if manifest.get("python") is None else None,
        "budgets": None if manifest.get("budgets") else list(map(_budget, folder["budgets"] or [])),
        **own,
    }


def _said(value: Any) -> str:
    sentences = isinstance(value, list) and any(isinstance(part, str) for part in value)
    return "; ".join(map(text, value)) if sentences else text(value)


def _budget(budget: Row) -> str:
    """Say a budget.

    Examples
    --------
    >>> _budget({"tol": 1e-8, "max_steps": 1000, "max_seconds": 10.0})
    'tol 1e-08, at most 1000 steps and 10 s'
    """
    steps, seconds = text(budget.get("max_steps")), duration(budget.get("max_seconds"))
    return f"tol {power(budget.get('tol'))}, at most {steps} steps and {seconds}"
