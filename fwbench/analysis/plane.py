"""What a run folder holds of instances in the plane: pictures of paths, maps of basins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.analysis import fixed_points
from fwbench.analysis.atlas import ELSEWHERE, MOVING, Atlas, Ended, atlas
from fwbench.analysis.findings import Picture
from fwbench.geometry.cells import cells, polygon_of
from fwbench.geometry.clipping import dominance
from fwbench.reading import Kept

Array = NDArray[np.float64]

DRAWN = 48  # starts of a picture: the paths of more hide each other
CORNERS = 64  # of a hull whose cells are drawn as polygons


def pictures(folder: Kept, records: list[dict[str, Any]]) -> tuple[Picture, ...]:
    """Return the instances in the plane with the paths of the solvers."""
    found: dict[str, dict[str, Any]] = {}
    for record in records:
        row = record["row"]
        kept = folder.points(row["run_id"]) if row.get("d") == 2 else None
        if kept is None or "path" not in kept or row["repetition"] != 0:
            continue
        picture = found.setdefault(
            row["instance"], {"label": row["instance_label"], "plane": kept, "paths": []}
        )
        picture["paths"].append((row["solver_label"], kept["path"]))
    drawn = []
    for instance, picture in found.items():
        plane, paths = picture["plane"], picture["paths"]
        mean = plane["mean"]
        x, y, lead = cells(plane["atoms"] - mean, plane["Q"], plane["c"])
        most = max(paths, key=lambda path: path[1].shape[1])[1]
        some = slice(None, None, -(-most.shape[1] // DRAWN))
        hull = polygon_of(plane["atoms"])
        drawn.append(
            Picture(
                instance=instance,
                label=picture["label"],
                atoms=plane["atoms"],
                hull=hull,
                cell_x=x + mean[0],
                cell_y=y + mean[1],
                cells=lead,
                starts=most[0, some],
                paths=tuple(
                    (label, path[:, some] if path.shape[1] == most.shape[1] else path)
                    for label, path in paths
                ),
                rings=_rings(plane, hull),
            )
        )
    return tuple(drawn)


def _rings(plane: dict[str, Any], hull: Array) -> tuple[tuple[int, Array], ...]:
    """Return the cells of the hull's corners as polygons; other atoms lead nowhere."""
    if not 4 <= len(hull) <= CORNERS + 1:
        return ()
    atoms, mean = plane["atoms"], plane["mean"]
    keys = [int((atoms == corner).all(axis=1).argmax()) for corner in hull[:-1]]
    corners, ring = hull[:-1] - mean, hull - mean
    cut = [dominance(ring, corners, i, plane["Q"], plane["c"]) for i in range(len(keys))]
    return tuple((key, part + mean) for key, part in zip(keys, cut, strict=True) if len(part))


def atlases(folder: Kept, records: list[dict[str, Any]]) -> tuple[Atlas, ...]:
    """Return a map of each instance in the plane whose starts lie on a lattice."""
    ended: dict[str, dict[str, Ended]] = {}
    first: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    tol: dict[tuple[str, str], float] = {}
    for record in records:
        row, facts = record["row"], record["rest"]
        kept = folder.points(row["run_id"]) if facts and row.get("d") == 2 else None
        if kept is None or "path" not in kept or row["repetition"] != 0:
            continue
        run, places, path = (
            (row["instance"], row["solver_label"]),
            fixed_points.places(record),
            kept["path"],
        )
        if len(places) != path.shape[1] or tol.get(run, np.inf) < (row["tol"] or np.inf):
            continue  # a sample of the queries alone was judged; or a tighter run is here
        tol[run] = row["tol"] or np.inf
        first.setdefault(row["instance"], (row, kept))
        keys = [
            MOVING if not place.certified
            else facts["nearest"][q] if place.kind is fixed_points.Class.VERTEX
            else ELSEWHERE
            for q, place in enumerate(places)
        ]  # fmt: skip
        ended.setdefault(row["instance"], {})[row["solver_label"]] = Ended(
            row["solver_label"], path[0], kept["points"], np.array(keys)
        )
    made = (
        atlas(instance, row["instance_label"], kept["atoms"], row["radius"], [*runs.values()])
        for (instance, runs), (row, kept) in zip(ended.items(), first.values(), strict=True)
    )
    return tuple(found for found in made if found is not None)
