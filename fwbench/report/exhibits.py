"""Which figures there are, under which name, and what each shows; drawn and captioned elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fwbench.analysis.atlas import Atlas
from fwbench.analysis.diagrams import Diagram
from fwbench.analysis.findings import Findings, Picture
from fwbench.analysis.profiles import Profiles
from fwbench.report import selection
from fwbench.report.bands import Band, banded
from fwbench.report.selection import Curve, Race, Regime, Row
from fwbench.theory.verdicts import Record
from fwbench.theory.verdicts import curves as curves_of

PANELS = 6  # of the overview
DRAWN = ("lmo", "seconds")  # costs of profiles; total differs little from seconds in a figure


@dataclass(frozen=True, eq=False)
class Convergence:
    """The curves of one instance.

    Attributes
    ----------
    instance, label : str
        Canonical name, and the short one for people.
    measures : tuple of str
        Those of which a log axis can show a value.
    bands : mapping of (axis, measure) to tuple of Band
        Over repetitions, of solvers whose repetitions differ.
    """

    instance: str
    label: str
    kind: str
    curves: tuple[Curve, ...]
    measures: tuple[str, ...]
    bands: Mapping[tuple[str, str], tuple[Band, ...]]


@dataclass(frozen=True, eq=False)
class Overview:
    """A few instances of unlike kinds, and a picture in the plane."""

    panels: tuple[Convergence, ...]
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, eq=False)
class Seeds:
    """Bands over the seeds of instances that are else alike.

    Attributes
    ----------
    regime : str
        Label of the instances without the seed.
    bands : mapping of str to tuple of Band
        Along the steps, by measure.
    """

    regime: str
    bands: Mapping[str, tuple[Band, ...]]


@dataclass(frozen=True, eq=False)
class Ratios:
    """How many times longer foreign codes took."""

    races: tuple[Race, ...]


@dataclass(frozen=True, eq=False)
class Growth:
    """How seconds grow with sizes."""

    regimes: tuple[Regime, ...]


@dataclass(frozen=True, eq=False)
class Collapse:
    """How long clouds of tokens take to collapse, beside the entropy of their attention.

    Attributes
    ----------
    rows : tuple of dict
        A row a run of a repeated layer, of `Findings.layers`, with ``entropy_relative``.
    """

    rows: tuple[Row, ...]


@dataclass(frozen=True, eq=False)
class Profile:
    """One contest of the profiles, by its number."""

    profiles: Profiles
    number: int


@dataclass(frozen=True, eq=False)
class Claim:
    """The figure that decides a claim."""

    record: Record


Subject = (
    Overview
    | Convergence
    | Seeds
    | Picture
    | Atlas
    | Diagram
    | Ratios
    | Growth
    | Collapse
    | Profile
    | Claim
)


def exhibits(findings: Findings) -> dict[str, Subject]:
    """Return what there is to be drawn, by the stem of its files' name, in the order to be shown.

    Returns
    -------
    dict of str to Subject
        ``overview``; ``convergence-INSTANCE`` for each instance with a value that a log axis can
        show; ``seeds-REGIME`` where instances differ by their seed; ``plane-INSTANCE`` for each
        picture; ``atlas-INSTANCE`` for each atlas; ``paper-NAME``
        for each diagram; ``ratios``, ``growth`` and ``heads`` where there are any;
        ``profile-VARIANT-COST`` where solvers share instances; ``claim-NAME`` for each claim with a
        figure.
    """
    instances = convergences(findings)
    labels = {name: row["instance_label"] for name, row in selection.instances(findings).items()}
    labels |= {picture.instance: picture.label for picture in findings.pictures}
    labels |= {atlas.instance: atlas.label for atlas in findings.atlases}
    names = stems(labels)
    shown: dict[str, Subject] = {}
    if instances or findings.pictures:
        pictures = findings.pictures[:1]
        shown["overview"] = Overview(varied(instances, PANELS - len(pictures)), pictures)
    shown |= {f"convergence-{names[one.instance]}": one for one in instances}
    shown |= _seeds(findings)
    shown |= {f"plane-{names[one.instance]}": one for one in findings.pictures}
    shown |= {f"atlas-{names[atlas.instance]}": atlas for atlas in findings.atlases}
    shown |= {diagram.name: diagram for diagram in findings.diagrams}
    if selection.has_ratios(findings):
        if selection.racers(findings, foreign=True):
            shown["ratios"] = Ratios(tuple(selection.races(findings)))
        if regimes := selection.regimes(findings):
            shown["growth"] = Growth(tuple(regimes))
    if (collapse := collapses(findings)) is not None:
        shown["heads"] = collapse
    if findings.profiles is not None:
        for number, contest in enumerate(findings.profiles.contests):
            if contest.cost in DRAWN:  # the first is the largest
                stem = f"profile-{contest.variant}-{contest.cost}"
                shown.setdefault(stem, Profile(findings.profiles, number))
    if findings.claims is not None:
        for record in findings.claims["claims"]:
            if curves_of(record) is not None:
                shown[f"claim-{record['name']}"] = Claim(record)
    return shown


def convergences(findings: Findings) -> list[Convergence]:
    """Return the curves of each instance that has some a log axis can show."""
    by_instance: dict[str, list[Curve]] = {}
    for curve in selection.curves(findings):
        if selection.measures([curve]):
            by_instance.setdefault(curve.instance, []).append(curve)
    rows = selection.instances(findings)
    bands: dict[str, dict[tuple[str, str], tuple[Band, ...]]] = {}
    for (place, axis, measure), some in banded(findings, "repetitions").items():
        if wide := tuple(band for band in some if band.has_width):
            bands.setdefault(place, {})[axis, measure] = wide
    return [
        Convergence(
            instance=name,
            label=rows[name]["instance_label"],
            kind=rows[name]["kind"],
            curves=tuple(curves),
            measures=tuple(selection.measures(curves)),
            bands=bands.get(name, {}),
        )
        for name, curves in by_instance.items()
    ]


def _seeds(findings: Findings) -> dict[str, Subject]:
    """Return the bands over seeds, along the steps, by stem."""
    regimes: dict[str, dict[str, tuple[Band, ...]]] = {}
    for (place, axis, measure), some in banded(findings, "seeds").items():
        if axis == "k" and any((band.high > 0).any() for band in some):
            regimes.setdefault(place, {})[measure] = some
    names = stems({name: name for name in regimes})
    return {f"seeds-{names[name]}": Seeds(name, bands) for name, bands in regimes.items()}


def collapses(findings: Findings) -> Collapse | None:
    """Return the repeated layers with the entropy of the attention that they begin with, if any."""
    entropies = {
        row["instance"]: row["entropy_relative"] for row in selection.records(findings.heads)
    }
    rows = [
        {**row, "entropy_relative": entropies[row["instance"]]}
        for row in selection.records(findings.layers)
        if entropies.get(row["instance"]) is not None
    ]
    if all(row["k_high"] is None for row in rows):  # nothing collapsed: no time to be drawn
        return None
    return Collapse(tuple(rows))


def varied(instances: Iterable[Convergence], room: int) -> tuple[Convergence, ...]:
    """Pick instances, one of each kind in turn, in the order given."""
    turns: dict[str, int] = {}
    ranked = []
    for place, one in enumerate(instances):
        turns[one.kind] = turns.get(one.kind, 0) + 1
        ranked.append((turns[one.kind], place, one))
    chosen = sorted(ranked, key=lambda entry: entry[:2])[: max(room, 0)]
    return tuple(one for _, _, one in sorted(chosen, key=lambda entry: entry[1]))


def stems(labels: dict[str, str]) -> dict[str, str]:
    """Make each instance a file name of its own from its label, whatever that holds.

    Examples
    --------
    >>> stems({"p": "polygon[k=7,norms=vary]", "q": "polygon[k=7;norms=vary]", "r": "../"})
    {'p': 'polygon-k=7-norms=vary', 'q': 'polygon-k=7-norms=vary~2', 'r': 'instance'}
    """
    names: dict[str, str] = {}
    for name, label in labels.items():
        stem = re.sub(r"[^A-Za-z0-9.=_]+", "-", label).strip("-.")[:80] or "instance"
        twins = sum(other.split("~")[0] == stem for other in names.values())
        names[name] = f"{stem}~{twins + 1}" if twins else stem
    return names
