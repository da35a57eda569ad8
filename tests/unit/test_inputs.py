"""What may be handed over, and what is refused in words."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from fwbench.errors import InvalidProblem
from fwbench.geometry.forms import Dense, Diagonal, Factored, LowRank, Scalar
from fwbench.problem import QuadraticOverHull

TRIANGLE = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, -1.0]])
SYMMETRIC = np.array([[2.0, 1.0], [1.0, 3.0]])


def uneven(asymmetry, dtype=np.float64):
    """Return a matrix whose max|Q - Q'|/max|Q| is this."""
    Q = SYMMETRIC.copy()
    Q[0, 1] += 3.0 * asymmetry
    return Q.astype(dtype)


def without(index, value):
    atoms = TRIANGLE.copy()
    atoms[index] = value
    return atoms


# Each row: what is handed over, then what the message must hold: the array, the rule, what came,
# the likely slip.
BAD = {
    "one row, flat": ({"atoms": [1.0, 2.0]}, ["atoms", "2-D", "(2,)", "[[...]]"]),
    "a batch": ({"atoms": np.ones((2, 3, 4))}, ["atoms", "2-D", "(2, 3, 4)"]),
    "a number": ({"atoms": 3.0}, ["atoms", "2-D", "()"]),
    "an empty list": ({"atoms": []}, ["atoms", "2-D", "(0,)"]),
    "no atoms": ({"atoms": np.empty((0, 3))}, ["atoms", "at least one", "(0, 3)"]),
    "no coordinates": ({"atoms": np.empty((3, 0))}, ["atoms", "d >= 1", "(3, 0)"]),
    "NaN": ({"atoms": without((1, 0), np.nan)}, ["atoms", "finite", "nan", "(1, 0)", "missing"]),
    "infinity": ({"atoms": without((2, 1), -np.inf)}, ["atoms", "finite", "-inf", "(2, 1)"]),
    "several NaN": ({"atoms": without(1, np.nan)}, ["(1, 0)", "and 1 more"]),
    "ragged": ({"atoms": [[1, 2], [3]]}, ["atoms", "unequal lengths"]),
    "None": ({"atoms": [[1, None]]}, ["atoms", "real numbers", "object", "None"]),
    "decimals": ({"atoms": [[Decimal(1), Decimal(2)]]}, ["atoms", "real numbers", "object"]),
    "a sparse matrix": ({"atoms": sparse.eye_array(3)}, ["atoms", "object", "sparse"]),
    "bool": ({"atoms": TRIANGLE > 0}, ["atoms", "real numbers", "bool", "mask"]),
    "complex": ({"atoms": TRIANGLE + 1j}, ["atoms", "real numbers", "complex128", ".real"]),
    "dates": ({"atoms": TRIANGLE.astype("datetime64[s]")}, ["atoms", "real", "datetime64"]),
    "bytes": ({"atoms": [[b"1", b"2"]]}, ["atoms", "real numbers", "|S1"]),
    "words": ({"atoms": [["a", "b"]]}, ["atoms", "rational", "'a'"]),
    "1/0": ({"atoms": [["1/0", "1"]]}, ["atoms", "rational"]),
    "huge text": ({"atoms": [["1e400", "1"]]}, ["atoms", "range of doubles"]),
    "big integers": ({"atoms": [[2**53 + 1, 0]]}, ["atoms", "2**53", str(2**53 + 1), "rescale"]),
    "small integers": ({"atoms": [[-(2**60), 0]]}, ["atoms", "2**53", str(-(2**60))]),
    "unsigned": ({"atoms": np.array([[2**64 - 1]], np.uint64)}, ["atoms", "2**53"]),
    "huge integers": ({"atoms": [[2**70, 0]]}, ["atoms", "object", "integers"]),
    "c of the wrong length": ({"c": [1.0, 2.0, 3.0, 4.0]}, ["c", "(d,) = (2,)", "(4,)"]),
    "c, atoms transposed": ({"c": [1.0, 2.0, 3.0]}, ["c", "(2,)", "(3,)", "transposed"]),
    "c in two dimensions": ({"c": [[1.0, 2.0]]}, ["c", "(d,) = (2,)", "(1, 2)"]),
    "c a number": ({"c": 1.0}, ["c", "(2,)", "()"]),
    "c NaN": ({"c": [1.0, np.nan]}, ["c", "finite", "nan", "(1,)"]),
    "c text": ({"c": ["1", "x"]}, ["c", "rational", "'x'"]),
    "Q not square": ({"Q": np.ones((2, 3))}, ["Q", "(2, 2)", "(2, 3)"]),
    "Q, atoms transposed": ({"Q": np.eye(3)}, ["Q", "(2, 2)", "(3, 3)", "transposed"]),
    "Q's diagonal, transposed": ({"Q": np.ones(3)}, ["Q", "(2,)", "(3,)", "transposed"]),
    "Q NaN": ({"Q": [[1.0, 0.0], [np.nan, 1.0]]}, ["Q", "finite", "nan", "(1, 0)"]),
    "Q a NaN": ({"Q": np.nan}, ["Q", "finite", "nan"]),
    "Q complex": ({"Q": 1j}, ["Q", "real numbers", "complex128"]),
    "Q bool": ({"Q": True}, ["Q", "real numbers", "bool"]),
    "Q None": ({"Q": None}, ["Q", "real numbers", "object"]),
    "Q nearly symmetric": ({"Q": uneven(1e-6)}, ["Q", "nearly symmetric", "1.0e-06", "1e-12"]),
    "Q symmetrised how": ({"Q": uneven(1e-6)}, ["(Q + Q.T) / 2", "LowRank(Q)"]),
    "Q less so": ({"Q": uneven(0.9e-3)}, ["nearly symmetric", "9.0e-04", "1e-03"]),
    "Q float32": ({"Q": uneven(1e-4, np.float32)}, ["nearly symmetric", "1.0e-04", "1e-05"]),
    "F of another d": ({"Q": Factored(np.ones((4, 3)))}, ["Factored(F)", "(p, 2)", "(4, 3)"]),
    "F transposed": ({"Q": Factored(np.ones((2, 4)))}, ["(p, 2)", "(2, 4)", "transposed"]),
    "F flat": ({"Q": Factored(np.ones(2))}, ["Factored(F)", "(p, 2)", "(2,)"]),
    "F empty": ({"Q": Factored(np.ones((0, 2)))}, ["Factored(F)", "empty", "(0, 2)", "Q = 0"]),
    "signs too many": ({"Q": Factored(np.eye(2), np.ones(3))}, ["signs", "2 values", "(3,)"]),
    "signs no signs": (
        {"Q": Factored(np.eye(2), np.array([1, 2]))},
        ["+1 or -1", "scale the rows"],
    ),
    "L of another d": (
        {"Q": LowRank(np.ones((3, 1)), np.ones((2, 1)))},
        [": L", "(2, r)", "(3, 1)"],
    ),
    "R transposed": ({"Q": LowRank(np.ones((2, 1)), np.ones((1, 2)))}, [": R", "transposed"]),
    "ranks": ({"Q": LowRank(np.ones((2, 1)), np.ones((2, 3)))}, ["ranks", "(2, 1)", "(2, 3)"]),
    "L alone, not square": ({"Q": LowRank(np.ones((2, 1)))}, ["ranks", "(2, 1)", "(2, 2)"]),
    "kind": ({"kind": "konvex"}, ["kind", "convex", "concave", "monotone", "'konvex'"]),
    "start past the end": ({"start": [0, 3]}, ["start", "0 to 2", "3"]),
    "start below 0": ({"start": [-1]}, ["start", "0 to 2", "-1"]),
    "start in coordinates": ({"start": [0.5, 0.5]}, ["start", "keys", "float64"]),
    "start of a mask": ({"start": [True, False, True]}, ["start", "keys", "bool"]),
    "start in two dimensions": ({"start": [[0, 1]]}, ["start", "keys", "(1, 2)"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_words(name):
    given, words = BAD[name]
    with pytest.raises(InvalidProblem) as raised:
        QuadraticOverHull(**{"atoms": TRIANGLE, **given})
    message = str(raised.value)
    assert [word for word in words if word not in message] == [], message
    assert "\n" not in message


def test_a_refusal_is_also_a_value_error():
    with pytest.raises(ValueError, match="atoms"):
        QuadraticOverHull([1.0])


GOOD = {
    "integers": [[1, 2], [3, 1], [2, -1]],
    "tuples": ((1.0, 2.0), (3.0, 1.0), (2.0, -1.0)),
    "unsigned": TRIANGLE.astype(np.int8),
    "largest integers": [[2**53, -(2**53)]],
    "half precision": TRIANGLE.astype(np.float16),
    "long doubles": TRIANGLE.astype(np.longdouble),
    "the other byte order": TRIANGLE.astype(">f8"),
    "one atom": [[1.0, 2.0]],
    "one dimension": [[1.0], [2.0], [-1.0]],
    "one number": [[7]],
    "fewer atoms than dimensions": np.eye(2, 7),
    "duplicates": np.tile(TRIANGLE, (3, 1)),
    "all equal": np.ones((4, 3)),
    "every other row": np.repeat(TRIANGLE, 2, axis=0)[::2],
    "backwards": TRIANGLE[::-1, ::-1],
    "Fortran order": np.asfortranarray(TRIANGLE),
    "zeros": np.zeros((2, 2)),
    "denormal": np.full((2, 2), 5e-324),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_is_fine_is_fine(name):
    problem = QuadraticOverHull(GOOD[name])
    np.testing.assert_array_equal(problem.atoms, np.asarray(GOOD[name], dtype=float))
    assert problem.dtype == np.float64
    assert problem.kind.value == "convex"
    assert np.isfinite([problem.scale, problem.radius, problem.value_at_mean]).all()
    assert not problem.atoms.flags.writeable


def test_a_read_only_array_is_fine():
    atoms = TRIANGLE.copy()
    atoms.setflags(write=False)
    assert np.shares_memory(QuadraticOverHull(atoms).atoms, atoms)


def test_float32_stays_float32():
    problem = QuadraticOverHull(TRIANGLE.astype(np.float32), np.float32(2), np.ones(2, np.float32))
    assert problem.atoms.dtype == problem.dtype == np.float32
    assert problem.c.dtype == problem.centred.dtype == np.float64


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_callers_array_is_neither_copied_nor_frozen_nor_written_to(order, dtype):
    atoms = np.array(TRIANGLE, order=order, dtype=dtype)
    Q, c = SYMMETRIC.copy(), np.ones(2)
    problem = QuadraticOverHull(atoms, Q, c, start=[1])
    _ = problem.kind, problem.scale, problem.centred, problem.centred_c, problem.fingerprint
    problem.oracle(c)
    problem.value(atoms)
    assert np.shares_memory(problem.atoms, atoms)
    assert problem.atoms.flags.c_contiguous == atoms.flags.c_contiguous
    for array, before in ((atoms, TRIANGLE), (Q, SYMMETRIC), (c, np.ones(2))):
        assert array.flags.writeable
        np.testing.assert_array_equal(array, before)


def test_atoms_cannot_be_written_through_the_problem():
    problem = QuadraticOverHull(TRIANGLE.copy())
    with pytest.raises(ValueError, match="read-only"):
        problem.atoms[0, 0] = 5.0


@pytest.mark.parametrize(
    ("Q", "form"),
    [
        (2, Scalar),
        (np.float32(2), Scalar),
        ("1/3", Scalar),
        (np.array(-1.0), Scalar),
        ([1, 2], Diagonal),
        (SYMMETRIC, Dense),
        (SYMMETRIC.tolist(), Dense),
        (uneven(0.9e-12), Dense),
        (uneven(0.9e-5, np.float32), Dense),
        (uneven(1.1e-3), LowRank),
        ([[0, 1], [-1, 0]], LowRank),
        (Factored(np.ones((1, 2))), Factored),
        (Factored([[1, 2]], [-1]), Factored),
        (LowRank([[1], [2]], [[1], [2]]), LowRank),
        (LowRank(SYMMETRIC), LowRank),
        (Scalar(2.0), Scalar),
        (Diagonal(np.ones(2)), Diagonal),
        (Dense(SYMMETRIC), Dense),
        (np.zeros((2, 2)), Dense),
    ],
)
def test_each_Q_finds_its_form(Q, form):
    assert type(QuadraticOverHull(TRIANGLE, Q).form) is form


def test_rounding_in_Q_is_symmetrised():
    Q = QuadraticOverHull(TRIANGLE, uneven(0.9e-12)).form.chain()[0]
    np.testing.assert_array_equal(Q, Q.T)


def test_in_one_dimension_Q_may_be_a_number_a_vector_or_a_matrix():
    values = [QuadraticOverHull([[2.0], [3.0]], Q).value([4.0]) for Q in (5, [5], [[5]])]
    assert [float(value) for value in values] == [40.0, 40.0, 40.0]


def test_texts_are_exact_rationals():
    problem = QuadraticOverHull([["1/7", "0.1"], ["-3", "2e-3"]], ["1/3", "2"], ["1/9", "5"])
    assert problem.exact_atoms.tolist() == [
        [Fraction(1, 7), Fraction(1, 10)],
        [Fraction(-3), Fraction(1, 500)],
    ]
    assert problem.exact_c.tolist() == [Fraction(1, 9), Fraction(5)]
    assert [link.tolist() for link in problem.exact_chain] == [[Fraction(1, 3), Fraction(2)]]
    np.testing.assert_array_equal(problem.atoms, [[1 / 7, 0.1], [-3.0, 0.002]])
    np.testing.assert_array_equal(problem.c, [1 / 9, 5.0])


def test_doubles_are_taken_as_the_rationals_that_they_are():
    problem = QuadraticOverHull([[0.1, 1e-300]], Factored([[0.3, 1]], [-1]), [0.7, 0.0])
    assert problem.exact_atoms.tolist() == [[Fraction(0.1), Fraction(1e-300)]]
    assert problem.exact_c.tolist() == [Fraction(0.7), Fraction(0)]
    F, signs, Ft = problem.exact_chain
    assert (F.tolist(), signs.tolist(), Ft.tolist()) == (
        [[Fraction(0.3), 1]], [-1], [[Fraction(0.3)], [1]],
    )  # fmt: skip


def test_a_float32_is_the_rational_that_it_is():
    third = np.float32(1) / np.float32(3)
    assert QuadraticOverHull(np.full((1, 1), third)).exact_atoms[0, 0] == Fraction(float(third))
