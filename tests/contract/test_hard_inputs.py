"""Every solver on every input on which some solver is known to have failed."""

from functools import cache
from importlib import import_module

import numpy as np
import pytest

from fwbench import catalog
from fwbench.geometry.forms import Kind
from fwbench.judge import LOOSE
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, misfit, run
from fwbench.trace import Status

pytestmark = pytest.mark.usefixtures("untimed")

module = import_module("fwbench.problems.hard_input")
HARD, TRIANGLE = module.HARD, module.TRIANGLE

VARIANTS = (
    "away_steps[step=short,backtracking]",
    "frank_wolfe[step=short,backtracking,constant(1)]",
    "hardmax_attention[ties=points]",
    "hardmax_attention[keys=moving]",
    "softmax_attention[keys=moving]",
)
CHOICES = {
    choice.label: choice
    for text in (*catalog.names("solvers"), *VARIANTS)
    for choice in catalog.choices("solvers", text)
}
STEPS = 100
ROUNDING = 1e-14  # of the scale; values and gaps are sums of a few terms
CLEAN = {Status.CONVERGED, Status.FINISHED, Status.BUDGET, Status.STALLED}
FLOAT32 = 1e-5


@cache
def built(name):
    return HARD[name].build()


@cache
def made(name, label, steps=STEPS, tol=1e-8):
    choice = CHOICES[label]
    if name == "gram-200" and choice.arguments.get("keys") == "moving":
        steps = 10  # 200 tokens in 200 dimensions
    return run(built(name), catalog.build_solver(choice), choice.entry, Budget(tol, steps))


def fits(name, label):
    choice = CHOICES[label]
    return misfit(choice.entry, catalog.build_solver(choice), built(name)) is None


PAIRS = [(name, label) for name in HARD for label in CHOICES if fits(name, label)]


def steps_of(name, solver, count):
    """Yield the states of a solver, one a step."""
    problem = built(name)
    model = solver.prepare(problem)
    state = solver.init(model, problem.start)
    for _ in range(count):
        solver.advance(model, state, 1)
        yield state


def solver(text):
    [choice] = catalog.choices("solvers", text)
    return catalog.build_solver(choice)


# -- all of them on all of them ------------------------------------------------------------------


def ends_with_a_clean_status(pair):
    done = made(*pair)
    assert done.status in CLEAN, (done.reason, done.traceback)
    assert done.reason
    assert done.row["steps"] == done.trace.last("k") <= STEPS
    for name in ("gap", "scale", "feasibility", "seconds", "setup_seconds"):
        assert 0 <= done.row[name] < np.inf


def returns_weights_and_their_points(pair):
    problem, done = built(pair[0]), made(*pair)
    allowed = FLOAT32 if problem.dtype == np.float32 else LOOSE
    assert done.row["feasibility"] <= allowed
    for q in range(done.weights.m):
        one = done.weights.one(q)
        assert (one.data >= 0).all()
        assert one.data.sum() == pytest.approx(1, abs=1e-12)
        x = problem.mean + one.data @ problem.centred[one.keys]
        unit = problem.radius + np.abs(problem.mean).max()
        np.testing.assert_allclose(done.points[q], x, atol=1e-14 * unit)


def has_the_gap_of_its_weights(pair):
    # the gap that a library printed at the end was worse than the last one logged: FrankWolfe.jl
    problem, done = built(pair[0]), made(*pair)
    gaps = []
    for q in range(done.weights.m):
        w = done.weights.one(q).dense(problem.n)[0]
        scores = problem.centred @ problem.centred_field(w @ problem.centred)
        gaps.append(w @ (scores - scores.min()))
    assert done.row["gap"] == pytest.approx(max(gaps), abs=ROUNDING * problem.scale)
    assert done.row["gap"] == done.trace.last("gap") >= 0
    assert done.row["gap_relative"] * problem.scale <= done.row["gap"] * (1 + ROUNDING)


@cache
def centred_optimum(name):
    """Return the known optimum less f at the mean, computed without a digit lost."""
    mean = np.vectorize(module.Fraction, otypes=[object])(built(name).mean)
    Qx = mean
    for link in built(name).exact_chain:
        Qx = np.dot(link, Qx) if link.ndim == 2 else link * Qx
    return float(HARD[name].optimum - mean @ Qx / 2 - built(name).exact_c @ mean)


