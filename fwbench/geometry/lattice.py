"""A lattice of points that covers a polygon, and the lattice that given points lie on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ALIKE = 1e-9  # of the extent: coordinates this close are one line of the lattice
TINY = float(np.finfo(np.float64).tiny)
THIN = 1000  # places of a lattice with a point in a thin hull, beyond sixteen for each point asked
ROOM, NEIGHBOURS = 20, 0.9  # places a point; the part of points that have a neighbour


def lattice(ring: Array, count: int) -> tuple[Array, NDArray[np.int64], Array]:
    """Return about `count` points of a square lattice inside a convex ring, and their weights.

    Parameters
    ----------
    ring : ndarray, shape (h + 1, 2)
        Turns left, the first point again at the end.
    count : int
        The spacing is √(area/count), shortened until at least one point lies inside.

    Returns
    -------
    points : ndarray, shape (m, 2)
        Row by row from below, none on the boundary.
    corner : ndarray of int, shape (m,)
        Each lies in the triangle of the corners' mean and the corners `corner`, `corner` + 1.
    weights : ndarray, shape (m, 3)
        On the mean and on these two; they add up to 1.

    Raises
    ------
    ValueError
        Where the hull is so thin that a square lattice with a point inside has far more of them.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    >>> points, corner, weights = lattice(square, 4)
    >>> points.tolist()
    [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]]
    """
    corners = ring[:-1]
    x, y = corners.T
    area = 0.5 * float(x @ np.roll(y, -1) - np.roll(x, -1) @ y)
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle = corners.mean(axis=0)
    arms, following = corners - middle, np.roll(corners, -1, axis=0) - middle
    spacing = max(float(np.sqrt(max(area, 0.0) / count)), TINY)
    while True:
        short, long = sorted((high - low).tolist())
        if max(long / spacing, 1.0) * max(short / spacing, 1.0) > THIN + 16 * count:
            raise ValueError(
                f"a square lattice does not fit into a hull of {long:g} by {short:g}: with a point "
                f"inside it has far more than the {count} asked for (take random starts)"
            )
        across, up = (np.arange(low[i] + spacing / 2, high[i], spacing) for i in (0, 1))
        points = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
        # barycentric coordinates in each triangle of the fan around the middle
        away = (points - middle)[:, None]
        whole = arms[:, 0] * following[:, 1] - arms[:, 1] * following[:, 0]
        first = (away[..., 0] * following[:, 1] - away[..., 1] * following[:, 0]) / whole
        second = (arms[:, 0] * away[..., 1] - arms[:, 1] * away[..., 0]) / whole
        least = np.minimum(np.minimum(first, second), 1.0 - first - second)
        corner = least.argmax(axis=1)
        rows = np.arange(len(points))
        inside = least[rows, corner] >= 0
        inside &= first[rows, corner] + second[rows, corner] < 1 - ALIKE
        if inside.any():
            break
        spacing /= 2
    rows, corner = rows[inside], corner[inside].astype(np.int64)
    first, second = first[rows, corner], second[rows, corner]
    return points[rows], corner, np.column_stack([1.0 - first - second, first, second])


def lines(points: Array) -> tuple[Array, Array, NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the lattice that points in the plane cover, or None if they cover none.

    Points with coordinates of few digits always lie on some lattice; they cover it if nine of ten
    have a neighbour on it, and if it has no more than 20 places for each of them.

    Parameters
    ----------
    points : ndarray, shape (m, 2)

    Returns
    -------
    x, y : ndarray, shape (g,) and (h,)
        Evenly spaced, alike in both directions.
    column, row : ndarray of int, shape (m,)
        Where each point stands; no two stand at one place.

    Examples
    --------
    >>> x, y, column, row = lines(np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]))
    >>> x.tolist(), y.tolist(), column.tolist(), row.tolist()
    ([0.0, 2.0], [0.0, 2.0], [0, 1, 1], [0, 0, 1])
    >>> lines(np.array([[0.0, 0.0], [0.3, 1.0], [1.0, 0.5]])) is None
    True
    """
    if len(points) < 2 or not np.isfinite(points).all():
        return None
    close = ALIKE * float(np.ptp(points, axis=0).max())
    apart = [np.diff(np.sort(points[:, i])) for i in (0, 1)]
    steps = np.concatenate([step[step > close] for step in apart])
    if not len(steps):
        return None
    spacing = float(steps.min())
    low, high = points.min(axis=0), points.max(axis=0)
    across, up = (float((high[i] - low[i]) / spacing) + 1.0 for i in (0, 1))
    if across * up > ROOM * len(points):
        return None
    place = np.rint((points - low) / spacing).astype(np.int64)
    if np.abs(low + place * spacing - points).max() > 1e-3 * spacing:
        return None
    columns, rows = (int(size) for size in place.max(axis=0) + 1)
    number = place[:, 1] * (columns + 1) + place[:, 0]  # a row's end is no neighbour of the next
    if len(np.unique(number)) < len(points):
        return None
    beside = [np.isin(number + step, number) for step in (-1, 1, -columns - 1, columns + 1)]
    if np.any(beside, axis=0).mean() < NEIGHBOURS:
        return None
    x, y = (low[i] + spacing * np.arange(size) for i, size in ((0, columns), (1, rows)))
    return x, y, place[:, 0], place[:, 1]
