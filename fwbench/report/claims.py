"""Verdicts of claims in words, the same on the terminal, in Markdown and in HTML.

A record is what `fwbench.theory.verdicts` makes of a claim.
"""

import shlex
from collections.abc import Iterable
from typing import Any

from fwbench.report.markdown import code, prose, table
from fwbench.report.words import duration
from fwbench.theory.claim import Claim
from fwbench.theory.verdicts import Record

SECTIONS = {
    2: "Derivations",
    3: "Negative definite",
    4: "Positive definite",
    5: "Finite β",
}  # of the paper
PAPER = "arXiv 2508.09628v1"
SHOWN_NUMBERS = 3  # in a table; all stand with their case
HEAD = ("claim", "source", "standing", "verdict", "first witness", "numbers")


def expected(record: Record) -> str:
    """Say a verdict, and whether it is the one that the claim's file expects.

    Examples
    --------
    >>> told = {"verdict": "holds", "expects": "broken", "as_expected": False, "error": ""}
    >>> expected(told), expected(told | {"verdict": "broken", "as_expected": True})
    ('holds, expected broken', 'broken, as expected')
    >>> expected(told | {"verdict": "broken"})
    'broken, but not as expected'
    """
    if record["error"]:
        return "not decided: the check failed"
    if record["verdict"] != record["expects"]:
        return f"{record['verdict']}, expected {record['expects']}"
    return f"{record['verdict']}, {'as' if record['as_expected'] else 'but not as'} expected"


def numbers(measured: dict[str, str], most: int | None = None) -> str:
    """Say what was measured; how many are left out, if any are.

    Examples
    --------
    >>> numbers({"t": "16", "J": "1250", "bound": "20800/17"}, most=2)
    't = 16, J = 1250 and 1 more'
    >>> numbers({"largest error at β = 1": "1.65"})
    'largest error at β = 1: 1.65'
    """
    parts = [
        f"{name}{': ' if ' ' in name or '=' in name else ' = '}{value}"
        for name, value in measured.items()
    ]
    left_out = f" and {len(parts) - most} more" if most is not None and len(parts) > most else ""
    return ", ".join(parts[:most]) + left_out


def source(record: Record) -> str:
    """Say where a statement stands, for a table that names the paper once.

    Examples
    --------
    >>> source({"source": "this project; after arXiv 2508.09628v1, Theorem 5.4"})
    'this project; after Theorem 5.4'
    """
    return str(record["source"]).replace(f"{PAPER}, ", "")


def cited(records: list[Record]) -> str:
    """Name the paper that a table with `source` leaves out; nothing where none is of it."""
    if not any(PAPER in record["source"] for record in records):
        return ""
    return f"Theorems and equations are numbered as in {PAPER}."


def tally(records: list[Record]) -> str:
    """Count the verdicts of claims.

    Examples
    --------
    >>> tally([{"verdict": "holds"}, {"verdict": "broken"}, {"verdict": "holds"}])
    'holds 2, broken 1'
    """
    verdicts = [record["verdict"] for record in records]
    return ", ".join(f"{verdict} {verdicts.count(verdict)}" for verdict in dict.fromkeys(verdicts))


def conclusion(document: dict[str, Any]) -> str:
    """Say how a verification ended, in a sentence.

    Examples
    --------
    >>> told = {"verdict": "holds", "as_expected": True}
    >>> conclusion({"claims": [told], "effort": "standard", "seconds": 2.0, "interrupted": False})
    '1 claim: holds 1; as its file expects. Standard effort, 2 s.'
    """
    records = document["claims"]
    if not records:
        return "No claim was tried."
    several = len(records) > 1
    surprising = sum(not record["as_expected"] for record in records)
    files = "their files expect" if several else "its file expects"
    agrees = f"{surprising} not as {files}" if surprising else f"{'all ' * several}as {files}"
    ended = " Interrupted: claims are missing." if document["interrupted"] else ""
    return (
        f"{len(records)} claim{'s' * several}: {tally(records)}; {agrees}. "
        f"{document['effort'].capitalize()} effort, {duration(document['seconds'])}.{ended}"
    )


def surprises(records: list[Record]) -> list[tuple[str, str]]:
    """Return what differs from what a claim's file expects, by claim."""
    return [(record["name"], text) for record in records for text in record["surprises"]]


def again(record: Record, effort: str) -> str:
    """Return the command that tries a claim again."""
    return shlex.join(["fwbench", "verify", record["asked"], *["--long"] * (effort == "long")])


