"""Judge a change against what it started from, in one sitting: ``fwbench gate``."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from fwbench.cli.shown import Ways, show, ways

TRIALS, WELL = 150, 0
LONGEST = 86_400.0  # seconds


@click.command()
@click.argument("suite", required=False)
@click.option("--base", metavar="REF",
              help="A git revision, a wheel, a Python interpreter or its environment.")  # fmt: skip
@click.option("-s", "--solver", "solvers", multiple=True, metavar="SOLVER",
              help="As in fwbench run; repeatable.")  # fmt: skip
@click.option("-p", "--problem", "problems", multiple=True, metavar="PROBLEM",
              help="As in fwbench run; repeatable.")  # fmt: skip
@click.option("--tol", type=float, help="Relative tolerance. Default: 1e-8.")
@click.option("--max-steps", type=int, help="Steps of one run. Default: 10000.")
@click.option("--max-seconds", type=float, help="Seconds of one run. Default: 10.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1),
              help="Of instances without one, and of the order of the pairs.")  # fmt: skip
@click.option("--only", type=click.Choice(["exact"]), help="Time nothing.")
@click.option("--seconds", type=float,
              help="For all timings together. Default: 300.")  # fmt: skip
@click.option("--strict", is_flag=True,
              help="What has changed, neither better nor worse, counts as worse.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR",
              help="Keep the run folders of both sides there.")  # fmt: skip
@click.option("--aa", is_flag=True,
              help="Compare nothing: measure how often the gate errs on this machine.")  # fmt: skip
@click.option("--trials", type=click.IntRange(min=1), metavar="N",
              help=f"With --aa: of the same code. Default: {TRIALS}.")  # fmt: skip
@ways
def gate(
    suite: str | None,
    base: str | None,
    solvers: tuple[str, ...],
    problems: tuple[str, ...],
    tol: float | None,
    max_steps: int | None,
    max_seconds: float | None,
    seed: int | None,
    only: str | None,
    seconds: float | None,
    strict: bool,
    out: Path | None,
    aa: bool,
    trials: int | None,
    as_json: bool,
    markdown: str | None,
    rows: int,
    html: Path | None,
) -> int:
    """Say whether this code is slower, less exact, or at different fixed points than its base.

    Both versions run SUITE, or solvers on problems (without either, the suite quick), each with a
    kernel cache of its own. Exact results are compared first; then both are timed in turns, in
    pairs of random order. Ends with 0 if everything is the same or better, with 1 if anything is
    worse, with 3 if that cannot be told.
    """
    asked = Ways(as_json, markdown, rows, html)
    if aa == (base is not None):
        slip = f"; {suite!r} stands for a suite, a revision is --base {suite}" if suite else ""
        raise click.UsageError(
            "gate needs --base REF, or --aa; got " + ("both" if aa else f"neither{slip}")
        )
    if suite and problems:
        raise click.UsageError("give a SUITE or -p, not both")
    limits = {"--tol": tol, "--max-steps": max_steps, "--max-seconds": max_seconds}
    given = {name: repr(value) for name, value in limits.items() if value is not None}
    if aa:
        others = (suite, only, strict, out, markdown, html, seconds, given)
        if any(others) or max(len(solvers), len(problems)) > 1:
            raise click.UsageError(
                "--aa measures the machine: it takes --trials, --seed, --json, one -s and one -p"
            )
        return _trials(problems, solvers, trials or TRIALS, seed or 0, as_json=as_json)
    if trials is not None:
        raise click.UsageError("--trials goes with --aa")
    if seconds is not None and not 0 < seconds <= LONGEST:
        raise click.UsageError(f"--seconds must lie in (0, {LONGEST:g}]; got {seconds:g}")
    if only and seconds is not None:
        raise click.UsageError("--only exact times nothing: it takes no --seconds")
    given |= {} if seed is None else {"--seed": str(seed)}
    words = [*([suite] if suite else []), *(part for pair in given.items() for part in pair)]
    return _gated(
        str(base), words, problems, solvers, out, asked,
        exact_only=only is not None, strict=strict, seconds=seconds, seed=seed or 0,
    )  # fmt: skip


def _gated(
    base: str,
    words: list[str],
    problems: tuple[str, ...],
    solvers: tuple[str, ...],
    out: Path | None,
    asked: Ways,
    *,
    exact_only: bool,
    strict: bool,
    seconds: float | None,
    seed: int,
) -> int:
    from fwbench.cli.progress import Progress
    from fwbench.gating.code import both, inside
    from fwbench.gating.exact import Question
    from fwbench.gating.gate import SECONDS, Terms, gated
    from fwbench.interruption import Interruption

    here = Path.cwd()
    # a SIGTERM too leaves nothing behind
    with Interruption(raises=True), Progress(0) as progress, _room(out) as room:
        progress.say("building both sides")
        terms = Terms(exact_only, strict, seconds or SECONDS, seed, progress.say)
        with both(base, here, (*problems, *solvers)) as (old, new):
            named = [("-p", text) for text in inside(problems, here)]
            named += [("-s", text) for text in inside(solvers, here)]
            question = Question(tuple(words), tuple(named))
            comparison = gated(old, new, question, room, terms)
        show(comparison, asked)
    return comparison.outcome.code


@contextmanager
def _room(out: Path | None) -> Iterator[Path]:
    """Give a folder for the results: the user's, or one that is gone at the end.

    Raises
    ------
    RunFolderError
        The user's holds something already, or cannot be made.
    """
    from fwbench.disk import failing
    from fwbench.errors import RunFolderError

    if out is None:
        with tempfile.TemporaryDirectory(prefix="fwbench-gate-") as made:
            yield Path(made)
        return
    with failing(out, "made"):
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise RunFolderError(f"{out} is not empty; choose another folder for --out")
    yield out.resolve()


def _trials(
    problems: tuple[str, ...], solvers: tuple[str, ...], trials: int, seed: int, *, as_json: bool
) -> int:
    import numpy as np

    from fwbench.cli.progress import Progress
    from fwbench.gating import trials as trying
    from fwbench.gating.code import inside, twice
    from fwbench.interruption import Interruption
    from fwbench.plain import plain

    here = Path.cwd()
    problem, solver = (*problems, trying.PROBLEM)[0], (*solvers, trying.SOLVER)[0]
    problem, solver = inside((problem, solver), here)
    cell = trying.cell(problem, solver)  # a slip is said before anything is built
    slowed = max(1, round(trials * trying.SLOWED / trying.TRIALS))
    with Interruption(raises=True), Progress(0) as progress:
        progress.say("building the same code twice")
        with twice(here, (problem, solver)) as (base, new):
            table = trying.aa(
                base, new, cell, trials, np.random.default_rng(seed), slowed=slowed,
                told=progress.say,
            )  # fmt: skip
    click.echo(json.dumps(plain(table.document()), indent=1) if as_json else table.text)
    return WELL
