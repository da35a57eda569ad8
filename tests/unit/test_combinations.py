from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwbench.geometry.combinations import LONG, Combinations

calm = settings(deadline=None, derandomize=True, database=None, max_examples=60)

shapes = st.tuples(st.integers(1, 5), st.integers(1, 2 * LONG + 3))
weights = arrays(float, shapes, elements=st.sampled_from([0.0, 0.0, 0.5, 1.0, -0.25, 3.0]))


@calm
@given(weights)
def test_dense_weights_come_back(w):
    assert Combinations.from_dense(w).dense(w.shape[1]).tolist() == w.tolist()


@calm
@given(weights, st.integers(1, 3))
def test_averages_are_those_of_the_dense_weights(w, d):
    rows = np.random.default_rng(0).standard_normal((w.shape[1], d))
    made = Combinations.from_dense(w)
    np.testing.assert_allclose(made.averages(rows[made.keys]), w @ rows, atol=1e-14)
    np.testing.assert_allclose(made.sums(), w.sum(axis=1), atol=1e-15)


@calm
@given(weights)
def test_taken_apart_and_joined_they_are_the_same(w):
    made = Combinations.from_dense(w)
    joined = Combinations.joined([made.one(q) for q in range(made.m)])
    for name in ("indptr", "keys", "data", "query"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(made, name))


@calm
@given(weights)
def test_repaired_weights_are_weights_of_the_same_shape(w):
    repaired = Combinations.from_dense(w).repaired().dense(w.shape[1])
    for before, after in zip(w, repaired, strict=True):
        clipped = np.maximum(before, 0)
        if clipped.any():
            np.testing.assert_allclose(after, clipped / clipped.sum(), rtol=1e-15)
        else:
            np.testing.assert_array_equal(after, before)  # there is nothing to normalise


@pytest.mark.parametrize("n", [3, 3 * LONG])
def test_rationals_stay_exact(n):
    shares = [Fraction(k + 1, n) for k in range(n)]
    made = Combinations.from_dense(np.array([shares], dtype=object))
    rows = np.array([[Fraction(1, 3), Fraction(k)] for k in range(n)], dtype=object)
    expected = [sum(shares) / 3, sum(k * share for k, share in enumerate(shares))]
    assert made.averages(rows).tolist() == [expected]
    assert made.dense(n).tolist() == [shares]
    assert made.sums().tolist() == pytest.approx([float(sum(shares))])


def test_vertices_put_all_weight_on_one_key():
    made = Combinations.vertices([2, 0])
    assert made.m == 2
    assert made.dense(3).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert Combinations.vertices(1).dense(2).tolist() == [[0, 1]]


def test_a_key_named_twice_counts_twice():
    made = Combinations(np.array([0, 2]), np.array([1, 1]), np.array([0.25, 0.75]))
    assert made.dense(2).tolist() == [[0, 1]]
    assert made.averages(np.array([[4.0], [8.0]])).tolist() == [[7.0]]


def test_an_empty_combination_is_the_origin():
    made = Combinations(np.array([0, 0, 1]), np.array([0]), np.array([1.0]))
    assert made.averages(np.array([[5.0, 6.0]])).tolist() == [[0, 0], [5, 6]]
    assert made.sums().tolist() == [0, 1]
