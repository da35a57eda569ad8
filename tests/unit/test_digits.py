from importlib import import_module

import numpy as np
import pytest
from scipy.optimize import nnls

from fwbench.errors import InvalidParameter

digits = import_module("fwbench.problems.digits")


def test_all_images_of_a_digit_are_the_atoms():
    problem = digits.make(digit=3, target=8, image=5)
    assert (problem.n, problem.d, problem.kind.value) == (183, 64, "convex")
    grey = problem.atoms * 16
    assert np.array_equal(grey, np.rint(grey))
    assert (grey.min(), grey.max()) == (0, 16)


def test_the_classes_have_their_known_sizes():
    sizes = [digits.make(digit=digit, target=(digit + 1) % 10).n for digit in range(10)]
    assert sizes == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_n_takes_the_first_images():
    few, all_ = digits.make(n=10), digits.make()
    np.testing.assert_array_equal(few.atoms, all_.atoms[:10])


def test_the_target_is_no_atom_of_its_own_hull():
    problem = digits.make(digit=4, target=4, image=2)
    assert problem.n == 180
    assert not (problem.atoms == -problem.c).all(axis=1).any()


def test_the_nearest_point_of_the_default_is_the_documented_one():
    problem = digits.make()
    # least squares on the simplex: the last row, heavily weighted, holds the sum at 1
    A = np.vstack([(problem.atoms + problem.c).T, np.full(problem.n, 1e3)])
    weights = nnls(A, np.append(np.zeros(64), 1e3))[0]
    x = weights @ problem.atoms / weights.sum()
    field = x + problem.c
    assert (weights > 1e-9).sum() == 8
    assert np.linalg.norm(field) == pytest.approx(1.5713, abs=1e-4)
    assert field @ x - (problem.atoms @ field).min() <= 1e-12 * problem.scale


def test_the_shipped_images_are_those_of_scikit_learn():
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    images, labels = datasets.load_digits(return_X_y=True)
    with np.load(digits.SHIPPED) as shipped:
        np.testing.assert_array_equal(shipped["images"], images)
        np.testing.assert_array_equal(shipped["labels"], labels)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"digit": 10}, "digit: it must be a digit, 0 to 9; got 10"),
        ({"target": -1}, "target: .* got -1"),
        ({"image": 174}, "image: there are 174 images of 8, counted from 0; got 174"),
        ({"n": 184}, r"n: .* between 0 \(all\) and 183, the images of 3; got 184"),
    ],
)
def test_a_bad_parameter_is_named(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        digits.make(**parameters)
