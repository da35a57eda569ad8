"""Hulls of rational points, against linear programmes and combinations made to lie inside."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from fwbench.geometry.exact_hulls import _simplex, holds, least_energy

WHOLE = st.integers(-6, 6)


def clouds(d, most=7):
    point = st.lists(WHOLE, min_size=d, max_size=d)
    return st.lists(point, min_size=1, max_size=most).map(np.array)


def by_programme(points):
    n = len(points)
    found = linprog(
        np.zeros(n), A_eq=np.vstack([points.T, np.ones(n)]), b_eq=[*np.zeros(points.shape[1]), 1]
    )
    return found.status == 0


@pytest.mark.parametrize("d", [1, 2, 3])
@given(data=st.data())
@settings(max_examples=60)
def test_agrees_with_a_linear_programme(d, data):
    points = data.draw(clouds(d))
    assert holds(points) == by_programme(points)


@given(points=clouds(2))
def test_plane_and_simplex_agree(points):
    assert holds(points) == _simplex(points.tolist())


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@given(data=st.data())
@settings(max_examples=40)
def test_a_combination_lies_inside_and_a_step_beyond_a_corner_does_not(d, data):
    points = data.draw(clouds(d))
    weights = data.draw(st.lists(st.integers(0, 5), min_size=len(points), max_size=len(points)))
    weights[0] += 1
    mixed = [F(sum(w * int(x) for w, x in zip(weights, column, strict=True)), sum(weights))
             for column in points.T]  # fmt: skip
    assert holds(points, mixed)
    last = max(points.tolist())  # an extreme point
    assert holds(points, last)
    assert not holds(points, [last[0] + F(1, 10**30), *last[1:]])


@pytest.mark.parametrize(
    ("points", "inside"),
    [
        ([[0, 0]], True),
        ([[1, 0], [2, 0]], False),
        ([[1, 0], [-2, 0]], True),
        ([[1, 1], [2, 2], [-1, -1]], True),
        ([[1, 0], [0, 1], [-1, 0]], True),  # on an edge
        ([[1, 0], [0, 1], [-1, 1]], False),
        ([[1, 0], [0, 1], [-1, -1]], True),
        ([[1, 0], [1, 1], [1, -1]], False),
        ([["1", "-1/100"], ["-1", "-1/100"], ["-5", "3"]], True),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, -1]], True),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], False),
    ],
)
def test_known_hulls(points, inside):
    exact = np.array([[F(entry) for entry in row] for row in points], dtype=object)
    assert holds(exact) is inside


def test_no_rounding():
    tiny = F(1, 10**40)
    assert not holds(np.array([[1, tiny], [-1, tiny], [0, F(5)]], dtype=object))
    assert holds(np.array([[1, tiny], [-1, -tiny], [0, F(5)]], dtype=object))


@given(points=clouds(2, most=5), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_least_energy_agrees_with_a_solver(points, seed):
    root = np.random.default_rng(seed).integers(-2, 3, (2, 2))
    Q = root.T @ root
    n = len(points)

    def energy(w):
        return 0.5 * (w @ points) @ Q @ (w @ points)

    found = min(
        minimize(
            energy, start, bounds=[(0, 1)] * n, tol=1e-12,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        ).fun
        for start in np.vstack([np.full(n, 1 / n), np.eye(n)])
    )  # fmt: skip
    assert float(least_energy(points, Q)) == pytest.approx(found, abs=1e-6 * (1 + np.abs(Q).max()))


def test_least_energy_of_known_hulls():
    assert least_energy(np.array([[4], [1]]), np.array([F(2)])) == 1
    assert least_energy(np.array([[1, 0], [1, 5]]), np.array([F(0), F(1)])) == 0  # singular
    assert least_energy(np.array([[1, 1], [3, 1]]), np.array([F(0), F(1)])) == F(1, 2)
    with pytest.raises(ValueError, match="line and in the plane"):
        least_energy(np.zeros((2, 3)), np.ones(3))
