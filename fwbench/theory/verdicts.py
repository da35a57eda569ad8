"""A claim with its verdict as plain data: what is printed as JSON, kept on disk and reported.

Reports are made from these records alone, so a verdict that was read back looks like a new one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from fwbench.errors import visible
from fwbench.shapes import integer, listed, mapped, maybe, number, scalar, table, text, truth
from fwbench.theory.claim import Curves, Line, Outcome, Tried, Verified

SCHEMA = 1
TEXTS = ("title", "statement", "formula", "source", "remark", "quantity", "horizon", "arithmetic",
         "expects_witness")  # fmt: skip

Record = dict[str, Any]

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")  # it names files and places of a page


def name_fault(value: Any) -> str:
    """Return what is wrong with the name of a claim, "" where nothing is.

    Examples
    --------
    >>> name_fault("consensus"), name_fault("../x")
    ('', 'must consist of letters, digits, dots, _ and -, 100 at most')
    """
    right = isinstance(value, str) and NAME.fullmatch(value)
    return "" if right else "must consist of letters, digits, dots, _ and -, 100 at most"


_OUTCOME = {
    "case": text, "verdict": maybe(text), "horizon": maybe(scalar), "witness": text,
    "numbers": mapped(text),
}  # fmt: skip
_LINE = {
    "label": text, "bound": truth, "x": listed(maybe(number)), "y": listed(maybe(number)),
}  # fmt: skip
_CURVES = {
    **dict.fromkeys(("title", "x_label", "y_label", "note"), text),
    **dict.fromkeys(("log_x", "log_y"), truth),
    "marks": listed(table({"x": number, "label": text})),
    "lines": listed(table(_LINE)),
}
_RECORD = {
    "name": name_fault,
    **dict.fromkeys((*TEXTS, "asked", "file", "about", "standing", "expects", "verdict",
                     "numbers_of", "error", "trace"), text),
    "section": maybe(scalar),
    **dict.fromkeys(("hypotheses", "surprises"), listed(text)),
    "as_expected": truth,
    "witness": text,
    "numbers": mapped(text),
    "tried": listed(table({**_OUTCOME, "refused": maybe(text)})),
    "controls": listed(table({**_OUTCOME, "expects": text, "why": text})),
    "seconds": number,
    "curves": maybe(table(_CURVES)),
}  # fmt: skip
_DOCUMENT = table(
    {
        "command": text,
        "effort": text,
        "seconds": number,
        "interrupted": truth,
        "claims": listed(table(_RECORD)),
    },
    {"schema": integer},
)


def fault(document: Any) -> str:
    """Return what is wrong with a document that was read back, "" where nothing is.

    Examples
    --------
    >>> fault(document([], long=False, seconds=0.0)), fault({"command": "x"})
    ('', 'holds no effort')
    """
    if wrong := _DOCUMENT(document):
        return wrong
    for told in document["claims"]:
        lines = (told["curves"] or {}).get("lines", ())
        if any(len(line["x"]) != len(line["y"]) for line in lines):
            return f"a line of the figure of {told['name']} has unlike numbers of x and y"
    return ""


def seen(told: Any) -> Any:
    """Return a document with letters that nobody sees, or that a terminal obeys, as escapes."""
    if isinstance(told, dict):
        return {seen(key): seen(value) for key, value in told.items()}
    if isinstance(told, list):
        return [seen(value) for value in told]
    return visible(told, keep="\n") if isinstance(told, str) else told


def record(found: Verified, *, asked: str = "", file: str = "", about: str = "") -> Record:
    """Return a verdict as JSON knows it.

    Parameters
    ----------
    found : Verified
    asked : str
        The name or path that finds the claim again; its name by default.
    file, about : str
        Where the claim is written, and what its file says before all: the proof, as a rule.

    Returns
    -------
    dict
        Strict JSON, the curves of the deciding case included: a point that is not finite is null.
        `numbers` are those of one case, `numbers_of`, that of `Verified.deciding`, and the one
        that picked it comes first; all stand with their cases.
    """
    claim, surprises, deciding = found.claim, found.surprises, found.deciding
    return {
        "name": claim.name,
        "asked": asked or claim.name,
        "file": file,
        "about": about,
        "section": claim.section,
        **{name: getattr(claim, name) for name in TEXTS},
        "standing": str(claim.standing),
        "hypotheses": list(claim.hypotheses),
        "expects": str(claim.expects),
        "verdict": str(found.verdict),
        "as_expected": not surprises,
        "surprises": list(surprises),
        "witness": found.witness,
        "numbers": _first(claim.telling, deciding),
        "numbers_of": "" if deciding is None else deciding.case,
        "tried": [
            {"case": t.case, "refused": t.refused, **_outcome(t.outcome)} for t in found.tried
        ],
        "controls": [_control(t) for t in found.controls],
        "seconds": found.seconds,
        "error": found.error,
        "trace": found.trace,
        "curves": None if found.curves is None else _drawn(found.curves),
    }


def _outcome(outcome: Outcome | None) -> Record:
    if outcome is None:  # the case was refused
        return {"verdict": None, "horizon": None, "witness": "", "numbers": {}}
    return {
        "verdict": str(outcome.verdict),
        "horizon": outcome.horizon,
        "witness": outcome.witness,
        "numbers": dict(outcome.numbers),
    }


def _control(tried: Tried) -> Record:
    told = {"case": tried.case, "expects": str(tried.expects), "why": tried.why}
    return told | _outcome(tried.outcome)


def _first(telling: str, deciding: Tried | None) -> dict[str, str]:
    """Return the numbers of a case, the telling one before all."""
    if deciding is None or deciding.outcome is None:
        return {}
    numbers = dict(deciding.outcome.numbers)
    return {name: numbers[name] for name in (telling,) if name in numbers} | numbers


def _drawn(curves: Curves) -> Record:
    return {
        "title": curves.title,
        "x_label": curves.x_label,
        "y_label": curves.y_label,
        "log_x": curves.log_x,
        "log_y": curves.log_y,
        "marks": [{"x": float(x), "label": label} for x, label in curves.marks],
        "note": curves.note,
        "lines": [
            {"label": line.label, "bound": line.bound, "x": _finite(line.x), "y": _finite(line.y)}
            for line in curves.lines
        ],
    }


def _finite(values: Iterable[Any]) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]


def curves(told: Record) -> Curves | None:
    """Return the figure that decides a claim, from its record; null is NaN."""
    drawn = told["curves"]
    if drawn is None:
        return None
    return Curves(
        title=drawn["title"],
        x_label=drawn["x_label"],
        y_label=drawn["y_label"],
        lines=tuple(
            Line(
                line["label"],
                np.array(line["x"], dtype=np.float64),
                np.array(line["y"], dtype=np.float64),
                line["bound"],
            )
            for line in drawn["lines"]
        ),
        log_x=drawn["log_x"],
        log_y=drawn["log_y"],
        marks=tuple((mark["x"], mark["label"]) for mark in drawn["marks"]),
        note=drawn["note"],
    )


def document(
    records: Iterable[Record],
    *,
    long: bool,
    seconds: float,
    interrupted: bool = False,
    command: str = "",
) -> Record:
    """Return what a file of verdicts holds.

    `interrupted` says that some claims are missing; `command` is what was typed, "" in a run.
    """
    return {
        "schema": SCHEMA,
        "command": command,
        "effort": "long" if long else "standard",
        "seconds": seconds,
        "interrupted": interrupted,
        "claims": list(records),
    }


def without_curves(told: Record) -> Record:
    """Return a document or a record without what is only drawn, for a reader on the terminal."""
    short = {key: value for key, value in told.items() if key != "curves"}
    if "claims" in short:
        short["claims"] = [without_curves(one) for one in short["claims"]]
    return short
