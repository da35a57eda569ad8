from fractions import Fraction

import numpy as np
import pytest

from fwbench import catalog
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored, LowRank
from fwbench.kernels.frank_wolfe import REFRESH
from fwbench.lowering import COUNTERS, lowered, lowered_exactly, scored
from fwbench.problem import QuadraticOverHull

RNG = np.random.default_rng(11)
ATOMS = RNG.standard_normal((12, 4)) + 2.0
SQUARE = RNG.standard_normal((4, 4))
LINEAR = RNG.standard_normal(4)
FORMS = {
    "scalar": 1.0,
    "scaled": -0.25,
    "zero": 0.0,
    "diagonal": np.array([1.0, -2.0, 0.0, 3.0]),
    "dense": SQUARE + SQUARE.T,
    "factored": Factored(SQUARE[:2], np.array([1.0, -1.0])),
    "square field": LowRank(SQUARE),
    "low rank": LowRank(SQUARE[:, :2], SQUARE[:, 2:]),
}


def solver(text):
    return catalog.build_solver(catalog.choices("solvers", text)[0])


@pytest.mark.parametrize("form", FORMS)
def test_lowered_scores_are_those_of_the_field(form):
    problem = QuadraticOverHull(ATOMS, FORMS[form], LINEAR)
    model = lowered(problem)
    w = RNG.dirichlet(np.ones(12))
    scores = model.left @ (model.signs * (model.right.T @ w)) + model.linear
    offset = w @ problem.centred
    expected = problem.centred @ problem.centred_field(offset)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-13 * problem.scale)


@pytest.mark.parametrize("form", ["scaled", "diagonal", "dense", "low rank"])
def test_exactly_lowered_scores_are_those_of_the_field(form):
    problem = QuadraticOverHull(ATOMS, FORMS[form], LINEAR)
    model = lowered_exactly(problem)
    w = np.array([Fraction(i, 66) for i in range(12)])
    scores = model.left @ (model.signs * (w @ model.right)) + model.linear
    x = w @ problem.exact_atoms
    for link in problem.exact_chain:
        x = link @ x if link.ndim == 2 else link * x
    assert scores.tolist() == (problem.exact_atoms @ (x + problem.exact_c)).tolist()
    assert model.tie == 0


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("form", FORMS)
def test_every_layout_is_lowered_to_one(form, kind):
    layouts = [
        np.ascontiguousarray(ATOMS, dtype=kind),
        np.asfortranarray(ATOMS, dtype=kind),
        np.repeat(ATOMS, 2, axis=1).astype(kind)[:, ::2],
    ]
    layouts[0].setflags(write=False)
    for atoms in layouts:
        model = lowered(QuadraticOverHull(atoms, FORMS[form], LINEAR))
        state = scored(model, Combinations.vertices([3]), 1)
        arrays = [model.left, model.right, model.signs, model.linear, model.points]
        arrays += [state.w, state.y, state.x, state.s, state.level, state.columns]
        for array in arrays:
            assert array.dtype == kind
            assert array.flags.c_contiguous
            assert array.flags.writeable
        assert type(model.tie) is kind


def test_a_symmetric_form_has_one_set_of_coordinates():
    assert all(
        (model := lowered(QuadraticOverHull(ATOMS, FORMS[form]))).left is model.right
        for form in FORMS
        if "field" not in form and "rank" not in form
    )


def test_the_state_starts_at_the_combination():
    start = Combinations(np.array([0, 3]), np.array([4, 1, 4]), np.array([0.25, 0.5, 0.25]))
    problem = QuadraticOverHull(ATOMS, 1.0, LINEAR, start=start)
    state = scored(lowered(problem), problem.start, 1)
    np.testing.assert_array_equal(np.flatnonzero(state.w), [1, 4])
    assert state.w[4] == state.w[1] == 0.5
    np.testing.assert_allclose(state.points()[0], (ATOMS[1] + ATOMS[4]) / 2, rtol=1e-15)
    assert state.active[: state.size[0]].tolist() == [1, 4]
    assert state.counters == dict.fromkeys(COUNTERS, 0)


# -- the column cache --------------------------------------------------------------------------

CACHED = [
    "frank_wolfe",
    "frank_wolfe[step=exact]",
    "frank_wolfe[step=short]",
    "away_steps",
    "away_steps[step=backtracking]",
]


@pytest.mark.parametrize("text", CACHED)
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_two_columns_give_the_bits_of_all_columns(text, shift):
    atoms = np.random.default_rng(7).standard_normal((30, 9)) + shift
    problem = QuadraticOverHull(atoms, np.linspace(1.0, 2.0, 9))
    runs = []
    for mebibytes in ("0", "64"):
        name = f"{text[:-1]}," if text.endswith("]") else f"{text}["
        method = solver(f"{name}cache_mebibytes={mebibytes}]")
        model = method.prepare(problem)
        state = method.init(model, problem.start)
        method.advance(model, state, REFRESH + 300)
        runs.append(state)
    small, large = runs
    assert (len(small.columns), len(large.columns)) == (2, 30)
    assert (large.owner >= 0).sum() > 2
    for name in ("w", "y", "x", "s", "level", "estimate"):
        assert getattr(small, name).tobytes() == getattr(large, name).tobytes(), name
    # requests are counted, hits included
    assert small.counters == large.counters
    assert small.counters["matvec"] == small.steps


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
        # the field at x, times x, is what the scores of the atoms in use average to
        gap = float((state.w * (scores - scores.min())).sum())
        assert state.own_gap == pytest.approx(gap, abs=1e-13 * problem.scale)
