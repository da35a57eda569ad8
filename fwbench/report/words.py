"""How a number, a duration and a solver look, the same in every output."""

import colorsys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fwbench.analysis.atlas import Basins, Pair

NONE = "–"

# Okabe and Ito's colours, told apart by the colour-blind, without the yellow that fades on white;
# in place of the black that fades on a dark page, the purple farthest from the other six.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#843cf0", "#e69f00", "#56b4e9")
DASHES = ((), (7, 3), (2, 3), (9, 3, 2, 3), (14, 4), (9, 3, 2, 3, 2, 3))
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x")

MEASURES = {
    "suboptimality": "suboptimality",
    "gap": "gap",
    "gap_current": "gap to the current keys",
}
AXES = {"seconds": "seconds in the solver", "lmo": "oracle calls", "k": "steps k"}


@dataclass(frozen=True)
class Style:
    """How one solver is drawn: the n-th label has the n-th colour, dash and symbol.

    Their numbers (7, 6, 5) have no common factor, so 210 solvers all look different.
    """

    colour: str
    dash: tuple[int, ...]
    symbol: str

    @property
    def css_dash(self) -> str:
        """The dash as SVG and plotly read it, ``"7px,3px"`` or ``"solid"``."""
        return ",".join(f"{px}px" for px in self.dash) or "solid"


def styles(labels: Iterable[str]) -> dict[str, Style]:
    """Give each solver label its look; depends on the set of labels alone.

    Examples
    --------
    >>> styles(["b", "a", "b"])["b"]
    Style(colour='#d55e00', dash=(7, 3), symbol='square')
    """
    return {
        label: Style(COLOURS[i % 7], DASHES[i % 6], SYMBOLS[i % 5])
        for i, label in enumerate(sorted(set(labels)))
    }


def cell_colours(count: int, lightness: tuple[float, float] = (0.89, 0.96)) -> list[str]:
    """Colours for cells, pale ones if not told, neighbours unlike in hue and in lightness.

    Examples
    --------
    >>> cell_colours(2)
    ['#d9e3ed', '#f8f1f3']
    """
    return [
        "#"
        + "".join(
            f"{round(255 * part):02x}"
            for part in colorsys.hls_to_rgb((0.58 + i * 0.381966) % 1, lightness[i % 2], 0.35)
        )
        for i in range(count)
    ]


def missing(value: Any) -> bool:
    """Say whether a cell of a table is null."""
    return value is None or value is pd.NA or value is pd.NaT or value != value


def number(value: Any) -> str:
    """Format a number so that a small one keeps its digits.

    Examples
    --------
    >>> [number(v) for v in (1.23456e-9, 0.0, 42, 3.14159, 1e6, None)]
    ['1.2e-09', '0', '42', '3.14', '1.0e+06', '–']
    """
    if missing(value):
        return NONE
    value = float(value)
    if value.is_integer() and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e3 else f"{value:.1e}"


def count(value: Any) -> str:
    """Format a whole number with thin spaces, ``12 345``.

    Examples
    --------
    >>> count(12345), count(float("nan"))
    ('12\u202f345', '–')
    """
    return NONE if missing(value) else f"{int(value):,}".replace(",", "\u202f")


def power(value: Any) -> str:
    """Format a target or a mark on a log axis, ``1e-06``.

    Examples
    --------
    >>> power(1e-6), power(1.0), power(None)
    ('1e-06', '1', '–')
    """
    if missing(value):
        return NONE
    return "1" if value == 1 else f"{float(value):.0e}"


