"""Hardmax attention with fixed keys and step γ_t is Frank-Wolfe with the same γ_t."""

from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from fwbench import catalog
from fwbench.geometry.combinations import Combinations
from fwbench.kernels.pricing import leader
from fwbench.problem import QuadraticOverHull
from fwbench.solver import each

NAMED = import_module("fwbench.problems.token_cloud").NAMED
CLOUDS = [f"token_cloud[name={name}]" for name in NAMED]
DRAWN = [
    "token_cloud[n=12,d=3]",
    "min_norm_point[n=30,d=4,face=2]",
    "min_norm_point[n=40,d=6,shift=0.5,condition=1e4]",
    "polygon[k=7,b=-1]",
    "polygon[k=9,norms=vary,bijection=false]",
]
EVERYTHING = {
    choice.text: choice
    for text in (*catalog.names("problems"), *CLOUDS, *DRAWN)
    if text not in ("blocks", "file")  # they read what a user gives
    for choice in catalog.choices("problems", text)
}.values()
RULES = ["open_loop", "open_loop(4)", "constant(1/3)"]
STEPS = 2000


def build(group, text):
    choice = catalog.choices(group, text)[0]
    return catalog.build_solver(choice) if group == "solvers" else catalog.build_problem(choice)


def begun(solver, problem):
    model = solver.prepare(problem)
    return solver, model, solver.init(model, problem.start)


# -- in exact arithmetic -----------------------------------------------------------------------


SQUARE = [[1, 1], [1, -1], [-1, -1], [-1, 2]]
KITE = [[0, 3], [2, 1], [-1, -1]]
INSIDE = Combinations.from_dense([[0.25, 0.25, 0.5, 0.0], [0.0, 0.5, 0.125, 0.375]])
EXACT = {
    **{name: build("problems", f"token_cloud[name={name}]") for name in NAMED},
    "linear term": QuadraticOverHull(KITE, [1.0, 2.0], [-1, 0.5], start=[1, 2]),
    "dense": QuadraticOverHull(KITE, [[2, 1], [1, 2]], [1, 0], start=[0]),
    "concave": QuadraticOverHull(SQUARE, -1.0, [0.5, 0.25], start=INSIDE),
    "saddle": QuadraticOverHull(SQUARE, [1.0, -1.0], start=[0, 3]),
    "field": QuadraticOverHull(SQUARE, [[1, 2], [-2, 1]], start=INSIDE),
}

AT_REST = {"unit-triangle", "triangle-pairs"}  # all tokens stand at vertices that own their cells


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", EXACT)
def test_iterates_are_equal_rationals(name, rule):
    problem = EXACT[name]
    parameters = f"step={rule},arithmetic=exact"
    walks = [
        begun(each(build("solvers", f"frank_wolfe[{parameters}]")), problem),
        begun(build("solvers", f"hardmax_attention[{parameters}]"), problem),
    ]
    for _ in range(15 if rule.startswith("constant") else 40):
        for solver, model, state in walks:
            solver.advance(model, state, 1)
        ours, theirs = (state.exact_points() for _, _, state in walks)
        assert type(ours[0, 0]) is Fraction
        assert (ours == theirs).all()
    solver, model, _ = walks[1]
    moved = (ours != solver.init(model, problem.start).exact_points()).any()
    assert moved == (name not in AT_REST)


def test_another_step_is_another_method():
    # what the test above can see: one step of another rule parts the two for good
    problem = EXACT["triangle-20"]
    walks = [
        begun(each(build("solvers", "frank_wolfe[step=open_loop(3),arithmetic=exact]")), problem),
        begun(build("solvers", "hardmax_attention[arithmetic=exact]"), problem),
    ]
    for solver, model, state in walks:
        solver.advance(model, state, 2)
    ours, theirs = (state.exact_points() for _, _, state in walks)
    assert (ours != theirs).any()


# -- in floats ---------------------------------------------------------------------------------


def frank_wolfe_path(problem, query, looks):
    """Return the leaders of each step, and the points at some of them."""
    solver = build("solvers", "frank_wolfe")
    model = solver.prepare(problem)
    state = solver.init(model, problem.start.one(query))
    leads, points = np.empty(STEPS, dtype=np.int64), []
    for t in range(STEPS):
        leads[t] = leader(state.s, model[0].tie)
        solver.advance(model, state, 1)
        if t in looks:
            points.append(state.points()[0])
    return leads, np.array(points)


def attention_path(problem, looks):
    solver, model, state = begun(build("solvers", "hardmax_attention"), problem)
    leads, points = np.empty((STEPS, problem.start.m), dtype=np.int64), []
    for t in range(STEPS):
        moved = solver.layer(model, state.x, t, state.estimate)
        leads[t], state.x = moved.mixing.keys, moved.x
        if t in looks:
            points.append(state.points())
    whole = solver.init(model, problem.start)
    solver.advance(model, whole, STEPS)
    assert whole.x.tobytes() == state.x.tobytes()
    return leads, np.array(points)


@pytest.mark.parametrize("choice", EVERYTHING, ids=lambda choice: choice.label)
def test_leaders_and_values_are_equal_for_2000_steps(choice):
    problem = catalog.build_problem(choice)
    looks = {*range(20), *range(0, STEPS, 50), STEPS - 1}
    leads, points = attention_path(problem, looks)
    for query in range(0, problem.start.m, 1 + problem.start.m // 8):
        expected, path = frank_wolfe_path(problem, query, looks)
        apart = np.flatnonzero(leads[:, query] != expected)
        assert apart.size == 0, f"query {query} parts at step {apart[0]}"
        ours, theirs = (x - problem.mean for x in (points[:, query], path))
        allowed = 1e-12 if problem.dtype == np.float64 else 1e-6
        if problem.kind.has_potential:
            values = problem.centred_value(ours) - problem.centred_value(theirs)
            assert np.abs(values).max() <= allowed * problem.scale
        # a field has no values: then the points themselves
        far = problem.radius + np.finfo(problem.dtype).eps * np.abs(problem.mean).max() / allowed
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed * far)


def test_ties_need_the_tolerance():
    # three-one and four-one tie at the origin again and again: without a common rule rounding
    # decides, and the two part
    for name in ("four-one", "three-one"):
        problem = build("problems", f"token_cloud[name={name}]")
        leads, _ = attention_path(problem, ())
        problem.tie = 0.0
        solver = build("solvers", "frank_wolfe")
        model = solver.prepare(problem)
        parted = []
        for query in range(2):
            state = solver.init(model, problem.start.one(query))
            for t in range(STEPS):
                if leader(state.s, 0.0) != leads[t, query]:
                    parted.append(t)
                    break
                solver.advance(model, state, 1)
        assert parted, name
