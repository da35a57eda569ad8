"""What a solver answers: points of the hull, their weights, and claims that hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwbench import runner
from fwbench.contract.cases import HARD, PROBLEMS, Case, Subject
from fwbench.contract.rule import Inapplicable, Rule, Violation
from fwbench.endings import Budget
from fwbench.geometry.forms import Kind
from fwbench.judge import LOOSE, Judge
from fwbench.solver import Queries, Sampling, inside
from fwbench.trace import Status

SHORT = Budget(max_steps=60, max_seconds=5.0)
LONG = Budget(max_steps=5000, max_seconds=0.3)
FLOAT32 = 1e-5
ZERO = (
    "dividing by a difference that may be 0, or absolute instead of relative bounds: "
    "problem.scale, problem.radius and problem.tie are the units"
)
SEVERAL = ("convex, 3 queries", "concave, 3 queries", "general")
BROKEN = frozenset({Status.ERROR, Status.MEMORY, Status.CRASHED, Status.NONFINITE})


def _ended(case: Case, budget: Budget) -> Any:
    return runner.run(case.problem, case.one, case.entry, budget)


def _place(subject: Subject, trace: str | None) -> str:
    """Return the last line of the author's file that a traceback names."""
    own = [
        line.strip() for line in (trace or "").splitlines()
        if subject.file is not None and f'"{subject.file}"' in line
    ]  # fmt: skip
    if not own:
        return ""
    _, line, function = own[-1].split(", ")[-3:]
    return f", {function} ({subject.file.name if subject.file else ''} {line})"


def runs_on_its_kinds(subject: Subject) -> None:
    """Ask that on each kind that the entry names some variant runs, and ends without an error."""
    ran: set[Kind] = set()
    for case in subject.cases():
        done = _ended(case, SHORT)
        ran.add(case.problem.kind)
        if done.status in BROKEN:
            raise Violation(
                "a run that ends well",
                f"{done.status}: {done.reason}{_place(subject, done.traceback)}",
            )
    if missing := sorted(subject.entry.kinds - ran):
        raise Violation(
            f"runs on all kinds that it names, {', '.join(sorted(subject.entry.kinds))}",
            f"every variant refuses {', '.join(missing)}",
            "leave that kind out of ENTRY's kinds",
        )


def claims_hold(subject: Subject) -> None:
    """Ask that the judge agrees wherever the solver says optimal, to what the entry promises."""
    claimed = False
    for case in subject.cases():
        solver, model, state = case.begun()
        solver.advance(model, state, subject.steps(case))
        done = _ended(case, LONG)
        if done.status is Status.WRONG:
            raise Violation(
                f"the claim 'optimal' only within {max(LONG.tol, subject.entry.promise):g} of the "
                "scale",
                done.reason,
                "the test of the end is looser than ENTRY's promise, or asks another gap than "
                "the largest ⟨F(x), x − v⟩ over the atoms v",
            )
        claimed |= state.claim == "optimal"
    if not claimed:
        raise Inapplicable("it never calls itself optimal")


def points_are_shaped(subject: Subject) -> None:
    """Ask that row 0 is the start, points are (m, d) float64 and finite, weights name atoms."""
    for case in subject.cases():
        solver, model, state = case.begun()
        start = case.start
        expected = start.averages(case.problem.atoms[start.keys].astype(np.float64))
        for steps in (0, 1, 11):
            solver.advance(model, state, steps)
            points, wanted = state.points(), (start.m, case.problem.d)
            if not isinstance(points, np.ndarray) or points.shape != wanted:
                shape = getattr(points, "shape", type(points).__name__)
                raise Violation(
                    f"points of shape (m, d) = {wanted}",
                    f"{shape}",
                    "one query is a row too: x[None, :]",
                )
            if points.dtype != np.float64:
                raise Violation("points in float64", f"{points.dtype}", "points() rounds last")
            if not np.isfinite(points).all():
                raise Violation(f"finite points after {state.steps} steps", f"{points.ravel()[:4]}")
            _weighted(state, start.m, case.problem.n)
            if steps == 0:
                _at_start(case, points, expected)


def _at_start(case: Case, points: Any, expected: Any) -> None:
    rounding = 1e-7 if case.problem.dtype == np.float32 else 1e-13
    apart = np.abs(points - expected).max()
    if apart > rounding * np.abs(case.problem.atoms).max():
        raise Violation(
            f"the start {expected[0][:3]} before any step",
            f"{points[0][:3]}, {apart:.2g} away",
            "init must begin at start, which need not be an atom",
        )


def _weighted(state: Any, m: int, n: int) -> None:
    weights = state.weights()
    if weights is None:
        return
    if weights.m != m:
        raise Violation(f"weights of {m} queries", f"of {weights.m}")
    if weights.keys.size and not 0 <= weights.keys.min() <= weights.keys.max() < n:
        raise Violation(f"keys of atoms, 0 to {n - 1}", f"{weights.keys.min()} and up")


