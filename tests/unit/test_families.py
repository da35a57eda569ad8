"""What is known of the families in closed form, or by trying all that is possible."""

import itertools
from importlib import import_module

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import fwbench as fw
from fwbench.errors import InvalidParameter

ball = import_module("fwbench.problems.ball").ball
enclosing_ball = import_module("fwbench.problems.enclosing_ball").enclosing_ball
near_duplicates = import_module("fwbench.problems.near_duplicates").near_duplicates


def smallest_radius(points):
    """Try the balls through all pairs and triples of points in the plane; return the least r²."""
    best = np.inf
    for size in (2, 3):
        for some in itertools.combinations(points, size):
            first, rest = some[0], np.array(some[1:]) - some[0]
            centre = first + np.linalg.lstsq(2 * rest, (rest**2).sum(axis=1), rcond=None)[0]
            reach = ((points - centre) ** 2).sum(axis=1).max()
            if reach <= ((first - centre) ** 2).sum() * (1 + 1e-12):
                best = min(best, reach)
    return best


@pytest.mark.parametrize("seed", range(3))
def test_the_least_value_is_minus_the_square_of_the_least_radius(seed):
    problem = enclosing_ball(n=12, d=2, seed=seed)
    solution = fw.solve(problem, tol=1e-11)
    centre = solution.x[:2]
    distances = ((problem.atoms[:, :2] - centre) ** 2).sum(axis=1)
    expected = smallest_radius(problem.atoms[:, :2])
    assert solution.value == pytest.approx(-expected, rel=1e-9)
    assert distances.max() == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(distances[solution.weights > 1e-3], expected, rtol=1e-4)


def test_a_ball_lies_where_it_should():
    problem = ball(n=4000, d=3, flat=0.3, away=0.5)
    round_again = (problem.atoms - [0.5, 0.05, 0.02]) / [0.3, 1, 1]
    lengths = np.linalg.norm(round_again, axis=1)
    assert lengths.max() <= 1
    # uniform in the ball: the share within radius r is r cubed
    for radius in (0.3, 0.5, 0.8):
        assert (lengths <= radius).mean() == pytest.approx(radius**3, abs=0.02)
    nearest = fw.solve(problem).x
    assert 0.2 < nearest[0] < 0.25  # the side at 0.2, and atoms are dense there
    assert np.abs(nearest[1:]).max() < 0.05


def test_a_dense_side_has_many_vertices():
    few, many = (len(ConvexHull(ball(n=n).atoms).vertices) for n in (500, 20_000))
    assert many > 4 * few


def test_bunches_are_as_tight_as_said():
    problem = near_duplicates(n=103, d=4, copies=5, apart=1e-8)
    assert problem.n == 103
    firsts = problem.atoms[::5]
    assert len(firsts) == 21
    spread = np.abs(problem.atoms - np.repeat(firsts, 5, axis=0)[:103])
    assert 0 < spread.max() < 1e-7
    apart = np.linalg.norm(firsts[:, None] - firsts, axis=2)[np.triu_indices(21, 1)]
    assert apart.min() > 1e-2


def test_equal_copies_change_no_minimiser():
    doubled, single = (near_duplicates(n=n, copies=c, apart=0.0) for n, c in ((80, 2), (40, 1)))
    assert (doubled.atoms[::2] == doubled.atoms[1::2]).all()
    assert (doubled.atoms[::2] == single.atoms).all()
    twice, once = fw.solve(doubled, tol=1e-11), fw.solve(single, tol=1e-11)
    np.testing.assert_allclose(twice.x, once.x, rtol=0, atol=1e-5)
    assert twice.value == pytest.approx(once.value, abs=1e-10 * single.scale)


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (ball, {"n": 0}),
        (ball, {"flat": 0.0}),
        (ball, {"flat": 1.5}),
        (near_duplicates, {"copies": 0}),
        (near_duplicates, {"apart": -1.0}),
        (enclosing_ball, {"d": 0}),
    ],
)
def test_what_makes_no_sense_is_refused(make, wrong):
    [(name, value)] = wrong.items()
    with pytest.raises(InvalidParameter, match=f"{make.__name__}: .*{name}.*got .*{value}"):
        make(**wrong)
