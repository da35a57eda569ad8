import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwbench.geometry.cells import inside, polygon_of
from fwbench.geometry.lattice import lattice, lines

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])


@given(seed=st.integers(0, 1000), count=st.integers(1, 500))
def test_points_lie_inside_and_are_their_weights(seed, count):
    ring = polygon_of(np.random.default_rng(seed).normal(size=(6, 2)))
    points, corner, weights = lattice(ring, count)
    corners = ring[:-1]
    assert inside(ring, points).all()
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-15)
    following = corners[(corner + 1) % len(corners)]
    again = weights[:, :1] * corners.mean(axis=0)
    again = again + weights[:, 1:2] * corners[corner] + weights[:, 2:] * following
    np.testing.assert_allclose(again, points, atol=1e-13)


@pytest.mark.parametrize("count", [1, 4, 100, 10_000])
def test_a_square_holds_as_many_as_asked(count):
    points, *_ = lattice(SQUARE, count)
    assert len(points) == count


def test_a_thin_hull_has_a_start_at_least():
    ring = polygon_of(np.array([[0.0, 0.0], [10.0, 0.1], [4.0, 1e-3]]))
    assert len(lattice(ring, 1)[0]) >= 1


@pytest.mark.parametrize("height", [1e-5, 1e-100, 1e-300])
def test_where_no_square_lattice_fits_is_said(height):
    ring = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, height], [0.0, height], [0.0, 0.0]])
    with pytest.raises(ValueError, match="does not fit into a hull of 1 by 1e-"):
        lattice(ring, 12)


def test_lines_are_found_again():
    ring = polygon_of(np.random.default_rng(4).normal(size=(5, 2)))
    points, *_ = lattice(ring, 200)
    # a start is an average of atoms: its last digits are not those of the lattice
    shaken = points * (1 + 1e-14 * np.random.default_rng(0).normal(size=points.shape))
    found = lines(shaken)
    assert found is not None
    x, y, column, row = found
    np.testing.assert_allclose(np.column_stack([x[column], y[row]]), points, atol=1e-12)
    np.testing.assert_allclose(np.diff(x), np.diff(y)[0])


@pytest.mark.parametrize(
    "points",
    [
        [[0.0, 0.0]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
        [[0.0, 0.0], [1.0, np.nan]],
        np.random.default_rng(0).normal(size=(20, 2)),
        np.random.default_rng(0).integers(-9, 9, size=(20, 2)).astype(float),
        [[0.0, 0.0], [1.0, 0.0], [1e9, 0.0], [0.0, 1e9], [1.0, 1.0]],  # 10¹⁸ places
    ],
)
def test_other_points_lie_on_none(points):
    assert lines(np.array(points)) is None
