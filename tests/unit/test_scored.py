from fractions import Fraction

import numpy as np
import pytest

from fwbench import catalog
from fwbench.geometry.combinations import Combinations
from fwbench.kernels.frank_wolfe import REFRESH
from fwbench.kernels.pricing import NEW, SEEN, seat
from fwbench.lowering import COUNTERS, lowered, lowered_exactly
from fwbench.problem import QuadraticOverHull
from fwbench.scored import LINE, STRETCH, aligned, rows_of_cache, scored

RNG = np.random.default_rng(11)
ATOMS = RNG.standard_normal((12, 4)) + 2.0
SQUARE = RNG.standard_normal((4, 4))
LINEAR = RNG.standard_normal(4)


def solver(text, **parameters):
    [choice] = catalog.choices("solvers", text)
    return choice.entry.make(**choice.arguments | parameters)


def advanced(method, problem, steps):
    model = method.prepare(problem)
    state = method.init(model, problem.start)
    method.advance(model, state, steps)
    return model, state


# -- the state before any step -------------------------------------------------------------------


def test_the_state_starts_at_the_combination():
    start = Combinations(np.array([0, 3]), np.array([4, 1, 4]), np.array([0.25, 0.5, 0.25]))
    problem = QuadraticOverHull(ATOMS, 1.0, LINEAR, start=start)
    state = scored(lowered(problem), problem.start, 1)
    np.testing.assert_array_equal(np.flatnonzero(state.w), [1, 4])
    assert state.w[4] == state.w[1] == 0.5
    np.testing.assert_allclose(state.points()[0], (ATOMS[1] + ATOMS[4]) / 2, rtol=1e-15)
    assert state.active[: state.size[0]].tolist() == [1, 4]
    assert state.place.tolist() == [-1, 0, -1, -1, 1, *[-1] * 7]
    assert state.counters == dict.fromkeys(COUNTERS, 0)


def test_an_atom_without_weight_is_not_in_use():
    start = Combinations(np.array([0, 2]), np.array([4, 1]), np.array([0.0, 1.0]))
    state = scored(lowered(QuadraticOverHull(ATOMS)), start, 1)
    assert state.active[: state.size[0]].tolist() == [1]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_state_has_the_type_of_the_atoms(kind):
    model = lowered(QuadraticOverHull(ATOMS.astype(kind), 1.0, LINEAR))
    state = scored(model, Combinations.vertices([3]), 1)
    for name in ("weight", "reach", "y", "x", "s", "lows", "level", "columns", "w"):
        array = getattr(state, name)
        assert array.dtype == kind
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_an_exact_state_holds_rationals():
    start = Combinations(np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5]))
    state = scored(lowered_exactly(QuadraticOverHull([["1/3"], ["1/7"]])), start, 1)
    assert state.exact_points().tolist() == [[Fraction(5, 21)]]
    assert state.s.tolist() == [Fraction(5, 63), Fraction(5, 147)]
    assert state.weights().data.tolist() == [0.5, 0.5]


# -- memory --------------------------------------------------------------------------------------


def test_vectors_begin_where_lines_of_the_cache_do():
    for shape in ((1,), (1000,), (3, 64)):
        for kind in (np.float64, np.float32):
            array = aligned(shape, np.dtype(kind))
            assert (array.shape, array.dtype) == (shape, kind)
            assert array.ctypes.data % LINE == 0


def test_a_state_beside_a_million_points_in_space_takes_no_more_than_the_points():
    n, d = 10**6, 3
    rows = rows_of_cache(n, d, 8, 64.0)
    # scores, linear term and columns of doubles, two maps of half the size
    assert (2 + rows + 1) * 8 * n <= 1.5 * 8 * n * d


def test_the_cache_keeps_its_limit():
    assert rows_of_cache(1000, 50, 8, 0.0) == 0
    assert rows_of_cache(1000, 50, 8, 1.0) == 131
    assert rows_of_cache(1000, 50, 4, 1.0) == 262
    assert rows_of_cache(7, 50, 8, 64.0) == 7


def test_the_list_of_atoms_in_use_grows_with_them():
    # points on a sphere around the optimum: almost every step uses another one
    atoms = np.random.default_rng(9).standard_normal((3 * STRETCH, 60))
    problem = QuadraticOverHull(atoms / np.linalg.norm(atoms, axis=1)[:, None], start=[0])
    method = solver("frank_wolfe[step=open_loop]")
    model, whole = advanced(method, problem, 2 * STRETCH + 50)
    assert whole.size[0] > STRETCH + 1
    pieces = method.init(model, problem.start)
    assert len(pieces.active) < problem.n
    for steps in (STRETCH - 1, 2, STRETCH, 49):
        method.advance(model, pieces, steps)
    assert pieces.w.tobytes() == whole.w.tobytes()
    assert abs(whole.w.sum() - 1) <= 1e-12


# -- the column cache ----------------------------------------------------------------------------


def cache(rows, slot):
    owner = np.full(rows, -1, dtype=np.int64)
    return np.array(slot, dtype=np.int32), owner, np.zeros(1, dtype=np.int64)


