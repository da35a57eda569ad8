"""Findings as one HTML file that needs no network."""

import json
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from fwbench.analysis.atlas import Atlas
from fwbench.analysis.findings import Findings
from fwbench.errors import visible
from fwbench.report import (
    captions,
    claims,
    embedding,
    environment,
    gallery,
    growing,
    heads,
    profile_tables,
    rates,
    resting,
    selection,
    standings,
    words,
)
from fwbench.report.curves import inline
from fwbench.report.words import Style

TEMPLATES = Path(__file__).parent / "templates"
SHOWN_FAILURES = 5
LONG_NAME = 24
SCRIPTS = ("state", "tables", "charts", "profiles", "pictures")
MARKS = {
    "circle": "M30 5a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "square": "M30.5 2.5h5v5h-5z",
    "diamond": "M33 1.2 36.8 5 33 8.8 29.2 5z",
    "triangle-up": "M33 1.5 36.5 8h-7z",
    "x": "M30 3 31 2 33 4 35 2 36 3 34 5 36 7 35 8 33 6 31 8 30 7 32 5z",
}  # at the end of a chip, by the name that plotly has for it
CHARTS = ("curves", "pictures", "growth", "profiles")  # what needs plotly
SECTIONS = (
    ("overview", "Overview"),
    ("ratios", "Ratios"),
    ("growth", "Growth"),
    ("curves", "Convergence"),
    ("rates", "Rates"),
    ("profiles", "Profiles"),
    ("points", "Fixed points"),
    ("heads", "Heads"),
    ("pictures", "Plane"),
    ("claims", "Claims"),
    ("atlases", "Basins"),
    ("diagrams", "Diagrams"),
    ("failures", "Failures"),
    ("runs", "Runs"),
    ("environment", "How made"),
    ("reading", "How to read"),
)
WORDS: dict[str, Any] = {
    name: getattr(words, name)
    for name in (
        "number",
        "count",
        "power",
        "duration",
        "times",
        "percent",
        "ahead",
        "text",
        "span",
        "raced",
        "exponent",
        "bound",
        "apart",
        "unrest",
    )
} | {
    "rate_words": words.rate,
    "share": heads.share,
    "spectrum": heads.spectrum,
    "eigenvalues": heads.eigenvalues,
    "outcome": heads.outcome,
    "collapse": heads.collapse,
    "cycles": heads.cycles,
    "energy": heads.energy,
}


def html(findings: Findings) -> str:
    """Return the report as one HTML document, script and data inside.

    Parameters
    ----------
    findings : Findings
        What analysis found.

    Returns
    -------
    str
        Equal for equal findings; names in it are escaped, whatever they hold.
    """
    findings = told_apart(findings)
    styles = words.styles(selection.solvers(findings))
    data = embedding.page_data(findings, styles)
    said = captions.of_instances(findings)
    data["captions"] = [said[label] for label in data["instances"]]
    draws = any(data.get(name) for name in CHARTS)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            WORDS
            | _overview(findings)
            | _made(findings)
            | {"software": captions.software(findings)}
            | _tables(findings)
            | _plane(findings)
            | standings.context(findings)
            | rates.context(findings)
            | resting.context(findings)
            | profile_tables.context(findings)
            | growing.context(findings)
            | {
                "styles": styles,
                "places": {label: place for place, label in enumerate(styles)},
                "chips": chips(styles.values()),
                "failed": selection.FAILED,
                "measures": words.MEASURES,
                "axes": words.AXES,
                "named_sections": SECTIONS,
                "claims": None if findings.claims is None else _claims(findings.claims),
                "data": embedded(data),
                "curve_instances": data["instances"],
                "draws": draws,
                "plotly": _plotly() if draws else "",
                "css": _file("style.css"),
                "script": _script(),
            }
        )
    )


def told_apart(findings: Findings) -> Findings:
    """Give instances that share a label their full names: a choice and a link name just one.

    A file that changed between two runs is two instances of one label.
    """
    named = findings.runs[["instance", "instance_label"]].drop_duplicates()
    shared = set(named["instance"][named["instance_label"].duplicated(keep=False)])
    if not shared:
        return findings
    renamed: dict[str, Any] = {}
    for name in (field.name for field in fields(findings)):
        table = getattr(findings, name)
        if isinstance(table, pd.DataFrame) and {"instance", "instance_label"} <= set(table):
            ours = table["instance"].isin(shared)
            labels = table["instance_label"].mask(ours, table["instance"].map(visible))
            renamed[name] = table.assign(instance_label=labels)
    return replace(findings, **renamed)


def _overview(findings: Findings) -> dict[str, Any]:
    """Return what the first screen shows: who won where, and what failed."""
    winners = selection.all_winners(findings)
    failures = selection.failures(findings)
    skipped = selection.skipped(findings)
    instances = selection.instances(findings)
    return {
        "winners": winners,
        "targets": sorted({row["target"] for row in winners}, reverse=True),
        "statuses": selection.statuses(findings),
        "failures": failures,
        "failure_groups": selection.grouped(failures, "status", "solver_label", "reason"),
        "shown_failures": SHOWN_FAILURES,
        "skipped": skipped,
        "skipped_runs": sum(count for _, count in skipped),
        "instances": [(name, row["instance_label"]) for name, row in instances.items()],
        "run_instances": set(instances),
    }


def _made(findings: Findings) -> dict[str, Any]:
    """Return what says how the runs were made."""
    return {
        "title": selection.title(findings.manifest),
        "summary_line": environment.line(findings),
        "commands": environment.commands(findings.manifest),
        "history": environment.history(findings),
        "environment": environment.groups(findings.manifest),
        "curve_rows": selection.CURVE_ROWS,
    }


