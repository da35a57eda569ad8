import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored, LowRank
from fwbench.judge import BUDGET, FOUND, Judge, diameter
from fwbench.problem import QuadraticOverHull

from . import made_exact as exact

calm = settings(deadline=None, derandomize=True, database=None, max_examples=40)
seeds = st.integers(0, 10**6)
TRIANGLE = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, -1.0]])


def drawn(seed, shift=0.0, form="dense"):
    """Return a problem moved by `shift` along every axis, c moved along."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    V, A = rng.standard_normal((n, d)), np.rint(16 * rng.standard_normal((d, d))) / 16
    signs = np.where(np.arange(d) % 2, -1.0, 1.0)
    Q = {
        "scalar": 1.5,
        "diagonal": A[0],
        "dense": A @ A.T,
        "factored": Factored(A, signs),
        "field": LowRank(A, np.eye(d)),
    }[form]
    V = np.rint(64 * V) / 64 + shift
    c = rng.standard_normal(d)
    if shift:
        c = np.rint(64 * c) / 64 - QuadraticOverHull(V, Q).form.apply(np.full(d, shift))
    return QuadraticOverHull(V, Q, c), rng


def look(problem, weights, *, last=False, judge=None):
    combinations = Combinations.from_dense(weights)
    points = problem.mean + combinations.averages(problem.centred[combinations.keys])
    return (judge or Judge(problem)).look(points, combinations, last=last)


# -- the gap -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["scalar", "diagonal", "dense", "factored", "field"])
@pytest.mark.parametrize("shift", [0.0, 1e6, 1e8])
def test_the_gap_is_the_exact_one(form, shift):
    for seed in range(12):
        problem, rng = drawn(seed, shift, form)
        for weights in (rng.dirichlet(np.ones(problem.n)), np.eye(problem.n)[0]):
            true = float(exact.gap(problem, weights))
            found = look(problem, weights).row["gap"]
            assert abs(found - true) <= 5e-15 * problem.scale
            assert found >= 0


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e8])
def test_the_value_is_the_exact_one_after_centring(shift):
    for seed in range(12):
        problem, rng = drawn(seed, shift)
        weights = rng.dirichlet(np.ones(problem.n))
        true = exact.centred(problem, exact.value(problem, exact.point(problem, weights)))
        assert abs(look(problem, weights).row["value_centred"] - true) <= 5e-15 * problem.scale


@calm
@given(seeds, st.sampled_from(["dense", "factored", "field"]))
def test_the_gap_is_never_negative(seed, form):
    problem, rng = drawn(seed, 1e8 if seed % 2 else 0.0, form)
    judge = Judge(problem)
    sparse = rng.dirichlet(np.full(problem.n, 0.1), size=3)
    assert (look(problem, sparse, judge=judge).gaps >= 0).all()


def test_the_gap_of_bare_points_is_not_negative_by_rounding():
    ball = np.random.default_rng(0).standard_normal((60, 5))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    problem = QuadraticOverHull(ball, -1.0)  # each atom leads at itself
    gaps = Judge(problem).look(ball, None).gaps
    assert (gaps >= 0).all()
    assert gaps.max() <= 1e-14


@calm
@given(seeds)
def test_no_mix_of_vertices_is_below_value_minus_gap(seed):
    # a user found a point below the lower bound of a library: FrankWolfe.jl
    problem, rng = drawn(seed, 1e8 if seed % 2 else 0.0)
    judged = look(problem, rng.dirichlet(np.ones(problem.n)))
    mixes = rng.dirichlet(np.full(problem.n, 0.3), size=50) @ problem.centred
    everywhere = problem.centred_value(np.vstack([problem.centred, mixes]))
    assert judged.row["lower_centred"] <= everywhere.min() + 1e-14 * problem.scale


def test_the_best_lower_bound_is_kept():
    problem, rng = drawn(3)
    judge = Judge(problem)
    rows = [look(problem, w, judge=judge) for w in rng.dirichlet(np.ones(problem.n), size=8)]
    own = [float((each.values - each.gaps).max()) for each in rows]
    assert [each.row["lower_centred"] for each in rows] == np.maximum.accumulate(own).tolist()


def test_only_convex_problems_have_a_lower_bound():
    for Q in (-1.0, [1.0, -1.0], [[0.0, 1.0], [-1.0, 0.0]]):
        assert "lower" not in look(QuadraticOverHull(TRIANGLE, Q), [[1.0, 0.0, 0.0]]).row


def test_a_field_has_a_gap_and_no_value():
    row = look(QuadraticOverHull(TRIANGLE, [[0.0, 1.0], [-1.0, 0.0]]), [[0.0, 1.0, 0.0]]).row
    assert row["gap"] > 0
    assert "value" not in row
    assert "value_centred" not in row


def test_of_many_queries_the_worst_counts_and_the_median_is_told():
    problem = QuadraticOverHull(TRIANGLE)
    weights = [[0.5, 0.0, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    each = [look(problem, [w]).row for w in weights]
    row = look(problem, weights).row
    for name, extreme in (("gap", max), ("value", max), ("support", max), ("lower_centred", max)):
        assert row[name] == pytest.approx(extreme(r[name] for r in each), rel=1e-14)
    assert row["gap_median"] == pytest.approx(np.median([r["gap"] for r in each]))
    assert row["value_median"] == pytest.approx(np.median([r["value"] for r in each]))
    corners = [0.5 * (TRIANGLE[0] + TRIANGLE[2]), TRIANGLE[0], TRIANGLE[1]]
    assert row["spread"] == pytest.approx(diameter(np.array(corners)))


# -- weights as they were returned ---------------------------------------------------------------


def test_true_weights_are_feasible():
    assert look(QuadraticOverHull(TRIANGLE), [[0.25, 0.25, 0.5]]).row["feasibility"] == 0


@pytest.mark.parametrize(
    ("weights", "violation"),
    [
        ([-1e-6, 0.5, 0.5 + 1e-6], 1e-6),
        ([0.5, 0.25, 0.25 - 1e-5], 1e-5),
        ([0.5, 0.25, 0.25 + 1e-5], 1e-5),
        ([-0.5, 0.5, 1.0], 0.5),
        ([0.0, 0.0, 0.0], 1.0),
    ],
)
def test_the_violation_is_that_before_repair(weights, violation):
    judged = look(QuadraticOverHull(TRIANGLE), [weights])
    assert judged.row["feasibility"] == pytest.approx(violation, rel=1e-9)


def test_a_point_that_is_not_that_of_its_weights_is_a_violation():
    problem = QuadraticOverHull(TRIANGLE)
    weights = Combinations.from_dense([[1.0, 0.0, 0.0]])
    aside = np.array([[1.0 + 1e-3, 2.0]])
    row = Judge(problem).look(aside, weights).row
    assert row["feasibility"] == pytest.approx(1e-3 / problem.radius)


def test_coordinates_far_from_0_are_no_violation():
    problem = QuadraticOverHull(TRIANGLE + 1e8, 1.0, [-1e8, -1e8])
    rng = np.random.default_rng(0)
    for weights in rng.dirichlet(np.ones(3), size=20):
        assert look(problem, [weights]).row["feasibility"] <= 1e-15


def test_the_gap_is_that_of_the_repaired_weights():
    problem = QuadraticOverHull(TRIANGLE)
    broken, repaired = [[-0.5, 0.5, 1.5]], [[0.0, 0.25, 0.75]]
    one, other = look(problem, broken), look(problem, repaired)
    np.testing.assert_allclose(one.offset, other.offset, atol=1e-15)
    assert one.row["gap"] == pytest.approx(other.row["gap"], rel=1e-14)
    assert one.row["gap"] == pytest.approx(float(exact.gap(problem, repaired[0])), rel=1e-14)


def test_support_counts_positive_weights():
    assert look(QuadraticOverHull(TRIANGLE), [[-0.5, 0.5, 1.0]]).row["support"] == 2


def test_without_any_weight_there_is_no_bound():
    judged = look(QuadraticOverHull(TRIANGLE), [[0.0, 0.0, 0.0]])
    assert judged.row["gap"] == np.inf
    assert judged.row["lower_centred"] == -np.inf


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_seen_in_points_and_weights(bad):
    problem = QuadraticOverHull(TRIANGLE)
    fine = Combinations.vertices([0])
    assert Judge(problem).look(TRIANGLE[:1], fine).finite
    assert not Judge(problem).look(np.array([[bad, 0.0]]), fine).finite
    weights = Combinations.from_dense([[bad, 0.5, 0.5]])
    assert not Judge(problem).look(TRIANGLE[:1], weights).finite


# -- bare points ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2.0**-70, 1.0, 2.0**57])
def test_weights_are_found_at_the_end(size):
    problem = QuadraticOverHull(TRIANGLE * size)
    x = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]]) @ problem.atoms
    row = Judge(problem).look(x, None, last=True).row
    assert row["feasibility"] <= 1e-14
    assert row["support"] == 3
    assert row["gap"] == pytest.approx(
        max(float(exact.gap(problem, w)) for w in ([0.2, 0.3, 0.5], [0, 1, 0])), rel=1e-12
    )


def test_a_point_outside_is_as_infeasible_as_it_is_far():
    problem = QuadraticOverHull(TRIANGLE)
    outside = np.array([[1.5 - 3e-3, 0.5 - 1e-3]])  # square to the edge, √10 thousandths away
    judged = Judge(problem).look(outside, None, last=True)
    assert judged.row["feasibility"] == pytest.approx(1e-3 * np.sqrt(10) / problem.radius, rel=0.1)
    np.testing.assert_allclose(judged.offset + problem.mean, [[1.5, 0.5]], atol=1e-4)


def test_before_the_end_points_stay_bare():
    problem = QuadraticOverHull(TRIANGLE)
    row = Judge(problem).look(TRIANGLE[:1], None).row
    assert row["feasibility"] is None
    assert row["gap"] == pytest.approx(float(exact.gap(problem, [1, 0, 0])), rel=1e-14)


def test_of_many_queries_some_are_asked_whether_they_lie_in_the_hull():
    problem = QuadraticOverHull(TRIANGLE)
    points = np.repeat(TRIANGLE[:1], FOUND + 1, axis=0)
    row = Judge(problem).look(points, None, last=True).row
    assert row["feasibility"] <= 1e-12
    assert row["support"] is None
    assert row["gap"] == pytest.approx(float(exact.gap(problem, [1, 0, 0])), rel=1e-14)
    assert Judge(problem).look(points + 9.0, None, last=True).row["feasibility"] > 1


def test_a_model_that_leaves_the_hull_has_no_gap():
    judged = Judge(QuadraticOverHull(TRIANGLE), inside=False).look(np.array([[9.0, 9.0]]), None)
    assert judged.row["feasibility"] is None
    assert "gap" not in judged.row
    assert judged.row["value"] == pytest.approx(81.0)


# -- moving keys ---------------------------------------------------------------------------------


def test_moving_keys_have_a_gap_of_their_own_hull_too():
    problem = QuadraticOverHull(TRIANGLE)
    cloud = np.array([[0.5, 0.0, 0.5], [1.0, 0.0, 0.0]])
    weights = Combinations.from_dense(cloud)
    row = Judge(problem, moving=True).look(cloud @ TRIANGLE, weights).row
    current = QuadraticOverHull(cloud @ TRIANGLE)
    own = max(float(exact.gap(current, w)) for w in np.eye(2))
    assert row["gap_current"] == pytest.approx(own, rel=1e-12)
    assert row["gap"] == pytest.approx(max(float(exact.gap(problem, w)) for w in cloud), rel=1e-12)


def test_at_one_point_the_own_hull_has_no_gap():
    weights = Combinations.vertices([1, 1, 1])
    row = Judge(QuadraticOverHull(TRIANGLE + 1e8), moving=True).look(
        np.repeat(TRIANGLE[1:2] + 1e8, 3, axis=0), weights
    ).row  # fmt: skip
    assert row["gap_current"] == row["spread"] == 0
    assert row["gap"] > 0


@calm
@given(seeds, st.sampled_from([1e-12, 1.0, 1e12]), st.sampled_from([0.0, 1e8]))
def test_the_diameter_is_the_largest_distance(seed, size, shift):
    rng = np.random.default_rng(seed)
    m, d = (int(k) for k in rng.integers(1, 9, size=2))
    cloud = size * (rng.standard_normal((m, d)) + shift)
    true = np.linalg.norm(cloud[:, None] - cloud, axis=2).max()
    assert diameter(cloud) == pytest.approx(true, rel=1e-12)
    assert diameter(np.repeat(cloud[:1], 3, axis=0)) == 0


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-170, 1e170, 1e300, 4e307])
def test_the_diameter_of_a_tiny_or_huge_cloud_is_none_the_less_found(size):
    cloud = np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]])
    expected = 5 * size if size < 4e307 else np.inf
    assert diameter(size * cloud) == pytest.approx(expected, rel=1e-12)
    assert diameter(np.zeros((3, 2))) == 0


# -- the judge's own budget ----------------------------------------------------------------------


def big(n, d):
    return QuadraticOverHull(np.broadcast_to(1.0, (n, d)))


def test_small_problems_are_looked_at_every_time():
    judge = Judge(big(1000, 100))
    assert judge.every(1, 100) == 1
    assert judge.sample is None


def test_beyond_the_budget_looks_become_fewer_then_queries():
    judge = Judge(big(10**6, 10))
    assert judge.every(1, 100) * 16 * 10**7 < 2 * BUDGET * 100
    assert judge.every(1, 1600) > 1
    judge = Judge(big(10**5, 10))
    judge.every(1000, 100)
    assert judge.sample is not None
    again = Judge(big(10**5, 10))
    again.every(1000, 100)
    np.testing.assert_array_equal(judge.sample, again.sample)
    assert len(judge.sample) < 1000


def test_a_sample_of_the_queries_is_judged():
    problem, rng = drawn(2)
    judge = Judge(problem)
    judge.sample = np.array([0, 3])
    weights = rng.dirichlet(np.ones(problem.n), size=5)
    judged = look(problem, weights, judge=judge)
    np.testing.assert_allclose(judged.offset, weights[[0, 3]] @ problem.centred, atol=1e-14)
    assert judged.row["gap"] == pytest.approx(look(problem, weights[[0, 3]]).row["gap"])


def test_blocks_of_queries_are_judged_as_a_whole_would_be(monkeypatch):
    problem, rng = drawn(4)
    weights = rng.dirichlet(np.ones(problem.n), size=9)
    cloud = weights @ problem.atoms
    whole = [look(problem, weights), Judge(problem, moving=True).look(cloud, None)]
    monkeypatch.setattr("fwbench.judge.BLOCK", 2 * problem.n)
    parts = [look(problem, weights), Judge(problem, moving=True).look(cloud, None)]
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one.gaps, other.gaps, rtol=1e-13, atol=1e-15)
        known, again = (
            {k: v for k, v in each.row.items() if v is not None} for each in (one, other)
        )
        assert known == pytest.approx(again, rel=1e-13)
