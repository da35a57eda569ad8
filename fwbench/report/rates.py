"""Rates in words: a sentence a solver, a row a regime, and what theory promises beside it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fwbench.analysis.findings import Findings
from fwbench.analysis.seeds import CLASSES
from fwbench.report import selection
from fwbench.report.sentences import INSTANCE, SOLVER, Part, Said, many
from fwbench.report.words import MEASURES, NONE, count, number

Row = dict[str, Any]

SENTENCES = 12  # solvers that have one on the page; the others stand in the table
WIDE = 0.99  # a factor above it is told by what it lacks to 1
FOLDED = 40  # runs from which on their table is folded up
HEAD = (
    "regime", "solver", "read off", "class", "rate", "95 % interval", "window", "seeds",
    "promised", "of its bound",
)  # fmt: skip
WORDY = (
    "regime", "solver", "read off", "class", "promised", "seeds", "instance",
)  # fmt: skip
NOTE = (
    "A regime is instances that differ by their seed alone. The interval is a bootstrap over "
    "seeds, never over the steps of one trace, and takes three seeds of the class at least. A law "
    "bounds from above and speaks of the limit: a run may be faster, or slower so far. Only a "
    "bound with its constant can be broken, where more than 1 of it is used. Undetermined: the "
    "traces do not carry a class, and the reason says why."
)


def context(findings: Findings) -> dict[str, Any]:
    """Return what the template of rates shows."""
    said = sentences(findings)
    runs = selection.rates(findings)
    return {
        "rates_said": said[:SENTENCES],
        "rates_more": max(0, len(said) - SENTENCES),
        "rates_head": HEAD,
        "rates_wordy": WORDY,
        "rates_rows": rows(findings),
        "rates_runs": [{**row, "shown": rated(row["rate_class"], row["rate"])} for row in runs],
        "rates_folded": len(runs) > FOLDED,
        "rates_note": NOTE,
    }


def rated(law: Any, value: Any) -> str:
    """Say a rate in the unit of its class; a factor next to 1 by what it lacks.

    Examples
    --------
    >>> [rated("sublinear", -1.983), rated("linear", 0.93), rated("linear", 0.99953)]
    ['exponent -1.98', 'factor 0.93 a step', 'factor 1 - 4.7e-04 a step']
    >>> rated("superlinear", 1.5), rated("finite", 21.0), rated("none", None)
    ('order 1.5', 'in 21 steps', '–')
    """
    if value is None or value != value:
        return NONE
    shown = _unit(law, value)
    if law == "finite":
        return f"in {count(value)} step" if value == 1 else f"in {shown} steps"
    words = {"sublinear": "exponent {}", "linear": "factor {} a step", "superlinear": "order {}"}
    return words.get(str(law), "{}").format(shown)


def _unit(law: Any, value: float) -> str:
    if law == "linear" and WIDE < value < 1.0:
        return f"1 - {number(1.0 - value)}"
    return number(value)


def interval(row: Row) -> str:
    """Say the interval of a rate, or why there is none.

    Examples
    --------
    >>> interval({"rate_low": -2.02, "rate_high": -1.95, "rate_class": "sublinear"})
    '-2.02 … -1.95'
    >>> interval({"rate_low": None, "rate": -2.0, "rate_class": "sublinear", "seeds": 1})
    'one seed: none'
    """
    if row["rate_low"] is not None:
        low, high = (_unit(row["rate_class"], row[end]) for end in ("rate_low", "rate_high"))
        return low if low == high else f"{low} … {high}"
    if row["rate"] is None:
        return NONE
    return "one seed: none" if row["seeds"] == 1 else f"{count(row['seeds'])} seeds: none"


def promise(row: Row) -> str:
    """Say what theory promises, and where the optimum lies for which it does.

    Examples
    --------
    >>> promise({"promised_class": "sublinear", "promised_rate": -2.0, "optimum": "interior"})
    't^-2, optimum in the interior'
    """
    law = _law(row)
    place = {"interior": "in the interior", "face": "on a face", "vertex": "at a vertex"}
    where = place.get(str(row["optimum"]))
    return law if where is None or law == NONE else f"{law}, optimum {where}"


def _law(row: Row) -> str:
    if row["promised_class"] is None:
        return NONE
    if row["promised_class"] == "sublinear" and row["promised_rate"] is not None:
        return f"t^{number(row['promised_rate'])}"
    return str(row["promised_class"])


def verdict(row: Row) -> str:
    """Say how what was measured stands to what is promised."""
    if row["bound_share"] is not None and row["bound_share"] > 1.0:
        return "above its bound"
    told = {"as promised": "as promised", "faster": "faster", "slower": "slower so far"}
    return told.get(str(row["verdict"]), NONE)


def share(row: Row) -> str:
    """Say how much of a bound with its constant was used at most.

    Examples
    --------
    >>> share({"bound_share": 0.277, "bound_constant": 2.0})
    '0.277 of the bound 2 D²/(t + 2)'
    """
    if row["bound_share"] is None:
        return NONE
    constant = number(row["bound_constant"])
    return f"{number(row['bound_share'])} of the bound {constant} D²/(t + 2)"


def classes(row: Row) -> str:
    """Say how many seeds are of which class."""
    counts = [(name, row[name]) for name in CLASSES if row[name]]
    if len(counts) == 1:
        return count(row["seeds"])
    return ", ".join(f"{count(n)} {name}" for name, n in counts)


def rows(findings: Findings) -> list[Row]:
    """Return a row a regime, solver and signal, in words."""
    return [
        {
            **row,
            "signal": MEASURES.get(row["rate_signal"], str(row["rate_signal"])),
            "shown": rated(row["rate_class"], row["rate"]),
            "interval_shown": interval(row),
            "made": _made(row),
            "window": window(row),
            "counts": classes(row),
            "promise": _law(row),
            "optimum": row["optimum"] or "",
            "told": verdict(row),
            "share": share(row),
            "why": row["reason"] if row["rate_class"] == "undetermined" else None,
        }
        for row in selection.records(findings.rates)
    ]


def _made(row: Row) -> str:
    """Say exactly what an interval is, or what is missing for one."""
    if row["rate_low"] is None:
        return row["reason"] or ""
    how = {"percentile": "percentile bootstrap", "BCa": "BCa bootstrap"}.get(row["interval"], "")
    return f"95 %, {how or 'range of the seeds'} over {many(row[row['rate_class']], 'seed')}"


def window(row: Row) -> str:
    """Say from which step to which was fitted.

    Examples
    --------
    >>> window({"rate_from": 13, "rate_to": 75}), window({"rate_from": None, "rate_to": None})
    ('k 13 … 75', '–')
    """
    if row["rate_from"] is None or row["rate_to"] is None:
        return NONE
    return f"k {count(row['rate_from'])} … {count(row['rate_to'])}"


# -- sentences -----------------------------------------------------------------------------------


def sentences(findings: Findings) -> list[Said]:
    """Say of each solver how fast it comes down, over all regimes, and what theory promises.

    Those whose bound is broken come first, then those with an interval over seeds, then those that
    theory has a law for.
    """
    groups = selection.grouped(selection.records(findings.rates), "solver_label")
    ranked = sorted(groups, key=lambda group: _weight(group[1]))
    return [_solver(str(label), mine) for (label,), mine in ranked]


def _weight(mine: list[Row]) -> tuple[bool, bool, bool]:
    broken = any((row["bound_share"] or 0.0) > 1.0 for row in mine)
    seeded = any(row["rate_low"] is not None for row in mine)
    return not broken, not seeded, all(row["promised_class"] is None for row in mine)


def _solver(label: str, mine: list[Row]) -> Said:
    if len(mine) == 1:
        [row] = mine
        where = [Part(" on "), Part(str(row["regime"]), INSTANCE)]
        return [Part(label, SOLVER), *where, Part(f": {_one(row)}.")]
    seeded = [row for row in mine if row["rate_low"] is not None]
    text = f", {many(len(mine), 'regime')}: {_classes(mine)}{_theory(mine)}{_bound(mine)}."
    said = [Part(label, SOLVER), Part(text)]
    if seeded:
        first = max(seeded, key=lambda row: row["seeds"])
        said += [Part(" On "), Part(str(first["regime"]), INSTANCE), Part(f": {_one(first)}.")]
    return said


def _one(row: Row) -> str:
    """Say the rate of one regime, with its interval, what it was read off, and the promise."""
    signal = MEASURES.get(row["rate_signal"], str(row["rate_signal"]))
    if row["rate_class"] == "undetermined":
        return f"undetermined ({row['reason']}), read off the {signal}"
    shown = rated(row["rate_class"], row["rate"])
    text = row["rate_class"] if shown == NONE else shown
    if row["rate_low"] is not None and row["rate_low"] == row["rate_high"]:
        text += f" on each of {many(row[row['rate_class']], 'seed')}"
    elif row["rate_low"] is not None:
        text += f" ({interval(row)}) over {many(row[row['rate_class']], 'seed')}"
    elif row["rate"] is not None:
        text += f" ({interval(row).replace(': none', ', no interval')})"
    text += f", read off the {signal}"
    if row["promised_class"] is not None:
        told = verdict(row)
        text += f"; theory promises {promise(row)}" + (f": {told}" if told != NONE else "")
    return text + _bound([row])


def _classes(mine: list[Row]) -> str:
    """Say in how many regimes a solver is of which class, and the rates there."""
    parts = []
    for name in CLASSES:
        some = [row for row in mine if row["rate_class"] == name]
        if not some:
            continue
        values = _values(name, selection.span(some, "rate"))
        said = "no decay" if name == "none" else name
        parts.append(f"{said} in {count(len(some))}{values}")
    return ", ".join(parts)


def _values(law: str, ends: tuple[Any, Any]) -> str:
    if ends[0] is None:
        return ""
    low, high = (_unit(law, end) for end in ends)
    shown = low if low == high else f"{low} … {high}"
    words = {"sublinear": "exponent {}", "linear": "factor {} a step", "superlinear": "order {}"}
    finite = "{} step" if high == "1" else "{} steps"
    return f" ({words.get(law, finite).format(shown)})"


def _theory(mine: list[Row]) -> str:
    told = Counter(verdict(row) for row in mine if row["promised_class"] is not None)
    open_ = told.pop(NONE, 0)
    if not told:
        return ""
    listed = [f"{name} in {count(n)}" for name, n in told.most_common()]
    listed += [f"can't be said in {count(open_)}"] if open_ else []
    return f"; theory: {', '.join(listed)}"


def _bound(mine: list[Row]) -> str:
    used = [row for row in mine if row["bound_share"] is not None]
    if not used:
        return ""
    most = max(used, key=lambda row: row["bound_share"])
    over = ", which breaks it" if most["bound_share"] > 1.0 else ""
    return f"; it used at most {share(most)}{over}"
