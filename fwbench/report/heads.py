"""Attention heads in words: what the tables of heads and of repeated layers say."""

from typing import Any

from fwbench.report.markdown import code, prose, table
from fwbench.report.words import NONE, count, missing, number, span, times

Row = dict[str, Any]

HEAD = (
    "layer", "head", "sentence", "instance", "tokens", "positive, negative",
    "eigenvalues", "antisymmetric", "own their cell", "leaders", "entropy", "of log n",
    "top-1 mass", "Frank-Wolfe, keys fixed",
)  # fmt: skip
REPEATED = ("instance", "layer repeated", "layers", "clusters", "collapse", "cycles", "energy")


def share(value: Any) -> str:
    """Format a share as a percentage.

    Examples
    --------
    >>> share(1 / 14), share(0.0), share(None)
    ('7.14 %', '0 %', '–')
    """
    return (
        NONE
        if missing(value)
        else f"{100 * value:.3g} %"
        if value < 0.1
        else f"{100 * value:.0f} %"
    )


def spectrum(row: Row) -> str:
    """Say how many eigenvalues of ½(B + B') are above and below 0.

    Examples
    --------
    >>> spectrum({"positive": 32, "negative": 31})
    '32, 31'
    """
    return f"{count(row['positive'])}, {count(row['negative'])}"


def eigenvalues(row: Row) -> str:
    """Say between what the eigenvalues of ½(B + B') lie."""
    return span((row["smallest"], row["largest"]))


def outcome(row: Row) -> str:
    """Say what becomes of the queries of Frank-Wolfe with steps 2/(t + 2).

    Examples
    --------
    >>> rests = {"settles": 14, "turns": 0, "pauses": 0, "undecided": 0, "changes": 0,
    ...          "settled_at": 0}
    >>> outcome(rests)
    'converges: 14 to a vertex'
    >>> outcome(rests | {"settles": 0, "pauses": 3, "growth": 4.384, "pause_gap": 0.0136,
    ...                  "rounds": "atoms 1 3 2"})
    '3 only pause: rounds of atoms 1 3 2, each 4.4× as long as the last, gap 1.36 % of the scale'
    """
    parts = []
    if row["settles"]:
        walked = ""
        if row["changes"]:
            steps = "change" if row["changes"] == 1 else "changes"
            walked = (
                f", after up to {count(row['changes'])} {steps} of leader, the last at step "
                f"{count(row['settled_at'])}"
            )
        parts.append(f"{count(row['settles'])} to a vertex{walked}")
    if row["turns"]:
        parts.append(f"{count(row['turns'])} into a face whose corners take turns: {row['faces']}")
    if row["pauses"]:
        longer = (
            "" if missing(row["growth"]) else f", each {times(row['growth'])} as long as the last"
        )
        parts.append(
            f"{count(row['pauses'])} only pause: rounds of {row['rounds']}{longer}, gap "
            f"{share(row['pause_gap'])} of the scale"
        )
    undecided = 0 if missing(row["undecided"]) else row["undecided"]
    if undecided:
        parts.append(f"{count(undecided)} not decided: leaders change too often to tell")
    said = "; ".join(parts) or NONE
    return f"converges: {said}" if parts and not row["pauses"] and not undecided else said


def collapse(row: Row) -> str:
    """Say after how many layers the cloud had collapsed.

    Examples
    --------
    >>> collapse({"k_low": 10, "k_high": 11}), collapse({"k_low": 38, "k_high": 42})
    ('after 11', 'after 39 … 42')
    >>> collapse({"k_low": None, "k_high": None})
    'no'
    """
    if missing(row["k_high"]):
        return "no"
    first, last = row["k_low"] + 1, row["k_high"]
    return f"after {count(last)}" if first == last else f"after {count(first)} … {count(last)}"


def cycles(row: Row) -> str:
    """Say how many tokens cycle, and with what period.

    Examples
    --------
    >>> cycles({"cycling": 12, "tokens": 14, "periods": "7 4"}), cycles({"cycling": 0})
    ('12 of 14, periods 7 4', 'none')
    """
    if not row["cycling"]:
        return NONE if missing(row["cycling"]) else "none"
    plural = "s" if " " in row["periods"] else ""
    return f"{count(row['cycling'])} of {count(row['tokens'])}, period{plural} {row['periods']}"


def energy(row: Row) -> str:
    """Say where the energy went, and whether it ever rose.

    Examples
    --------
    >>> energy({"energy_start": -0.01, "energy_end": -0.02, "energy_rise": 0.0})
    '-0.01 → -0.02, never rises'
    >>> energy({"energy_start": -0.01, "energy_end": -0.02, "energy_rise": 0.003})
    '-0.01 → -0.02, rises by up to 0.003'
    """
    if missing(row["energy_start"]):
        return NONE
    rise = row["energy_rise"]
    said = f"rises by up to {number(rise)}" if rise else "never rises"
    return f"{number(row['energy_start'])} → {number(row['energy_end'])}, {said}"


def sections(heads: list[Row], layers: list[Row]) -> list[str]:
    """Return both tables in Markdown, none where it has no row."""
    first = [
        [
            *(prose(row[name]) for name in ("layer", "head", "sentence")),
            code(row["instance_label"]),
            count(row["n"]),
            spectrum(row),
            eigenvalues(row),
            number(row["antisymmetric"]),
            share(row["owners"]),
            count(row["leaders"]),
            number(row["entropy"]),
            number(row["entropy_relative"]),
            number(row["top_mass"]),
            prose(outcome(row)),
        ]
        for row in heads
    ]
    second = [
        [
            code(row["instance_label"]),
            code(row["solver_label"]),
            count(row["steps"]),
            count(row["clusters"]),
            collapse(row),
            cycles(row),
            prose(energy(row)),
        ]
        for row in layers
    ]
    return [
        "How far each head (or cloud of tokens) is from what theory covers: eigenvalues of the "
        "symmetric part of B, share of its antisymmetric part, tokens that own their cell, "
        "attention at β = 1, and where Frank-Wolfe with steps 2/(t + 2) goes from each token.",
        table(list(HEAD), first),
        "One layer repeated: clusters at the end, layers until the cloud is 1000 times smaller, "
        "cycles, and the mean of ½⟨x, Qx⟩ + ⟨c, x⟩ over the scale."
        if second
        else "",
        table(list(REPEATED), second) if second else "",
    ]
