"""The flow: against the formula where it holds, and to the crossing where a leader changes."""

import math
from importlib import import_module

import numpy as np
import pytest

from fwbench import catalog
from fwbench.errors import FwbenchError, InvalidParameter
from fwbench.geometry.combinations import Combinations
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, run

flow = import_module("fwbench.solvers.attention_flow")

OWN = catalog.build_problem(catalog.choices("problems", "token_cloud[name=own-cells]")[0])
# the last token follows atom 1, which follows atom 0: B = I
CHAINED = QuadraticOverHull(
    [[3.0, 0.0], [1.0, 1.2], [-1.0, -1.0], [0.2, 0.4]], -1.0, start=[0, 1, 2, 3]
)
RTOL = 1e-10


def made(**parameters):
    text = ",".join(f"{key}={value}" for key, value in parameters.items())
    return catalog.build_solver(catalog.choices("solvers", f"attention_flow[{text}]")[0])


def walked(solver, problem, steps):
    model = solver.prepare(problem)
    state = solver.init(model, solver.start(problem))
    solver.advance(model, state, steps)
    return state


@pytest.mark.parametrize("keys", ["fixed", "moving"])
@pytest.mark.parametrize("method", ["integrate", "closed_form"])
def test_where_vertices_own_their_cells_the_flow_is_known(keys, method):
    x = OWN.atoms
    scores = OWN.form.apply(x) @ x.T
    target = x[scores.argmin(axis=1)]
    for h, steps in ((0.1, 20), (0.7, 3), (3.0, 2)):
        state = walked(made(h=h, keys=keys, method=method), OWN.starting_at(range(len(x))), steps)
        known = target + math.exp(-h * steps) * (x - target)
        atol = 1e-14 if method == "closed_form" else RTOL
        np.testing.assert_allclose(state.points(), known, rtol=0, atol=atol)


@pytest.mark.parametrize("method", ["integrate", "closed_form"])
def test_fixed_keys_change_their_leader_at_the_crossing(method):
    # (1 − ρ)(1, 1.2) + ρ(0.2, 0.4) scores alike against (3, 0) and (1, 1.2), that is, is orthogonal
    # to (2, −1.2): 0.56 (1 − ρ) − 0.08 ρ = 0, ρ = 7/8; from there straight to (3, 0)
    rho = 7 / 8
    meets = -math.log(rho)
    turn = (1 - rho) * np.array([1.0, 1.2]) + rho * np.array([0.2, 0.4])
    solver = made(h=meets + 1.0, method=method)
    model = solver.prepare(CHAINED)
    state = solver.init(model, CHAINED.start)
    moved = solver.layer(model, state.x, 0, state.estimate)
    (first, before), (second, after) = moved.stretches
    assert first == pytest.approx(meets, abs=1e-9)
    assert second == pytest.approx(1.0, abs=1e-9)
    assert (before[3], after[3]) == (1, 0)
    solver.advance(model, state, 1)
    goal = np.array([3.0, 0.0])
    known = goal + math.exp(-1.0) * (turn - goal)
    np.testing.assert_allclose(state.points()[3], known, rtol=0, atol=10 * RTOL)
    # the same through many small steps
    many = walked(made(h=(meets + 1.0) / 16, method=method), CHAINED, 16)
    np.testing.assert_allclose(many.points(), state.points(), rtol=0, atol=100 * RTOL)


