import inspect
from functools import cache

import numpy as np
import pytest

from fwbench import catalog
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.judge import Judge
from fwbench.problem import KIND
from fwbench.runner import Budget, run

pytestmark = pytest.mark.usefixtures("untimed")

NAMES = list(catalog.names("problems"))


def entry(name):
    return catalog.entry("problems", name)


def grid(name):
    """Return the instances of a family; none for one that reads what a user gives."""
    declared = catalog.parameters(entry(name).make)
    required = {key for key, (_, default) in declared.items() if default is inspect.Parameter.empty}
    given = all(required <= set(row) for row in entry(name).grid)
    return catalog.choices("problems", name) if given else []


INSTANCES = [choice for name in NAMES for choice in grid(name)]


@cache
def built(choice):
    return catalog.build_problem(choice)


@pytest.fixture(params=INSTANCES, ids=lambda choice: choice.label)
def choice(request):
    return request.param


@pytest.fixture
def problem(choice):
    return built(choice)


def mixtures(problem, count, seed=0):
    """Return random points of the hull as combinations: vertices, edges and inner points."""
    rng = np.random.default_rng(seed)
    weights = np.zeros((count, problem.n))
    for row in weights:
        few = rng.choice(problem.n, min(problem.n, int(rng.integers(1, 6))), replace=False)
        row[few] = rng.dirichlet(np.ones(len(few)))
    return Combinations.from_dense(weights)


def offsets(problem, mixed):
    return mixed.averages(problem.centred[mixed.keys])


# -- what a file says of itself ----------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_problem_file_says_what_it_is(name):
    found = entry(name)
    assert found.name == name
    assert found.label
    assert found.grid
    texts = [choice.text for choice in grid(name)]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert [again.text for again in catalog.choices("problems", text)] == [text]
    declared = catalog.parameters(found.make)
    documented = inspect.getdoc(found.make) or ""
    assert all(key in documented for key in declared), "every parameter is explained"


def test_families_are_tried():
    assert len({choice.name for choice in INSTANCES}) >= 5
    assert {built(choice).kind for choice in INSTANCES} == set(Kind)


# -- the same name, the same problem -----------------------------------------------------------


def test_one_name_gives_the_same_bits(choice):
    once, again = catalog.build_problem(choice), catalog.build_problem(choice)
    assert once.fingerprint == again.fingerprint
    for name in ("atoms", "c"):
        assert getattr(once, name).tobytes() == getattr(again, name).tobytes()
    for link, other in zip(once.form.chain(), again.form.chain(), strict=True):
        assert link.tobytes() == other.tobytes()
    assert once.start.data.tobytes() == again.start.data.tobytes()
    assert once.start.keys.tobytes() == again.start.keys.tobytes()


@pytest.mark.parametrize("name", [n for n in NAMES if "seed" in catalog.parameters(entry(n).make)])
def test_another_seed_gives_another_problem(name):
    one, two, again = (
        catalog.build_problem(catalog.choices("problems", f"{name}[seed={seed}]")[0])
        for seed in (1, 2, 1)
    )
    assert one.fingerprint == again.fingerprint != two.fingerprint


# -- the function and its kind -----------------------------------------------------------------


def test_the_field_is_the_gradient(problem):
    if not problem.kind.has_potential:
        pytest.skip("a field without potential is no gradient")
    x = offsets(problem, mixtures(problem, 5))
    toward = offsets(problem, mixtures(problem, 5, seed=1)) - x
    # a central difference of a quadratic has no error but rounding
    rise = problem.centred_value(x + toward) - problem.centred_value(x - toward)
    slope = (problem.centred_field(x) * toward).sum(axis=1)
    np.testing.assert_allclose(rise / 2, slope, rtol=0, atol=1e-12 * problem.scale)
    absolute = problem.mean + x
    size = np.abs(problem.value(absolute)).max() + abs(problem.value_at_mean)
    plain = 0.5 * (problem.form.apply(absolute) * absolute).sum(axis=1) + absolute @ problem.c
    np.testing.assert_allclose(problem.value(absolute), plain, rtol=0, atol=1e-12 * size)


def test_the_kind_is_what_q_is(problem):
    Q = problem.form.apply(np.eye(problem.d)).T
    eigenvalues = np.linalg.eigvalsh((Q + Q.T) / 2)
    small = KIND[problem.dtype] * np.abs(eigenvalues).max()
    symmetric = np.abs(Q - Q.T).max() <= 1e-12 * np.abs(Q).max()
    assert symmetric == problem.kind.has_potential
    if (eigenvalues >= -small).all():
        assert problem.kind is (Kind.CONVEX if symmetric else Kind.MONOTONE)
    elif symmetric:
        assert problem.kind is (Kind.CONCAVE if (eigenvalues <= small).all() else Kind.INDEFINITE)
    else:
        assert problem.kind is Kind.GENERAL


def test_segments_bend_as_the_kind_says(problem):
    x, y = (offsets(problem, mixtures(problem, 40, seed)) for seed in (2, 3))
    # ⟨F(y) − F(x), y − x⟩
    bend = ((problem.centred_field(y) - problem.centred_field(x)) * (y - x)).sum(axis=1)
    if problem.kind in (Kind.CONVEX, Kind.MONOTONE):
        assert bend.min() >= -1e-12 * problem.scale
    if problem.kind is Kind.CONCAVE:
        assert bend.max() <= 1e-12 * problem.scale


def test_starts_are_points_of_the_hull(problem):
    start = problem.start
    assert start.m >= 1
    assert (start.data >= 0).all()
    np.testing.assert_allclose(start.sums(), 1, rtol=0, atol=1e-12)
    assert 0 <= start.keys.min() <= start.keys.max() < problem.n


# -- the gap against a reference ---------------------------------------------------------------


@cache
def reference(choice):
    problem = built(choice)
    text = {Kind.CONVEX: "cvxpy_reference", Kind.CONCAVE: "vertex_enumeration"}.get(problem.kind)
    if text is None:
        pytest.skip(f"no reference for a problem that is {problem.kind}")
    solver = catalog.choices("solvers", text)[0]
    done = run(problem, catalog.build_solver(solver), solver.entry, Budget())
    assert not done.status.is_failure, done.reason
    return done.row["value_centred"], done.trace.last("lower_centred")


def test_the_reference_is_certified(choice):
    value, lower = reference(choice)
    if lower is not None:
        assert lower <= value <= lower + 1e-8 * built(choice).scale


def test_no_point_is_below_the_reference(choice):
    value, _ = reference(choice)
    problem = built(choice)
    x = np.vstack([offsets(problem, mixtures(problem, 200)), problem.centred])
    assert problem.centred_value(x).min() >= value - 1e-8 * problem.scale


def test_the_gap_is_no_less_than_what_is_missing(choice):
    value, _ = reference(choice)
    problem = built(choice)
    if problem.kind is not Kind.CONVEX:
        pytest.skip("only convexity makes the gap a bound")
    judge = Judge(problem)
    mixed = mixtures(problem, 60)
    look = judge.look(problem.mean + offsets(problem, mixed), mixed)
    assert (look.gaps >= 0).all()
    missing = look.values - value
    assert (look.gaps >= missing - 1e-12 * problem.scale).all()
    # no certified lower bound lies above any value
    assert judge.lower <= value + 1e-12 * problem.scale