def points_stay_in_the_hull(subject: Subject) -> None:
    """Ask that weights are at least 0, sum to 1 and give the point, as the judge sees them."""
    tried = False
    for case in subject.cases():
        if not inside(case.entry, case.one):
            continue
        tried = True
        solver, model, state = case.begun()
        judge, foreign = Judge(case.problem), case.entry.sampling is not Sampling.ADVANCE
        rounding = FLOAT32 if case.problem.dtype == np.float32 else case.rounding
        allowed = max(rounding, LOOSE) if foreign else rounding
        for steps in (1, 1, 2, 5, max(subject.steps(case) - 9, 0)):
            solver.advance(model, state, steps)
            offset, weights = state.points() - case.problem.mean, state.weights()
            known = "the weights" if weights is not None else "any convex weights"
            weights = judge.found(offset) if weights is None else weights
            violated = judge.violation(offset, weights)
            if not violated <= allowed:
                least, sums = weights.data.min(initial=0.0), weights.sums()
                raise Violation(
                    f"points of the hull: {known} within {allowed:.0e} of convex weights of the "
                    f"point after {state.steps} steps",
                    f"{violated:.1e} (least weight {least:.1e}, sums {sums.min():.12g} to "
                    f"{sums.max():.12g})",
                    "a step above 1, weights and point that are moved by different steps, or a "
                    "projection left out; a method that leaves the hull by design says so in needs",
                )
    if not tried:
        raise Inapplicable("it leaves the hull by design")


def queries_are_as_declared(subject: Subject) -> None:
    """Ask that queries move together as alone; for Queries.ANY, that the start does not matter."""
    tried = False
    several = {name: make for name, make in PROBLEMS.items() if name in SEVERAL}
    for case in subject.cases(several):
        moving = getattr(case.one, "moving", False)
        if moving or "seed" in case.choice.arguments:
            continue  # tokens attend to each other; draws are keyed by the place of a query
        tried = True
        one = case.one
        model = one.prepare(case.problem)
        alone = []
        for q in range(case.problem.start.m):
            state = one.init(model, case.problem.start.one(q))
            one.advance(model, state, 25)
            alone.append(state.points())
        if subject.entry.queries is Queries.ANY:
            if len({points.tobytes() for points in alone}) > 1:
                raise Violation(
                    "the same answer from every start, for queries is ANY",
                    f"points that differ by {np.ptp(np.vstack(alone), axis=0).max():.2g}",
                    "queries=Queries.ONE, unless the start is never read",
                )
            continue
        solver, model, together = case.begun()
        solver.advance(model, together, 25)
        with np.errstate(invalid="ignore"):
            apart = np.abs(together.points() - np.vstack(alone)).max()
        if not apart <= max(case.rounding, 1e-12) * case.problem.radius:
            raise Violation(
                f"{len(alone)} queries together to move as each alone",
                f"points that differ by {apart:.2g}",
                "states of one model share an array, or a step is chosen for all at once; "
                "queries=Queries.ONE moves one at a time",
            )
    if not tried:
        raise Inapplicable("tokens that are keys, or draws, belong to their place among all")


def hard_inputs_are_survived(subject: Subject) -> None:
    """Try one atom, one dimension, repeated atoms, Q = 0, far from the origin, float32."""
    for case in subject.cases(HARD):
        solver, model, state = case.begun()
        solver.advance(model, state, 12)  # a run whose start is optimal takes no step
        if not np.isfinite(state.points()).all():
            raise Violation("finite points after 12 steps", f"{state.points().ravel()[:4]}", ZERO)
        done = _ended(case, SHORT)
        if done.status.is_failure:
            raise Violation(
                "a run that ends well",
                f"{done.status}: {done.reason}{_place(subject, done.traceback)}",
                ZERO,
            )


def refusals_are_sentences(subject: Subject) -> None:
    """Ask that `refuses` returns None, or the reason in words."""
    if not hasattr(subject.choices[0].entry.make, "refuses"):
        raise Inapplicable("it has no refuses")
    for choice in subject.choices:
        for name in PROBLEMS:
            case = Case(choice, PROBLEMS[name](), name)
            subject.at = case.called
            if case.problem.kind not in case.entry.kinds:
                continue
            reason = case.one.refuses(case.problem)
            if reason is not None and (not isinstance(reason, str) or len(reason.split()) < 3):
                raise Violation("None, or a sentence that says why", repr(reason))
    subject.at = ""


RUNS = Rule("runs", "it runs on the kinds that it names", runs_on_its_kinds)
RULES = (
    Rule("points", "points are (m, d), float64, finite; row 0 is the start", points_are_shaped),
    Rule("hull", "points stay in the hull, and weights are theirs", points_stay_in_the_hull),
    Rule("claims", "it claims to be optimal only where the judge agrees", claims_hold),
    Rule("queries", "several queries move as declared", queries_are_as_declared),
    Rule("hard inputs", "hard inputs of small size are survived", hard_inputs_are_survived),
    Rule("refuses", "refusals are sentences", refusals_are_sentences),
)