def test_a_leader_that_moves_is_followed():
    # keys moving, while atom 1 leads token 3: x1 = g + ρ(x1 − g), x3' = x1 − x3
    time, g = 0.08, np.array([3.0, 0.0])
    rho = math.exp(-time)
    x1, x3 = CHAINED.atoms[1], CHAINED.atoms[3]
    known = g + rho * (x3 - g) + time * rho * (x1 - g)
    state = walked(made(h=0.04, keys="moving"), CHAINED, 2)
    np.testing.assert_allclose(state.points()[3], known, rtol=0, atol=10 * RTOL)
    np.testing.assert_allclose(state.points()[1], g + rho * (x1 - g), rtol=0, atol=10 * RTOL)
    weights = state.weights().dense(4)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=0, atol=1e-14)
    np.testing.assert_allclose(weights @ CHAINED.atoms, state.points(), rtol=0, atol=10 * RTOL)
    # and in the end all but the one opposite are at the leader
    end = walked(made(h=2, keys="moving"), CHAINED, 20).points()
    np.testing.assert_allclose(end[[0, 1, 3]], np.tile(g, (3, 1)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(end[2], [-1.0, -1.0], rtol=1e-15)


def test_the_closed_form_says_where_it_does_not_hold():
    solver = made(keys="moving", method="closed_form")
    assert solver.refuses(OWN.starting_at(range(OWN.n))) is None
    reason = solver.refuses(CHAINED)
    assert "token 1, which leads, follows another" in reason
    model = solver.prepare(CHAINED)
    state = solver.init(model, CHAINED.start)
    with pytest.raises(FwbenchError, match="step 0: token 1 leads and follows another"):
        solver.advance(model, state, 1)
    assert made(method="closed_form").refuses(CHAINED) is None
    assert made(keys="moving").refuses(CHAINED) is None


@pytest.mark.parametrize("keys", ["fixed", "moving"])
def test_small_steps_of_hardmax_tend_to_the_flow(keys):
    # the error is of the order of the step: the flow is their limit, through a change of leader
    # too, which a step notices late by a part of its length that differs
    end = walked(made(h=2, keys=keys), CHAINED, 1).points()
    errors = []
    for n in (50, 100, 200):
        [choice] = catalog.choices(
            "solvers", f"hardmax_attention[keys={keys},step=constant({2 / n!r})]"
        )
        errors.append(np.abs(walked(catalog.build_solver(choice), CHAINED, n).points() - end).max())
    np.testing.assert_allclose(np.array(errors) * [50, 100, 200], 0.6, rtol=0.15)


@pytest.mark.parametrize("time", [0.01, 1.0, 7.5])
def test_weights_follow_moving_leaders_by_the_exponential(time):
    from scipy.linalg import expm

    rng = np.random.default_rng(5)
    lead, weights = rng.integers(0, 6, 6), rng.dirichlet(np.ones(4), size=6)
    matrix = np.eye(6)[lead] - np.eye(6)
    np.testing.assert_allclose(
        flow.carried(weights, lead, time), expm(time * matrix) @ weights, rtol=1e-12, atol=1e-15
    )


def test_random_clouds_agree_with_the_formula_over_fixed_keys():
    rng = np.random.default_rng(77)
    changed = 0
    for _ in range(12):
        atoms = rng.standard_normal((8, 3))
        q = rng.standard_normal((3, 3))
        start = Combinations.from_dense(rng.dirichlet(np.ones(8), size=5))
        problem = QuadraticOverHull(atoms, -q @ q.T, rng.standard_normal(3), start=start)
        exact, numeric = (
            walked(made(h=1.5, method=m), problem, 2) for m in ("closed_form", "integrate")
        )
        allowed = 1e3 * RTOL * problem.radius
        np.testing.assert_allclose(numeric.points(), exact.points(), rtol=0, atol=allowed)
        np.testing.assert_allclose(
            exact.weights().dense(8) @ atoms, exact.points(), rtol=0, atol=1e-13
        )
        model = made(method="closed_form").prepare(problem)
        x = exact.layer(model, start.averages(model.points[start.keys]), 0, np.zeros(5))
        changed += len(x.stretches) > 1
    assert changed >= 3, "leaders change in some of them"


def test_repeated_atoms_and_one_atom_are_no_crossings():
    for atoms in (np.repeat(OWN.atoms, 3, axis=0), OWN.atoms[:1]):
        problem = QuadraticOverHull(atoms, -1.0)
        for keys in ("fixed", "moving"):
            state = walked(made(keys=keys, h=1), problem, 3)
            assert np.isfinite(state.points()).all()


def test_the_flow_runs_on_concave_problems_alone():
    [choice] = catalog.choices("solvers", "attention_flow")
    done = run(QuadraticOverHull(OWN.atoms), catalog.build_solver(choice), choice.entry, Budget())
    assert "attention_flow runs on concave problems" in done.reason


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"h": 0}, "h must be positive and finite; got 0"),
        ({"h": "inf"}, "h must be positive and finite; got inf"),
        ({"h": 1e300}, "h must be at most 1000; got 1e\\+300"),
        ({"rtol": 1e-15}, "rtol must be at least 1e-13"),
        ({"atol": -1}, "atol must be positive"),
    ],
)
def test_parameters_that_make_no_flow_are_explained(parameters, says):
    with pytest.raises(InvalidParameter, match=says):
        made(**parameters)


@pytest.mark.parametrize("keys", ["fixed", "moving"])
@pytest.mark.parametrize("method", ["integrate", "closed_form"])
def test_tokens_that_all_coincide_stay(keys, method):
    """They all lead one another, by nothing, and the tolerance of ties is 0 as well."""
    one = QuadraticOverHull([[0.0, 2.0], [0.0, 2.0]], -1.0, start=[0, 1])
    state = walked(made(method=method, keys=keys), one, 3)
    assert state.points().tolist() == [[0.0, 2.0]] * 2
