"""The exact quantities of two runs compared: no clock is in them, so no noise either.

Bands are widths within which two values count as the same. How sharp they are depends on where
the runs were made: see `Likeness`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from fwbench.analysis.changes import Found, Verdict
from fwbench.analysis.sides import Likeness, Run
from fwbench.trace import Status

ROUNDING = 1e-9  # of the scale: values of other versions or machines that differ by less are equal
SHARE = 0.01  # by which a gap, or a suboptimality at equal k, may differ
TINY, TIMES = 1e-12, 10.0  # gaps of direct methods: what is below is rounding; a factor
BRIEF = 0.1  # a run that took a tenth of a time limit did not come near it

_RANKS = {
    **dict.fromkeys((Status.CONVERGED, Status.FINISHED), 3),
    **dict.fromkeys((Status.BUDGET, Status.TIMEOUT, Status.STALLED), 2),
    Status.SKIPPED: 1,
}  # all else has failed: 0
_CLASSES = ("none", "sublinear", "linear", "superlinear", "finite")  # slowest first
_COUNTS = {"lmo": "oracle calls", "gradient": "gradients", "matvec": "products"}


def problem(base: Run, new: Run) -> Found | None:
    """Say whether an instance of one name is not the problem it was: then nothing is comparable."""
    for name in ("kind", "n", "d", "queries", "scale"):
        a, b = base.row.get(name), new.row.get(name)
        if a is None or b is None or a == b:
            continue
        if name == "scale" and abs(a - b) <= ROUNDING * max(a, b):
            continue
        return Found(
            f"instance, its {name}", a, b, "equal", Verdict.CHANGED,
            "another problem under one name: nothing else is compared", alarm=True,
        )  # fmt: skip
    return None


def parameters(base: Run, new: Run) -> Found | None:
    """Say whether runs that were matched by their labels differ in what these leave out."""
    a, b = (f"{run.key.solver}[{run.key.params}]" for run in (base, new))
    if a != b:
        return Found("parameters", a, b, "equal", Verdict.CHANGED)
    a, b = base.key.instance, new.key.instance
    if a != b:
        return Found("instance, its parameters", a, b, "equal", Verdict.CHANGED)
    return None


def budget(base: Run, new: Run) -> Found | None:
    """Say whether two runs were given unlike limits."""
    a, b = (
        ", ".join(f"{run.row[n]:g} {unit}" for n, unit in _LIMITS.items() if run.row.get(n))
        for run in (base, new)
    )
    return Found("budget", a, b, "equal", Verdict.CHANGED) if a and b and a != b else None


_LIMITS = {"max_steps": "steps", "max_seconds": "s"}


def status(base: Run, new: Run, likeness: Likeness) -> Found | None:
    """Compare how two runs ended: well, unfinished, skipped or failed, best first."""
    a, b = base.row.get("status"), new.row.get("status")
    if a is None or b is None or (a == b and base.failed == new.failed):
        return None
    ranks = [_rank(run) for run in (base, new)]
    if {a, b} == {Status.BUDGET, Status.TIMEOUT} and 0 not in ranks:
        ranks = [rank - (run.row["status"] == Status.TIMEOUT)
                 for rank, run in zip(ranks, (base, new), strict=True)]  # fmt: skip
    verdict = _less_is_worse(*ranks)
    detail = ""
    slow, quick = (base, new) if ranks[0] < ranks[1] else (new, base)
    took_all = quick.ended_well or quick.row["status"] == Status.BUDGET
    if slow.row["status"] == Status.TIMEOUT and not slow.failed and took_all:
        limit, taken = slow.row.get("seconds") or 0.0, quick.row.get("seconds") or 0.0
        if likeness is Likeness.DIGITS or taken > BRIEF * limit:
            verdict, detail = Verdict.CHANGED, "the time limit decides, and the pace of the machine"
    if verdict is Verdict.WORSE:
        detail = str(new.row.get("reason") or "")
    band = "converged or finished > budget, stalled, a timeout > skipped > failed"
    return Found("status", a, b, band, verdict, detail)


def _rank(run: Run) -> int:
    return 0 if run.failed else _RANKS.get(Status(run.row["status"]), 0)


def gap(base: Run, new: Run, likeness: Likeness) -> Found | None:
    """Compare the certified gaps at the end, of the scale; for keys moving those to the keys."""
    name = "gap to the current keys" if base.moving or new.moving else "certified gap"
    a, b = (final_gap(run) for run in (base, new))
    if a is None or b is None or a == b:
        return None
    if Status.TIMEOUT in (base.row["status"], new.row["status"]):
        return None  # where a clock cut it short
    if not (base.ended_well or new.ended_well) and (
        likeness is Likeness.DIGITS or base.row.get("steps") != new.row.get("steps")
    ):
        return None
    tol = max(base.row.get("tol") or 0.0, new.row.get("tol") or 0.0)
    direct = Status.FINISHED in (base.row["status"], new.row["status"])
    if direct:
        band = f"a factor of {TIMES:g}, or below {TINY:g}"
        outside = max(a, b) > TIMES * max(min(a, b), TINY)
    elif base.ended_well and new.ended_well:
        band, outside = f"at most the tolerance {tol:g}", max(a, b) > tol
    else:
        band, outside = f"{100 * SHARE:g} %", max(a, b) > (1 + SHARE) * min(a, b)
    verdict = _less_is_worse(b, a) if outside else Verdict.SAME
    return Found(name, a, b, band, verdict)


def final_gap(run: Run) -> float | None:
    """Return the gap on which a run stops, at its end and of the scale; None where unknown."""
    scale = run.row.get("scale")
    if not run.moving:
        return _finite(run.row.get("gap_relative"))
    last = run.last("gap_current")
    return None if last is None or not scale else float(last) / scale


def value(base: Run, new: Run, likeness: Likeness) -> Found | None:
    """Compare the values at which two runs ended; of unfinished ones at their last equal k.

    From runs of other machines only values of runs that ended well are compared.
    """
    scale = base.row.get("scale")
    if not scale:
        return None
    where, allowed = "", ROUNDING * scale
    if base.ended_well and new.ended_well:
        a, b = (_finite(run.row.get("value_centred")) for run in (base, new))
        tol = max(ROUNDING, base.row.get("tol") or 0.0, new.row.get("tol") or 0.0)
        allowed, band = tol * scale, f"{tol:g} of the scale"
    elif likeness is not Likeness.DIGITS and (common := _common(base, new)):
        k, i, j = common[-1]
        a, b = _at(base, "value_centred", i), _at(new, "value_centred", j)
        left = [_at(run, "suboptimality", at) or 0.0 for run, at in ((base, i), (new, j))]
        allowed = max(allowed, SHARE * max(left))
        band = f"{ROUNDING:g} of the scale, or {100 * SHARE:g} % of what was left"
        where = f"at k = {k}"
    else:
        return None
    if a is None or b is None or a == b:
        return None
    verdict = _less_is_worse(b, a) if abs(a - b) > allowed else Verdict.SAME
    said = f"{(b - a) / scale:+.2g} of the scale"
    return Found("value", a, b, band, verdict, f"{where}, {said}".removeprefix(", "))


def path(base: Run, new: Run, likeness: Likeness) -> Found | None:
    """Say whether the path has changed: the values at equal k, of fields the gaps.

    On one machine with the same versions the bits are compared, else within 10⁻⁹ of the scale. It
    is neither better nor worse by itself.
    """
    scale = base.row.get("scale")
    if not scale:
        return None
    name = next(
        (
            column
            for column in ("value_centred", "gap_current", "gap")
            if any(v is not None for run in (base, new) for v in run.trace.get(column, ()))
        ),
        None,
    )
    if name is None:
        return None
    allowed = 0.0 if likeness is Likeness.BITS else ROUNDING * scale
    first: tuple[int, Any, Any] | None = None
    largest = 0.0
    for k, i, j in _common(base, new):
        a, b = _at(base, name, i), _at(new, name, j)
        if a == b or (a is not None and b is not None and abs(a - b) <= allowed):
            continue
        first = first or (k, a, b)
        largest = max(largest, math.inf if a is None or b is None else abs(a - b) / scale)
    if first is None:
        return None
    small = " (rounding)" if largest <= ROUNDING else ""
    what = "value" if name == "value_centred" else "gap"
    band = "same bits" if likeness is Likeness.BITS else f"{ROUNDING:g} of the scale"
    most = "one has none" if largest == math.inf else f"at most {largest:.2g} of the scale{small}"
    detail = f"first at k = {first[0]}, {most}"
    return Found(f"{what} at equal k", first[1], first[2], band, Verdict.CHANGED, detail)


def counts(base: Run, new: Run, likeness: Likeness) -> Iterator[Found]:
    """Yield the calls that are not as many as they were at the last equal k."""
    common = _common(base, new)
    if likeness is Likeness.DIGITS or not common:
        return
    k, i, j = common[-1]
    for column, name in _COUNTS.items():
        a, b = _at(base, column, i), _at(new, column, j)
        if a is not None and b is not None and a != b:
            yield Found(f"{name} at equal k", a, b, "equal", _less_is_worse(b, a), f"at k = {k}")


def rate(base: Run, new: Run, likeness: Likeness) -> Found | None:
    """Compare rate classes; what is undetermined, or was, is judged neither way."""
    a, b = base.row.get("rate_class"), new.row.get("rate_class")
    if a is None or b is None or a == b:
        return None
    known = a in _CLASSES and b in _CLASSES
    if likeness is Likeness.DIGITS and not (base.ended_well and new.ended_well):
        known = False
    verdict = _less_is_worse(_CLASSES.index(a), _CLASSES.index(b)) if known else Verdict.CHANGED
    return Found("rate class", a, b, "equal", verdict)


def _common(base: Run, new: Run) -> list[tuple[int, int, int]]:
    """Return each k that both traces have, with its place in them; in order."""
    there = {k: j for j, k in enumerate(new.trace.get("k", ()))}
    return [(k, i, there[k]) for i, k in enumerate(base.trace.get("k", ())) if k in there]


def _at(run: Run, column: str, place: int) -> Any:
    values = run.trace.get(column)
    return None if values is None else values[place]


def _finite(number: Any) -> float | None:
    return float(number) if number is not None and math.isfinite(number) else None


def _less_is_worse(base: float, new: float) -> Verdict:
    if new == base:
        return Verdict.CHANGED
    return Verdict.WORSE if new < base else Verdict.BETTER
