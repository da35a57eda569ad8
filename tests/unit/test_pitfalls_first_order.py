"""Traps of first-order methods that public trackers record, one test each."""

import numpy as np
import pytest

from fwbench import catalog
from fwbench.judge import Judge
from fwbench.kernels.simplex import project
from fwbench.problem import QuadraticOverHull

METHODS = ("projected_gradient", "projected_newton", "extragradient", "mirror_descent")


def begun(text, problem):
    method = catalog.build_solver(catalog.choices("solvers", text)[0])
    model = method.prepare(problem)
    return method, model, method.init(model, problem.start)


def gap(problem, state):
    return float(Judge(problem).look(state.points(), state.weights()).gaps[0]) / problem.scale


# -- the projection ------------------------------------------------------------------------------


@pytest.mark.parametrize("top", [1e17, -1e17, 1e300])
def test_entries_far_from_0_are_projected(top):
    # without the shift by the maximum no entry is above the threshold, and the index is empty
    out = np.empty(3)
    project(np.array([top, top, top - abs(top) / 2]), out)
    assert out.tolist() == [0.5, 0.5, 0.0]


def test_the_last_entry_above_the_threshold_counts():
    # off by one, and the entry on the edge is lost or the first zero taken for it
    out = np.empty(4)
    project(np.array([0.4, 0.3, -0.4, 0.5]), out)
    np.testing.assert_allclose(out, [10 / 30, 7 / 30, 0, 13 / 30], atol=1e-16)
    project(np.array([1.0, 0.0, 0.0, -1e-300]), out)
    np.testing.assert_allclose(out, [1.0, 0.0, 0.0, 0.0], atol=1e-16)


def test_a_sum_of_1_is_no_short_cut():
    out = np.empty(3)
    project(np.array([0.75, 0.75, -0.5]), out)  # sums to 1, and is not in the simplex
    assert out.tolist() == [0.5, 0.5, 0.0]


# -- weights that round to 0 ---------------------------------------------------------------------


def test_a_weight_that_rounds_to_0_comes_back():
    # the far atom leads at first: every other weight becomes 0 in doubles, and stays so where
    # weights are multiplied instead of their logarithms moved
    problem = QuadraticOverHull([[0.0, 0.0], [1.0, 0.0]], 0.0, [1.0, 0.0])
    method, model, state = begun("mirror_descent", problem)
    method.advance(model, state, 2000)
    assert state.w.tolist() == [1.0, 0.0]
    state.s[:] = [1e4, -1e4]  # as if the field turned
    method.advance(model, state, 1)
    assert state.w.tolist() == [0.0, 1.0]


# -- a constant that is too small ----------------------------------------------------------------


@pytest.mark.parametrize("momentum", ["restart", "none"])
@pytest.mark.parametrize("factor", [1e-9, 1e-3, 0.5])
def test_a_constant_that_is_too_small_is_raised_and_no_further(factor, momentum):
    atoms = np.random.default_rng(61).standard_normal((50, 6)) + 0.3
    problem = QuadraticOverHull(atoms)
    method, model, state = begun(f"projected_gradient[momentum={momentum}]", problem)
    norm = np.linalg.norm(problem.centred, 2) ** 2
    lipschitz = state.kept[5]
    lipschitz[0] = factor * norm
    values = []
    for _ in range(60):
        method.advance(model, state, 5)
        values.append(float(problem.centred_value(state.w @ problem.centred)))
        assert lipschitz[0] <= 1.01 * norm
    assert max(values) <= values[0] + 1e-12 * problem.scale or momentum == "restart"
    assert gap(problem, state) <= (1e-12 if momentum == "restart" else 1e-2)


def test_the_constant_does_not_run_away_at_the_optimum():
    # there moves and changes of scores are rounding, and so is their ratio
    for atoms in ([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], np.eye(40) + 0.1):
        problem = QuadraticOverHull(atoms)
        norm = np.linalg.norm(problem.centred, 2) ** 2
        for text in ("projected_gradient", "projected_gradient[momentum=none]"):
            method, model, state = begun(text, problem)
            method.advance(model, state, 20_000)
            assert norm / 1e3 <= state.kept[5][0] <= 1.02 * norm
        method, model, state = begun("extragradient", problem)
        method.advance(model, state, 20_000)
        assert 0.3 / norm <= state.kept[0][0] <= 1e3 / norm


# -- an optimum of value 0 -----------------------------------------------------------------------


@pytest.mark.parametrize("start", [0, 1, 2])
@pytest.mark.parametrize("text", METHODS)
def test_a_least_value_of_0_divides_nothing(text, start):
    problem = QuadraticOverHull([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], start=[start])
    method, model, state = begun(text, problem)
    for steps in (1, 9, 90, 900):
        method.advance(model, state, steps)
        assert np.isfinite(state.w).all()
    assert gap(problem, state) <= (1e-3 if text == "mirror_descent" else 1e-14)


@pytest.mark.parametrize("text", METHODS)
def test_a_hull_of_one_point_is_solved(text):
    problem = QuadraticOverHull([[3.0, 4.0], [3.0, 4.0]])
    method, model, state = begun(text, problem)
    method.advance(model, state, 40)
    assert problem.scale == 0.0
    np.testing.assert_allclose(state.points(), [[3.0, 4.0]], rtol=1e-15)


# -- the gap from scores with a common offset ----------------------------------------------------


@pytest.mark.parametrize("text", METHODS)
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_the_gap_has_its_digits_and_its_sign(text, offset):
    # <g, x> − min <g, v> is off by 1e-8 here, to either side
    rng = np.random.default_rng(62)
    gauss = rng.integers(-99, 99, (30, 4)) / 64
    problem = QuadraticOverHull(gauss + offset, 1.0, np.full(4, -offset))
    method, model, state = begun(text, problem)
    for _ in range(40):
        method.advance(model, state, 7)
        assert state.own_gap >= 0.0
        exact = gauss @ (state.w @ gauss)
        exact = float(state.w @ (exact - exact.min()))
        assert state.own_gap == pytest.approx(exact, abs=1e-14 * problem.scale)
