"""Two sides compared: exact quantities first, then timings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fwbench.analysis import quantities, reached
from fwbench.analysis.changes import Change, Comparison, Found, Lone, Verdict
from fwbench.analysis.durations import timings, unlike_work
from fwbench.analysis.moves import moved
from fwbench.analysis.pairing import paired
from fwbench.analysis.reached import Interval, references
from fwbench.analysis.sides import Likeness, Run, Side, likeness
from fwbench.trace import Status

_SEVERITY = (Verdict.WORSE, Verdict.CHANGED, Verdict.BETTER, Verdict.SAME)


def compared(
    base: Side, new: Side, *, exact_only: bool = False, strict: bool = False
) -> Comparison:
    """Compare two sides.

    Parameters
    ----------
    base, new : Side
    exact_only : bool
        Leave timings out.
    strict : bool
        Count every change that is neither better nor worse as worse.

    Returns
    -------
    Comparison
        The same for the same runs in any order.
    """
    baseline = "baseline" in (base.source, new.source)
    pairing = paired(base.runs, new.runs)
    # a baseline keeps no repetitions, whose exact quantities are the same
    pairs = [p for p in pairing.pairs if not baseline or not p[0].row.get("repetition")]
    ends = [references(side) for side in (base, new)]
    changes: list[Change] = []
    tally: Counter[Likeness] = Counter()
    for a, b in pairs:
        how = likeness(base, new, a, b)
        tally[how] += 1
        mine = [found.get(run.row["instance"]) for found, run in zip(ends, (a, b), strict=True)]
        changes += (Change(a, b, how, found) for found in _found(a, b, how, *mine))
    places = {found: place for place, found in enumerate(_SEVERITY)}
    unlike, turns = [], []
    if pairing.lone_repetitions and not baseline:
        turns = [f"{pairing.lone_repetitions} repetitions stand on one side alone"]
    if not exact_only and (many := unlike_work(base, new, pairing.pairs)):
        unlike = [f"seconds of {many} are not compared: other ends, or other steps to them"]
    changes.sort(key=lambda change: (not change.found.bad, places[change.found.verdict]))
    return Comparison(
        base=base,
        new=new,
        matched=pairing.groups,
        compared=len(pairs),
        likeness=tuple(sorted(tally.items(), key=lambda item: list(Likeness).index(item[0]))),
        changes=tuple(changes),
        timings=None if exact_only else timings(base, new, pairing.pairs),
        missing=_worth(pairing.missing),
        added=pairing.added,
        notes=(*base.notes, *new.notes, *_notes(base, new), *turns, *unlike),
        strict=strict,
    )


def document(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data, every quantity whose two values differ included."""

    def named(run: Run) -> dict[str, Any]:
        names = ("instance", "instance_label", "solver", "solver_label", "params", "tol")
        return {name: run.row.get(name) for name in names}

    timings = [
        named(timing.run)
        | {
            name: getattr(timing, name)
            for name in ("what", "unit", "base", "new", "ratio", "low", "high", "pairs", "p",
                         "reason")
        }
        | {"verdict": str(timing.pace)}
        for timing in comparison.timings or ()
    ]  # fmt: skip
    return {
        "outcome": str(comparison.outcome),
        "exit": comparison.outcome.code,
        **{
            name: {"name": side.name, "source": side.source, **side.facts}
            for name, side in (("base", comparison.base), ("new", comparison.new))
        },
        "matched": comparison.matched,
        "compared": comparison.compared,
        "likeness": {how.name.lower(): count for how, count in comparison.likeness},
        "notes": list(comparison.notes),
        "changes": [
            named(change.base)
            | {
                "repetition": change.base.row.get("repetition"),
                "likeness": change.likeness.name.lower(),
            }
            | {
                name: getattr(change.found, name)
                for name in ("quantity", "base", "new", "band", "detail")
            }
            | {"verdict": str(change.found.verdict), "alarm": comparison.is_bad(change)}
            for change in comparison.changes
        ],
        "timings": None if comparison.timings is None else timings,
        "missing": [named(lone.run) | {"reason": lone.reason} for lone in comparison.missing],
        "new_runs": [named(lone.run) for lone in comparison.added],
    }


def _found(
    a: Run, b: Run, how: Likeness, base_ends: Interval | None, new_ends: Interval | None
) -> Iterator[Found]:
    """Yield what changed in a pair of runs, the gravest first."""
    if other := quantities.problem(a, b):
        yield other
        return
    if (ended := quantities.status(a, b, how)) is not None:
        yield ended
    if not (a.failed or b.failed):
        yield from _results(a, b, how, *_together(a, b, base_ends, new_ends))
    also = (quantities.parameters(a, b), quantities.budget(a, b))
    yield from filter(None, also)


def _results(
    a: Run, b: Run, how: Likeness, reference_low: float | None, finest: float
) -> Iterator[Found]:
    """Yield what changed in what two runs found, where neither failed."""
    ends = (
        moved(a, b, how),
        quantities.value(a, b, how),
        quantities.gap(a, b, how),
        quantities.rate(a, b, how),
        reached.steps(a, b, how),
    )
    yield from filter(None, ends)
    yield from reached.targets(a, b, how, reference_low, finest)
    yield from quantities.counts(a, b, how)
    if (course := quantities.path(a, b, how)) is not None:
        yield course


def _together(
    a: Run, b: Run, base: Interval | None, new: Interval | None
) -> tuple[float | None, float]:
    """Return the lower end of the intersection of two references, and the finest target it tells.

    A baseline's targets were read against its own reference: only those are judged to which the
    difference is small.
    """
    known = [interval for interval in (base, new) if interval is not None]
    if not known:
        return None, 0.0
    ends = max(low for low, _ in known), min(high for _, high in known)
    low = min(ends)  # rounding may make them cross
    if a.brackets is None and b.brackets is None:
        return low, 0.0
    return low, 10 * max(low - one for one, _ in known) / (a.row.get("scale") or 1.0)


def _worth(missing: tuple[Lone, ...]) -> tuple[Lone, ...]:
    """Leave out what was skipped in the base: nothing is lost with it."""
    return tuple(lone for lone in missing if lone.run.row.get("status") != Status.SKIPPED)


def _notes(base: Side, new: Side) -> Iterator[str]:
    digests = [side.facts.get("suite_digest") for side in (base, new)]
    suites = [side.facts.get("suite") for side in (base, new)]
    if suites[0] == suites[1] and None not in digests and digests[0] != digests[1]:
        yield f"the suite {suites[0]} is not what it was in {base.name}"
