"""Growth in words: how seconds and steps grow with n, d, the condition number or β."""

from __future__ import annotations

from typing import Any

from fwbench.analysis.findings import Findings
from fwbench.report import selection
from fwbench.report.sentences import INSTANCE, Part, Said, many, tallied
from fwbench.report.words import hundredths

Row = dict[str, Any]

NAMED = 4  # solvers in a sentence, the slowest growth first
WORDS = {"seconds": "Seconds, with set-up,", "steps": "Steps"}
AGAINST = {"n": "n", "d": "d", "condition": "the condition number", "beta": "β"}
SYMBOLS = {"condition": "κ", "beta": "β"}


def context(findings: Findings) -> dict[str, Any]:
    """Return what the template of growth shows."""
    return {"growing_said": sentences(findings), "growing_rows": selection.growths(findings)}


def sentences(findings: Findings) -> list[Said]:
    """Say for each regime, size and quantity who grows how, the slowest growth first."""
    said = []
    rows = selection.records(findings.growth)
    for (regime, against, quantity), mine in selection.grouped(
        rows, "regime", "against", "quantity"
    ):
        known = sorted(
            (row for row in mine if row["exponent"] is not None), key=lambda row: row["exponent"]
        )
        symbol = SYMBOLS.get(against, str(against))
        pairs = [(row["solver_label"], _power(row, symbol)) for row in known]
        lost = len(mine) - len(known)
        open_ = f"undetermined for {many(lost, 'solver')}" if lost else ""
        verb = "grows" if quantity not in WORDS else "grow"
        begin = f"{WORDS.get(quantity, quantity)} {verb} with {AGAINST.get(against, against)} on "
        sentence = [Part(begin), Part(str(regime), INSTANCE), Part(": ")]
        end = f"; {open_}." if pairs and open_ else f"{open_}."
        said.append([*sentence, *tallied(pairs, NAMED), Part(end)])
    return said


def _power(row: Row, symbol: str) -> str:
    """Say a fitted power with its interval; one that holds 0 is no growth that could be seen.

    Examples
    --------
    >>> _power({"exponent": 1.02, "exponent_low": 0.97, "exponent_high": 1.07}, "n")
    'like n^1.02 (0.97 … 1.07)'
    >>> _power({"exponent": 0.02, "exponent_low": -0.04, "exponent_high": 0.08}, "n")
    'not to be seen: n^0.02 (-0.04 … 0.08)'
    """
    ends = ("exponent", "exponent_low", "exponent_high")
    value, low, high = (hundredths(row[name]) for name in ends)
    falls = row["exponent_high"] < 0.0
    seen = falls or row["exponent_low"] > 0.0
    how = "falling like" if falls else "like" if seen else "not to be seen:"
    return f"{how} {symbol}^{value} ({low} … {high})"
