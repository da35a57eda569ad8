"""Seconds of two sides compared: ratios with intervals, and what may be said of all of them.

The statistic is the ratio of tenth percentiles over pairs of repetitions: what disturbs a run only
makes it longer, so the low end says most of the code. Its interval comes from a paired bootstrap
and is widened by what the machine itself changed between both sides, as products of numpy show
that were timed beside the runs. How sure it is comes from the signs of the pairs, which ask for no
shape of the noise, adjusted for all timings of a comparison (Benjamini and Hochberg).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from fwbench.analysis.changes import Pace, Timing
from fwbench.analysis.ratios import BAND, FALSE, LOW, adjusted, chance, interval, log_ratio
from fwbench.analysis.sides import Key, Run, Side, one_machine

TRAVELS = 2.0  # a factor: with a unit that comes from another machine
FEWEST = 8  # pairs: with fewer, equal signs of all of them would come about too often by chance
MIDDLE = 0.5  # percentile of ratios on unlike instances; of repetitions it is `LOW`
CONTROLLED = 3  # instances: with fewer an alarm needs twice the band
CONTROLS = 10  # of fewer control ratios all count, of more the middle four fifths
WHAT = {"seconds": "seconds", "set-up": "setup_seconds"}


@dataclass
class _Sample:
    """Seconds of one solver on one instance, pair by pair, and why pairs were left out."""

    run: Run
    what: str
    base: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Rule:
    """How samples are judged: by which percentile, widened by what, within and beyond which logs.

    ``said`` names both bands.
    """

    unit: Literal["s", "passes"]
    level: float
    drift: tuple[float, float]
    band: float
    beyond: float
    said: str


def timings(base: Side, new: Side, pairs: Iterable[tuple[Run, Run]]) -> tuple[Timing, ...]:
    """Return a timing for each solver on each instance that did the same work on one machine.

    Against a baseline there is one for each solver, over its instances, in pricing passes.

    Parameters
    ----------
    base, new : Side
    pairs : iterable of (Run, Run)
        Matched runs; their order does not matter.
    """
    pairs = list(pairs)
    if "baseline" in (base.source, new.source):
        samples = _in_passes(base, new, pairs)
        band = math.log(TRAVELS)
        rule = _Rule("passes", MIDDLE, (0.0, 0.0), band, band, f"a factor of {TRAVELS:g}")
    else:
        samples, band = _in_seconds(base, new, pairs), math.log1p(BAND)
        # one or two measurements of the machine do not say how sure they are
        controlled = len({sample.run.row["instance"] for sample in samples}) >= CONTROLLED
        beyond = band if controlled else 2 * band
        drift = _drift(pairs, samples)
        said = " and ".join(dict.fromkeys(f"±{100 * math.expm1(b):.0f} %" for b in (band, beyond)))
        rule = _Rule("s", LOW, drift, band, beyond, said)
    return _adjusted([_timing(sample, rule) for sample in samples])


def _in_seconds(base: Side, new: Side, pairs: list[tuple[Run, Run]]) -> list[_Sample]:
    samples: dict[tuple[Key, str], _Sample] = {}
    for a, b in sorted(pairs, key=lambda pair: int(pair[0].row.get("repetition") or 0)):
        if not (one_machine(base, new, a, b) and comparable(a, b)):
            continue
        for what, column in WHAT.items():
            before, after = _positive(a, column), _positive(b, column)
            if before is None or after is None:
                continue
            sample = samples.setdefault((a.key, what), _Sample(a, what))
            if unsure := _unsure(a) or _unsure(b):
                sample.left_out.add(unsure)
                if before != after:
                    continue
            sample.base.append(before)
            sample.new.append(after)
    return list(samples.values())


def unlike_work(base: Side, new: Side, pairs: Iterable[tuple[Run, Run]]) -> int:
    """Count the solvers on instances that were timed alike, but did not do the same work."""
    alike = {a.key for a, b in pairs if one_machine(base, new, a, b) and not (a.failed or b.failed)}
    same = {a.key for a, b in pairs if comparable(a, b)}
    return len(alike - same)


def _positive(run: Run, column: str) -> float | None:
    value = run.row.get(column)
    return float(value) if value is not None and value > 0 else None


def _same_work(a: Run, b: Run) -> bool:
    """Say whether two runs came equally far."""
    if a.failed or b.failed:
        return False
    return (a.ended_well and b.ended_well) or a.row.get("steps") == b.row.get("steps")


def comparable(a: Run, b: Run) -> bool:
    """Say whether two runs did the same work, with as many threads, and were timed likewise."""
    alike = all(a.row.get(name) == b.row.get(name) for name in ("threads", "seconds_from"))
    return alike and _same_work(a, b)


def _unsure(run: Run) -> str:
    """Return why the seconds of a run are not its own."""
    if run.row.get("shared"):
        return "other runs shared the machine"
    return "the machine was not quiet" if run.row.get("noisy") else ""


def _in_passes(base: Side, new: Side, pairs: list[tuple[Run, Run]]) -> list[_Sample]:
    """Return a sample for each solver: a pair is an instance, in pricing passes of its machine.

    Of repetitions the median counts. A solver on fewer instances than are needed has none, as a
    baseline can't have more of them.
    """
    turns = [_turns(side) for side in (base, new)]
    samples: dict[str, _Sample] = {}
    for a, b in {pair[0].key: pair for pair in pairs}.values():
        quiet = [side.get(run.key, ([], "")) for side, run in zip(turns, (a, b), strict=True)]
        if not _same_work(a, b) or not (quiet[0][0] or quiet[0][1]):
            continue
        sample = samples.setdefault(a.row["solver"], _Sample(a, "seconds"))
        if quiet[0][0] and quiet[1][0]:
            sample.base.append(float(np.median(quiet[0][0])))
            sample.new.append(float(np.median(quiet[1][0])))
        else:
            sample.left_out.update(filter(None, (why for _, why in quiet)))
    many = [one for one in samples.values() if len(one.base) >= FEWEST or one.left_out]
    return sorted(many, key=lambda sample: str(sample.run.row["solver"]))


def _turns(side: Side) -> dict[Key, tuple[list[float], str]]:
    """Return the passes of each solver on each instance, and why others were left out."""
    found: dict[Key, tuple[list[float], str]] = {}
    for run in side.runs:
        passes = _passes(run)
        if passes is not None:
            why = "" if run.row.get("passes") is not None else _unsure(run)
            known, reason = found.get(run.key, ([], ""))
            found[run.key] = ([*known, *([] if why else [passes])], reason or why)
    return found


def _passes(run: Run) -> float | None:
    kept, seconds, unit = (run.row.get(n) for n in ("passes", "seconds", "pass_seconds"))
    if kept is not None:
        return float(kept)
    return float(seconds) / float(unit) if seconds and unit else None


def _drift(pairs: list[tuple[Run, Run]], samples: list[_Sample]) -> tuple[float, float]:
    """Return by how much the machine itself may have changed, as logarithms around 0.

    Told by numpy's products that were timed on each instance; where there are none (files of
    pytest-benchmark), by the middle of all timings if there are some.
    """
    yards: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for a, b in pairs:
        before, after = _positive(a, "gemv_seconds"), _positive(b, "gemv_seconds")
        if before is not None and after is not None:
            yards[a.row["instance"]].append((before, after))
    if yards:
        middles = [np.median(both, axis=0) for both in yards.values()]
        ratios = np.sort([math.log(new / base) for base, new in middles])
        cut = 0.0 if len(ratios) < CONTROLS else 0.1
        low, high = np.quantile(ratios, [cut, 1 - cut])
        return min(float(low), 0.0), max(float(high), 0.0)
    known = [log_ratio(np.array(one.base), np.array(one.new)) for one in samples if one.base]
    middle = float(np.median(known)) if len(known) >= CONTROLS else 0.0
    return min(middle, 0.0), max(middle, 0.0)


def _timing(sample: _Sample, rule: _Rule) -> Timing:
    """Judge one sample, as if there were no others: the same within a band, or beyond another."""
    n = len(sample.base)
    why = " and ".join(sorted(sample.left_out))
    known = Timing(
        sample.run, sample.what, rule.unit, None, None, None, None, None, n, None,
        Pace.INCONCLUSIVE, why,
    )  # fmt: skip
    if n == 0:
        return known
    base, new = np.array(sample.base), np.array(sample.new)
    if rule.unit == "s":
        lows = float(np.quantile(base, LOW)), float(np.quantile(new, LOW))
        known = replace(known, base=lows[0], new=lows[1])
    else:  # instances are unlike: only their ratios are of one kind
        base, new = np.ones(n), new / base
    known = replace(known, ratio=math.exp(log_ratio(base, new, rule.level)))
    if (base == new).all():
        return replace(known, low=1.0, high=1.0, pace=Pace.SAME, reason="the same measurements")
    if n < FEWEST:
        few = f"{n} {'pair' if n == 1 else 'pairs'} of repetitions, {FEWEST} needed"
        return replace(known, reason=f"{few}; {why}" if why else few)
    low, high = interval(base, new, rule.level)
    low, high = low - rule.drift[1], high - rule.drift[0]
    p = chance(np.log(new / base), rule.band)
    known = replace(known, low=math.exp(low), high=math.exp(high), p=p, reason="")
    if -rule.band <= low and high <= rule.band:
        return replace(known, pace=Pace.SAME)
    if low > rule.beyond:
        return replace(known, pace=Pace.SLOWER)
    if high < -rule.beyond:
        return replace(known, pace=Pace.FASTER)
    return replace(known, reason=f"intervals that lie neither within nor beyond {rule.said}")


def _adjusted(found: list[Timing]) -> tuple[Timing, ...]:
    """Keep what is called slower or faster only where it stands among all timings."""
    asked = [i for i, timing in enumerate(found) if timing.p is not None]
    chances = adjusted([p for timing in found if (p := timing.p) is not None])
    for i, p in zip(asked, chances, strict=True):
        timing = replace(found[i], p=p)
        if timing.pace in (Pace.SLOWER, Pace.FASTER) and p > FALSE:
            why = f"among {len(asked)} timings such signs of {timing.pairs} pairs come by chance"
            timing = replace(timing, pace=Pace.INCONCLUSIVE, reason=why)
        found[i] = timing
    return tuple(found)
