"""Run solvers on problems: ``fwbench run``."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fwbench.execution.tasks import Task

DONE, FAILED, INTERRUPTED = 0, 1, 130


@click.command()
@click.argument("suite", required=False)
@click.option("-s", "--solver", "solvers", multiple=True, metavar="SOLVER",
              help="Name, name[key=value] or file.py; repeatable. Default: all.")  # fmt: skip
@click.option("-p", "--problem", "problems", multiple=True, metavar="PROBLEM",
              help="Name, name[key=value] or data file; repeatable.")  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path), help="Run folder. Default: reports/NAME-DATE-TIME."
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), help="Value of every seed that is not given."
)
@click.option("--repeat", type=click.IntRange(min=1), help="Repetitions of each run. Default: 1.")
@click.option("--tol", type=float, help="Relative tolerance. Default: 1e-8.")
@click.option("--max-steps", type=int, help="Steps of one run. Default: 10000.")
@click.option("--max-seconds", type=float, help="Seconds of one run. Default: 10.")
@click.option("--resume", is_flag=True,
              help="Do what is missing in the folder --out, and what failed there.")  # fmt: skip
@click.option("--fresh", is_flag=True, help="Set an existing journal aside and start anew.")
@click.option(
    "--from", "source", type=click.Path(path_type=Path), help="Repeat the runs of a folder."
)
@click.option("--dry-run", is_flag=True, help="Print the plan and stop.")
@click.option("--no-report", is_flag=True, help="Write tables alone.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows of the runs as JSON.")
def run(
    suite: str | None,
    solvers: tuple[str, ...],
    problems: tuple[str, ...],
    out: Path | None,
    seed: int | None,
    repeat: int | None,
    tol: float | None,
    max_steps: int | None,
    max_seconds: float | None,
    resume: bool,
    fresh: bool,
    source: Path | None,
    dry_run: bool,
    no_report: bool,
    as_json: bool,
) -> int:
    """Run a SUITE, or solvers on problems, and write a run folder with a report.

    With neither SUITE nor -p, the suite quick.
    """
    from fwbench.session import Question, plan, planned_again
    from fwbench.store import RunFolder

    limits = {"tol": tol, "max_steps": max_steps, "max_seconds": max_seconds}
    given = {key: value for key, value in limits.items() if value is not None}
    asked = bool(suite or solvers or problems or given or seed is not None or repeat)
    if suite and problems:
        raise click.UsageError("give a SUITE or -p, not both")
    if source is not None and asked:
        raise click.UsageError("--from repeats a folder as it was: give no other choice")
    if resume and (fresh or out is None):
        raise click.UsageError("--resume goes with --out and without --fresh")
    if (again := source or (out if resume and not asked else None)) is not None:
        tasks, described = planned_again(RunFolder(again))
    else:
        tasks, described = plan(Question(suite, solvers, problems, seed, repeat or 1, given))
    if dry_run:
        if as_json:
            click.echo(json.dumps([{"run_id": t.run_id, **t.as_dict()} for t in tasks], indent=1))
            return DONE
        for task in tasks:
            click.echo(f"{task.run_id}  {task.solver_label}  on  {task.instance_label}")
        for name in (described or {}).get("claims") or ():
            click.echo(f"claim {name}")
        click.echo(f"{len(tasks)} runs, each at most {_most(tasks)} s on the clock")
        return DONE
    name = described["suite"].partition("@")[0] if described else "run"
    path = out or Path("reports") / f"{name}-{datetime.now():%Y%m%d-%H%M%S}"
    folder = RunFolder.create(path, resume=resume, fresh=fresh)
    return _run(folder, tasks, described, report=not no_report, as_json=as_json)


def _most(tasks: list[Task]) -> str:
    return f"{max((task.budget.max_seconds for task in tasks), default=0):g}"


def _run(folder: Any, tasks: list[Task], described: Any, *, report: bool, as_json: bool) -> int:
    from fwbench.cli.progress import Progress, stdout_alone
    from fwbench.findings import build, write_views
    from fwbench.report.terminal import terminal_summary
    from fwbench.report.write import write
    from fwbench.session import execute
    from fwbench.trace import Status

    command = shlex.join(["fwbench", *sys.argv[1:]])
    claims = (described or {}).get("claims") or ()
    with Progress(len(tasks) + len(claims)) as progress:
        with stdout_alone() if as_json else nullcontext():
            whole = execute(folder, tasks, described, command, progress.told, progress.claimed)
        if not whole:
            rest = f"fwbench run --resume --out {shlex.quote(str(folder.path))}"
            progress.say(f"interrupted; what was done is saved, {rest} does the rest")
        if not folder.has_journal:
            return INTERRUPTED
        progress.say("reading the journal")
        findings = build(folder)
        write_views(folder, findings)
        if report:
            progress.say("writing the report")
            write(findings, folder.path)
        progress.show(terminal_summary(findings))
        progress.say(f"\nRun folder: {folder.path}")
        if report:
            progress.say(f"Report:     {folder.path / 'report.html'}")
    if as_json:
        from fwbench.cli.show import as_text

        click.echo(as_text(findings))
    if not whole:
        return INTERRUPTED
    failed = any(Status(status).is_failure for status in findings.runs["status"])
    broke = findings.claims and not all(c["as_expected"] for c in findings.claims["claims"])
    return FAILED if failed or broke else DONE
