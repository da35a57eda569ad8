"""What lies deep in the hull, and the order of points in boxes."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwbench.geometry.boxes import BRANCH, LEAF, boxes
from fwbench.geometry.extremes import FEW, directions, extremes

RNG = np.random.default_rng(3)
DEPTH = 2.0**-10


def cloud(name, d, n=900):
    made = RNG.standard_normal((n, d))
    if name == "ball":
        made *= (RNG.random(n) ** (1 / d) / np.linalg.norm(made, axis=1))[:, None]
    elif name == "grid":
        made = RNG.integers(-3, 4, (n, d)).astype(float)
    elif name == "stretched":
        made *= 10.0 ** -np.arange(0, 3 * d, 3)
    elif name == "line":
        made = np.outer(made[:, 0], np.arange(1.0, d + 1))
    elif name == "flat":
        made[:, -1] = 0.25
    elif name == "point":
        made[:] = 0.5
    elif name == "few":
        made = made[RNG.integers(0, 9, n)]
    return made


NAMES = ("gauss", "ball", "grid", "stretched", "line", "flat", "point", "few")


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_out_leads_nowhere_by_its_depth(name, d):
    points = cloud(name, d)
    kept = extremes(points, DEPTH)
    assert (np.diff(kept) > 0).all()
    away = np.setdiff1d(np.arange(len(points)), kept)
    for g in (*RNG.standard_normal((200, d)), *np.eye(d), *-np.eye(d)):
        scores = points @ g
        worth = DEPTH * np.linalg.norm(np.ptp(points, axis=0) * g)
        assert (scores[away] >= scores.min() + (1 - 1e-9) * worth).all()


@pytest.mark.parametrize(("d", "most"), [(1, 2), (2, 40), (3, 120), (4, 320)])
def test_few_points_of_a_gaussian_cloud_are_kept(d, most):
    assert len(extremes(RNG.standard_normal((20_000, d)), 2.0**-34)) <= most


def test_clouds_without_a_hull_come_back_whole():
    for points in (
        RNG.standard_normal((FEW, 2)),
        RNG.standard_normal((900, 5)),
        1e4 + RNG.standard_normal((900, 2)),  # so far away, rounding is no small depth
        np.full((900, 2), np.nan),
    ):
        assert len(extremes(points, DEPTH)) == len(points)


def test_every_direction_has_its_opposite():
    for d in (1, 2, 3, 4):
        assert {tuple(v) for v in directions(d)} == {tuple(-v) for v in directions(d)}


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_boxes_hold_their_points(name, d):
    points = cloud(name, d)
    names = RNG.permutation(len(points))
    made = boxes(points, names)
    back = np.argsort(names)
    assert (points[back[made.names]] == made.points).all()
    # nothing is lost but points that are there by a lower name
    lowest: dict[tuple[float, ...], int] = {}
    for point, known in zip(points, names, strict=True):
        lowest[tuple(point)] = min(known, lowest.get(tuple(point), known))
    assert set(lowest.values()) <= set(made.names.tolist())
    below = made.points, made.points, made.names
    for level, (start, stop) in enumerate(zip(made.starts[:-1], made.starts[1:], strict=True)):
        size = LEAF if level == 0 else BRANCH
        for box in range(start, stop):
            part = slice((box - start) * size, (box - start + 1) * size)
            assert (made.lows[box] == below[0][part].min(axis=0)).all()
            assert (made.highs[box] == below[1][part].max(axis=0)).all()
            assert made.firsts[box] == below[2][part].min()
        below = tuple(each[start:stop] for each in (made.lows, made.highs, made.firsts))
    assert len(below[2]) == 1


def test_clusters_far_apart_are_told_apart_inside():
    # too close for the curve itself: it is drawn through ranks, and boxes stay small
    points = np.vstack([1e-12 * RNG.standard_normal((500, 2)), 1 + 1e-12 * RNG.random((500, 2))])
    made = boxes(points, np.arange(1000))
    leaves = made.highs[: made.starts[1]] - made.lows[: made.starts[1]]
    assert np.median(leaves.max(axis=1)) < 2e-12


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=FEW + 1, max_size=120),
    st.sampled_from([1e-10, 1e-3, 0.2]),
)
def test_corners_of_a_grid_are_kept(entries, depth):
    points = np.array(entries, dtype=float)
    kept = {tuple(point) for point in points[extremes(points, depth)]}
    for g in product((-3, -1, 0, 1, 2), repeat=2):
        scores = points @ g
        if (np.ptp(points, axis=0) * g).any():  # else all points tie
            assert {tuple(p) for p in points[scores == scores.min()]} <= kept
