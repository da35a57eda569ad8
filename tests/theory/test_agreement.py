"""Unlike methods agree on the least value of a convex problem, each to what its law allows."""

from functools import cache

import numpy as np
import pytest

from fwbench import catalog
from fwbench.geometry.forms import Kind
from fwbench.runner import Budget, misfit, run
from fwbench.trace import Status

pytestmark = pytest.mark.usefixtures("untimed")

INSTANCES = [
    "min_norm_point[n=100,d=10,shift=1]",
    "min_norm_point[n=100,d=10,shift=0]",
    "min_norm_point[n=60,d=8,face=3]",
    "min_norm_point[n=80,d=8,shift=1,condition=100]",
    "token_cloud[name=four-one]",
    "token_cloud[n=15,d=3]",
    "polygon[k=7,b=-1]",
    "digits[n=60]",
    "hard_input[name=collinear]",
    "hard_input[name=duplicates]",
    "hard_input[name=interval]",
    "hard_input[name=linear]",
    "hard_input[name=simplex-projection]",
    "hard_input[name=ties]",
    "hard_input[name=wide]",
]
# Linear or finite by theory: to the tolerance. The others have a slower law.
LINEAR = [
    "away_steps[step=exact,short,backtracking]",
    "projected_gradient[momentum=restart]",
    "projected_newton",
    "cvxpy_reference",
]
SLOWER = ["frank_wolfe[step=open_loop,exact,short,backtracking]", "hardmax_attention"]
STEPS = 1000
TOLERANCE = 1e-8


@cache
def problem(text):
    return catalog.build_problem(catalog.choices("problems", text)[0])


def ended(choice, text, **budget):
    solver, made = catalog.build_solver(choice), problem(text)
    assert misfit(choice.entry, solver, made) is None
    done = run(made, solver, choice.entry, Budget(**{"max_steps": STEPS, **budget}))
    assert not done.status.is_failure, done.reason
    return done


@cache
def reference(text):
    """Return the certified interval of the reference, centred."""
    done = ended(catalog.choices("solvers", "cvxpy_reference")[0], text)
    return done.trace.last("lower_centred"), done.row["value_centred"]


def curvature(made):
    """Return D², the largest ⟨v_i − v_j, Q(v_i − v_j)⟩."""
    Y = made.form.factors(made.centred)[0]
    norms = (Y**2).sum(axis=1)
    return float((norms[:, None] + norms - 2 * Y @ Y.T).max())


def all_of(texts):
    return [choice for text in texts for choice in catalog.choices("solvers", text)]


@pytest.mark.parametrize("text", INSTANCES)
@pytest.mark.parametrize("choice", all_of(LINEAR), ids=lambda choice: choice.label)
def test_linear_methods_agree_with_the_reference(choice, text):
    made = problem(text)
    assert made.kind is Kind.CONVEX
    lower, value = reference(text)
    assert value - lower <= TOLERANCE * made.scale
    done = ended(choice, text, max_steps=200_000)
    assert done.status in (Status.CONVERGED, Status.FINISHED), done.reason
    assert done.row["gap_relative"] <= TOLERANCE
    assert abs(done.row["value_centred"] - value) <= TOLERANCE * made.scale


@pytest.mark.parametrize("text", INSTANCES)
@pytest.mark.parametrize("choice", all_of(SLOWER), ids=lambda choice: choice.label)
def test_frank_wolfe_agrees_as_far_as_its_rate_goes(choice, text):
    made = problem(text)
    lower, _ = reference(text)
    done = ended(choice, text)
    size = curvature(made)
    if choice.arguments["step"].text == "backtracking":
        size *= 2  # its estimate may be twice the curvature
    if choice.arguments["step"].text == "short":
        # the bound it follows takes L for the curvature of every direction
        lipschitz = np.linalg.norm(made.form.apply(np.eye(made.d)), 2)
        apart = np.linalg.norm(made.centred[:, None] - made.centred, axis=2).max()
        size = lipschitz * apart**2
    above = done.row["value_centred"] - lower
    assert above >= -1e-12 * made.scale
    assert above <= max(2 * size / (done.row["steps"] + 2), TOLERANCE * made.scale)


@pytest.mark.parametrize("text", INSTANCES)
def test_plain_projected_gradient_agrees_as_far_as_its_rate_goes(text):
    # f − f* ≤ L‖w_0 − w*‖²/2k, and two points of the simplex are at most √2 apart
    made = problem(text)
    lower, _ = reference(text)
    done = ended(catalog.choices("solvers", "projected_gradient[momentum=none]")[0], text)
    lipschitz = np.linalg.norm(made.form.factors(made.centred)[0], 2) ** 2
    above = done.row["value_centred"] - lower
    allowed = 1.01 * lipschitz / max(done.row["steps"], 1)
    assert -1e-12 * made.scale <= above <= max(allowed, TOLERANCE * made.scale)


@pytest.mark.parametrize("text", INSTANCES)
def test_softmax_attention_agrees_up_to_its_floor(text):
    # h ← (1 − γ) h + γ log(n)/β + γ² D²/2 comes down to log(n)/β + γ D²/2
    made = problem(text)
    lower, _ = reference(text)
    for beta, gamma in ((10.0, 0.5), (1e4 / made.scale, 0.02)):
        method = f"softmax_attention[beta={beta!r},step=constant({gamma})]"
        done = ended(catalog.choices("solvers", method)[0], text, max_steps=200)
        first = done.trace.columns["value_centred"][0] - lower
        floor = np.log(made.n) / beta + gamma * curvature(made) / 2
        floor += (1 - gamma) ** done.row["steps"] * first
        assert -1e-12 * made.scale <= done.row["value_centred"] - lower
        assert done.row["value_centred"] - lower <= floor + TOLERANCE * made.scale
