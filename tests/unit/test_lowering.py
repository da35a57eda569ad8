from fractions import Fraction

import numpy as np
import pytest

from fwbench.geometry.forms import Factored, LowRank
from fwbench.lowering import lowered, lowered_exactly
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
        for array in (model.left, model.right, model.signs, model.linear, model.points):
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