def duration(seconds: Any) -> str:
    """Format seconds in the unit that a person would choose.

    Examples
    --------
    >>> [duration(s) for s in (0.0, 4.2e-8, 1.23e-5, 0.0456, 2, 200, None)]
    ['0 s', '42 ns', '12.3 µs', '45.6 ms', '2 s', '3.33 min', '–']
    """
    if missing(seconds):
        return NONE
    for size, unit in ((60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(seconds) >= size * (2 if unit == "min" else 0.9995):
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns" if seconds else "0 s"


def times(ratio: Any) -> str:
    """Format a ratio, ``3.1×``.

    Examples
    --------
    >>> [times(r) for r in (1.04, 3.14, 27.4, 1234.5, None)]
    ['1.04×', '3.1×', '27×', '1\u202f234×', '–']
    """
    if missing(ratio):
        return NONE
    if ratio >= 9.95:
        return f"{count(round(ratio))}×"
    return f"{ratio:.2f}×" if ratio < 1.095 else f"{ratio:.1f}×"


def ahead(winner: dict[str, Any]) -> str:
    """Say by how much a first place was won, if there was anything to win.

    Examples
    --------
    >>> ahead({"contest": "won", "ratio": 3.14}), ahead({"contest": "tied", "ratio": 1.04})
    ('3.1×', 'tied, 1.04×')
    >>> ahead({"contest": "alone", "ratio": None}), ahead({"contest": "unopposed", "ratio": None})
    ('nobody else', 'no rival')
    """
    if winner["contest"] == "won":
        return times(winner["ratio"])
    if winner["contest"] == "tied":
        return f"tied, {times(winner['ratio'])}"
    others = {"alone": "nobody else", "unopposed": "no rival", "start": "from its start"}
    return others.get(winner["contest"], NONE)


def text(value: Any) -> str:
    """Format whatever a manifest or a table holds: text, number, list, mapping, null.

    Examples
    --------
    >>> text({"blas": "openblas", "load": [0.5, None]}), text(True), text("")
    ('blas openblas, load 0.5 –', 'yes', '–')
    """
    if isinstance(value, dict):
        return ", ".join(f"{key} {text(entry)}" for key, entry in value.items()) or NONE
    if isinstance(value, list | tuple):
        return " ".join(text(entry) for entry in value) or NONE
    if missing(value):
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    return str(value) or NONE


def span(ends: tuple[Any, Any]) -> str:
    """Format the least and the largest of several numbers; one number where they are equal.

    Examples
    --------
    >>> span((3, 3)), span((1e-9, 0.5)), span((None, None))
    ('3', '1.0e-09 … 0.5', '–')
    """
    low, high = (number(end) for end in ends)
    return low if low == high else f"{low} … {high}"


def rate(run: dict[str, Any]) -> str:
    """Say a run's rate in the unit of its class.

    Examples
    --------
    >>> rate({"rate_class": "linear", "rate": 0.93})
    'factor 0.93 a step'
    """
    if missing(run["rate"]):
        return NONE
    value = number(run["rate"])
    return {
        "sublinear": f"exponent {value}",
        "linear": f"factor {value} a step",
        "finite": f"in {value} steps",
    }.get(run["rate_class"], value)


def raced(row: dict[str, Any] | None, column: str = "ratio_total") -> str:
    """Say how many times longer than the best it took, or how it ended instead.

    Examples
    --------
    >>> missed = {"ratio_total": None, "total": None, "status": "wrong", "gap_relative": 3e-9}
    >>> raced({"ratio_total": 12.3, "total": 0.1}), raced(missed), raced(None)
    ('12×', 'wrong 3.0e-09', '–')
    """
    if row is None:
        return NONE
    if not missing(row["total"]):
        return times(row[column])
    if missing(row["status"]):
        return NONE
    return " ".join(part for part in (row["status"], number(row["gap_relative"])) if part != NONE)


def percent(share: float) -> str:
    """Format a share; a small one keeps its digits.

    Examples
    --------
    >>> [percent(share) for share in (0.0, 0.0652, 0.33, 0.00012, 1.0)]
    ['0 %', '6.5 %', '33 %', '0.012 %', '100 %']
    """
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.2g} %"


def apart(pair: Pair) -> str:
    """Say from how many starts two solvers come to rest at different points.

    Examples
    --------
    >>> apart(Pair("a", "b", starts=400, resting=400, apart=132, share=0.33, vertices=True))
    'end at different vertices on 33 % of 400 starts'
    >>> apart(Pair("a", "b", starts=400, resting=390, apart=0, share=0.0, vertices=False))
    'end at the same points on 390 of 400 starts, at which both rest'
    """
    if not pair.resting:
        return f"rest both on none of {count(pair.starts)} starts"
    where = "vertices" if pair.vertices else "points"
    some = f"{count(pair.resting)} of {count(pair.starts)} starts, at which both rest"
    whole = f"all {count(pair.starts)} starts" if pair.resting == pair.starts else some
    if not pair.apart:
        return f"end at the same {where} on {whole}"
    rest = "" if pair.resting == pair.starts else f", both rest on {count(pair.resting)}"
    return f"end at different {where} on {percent(pair.share)} of {count(pair.starts)} starts{rest}"


def unrest(basins: Basins) -> str:
    """Say from how many starts a solver does not come to rest at an atom."""
    said = []
    if basins.elsewhere:
        said.append(f"rests at no atom on {percent(basins.elsewhere / basins.starts)}")
    if basins.moving:
        said.append(f"is not at rest on {percent(basins.moving / basins.starts)}")
    return " and ".join(said) + f" of {count(basins.starts)} starts"


def exponent(fit: dict[str, Any] | None) -> str:
    """Say a fitted exponent with its interval, or why there is none.

    Examples
    --------
    >>> exponent({"exponent": 1.02, "exponent_low": 0.97, "exponent_high": 1.07})
    '1.02 (0.97 … 1.07)'
    >>> exponent({"exponent": None, "reason": "3 of 6 sizes reached the tolerance"})
    'undetermined: 3 of 6 sizes reached the tolerance'
    """
    if fit is None:
        return NONE
    if missing(fit["exponent"]):
        return f"undetermined: {fit['reason']}"
    ends = ("exponent", "exponent_low", "exponent_high")
    value, low, high = (hundredths(fit[name]) for name in ends)
    return f"{value} ({low} … {high})"


def hundredths(value: float) -> str:
    """Format an exponent to two places; one that is none at all is a plain 0.

    Examples
    --------
    >>> [hundredths(value) for value in (1.1, -0.144, -0.001)]
    ['1.10', '-0.14', '0']
    """
    shown = f"{value:.2f}"
    return shown if float(shown) else "0"


def bound(goal: dict[str, Any]) -> str:
    """Say what a ratio is to be.

    Examples
    --------
    >>> bound({"at_least": True, "bound": 300.0}), bound({"at_least": False, "bound": 0.05})
    ('≥ 300', '≤ 0.05')
    """
    return f"{'≥' if goal['at_least'] else '≤'} {number(goal['bound'])}"
