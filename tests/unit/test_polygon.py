"""Polygons: what is known of the draws of the paper's figures, condition numbers, lattices."""

from importlib import import_module

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from fwbench.errors import InvalidParameter
from fwbench.geometry.cells import inside, polygon_of
from fwbench.geometry.clipping import sides

polygon = import_module("fwbench.problems.polygon").polygon


def test_the_angles_are_those_of_the_figures():
    atoms = polygon(k=10).atoms
    angles = np.arctan2(atoms[:, 1], atoms[:, 0]) % (2 * np.pi)
    expected = [4.8629, 2.7576, 5.3947, 4.3817, 0.5917, 6.13, 4.7824, 4.939, 0.805, 2.8299]
    np.testing.assert_allclose(angles, expected, atol=5e-5)


@pytest.mark.parametrize(("k", "holds"), [(3, 0), (4, 0), (5, 1), (6, 1), (7, 1), (10, 1)])
def test_which_of_them_hold_the_origin(k, holds):
    ring = polygon_of(polygon(k=k).atoms)
    assert inside(ring, np.zeros((1, 2)))[0] == bool(holds)


def owns(atoms, B):
    scores = atoms @ B @ atoms.T
    return scores.argmax(axis=1) == np.arange(len(atoms))


def test_the_first_of_five_vertices_with_varying_norms_does_not_own_its_cell():
    assert owns(polygon(k=5, norms="vary").atoms, np.eye(2)).tolist() == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("k", [15, 18])
def test_without_bijection_points_may_lie_inside(k):
    with pytest.raises(InvalidParameter, match="use bijection=false"):
        polygon(k=k, norms="vary")
    assert len(ConvexHull(polygon(k=k, norms="vary", bijection=False).atoms).vertices) < k


@pytest.mark.parametrize("condition", [1.0, 4.0, 0.25, 16.0])
@pytest.mark.parametrize("b", [1.0, -2.0])
def test_equal_norms_are_equal_norms_of_b(condition, b):
    problem = polygon(k=7, b=b, condition=condition)
    B = -problem.form.apply(np.eye(2))
    np.testing.assert_array_equal(B, b * np.diag([1.0, condition]))
    norms = np.einsum("ij,jk,ik->i", problem.atoms, B, problem.atoms)
    np.testing.assert_allclose(norms, b, rtol=1e-15)
    assert b < 0 or owns(problem.atoms, B).all()


@pytest.mark.parametrize("condition", [0.0, -1.0, float("inf")])
def test_a_condition_is_positive(condition):
    with pytest.raises(InvalidParameter, match="condition must be positive"):
        polygon(condition=condition)


def test_a_hull_too_thin_for_a_grid_of_starts_is_refused():
    assert polygon(starts="grid", queries=200, condition=1e4).start.m < 400
    for condition in (1e8, 1e16, 1e250):
        with pytest.raises(InvalidParameter, match="a square lattice does not fit"):
            polygon(starts="grid", condition=condition)


@pytest.mark.parametrize("options", [{}, {"norms": "vary"}, {"k": 18, "bijection": False}])
def test_a_grid_of_starts_covers_the_hull(options):
    problem = polygon(starts="grid", queries=300, **options)
    starts = problem.start.dense(problem.n) @ problem.atoms
    assert abs(problem.start.m - 300) < 30
    ring = polygon_of(problem.atoms)
    assert inside(ring, starts).all()
    spacing = np.diff(np.unique(starts[:, 0].round(9)))
    np.testing.assert_allclose(spacing, spacing[0], atol=1e-8)
    # nowhere in the hull is a start further away than half a diagonal, its rim apart
    points = np.random.default_rng(0).uniform(-1, 1, (5000, 2))
    normals, offsets = sides(ring)
    deep = points[(points @ normals.T - offsets).min(axis=1) > spacing[0]]
    away = np.linalg.norm(deep[:, None] - starts, axis=2).min(axis=1)
    assert away.max() <= spacing[0] / np.sqrt(2) + 1e-9


def test_a_grid_does_not_depend_on_the_generator():
    one, two = (polygon(starts="grid", queries=50, seed=42) for _ in "ab")
    np.testing.assert_array_equal(one.start.data, two.start.data)
