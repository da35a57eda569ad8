"""What certificates and targets took: steps and oracle calls, as brackets.

Nothing is interpolated: a run that met a target at one look had not met it at the look before, and
the truth lies in between. Two brackets that share a number tell nothing apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fwbench.analysis.changes import Found, Verdict
from fwbench.analysis.sides import Bracket, Likeness, Run, Side
from fwbench.analysis.targets import TARGETS, brackets, measured, reference
from fwbench.trace import Status

STRETCH = 1.1  # steps of other machines may differ by a checkpoint
ALIKE = 1e-9  # targets and tolerances are written as decimals
Interval = tuple[float, float]


def steps(base: Run, new: Run, likeness: Likeness) -> Found | None:
    """Compare the steps that two converged runs took until they were certified."""
    both = [run.row.get("status") == Status.CONVERGED for run in (base, new)]
    a, b = base.row.get("steps"), new.row.get("steps")
    if not all(both) or a is None or b is None or a == b:
        return None
    verdict = _between(_end(base), _end(new), likeness)
    return Found("steps until certified", a, b, _band(likeness), verdict)


def _end(run: Run) -> tuple[int, int]:
    """Return the last look before a run was certified, and the steps it took."""
    k, taken = run.trace.get("k") or [], int(run.row["steps"])
    return (int(k[-2]) if len(k) > 1 and k[-1] == taken else taken - 1), taken


def targets(
    base: Run, new: Run, likeness: Likeness, reference_low: float | None, finest: float = 0.0
) -> Iterator[Found]:
    """Yield the targets that took other steps or oracle calls, read against one reference.

    A change inside one bracket is none. What a run was not asked for, a target below the tolerance
    at which it stopped, counts only where both met it.

    Parameters
    ----------
    reference_low : float or None
        Lower end of the reference that both sides together give, centred.
    finest : float
        The smallest target that is judged.
    """
    if not (base.graded and new.graded):
        return
    if likeness is Likeness.DIGITS and not (base.ended_well and new.ended_well):
        return
    low = reference_low if base.row.get("kind") == "convex" else None
    (measure, left), (other, right) = (taken(run, low) for run in (base, new))
    if measure != other:
        return
    asked = max(base.row.get("tol") or 0.0, new.row.get("tol") or 0.0)
    for target in TARGETS:
        a, b = left.get(target), right.get(target)
        if a is None or b is None or target < finest or (a.high is None and b.high is None):
            continue
        unasked = target < asked * (1 - ALIKE)
        if unasked and (likeness is Likeness.DIGITS or None in (a.high, b.high)):
            continue
        if (a.low, a.high) != (b.low, b.high):
            verdict = _between((a.low, a.high), (b.low, b.high), likeness)
            name = f"steps to {target:.0e}"
            yield Found(name, _span(a.low, a.high), _span(b.low, b.high), _band(likeness), verdict,
                        measure)  # fmt: skip
        calls = [(one.calls_low, one.calls_high) for one in (a, b)]
        counted = all(
            one.calls_high is not None or (one.high is None and one.calls_low is not None)
            for one in (a, b)
        )
        if counted and calls[0] != calls[1]:
            verdict = _between(calls[0], calls[1], likeness)
            yield Found(f"oracle calls to {target:.0e}", _span(*calls[0]), _span(*calls[1]),
                        _band(likeness), verdict, measure)  # fmt: skip


def references(side: Side) -> dict[str, Interval]:
    """Return the reference interval of each convex instance, centred, from all runs of a side."""
    if side.references:
        return dict(side.references)
    traces = defaultdict(list)
    for run in side.runs:
        judged = run.row.get("status") != Status.INFEASIBLE and run.trace.get("k")
        if run.row.get("kind") == "convex" and judged:
            traces[run.row["instance"]].append(run.trace)
    found = {}
    for instance, some in traces.items():
        low, high = reference("convex", some, None)
        if low is not None and high is not None:
            found[instance] = low, high
    return found


def taken(run: Run, reference_low: float | None) -> tuple[str, dict[float, Bracket]]:
    """Return what the accuracy of a run is read off, and what each target took."""
    if run.brackets is not None:
        return str(run.row.get("measure")), dict(run.brackets)
    trace = {name: list(values) for name, values in run.trace.items()}
    if run.once:  # the start of a direct method is none of its answers
        trace = {name: values[1:] for name, values in trace.items()}
    if not trace.get("k"):
        return "", {}
    known = trace["suboptimality"]
    if run.row.get("kind") == "concave" and not run.moving and any(v is not None for v in known):
        measure, column = "suboptimality", known
    else:
        measure, column = measured(trace, reference_low, moving=run.moving)
    calls = dict(zip(trace["k"], trace["lmo"], strict=True))
    return measure, {
        row["target"]: Bracket(
            row["k_low"], row["k_high"], calls.get(row["k_low"]), row["lmo_high"]
        )
        for row in brackets(trace, measure, column, run.row.get("scale") or 0.0)
    }


def _between(
    a: tuple[int | None, int | None], b: tuple[int | None, int | None], likeness: Likeness
) -> Verdict:
    """Judge two brackets: worse only if no number that lies in the first lies in the second."""
    stretch = STRETCH if likeness is Likeness.DIGITS else 1.0
    (a_low, a_high), (b_low, b_high) = a, b
    if b_low is not None and a_high is not None and b_low >= stretch * a_high:
        return Verdict.WORSE
    if a_low is not None and b_high is not None and a_low >= stretch * b_high:
        return Verdict.BETTER
    return Verdict.SAME


def _band(likeness: Likeness) -> str:
    if likeness is Likeness.DIGITS:
        return f"brackets that overlap, or are less than {100 * (STRETCH - 1):.0f} % apart"
    return "brackets that overlap"


def _span(low: int | None, high: int | None) -> str:
    """Write a bracket: not met at the one, met at the other.

    Examples
    --------
    >>> _span(16, 18), _span(16, 17), _span(None, 0), _span(1000, None)
    ('(16, 18]', '17', '0', '> 1000')
    """
    if high is None:
        return f"> {low}"
    return str(high) if low is None or low == high - 1 else f"({low}, {high}]"
