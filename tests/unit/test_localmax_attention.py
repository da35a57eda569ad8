"""Between softmax and hardmax: uniform weights on the keys that nearly lead."""

import numpy as np
import pytest

from fwbench import catalog
from fwbench.geometry.combinations import Combinations
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, run

RNG = np.random.default_rng(51)
CLOUD = RNG.standard_normal((9, 3))
LOOSE = Combinations.from_dense(RNG.dirichlet(np.ones(9), size=4))
PROBLEMS = {
    "convex": QuadraticOverHull(CLOUD + 0.4, [1.0, 0.5, 2.0], [0.1, -0.2, 0.3], start=LOOSE),
    "concave": QuadraticOverHull(CLOUD, -1.0, start=LOOSE),
    "grid": QuadraticOverHull(np.indices((3, 3)).reshape(2, 9).T.astype(float) - 1.0, -1.0),
}


def walked(text, problem, steps):
    [choice] = catalog.choices("solvers", text)
    solver = catalog.build_solver(choice)
    model = solver.prepare(problem)
    state = solver.init(model, solver.start(problem))
    solver.advance(model, state, steps)
    return state.points()


@pytest.mark.parametrize("keys", ["fixed", "moving"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_without_slack_it_is_hardmax_over_tied_indices(name, keys):
    problem = PROBLEMS[name]
    ours = walked(f"localmax_attention[slack=0,keys={keys}]", problem, 12)
    hard = f"hardmax_attention[ties=indices,step=constant(1/2),keys={keys}]"
    np.testing.assert_allclose(ours, walked(hard, problem, 12), rtol=0, atol=1e-13)


@pytest.mark.parametrize("keys", ["fixed", "moving"])
def test_with_all_slack_every_query_goes_to_the_mean(keys):
    problem = PROBLEMS["convex"]
    x = LOOSE.dense(9) @ problem.atoms
    mean = (x if keys == "moving" else problem.atoms).mean(axis=0)
    found = walked(f"localmax_attention[slack=10,keys={keys},step=constant(1)]", problem, 1)
    np.testing.assert_allclose(found, np.tile(mean, (4, 1)), rtol=0, atol=1e-14)
    found = walked(f"localmax_attention[slack=1e308,keys={keys},step=constant(1)]", problem, 1)
    np.testing.assert_allclose(found, np.tile(mean, (4, 1)), rtol=0, atol=1e-14)


@pytest.mark.parametrize("slack", [0.001, 0.03, 0.2])
def test_a_step_averages_the_keys_within_the_slack(slack):
    problem = PROBLEMS["convex"]
    x = LOOSE.dense(9) @ problem.atoms
    scores = (problem.form.apply(x) + problem.c) @ problem.atoms.T
    near = scores <= scores.min(axis=1)[:, None] + slack * problem.scale
    target = (near @ problem.atoms) / near.sum(axis=1)[:, None]
    found = walked(f"localmax_attention[slack={slack}]", problem, 1)
    np.testing.assert_allclose(found, (x + target) / 2, rtol=0, atol=1e-14)
    # each is a vertex of an oracle that errs by the slack
    field = problem.form.apply(x) + problem.c
    errs = (field * target).sum(axis=1) - scores.min(axis=1)
    assert (errs <= slack * problem.scale + 1e-14).all()


def test_a_slack_that_vanishes_ends_like_hardmax():
    problem = PROBLEMS["concave"]
    # the early layers see all keys, so points differ; both end where every token leads itself
    for text in (
        "localmax_attention[slack=geometric(1,1/2),keys=moving]",
        "hardmax_attention[ties=indices,step=constant(1/2),keys=moving]",
    ):
        end = walked(text, problem, 200)
        scores = -end @ end.T
        assert (scores.min(axis=1) >= scores.diagonal() - 1e-9).all()
        assert np.linalg.norm(end, axis=1).min() > 1e-3


def test_a_cloud_that_shrinks_is_seen_as_a_whole_in_the_end():
    # towards one point by the mean of all: a slack of the problem's scale, not the cloud's
    problem = QuadraticOverHull(CLOUD, -1.0)
    end = walked("localmax_attention[slack=4,keys=moving]", problem, 40)
    np.testing.assert_allclose(end, np.tile(CLOUD.mean(axis=0), (9, 1)), rtol=0, atol=1e-11)


def test_the_slack_is_measured_by_the_problem_not_by_the_cloud():
    problem = PROBLEMS["concave"]
    [choice] = catalog.choices("solvers", "localmax_attention[slack=1/100,keys=moving]")
    solver = catalog.build_solver(choice)
    x = 0.1 * CLOUD
    moved = solver.layer(solver.prepare(problem), x - problem.mean, 0, np.zeros(9))
    near = -x @ x.T <= (-x @ x.T).min(axis=1)[:, None] + 0.01 * problem.scale
    assert 9 < near.sum() < 81
    counts = np.diff(moved.mixing.indptr)
    np.testing.assert_array_equal(counts, near.sum(axis=1))


def test_a_schedule_of_slack_is_not_searched_for_cycles():
    [choice] = catalog.choices("solvers", "localmax_attention[slack=geometric(1,1/2)]")
    solver = catalog.build_solver(choice)
    assert solver.scheduled
    assert run(PROBLEMS["convex"], solver, choice.entry, Budget(max_steps=30)).status.value
    [choice] = catalog.choices("solvers", "localmax_attention[slack=1/10]")
    assert not catalog.build_solver(choice).scheduled
