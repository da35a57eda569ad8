"""Numerical traps that public solvers fell into: what must not happen, trap by trap."""

import numpy as np
import pytest

from fwbench import catalog
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored
from fwbench.judge import Judge
from fwbench.kernels.frank_wolfe import REFRESH
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, run
from fwbench.trace import Status

pytestmark = pytest.mark.usefixtures("untimed")

AWAY = [f"away_steps[step={step}]" for step in ("exact", "short", "backtracking")]
PAIRS = [
    "pairwise[step=exact]", "pairwise[step=short]", "pairwise[step=backtracking]",
    "pair_descent[cache_mebibytes=64]", "blended_pairwise[step=exact]",
    "blended_pairwise[lazy=yes]", "blended_pairwise[step=backtracking]",
]  # fmt: skip
TOWARD = [f"frank_wolfe[step={step}]" for step in ("exact", "short", "backtracking")]
DROPPING = [*AWAY, *PAIRS]
FAMILY = [*DROPPING, *TOWARD]


def begun(text, problem):
    [choice] = catalog.choices("solvers", text)
    solver = catalog.build_solver(choice)
    model = solver.prepare(problem)
    return solver, model, solver.init(model, problem.start)


def after(text, problem, steps):
    solver, model, state = begun(text, problem)
    solver.advance(model, state, steps)
    return state


def ended(text, problem, budget):
    [choice] = catalog.choices("solvers", text)
    return run(problem, catalog.build_solver(choice), choice.entry, budget)


def apart(problem, state):
    """Return how far the point that was moved is from that of the weights."""
    return np.abs(state.x - state.w @ problem.centred).max()


def weighted(atoms, weights, Q=1.0, c=None):
    return QuadraticOverHull(atoms, Q, c, start=Combinations.from_dense([weights]))


# -- a drop step found by == never drops, found loosely it moves point and weights apart ---------


@pytest.mark.parametrize("text", [text for text in DROPPING if "backtracking" not in text])
@pytest.mark.parametrize("left", [-0.5, -1e-14, 0.0, 1e-14, 0.9e-12, 2e-12, 1e-6, 0.5])
def test_a_step_as_long_as_the_weight_lasts_uses_up_the_weight(text, left):
    # the optimum is where `left` of the weight of the second atom is left
    w = 0.3
    problem = weighted([[0.0], [1.0]], [1 - w, w], 1.0, [-w * left])
    state = after(text, problem, 1)
    if left <= 1e-12:
        assert state.w.tolist() == [1.0, 0.0]
        assert state.counters["drop"] == 1
        assert state.active[: state.size[0]].tolist() == [0]
    else:
        assert state.counters["drop"] == 0
        assert state.w[1] == pytest.approx(w * left, abs=1e-15)
    assert apart(problem, state) <= 1e-15


@pytest.mark.parametrize("text", DROPPING)
@pytest.mark.parametrize("small", [1e-3, 1e-9, 1e-300])
def test_a_small_weight_is_not_moved_by_more_than_there_is(text, small):
    # a line search that may go to 1 where 1e-9 is left makes weights negative
    problem = weighted(
        [[10.0, 0.0], [0.1, 1.0], [0.1, -1.0]], [small, 0.5 - small / 2, 0.5 - small / 2]
    )
    state = after(text, problem, 1)
    if state.counters["fw"] == 0:
        assert state.w[0] == 0
        assert state.counters["drop"] == 1
    assert (state.w >= 0).all()
    assert abs(state.w.sum() - 1) <= 1e-15


# -- weights drift from 1, the point from its weights --------------------------------------------


@pytest.mark.parametrize("text", FAMILY)
def test_nothing_drifts_in_many_steps(text):
    atoms = np.random.default_rng(0).standard_normal((200, 8))
    atoms[:, 0] = np.abs(atoms[:, 0]) * (np.arange(200) > 12)  # the optimum on a face: long runs
    problem = QuadraticOverHull(atoms)
    state = after(text, problem, 20 * REFRESH - 1)  # just before all is computed anew
    assert abs(state.w.sum() - 1) <= 1e-13
    assert apart(problem, state) <= 1e-13 * problem.radius
    scores = problem.centred @ problem.centred_field(state.w @ problem.centred)
    assert np.abs(state.s - scores).max() <= 1e-12 * problem.scale


# -- the gap as <g, x> − min cancels and turns negative ------------------------------------------