def holds_the_known_optimum_between_bound_and_value(pair):
    if HARD[pair[0]].optimum is None:
        return
    problem, done, optimum = built(pair[0]), made(*pair), centred_optimum(pair[0])
    assert done.row["value_centred"] >= optimum - ROUNDING * problem.scale
    if problem.kind is Kind.CONVEX:
        assert done.trace.last("lower_centred") <= optimum + ROUNDING * problem.scale


SEARCHES = [label for label in CHOICES if "step=" in label or label == "away_steps"]
SEARCHES = [label for label in SEARCHES if "constant" not in label]


def lets_no_search_raise_the_value(pair):
    # a slack of single precision in the test of decrease let f rise at each step: copt
    if HARD[pair[0]].optimum is None or pair[1] not in SEARCHES:
        return
    values = np.array(made(*pair).trace.columns["value_centred"], dtype=float)
    assert (np.diff(values) <= ROUNDING * built(pair[0]).scale).all()


# One test a pair: each of these for itself would make every run again in every worker of pytest.
OWED = (
    ends_with_a_clean_status,
    returns_weights_and_their_points,
    has_the_gap_of_its_weights,
    holds_the_known_optimum_between_bound_and_value,
    lets_no_search_raise_the_value,
)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0]}-{pair[1]}")
def test_a_run_keeps_what_it_owes(pair):
    for owed in OWED:
        owed(pair)


def test_searches_meet_known_optima():
    assert any(HARD[name].optimum is not None and label in SEARCHES for name, label in PAIRS)


SLOW = {"ill-conditioned": 1e-5, "gram-200": 1e-3, "single": 1e-4}  # for away steps, of the scale


@pytest.mark.parametrize("label", ["cvxpy_reference", "projected_gradient", "away_steps"])
@pytest.mark.parametrize("name", HARD)
def test_the_exact_methods_find_the_optimum(name, label):
    problem = built(name)
    if not fits(name, label):
        pytest.skip(f"{label} does not run on {problem.kind} problems")
    done = made(name, label, steps=1000)
    slow = SLOW.get(name, 1e-8) if label == "away_steps" else 1e-8
    assert done.row["gap_relative"] <= max(slow, 2e-8 * (problem.dtype == np.float32))
    if HARD[name].optimum is not None and problem.kind is not Kind.INDEFINITE:
        above = done.row["value_centred"] - centred_optimum(name)
        assert above <= max(slow, ROUNDING) * problem.scale


def test_the_best_vertex_is_the_optimum_of_a_concave_problem():
    concave = [name for name in HARD if built(name).kind is Kind.CONCAVE]
    assert concave
    for name in concave:
        done = made(name, "vertex_enumeration")
        assert done.status is Status.FINISHED
        assert done.row["value_centred"] == pytest.approx(centred_optimum(name), abs=1e-15)


# -- one by one ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["exact", "short", "backtracking"])
@pytest.mark.parametrize("method", ["away_steps", "frank_wolfe", "hardmax_attention"])
def test_in_one_dimension_every_search_finds_the_closed_form(method, rule):
    # searches that returned their first trial, or took the wrong sign: FrankWolfe.jl
    choice = catalog.choices("solvers", f"{method}[step={rule}]")[0]
    done = run(built("interval"), catalog.build_solver(choice), choice.entry, Budget(1e-12, 500))
    assert done.status is Status.CONVERGED
    assert done.points.item() == pytest.approx(4 / 3, abs=1e-6)


def test_an_exact_step_divides_by_the_curvature_along_the_direction():
    # by that at the point it would be 1.805: a textbook's code
    [state] = steps_of("enclosing-ball-step", solver("frank_wolfe[step=exact]"), 1)
    gamma = 10.2 / (2 * 13.925)
    expected = (1 - gamma) * np.array([0.2, 0.3, 0.5]) + gamma * np.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(state.weights().dense(3)[0], expected, rtol=1e-14)


@pytest.mark.parametrize("rule", ["exact", "short", "backtracking"])
@pytest.mark.parametrize("name", ["small-weight", "near-duplicates", "duplicates", "slivers"])
def test_no_step_is_longer_than_the_weights_last(name, rule):
    # a search was allowed 1 where a weight of 1e-12 was left: FrankWolfe.jl
    for state in steps_of(name, solver(f"away_steps[step={rule}]"), 60):
        weights = state.weights()
        assert (weights.data >= 0).all()
        assert weights.sums() == pytest.approx([1], abs=1e-14)


