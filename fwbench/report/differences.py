"""A comparison in words: which lines are shown, in what order, and how two values look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fwbench.analysis.changes import Change, Comparison, Lone, Outcome, Pace, Timing, Verdict
from fwbench.analysis.sides import Likeness, Run, Side
from fwbench.errors import visible
from fwbench.report import words

LONGEST = 120  # letters of a text among values
WHOLE = 1e15  # whole numbers below are counts, and every float of them is exact
FAMILIES = ("steps to ", "oracle calls to ")  # a line for all targets of a run
SHARPNESS = {
    Likeness.BITS: "values at equal k are compared bit by bit",
    Likeness.DIGITS: "only what has converged is judged, values at equal k to 1e-9 of the scale",
}
MARKS = {"worse": "worse", "changed": "changed", "better": "better", "same": "within its band"}


@dataclass(frozen=True)
class Line:
    """What changed in one quantity of a solver on an instance.

    Attributes
    ----------
    verdict : Verdict
    bad : bool
        Whether it makes the comparison end as worse.
    solver, instance, quantity, base, new, band, detail : str
    """

    verdict: Verdict
    bad: bool
    solver: str
    instance: str
    quantity: str
    base: str
    new: str
    band: str
    detail: str

    @property
    def said(self) -> str:
        """The verdict; of what is neither better nor worse, that it counts all the same."""
        alarm = self.bad and self.verdict is not Verdict.WORSE
        return f"{MARKS[self.verdict]} (alarm)" if alarm else MARKS[self.verdict]


def lines(comparison: Comparison) -> list[Line]:
    """Return a line for each quantity that changed, the gravest first.

    Targets of one run share a line, that of the finest one; so do repetitions.
    """
    groups: dict[tuple[Any, ...], list[Change]] = {}
    for change in comparison.changes:
        name = change.found.quantity
        family = next((one for one in FAMILIES if name.startswith(one)), name)
        bad = comparison.is_bad(change)
        groups.setdefault((change.base.key, family, change.found.verdict, bad), []).append(change)
    several = _tolerances([change.base for change in comparison.changes])
    return [_line(family, bad, some, several) for (_, family, _, bad), some in groups.items()]


def _line(family: str, bad: bool, some: list[Change], several: bool) -> Line:
    shown = some[-1]  # targets come from the coarsest to the finest
    found = shown.found
    quantities = dict.fromkeys(change.found.quantity for change in some)
    turns = len({change.base.row["repetition"] for change in some})
    more = len(quantities) - 1
    also = [f"and {more} more {'target' if more == 1 else 'targets'}"] if more else []
    also += [f"in {turns} repetitions"] if turns > 1 else []
    base, new = both(found.base, found.new)
    return Line(
        verdict=found.verdict,
        bad=bad,
        solver=solver(shown.base, several),
        instance=instance(shown.base),
        quantity=found.quantity,
        base=base,
        new=new,
        band=found.band,
        detail=visible(", ".join(part for part in (found.detail, *also) if part)),
    )


def _tolerances(runs: Iterable[Run]) -> bool:
    """Say whether solvers ran at several tolerances, so that their names have to tell."""
    seen: dict[tuple[Any, ...], set[Any]] = {}
    for run in runs:
        seen.setdefault(run.key[:3], set()).add(run.key.tol)
    return any(len(found) > 1 for found in seen.values())


def solver(run: Run, several: bool = False) -> str:
    """Name the solver of a run, at its tolerance where there are several."""
    name = visible(str(run.row["solver_label"]))
    return f"{name} at {words.power(run.key.tol)}" if several and run.key.tol else name


def instance(run: Run) -> str:
    """Name the instance of a run."""
    return visible(str(run.row["instance_label"]))


def both(a: Any, b: Any) -> tuple[str, str]:
    """Format two values with as many digits as it takes to tell them apart, counts with all.

    Examples
    --------
    >>> both(1.0, 1.0000001), both("face", None), both(1300, 1184)
    (('1', '1.0000001'), ('face', '–'), ('1300', '1184'))
    """
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    if numbers and a != b:
        if all(float(value).is_integer() and abs(value) < WHOLE for value in (a, b)):
            return f"{a:.0f}", f"{b:.0f}"
        for digits in range(3, 18):
            shown = f"{a:.{digits}g}", f"{b:.{digits}g}"
            if shown[0] != shown[1]:
                return shown
    first, second = (_cut(visible(words.text(value))) for value in (a, b))
    return first, second


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def sections(comparison: Comparison) -> list[tuple[str, list[Line]]]:
    """Return the lines by what they come to: what is worse, what changed, what is better."""
    shown = lines(comparison)
    named = [("Worse", [line for line in shown if line.bad])]
    rest = [line for line in shown if not line.bad]
    for verdict, head in (
        (Verdict.CHANGED, "Changed, neither better nor worse"),
        (Verdict.BETTER, "Better"),
        (Verdict.SAME, "Not equal, within the band"),
    ):
        named.append((head, [line for line in rest if line.verdict is verdict]))
    return [(head, some) for head, some in named if some]


def conclusion(comparison: Comparison) -> tuple[str, str]:
    """Return what a comparison comes to, and of how much, in a few words each."""
    said = {
        Outcome.WORSE: "worse",
        Outcome.INCONCLUSIVE: "inconclusive",
        Outcome.BETTER: "better, nothing worse",
        Outcome.CHANGED: "changed, nothing worse",
        Outcome.SAME: "the same",
    }[comparison.outcome]
    if not comparison.matched:
        return said, visible(
            f"nothing in {comparison.base.name} and {comparison.new.name} can be matched"
        )
    keys: dict[str, set[Any]] = {"worse": set(), "changed": set(), "better": set()}
    for change in comparison.changes:
        name = "worse" if comparison.is_bad(change) else str(change.found.verdict)
        keys.get(name, set()).add(change.base.key)
    many = f"{comparison.matched} comparison{'s' * (comparison.matched != 1)}"
    counts = [f"{len(some)} {name}" for name, some in keys.items() if some]
    parts = [f"of {many} {', '.join(counts)}" if counts else f"{many}, all exact quantities equal"]
    if comparison.missing:
        parts.append(f"{len(comparison.missing)} missing")
    if comparison.added:
        parts.append(f"{len(comparison.added)} new")
    if comparison.timings:
        paces = comparison.paces
        told = ", ".join(f"{paces[pace]} {pace}" for pace in Pace if paces[pace])
        parts.append(f"timings: {told}")
    return said, "; ".join(parts)


def notes(comparison: Comparison) -> list[str]:
    """Say what a reader has to know: how sharply was compared, what was not."""
    found = []
    for how, count in comparison.likeness:
        pairs = f"{count} pair{'s' * (count != 1)} of runs"
        found.append(f"{pairs}, {how}: {SHARPNESS[how]}")
    if comparison.timings is not None and not comparison.timings and comparison.matched:
        found.append("no timings are compared: none of one machine and as many threads")
    return [*found, *map(visible, comparison.notes)]


def facts(side: Side) -> list[str]:
    """Return what is to be said of one side: when, of what, by which code, on what machine."""
    known = side.facts
    revision = str(known.get("revision") or "")[:10]
    edited = ", edited" if known.get("dirty") else ""
    versions = known.get("versions") or {}
    version = versions.get("fwbench")
    parts = (
        str(known.get("created") or "").replace("T", " ")[:16],
        known.get("suite"),
        f"fwbench {version}" if version else None,
        f"revision {revision}{edited}" if revision else None,
        known.get("cpu"),
        None if side.source == "run folder" else side.source,
    )
    return [visible(str(part)) for part in parts if part]


def pace(timing: Timing) -> str:
    """Return the ratio of a timing with its interval.

    A ratio without an interval says what was seen, and no more.
    """
    if timing.ratio is None:
        return words.NONE
    if timing.low is None or timing.high is None:
        return f"{timing.ratio:.3g}"
    return f"{timing.ratio:.3g} ({timing.low:.3g} … {timing.high:.3g})"


def where(timing: Timing) -> str:
    """Name the instance of a timing; against a baseline it is over all of a solver."""
    return instance(timing.run) if timing.unit == "s" else "all its instances"


def who(timing: Timing) -> str:
    """Name the solver of a timing."""
    return solver(timing.run) if timing.unit == "s" else visible(str(timing.run.row["solver"]))


def reasons(timings: Iterable[Timing]) -> list[tuple[str, int]]:
    """Count why timings are inconclusive, the commonest reason first."""
    found = Counter(t.reason for t in timings if t.pace is Pace.INCONCLUSIVE)
    return found.most_common()


def told(timings: Iterable[Timing]) -> list[Timing]:
    """Return the timings that say something, the largest change first."""
    some = [t for t in timings if t.pace in (Pace.SLOWER, Pace.FASTER) and t.ratio]
    return sorted(some, key=lambda t: (t.pace is Pace.FASTER, -abs((t.ratio or 1.0) - 1.0)))


def alone(some: Iterable[Lone]) -> list[str]:
    """Return a sentence for each solver on an instance that one side alone has."""
    return [
        f"{solver(lone.run)} on {instance(lone.run)}" + (f": {lone.reason}" if lone.reason else "")
        for lone in some
    ]
