"""Whether two runs came to rest at the same place, query by query."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from fwbench.analysis.changes import Found, Verdict
from fwbench.analysis.sides import Array, Likeness, Row, Run

QUANTITY = "fixed point"
APART = 1e-3  # of the radius: rests farther apart are different points
LOWER = 1e-6  # of the scale: a rest whose value differs by more is better or worse
WIDE = ("interior", "face")  # classes whose label lists atoms, which rounding may change
BAND = "same class and place, within 0.001 of the radius"


def moved(base: Run, new: Run, likeness: Likeness) -> Found | None:
    """Return what became of the places where the queries of a run rest, None where they are same.

    A rest is certified. Who does not come to rest any more is worse. Who rests elsewhere is worse
    or better if the value there is higher or lower by 10⁻⁶ of the scale; else it has changed, and
    that is an alarm: where a method comes to rest is what it answers. Between uncertified places
    (moving, cycles) a change is told, and judged neither way.

    Parameters
    ----------
    base, new : Run
    likeness : Likeness
        Of runs of other machines that a rest is lost counts only if both ended well: what has not
        converged may be moved by rounding alone.
    """
    known = all(map(_tells, (base, new))) and len(base.rests) == len(new.rests)
    if not known:
        return _by_class(base, new, likeness)
    distances = _distances(base, new)
    scale = base.row.get("scale")
    verdicts, alarm = Counter[Verdict](), False
    elsewhere = lost = gained = 0
    farthest = 0.0
    for q, (a, b) in enumerate(zip(base.rests, new.rests, strict=True)):
        far = None if distances is None else float(distances[q])
        if a["certified"] and b["certified"]:
            verdict = _between(a, b, far, scale)
            elsewhere += verdict is not Verdict.SAME
            alarm |= verdict in (Verdict.WORSE, Verdict.CHANGED)
            farthest = max(farthest, far or 0.0)
        elif a["certified"] or b["certified"]:
            lost += bool(a["certified"])
            gained += bool(b["certified"])
            verdict = _unrest(base, new, likeness, lost=bool(a["certified"]))
            alarm |= verdict is Verdict.WORSE
        else:
            same = (a["class"], a["label"]) == (b["class"], b["label"])
            verdict = Verdict.SAME if same else Verdict.CHANGED
        verdicts[verdict] += 1
    verdict = _together(verdicts)
    if verdict is Verdict.SAME:
        return None
    of = len(base.rests)
    counts = ((elsewhere, "rest elsewhere"), (lost, "rest no more"), (gained, "rest now"))
    said = [f"{count} of {of} queries {what}" for count, what in counts if count and of > 1]
    if elsewhere and distances is not None and farthest > APART:
        said.append(f"{farthest:.2g} of the radius apart")
    said += _values(base, new)
    return Found(QUANTITY, _place(base.row), _place(new.row), BAND, verdict, ", ".join(said), alarm)


def _tells(run: Run) -> bool:
    """Say whether the rows of its queries are known, and give the class that the run has."""
    classes = {rest["class"] for rest in run.rests}
    common = next(iter(classes), None) if len(classes) < 2 else "mixed"
    return bool(run.rests) and run.row.get("fixed_point") in (None, common)


def _between(a: Row, b: Row, far: float | None, scale: float | None) -> Verdict:
    """Judge two certified rests of one query."""
    if far is not None:
        here = far <= APART
    elif a["class"] != b["class"]:
        here = False
    else:
        here = _dimension(a) == _dimension(b)
    values = a.get("value"), b.get("value")
    if here:
        return Verdict.SAME
    if None in values or not scale:
        return Verdict.CHANGED
    rise = (b["value"] - a["value"]) / scale
    if abs(rise) <= LOWER:
        return Verdict.CHANGED
    return Verdict.WORSE if rise > 0 else Verdict.BETTER


def _dimension(rest: Row) -> str:
    """Return what a label says of a place but for the atoms in use."""
    label = str(rest["label"])
    return label.partition(",")[0] if rest["class"] in WIDE else label


def _unrest(base: Run, new: Run, likeness: Likeness, *, lost: bool) -> Verdict:
    if likeness is Likeness.DIGITS and not (base.ended_well and new.ended_well):
        return Verdict.CHANGED
    return Verdict.WORSE if lost else Verdict.BETTER


def _together(verdicts: Counter[Verdict]) -> Verdict:
    """Return the verdict of all queries: better and worse at once is neither."""
    found = set(verdicts) - {Verdict.SAME}
    if not found:
        return Verdict.SAME
    found -= {Verdict.CHANGED} if len(found) > 1 else set()
    return next(iter(found)) if len(found) == 1 else Verdict.CHANGED


def _distances(base: Run, new: Run) -> Array | None:
    """Return how far apart the queries ended, of the radius; None where points are not known."""
    radius = base.radius or new.radius
    if radius is None:
        return None
    a, b = base.points(), new.points()
    if a is None or b is None or a.shape != b.shape or len(a) != len(base.rests):
        return None
    return np.asarray(np.linalg.norm(a - b, axis=1) / radius)


def _by_class(base: Run, new: Run, likeness: Likeness) -> Found | None:
    """Compare the class and label of whole runs: a baseline keeps no more."""
    a, b = base.row.get("fixed_point"), new.row.get("fixed_point")
    if a is None or b is None:
        return None
    rest = [{"class": r.row["fixed_point"], "label": r.row.get("fixed_point_label") or "",
             "value": r.row.get("value_centred")} for r in (base, new)]  # fmt: skip
    certified = [name in ("vertex", "face", "interior", "consensus") for name in (a, b)]
    alarm = False
    if all(certified):
        verdict = _between(rest[0], rest[1], None, base.row.get("scale"))
        # of a convex problem equal values at two classes may be one point, named by rounding
        alarm = verdict is Verdict.CHANGED and base.row.get("kind") != "convex"
    elif any(certified) and "mixed" not in (a, b):
        verdict = _unrest(base, new, likeness, lost=certified[0])
    else:
        same = (a, rest[0]["label"]) == (b, rest[1]["label"])
        verdict = Verdict.SAME if same else Verdict.CHANGED
    if verdict is Verdict.SAME:
        return None
    said = ", ".join(_values(base, new))
    return Found(QUANTITY, _place(base.row), _place(new.row), BAND, verdict, said, alarm)


def _place(row: Row) -> str:
    """Return where a run rests, in words."""
    label = row.get("fixed_point_label")
    return f"{row.get('fixed_point')}" + (f", {label}" if label else "")


def _values(base: Run, new: Run) -> list[str]:
    values: list[Any] = [run.row.get("value_centred") for run in (base, new)]
    scale = base.row.get("scale")
    if None in values or not scale or abs(values[1] - values[0]) <= LOWER * scale:
        return []
    return [f"value {(values[1] - values[0]) / scale:+.2g} of the scale"]
