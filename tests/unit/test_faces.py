"""The least point over the hull of a few atoms, against every support there is."""

from itertools import combinations

import numpy as np
import pytest

from fwbench.geometry.faces import (
    better,
    bordered_solution,
    interior,
    least_over_hull,
    pivoted,
)


def value(G, b, w):
    return 0.5 * w @ G @ w + b @ w


def brute(G, b):
    """Return the least value over the simplex, by trying every support."""
    k, least = len(G), np.inf
    for size in range(1, k + 1):
        for S in map(list, combinations(range(k), size)):
            matrix = np.block([[G[np.ix_(S, S)], np.ones((size, 1))], [np.ones(size), 0.0]])
            u = np.linalg.lstsq(matrix, np.append(-b[S], 1.0), rcond=None)[0][:-1]
            if (u >= -1e-12).all() and abs(u.sum() - 1) <= 1e-9:
                w = np.zeros(k)
                w[S] = np.maximum(u, 0) / np.maximum(u, 0).sum()
                least = min(least, value(G, b, w))
    return least


def cases():
    rng = np.random.default_rng(41)
    for k, r in ((2, 3), (3, 1), (4, 8), (5, 2), (6, 4)):
        Y = rng.standard_normal((k, r)) + rng.uniform(0, 1)
        yield f"{k} atoms of rank {r}", Y @ Y.T, np.zeros(k)
        yield f"{k} atoms of rank {r}, linear term", Y @ Y.T, rng.standard_normal(k)
    yield "linear", np.zeros((4, 4)), np.array([3.0, 1.0, 2.0, 1.0])
    yield "one atom", np.array([[2.0]]), np.array([1.0])
    twin = np.repeat(rng.standard_normal((3, 4)), 2, axis=0)
    yield "duplicates", twin @ twin.T, np.zeros(6)
    near = twin + 1e-8 * rng.standard_normal(twin.shape)
    yield "near duplicates", near @ near.T, np.zeros(6)
    thin = np.array([[1.0, 1e6], [1.0, -1e6], [1.0 + 1e-6, 0.0]])
    yield "slivers", thin @ thin.T, np.zeros(3)
    long = rng.standard_normal((6, 6)) * np.logspace(0, -5, 6)
    yield "condition 1e10", long @ long.T, np.zeros(6)


CASES = {name: (G, b) for name, G, b in cases()}


@pytest.fixture(params=CASES)
def case(request):
    G, b = CASES[request.param]
    return G, b, float(np.diag(G).max() + np.abs(b).max())


def test_the_least_point_is_the_best_of_all_supports(case):
    G, b, scale = case
    least = brute(G, b)
    for w in np.random.default_rng(42).dirichlet(np.ones(len(G)), 5):
        found = least_over_hull(G, b, w, scale, surely=True)
        if found is None:  # it cannot be bettered
            found = w
        assert (found >= 0).all()
        assert found.sum() == pytest.approx(1.0, abs=1e-14)
        assert value(G, b, found) == pytest.approx(least, abs=1e-13 * scale)


def test_the_interior_path_ends_next_to_it(case):
    G, b, scale = case
    w = interior(G, b, scale)
    assert (w > 0).all()
    s = G @ w + b
    assert w @ (s - s.min()) <= 1e-13 * scale
    assert value(G, b, w) == pytest.approx(brute(G, b), abs=1e-13 * scale)


def test_what_is_found_is_no_worse_than_what_was_there(case):
    G, b, scale = case
    for w in np.random.default_rng(43).dirichlet(np.ones(len(G)), 5):
        for surely in (True, False):
            found = least_over_hull(G, b, w, scale, surely=surely)
            assert found is None or value(G, b, found) < value(G, b, w) + 1e-15 * scale


def test_a_bordered_system_is_solved():
    rng = np.random.default_rng(44)
    for k in (1, 2, 7):
        Y = rng.standard_normal((k, k))
        G, d, b = Y @ Y.T, rng.uniform(0, 1, k), rng.standard_normal(k)
        *u, level = bordered_solution(G, d, b, 0.7)
        np.testing.assert_allclose(G @ u + d * u + level, b, rtol=0, atol=1e-12)
        assert sum(u) == pytest.approx(0.7, abs=1e-13)


def blocks_fail():
    """Return a problem on which blocks of leaving atoms take some too many along."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        Y = rng.standard_normal((12, 8)) * np.logspace(0, -4, 8)
        G, b, scale = Y @ Y.T, np.zeros(12), float((Y**2).sum(axis=1).max())
        w = interior(G, b, scale)
        yield G, b, scale, (w + 1e-4) / (w + 1e-4).sum()


def test_where_blocks_fail_the_interior_path_does_not():
    failed = 0
    for G, b, scale, w in blocks_fail():
        if not better(G, b, w, pivoted(G, b, w, scale)):
            failed += 1
            assert least_over_hull(G, b, w, scale, surely=False) is None
            found = least_over_hull(G, b, w, scale, surely=True)
            s = G @ found + b
            assert found @ (s - s.min()) <= 1e-13 * scale
    assert failed >= 3


def test_better_is_judged_by_the_difference():
    # the values differ by half an ulp: compared themselves they are equal
    G, b = np.diag([0.0, 2.0**-32]), np.full(2, 2.0**20)
    worse, good = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    assert value(G, b, worse) == value(G, b, good)
    assert better(G, b, worse, good)
    assert not better(G, b, good, worse)
    assert not better(G, b, good, good)
