"""Findings as one HTML file that needs no network."""

import json
import math
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from numpy.typing import NDArray

from fwbench.analysis.atlas import Atlas
from fwbench.analysis.findings import Findings, Picture
from fwbench.report import claims, gallery, heads, selection, words
from fwbench.report.curves import inline
from fwbench.report.words import Style

TEMPLATES = Path(__file__).parent / "templates"
SHOWN_FAILURES = 8
LONG_NAME = 24
DIGITS = 5  # of a curve: finer than a screen can show


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
    styles = words.styles(selection.solvers(findings))
    instances = selection.instances(findings)
    curves = selection.curves(findings)
    drawn = {curve.instance for curve in curves}
    curve_instances = [
        (name, row["instance_label"]) for name, row in instances.items() if name in drawn
    ]
    winners = selection.all_winners(findings)
    runs = selection.runs(findings)
    ratios = selection.has_ratios(findings)
    regimes = selection.regimes(findings) if ratios else []
    draws = bool(curves or findings.pictures or regimes)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=selection.title(findings.manifest),
            manifest={"command": findings.manifest.get("command")},
            facts=selection.facts(findings.manifest),
            sections=_sections(findings),
            styles=styles,
            failed=selection.FAILED,
            measures=words.MEASURES,
            axes=words.AXES,
            winners=winners,
            wins=selection.wins(findings),
            targets=sorted({row["target"] for row in winners}, reverse=True),
            statuses=selection.statuses(findings),
            failures=selection.failures(findings),
            shown_failures=SHOWN_FAILURES,
            skipped=selection.skipped(findings),
            curve_instances=curve_instances,
            curve_rows=selection.CURVE_ROWS,
            rates=selection.rates(findings),
            agreements=selection.agreements(findings),
            rests=selection.rests(findings),
            pictures=[picture.label for picture in findings.pictures],
            atlases=[_atlas(atlas) for atlas in findings.atlases],
            diagrams=[
                {"name": d.name, "title": d.title, "note": d.note, "drawn": gallery.diagram_svg(d)}
                for d in findings.diagrams
            ],
            patterns=gallery.PATTERNS,
            runs=runs,
            ratios=ratios,
            goals=selection.records(findings.goals) if ratios else [],
            races=selection.races(findings) if ratios else [],
            foreign=selection.racers(findings, foreign=True) if ratios else [],
            own=selection.racers(findings, foreign=False) if ratios else [],
            unanswered=selection.unanswered(findings) if ratios else [],
            costs=selection.records(findings.costs) if ratios else [],
            growths=selection.growths(findings) if ratios else [],
            regimes=regimes,
            claims=None if findings.claims is None else _claims(findings.claims),
            heads=selection.records(findings.heads),
            layers=selection.records(findings.layers) if len(findings.heads) else [],
            tolerances=len({row["tol"] for row in runs}) > 1,
            repeated=any(row["repetition"] for row in runs),
            data=embedded(
                _data(curves, findings.pictures, styles, [name for name, _ in curve_instances])
                | {"growth": [_grown(regime, styles) for regime in regimes]}
            ),
            draws=draws,
            plotly=_plotly() if draws else "",
            css=_file("style.css"),
            script=_file("report.js"),
            number=words.number,
            count=words.count,
            power=words.power,
            duration=words.duration,
            ahead=words.ahead,
            text=words.text,
            span=words.span,
            rate_words=words.rate,
            raced=words.raced,
            exponent=words.exponent,
            bound=words.bound,
            apart=words.apart,
            unrest=words.unrest,
            share=heads.share,
            spectrum=heads.spectrum,
            eigenvalues=heads.eigenvalues,
            outcome=heads.outcome,
            collapse=heads.collapse,
            cycles=heads.cycles,
            energy=heads.energy,
            head_columns=heads.HEAD,
            layer_columns=heads.REPEATED,
        )
    )


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
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = breakable
    environment.filters["folded"] = folded
    return environment


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
    shown = str(escape(name)).replace(",", ",<wbr>")
    return Markup(shown.replace("[", "<wbr>[") if len(name) > LONG_NAME else shown)


