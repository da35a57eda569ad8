"""Diagrams and basins as SVG elements of the page: they need no script and print as they are."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from fwbench.analysis.atlas import ELSEWHERE, MOVING, NO_START, Atlas, Basins
from fwbench.analysis.diagrams import Diagram, Part, Role
from fwbench.errors import visible
from fwbench.report.words import cell_colours

Array = NDArray[np.float64]

SIZE, RIM = 300.0, 26.0  # of the longer side, and room for numbers around it
HEAT = (
    "#0d0887",
    "#7e03a8",
    "#cc4778",
    "#f89540",
    "#f0f921",
)  # from low to high, lighter and lighter
SAID = {ELSEWHERE: "rests at no atom", MOVING: "is not at rest"}
FILLS = {ELSEWHERE: "url(#dots)", MOVING: "url(#crossed)"}
PATTERNS = Markup(
    '<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>'
    '<pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse">'
    '<circle cx="2" cy="2" r="1" fill="#1b1f24"/></pattern>'
    '<pattern id="crossed" width="5" height="5" patternUnits="userSpaceOnUse">'
    '<path d="M0 0L5 5M5 0L0 5" stroke="#1b1f24" stroke-width=".8"/></pattern>'
    '<pattern id="slanted" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<path d="M0 6L6 0" stroke="#1b1f24" stroke-width=".8"/></pattern>'
    "</defs></svg>"
)


class _Sheet:
    """Turns coordinates of the plane into those of a drawing, y upwards."""

    def __init__(self, points: Array) -> None:
        self.low, high = points.min(axis=0), points.max(axis=0)
        self.scale = SIZE / (float((high - self.low).max()) or 1.0)
        self.wide, self.high = ((high - self.low) * self.scale + 2 * RIM).tolist()

    def at(self, point: Iterable[float]) -> tuple[float, float]:
        x, y = ((np.asarray(point) - self.low) * self.scale).tolist()
        return round(x + RIM, 1), round(self.high - RIM - y, 1)

    def path(self, ring: Array) -> str:
        """Return a closed path; points that fall together on the screen count once."""
        places = [place for place, _ in groupby(self.at(point) for point in ring)]
        return "M" + "L".join(f"{x:g} {y:g}" for x, y in places) + "Z"

    def drawn(self, label: str, inside: Iterable[str]) -> Markup:
        box = f"0 0 {self.wide:.0f} {self.high:.0f}"
        name = Markup.escape(visible(label))
        return Markup(
            f'<svg viewBox="{box}" role="img" aria-label="{name}">{"".join(inside)}</svg>'
        )


def diagram_svg(diagram: Diagram) -> Markup:
    """Return a diagram as an SVG element."""
    sheet = _Sheet(diagram.hull)
    return sheet.drawn(diagram.title, _diagram(sheet, diagram))


def _diagram(sheet: _Sheet, diagram: Diagram) -> Iterator[str]:
    count = len(diagram.atoms)
    middle = diagram.hull[:-1].mean(axis=0)
    away = diagram.atoms - middle
    order = np.argsort(np.arctan2(away[:, 1], away[:, 0]), kind="stable").tolist()
    colours = dict(zip(order, cell_colours(count), strict=True))
    levels = [part.value for part in diagram.parts if part.value is not None]
    for part in diagram.parts:
        d = sheet.path(part.ring)
        for look in _looks(part, colours, max(levels, default=1.0)):
            yield f'<path d="{d}" {look}/>'
    yield from _hull(sheet, diagram.hull, diagram.atoms)
    for part in diagram.parts:
        if part.middle is not None and count <= 10:
            x, y = sheet.at(part.middle)
            yield f'<text x="{x}" y="{y}" class="cell">{part.key}</text>'
    x, y = sheet.at((0.0, 0.0))
    if 0 <= x <= sheet.wide and 0 <= y <= sheet.high:
        yield f'<path d="M{x - 5} {y}h10M{x} {y - 5}v10" stroke="#1b1f24" stroke-width="1.5"/>'


def _looks(part: Part, colours: dict[int, str], highest: float) -> list[str]:
    """Return the attributes of each of the strokes that a part is painted with."""
    line = 'stroke="#444c55" stroke-width=".8"'
    if part.value is not None:
        step = min(int(part.value / highest * len(HEAT)), len(HEAT) - 1)
        return [f'fill="{HEAT[step]}" stroke="#fff" stroke-width=".4"']
    if part.role is Role.CELL and part.key is not None:
        return [f'fill="{colours[part.key]}" {line}']
    return {
        Role.SHADE: [f'fill="#d9dde1" {line}'],
        Role.CONE: ['fill="#9fd8bd"', 'fill="url(#slanted)" stroke="#00684a" stroke-width="1.2"'],
        Role.ERODED: ['fill="#e7b3d3"', 'fill="url(#crossed)" stroke="#8a2f66" stroke-width="1.6"'],
        Role.VORONOI: [
            'fill="none" stroke="#1b1f24" stroke-width="1.6" stroke-dasharray="6 4"',
        ],
    }.get(part.role, [f'fill="none" {line}'])


def _hull(sheet: _Sheet, hull: Array, atoms: Array) -> Iterator[str]:
    """Draw hull and atoms, with their numbers where there are few."""
    yield f'<path d="{sheet.path(hull)}" fill="none" stroke="#444c55" stroke-width="1.2"/>'
    middle = hull[:-1].mean(axis=0)
    for key, atom in enumerate(atoms):
        x, y = sheet.at(atom)
        yield f'<circle cx="{x}" cy="{y}" r="3" fill="#fff" stroke="#1b1f24"/>'
        if len(atoms) <= 40:
            out = (atom - middle) / (np.linalg.norm(atom - middle) or 1.0)
            yield f'<text x="{x + 13 * out[0]:.1f}" y="{y - 13 * out[1]:.1f}">{key}</text>'


def basins_svg(atlas: Atlas, basins: Basins) -> Markup:
    """Return the map of one solver as an SVG element; point at a place to read where it ends."""
    sheet = _Sheet(atlas.hull)
    colours = dict(zip(atlas.ends, cell_colours(len(atlas.ends)), strict=True))
    fills = FILLS | colours
    said = SAID | {key: f"rests at atom {key}" for key in atlas.ends}
    inside = list(_squares(sheet, atlas, basins.keys, fills, said))
    ends = (f"M{a[0]} {a[1]}L{b[0]} {b[1]}" for a, b in
            ((sheet.at(a), sheet.at(b)) for a, b in basins.borders))  # fmt: skip
    inside.append(f'<path d="{"".join(ends)}" fill="none" stroke="#444c55" stroke-width=".9"/>')
    inside += _hull(sheet, atlas.hull, atlas.atoms)
    for key, *place in basins.numbers:
        x, y = sheet.at(place)
        inside.append(f'<text x="{x}" y="{y}" class="cell">{key}</text>')
    return sheet.drawn(f"where {basins.solver} comes to rest", inside)


def differ_svg(atlas: Atlas) -> Markup:
    """Return where two solvers rest at different points, as an SVG element."""
    sheet = _Sheet(atlas.hull)
    where = np.where(atlas.differ, 1, NO_START)
    inside = list(_squares(sheet, atlas, where, {1: "#8f98a1"}, {1: "two solvers differ"}))
    inside += _hull(sheet, atlas.hull, atlas.atoms)
    return sheet.drawn("where two solvers rest apart", inside)


def _squares(
    sheet: _Sheet, atlas: Atlas, keys: NDArray[np.int64], fills: dict[int, str],
    said: dict[int, str],
) -> Iterator[str]:  # fmt: skip
    """Draw what each start says; neighbours in a row that say the same share an element."""
    half = (atlas.x[1] - atlas.x[0]) / 2
    for i, row in enumerate(keys):
        first = 0
        for key, run in groupby(row.tolist()):
            last = first + len(list(run)) - 1
            if key != NO_START:
                left, top = sheet.at((atlas.x[first] - half, atlas.y[i] + half))
                right, low = sheet.at((atlas.x[last] + half, atlas.y[i] - half))
                box = f'width="{right - left:.1f}" height="{low - top:.1f}" fill="{fills[key]}"'
                yield f'<rect x="{left}" y="{top}" {box}><title>{said[key]}</title></rect>'
            first = last + 1
