"""Findings as a short Markdown file."""

from fwbench.analysis.findings import Findings
from fwbench.report import conclusions, heads, selection, words
from fwbench.report.captions import captions
from fwbench.report.claims import sections
from fwbench.report.markdown import code, prose, table
from fwbench.report.words import count, duration, number, power


def summary(findings: Findings, figures: bool = False) -> str:
    """Return the findings in short, as GitHub-flavoured Markdown.

    Parameters
    ----------
    findings : Findings
        What analysis found.
    figures : bool
        Whether ``figures/`` stands beside the file: some are shown, each with its caption.

    Returns
    -------
    str
        Names in it are code spans or escaped text: nothing that a name holds is markup.
    """
    blocks = [
        f"# {prose(selection.title(findings.manifest))}",
        f"Made by {code(findings.manifest.get('command') or 'an unknown command')}.",
        " · ".join(f"{name} {prose(value)}" for name, value in selection.facts(findings.manifest)),
    ]
    told = captions(findings) if figures else {}
    blocks += _figure("overview", "Convergence on a few instances", told)
    blocks += ["## Who won", *conclusions.won(findings)]
    blocks += ["## Who won where", *_winners(findings), "## What failed", *_failures(findings)]
    if selection.has_ratios(findings):
        blocks += ["## Ratios", *_goals(findings), *_races(findings)]
        blocks += [*_figure("ratios", "Ratios of foreign codes", told), *_costs(findings)]
    if len(findings.growth):
        blocks += ["## Growth", *conclusions.growth(findings), *_growth(findings)]
        blocks += _figure("growth", "Growth of time with the size", told)
    if len(findings.heads):
        rows = (selection.records(findings.heads), selection.records(findings.layers))
        blocks += ["## Heads", *heads.sections(*rows), *_figure("heads", "Collapse", told)]
    blocks += ["## Rates", *conclusions.decays(findings)]
    if compared := conclusions.profiles(findings):
        blocks += ["## Profiles", *compared]
        blocks += _figure("profile-defaults-lmo", "Profiles in oracle calls", told)
    blocks += ["## Fixed points", *_fixed_points(findings)]
    if findings.atlases:
        blocks += ["## Where starts come to rest", *_atlases(findings)]
    if findings.diagrams:
        blocks += ["## Figures of the paper", *_diagrams(findings, figures)]
    if findings.claims is not None:
        blocks += ["## Claims", *sections(findings.claims, depth=3, figures=figures)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _figure(stem: str, shows: str, told: dict[str, str]) -> list[str]:
    """Show a figure with its caption, where there is one of that name."""
    return [f"![{shows}](figures/{stem}.png)", prose(told[stem])] if stem in told else []


def _winners(findings: Findings) -> list[str]:
    rows = selection.winners(findings)
    if not rows:
        return ["No run came to any target."]
    return [
        table(
            ["instance", "kind", "target", "won by", "in", "oracle calls", "ahead", "reached by"],
            [
                [
                    code(row["instance_label"]),
                    prose(row["kind"]),
                    f"{words.MEASURES[row['measure']]} ≤ {power(row['target'])}",
                    _name(row["solver_label"]),
                    duration(row["seconds"]),
                    count(row["lmo"]),
                    _ahead(row),
                    f"{row['reached']} of {row['of']}",
                ]
                for row in rows
            ],
        ),
    ]


def _name(label: str | None) -> str:
    return "*nobody*" if label is None else code(label)


def _ahead(row: selection.Row) -> str:
    said = words.ahead(row)
    link = "with" if row["contest"] == "tied" else "before"
    return said if row["runner_up"] is None else f"{said} {link} {code(row['runner_up'])}"


def _failures(findings: Findings) -> list[str]:
    tally = ", ".join(f"{n} {prose(status)}" for status, n in selection.statuses(findings))
    rows = selection.failures(findings)
    shown = table(
        ["status", "solver", "instance", "reason"],
        [
            [
                prose(row["status"]),
                code(row["solver_label"]),
                code(row["instance_label"]),
                prose(row["reason"]),
            ]
            for row in rows
        ],
    )
    skipped = "\n".join(f"- {n} × {prose(why)}" for why, n in selection.skipped(findings))
    return [
        f"{len(findings.runs)} runs: {tally}." if tally else "There was no run.",
        shown if rows else "No run failed." if tally else "",
        "Skipped, by reason:" if skipped else "",
        skipped,
    ]


def _goals(findings: Findings) -> list[str]:
    rows = selection.records(findings.goals)
    head = ["ratio", "where", "bound", "measured", "met", "rests on"]
    shown = [
        [
            prose(row["what"]),
            code(row["where"]) if "[" in row["where"] else prose(row["where"]),
            words.bound(row),
            number(row["measured"]),
            "yes" if row["met"] else "**no**",
            prose(row["detail"]),
        ]
        for row in rows
    ]
    return [table(head, shown)] if rows else []


def _races(findings: Findings) -> list[str]:
    labels = selection.racers(findings, foreign=True)
    if not labels:
        return []
    rows = []
    for race in selection.races(findings):
        first = race.ours
        ours = "*nobody*" if first is None else f"{_name(first['solver_label'])} "
        ours += "" if first is None else duration(first["total"])
        each = [_raced(race.rows.get(label)) for label in labels]
        rows.append([code(race.label), power(race.target), ours, *each])
    return [
        "Time to a certified gap, foreign codes over our best: with set-up (without it).",
        table(["instance", "gap ≤", "our best", *map(code, labels)], rows),
    ]


def _raced(row: selection.Row | None) -> str:
    said = prose(words.raced(row))
    if row is None or row["total"] is None or row["ratio"] is None:
        return said
    return f"{said} ({words.times(row['ratio'])})"


def _costs(findings: Findings) -> list[str]:
    groups = selection.grouped(selection.records(findings.costs), "solver_label")
    if not groups:
        return []
    columns = ("step_passes", "late_step_gemvs", "solve_passes")
    rows = [
        [code(label), count(len(rows)), *(words.span(selection.span(rows, c)) for c in columns)]
        for (label,), rows in groups
    ]
    head = [
        "solver",
        "runs",
        "a step in passes",
        "a later step in products V g",
        "a solve in passes",
    ]
    return ["Costs in units of the machine, least … largest over the instances.", table(head, rows)]


def _growth(findings: Findings) -> list[str]:
    rows = [
        [
            code(row.regime),
            row.against,
            code(row.label),
            count(row.seconds["sizes"]),
            prose(words.exponent(row.seconds)),
            prose(words.exponent(row.steps)),
        ]
        for row in selection.growths(findings)
    ]
    head = ["instances", "against", "solver", "sizes", "exponent of seconds", "exponent of steps"]
    return ["Growth, with 95 % intervals.", table(head, rows)] if rows else []


def _fixed_points(findings: Findings) -> list[str]:
    rests = [{**row, "solver": row["run"]["solver_label"]} for row in selection.rests(findings)]
    if not rests:
        return ["No run has a fixed point to show."]
    return [
        *conclusions.rests(findings),
        table(
            ["solver", "rests at"],
            [
                [code(label), "; ".join(_resting(rows))]
                for (label,), rows in sorted(selection.grouped(rests, "solver"))
            ],
        ),
    ]


def _atlases(findings: Findings) -> list[str]:
    blocks = []
    for atlas in findings.atlases:
        said = [
            f"- {code(pair.solver_a)} and {code(pair.solver_b)} {words.apart(pair)}"
            for pair in atlas.pairs
        ]
        said += [
            f"- {code(basins.solver)} {words.unrest(basins)}"
            for basins in atlas.basins
            if basins.moving or basins.elsewhere
        ]
        blocks += [f"On {code(atlas.label)}:", "\n".join(said)]
    return blocks


def _diagrams(findings: Findings, figures: bool) -> list[str]:
    """List the figures of pure geometry, with what must be known beside the published ones."""
    names = [
        f"[{prose(d.name)}](figures/{d.name}.pdf)" if figures else code(d.name)
        for d in findings.diagrams
    ]
    rows = [
        [name, prose(diagram.title), prose(diagram.note)]
        for name, diagram in zip(names, findings.diagrams, strict=True)
    ]
    return [table(["figure", "shows", "beside the published one"], rows)]


def _resting(rests: list[selection.Row]) -> list[str]:
    said = []
    for (kind,), rows in selection.grouped(rests, "class"):
        queries = sum(row["queries"] for row in rows)
        certified = sum(row["queries"] for row in rows if row["certified"])
        said.append(f"{prose(kind)} {count(queries)} × ({count(certified)} certified)")
    return said