@pytest.mark.parametrize("rule", ["exact", "short", "backtracking"])
@pytest.mark.parametrize("method", ["away_steps", "frank_wolfe", "hardmax_attention"])
def test_no_step_is_longer_than_the_way_to_the_vertex(method, rule):
    # steps above 1 and negative entries: POT
    state = next(iter(steps_of("beyond", solver(f"{method}[step={rule}]"), 1)))
    assert state.weights().dense(2).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("rule", ["exact", "short", "backtracking"])
def test_a_weight_that_is_used_up_is_gone(rule):
    # dropped by a comparison of floats, it stayed for ever with steps of length 0, or the point
    # moved by another step than the weights
    state = next(iter(steps_of("small-weight", solver(f"away_steps[step={rule}]"), 1)))
    assert (state.counters["away"], state.counters["drop"]) == (1, 1)
    weights = state.weights()
    assert weights.keys.tolist() == [0, 2]
    np.testing.assert_allclose(state.points(), weights.dense(3) @ TRIANGLE, atol=1e-15)


LEFT = [label for label in CHOICES if label.split("[")[0] in ("away_steps", "frank_wolfe")]


@pytest.mark.parametrize("label", LEFT)
@pytest.mark.parametrize("name", ["collinear", "gradients", "flat-direction", "enclosing-ball"])
def test_a_run_for_the_last_digit_ends(name, label):
    # estimates that grew to infinity, loops of steps of length 0, stalls without a word:
    # FrankWolfe.jl, LineSearches.jl
    done = made(name, label, steps=100_000, tol=1e-300)
    assert done.status in CLEAN
    assert done.row["steps"] <= 100_000
    assert np.isfinite(done.points).all()
    assert done.row["feasibility"] <= LOOSE


@pytest.mark.parametrize("label", ["frank_wolfe", "away_steps", "projected_gradient"])
def test_the_number_of_steps_is_kept(label):
    # an iteration counter that was never raised: a solver of least-norm points
    for steps in (1, 2, 17):
        assert made("gram-200", label, steps=steps).row["steps"] == steps


@pytest.mark.parametrize("label", ["frank_wolfe", "away_steps", "hardmax_attention"])
def test_the_time_is_kept(label):
    # a default number of steps without end, and no limit of time: scikit-learn
    choice = CHOICES[label]
    budget = Budget(tol=1e-300, max_steps=10**9, max_seconds=1e-9)
    done = run(built("gram-200"), catalog.build_solver(choice), choice.entry, budget)
    assert done.status is Status.TIMEOUT
    assert done.row["steps"] < 10**9


SIZED = {
    "Fortran": (TRIANGLE, "F", np.float64),
    "single": (TRIANGLE, "C", np.float32),
    "single, Fortran": (TRIANGLE, "F", np.float32),
    "tiny": (TRIANGLE * module.TINY, "F", np.float64),
    "small, single": (TRIANGLE * 2.0**-40, "F", np.float32),
    "huge, single": (TRIANGLE * module.HUGE, "C", np.float32),
}


@pytest.mark.parametrize("label", [label for label in CHOICES if fits("slivers", label)])
@pytest.mark.parametrize("name", SIZED)
def test_order_type_and_size_of_the_atoms_change_nothing_but_rounding(name, label):
    # the answer 0 for entries of 1e-21, failure on Fortran order: scipy
    atoms, order, dtype = SIZED[name]
    choice = CHOICES[label]
    if "beta" in choice.arguments:
        pytest.skip("a temperature has the unit of f: softmax attention does not scale along")
    at = [QuadraticOverHull(np.array(atoms, order=order, dtype=dtype)), QuadraticOverHull(TRIANGLE)]
    budget = Budget(1e-8, 200)
    done, home = (run(p, catalog.build_solver(choice), choice.entry, budget) for p in at)
    assert done.status in CLEAN, done.reason
    digits = 4e-6 if dtype == np.float32 else 1e-13
    assert done.row["gap_relative"] == pytest.approx(home.row["gap_relative"], abs=digits)
    values = [d.row["value_centred"] / d.row["scale"] for d in (done, home)]
    assert values[0] == pytest.approx(values[1], abs=digits)


def test_of_equal_scores_the_lowest_index_leads():
    # rounding picked another leader on each machine: POT and others
    *_, state = steps_of("ties", solver("hardmax_attention"), 3)
    assert state.weights().keys.tolist() == [0, 2]