@pytest.mark.parametrize("text", FAMILY)
def test_the_own_gap_is_never_negative_and_close_to_the_true_one(text):
    problem = QuadraticOverHull(np.random.default_rng(1).standard_normal((60, 5)) + 2.0)
    solver, model, state = begun(text, problem)
    judge = Judge(problem)
    for _ in range(60):
        solver.advance(model, state, 5)
        assert state.own_gap >= 0
        true = judge.look(state.points(), state.weights()).gaps[0]
        assert state.own_gap == pytest.approx(true, abs=1e-14 * problem.scale)


# -- a common offset takes the digits of the scores ----------------------------------------------


@pytest.mark.parametrize("text", DROPPING)
def test_a_cloud_far_away_is_solved_as_well_as_at_home(text):
    atoms = np.round(np.random.default_rng(2).standard_normal((80, 6)) * 2**10) / 2**10 + 1.0
    home = QuadraticOverHull(atoms)
    away = QuadraticOverHull(atoms + 2.0**27, 1.0, np.full(6, -(2.0**27)))
    states = [after(text, problem, 2000) for problem in (home, away)]
    for problem, state in zip((home, away), states, strict=True):
        gap = Judge(problem).look(state.points(), state.weights()).gaps[0]
        assert gap <= 1e-12 * problem.scale
    moved = away.mean - 2.0**27 - home.mean  # the mean is rounded, far away
    assert np.abs(states[1].x + moved - states[0].x).max() <= 1e-9 * home.radius


@pytest.mark.parametrize("text", DROPPING)
@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_the_unit_does_not_matter(text, size):
    atoms = np.random.default_rng(2).standard_normal((80, 6)) + 1.0
    problem = QuadraticOverHull(size * atoms)
    state = after(text, problem, 2000)
    assert Judge(problem).look(state.points(), state.weights()).gaps[0] <= 1e-12 * problem.scale


# -- duplicates: a vertex "new" that is in use already -------------------------------------------


@pytest.mark.parametrize("text", DROPPING)
def test_of_atoms_at_one_point_the_lowest_index_is_used(text):
    atoms = np.random.default_rng(3).standard_normal((20, 4)) + 1.0
    twice = QuadraticOverHull(np.vstack([atoms, atoms]))
    once = QuadraticOverHull(atoms)
    states = [after(text, problem, 1000) for problem in (twice, once)]
    assert (states[0].w[20:] == 0).all()
    assert np.abs(states[0].w[:20] - states[1].w).max() <= 1e-6


@pytest.mark.parametrize("text", DROPPING)
def test_weight_on_two_atoms_at_one_point_is_the_weight_of_two_atoms(text):
    problem = weighted([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0.25, 0.25, 0.5])
    state = after(text, problem, 50)
    np.testing.assert_allclose(state.points(), [[0.5, 0.5]], atol=1e-12)
    assert abs(state.w.sum() - 1) <= 1e-15


# -- ties: rounding decides who leads, and paths part --------------------------------------------


@pytest.mark.parametrize("text", FAMILY)
def test_rounding_decides_no_tie(text):
    # scores of two atoms that differ by rounding alone, in both orders
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) * 0.1 + [0.7, 0.0]
    paths = []
    for nudge in (-1e-17, 0.0, 1e-17):
        problem = QuadraticOverHull(corners, 1.0, [0.0, nudge], start=[0])
        paths.append([after(text, problem, k).w.round(12).tolist() for k in range(4)])
    assert paths[0] == paths[1] == paths[2]


# -- the zero direction: x is the leader, 0/0 for a step -----------------------------------------


@pytest.mark.parametrize("text", FAMILY)
@pytest.mark.parametrize("start", [0, 1])
def test_at_the_optimum_nothing_moves(text, start):
    atoms = [[1.0, 1.0], [1.0, 1.0], [3.0, 1.0], [1.0, 4.0]]
    problem = QuadraticOverHull(atoms, start=[start])
    state = after(text, problem, 7)
    assert state.w[start] == 1.0
    assert state.own_gap == 0
    assert np.isfinite(state.s).all()


def test_a_step_of_given_length_from_an_atom_to_itself_is_none():
    problem = QuadraticOverHull([[1.0, 1.0], [3.0, 1.0], [1.0, 4.0]])
    state = after("decomposition_invariant", problem, 200)
    assert state.w.tolist() == [1.0, 0.0, 0.0]
    assert state.counters["drop"] == 0