def test_the_first_visit_keeps_no_column_and_the_second_does():
    slot, owner, hand = cache(2, [NEW] * 4)
    assert seat(0, slot, owner, hand, -1) == (-1, True)
    assert slot[0] == SEEN
    assert seat(0, slot, owner, hand, -1) == (0, True)
    assert seat(0, slot, owner, hand, -1) == (0, False)
    assert owner.tolist() == [0, -1]


def test_the_oldest_column_gives_way_but_never_the_other_of_the_pair():
    slot, owner, hand = cache(2, [SEEN] * 4)
    assert [seat(key, slot, owner, hand, -1)[0] for key in (0, 1, 2)] == [0, 1, 0]
    assert slot.tolist() == [SEEN, 1, 0, SEEN]
    assert seat(3, slot, owner, hand, 1) == (0, True)  # that of 1 is the oldest now
    assert owner.tolist() == [3, 1]
    slot, owner, hand = cache(1, [SEEN] * 2)
    assert seat(0, slot, owner, hand, 1) == (0, True)
    assert seat(1, slot, owner, hand, 0) == (-1, True)  # no row but that of the other


CACHED = [
    "frank_wolfe[step=open_loop]",
    "frank_wolfe[step=exact]",
    "frank_wolfe[step=short]",
    "away_steps[step=exact]",
    "away_steps[step=backtracking]",
    "pairwise[step=exact]",
    "pairwise[step=short]",
    "pair_descent[cache_mebibytes=64]",
    "blended_pairwise[step=exact]",
    "blended_pairwise[lazy=yes]",
    "decomposition_invariant[lengths=exact]",
]
KEPT = ("weight", "active", "y", "x", "s", "lows", "level", "estimate", "phi")


@pytest.mark.parametrize("text", CACHED)
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_what_the_cache_holds_shows_in_no_bit(text, shift):
    # more atoms than a piece of a column has, and a piece that is no whole one
    atoms = np.random.default_rng(7).standard_normal((2100, 9)) + shift
    problem = QuadraticOverHull(atoms, np.linspace(1.0, 2.0, 9))
    column = 8 * 2100 / 2**20
    states = []
    for columns in (0, 1, 2, 3, 200):
        method = solver(text, cache_mebibytes=(columns + 0.5) * column)
        _, state = advanced(method, problem, 350)
        assert len(state.owner) == max(columns - (text[:6] == "pair_d"), 0)
        assert (state.owner >= 0).sum() == min(len(state.owner), (state.slot >= 0).sum())
        states.append(state)
    for state in states[1:]:
        for name in KEPT:
            assert getattr(state, name).tobytes() == getattr(states[0], name).tobytes(), name
        # requests are counted, hits included
        assert state.counters == states[0].counters
    assert (states[-1].slot >= 0).sum() > 3


@pytest.mark.parametrize("text", CACHED)
def test_kept_scores_are_those_of_the_point(text):
    problem = QuadraticOverHull(ATOMS, SQUARE @ SQUARE.T, LINEAR)
    method = solver(text)
    model = method.prepare(problem)
    state = method.init(model, problem.start)
    for steps in (1, 40, REFRESH - 42, 1, 1):  # to just before, onto and past the refresh
        method.advance(model, state, steps)
        offset = state.w @ problem.centred
        scores = problem.centred @ problem.centred_field(offset)
        np.testing.assert_allclose(state.s, scores, rtol=0, atol=1e-13 * problem.scale)
        np.testing.assert_allclose(state.x, offset, rtol=0, atol=1e-13 * problem.radius)
        assert state.lows.tolist() == [state.s.min()]
        # the field at x, times x, is what the scores of the atoms in use average to
        gap = float((state.w * (scores - scores.min())).sum())
        assert state.own_gap == pytest.approx(gap, abs=1e-13 * problem.scale)
        keys = state.active[: state.size[0]]
        assert (state.place[keys] == np.arange(len(keys))).all()
        assert (state.place >= 0).sum() == len(keys)
        squares = np.einsum("ij,jk,ik->i", problem.centred, SQUARE @ SQUARE.T, problem.centred)
        reach = squares + 2 * problem.centred @ problem.centred_c
        np.testing.assert_allclose(
            state.reach[: len(keys)], reach[keys], rtol=0, atol=1e-13 * problem.scale
        )


@pytest.mark.parametrize("text", CACHED)
def test_all_is_computed_anew_at_a_fixed_step(text):
    problem = QuadraticOverHull(RNG.standard_normal((700, 6)) + 1.0, 1.0, np.ones(6))
    method = solver(text)
    model, state = advanced(method, problem, REFRESH - 1)
    for array in (state.y, state.x, state.s, state.level):
        array[:] *= 1 + 1e-7
    if text[:5] != "frank":  # whose weights come back to a sum of 1 by themselves
        state.weight *= 1 + 1e-7
    method.advance(model, state, 1)
    offset = state.w @ problem.centred
    scores = problem.centred @ problem.centred_field(offset)
    assert abs(state.w.sum() - 1) <= 1e-14
    np.testing.assert_allclose(state.x, offset, rtol=0, atol=1e-13 * problem.radius)
    np.testing.assert_allclose(state.s, scores, rtol=0, atol=1e-13 * problem.scale)
