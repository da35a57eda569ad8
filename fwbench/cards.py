"""Small pieces of HTML by which things show themselves in a notebook; all they hold is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import visible

Points = NDArray[np.float64]

SIDE, RIM = 170.0, 12.0  # of a drawing, in pixels; and what is kept free around it
DOTS = 400  # atoms and starts that are drawn; of more, evenly spread ones
ATOM = 'r="2" fill="currentColor"'
START = 'r="4" fill="none" stroke="#d55e00" stroke-width="1.5"'
SHORT = 50  # letters that stay in one line
_CELL = "padding:1px 8px;font-size:12px;text-align:left;vertical-align:top"


def escaped(value: Any) -> str:
    """Return a text as HTML in which nothing is markup, nor hidden.

    Examples
    --------
    >>> escaped("<b>&"), escaped(None)
    ('&lt;b&gt;&amp;', '–')
    """
    return "–" if value is None else html.escape(visible(str(value)))


def card(title: str, facts: Mapping[str, Any], *parts: str) -> str:
    """Return a heading, facts as a table of two columns, and further parts, which are HTML.

    Examples
    --------
    >>> "<b>A triangle</b>" in card("A triangle", {"n": 3}), ">3<" in card("x", {"n": 3})
    (True, True)
    """
    rows = "".join(
        f'<tr><th style="{_CELL};font-weight:normal;opacity:.7">{escaped(name)}</th>'
        f'<td style="{_CELL}">{escaped(value)}</td></tr>'
        for name, value in facts.items()
    )
    shown = f"<table><tbody>{rows}</tbody></table>" if rows else ""
    return f"<div><p><b>{escaped(title)}</b></p>{shown}{''.join(parts)}</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], left_out: str = "") -> str:
    """Return a table, and below it a sentence about what is left out.

    Examples
    --------
    >>> "<tbody><tr><td" in table(["k"], [[1]]), "1</td></tr></tbody>" in table(["k"], [[1]])
    (True, True)
    """
    top = "".join(f'<th style="{_CELL}">{escaped(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    below = f'<p style="opacity:.7">{escaped(left_out)}</p>' if left_out else ""
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{below}"


def _cell(value: Any) -> str:
    text = escaped(value)
    wrap = ";white-space:nowrap" if len(text) < SHORT else ""
    return f'<td style="{_CELL}{wrap}">{text}</td>'


def folded(summary: str, inside: str) -> str:
    """Return HTML that opens at a click on its summary."""
    return f"<details><summary>{escaped(summary)}</summary>{inside}</details>"


def outline(atoms: Points, starts: Points) -> str:
    """Return atoms in the plane with their hull and starts as SVG; "" where they make no picture.

    Parameters
    ----------
    atoms : ndarray, shape (n, 2)
    starts : ndarray, shape (m, 2)
    """
    low, high = atoms.min(axis=0), atoms.max(axis=0)
    size = float(np.max(high - low))
    if not (np.isfinite(size) and size > 0):
        return ""
    width, height = (float(part) for part in (high - low) / size * SIDE)

    def placed(points: Points) -> list[tuple[float, float]]:
        scaled = (points - low) / size * SIDE
        return [(round(RIM + x, 1), round(RIM + height - y, 1)) for x, y in scaled.tolist()]

    def circles(points: Points, look: str) -> str:
        step = -(-len(points) // DOTS)
        return "".join(f'<circle cx="{x}" cy="{y}" {look}/>' for x, y in placed(points[::step]))

    corners = " ".join(f"{x},{y}" for x, y in placed(hull(atoms)))
    box = f"0 0 {width + 2 * RIM:.0f} {height + 2 * RIM:.0f}"
    return (
        f'<svg viewBox="{box}" width="{width + 2 * RIM:.0f}" height="{height + 2 * RIM:.0f}" '
        'role="img" aria-label="hull and starts"><polygon '
        f'points="{corners}" fill="#0072b2" fill-opacity=".12" stroke="currentColor"/>'
        f"{circles(atoms, ATOM)}{circles(starts, START)}</svg>"
    )


def hull(points: Points) -> Points:
    """Return the corners of the hull of points in the plane, counterclockwise: Andrew's chain.

    Examples
    --------
    >>> hull(np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.2], [0.0, 1.0]])).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    ordered = np.unique(points, axis=0).tolist()
    chains = []
    for along in (ordered, ordered[::-1]):
        chain: list[list[float]] = []
        for x, y in along:
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                    break
                chain.pop()
            chain.append([x, y])
        chains.append(chain[:-1] if len(chain) > 1 else chain)
    return np.array(chains[0] + chains[1] if len(ordered) > 1 else chains[0])