def folded(name: str) -> Markup:
    """Escape a name and let it break wherever a word of it ends: it heads a narrow column.

    Examples
    --------
    >>> print(folded("osqp_admm[a=1]"))
    osqp_<wbr>admm<wbr>[a=1]
    """
    return Markup(str(escape(name)).replace("_", "_<wbr>").replace("[", "<wbr>["))


def embedded(data: Any) -> Markup:
    """Write data as JSON that can stand in a script element: no ``<``, no line separator."""
    shown = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Markup(shown.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _sections(findings: Findings) -> list[tuple[str, str]]:
    named = [
        ("overview", "Overview"),
        ("ratios", "Ratios"),
        ("curves", "Convergence"),
        ("rates", "Rates"),
        ("points", "Fixed points"),
        ("heads", "Heads"),
        ("pictures", "In the plane"),
        ("claims", "Claims"),
        ("atlases", "Where starts rest"),
        ("diagrams", "Figures of the paper"),
        ("runs", "All runs"),
        ("reading", "How to read this"),
    ]
    absent = {"pictures"} if not findings.pictures else set()
    absent |= {"atlases"} if not findings.atlases else set()
    absent |= {"diagrams"} if not findings.diagrams else set()
    absent |= {"claims"} if findings.claims is None else set()
    absent |= set() if len(findings.heads) else {"heads"}
    absent |= {"ratios"} if not selection.has_ratios(findings) else set()
    return [entry for entry in named if entry[0] not in absent]


def _data(
    curves: list[selection.Curve],
    pictures: tuple[Picture, ...],
    styles: dict[str, Style],
    instances: list[str],
) -> dict[str, Any]:
    places = {label: i for i, label in enumerate(styles)}
    return {
        "solvers": [
            {
                "label": label,
                "colour": look.colour,
                "dash": look.css_dash,
                "symbol": look.symbol,
            }
            for label, look in styles.items()
        ],
        "measures": words.MEASURES,
        "axes": words.AXES,
        "curves": [
            {
                "instance": instances.index(curve.instance),
                "solver": places[curve.solver],
                "once": curve.once,
                **{name: [_short(v) for v in values] for name, values in curve.columns.items()},
            }
            for curve in curves
        ],
        "pictures": [_picture(picture, places) for picture in pictures],
    }


def _grown(regime: selection.Regime, styles: dict[str, Style]) -> dict[str, Any]:
    places = {label: i for i, label in enumerate(styles)}
    return {
        "against": regime.against,
        "lines": [
            {
                "solver": places[label],
                "sizes": [n for n, _ in line],
                "seconds": [s for _, s in line],
            }
            for label, line in regime.lines.items()
        ],
    }


def _short(value: float | None) -> float | int | None:
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value.is_integer() else float(f"{value:.{DIGITS}g}")


def _picture(picture: Picture, places: dict[str, int]) -> dict[str, Any]:
    leaders = selection.leaders(picture)
    index = {key: i for i, key in enumerate(leaders)}
    rounded = _rounded_to(picture.atoms)
    return {
        "atoms": picture.atoms.tolist(),
        "hull": picture.hull.tolist(),
        "cell_x": rounded(picture.cell_x),
        "cell_y": rounded(picture.cell_y),
        "cells": [_runs([index.get(key) for key in row]) for row in picture.cells.tolist()],
        "leaders": leaders,
        "colours": words.cell_colours(len(leaders)),
        "starts": picture.starts.tolist(),
        "window": selection.window(picture),
        "paths": [
            {
                "solver": places[label],
                "lines": [_line(rounded(line)) for line in points.swapaxes(0, 1)],
            }
            for label, points in picture.paths
        ],
    }


def _runs(row: list[int | None]) -> list[int | None]:
    """Return value, count, value, count, …: a row of cells has few of them."""
    return [part for value, run in groupby(row) for part in (value, len(list(run)))]


def _rounded_to(atoms: NDArray[np.float64]) -> Callable[[NDArray[np.float64]], list[Any]]:
    """Return what rounds coordinates to DIGITS digits of the extent of the atoms."""
    extent = float(np.ptp(atoms, axis=0).max())
    decimals = DIGITS - math.ceil(math.log10(extent)) if extent > 0 else DIGITS
    return lambda points: np.round(points, decimals).tolist()


def _line(points: list[list[float]]) -> list[list[float] | None]:
    return [p if all(map(math.isfinite, p)) else None for p in points]


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
