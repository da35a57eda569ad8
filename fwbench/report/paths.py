"""Pictures in the plane as the page embeds them: cells in runs, paths in whole units."""

import math
from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.analysis.findings import Picture
from fwbench.report import selection, words
from fwbench.report.columns import DIGITS

DARK_CELLS = (0.20, 0.27)  # lightness of cells on a dark page
Array = NDArray[np.float64]


def picture_data(picture: Picture, places: dict[str, int]) -> dict[str, Any]:
    """Return what one instance in the plane is drawn from.

    Parameters
    ----------
    picture : Picture
    places : dict of str to int
        Where each solver label stands in the page's list.
    """
    leaders = selection.leaders(picture)
    index = {key: i for i, key in enumerate(leaders)}
    rounded = _rounded_to(picture.atoms)
    return {
        "label": picture.label,
        "atoms": rounded(picture.atoms),
        "hull": rounded(picture.hull),
        "cell_x": rounded(picture.cell_x),
        "cell_y": rounded(picture.cell_y),
        "cells": [_runs([index.get(key) for key in row]) for row in picture.cells.tolist()],
        "leaders": leaders,
        "colours": words.cell_colours(len(leaders)),
        "dark": words.cell_colours(len(leaders), DARK_CELLS),
        "starts": rounded(picture.starts),
        "window": selection.window(picture),
        **_paths(picture, places),
    }


def _paths(picture: Picture, places: dict[str, int]) -> dict[str, Any]:
    """Return the paths in whole units from an origin: x, y, x, y, …; a hole is two of None."""
    origin = picture.atoms.min(axis=0)
    unit = (float(np.ptp(picture.atoms, axis=0).max()) or 1.0) / 10**DIGITS
    paths = [
        {
            "solver": places[label],
            "lines": [_line((line - origin) / unit) for line in points.swapaxes(0, 1)],
        }
        for label, points in picture.paths
    ]
    return {"origin": origin.tolist(), "unit": unit, "paths": paths}


def _runs(row: list[int | None]) -> list[int | None]:
    """Return value, count, value, count, …: a row of cells has few of them."""
    return [part for value, run in groupby(row) for part in (value, len(list(run)))]


def _rounded_to(atoms: Array) -> Callable[[Array], list[Any]]:
    """Return what rounds coordinates to DIGITS digits of the extent of the atoms."""
    extent = float(np.ptp(atoms, axis=0).max())
    decimals = DIGITS - math.ceil(math.log10(extent)) if extent > 0 else DIGITS
    return lambda points: np.round(points, decimals).tolist()


def _line(points: Array) -> list[int | None]:
    """Round the points of a path; those that repeat the one before are left out."""
    short = [tuple(map(round, p)) if np.isfinite(p).all() else (None, None) for p in points]
    return [part for point, _ in groupby(short) for part in point]
