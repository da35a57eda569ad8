"""Leaders and averages without an (m, n) array, held against those that come from one."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwbench.attention
from fwbench import catalog
from fwbench.attention import Search, soft_average
from fwbench.geometry.combinations import Combinations
from fwbench.kernels.pricing import leaders
from fwbench.kernels.soft_attention import soften
from fwbench.labels import Labels
from fwbench.problem import TIE, QuadraticOverHull
from fwbench.tokens import Tokens, walk
from fwbench.warm import limited_threads

RNG = np.random.default_rng(5)
KINDS = (np.float64, np.float32)


def made(text):
    (choice,) = catalog.choices("solvers", text)
    return catalog.build_solver(choice)


def from_all_scores(fields, keys, tie):
    lead = np.empty(len(fields), dtype=np.int64)
    leaders(fields @ keys.T, tie, lead)
    return lead


def cloud(name, n, d):
    keys = RNG.standard_normal((n, d))
    if name == "grid":
        keys = RNG.integers(-2, 3, (n, d)).astype(float)
    elif name == "sphere":
        keys /= np.linalg.norm(keys, axis=1)[:, None]
    elif name == "line":
        keys = np.outer(RNG.integers(-9, 10, n), np.arange(1.0, d + 1))
    elif name == "point":
        keys[:] = 0.5
    elif name == "few":
        keys = keys[RNG.integers(0, 9, n)]
    elif name == "clusters":
        keys = keys[RNG.integers(0, 9, n)] + 1e-9 * RNG.standard_normal((n, d))
    return keys


def some_fields(keys, d):
    """Return directions of all lengths, and such that tie on grids, nothing among them."""
    few = RNG.standard_normal((40, d))
    return np.vstack(
        [-keys[:60], RNG.integers(-2, 3, (40, d)), few, 1e-9 * few, 1e-16 * few, np.zeros((2, d))]
    )


CLOUDS = ("gauss", "grid", "sphere", "line", "point", "few", "clusters")


@pytest.fixture
def small_parts(monkeypatch):
    """Many tiles, boxes, grids and no short cut, at sizes of a test."""
    for name, value in {"TILE": 350, "ROWS": 7, "MANY": 20, "FEW": 6, "GRIDDED": 30}.items():
        monkeypatch.setattr(fwbench.attention, name, value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("name", CLOUDS)
@pytest.mark.parametrize("parts", ["small", "usual"])
def test_leaders_are_those_of_all_scores(name, d, kind, parts, request):
    if parts == "small":
        request.getfixturevalue("small_parts")
    keys = cloud(name, 700, d).astype(kind)
    fields = some_fields(keys, d).astype(kind)
    search = Search(keys)
    assert search.boxed == (d <= 4)
    for tie in (TIE[np.dtype(kind)] * float((keys * keys).sum(axis=1).max()), 0.3):
        lead, sure = search.leaders(fields, tie)
        assert lead.tolist() == from_all_scores(fields, keys, tie).tolist()
        assert lead.tolist() == Search(keys, sure=False).leaders(fields, tie)[0].tolist()
        # sure: by twice the tolerance as by half of it
        for other in (1.5 * tie, 0.75 * tie):
            assert (lead == from_all_scores(fields, keys, other))[sure].all()
    if name in ("gauss", "sphere"):
        assert sure.any()


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 3),
    st.lists(st.integers(-2, 2), min_size=90, max_size=90),
    st.lists(st.integers(-3, 3), min_size=30, max_size=30),
    st.sampled_from([1e-12, 1.0, 1.5]),
)
def test_leaders_of_integers_are_exact(d, entries, directions, tie):
    # scores are whole numbers: no rounding anywhere
    keys = np.array(entries, dtype=float).reshape(-1, d)
    fields = np.array(directions, dtype=float).reshape(-1, d)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"MANY": 10, "FEW": 3, "GRIDDED": 8, "CELLS": 9}.items():
            patch.setattr(fwbench.attention, name, value)
        boxed, _ = Search(keys).leaders(fields, tie)
        patch.setattr(fwbench.attention, "MANY", 10**6)
        patch.setattr(fwbench.attention, "TILE", 13)
        patch.setattr(fwbench.attention, "ROWS", 3)
        tiled, _ = Search(keys).leaders(fields, tie)
    wanted = from_all_scores(fields, keys, tie).tolist()
    assert boxed.tolist() == wanted
    assert tiled.tolist() == wanted


def test_a_leader_that_falls_behind_gives_way_to_an_earlier_key(monkeypatch):
    # 1.0 leads until 0.86 comes; 0.95 is within the tolerance of that, and stands before it
    monkeypatch.setattr(fwbench.attention, "TILE", 2)
    monkeypatch.setattr(fwbench.attention, "ROWS", 1)
    keys = np.array([[1.0], [0.95], [0.86], [2.0]])
    assert Search(keys).leaders(np.ones((1, 1)), 0.1)[0].tolist() == [1]
    assert Search(keys).leaders(np.ones((3, 1)), 0.1)[0].tolist() == [1, 1, 1]


@pytest.mark.parametrize("keys", [600, 30])
def test_what_is_no_number_leads_nowhere_and_hurts_nobody(keys):
    points = RNG.standard_normal((keys, 2))
    fields = -points[:5].copy()
    fields[1] = np.nan
    lead, sure = Search(points).leaders(fields, 1e-14)
    assert lead[1] == 0
    assert not sure[1]
    rest = [0, 2, 3, 4]
    assert lead[rest].tolist() == from_all_scores(fields[rest], points, 1e-14).tolist()


# -- averages ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "off"), [(np.float64, 4e-15), (np.float32, 3e-6)])
@pytest.mark.parametrize("beta", [1e-3, 1.0, 40.0, 1e6, 1e308])
def test_averages_are_those_of_all_weights(kind, off, beta, monkeypatch):
    keys = RNG.standard_normal((300, 5)).astype(kind)
    fields, rows = RNG.standard_normal((40, 5)).astype(kind), keys - keys[0]
    scores = (fields.astype(float) @ keys.T.astype(float)).astype(kind).astype(float)
    with np.errstate(over="ignore"):
        weights = np.exp(-min(beta, float(np.finfo(kind).max)) * (scores - scores.min(1)[:, None]))
    wanted = weights / weights.sum(axis=1)[:, None] @ rows
    for tile, block in ((2**18, 512), (350, 7)):
        monkeypatch.setattr(fwbench.attention, "TILE", tile)
        monkeypatch.setattr(fwbench.attention, "ROWS", block)
        found = soft_average(fields, keys, beta, rows)
        assert found.dtype == kind
        # what rounding the scores does, beta makes larger
        near = off * (1 + min(beta, 1e6) if kind == np.float64 else 1 + min(beta, 40.0))
        if beta <= 40:
            np.testing.assert_allclose(found, wanted, rtol=0, atol=near)
        else:
            assert np.isfinite(found).all()


@pytest.mark.parametrize(("kind", "ulps"), [(np.float64, 4), (np.float32, 4)])
def test_a_power_of_two_is_right_to_a_few_last_bits(kind, ulps):
    t = np.concatenate([np.linspace(-60, 0, 4001), -np.arange(0, 120, 0.5)]).astype(kind)
    # a row whose least score is 0: the weights are 2^t
    row = np.concatenate([[0], -t]).astype(kind)[None]
    least, mass, kept = np.full(1, np.finfo(kind).max), np.zeros(1, kind), np.zeros(1, kind)
    soften(row, kind(1), least, mass, kept)
    np.testing.assert_allclose(row[0, 1:], 2.0 ** t.astype(float), rtol=ulps * np.finfo(kind).eps)
    assert mass[0] == pytest.approx(row.sum(dtype=float), rel=1e-5)
    assert row[0, 0] == 1


def test_what_weighs_next_to_nothing_weighs_nothing():
    keys = np.array([[0.0], [1.0]])
    assert soft_average(np.ones((1, 1)), keys, 2000.0, keys).tolist() == [[0.0]]


# -- memory ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "n", "d"),
    [
        ("hardmax_attention[keys=moving]", 20_000, 2),
        ("hardmax_attention", 20_000, 8),
        ("softmax_attention", 8000, 2),
    ],
)
def test_a_layer_holds_no_array_of_queries_times_keys(text, n, d):
    problem = QuadraticOverHull(RNG.standard_normal((n, d)), start=np.arange(n))
    solver = made(text)
    model = solver.prepare(problem)
    state = solver.init(model, problem.start)
    tracemalloc.start()
    with limited_threads(1):
        solver.advance(model, state, 1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # two tiles, and a hundred arrays of the points; all scores are 512 MB at least
    assert peak <= 2 * 8 * 2**18 + 100 * 8 * n * d


# -- leaders that are known for good -----------------------------------------------------------

CONCAVE = QuadraticOverHull(
    np.vstack([np.eye(4), -np.eye(4), 0.7 * RNG.standard_normal((60, 4)) / 4]),
    -1.0,
    start=np.arange(68),
)
SADDLE = QuadraticOverHull(RNG.standard_normal((80, 6)), [1, 1, -1, -2, 1, -1], 0.1 * np.ones(6),
                           start=np.arange(80))  # fmt: skip
CONVEX = QuadraticOverHull(RNG.standard_normal((40, 3)) + 0.4, start=np.arange(40))
PLANE = QuadraticOverHull(RNG.standard_normal((700, 2)), -1.0, start=np.arange(0, 700, 9))
GRID = QuadraticOverHull(RNG.integers(-2, 3, (90, 2)), -1.0, start=np.arange(90))
PROBLEMS = {"concave": CONCAVE, "saddle": SADDLE, "convex": CONVEX, "plane": PLANE, "grid": GRID}
STEPS = ("open_loop", "constant(1/3)", "exact", "constant(1)", "log_adaptive")


def plain_walk(solver, model, state: Tokens, steps):
    """Take layers one by one, each with all its scores."""
    walk(state, steps)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("kind", KINDS)
def test_layers_without_scores_end_at_the_same_bits(name, step, kind):
    problem = PROBLEMS[name]
    problem = QuadraticOverHull(
        problem.atoms.astype(kind), problem.form, problem.c, start=problem.start
    )
    solver = made(f"hardmax_attention[step={step}]")
    model = solver.prepare(problem)
    quick, slow = (solver.init(model, problem.start) for _ in range(2))
    for steps in (1, 1, 3, 40):
        solver.advance(model, quick, steps)
        plain_walk(solver, model, slow, steps)
        assert quick.x.tobytes() == slow.x.tobytes()
    assert quick.counters == slow.counters
    settled = quick.labels.settled
    if name == "concave":
        assert settled.all()
    if name == "convex":  # but for its minimiser no key owns a cell
        assert settled.mean() < 0.5


@pytest.mark.parametrize("problem", [CONCAVE, GRID], ids=["concave", "grid"])
def test_a_settled_query_asks_for_no_scores(problem, monkeypatch):
    solver = made("hardmax_attention[step=constant(1/3)]")
    model = solver.prepare(problem)
    state = solver.init(model, problem.start)
    solver.advance(model, state, 30)
    asked = []
    find = Search.leaders
    monkeypatch.setattr(
        Search, "leaders", lambda self, f, tie: asked.append(len(f)) or find(self, f, tie)
    )
    solver.advance(model, state, 50)
    assert sum(asked) == 50 * len(state.labels.open)


def test_exact_points_of_settled_queries_are_those_of_every_layer():
    triangle = [["2", "0"], ["0", "1"], ["-1", "-1"]]
    start = Combinations.from_dense([[0.5, 0.25, 0.25], [0.0, 0.25, 0.75], [1.0, 0.0, 0.0]])
    problem = QuadraticOverHull(triangle, -1.0, start=start)
    solver = made("hardmax_attention[arithmetic=exact,step=constant(1/3)]")
    model = solver.prepare(problem)
    once, twice, slow = (solver.init(model, problem.start) for _ in range(3))
    solver.advance(model, once, 25)
    solver.advance(model, twice, 4)
    solver.advance(model, twice, 21)
    plain_walk(solver, model, slow, 25)
    assert not len(once.labels.open)
    assert once.x.tolist() == twice.x.tolist() == slow.x.tolist()
    assert isinstance(once.x[0, 0], Fraction)


@pytest.mark.parametrize("certain", [True, False])
def test_a_key_owns_its_cell_only_where_it_surely_leads(certain):
    x, keys = np.array([[0.5], [0.4], [0.3], [-1.0]]), np.array([[1.0], [-1.0]])
    leads = {0.5: (0, True), 0.4: (0, True), 0.3: (0, False), -1.0: (1, True), 1.0: (0, certain)}

    def find(points):
        found = [leads[point] for point in points[:, 0]]
        return np.array([key for key, _ in found]), np.array([sure for _, sure in found])

    labels = Labels.none(4, 2)
    labels.look(x, keys, find)
    assert labels.lead.tolist() == [0, 0, 0, 1]
    # at first two keys would be as dear to ask as half of the queries
    assert labels.open.tolist() == [0, 1, 2, 3]
    labels.look(x, keys, find)
    assert labels.settled.tolist() == [certain, certain, False, True]
    assert labels.open.tolist() == np.flatnonzero(~labels.settled).tolist()


@pytest.mark.parametrize("ties", ["points", "indices"])
def test_means_of_tied_keys_are_no_labels(ties):
    # the foot of an edge ties its ends, and stays where it is if they weigh the same
    square = QuadraticOverHull(
        [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]],
        -1.0,
        start=Combinations.from_dense([[0.4, 0.4, 0.1, 0.1], [0.5, 0.2, 0.2, 0.1]]),
    )
    solver = made(f"hardmax_attention[ties={ties},step=constant(1/2)]")
    model = solver.prepare(square)
    state = solver.init(model, square.start)
    solver.advance(model, state, 60)
    np.testing.assert_allclose(state.points(), [[0.5, 0.5], [1.0, 0.0]], rtol=0, atol=1e-14)


def test_a_query_whose_leader_leads_elsewhere_stays_open():
    # the leader of 0.4 is 1, but 1 is led by −2: once past the middle, so is the query
    problem = QuadraticOverHull([[1.0], [-2.0]], 1.0, [-0.6], start=[0, 1])
    solver = made("hardmax_attention[step=constant(1/3)]")
    model = solver.prepare(problem)
    state = solver.init(model, problem.start)
    solver.advance(model, state, 60)
    assert len(state.labels.open) == 2
