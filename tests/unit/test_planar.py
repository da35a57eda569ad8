"""Exact polygons against brute force, on rationals; ownership against definitions."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fwbench.geometry.ascent import gap_bound, gaps, squares
from fwbench.geometry.ownership import (
    labels,
    outside_own_cells,
    owners,
    positive,
    scores,
    semidefinite,
)
from fwbench.geometry.planar import contains, corners, nearest, ring_of, turn, twice_area

exact = np.vectorize(Fraction, otypes=[object])
NUMBERS = st.integers(-5, 5)
POINT = st.tuples(NUMBERS, NUMBERS)
CLOUD = st.lists(POINT, min_size=3, max_size=8, unique=True).map(lambda p: exact(np.array(p)))
PLANE = CLOUD.filter(lambda x: len(corners(x)) > 2)


@given(CLOUD)
def test_corners_are_the_points_outside_the_hull_of_the_others(x):
    keys = corners(x).tolist()
    assert len(set(keys)) == len(keys)
    for i, point in enumerate(x):
        others = np.delete(x, i, axis=0)
        assert (i in keys) == (not contains(ring_of(others), point))


@given(PLANE)
def test_rings_turn_left(x):
    ring = ring_of(x)
    ahead = np.append(ring, ring[1:2], axis=0)
    assert all(turn(*ahead[i : i + 3]) > 0 for i in range(len(ring) - 1))
    assert twice_area(ring) > 0


@given(PLANE, POINT)
@settings(max_examples=60)
def test_the_nearest_point_satisfies_its_variational_inequality(x, place):
    ring, point = ring_of(x), exact(np.array(place))
    foot = nearest(ring, point)
    assert contains(ring, foot)
    assert all((point - foot) @ (vertex - foot) <= 0 for vertex in ring)
    assert (foot == point).all() == contains(ring, point)


def test_a_hull_may_be_a_segment_or_a_point():
    segment = ring_of(exact(np.array([[0, 0], [1, 1], [3, 3]])))
    assert segment.tolist() == [[0, 0], [3, 3], [0, 0]]
    assert contains(segment, exact(np.array([2, 2])))
    assert not contains(segment, exact(np.array([4, 4])))
    assert nearest(segment, exact(np.array([2, 0]))).tolist() == [1, 1]
    alone = ring_of(exact(np.array([[2, 1], [2, 1]])))
    assert nearest(alone, exact(np.array([0, 0]))).tolist() == [2, 1]


@given(st.lists(NUMBERS, min_size=9, max_size=9), st.booleans())
def test_definiteness_is_that_of_the_eigenvalues(entries, symmetric):
    L = np.array(entries).reshape(3, 3)
    B = L @ L.T if symmetric else L + L.T
    values = np.linalg.eigvalsh(B.astype(float))
    if abs(values).min() > 1e-9:  # nonsingular integers
        assert positive(exact(B)) == (values[0] > 0)
    if abs(values[0]) > 1e-9:
        assert semidefinite(exact(B)) == (values[0] > 0)
    if symmetric:
        assert semidefinite(exact(B))


def test_what_is_not_symmetric_is_not_definite():
    assert not positive(np.array([[1, 1], [0, 1]]))
    assert not semidefinite(np.array([[1, 1], [0, 1]]))
    assert not positive(exact(np.array([[1, 1], [1, 1]])))
    assert positive(np.array([1, 2]))
    assert not positive(np.array([1, 0]))
    assert semidefinite(np.array([1, 0]))


@given(PLANE)
def test_ownership_and_gaps_by_definition(x):
    B = exact(np.array([[2, 1], [1, 3]]))
    for i, point in enumerate(x):
        row = [(B @ point) @ y for y in x]
        assert owners(x, B)[i] == all(row[j] < row[i] for j in range(len(x)) if j != i)
        assert gaps(x, x, B)[i] == max(row) - row[i]
        assert squares(x, B)[i] == row[i]
        assert scores(x, x, B)[i].tolist() == row
        best = [j for j, score in enumerate(row) if score == max(row)]
        assert labels(x, x, B)[i] == (best[0] if len(best) == 1 else -1)


def test_what_theorem_4_2_asks():
    x = exact(np.array([[3, 0], [1, 1], [-1, -1]]))
    B = exact(np.array([1, 1]))
    keys = np.arange(3)
    assert outside_own_cells(x, keys, B) == "vertex 1 does not own its cell strictly"
    assert outside_own_cells(x, keys, exact(np.array([1, 4]))) is None
    assert outside_own_cells(x, keys, -B) == "B is not positive definite"


def test_the_bound_on_the_gap_by_hand():
    # one token moves from 1 to 2 to 3; the other one stays at 4
    path = exact(np.array([[[1], [4]], [[2], [4]], [[3], [4]]]))
    one = exact(np.array([1, 1, 1]))
    least, bound = gap_bound(path, exact(np.array([1])), one / 2, one)
    # gaps 2(4 − 2) and 3(4 − 3); first −4/(2 · ½), last 16/(2 · ½), over t
    assert least[:, 0].tolist() == [4, 3]
    assert bound[:, 0].tolist() == [12, 6]
    assert least[:, 1].tolist() == [0, 0]