@pytest.mark.parametrize("text", FAMILY)
def test_one_point_is_the_answer(text):
    for atoms in ([[3.0, 4.0]], [[3.0, 4.0], [3.0, 4.0]]):
        state = after(text, QuadraticOverHull(atoms), 5)
        assert state.points().tolist() == [[3.0, 4.0]]
        assert state.own_gap == 0


# -- Q singular along the step: a curvature of 1e-17 of either sign ------------------------------


@pytest.mark.parametrize("text", [text for text in FAMILY if "short" not in text])
def test_a_flat_line_is_walked_to_its_end(text):
    # Q = aa', and all atoms on a line along which it is 0 but for rounding, c downhill
    a = np.array([-1.1288727436149466, -0.989133492364185])
    along = np.array([a[1], -a[0]])
    for bend in (0.0, 1e-17, -1e-17):
        atoms = np.array([0.0 * along, 0.3 * along, along + bend])
        problem = QuadraticOverHull(atoms, Factored(a[None, :]), -along, start=[0])
        state = after(text, problem, 4)
        assert state.w.tolist() == [0.0, 0.0, 1.0]


# -- the value cannot fall any more: estimates grow to infinity, loops of steps of length 0 ------


@pytest.mark.parametrize("text", FAMILY)
def test_a_run_without_end_stays_where_it_is(text):
    problem = QuadraticOverHull(np.random.default_rng(4).standard_normal((30, 3)) + 1.0)
    state = after(text, problem, 50_000)
    assert np.isfinite(state.x).all()
    assert state.estimate[0] <= 2.0 * (1 + 1e-12)  # backtracking's: at most twice the constant, 1
    assert state.phi[0] >= 0


@pytest.mark.parametrize("text", DROPPING)
def test_a_run_that_cannot_get_on_ends_as_stalled(text):
    problem = QuadraticOverHull(np.random.default_rng(4).standard_normal((30, 3)) + 1.0)
    done = ended(text, problem, Budget(tol=1e-300, max_steps=100_000))
    assert done.status in (Status.STALLED, Status.CONVERGED)
    assert done.row["gap_relative"] <= 1e-13


# -- one atom in use: an away step of w/(1 − w) --------------------------------------------------


@pytest.mark.parametrize("text", DROPPING)
def test_from_one_atom_the_step_is_towards_the_leader(text):
    problem = QuadraticOverHull([[4.0, 0.0], [0.0, 3.0]], start=[0])
    state = after(text, problem, 1)
    assert state.counters["away"] == 0
    if "exact" in text or "descent" in text or "lazy" in text:
        np.testing.assert_allclose(state.points(), [[36 / 25, 48 / 25]], rtol=1e-14)
    assert sorted(state.active[: state.size[0]]) == [0, 1]


@pytest.mark.parametrize("text", AWAY)
def test_a_weight_that_is_1_but_for_rounding_is_no_division_by_0(text):
    rest = 2.0**-53
    problem = weighted([[4.0, 0.0], [0.0, 3.0], [9.0, 9.0]], [1.0 - rest, 0.0, rest])
    state = after(text, problem, 30)
    assert np.isfinite(state.x).all()
    assert (state.w >= 0).all()
    assert abs(state.w.sum() - 1) <= 1e-15


# -- the optimum inside, f* = 0: a relative stop divides by 0 ------------------------------------


@pytest.mark.parametrize("text", FAMILY)
def test_an_optimum_of_0_is_certified_relative_to_the_scale(text):
    cloud = np.random.default_rng(5).standard_normal((40, 3))
    problem = QuadraticOverHull(cloud)
    done = ended(text, problem, Budget(tol=1e-10, max_steps=20_000))
    assert done.status is Status.CONVERGED
    assert done.row["value"] <= 1e-10 * problem.scale
    # and a start at an atom that is the optimum
    problem = QuadraticOverHull([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], start=[0])
    done = ended(text, problem, Budget())
    assert (done.status, done.row["gap"]) == (Status.CONVERGED, 0.0)


# -- NaN: loops without end, places that are none ------------------------------------------------


@pytest.mark.parametrize("text", FAMILY)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_not_a_number_neither_loops_nor_crashes(text, sign):
    problem = QuadraticOverHull(np.random.default_rng(6).standard_normal((700, 4)))
    solver, model, state = begun(text, problem)
    solver.advance(model, state, 3)
    state.s[:] = np.copysign(np.nan, sign)
    state.lows[:] = state.s[0]
    state.y[:] = np.nan
    solver.advance(model, state, 2 * REFRESH)
    assert state.steps == 3 + 2 * REFRESH
    assert 1 <= state.size[0] <= problem.n
