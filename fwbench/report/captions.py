"""What stands under each figure: what it shows and from what, what is left out, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import assert_never

from fwbench.analysis.atlas import Atlas
from fwbench.analysis.diagrams import Diagram
from fwbench.analysis.findings import Findings, Picture
from fwbench.errors import visible
from fwbench.report import profiles, words
from fwbench.report.bands import Band
from fwbench.report.exhibits import (
    Claim,
    Collapse,
    Convergence,
    Growth,
    Overview,
    Profile,
    Ratios,
    Seeds,
    Subject,
    exhibits,
)
from fwbench.report.selection import Row, grouped, records
from fwbench.report.words import count, power, text
from fwbench.trace import Status

NAMED = 12  # names in a list; further ones are counted
TABLES = frozenset({"pandas", "pyarrow", "matplotlib", "plotly", "threadpoolctl"})  # no result is
ASIDE = frozenset({Status.SKIPPED, Status.INTERRUPTED})


def captions(findings: Findings) -> dict[str, str]:
    """Return what stands under each figure.

    Parameters
    ----------
    findings : Findings

    Returns
    -------
    dict of str to str
        By the stem of the figure's file, as `fwbench.report.exhibits.exhibits` names it: plain text
        in one paragraph, in which names are untrusted.
    """
    rows = records(findings.runs)
    return {
        stem: visible(" ".join(part for part in _said(subject, findings, rows) if part))
        for stem, subject in exhibits(findings).items()
    }


def of_instances(findings: Findings) -> dict[str, str]:
    """Return what stands under the curves of each instance on a page that shows one at a time.

    Returns
    -------
    dict of str to str
        By label; where two instances share one, the first, which is the one shown.
    """
    found: dict[str, str] = {}
    for (instance, label), rows in grouped(records(findings.runs), "instance", "instance_label"):
        first = next((row for row in rows if row["n"] is not None), rows[0])
        ran = {row["solver_label"] for row in rows if row["status"] not in ASIDE}
        said = [
            f"{instance} ({text(first['kind'])}, n = {text(first['n'])}, d = {text(first['d'])}).",
            _solvers(ran),
            _repetitions({instance}, rows),
            timing(rows, findings),
        ]
        found.setdefault(str(label), visible(" ".join(part for part in said if part)))
    return found


def _said(subject: Subject, findings: Findings, rows: list[Row]) -> list[str]:
    made = software(findings)
    match subject:
        case Overview():
            shown = [row for row in rows
                     if row["instance"] in {one.instance for one in subject.panels}]  # fmt: skip
            return [*_overview(subject, rows), timing(shown, findings), made]
        case Convergence():
            return [*_convergence(subject, rows), made]
        case Seeds():
            return [*_seeds(subject), made]
        case Picture():
            return [*_picture(subject, rows), made]
        case Atlas():
            return [*_atlas(subject), made]
        case Diagram():
            return [f"{subject.title}.", subject.note, "Pure geometry: no run is in it.",
                    f"The atoms are those of {subject.instance}.", made]  # fmt: skip
        case Ratios():
            return [*_ratios(subject), timing(rows, findings), made]
        case Growth():
            return [*_growth(subject), timing(rows, findings), made]
        case Collapse():
            return [*_collapse(subject), made]
        case Profile():
            timed = subject.profiles.contests[subject.number].cost != "lmo"
            return [*_profile(subject), timing(rows, findings) if timed else "", made]
        case Claim():
            told = subject.record
            return [f"{told['title']}: {told['statement']}", f"Verdict: {told['verdict']}.",
                    f"Measured: {told['quantity']}." if told["quantity"] else "",
                    "Dashed grey: what the claim promises.", made]  # fmt: skip
        case _:
            assert_never(subject)


def software(findings: Findings) -> str:
    """Say which code made the findings, with all versions."""
    versions = {str(k): text(v) for k, v in (findings.manifest.get("versions") or {}).items()}
    git = findings.manifest.get("git") or {}
    own = f"fwbench {versions.pop('fwbench', 'of unknown version')}"
    if git.get("revision"):
        own += f" ({text(git['revision'])[:12]}{', with changes' if git.get('dirty') else ''})"
    others = [f"{name} {version}" for name, version in versions.items() if name not in TABLES]
    if findings.manifest.get("python"):
        others.insert(0, f"Python {text(findings.manifest['python'])}")
    return f"{own}; {', '.join(others)}." if others else f"{own}."


def timing(rows: Iterable[Row], findings: Findings) -> str:
    """Say on which machine seconds were taken, and whether it was quiet."""
    timed = [row for row in rows if row["seconds"] is not None]
    if not timed:
        return ""
    machine = findings.manifest.get("machine") or {}
    parts = [text(machine["cpu"])] if machine.get("cpu") else []
    if machine.get("cores"):
        parts.append(plural(machine["cores"], "core"))
    if machine.get("threads"):
        parts.append(plural(machine["threads"], "thread"))
    if machine.get("blas"):
        parts.append(f"BLAS {text(machine['blas'])}")
    hosts = sorted({str(row["host"]) for row in timed if row.get("host")})
    where = f"Timed on {', '.join(parts)}" if parts else "Timed on an unknown machine"
    if len(hosts) > 1:
        where = f"Timed on {len(hosts)} machines ({listed(hosts)})"
    noisy = sum(bool(row["noisy"]) for row in timed)
    doubt = f"; {noisy} of {len(timed)} runs on a machine that was not quiet" if noisy else ""
    return f"{where}{doubt}."


def _overview(shown: Overview, rows: list[Row]) -> list[str]:
    said = []
    if shown.panels:
        measures = list(dict.fromkeys(words.MEASURES[one.measures[0]] for one in shown.panels))
        said.append(
            f"{' or '.join(measures).capitalize()} against seconds in the solver, both axes "
            f"logarithmic, on {listed([one.instance for one in shown.panels])}."
        )
        said.append(_solvers({curve.solver for one in shown.panels for curve in one.curves}))
        said.append(_repetitions({one.instance for one in shown.panels}, rows))
        found = [band for one in shown.panels
                 for band in one.bands.get(("seconds", one.measures[0]), ())]  # fmt: skip
        said.append(_bands(found, "repetitions"))
    for picture in shown.pictures:
        said += _plane(picture)
    return said


def _convergence(shown: Convergence, rows: list[Row]) -> list[str]:
    first = next(row for row in rows if row["instance"] == shown.instance)
    what = " and ".join(words.MEASURES[name] for name in shown.measures)
    found = [band for name in shown.measures for band in shown.bands.get(("k", name), ())]
    return [
        f"{shown.instance} ({shown.kind}, n = {text(first['n'])}, d = {text(first['d'])}): "
        f"{what} against steps k, both axes logarithmic.",
        _meaning(shown.measures),
        _solvers({curve.solver for curve in shown.curves}),
        _repetitions({shown.instance}, rows),
        _bands(found, "repetitions"),
        _once(shown),
        _hidden(shown),
        _absent(shown, rows),
    ]


def _seeds(shown: Seeds) -> list[str]:
    found = [band for some in shown.bands.values() for band in some]
    seeds = sorted({band.of for band in found})
    what = " and ".join(words.MEASURES[name] for name in shown.bands)
    many = " to ".join(str(n) for n in dict.fromkeys((seeds[0], seeds[-1])))
    return [
        f"{shown.regime}, {many} instances that differ by their seed: {what} against steps k, "
        "both axes logarithmic.",
        _meaning(tuple(shown.bands)),
        _solvers({band.solver for band in found}),
        _bands(found, "seeds"),
    ]


def _meaning(measures: Sequence[str]) -> str:
    said = []
    if "suboptimality" in measures:
        said.append(
            "suboptimality is value less the best certified lower bound of all runs, or less the "
            "best vertex on a concave instance"
        )
    if "gap" in measures:
        said.append("the gap is certified from the weights")
    if "gap_current" in measures:
        said.append("the gap to the current keys is against the hull of the moving tokens")
    return f"{'; '.join(said)}.".capitalize() if said else ""


def _solvers(labels: Collection[str]) -> str:
    return f"{plural(len(labels), 'solver')}."


def _repetitions(instances: set[str], rows: list[Row]) -> str:
    counts = Counter(
        (row["instance"], row["solver_label"]) for row in rows
        if row["instance"] in instances and row["status"] not in ASIDE
    )  # fmt: skip
    seeds = sorted({int(row["seed"]) for row in rows
                    if row["instance"] in instances and row["seed"] is not None})  # fmt: skip
    most = max(counts.values(), default=0)
    said = (
        "one run each"
        if most <= 1
        else f"{most} runs each"
        if min(counts.values()) == most
        else (f"up to {most} runs each")
    )
    if most > 1:
        said += " (where there is no band, the first is drawn)"
    if seeds:
        said += f", seed{'s' if len(seeds) > 1 else ''} {listed(map(str, seeds))}"
    return f"{said.capitalize()}."


def _bands(found: Sequence[Band], over: str) -> str:
    if not found:
        return ""
    ends = {band.ends for band in found}
    between = " or, from eight on, ".join(
        words_of for name, words_of in (("range", "the least and the largest"),
                                        ("quartiles", "the quartiles")) if name in ends
    )  # fmt: skip
    members = sorted({band.members for band in found})
    many = " to ".join(str(n) for n in dict.fromkeys((members[0], members[-1])))
    return (
        f"Bands lie between {between} of {many} {over}, the line is their median; a band ends "
        "where its first member stopped, and each of the others goes on as a thin line."
    )


def _once(shown: Convergence) -> str:
    once = sorted({curve.solver for curve in shown.curves if curve.once})
    return f"Marks alone, having no path: {listed(once)}." if once else ""


def _hidden(shown: Convergence) -> str:
    hidden = []
    for name in shown.measures:
        zero = sorted({curve.solver for curve in shown.curves
                       if any(y is not None and y <= 0 for y in curve.columns[name])})  # fmt: skip
        if zero:
            hidden.append(f"of the {words.MEASURES[name]} values ≤ 0 ({listed(zero)})")
    return f"Not drawn: {'; '.join(hidden)}." if hidden else ""


def _absent(shown: Convergence, rows: list[Row]) -> str:
    drawn = {curve.solver for curve in shown.curves}
    absent = {
        row["solver_label"]: f"{row['solver_label']} ({row['status']}: {text(row['reason'])})"
        for row in rows
        if row["instance"] == shown.instance and row["solver_label"] not in drawn
    }
    return f"Left out: {listed(absent.values(), link='; ')}." if absent else ""


def _picture(picture: Picture, rows: list[Row]) -> list[str]:
    ran = {row["solver_label"] for row in rows if row["instance"] == picture.instance}
    others = sorted(ran - {label for label, _ in picture.paths})
    absent = f"Left out, without a path in the plane: {listed(others)}." if others else ""
    return [*_plane(picture), _solvers({label for label, _ in picture.paths}), absent]


def _plane(picture: Picture) -> list[str]:
    return [
        f"{picture.instance} in the plane: the hull, in each colour the points at which one atom "
        f"leads; circles are {plural(len(picture.starts), 'start')}, lines the paths of the "
        "queries, each with a mark at its end. Axes are coordinates."
    ]


def _atlas(atlas: Atlas) -> list[str]:
    starts = max((basins.starts for basins in atlas.basins), default=0)
    names = [basins.solver for basins in atlas.basins]
    return [
        f"{atlas.instance}: where {count(starts)} starts on a lattice come to rest, a map for each "
        f"of {plural(len(names), 'solver')}; the number is the atom's.",
        "Hatched: starts from which two solvers rest apart." if len(names) > 1 else "",
    ]


def _ratios(shown: Ratios) -> list[str]:
    labels = list(dict.fromkeys(race.instance for race in shown.races))
    foreign = {name for race in shown.races for name, row in race.rows.items()
               if row["library"] is not None}  # fmt: skip
    never = sorted(
        {f"{name} on {race.label}" for race in shown.races for name, row in race.rows.items()
         if row["library"] is not None and row["ratio_total"] is None}
    )  # fmt: skip
    return [
        "How many times longer foreign codes took than the best of the suite's own solvers to the "
        f"same certified gap, set-up included, logarithmic; a row for each of {len(labels)} "
        f"instances: {listed(labels)}.",
        _solvers(foreign),
        f"Left out, not at that gap: {listed(never)}." if never else "",
    ]


def _growth(shown: Growth) -> list[str]:
    names = [f"{regime.name} against {regime.against}" for regime in shown.regimes]
    return [
        "Seconds, set-up included, against the size, both axes logarithmic; a mark an instance, "
        "the median of the repetitions that came to their tolerance, others left out; lines go "
        f"through the medians of each size: {listed(names)}.",
        _solvers({label for regime in shown.regimes for label in regime.lines}),
    ]


def _collapse(shown: Collapse) -> list[str]:
    instances = list(dict.fromkeys(row["instance"] for row in shown.rows))
    return [
        "Layers until the cloud of tokens is at most 1e-03 of its first diameter, logarithmic, "
        "against the entropy of softmax attention at β = 1 at the start, over log n, the mean over "
        "the tokens; a bar between the checkpoints that bracket it. Open marks with an arrow had "
        "not collapsed when the run ended.",
        f"{plural(len(instances), 'cloud')} of tokens: {listed(instances)}.",
        _solvers({row["solver_label"] for row in shown.rows}),
    ]


def _profile(shown: Profile) -> list[str]:
    contest = shown.profiles.contests[shown.number]
    targets = shown.profiles.steps.loc[shown.profiles.steps["contest"] == shown.number, "target"]
    reasons = Counter(why for _, why in contest.excluded)
    absent = [f"{n} ({why})" for why, n in reasons.most_common(3)]
    if len(reasons) > len(absent):
        absent.append(f"{sum(reasons.values()) - sum(n for _, n in reasons.most_common(3))} others")
    return [
        f"Performance profiles (above) and data profiles (below), "
        f"{profiles.VARIANTS[contest.variant]}, in {profiles.WORDS[contest.cost]}, to "
        f"{listed([power(target) for target in sorted(set(targets), reverse=True)])} of the scale; "
        "x logarithmic, y the share of instances.",
        f"{plural(len(contest.places), 'instance')}: {listed(contest.instances, most=24)}.",
        _solvers(set(contest.solvers)),
        "A line stands where the share is sure; the band goes up to where the brackets of the "
        "checkpoints allow it, the pale one to where it may be with one other solver left out.",
        f"Left out: instances that not all took part in, {'; '.join(absent)}." if absent else "",
    ]


def listed(names: Iterable[str], most: int = NAMED, link: str = ", ") -> str:
    """Return names as a list, further ones counted.

    Examples
    --------
    >>> listed("abc"), listed("abcde", most=2)
    ('a, b, c', 'a, b and 3 more')
    """
    every = list(names)
    more = len(every) - most
    return link.join(every[:most]) + (f" and {more} more" if more > 0 else "")


def plural(number: int, what: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> plural(1, "solver"), plural(12, "solver")
    ('1 solver', '12 solvers')
    """
    return f"{count(number)} {what}{'' if number == 1 else 's'}"
