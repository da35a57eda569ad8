"""Run solvers on problems: ``fwbench run``."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fwbench.analysis.findings import Findings
    from fwbench.cli.progress import Progress
    from fwbench.execution.tasks import Task
    from fwbench.session import Executor
    from fwbench.store import RunFolder

DONE, FAILED, INTERRUPTED = 0, 1, 130
MOST_GIBIBYTES = 2**30


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
@click.option("--jobs", type=click.IntRange(min=1),
              help="Runs at a time; more than one share the clock, and are marked.")  # fmt: skip
@click.option("--dask", metavar="ADDRESS",
              help="Run on the workers of a Dask scheduler; 'local' starts one.")  # fmt: skip
@click.option("--max-memory", type=float, metavar="GIB",
              help="Memory of one run. Default: 80 % of the free memory, shared.")  # fmt: skip
@click.option("--in-process", is_flag=True,
              help="Run in this process: a crash or a hang of a solver ends all.")  # fmt: skip
@click.option("--resume", is_flag=True,
              help="Do what is missing in the folder --out, and what failed there.")  # fmt: skip
@click.option("--fresh", is_flag=True, help="Set an existing journal aside and start anew.")
@click.option(
    "--from", "source", type=click.Path(path_type=Path), help="Repeat the runs of a folder."
)
@click.option("--dry-run", is_flag=True, help="Print the plan and stop.")
@click.option("--no-report", is_flag=True, help="Write tables alone.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print what was found as JSON, alone on stdout."
)
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
    jobs: int | None,
    dask: str | None,
    max_memory: float | None,
    in_process: bool,
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
    from fwbench.errors import InvalidParameter
    from fwbench.planning import Question, made_by, plan, planned_again
    from fwbench.store import RunFolder

    limits = {"tol": tol, "max_steps": max_steps, "max_seconds": max_seconds}
    given = {key: value for key, value in limits.items() if value is not None}
    asked = bool(suite or solvers or problems or given or seed is not None or repeat)
    if suite and problems:
        raise click.UsageError("give a SUITE or -p, not both")
    if source is not None and asked:
        raise click.UsageError("--from repeats a folder as it was: give no other choice")
    if resume and (fresh or out is None):
        word = "without --fresh" if fresh else "with --out DIR, the folder to go on with"
        raise click.UsageError(f"--resume goes {word}")
    if in_process + (dask is not None) + (jobs is not None) > 1:
        raise click.UsageError("choose one of --jobs, --dask and --in-process")
    if in_process and max_memory is not None:
        raise click.UsageError("--max-memory limits other processes: not --in-process")
    if max_memory is not None and not 0 < max_memory < MOST_GIBIBYTES:
        raise InvalidParameter(f"max_memory must be a positive number of GiB; got {max_memory}")
    from fwbench.cli.progress import stdout_alone

    with stdout_alone() if as_json else nullcontext():  # files are imported
        again = source or (out if resume and not asked else None)
        before = RunFolder(out) if resume and out is not None and out.is_dir() else None
        if again is not None:
            tasks, described = planned_again(RunFolder(again))
        else:
            planned = planned_again(before)[0] if before and before.has_journal else ()
            question = Question(suite, solvers, problems, seed, repeat or 1, given)
            tasks, described = plan(question, planned)
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
    path = out or _unused(Path("reports") / f"{name}-{datetime.now():%Y%m%d-%H%M%S}")
    folder = RunFolder.create(path, resume=resume, fresh=fresh)
    memory = None if max_memory is None else int(max_memory * 2**30)
    where = Where(jobs, dask, memory, in_process)
    if where == Where(memory=memory) and before is not None and before.has_journal:
        where = Where.like(before.path, made_by(before))  # else seconds would be others
        where = where if memory is None else replace(where, memory=memory)
    return _run(folder, tasks, described, where, wait=resume, report=not no_report, as_json=as_json)


def _unused(path: Path) -> Path:
    """Return a path, numbered where another run of the same second has taken it."""
    numbered = (path.with_name(f"{path.name}-{n}") for n in count(2))
    return path if not path.exists() else next(one for one in numbered if not one.exists())


def _most(tasks: list[Task]) -> str:
    return f"{max((task.budget.max_seconds for task in tasks), default=0):g}"


@dataclass(frozen=True)
class Where:
    """Where runs are made: options of the command line, or what a manifest holds of them."""

    jobs: int | None = None
    dask: str | None = None
    memory: int | None = None
    in_process: bool = False

    @classmethod
    def like(cls, path: Path, made: dict[str, Any]) -> Where:
        """Read what the manifest of a folder says of its runs."""
        from fwbench.errors import RunFolderError

        try:
            where = cls(**made)
            for number in (where.jobs, where.memory):
                if number is not None and (not isinstance(number, int) or number < 1):
                    raise ValueError(f"{number!r:.80}")
            if not isinstance(where.dask, str | None) or not isinstance(where.in_process, bool):
                raise TypeError
        except (TypeError, ValueError) as error:
            raise RunFolderError(
                f"{path}: its manifest.json does not say where runs were made ({error}); "
                "choose --jobs, --dask or --in-process"
            ) from error
        return where

    def executor(self) -> AbstractContextManager[Executor]:
        """Return what makes the runs."""
        if self.dask is not None:
            from fwbench.execution.cluster import Cluster

            return Cluster(self.dask, memory=self.memory)
        if self.in_process:
            from fwbench.execution.here import Here

            return nullcontext(Here())
        from fwbench.execution.pool import Pool

        return nullcontext(Pool(self.jobs or 1, memory=self.memory))


def _run(
    folder: RunFolder,
    tasks: list[Task],
    described: dict[str, Any] | None,
    where: Where,
    *,
    wait: bool,
    report: bool,
    as_json: bool,
) -> int:
    from fwbench.cli.progress import Progress

    claims = (described or {}).get("claims") or ()
    with Progress(len(tasks) + len(claims)) as progress, folder.locked(wait, progress.say):
        whole = _executed(folder, tasks, described, where, progress, as_json=as_json)
        if not folder.has_journal:
            return INTERRUPTED
        findings = _shown(folder, progress, report=report)
    if as_json:
        from fwbench.cli.show import as_text

        click.echo(as_text(findings))
    if not whole:
        return INTERRUPTED
    broke = findings.claims and not all(c["as_expected"] for c in findings.claims["claims"])
    return FAILED if findings.failed or broke else DONE


def _executed(
    folder: RunFolder,
    tasks: list[Task],
    described: dict[str, Any] | None,
    where: Where,
    progress: Progress,
    *,
    as_json: bool,
) -> bool:
    """Make the runs; return whether all were made."""
    from fwbench.cli.progress import stdout_alone
    from fwbench.session import execute

    command = shlex.join(["fwbench", *sys.argv[1:]])
    with where.executor() as executor, stdout_alone() if as_json else nullcontext():
        whole = execute(
            folder, tasks, described, command, progress.told, progress.claimed, executor,
            kept=progress.kept,
        )  # fmt: skip
    if progress.held:
        progress.say(f"{progress.held} of {len(tasks)} runs were there, and nothing has changed")
    if not whole:
        rest = f"fwbench run --resume --out {shlex.quote(str(folder.path))}"
        progress.say(f"interrupted; what was done is saved, {rest} does the rest")
    return whole


def _shown(folder: RunFolder, progress: Progress, *, report: bool) -> Findings:
    """Write tables and report, and say what was found."""
    from fwbench.findings import build, write_views
    from fwbench.report.terminal import terminal_summary
    from fwbench.report.write import write

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
    return findings