def _tables(findings: Findings) -> dict[str, Any]:
    """Return the rows of the long tables."""
    ratios = selection.has_ratios(findings)
    runs = selection.runs(findings)
    return {
        "runs": runs,
        "ranks": {name: rank for rank, name in enumerate(selection.STATUSES)},
        "tolerances": len({row["tol"] for row in runs}) > 1,
        "repeated": any(row["repetition"] for row in runs),
        "ratios": ratios,
        "goals": selection.records(findings.goals) if ratios else [],
        "races": selection.races(findings) if ratios else [],
        "foreign": selection.racers(findings, foreign=True) if ratios else [],
        "own": selection.racers(findings, foreign=False) if ratios else [],
        "unanswered": selection.unanswered(findings) if ratios else [],
        "costs": selection.records(findings.costs) if ratios else [],
        "regimes": selection.regimes(findings) if ratios else [],
        "heads": selection.records(findings.heads),
        "layers": selection.records(findings.layers) if len(findings.heads) else [],
        "head_columns": heads.HEAD,
        "layer_columns": heads.REPEATED,
    }


def _plane(findings: Findings) -> dict[str, Any]:
    """Return what lies in the plane: names of pictures, and drawings as SVG."""
    return {
        "pictures": [picture.label for picture in findings.pictures],
        "atlases": [_atlas(atlas) for atlas in findings.atlases],
        "diagrams": [
            {"name": d.name, "title": d.title, "note": d.note, "drawn": gallery.diagram_svg(d)}
            for d in findings.diagrams
        ],
        "patterns": gallery.PATTERNS,
    }


def _script() -> Markup:
    """Return all scripts as one, in a scope of their own: they share names, and hide them."""
    parts = [_file(f"{name}.js") for name in SCRIPTS]
    return Markup('"use strict";\n(() => {\n' + "\n".join(parts) + "\nstate.start();\n})();")


def verdicts_page(document: dict[str, Any]) -> str:
    """Return verdicts of claims as one HTML document that needs no network.

    Parameters
    ----------
    document : dict
        As `fwbench.theory.verdicts.document` makes it.
    """
    return (
        _environment()
        .get_template("claims.html.j2")
        .render(
            title=f"Claims: {document['effort']} effort",
            command=document["command"],
            claims=_claims(document),
            css=_file("style.css"),
            text=words.text,
        )
    )


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["breakable"] = breakable
    made.filters["folded"] = folded
    made.filters["visible"] = visible
    made.tests["stands_in"] = _stands_in
    return made


def _stands_in(section: tuple[str, str], body: str) -> bool:
    return f'<section id="{section[0]}"' in body


def _claims(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of claims shows."""
    shown = []
    for record in document["claims"]:
        figure = inline(record)
        shown.append(
            record
            | {
                "said": claims.expected(record),
                "place": claims.source(record),
                "short": claims.numbers(record["numbers"], claims.SHOWN_NUMBERS),
                "all_numbers": claims.numbers(record["numbers"]),
                "again": claims.again(record, document["effort"]),
                "cases": [_case(case) for case in record["tried"]],
                "controlled": [_case(case) for case in record["controls"]],
                "figure": None if figure is None else Markup(figure),
            }
        )
    return {
        "conclusion": claims.conclusion(document),
        "cited": claims.cited(document["claims"]),
        "surprises": claims.surprises(document["claims"]),
        "head": claims.HEAD,
        "shown": shown,
    }


def _case(case: dict[str, Any]) -> dict[str, Any]:
    return case | {"said": claims.verdict_of(case), "measured": claims.numbers(case["numbers"])}


def breakable(name: str) -> Markup:
    """Escape a name and let it break after its commas; a long one before its bracket too."""
    shown = str(escape(visible(name))).replace(",", ",<wbr>")
    return Markup(shown.replace("[", "<wbr>[") if len(name) > LONG_NAME else shown)


def folded(name: str) -> Markup:
    """Escape a name and let it break wherever a word of it ends: it heads a narrow column.

    Examples
    --------
    >>> print(folded("osqp_admm[a=1]"))
    osqp_<wbr>admm<wbr>[a=1]
    """
    return Markup(str(escape(visible(name))).replace("_", "_<wbr>").replace("[", "<wbr>["))


def embedded(data: Any) -> Markup:
    """Write data as JSON that can stand in a script element: no ``<``, no line separator."""
    shown = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Markup(shown.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def chips(styles: Iterable[Style]) -> Markup:
    """Return the rules of the chips: the line of each solver, ending in its symbol as in a chart.

    As rules, not as an SVG in each of the thousands of places where a solver is named.
    """
    rules = []
    for place, look in enumerate(styles):
        dash = " ".join(map(str, look.dash))
        drawn = (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 38 10">'
            f'<g fill="{look.colour}" stroke="{look.colour}">'
            f'<path d="M1 5H29" stroke-width="2.4" stroke-dasharray="{dash}"/>'
            f'<path d="{MARKS[look.symbol]}"/></g></svg>'
        )
        rules.append(
            f'.chip-{place} {{ background-image: url("data:image/svg+xml,{quote(drawn)}"); }}'
        )
    return Markup("\n".join(rules))


def _atlas(atlas: Atlas) -> dict[str, Any]:
    """Return what the template of an atlas shows."""
    maps = [(basins.solver, gallery.basins_svg(atlas, basins)) for basins in atlas.basins]
    if atlas.pairs:
        maps.append(("where two solvers rest apart", gallery.differ_svg(atlas)))
    restless = [basins for basins in atlas.basins if basins.moving or basins.elsewhere]
    return {"label": atlas.label, "maps": maps, "pairs": atlas.pairs, "restless": restless}


def _file(name: str) -> Markup:
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _plotly() -> Markup:
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())
