"""Simplices, their gaps and angles, and eroded dominance cones."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwbench.geometry.dominance import (
    arrival,
    barycentric,
    diameter,
    dominated,
    eroded_share,
    narrowest,
    own_gap,
    reach,
    regular_polygon,
    regular_simplex,
)

TRIANGLE = regular_polygon(3)


@pytest.mark.parametrize("d", [1, 2, 3, 7])
@pytest.mark.parametrize("radius", [1.0, 10.0])
def test_a_regular_simplex(d, radius):
    corners = regular_simplex(d, radius)
    assert corners.shape == (d + 1, d)
    np.testing.assert_allclose(corners.sum(axis=0), 0, atol=1e-12 * radius)
    assert own_gap(corners) == pytest.approx(radius**2 * (1 + 1 / d))
    # under equal norms the gap is half the least squared distance
    assert own_gap(corners) == pytest.approx(diameter(corners) ** 2 / 2)


def test_angles_are_exact_on_rationals():
    square = np.array([[F(1), F(1)], [F(-1), F(1)], [F(-1), F(-1)], [F(1), F(-1)]])
    assert narrowest(square) == 0
    flat = np.array([[F(0), F(0)], [F(4), F(0)], [F(1), F(1)]])
    assert narrowest(flat) == -2  # (−1, −1) · (3, −1), at the third


@given(st.floats(0.01, 0.99), st.floats(0.01, 3.0))
def test_the_second_term_of_tau_is_never_active(gamma, start):
    for corners in (TRIANGLE, regular_simplex(3), regular_simplex(5)):
        gap = own_gap(corners)
        assert reach(corners, gamma, start) == min(
            gap / (2 * diameter(corners)), (1 - gamma) * start
        )


@given(st.floats(0.01, 0.9), st.floats(1e-4, 2.0))
def test_the_time_is_the_last_one_not_below_tau(gamma, start):
    tau = reach(TRIANGLE, gamma, start)
    steps = arrival(tau, start, gamma)
    assert steps >= 1
    assert tau * (1 - 1e-8) <= (1 - gamma) ** steps * start
    assert (1 - gamma) ** (steps + 1) * start < tau * (1 + 1e-8)


def test_barycentric_weights_and_heights():
    weights, heights = barycentric(TRIANGLE, np.vstack([TRIANGLE, np.zeros(2)]))
    np.testing.assert_allclose(weights[:3], np.eye(3), atol=1e-15)
    np.testing.assert_allclose(weights[3], 1 / 3)
    np.testing.assert_allclose(heights, 1.5)


@pytest.mark.parametrize("corners", [TRIANGLE, regular_simplex(3)])
def test_balls_around_points_of_an_eroded_cone_fit(corners):
    rng, eta, delta = np.random.default_rng(0), 0.2, 0.05
    points = rng.dirichlet(np.ones(len(corners)), 4000) @ corners
    cells = dominated(corners, points, eta, delta)
    assert cells.any(axis=0).all()
    assert cells.sum(axis=1).max() == 1
    around = rng.standard_normal((500, corners.shape[1]))
    around *= delta / np.sqrt((around**2).sum(axis=1))[:, None]
    fits = np.array([dominated(corners, x + around, eta, 0.0).all(axis=0) for x in points])
    np.testing.assert_array_equal(cells & ~fits, False)
    # hardly any point is left out whose ball fits: the directions are only 500
    assert (fits & ~cells).mean() < 0.005


@pytest.mark.parametrize(("eta", "delta"), [(0.3, 0.1), (0.1, 0.01), (0.0, 0.0), (0.9, 0.3)])
def test_the_share_is_that_of_points_drawn(eta, delta):
    points = np.random.default_rng(1).dirichlet(np.ones(3), 40_000) @ TRIANGLE
    drawn = dominated(TRIANGLE, points, eta, delta).any(axis=1).mean()
    assert eroded_share(TRIANGLE, eta, delta) == pytest.approx(drawn, abs=0.01)
    if eta == 0:
        assert drawn == pytest.approx(1)
