r"""The figures of arXiv 2508.09628 that no run is needed for: cells, contours, cones, power cells.

Cells are those that the paper defines, the vertex v leads at x that maximises ⟨Bx, v⟩. Some of the
published files divide every vertex by its norm first; with norms that vary they show other cells,
and a diagram of that name says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from fwbench import catalog
from fwbench.geometry.cells import polygon_of
from fwbench.geometry.clipping import area, centroid, cut, dominance, eroded, power_cell, sides

Array = NDArray[np.float64]

EQUAL = (3, 4, 5, 6, 7, 9, 10, 16, 25)
VARY = (3, 4, 5, 6, 7, 9, 10)
FREE = (5, 6, 7, 9, 10, 15, 16, 18)  # points may lie inside
RAW = {("vary", True): {5, 9}, ("vary", False): {5, 6, 7, 9, 10, 16, 18}}  # published undivided
UNIT = {("vary", True): set(VARY), ("vary", False): {10, 15, 18}}  # published divided by norms
QUADRATIC = (5, 7, 10)
CONES, ERODED = (5, 7), 7
POWER = (5, 7)
TARGET = 2  # the vertex of a cone, counted around the hull
MARGIN, EROSION = 0.05, 0.03
LEVELS, ROUND = 30, 240  # contours; corners of an ellipse
SMALL = 0.004  # of the hull's area: a cell too small for its number
NORM = np.eye(2)  # B = I throughout
NOTHING = np.zeros(2)


class Role(StrEnum):
    """What a part of a diagram is."""

    CELL = "cell"  # where a vertex leads
    SHADE = "shade"  # the cell of which a cone is a part
    CONE = "cone"  # where it leads by a margin
    ERODED = "eroded"  # the cone without its rim
    LEVEL = "level"  # where the quadratic is below a value
    VORONOI = "voronoi"  # where a vertex is nearest


@dataclass(frozen=True, eq=False)
class Part:
    """A convex piece of a diagram.

    Attributes
    ----------
    role : Role
    ring : ndarray, shape (p + 1, 2)
    key : int or None
        Of the vertex it belongs to.
    value : float or None
        Of a level.
    middle : ndarray, shape (2,), or None
        Where its number stands: None for a piece too small for one.
    """

    role: Role
    ring: Array
    key: int | None = None
    value: float | None = None
    middle: Array | None = None


@dataclass(frozen=True, eq=False)
class Diagram:
    """One figure of pure geometry, ready to be drawn.

    Attributes
    ----------
    name : str
        Of its file.
    title, note : str
        The note says what a reader of the published figure must know; "" if nothing.
    instance : str
        The instance whose atoms these are.
    atoms : ndarray, shape (n, 2)
    hull : ndarray, shape (p + 1, 2)
    parts : tuple of Part
        In the order of painting.
    """

    name: str
    title: str
    note: str
    instance: str
    atoms: Array
    hull: Array
    parts: tuple[Part, ...]


def diagrams() -> tuple[Diagram, ...]:
    """Return all of them; about a second."""
    return tuple(_all())


def _all() -> Iterator[Diagram]:
    for norms, bijection, sizes in (("equal", True, EQUAL), ("vary", True, VARY),
                                    ("vary", False, FREE)):  # fmt: skip
        for k in sizes:
            yield cell_diagram(k, norms, bijection)
    for k in QUADRATIC:
        yield quadratic_diagram(k)
    for k in CONES:
        yield cone_diagram(k)
    yield cone_diagram(ERODED, EROSION)
    for k in POWER:
        yield power_diagram(k)


def _vertices(k: int, norms: str = "equal", bijection: bool = True) -> tuple[str, Array, Array]:
    """Return label, atoms and hull of an instance of the catalogue."""
    text = f"polygon[k={k},norms={norms},bijection={str(bijection).lower()}]"
    [choice] = catalog.choices("problems", text)
    atoms = np.array(catalog.build_problem(choice).atoms, dtype=np.float64)
    return choice.label, atoms, polygon_of(atoms)


def _cell(ring: Array, key: int, hull: Array) -> Part:
    visible = area(ring) > SMALL * area(hull)
    return Part(Role.CELL, ring, key, middle=centroid(ring) if visible else None)


def cell_diagram(k: int, norms: str, bijection: bool) -> Diagram:
    """Draw the cells of k vertices."""
    label, atoms, hull = _vertices(k, norms, bijection)
    cells = (dominance(hull, atoms, key, -NORM, NOTHING) for key in range(k))
    parts = tuple(_cell(ring, key, hull) for key, ring in enumerate(cells) if len(ring))
    short = "eq" if norms == "equal" else "var"
    family = f"cells-k{k}-{short}-{'bij' if bijection else 'free'}"
    return Diagram(
        name=f"paper-{family}-raw",
        title=f"Cells of {k} vertices, norms {'equal' if norms == 'equal' else 'vary'}",
        note=" ".join(_remarks(family, k, norms, bijection, atoms, hull, parts)),
        instance=label,
        atoms=atoms,
        hull=hull,
        parts=parts,
    )


def _remarks(
    family: str, k: int, norms: str, bijection: bool, atoms: Array, hull: Array,
    parts: tuple[Part, ...],
) -> Iterator[str]:  # fmt: skip
    if norms == "vary" and k in UNIT[norms, bijection]:
        unit = atoms / np.linalg.norm(atoms, axis=1)[:, None]
        same = sum(
            area(_common(part.ring, dominance(hull, unit, part.key, -NORM, NOTHING)))
            for part in parts
            if part.key is not None
        )
        yield (
            f"The published {family}-unit-noself divides each vertex by its norm first: other "
            f"cells than these, the paper's, on {1 - same / area(hull):.0%} of the area."
        )
        if k not in RAW[norms, bijection]:
            yield "No published file shows these."
    leads = (atoms @ atoms.T).argmax(axis=1)
    corners = [i for i in range(k) if (hull[:-1] == atoms[i]).all(axis=1).any()]
    if strangers := [i for i in corners if leads[i] != i]:
        one = "Vertex {} does not own its cell."
        said = "Vertices {} do not own their cells." if strangers[1:] else one
        yield said.format(", ".join(map(str, strangers)))


def _common(a: Array, b: Array) -> Array:
    """Return the part that two rings share."""
    return cut(a, *sides(b)) if len(a) and len(b) else np.empty((0, 2))


def quadratic_diagram(k: int) -> Diagram:
    """Draw the contours of ½⟨Bx, x⟩ over a polygon of equal B-norms."""
    label, atoms, hull = _vertices(k)
    lowest = _least(hull)
    values = np.linspace(lowest, 0.5, LEVELS + 1)[1:]
    turn = np.linspace(0.0, 2.0 * np.pi, ROUND + 1)
    circle, walls = np.column_stack([np.cos(turn), np.sin(turn)]), sides(hull)
    parts = []
    for value in values[::-1]:  # the largest is painted first
        ring = cut(circle * np.sqrt(2.0 * value), *walls)
        if len(ring):
            parts.append(Part(Role.LEVEL, ring, value=float(value)))
    return Diagram(
        f"paper-quadratic-k{k}", f"½⟨Bx, x⟩ over {k} vertices of equal norm", "",
        label, atoms, hull, tuple(parts),
    )  # fmt: skip


def _least(hull: Array) -> float:
    """Return the least ½‖x‖² over a ring."""
    _, offsets = sides(hull)
    if (offsets <= 0).all():
        return 0.0
    edges = np.diff(hull, axis=0)
    along = np.clip(-(hull[:-1] * edges).sum(axis=1) / (edges**2).sum(axis=1), 0.0, 1.0)
    nearest = hull[:-1] + along[:, None] * edges
    return 0.5 * float((nearest**2).sum(axis=1).min())


def cone_diagram(k: int, erosion: float = 0.0) -> Diagram:
    """Draw one cell, its dominance cone and, with an erosion, the cone without its rim."""
    label, atoms, hull = _vertices(k)
    key = int(np.abs(atoms - hull[TARGET]).sum(axis=1).argmin())
    cell, cone = (dominance(hull, atoms, key, -NORM, NOTHING, m) for m in (0.0, MARGIN))
    parts = [Part(Role.SHADE, cell, key), Part(Role.CONE, cone, key)]
    title = f"Where vertex {key} of {k} leads by {MARGIN:g}"
    if erosion:
        parts.append(Part(Role.ERODED, eroded(cone, erosion), key))
        title += f", and the same without a rim of {erosion:g}"
    name = f"paper-eroded-cone-k{k}" if erosion else f"paper-dominance-cone-k{k}"
    return Diagram(name, title, "", label, atoms, hull, tuple(parts))


def power_diagram(k: int) -> Diagram:
    """Draw the cells of vertices of unequal norms, power cells, over their Voronoi cells."""
    label, atoms, hull = _vertices(k, "vary")
    norms = (atoms**2).sum(axis=1)
    parts, same = [], 0.0
    for key in range(k):
        cell, near = (power_cell(hull, atoms, key, w, NORM) for w in (norms, 0.0 * norms))
        parts += [_cell(cell, key, hull)] if len(cell) else []
        parts += [Part(Role.VORONOI, near, key)] if len(near) else []
        same += area(_common(cell, near))
    parts.sort(key=lambda part: part.role is Role.VORONOI)
    return Diagram(
        name=f"paper-power-voronoi-k{k}",
        title=f"Cells of {k} vertices (power diagram) and their Voronoi cells",
        note=f"On {1 - same / area(hull):.0%} of the area the nearest vertex is not the leader.",
        instance=label,
        atoms=atoms,
        hull=hull,
        parts=tuple(parts),
    )