def overview(records: list[Record]) -> str:
    """Return the table of claims as Markdown."""
    rows = [
        [
            code(record["name"]),
            prose(source(record)),
            prose(record["standing"]),
            prose(expected(record)) if record["as_expected"] else f"**{prose(expected(record))}**",
            prose(record["witness"]),
            prose(numbers(record["numbers"], SHOWN_NUMBERS)),
        ]
        for record in records
    ]
    return table(list(HEAD), rows)


def listed(claims: Iterable[Claim]) -> str:
    """Return the table of what claims say and expect as Markdown; nothing is tried."""
    rows = [
        [
            code(claim.name),
            prose(claim.title),
            prose(source({"source": claim.source})),
            prose(claim.standing),
            prose(claim.expects),
            prose(claim.expects_witness or "–"),
        ]
        for claim in claims
    ]
    return table(["claim", "what it says", "source", "standing", "verdict", "first witness"], rows)


def sections(document: dict[str, Any], *, depth: int = 2, figures: bool = False) -> list[str]:
    """Return verdicts as Markdown: the table, then each claim with all that was tried.

    Parameters
    ----------
    document : dict
        As `fwbench.theory.verdicts.document` makes it.
    depth : int
        Of the headings.
    figures : bool
        Whether ``figures/claim-NAME.png`` stand beside the file and are to be shown.
    """
    records = document["claims"]
    blocks = [prose(conclusion(document)), overview(records) if records else "", cited(records)]
    blocks += [f"- **{code(name)}**: {prose(text)}" for name, text in surprises(records)]
    for record in records:
        blocks += [f"{'#' * depth} {prose(record['name'])}", *_claim(record, document["effort"])]
        if figures and record["curves"] is not None:
            blocks.append(f"![The deciding figure](figures/claim-{record['name']}.png)")
    return [block for block in blocks if block]


def _claim(record: Record, effort: str) -> list[str]:
    facts = [
        ("source", prose(record["source"])),
        ("standing", prose(record["standing"])),
        ("verdict", f"**{prose(expected(record))}**"),
        ("hypotheses", prose("; ".join(record["hypotheses"]))),
        ("measured", prose(record["quantity"])),
        ("horizon", prose(record["horizon"])),
        ("arithmetic", prose(record["arithmetic"])),
        ("numbers", _numbers(record)),
        ("file", code(record["file"]) if record["file"] else ""),
        ("again", code(again(record, effort))),
    ]
    return [
        prose(record["statement"]),
        code(record["formula"]),
        "\n".join(f"- {name}: {value}" for name, value in facts if value),
        prose(record["remark"]) if record["remark"] else "",
        *_about(record["about"]),
        f"The check failed: {prose(record['error'])}" if record["error"] else "",
        _cases(record["tried"]) if record["tried"] else "",
        "Controls, whose verdict is known beforehand:" if record["controls"] else "",
        _controls(record["controls"]) if record["controls"] else "",
    ]


def _numbers(record: Record) -> str:
    if not record["numbers"]:
        return ""
    return f"{prose(numbers(record['numbers']))} ({code(record['numbers_of'])})"


def _about(text: str) -> list[str]:
    """Return what a claim's file says before all, paragraph by paragraph."""
    parts = [prose(part) for part in text.split("\n\n") if part.strip()]
    return ["What its file says:", *(f"> {part}" for part in parts)] if parts else []


def _cases(tried: list[dict[str, Any]]) -> str:
    rows = [
        [
            code(case["case"]),
            prose(verdict_of(case)),
            prose(case["horizon"]),
            prose(case["witness"]),
            prose(numbers(case["numbers"])),
        ]
        for case in tried
    ]
    return table(["case", "verdict", "horizon", "witness", "numbers"], rows)


def _controls(controls: list[dict[str, Any]]) -> str:
    rows = [
        [
            code(case["case"]),
            prose(case["why"]),
            prose(case["expects"]),
            prose(verdict_of(case)),
            prose(case["horizon"]),
            prose(case["witness"]),
            prose(numbers(case["numbers"])),
        ]
        for case in controls
    ]
    head = ["control", "why", "must be", "verdict", "horizon", "witness", "numbers"]
    return table(head, rows)


def verdict_of(case: dict[str, Any]) -> str:
    """Say what became of a case.

    Examples
    --------
    >>> verdict_of({"refused": "a vertex does not own its cell", "verdict": None})
    'refused: a vertex does not own its cell'
    """
    refused = case.get("refused")
    return case["verdict"] if refused is None else f"refused: {refused}"
