"""The exact methods: working set, Wolfe's min-norm point, fully corrective Frank-Wolfe."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwbench as fw
from fwbench import catalog
from fwbench.choose import choose
from fwbench.corral import corral, rooted
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored
from fwbench.judge import Judge
from fwbench.kernels.active_set import append, exchange, remove
from fwbench.kernels.working_set import coordinates, price_near

METHODS = ("working_set", "min_norm_point", "fully_corrective")
TIGHT = 1e-12


def gauss(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def turned(seed, eigenvalues):
    vectors, _ = np.linalg.qr(gauss(seed, len(eigenvalues), len(eigenvalues)))
    return (vectors * eigenvalues) @ vectors.T


def ball(points):
    """Return the problem whose value is minus the squared radius of the least enclosing ball."""
    atoms = np.column_stack([points, (points**2).sum(axis=1)])
    d = points.shape[1]
    return atoms, np.r_[np.full(d, 2.0), 0.0], np.r_[np.zeros(d), -1.0]


def near_duplicates(apart):
    return np.repeat(gauss(1, 40, 12) + 0.6, 5, axis=0) + apart * gauss(2, 200, 12)


CASES = {
    "outside": lambda: (gauss(0, 300, 20) + 1.0,),
    "inside": lambda: (gauss(0, 300, 20),),
    "on a face": lambda: (np.vstack([np.eye(12) - 1 / 12, gauss(3, 100, 12) ** 2 + 0.1]),),
    "condition 1e10": lambda: (gauss(0, 300, 20) + 0.6, turned(1, np.logspace(-10, 0, 20))),
    "condition 1e14, linear": lambda: (
        gauss(0, 300, 20) + 0.6, turned(1, np.logspace(-14, 0, 20)), 1e-3 * gauss(2, 20),
    ),
    "near-duplicates 1e-6": lambda: (near_duplicates(1e-6),),
    "near-duplicates 1e-8": lambda: (near_duplicates(1e-8),),
    "repeated": lambda: (near_duplicates(0.0),),
    "repeated, inside": lambda: (near_duplicates(0.0) - 0.6,),
    "support of all atoms": lambda: (np.eye(60) + 0.1,),
    "more coordinates than atoms": lambda: (gauss(0, 60, 150),),
    "offset 1e8": lambda: (gauss(0, 300, 20) + 1.0 + 1e8, 1.0, np.full(20, -1e8)),
    "scale 1e12": lambda: (1e12 * (gauss(0, 300, 20) + 1.0),),
    "scale 1e-12": lambda: (1e-12 * (gauss(0, 300, 20) + 1.0),),
    "Q 1e-12": lambda: (gauss(0, 300, 20) + 1.0, 1e-12, 1e-12 * gauss(1, 20)),
    "enclosing ball": lambda: ball(gauss(0, 200, 6)),
    "enclosing ball of a sphere": lambda: ball(
        gauss(0, 200, 6) / np.linalg.norm(gauss(0, 200, 6), axis=1)[:, None]
    ),
    "linear": lambda: (gauss(0, 300, 20), 0.0, gauss(1, 20)),
    "Q of rank 3": lambda: (gauss(0, 300, 20), Factored(gauss(1, 3, 20)), 0.1 * gauss(2, 20)),
    "a zero diagonal": lambda: (
        gauss(0, 300, 20) + 1.0, np.r_[np.ones(5), np.zeros(15)], 0.1 * gauss(1, 20),
    ),
    "collinear": lambda: ([[-1.0, 1], [0, 1], [1, 1], [2, 1], [3, 1]],),
    "slivers": lambda: ([[1.0, 1e6], [1.0, -1e6], [1 + 1e-6, 0.0]],),
    "a cube": lambda: (np.array(np.meshgrid(*[[-1.0, 1.0]] * 7)).reshape(7, -1).T + 0.5,),
    "one atom": lambda: ([[3.0, 4.0]],),
    "one point twice": lambda: ([[3.0, 4.0], [3.0, 4.0]],),
    "columns first": lambda: (np.asfortranarray(gauss(0, 300, 20) + 1.0),),
    "float32": lambda: ((gauss(0, 300, 20) + 1.0).astype(np.float32),),
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", CASES)
def test_a_gap_of_1e_12_is_certified(case, method):
    found = fw.solve(fw.QuadraticOverHull(*CASES[case]()), method, tol=TIGHT, max_steps=2000)
    assert found.status == "converged", (found.reason, found.gap_relative)
    assert found.gap_relative <= TIGHT


@pytest.mark.parametrize("method", METHODS)
def test_known_minima(method):
    corner = fw.solve(fw.QuadraticOverHull([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]), method, tol=1e-14)
    np.testing.assert_allclose(corner.x, [0.5, 0.5], atol=1e-14)
    # the ball around (-6,-4,5), (0,-2,0), (-2,-6,-1): r² = 637/38
    points = np.array([[-6.0, -4.0, 5.0], [0.0, -2.0, 0.0], [-2.0, -6.0, -1.0]])
    radius = fw.solve(fw.QuadraticOverHull(*ball(points)), method, tol=1e-14)
    assert -radius.value == pytest.approx(float(Fraction(637, 38)), rel=1e-12)
    # 1/n on each corner of the simplex
    simplex = fw.solve(fw.QuadraticOverHull(np.eye(30)), method, tol=1e-15)
    np.testing.assert_allclose(simplex.weights, 1 / 30, atol=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_minima_agree_with_the_reference(method):
    problem = fw.QuadraticOverHull(gauss(4, 80, 8), turned(5, np.linspace(0, 2, 8)), gauss(6, 8))
    ours = fw.solve(problem, method, tol=TIGHT)
    reference = fw.solve(problem, "cvxpy_reference", tol=1e-10)
    assert ours.value == pytest.approx(reference.value, abs=1e-9 * problem.scale)
    np.testing.assert_allclose(ours.x, reference.x, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 12),
    d=st.integers(1, 5),
    whole=st.booleans(),
    rank=st.integers(0, 5),
    seed=st.integers(0, 10**6),
    method=st.sampled_from(METHODS),
)
def test_any_small_problem_is_solved(n, d, whole, rank, seed, method):
    rng = np.random.default_rng(seed)
    # whole numbers make repeated, collinear and equally good atoms
    atoms = rng.integers(-2, 3, (n, d)).astype(float) if whole else rng.standard_normal((n, d))
    root = rng.integers(-1, 2, (max(rank, 1), d)).astype(float) * (rank > 0)
    problem = fw.QuadraticOverHull(atoms, root.T @ root, rng.integers(-2, 3, d).astype(float))
    found = fw.solve(problem, method, tol=TIGHT, max_steps=500)
    assert found.status == "converged", (found.reason, found.gap_relative)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-14)


def test_atoms_in_use_stay_affinely_independent():
    problem = fw.QuadraticOverHull(near_duplicates(1e-8))
    solver = catalog.build_solver(catalog.choices("solvers", "working_set")[0])
    model = solver.prepare(problem)
    state = solver.init(model, problem.start)
    solver.advance(model, state, 50)
    used = problem.offsets(state.weights().keys)
    lengths = np.linalg.svd(used[1:] - used[0], compute_uv=False)
    assert lengths[-1] > 1e-6 * lengths[0]


def grown(keys, atoms):
    problem = fw.QuadraticOverHull(atoms)
    model = rooted(problem)
    state = corral(model, Combinations.vertices([keys[0]]))
    row, column = np.empty(model.rank), np.empty(len(state.arrays[1]))
    for key in keys[1:]:
        height = coordinates(model.hull, key, row)
        assert append(state.arrays, row, height, key, model.shift, column)
    return model, state


def test_the_factor_is_that_of_the_atoms_in_use():
    model, state = grown([0, 5, 3, 9, 1], gauss(7, 12, 6))
    remove(state.arrays, 1)
    P, R, ones, bent, b, _, keys, size = state.arrays
    k = size[0]
    assert keys[:k].tolist() == [0, 3, 9, 1]
    M = P[:k] @ P[:k].T + model.shift
    upper = np.triu(R[:k, :k])
    np.testing.assert_allclose(upper.T @ upper, M, rtol=1e-12)
    np.testing.assert_allclose(upper.T @ ones[:k], np.ones(k), rtol=1e-12)
    np.testing.assert_allclose(upper.T @ bent[:k], -b[:k], atol=1e-12)


def test_a_dependent_atom_is_exchanged_and_the_point_stays():
    # (1, 1) is the mean of (0, 0), (2, 2), as is nothing that has to do with (5, 0)
    atoms = np.array([[0.0, 0.0], [5.0, 0.0], [2.0, 2.0], [1.0, 1.0]])
    model, state = grown([0, 1, 2], atoms)
    P, _, _, _, _, w, keys, size = state.arrays
    w[:3] = [0.3, 0.5, 0.2]
    before = w[:3] @ P[:3]
    row, column = np.empty(model.rank), np.empty(len(w))
    height = coordinates(model.hull, 3, row)
    assert not append(state.arrays, row, height, 3, model.shift, column)
    assert exchange(state.arrays, row, height, 3, model.shift, -1.0, column)
    assert sorted(keys[: size[0]]) == [0, 1, 3]
    np.testing.assert_allclose(w[:3] @ P[:3], before, atol=1e-15)
    assert sorted(w[:3]) == pytest.approx([0.1, 0.4, 0.5])


# -- what need not be looked at ------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_pricing_atoms_near_the_lead_finds_the_gap_of_a_full_pass(seed):
    problem = fw.QuadraticOverHull(gauss(seed, 8000, 20) + 1.0)
    solver = catalog.build_solver(catalog.choices("solvers", "working_set")[0])
    model = solver.prepare(problem)
    state = solver.init(model, problem.start)
    skipped = 0
    while not state.done and state.steps < 30:
        full = state.counters["matvec"]
        solver.advance(model, state, 1)
        skipped += state.counters["matvec"] == full
        offset = (state.points() - problem.mean)[0]
        scores = problem.centred @ problem.centred_field(offset)
        gap = state.weights().data @ (scores[state.weights().keys] - scores.min())
        assert state.own_gap == pytest.approx(gap, abs=1e-14 * problem.scale)
    assert state.done
    assert skipped >= 1


def test_after_a_long_way_all_atoms_are_priced():
    problem = fw.QuadraticOverHull(gauss(0, 5000, 6) + 1.0)
    model = rooted(problem)
    state = corral(model, problem.start)
    args = (state.arrays, state.kept, state.near, model.block, model.sizes)
    assert price_near(model.hull, *args)
    assert not price_near(model.hull, *args)  # it stands where it stood
    state.x[:] = -state.x
    assert price_near(model.hull, *args)


def test_own_gaps_are_the_judges():
    problem = fw.QuadraticOverHull(gauss(0, 500, 30) + 0.3)
    for name in METHODS:
        solver = catalog.build_solver(catalog.choices("solvers", name)[0])
        model = solver.prepare(problem)
        state = solver.init(model, problem.start)
        for _ in range(4):
            solver.advance(model, state, 1)
            look = Judge(problem).look(state.points(), state.weights())
            assert state.own_gap == pytest.approx(look.gaps[0], rel=1e-6, abs=1e-13)


# -- traps of Wolfe's method ---------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_weights_that_reach_0_together_leave_together(method):
    # the two of equal height lose their weight in the same step; neither may stay with a rest
    atoms = [[0.0, 2.0, 0.0], [1.0, 3.0, 0.0], [-1.0, 3.0, 0.0], [0.0, 1.0, 0.1]]
    half = Combinations.from_dense([[0.2, 0.4, 0.4, 0.0]])
    solver = catalog.build_solver(catalog.choices("solvers", method)[0])
    problem = fw.QuadraticOverHull(atoms, start=half)
    model = solver.prepare(problem)
    state = solver.init(model, half)
    solver.advance(model, state, 20)
    assert state.done
    assert state.weights().keys.tolist() == [3]
    assert state.weights().data.tolist() == [1.0]


@pytest.mark.parametrize("apart", [0.0, 1e-16, 1e-12, 1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize("method", METHODS)
def test_atoms_that_hardly_differ_make_no_endless_cycle(method, apart):
    # a simplex whose corners are there many times over, hardly apart
    corners = np.tile(np.eye(4), (6, 1)) + apart * gauss(3, 24, 4)
    solver = catalog.build_solver(catalog.choices("solvers", method)[0])
    problem = fw.QuadraticOverHull(corners)
    model = solver.prepare(problem)
    state = solver.init(model, problem.start)
    solver.advance(model, state, 200)
    assert state.done
    assert state.steps < 100
    look = Judge(problem).look(state.points(), state.weights())
    assert look.gaps[0] <= TIGHT * problem.scale
    assert state.weights().data.min() > 1e-15


def test_the_value_falls_with_every_atom_taken_in():
    problem = fw.QuadraticOverHull(near_duplicates(1e-7))
    solver = catalog.build_solver(catalog.choices("solvers", "min_norm_point")[0])
    model = solver.prepare(problem)
    state = solver.init(model, problem.start)
    values = [problem.value(state.points())[0]]
    while not state.done:
        solver.advance(model, state, 1)
        values.append(problem.value(state.points())[0])
    falls = -np.diff(values)
    assert (falls > -1e-15 * problem.scale).all()
    assert (falls[:-3] > 0).all()


def test_a_leader_that_rounding_keeps_in_front_ends_the_method():
    # a linear term nearly normal to the hull: scores agree to fewer digits than their size has
    turn, _ = np.linalg.qr(gauss(1, 4, 4))
    atoms = np.column_stack([gauss(5, 50, 3) + 0.4, np.full(50, 2.0)]) @ turn
    problem = fw.QuadraticOverHull(atoms, 1.0, turn[3] * 1e6)
    for method in METHODS:
        found = fw.solve(problem, method, tol=1e-15)
        assert found.status == "finished", method
        assert found.steps < 100
        assert found.gap_relative < 1e-9


@pytest.mark.parametrize(
    ("n", "d", "shift", "chosen"),
    [(300, 20, 0.0, "working_set"), (400, 200, 1.0, "working_set"),
     (200, 400, 0.0, "projected_newton"), (1000, 200, 0.0, "projected_newton"),
     (400, 200, 0.0, "working_set")],
)  # fmt: skip
def test_auto_looks_at_the_shape_and_where_the_mean_lies(n, d, shift, chosen):
    assert choose(fw.QuadraticOverHull(gauss(0, n, d) + shift)) == chosen


def test_auto_leaves_single_precision_to_the_working_set():
    problem = fw.QuadraticOverHull(gauss(0, 200, 400).astype(np.float32))
    assert choose(problem) == "working_set"
