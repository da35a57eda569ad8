import numpy as np
import pytest

from fwbench.geometry.programs import ahead, compact, dual, homogeneous, shares

RNG = np.random.default_rng(5)
CORNER = np.array([[2.0, 0.0], [0.0, 2.0], [3.0, 3.0]])  # least norm at (1, 1), weights ½, ½, 0


def test_the_dual_is_solved_by_the_point_and_its_least_score():
    # KKT at the known solution of min ½‖Y'w‖²: y = (1, 1), t = 2, multipliers w
    squares, slope, rows, bound = dual(CORNER, np.zeros(3))
    x, w = np.array([1.0, 1.0, 2.0]), np.array([0.5, 0.5, 0.0])
    np.testing.assert_allclose(squares * x + slope + w @ rows, 0, atol=1e-15)
    slack = bound - rows @ x
    assert (slack >= 0).all()
    assert w @ slack == 0


def test_the_linear_term_bounds_the_rows():
    linear = np.array([1.0, -2.0, 0.5])
    squares, slope, rows, bound = dual(np.zeros((3, 0)), linear)
    assert (squares.tolist(), slope.tolist()) == ([0.0], [-1.0])
    t = np.array([linear.min()])  # the largest t that all rows allow
    assert (rows @ t <= bound).all()
    assert (rows @ t == bound).tolist() == [False, True, False]


def seen_from_the_mean(Z):
    centre = Z.mean(axis=0)
    return ahead(float(centre @ centre), float((Z @ centre).min()))


@pytest.mark.parametrize("Z", [CORNER, CORNER - 1.0], ids=["beyond a hyperplane", "not"])
def test_least_distance_is_solved_by_the_inverse_of_the_point(Z):
    # z = x/‖x‖² with x the point of least norm of the rows' hull, multipliers w/‖x‖²
    outside = seen_from_the_mean(Z)
    assert outside == (Z is CORNER)
    rows = Z if outside else homogeneous(Z)
    w = np.array([0.5, 0.5, 0.0])
    x = w @ rows
    z = x / (x @ x)
    assert (rows @ z >= 1 - 1e-15).all()
    np.testing.assert_allclose(w / (x @ x) @ rows, z, rtol=1e-15)


def test_points_that_are_barely_beyond_a_hyperplane_get_the_column_of_ones():
    near = np.array([[1e-3, 1.0], [1e-3, -1.0]])
    assert not seen_from_the_mean(near)
    assert seen_from_the_mean(near + np.array([0.1, 0.0]))


def test_points_without_coordinates_have_one_of_ones():
    assert not ahead(0.0, 0.0)
    assert homogeneous(np.zeros((4, 0))).tolist() == [[1.0]] * 4


@pytest.mark.parametrize("shape", [(3, 8), (8, 3), (4, 4), (5, 0)])
def test_compact_keeps_inner_products(shape):
    rows = RNG.standard_normal(shape)
    fewer = compact(rows)
    assert fewer.shape == (shape[0], min(shape))
    np.testing.assert_allclose(fewer @ fewer.T, rows @ rows.T, atol=1e-13)


def test_shares_of_nothing_and_of_what_is_not_finite():
    assert shares(np.zeros(3)) is None
    assert shares(np.array([-1.0, 0.5])) is None
    assert np.isnan(shares(np.array([np.nan, 1.0]))).any()
    assert np.isnan(shares(np.array([np.inf, 1.0]))).any()
    # weights that are negative stay so: the judge must see them
    assert shares(np.array([3.0, -1.0])).tolist() == [1.5, -0.5]
