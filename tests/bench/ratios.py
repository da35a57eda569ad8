"""Print what the suite's own solvers reach, as ratios measured in one run: `make ratios`.

One thread; what is compared is timed in turns, and medians are divided. Ours counts from bare
arrays to the certified answer (`fw.solve`, the problem built inside), a foreign code from the same
arrays to its own answer (problem, prepare, init and advance of its solver file); whether it came to
the gap is judged off the clock. Where lowered arrays are named, set-up does not count.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import fwbench as fw
from fwbench import catalog, suite
from fwbench.analysis import goals
from fwbench.runner import Budget, misfit, run
from fwbench.warm import limited_threads
from fwbench.yardsticks import pricing_pass

from .turns import (
    EXACT,
    Call,
    Instances,
    Turns,
    certified,
    foreign,
    in_a_row,
    ours,
    quickest,
    shown,
    solved,
    solver,
    stepped,
)  # fmt: skip

DUALS = ("daqp_dual", "quadprog_dual")
FAMILY = ("frank_wolfe[step=exact]", "away_steps", "pairwise", "blended_pairwise", "pair_descent")
SMALL = (
    "min_norm_point[n=300,d=20,shift=0.6]", goals.OUTSIDE, goals.INSIDE, goals.FACE,
    "min_norm_point[n=1000,d=50,shift=0.4,condition=1e6]", "near_duplicates[n=1000,d=50]",
)  # fmt: skip
LARGE = (goals.TALL, "min_norm_point[n=10000,d=100]", goals.TALLER, goals.BALL)
TIMED = (2e-3, 1.0)  # seconds of the runs whose trace is held against one call
WORTH = 1e-3  # seconds: a choice between solvers that are all faster than this gains little
WARM = 20  # units are timed in a row, as methods make their steps: not from cold caches
AT_REST = 1e-14  # of the scale
GIVE_UP = 4.0  # times the best so far: who needs longer is no rival


@dataclass(frozen=True)
class Line:
    """A row of the table; without a bound it is only printed."""

    what: str
    where: str
    measured: float | None
    detail: str
    at_least: float | None = None
    at_most: float | None = None

    def __str__(self) -> str:
        bound = f"≥ {self.at_least:g}" if self.at_least is not None else ""
        bound = f"≤ {self.at_most:g}" if self.at_most is not None else bound
        measured = "–" if self.measured is None else f"{self.measured:.3g}"
        cells = (self.what, self.where, bound, measured, self.met, self.detail)
        return f"| {' | '.join(cells)} |"

    @property
    def met(self) -> str:
        """Whether the bound is kept."""
        if self.measured is None:
            return "not measured"
        if self.at_least is not None:
            return "yes" if self.measured >= self.at_least else "**no**"
        if self.at_most is not None:
            return "yes" if self.measured <= self.at_most else "**no**"
        return "printed"


def against_cvxpy(built: Instances, turns: Turns) -> Iterator[Line]:
    """Hold cvxpy with Clarabel against us, at the gap that it comes to by default."""
    for where, bound in ((goals.OUTSIDE, 300), (goals.INSIDE, 150), (goals.TALL, 2000)):
        found = _over_ours(("cvxpy_reference",), built, turns, where, None)
        yield Line("cvxpy + Clarabel / ours, to its own accuracy", where, *found, at_least=bound)


def against_duals(built: Instances, turns: Turns) -> Iterator[Line]:
    """Hold active-set codes on the dual, with d variables, against us."""
    rows = ((goals.OUTSIDE, 2), (goals.TALL, 8), (goals.TALLER, 8), (goals.BALL, 10))
    for where, bound in rows:
        found = _over_ours(DUALS, built, turns, where, EXACT)
        yield Line("best dual QP / ours, to 1e-12", where, *found, at_least=bound)


def against_nnls(built: Instances, turns: Turns) -> Iterator[Line]:
    """Hold non-negative least squares against us, on every instance."""
    for where, some, bound in (("n ≤ 1000", SMALL, 5), ("n ≥ 10000", LARGE, 25)):
        each = {text: _over_ours(("scipy_nnls",), built, turns, text, EXACT) for text in some}
        known = {text: (value, said) for text, (value, said) in each.items() if value is not None}
        if known:
            least = min(known, key=lambda text: known[text][0])
            detail = f"least of {len(known)}, on {least}: {known[least][1]}"
            measured = known[least][0]
        else:
            measured, detail = None, "no answer"
        yield Line("scipy NNLS / ours, to 1e-12", where, measured, detail, at_least=bound)


def _over_ours(
    texts: tuple[str, ...], built: Instances, turns: Turns, where: str, target: float | None
) -> tuple[float | None, str]:
    """Return the quickest foreign code over our best, at a gap, and who they are."""
    problem = built(where)
    calls: dict[str, Call] = {}
    gap = target or EXACT
    for text in texts:
        if (found := foreign(text, problem, target)) is not None:
            calls[text] = found[0]
            gap = target or max(found[1], EXACT)
    mine = ours(problem, gap) if calls else {}
    if not mine:
        return None, f"{' and '.join(texts) if not calls else 'ours'} did not come to {gap:.0e}"
    times = turns.medians({**calls, **mine})
    them, us = quickest(times, calls), quickest(times, mine)
    said = f"{them} {shown(times[them])}, {us} {shown(times[us])}, to {gap:.0e}"
    return times[them] / times[us], said


def in_passes(built: Instances, turns: Turns) -> Iterator[Line]:
    """Take our time to 1e-12 in pricing passes: scores and their leaders, nothing stored."""
    rows = (
        (goals.BALL, 3, 7),
        (goals.TALLER, 8, 12),
        (goals.TALL, 14, 20),
        (goals.FACE, 100, None),
    )
    for where, from_lowered, whole in rows:
        problem = built(where)
        kernels: dict[str, Call] = {}
        mine = ours(problem, EXACT)
        for text in mine.keys() - {"auto"}:
            _, made = solver(text, EXACT)
            steps = fw.solve(problem, text, EXACT).steps
            call = partial(stepped, made, made.prepare(problem), problem, steps)
            if certified(problem, call()) <= EXACT:
                kernels[f"kernel of {text}"] = call
        passes = partial(in_a_row, pricing_pass(problem), WARM)
        times = turns.medians({"pass": passes, **mine, **kernels})
        times["pass"] /= WARM
        for some, bound, how in (
            (kernels, from_lowered, "from lowered arrays"),
            (mine, whole, "through fw.solve"),
        ):
            what = f"ours to 1e-12 / one pricing pass, {how}"
            if not some:
                yield Line(what, where, None, "none came there", at_most=bound)
                continue
            best = quickest(times, some)
            detail = f"{best} {shown(times[best])}, a pass {shown(times['pass'])}"
            yield Line(what, where, times[best] / times["pass"], detail, at_most=bound)


def cached_steps(built: Instances, turns: Turns) -> Iterator[Line]:
    """Time later steps of methods that have met their vertices: every column is there.

    Q is ill-conditioned: few vertices, and many steps from one to the next before the answer.
    """
    before, counted = (20, 20) if built.quick else (2000, 200)
    for where, bound in zip(goals.STEEP, (0.08, 0.05, 0.02), strict=True):
        problem = built(where)
        product = partial(np.matmul, problem.atoms, np.ones(problem.d))
        products = partial(in_a_row, product, WARM)
        calls, states = dict[str, Call](), dict[str, Any]()
        for text in FAMILY:
            entry, made = solver(text, EXACT)
            if misfit(entry, made, problem) is None:
                model = made.prepare(problem)
                states[text] = stepped(made, model, problem, before)
                calls[text] = partial(made.advance, model, states[text], counted)
        times = turns.medians({"V g": products, **calls})
        times["V g"] /= WARM
        # a method that has come to rest takes no real steps
        moving = [text for text in calls if certified(problem, states[text]) > AT_REST]
        ratios = {text: times[text] / counted / times["V g"] for text in moving or calls}
        detail = ", ".join(f"{text} {value:.3f}" for text, value in ratios.items())
        what = "cached step of the Frank-Wolfe family / numpy's V g, the dearest"
        yield Line(what, where, max(ratios.values()), detail, at_most=bound)


def wide(built: Instances, turns: Turns) -> Iterator[Line]:
    """Hold a solve with more dimensions than atoms against the Gram matrix alone."""
    problem = built(goals.WIDE)
    mine, atoms = ours(problem, EXACT), problem.atoms
    gram = partial(np.matmul, atoms, atoms.T)
    times = turns.medians({"Gram": gram, **mine}, rounds=3)
    what = "ours to 1e-12 / bare Gram product"
    if not mine:
        yield Line(what, goals.WIDE, None, "none came there", at_most=2)
        return
    best = quickest(times, mine)
    detail = f"{best} {shown(times[best])}, V V' {shown(times['Gram'])}"
    yield Line(what, goals.WIDE, times[best] / times["Gram"], detail, at_most=2)


def recording(built: Instances, turns: Turns) -> Iterator[Line]:
    """Hold the clock of traced runs against one call of the same steps."""
    for where, some, bound in (("n = 1000", SMALL[1:], 1.5), ("n ≥ 10000", LARGE[:3], 1.1)):
        ratios = []
        for text in some:
            for name in (*FAMILY, "projected_gradient"):
                entry, made = solver(name, 1e-8)
                done = run(built(text), made, entry, Budget(max_steps=20_000, max_seconds=1.0))
                whole = done.row.get("seconds") or 0.0
                long = TIMED[0] <= whole <= TIMED[1] or (built.quick and whole > 0)
                if long and done.row["seconds_from"] == "run":
                    ratios.append(done.trace.last("seconds") / whole)
        measured = median(ratios) if ratios else None
        detail = f"median of {len(ratios)} runs, largest {max(ratios, default=0.0):.2f}"
        yield Line("seconds of a trace / of one call", where, measured, detail, at_most=bound)


def choosing(built: Instances, turns: Turns) -> Iterator[Line]:
    """Hold `auto` against every own solver of the suite `scaling`, on each of its instances."""
    tried: dict[str, tuple[float, str]] = {}
    for block in suite.load("scaling").blocks:
        tol = block.limits.get("tol", 1e-8)
        own = [text for text in block.solvers or () if solver(text, tol)[0].library is None]
        choices = [one for text in block.problems for one in catalog.choices("problems", text)]
        for choice in choices[: 1 if built.quick else None]:
            problem, once = built(choice.text), dict[str, float]()
            for text in own:
                limit = max(GIVE_UP * min(once.values(), default=15.0), 0.01)
                call = partial(solved, problem, text, tol, max_seconds=limit)
                call()  # compiled by now
                begun = perf_counter()
                if call().gap_relative <= tol:
                    once[text] = perf_counter() - begun
            near = {text for text, taken in once.items() if taken < 2 * min(once.values())}
            calls = {text: partial(solved, problem, text, tol) for text in sorted(near | {"auto"})}
            times = turns.medians(calls, rounds=5)
            best = quickest(times, calls)
            if times[best] > WORTH or built.quick:
                said = f"{best} {shown(times[best])} on {choice.label}"
                tried[choice.label] = (times["auto"] / times[best], said)
    measured, said = max(tried.values(), default=(None, "none"))
    detail = f"worst of {len(tried)} instances: {said}"
    yield Line("auto / the best solver of `scaling`", "above 1 ms", measured, detail, at_most=1.3)


def memory(built: Instances, turns: Turns) -> Iterator[Line]:
    """Measure the peak of a process of its own, beyond what the atoms take."""
    where = "ball[n=20000]" if built.quick else goals.BALL
    name = fw.solve(built(goals.BALL)).solver
    script = Path(__file__).with_name("peak.py")
    done = subprocess.run(
        [sys.executable, str(script), name, where], capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    parts: list[Any] = done.stdout.split() if done.returncode == 0 else [None, None]
    for what, part, bound in zip(("solver", "judge"), parts, (2.5, 0.2), strict=True):
        measured = None if part is None else float(part)
        what = f"memory beyond the atoms / the atoms: {what}"
        yield Line(what, where, measured, f"{name}, a process of its own", at_most=bound)


PARTS: tuple[Callable[[Instances, Turns], Iterator[Line]], ...] = (
    against_cvxpy, against_duals, against_nnls, in_passes, cached_steps, wide, recording, choosing,
    memory,
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Print the table; what is not reached stands in it."""
    parser = argparse.ArgumentParser(prog="ratios", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that all runs")
    parser.add_argument("--only", nargs="+", choices=[part.__name__ for part in PARTS])
    asked = parser.parse_args(arguments)
    built = Instances(quick=asked.quick)
    turns = Turns(rounds=2, seconds=0.1) if asked.quick else Turns()
    begun = perf_counter()
    print("| ratio | where | bound | measured | met | how |\n|---|---|---|---|---|---|")
    with limited_threads(1):
        for part in PARTS:
            if asked.only is None or part.__name__ in asked.only:
                for line in part(built, turns):
                    print(line, flush=True)
    print(f"{perf_counter() - begun:.0f} s in all", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
