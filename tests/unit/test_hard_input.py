from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from fwbench import catalog
from fwbench.errors import InvalidParameter
from fwbench.geometry.forms import Kind

from . import made_exact as exact

module = import_module("fwbench.problems.hard_input")
HARD, hard_input = module.HARD, module.hard_input

SMALL = 12  # atoms: up to here every support can be tried in rationals
ROUNDED = {"gradients", "flat-direction"}  # Q is rounded; c of simplex-projection: texts


@pytest.mark.parametrize("name", [name for name, hard in HARD.items() if hard.optimum is not None])
def test_the_known_optimum_is_the_least_value(name):
    problem, optimum = hard_input(name), HARD[name].optimum
    assert problem.n <= SMALL
    value, weights = exact.least(problem)
    assert sum(weights.values()) == 1
    if name in ROUNDED:
        largest = problem.scale + abs(problem.value_at_mean)
        assert abs(value - optimum) <= 2e-16 * largest
    else:
        assert value == optimum


@pytest.mark.parametrize("name", HARD)
def test_each_input_builds_and_is_the_same_each_time(name):
    problem, again = hard_input(name), hard_input(name)
    assert problem.fingerprint == again.fingerprint
    assert np.isfinite([problem.scale, problem.value_at_mean, problem.radius]).all()
    assert len(HARD[name].symptom) > 20
    assert name == name.lower()


def test_no_two_inputs_are_the_same():
    assert len({hard_input(name).fingerprint for name in HARD}) == len(HARD)


def test_inputs_of_every_kind_but_the_general_are_there():
    kinds = {hard_input(name).kind for name in HARD}
    assert kinds == set(Kind) - {Kind.GENERAL}


def test_a_name_that_does_not_exist_gets_the_nearest():
    with pytest.raises(InvalidParameter, match=r"no instance 'rotatoin'; did you mean rotation\?"):
        hard_input("rotatoin")


def test_the_bare_name_stands_for_all_of_them():
    found = catalog.choices("problems", "hard_input")
    assert [choice.arguments["name"] for choice in found] == list(HARD)
    assert found[0].text == f"hard_input[name={next(iter(HARD))}]"


# -- what is special in each ---------------------------------------------------------------------


def test_the_enclosing_ball_is_one():
    problem = hard_input("enclosing-ball")
    value, weights = exact.least(problem)
    points = problem.exact_atoms[:, :-1]
    centre = sum(w * points[key] for key, w in weights.items())
    radii = [(p - centre) @ (p - centre) for p in points]
    assert max(radii) == -value == Fraction(637, 38)


def test_the_far_cloud_is_the_near_one():
    far = hard_input("far-cloud")
    near = type(far)(far.atoms - 1e8, far.form)
    value, weights = exact.least(far)
    assert exact.least(near)[1] == weights
    assert far.kind is near.kind
    np.testing.assert_allclose(far.centred, near.centred, atol=1e-8)
    assert abs(exact.centred(far, value) - exact.centred(near, exact.least(near)[0])) < 1e-6


def test_the_sizes_are_exact():
    for name, size in (("tiny", module.TINY), ("huge", module.HUGE)):
        assert (hard_input(name).atoms / size == module.TRIANGLE).all()
    assert 1e-22 < module.TINY < 1e-21
    assert 1e17 < module.HUGE < 1e18


def test_the_ill_conditioned_one_is():
    Q = hard_input("ill-conditioned").form.chain()[0]
    assert 1e12 < Q.max() / Q.min() < 2e12


def test_the_gradients_make_a_singular_matrix():
    eigenvalues = np.linalg.eigvalsh(hard_input("gradients").form.chain()[0])
    assert abs(eigenvalues[0]) < 1e-15 < eigenvalues[1]


def test_the_flat_direction_is_flat_but_for_rounding():
    problem = hard_input("flat-direction")
    along = problem.atoms[1] - problem.atoms[0]
    curvature = along @ (exact.matrix(problem) @ exact.rational(along))
    assert 0 < abs(curvature) < 1e-15


def test_the_single_one_is_float32_in_fortran_order():
    atoms = hard_input("single").atoms
    assert atoms.dtype == np.float32
    assert atoms.flags.f_contiguous
    assert not atoms.flags.c_contiguous


def test_the_small_weight_is_one():
    assert 0 < hard_input("small-weight").start.data.min() < 1e-6
