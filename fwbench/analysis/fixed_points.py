"""Where runs came to rest, by name."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

STILL = 1e-4  # of the radius: a query that moves less over the last tenth is quiet
CERTIFIED = 1e-6  # of the scale: the gap that certifies rest
AT_ATOM = 1e-6  # of the radius: closer to an atom than this is at it
SHRUNK = 1e-4  # of its first radius: a moving cloud this small is at one point


class Class(StrEnum):
    """Where a query rests."""

    VERTEX = "vertex"
    FACE = "face"
    INTERIOR = "interior"
    CONSENSUS = "consensus"
    CYCLE = "cycle"
    MOVING = "moving"
    MIXED = "mixed"  # of a run: its queries differ


class FixedPoint(NamedTuple):
    """Class, label (atom, dimension and support, period) and whether the gap certifies it."""

    kind: Class
    label: str
    certified: bool


def classify(facts: dict[str, list[Any]], query: int, *, convex: bool) -> FixedPoint:
    """Name the place where one query rests.

    Parameters
    ----------
    facts : dict of lists
        What `fwbench.rest.facts` measured.
    query : int
    convex : bool
        Elsewhere a vertex must also lead at the point and at itself: cells are convex.

    Returns
    -------
    FixedPoint
        ``moving`` where rest is not certified, labelled ``quiet`` where nothing moves.

    Examples
    --------
    >>> at_atom = {"gap_relative": [0.0], "drift": [0.0], "nearest": [3], "distance": [0.0],
    ...            "leads": [True], "leads_itself": [True], "face": [0], "hull": [2],
    ...            "support": [[3]], "used": [1], "period": [None]}
    >>> classify(at_atom, 0, convex=False)
    FixedPoint(kind=<Class.VERTEX: 'vertex'>, label='atom 3', certified=True)
    """
    fact = {name: column[query] for name, column in facts.items()}
    if fact.get("shrunk") is not None and fact["shrunk"] < SHRUNK:
        return FixedPoint(Class.CONSENSUS, "one point", True)
    if fact["period"]:
        return FixedPoint(Class.CYCLE, f"period {fact['period']}", False)
    quiet = fact["drift"] is not None and fact["drift"] <= STILL
    gap = fact["gap_relative"]
    certified = quiet and gap is not None and gap <= CERTIFIED
    if certified and fact["distance"] <= AT_ATOM:
        if convex or (fact["leads"] and fact["leads_itself"]):
            return FixedPoint(Class.VERTEX, f"atom {fact['nearest']}", True)
        certified = False
    if not certified:
        return FixedPoint(Class.MOVING, "quiet" if quiet else "", False)
    if fact["face"] >= fact["hull"]:
        return FixedPoint(Class.INTERIOR, f"dimension {fact['hull']}", True)
    support = ""
    if (keys := fact["support"]) is not None:
        more = " …" if fact["used"] > len(keys) else ""
        support = f", atoms {' '.join(map(str, sorted(keys)))}{more}"
    return FixedPoint(Class.FACE, f"dimension {fact['face']}{support}", True)


def places(record: dict[str, Any]) -> list[FixedPoint]:
    """Name the place where each query of a run rests, from its record in the journal."""
    facts, convex = record["rest"], record["row"]["kind"] == "convex"
    return [classify(facts, q, convex=convex) for q in range(len(facts["drift"]))]


def common(points: list[FixedPoint]) -> tuple[str, str]:
    """Return the class and label of a run: those of all its queries, or ``mixed`` with counts."""
    kinds = [point.kind for point in points]
    if len(set(kinds)) == 1:
        labels = [point.label for point in points]
        if len(set(labels)) == 1:
            return kinds[0], labels[0]
        if kinds[0] is Class.MOVING:
            return kinds[0], f"{labels.count('quiet')} of {len(labels)} quiet"
        return kinds[0], f"{len(set(labels))} different"
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    return Class.MIXED, ", ".join(f"{count} {kind}" for kind, count in counts.items())
