"""Projected gradient in space against a projection onto a polygon that shares no line with it."""

import numpy as np
import pytest

from fwbench import catalog
from fwbench.geometry.cells import polygon_of
from fwbench.problem import QuadraticOverHull
from fwbench.solver import each

# both projections are exact; rounding grows where a point is about to leave an edge
CLOSE = 1e-10


def solver():
    [choice] = catalog.choices("solvers", "euclidean_projection")
    return catalog.build_solver(choice)


def instance(text):
    [choice] = catalog.choices("problems", text)
    return catalog.build_problem(choice)


def nearest(ring, z):
    """Return the nearest points of a polygon: z itself, or the best of all edges."""
    tails, edges = ring[:-1], np.diff(ring, axis=0)
    away = z[:, None] - tails
    inside = (edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0] >= 0).all(axis=1)
    along = np.clip((away * edges).sum(axis=2) / (edges**2).sum(axis=1), 0, 1)
    feet = tails + along[..., None] * edges
    best = np.linalg.norm(feet - z[:, None], axis=2).argmin(axis=1)
    return np.where(inside[:, None], z, feet[np.arange(len(z)), best])


def walked(problem, steps):
    lifted = each(solver())
    model = lifted.prepare(problem)
    state = lifted.init(model, problem.start)
    lifted.advance(model, state, steps)
    return state.points()


@pytest.mark.parametrize("condition", [1, 4, 16])
@pytest.mark.parametrize("steps", [1, 3, 40])
def test_it_walks_as_a_projection_onto_the_polygon_does(condition, steps):
    problem = instance(f"polygon[k=6,condition={condition},starts=grid,queries=60]")
    ring, B = polygon_of(problem.atoms), np.diag([1.0, condition])
    x = problem.start.dense(problem.n) @ problem.atoms
    for _ in range(steps):
        x = nearest(ring, x + x @ B / condition)
    np.testing.assert_allclose(walked(problem, steps), x, atol=CLOSE)


def ends(problem):
    away = np.linalg.norm(walked(problem, 3000)[:, None] - problem.atoms, axis=2)
    assert away.min(axis=1).max() < 1e-9
    return away.argmin(axis=1)


def test_with_b_the_identity_and_equal_norms_it_ends_where_hardmax_does_and_else_it_may_not():
    share = {}
    for condition in (1, 4, 16):
        problem = instance(f"polygon[k=7,condition={condition},starts=grid,queries=200]")
        starts = problem.start.dense(problem.n) @ problem.atoms
        leads = (starts @ np.diag([1.0, condition]) @ problem.atoms.T).argmax(axis=1)
        share[condition] = (ends(problem) != leads).mean()
    assert share[1] == 0
    assert share[4] > 0.1
    assert share[16] > 0.2


@pytest.mark.parametrize("seed", range(3))
def test_the_value_never_rises_and_its_bound_holds(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    Q, atoms = root @ root.T, rng.normal(size=(30, 4)) + 1.0
    problem = QuadraticOverHull(atoms, Q, rng.normal(size=4))
    method = solver()
    model = method.prepare(problem)
    state = method.init(model, problem.start)
    values, start = [], state.points()[0]
    for _ in range(400):
        method.advance(model, state, 1)
        values.append(float(problem.value(state.points())[0]))
    rounding = 1e-13 * problem.scale
    assert (np.diff(values) <= rounding).all()
    distance = np.sum((start - state.points()[0]) ** 2)
    bound = np.linalg.norm(Q, 2) * distance / (2 * np.arange(1, 401))
    assert (np.array(values) - values[-1] <= bound * (1 + 1e-6) + rounding).all()


def test_a_point_that_moves_no_more_is_done():
    problem = QuadraticOverHull([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 0.0, [1.0, 1.0])
    method = solver()
    model = method.prepare(problem)
    state = method.init(model, problem.start)
    method.advance(model, state, 100)
    assert state.done
    assert state.steps <= 3
    np.testing.assert_array_equal(state.points(), [[0.0, 0.0]])


def test_a_quadratic_that_is_almost_flat_takes_no_endless_step():
    problem = QuadraticOverHull([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 1e-300, [1.0, 2.0])
    assert np.isfinite(walked(problem, 5)).all()
    np.testing.assert_allclose(walked(problem, 5), [[0.0, 0.0]], atol=1e-12)
